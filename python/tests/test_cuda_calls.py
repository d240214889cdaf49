"""Calls on a GPU, against the stand-in for the driver that the runtime's tests use: nothing is computed.

The arrays are NumPy's, which say that they are on a GPU. A process of its own, so that no other test meets the driver.
"""

import os
import subprocess
import sys

import pytest

DRIVER = os.environ.get("PRISM_TEST_DRIVER", "")

PROGRAM = r"""
import ctypes, sys
sys.path.insert(0, TESTS)
import numpy as np
import prism
from recurrence import H, K, V, inputs, spec

class Fake(ctypes.Structure):
    _fields_ = [(n, ctypes.c_int) for n in
                "initResult version capability syncResult parameterBytes encodeResult retained pushed modules allocations events "
                "launches synchronizations".split()]
    _fields_ += [("image", ctypes.c_char * 64), ("sharedAttribute", ctypes.c_int), ("grid", ctypes.c_uint),
                 ("block", ctypes.c_uint), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                 ("wordCount", ctypes.c_int), ("words", ctypes.c_uint64 * 64), ("grids", ctypes.c_uint * 8)]

driver = ctypes.CDLL(DRIVER)
assert ctypes.sizeof(Fake) == ctypes.c_uint.in_dll(driver, "fakeSize").value, "the layout of unittests/Runtime/FakeCuda.h"
fake = Fake.in_dll(driver, "fake")
fake.version, fake.capability = 13000, 90
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

class OnGpu:
    "An array that says that it is on GPU 0."
    streams = []
    def __init__(self, array, device=(2, 0)):
        self.array, self.device = array, device
    def __dlpack_device__(self):
        return self.device
    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        capsule = self.array.__dlpack__()
        # data, then the device's type and number
        place = (ctypes.c_int32 * 2).from_address(pointer(capsule, b"dltensor") + 8)
        place[0], place[1] = self.device
        return capsule

program = prism.compile(spec(), target="cuda:sm_90a", assemble=False)
arrays = {n: OnGpu(a) for n, a in inputs(1, 20).items()}
o, S = OnGpu(np.zeros((1, 20, H, V), "f4")), OnGpu(np.zeros((1, H, K, V), "f4"))
for count in (1, 2):
    outputs = program.forward(**arrays, o=o, final_state=S)
    assert outputs.o is o and outputs.final_state is S
    assert (fake.launches, fake.modules, fake.synchronizations, fake.stream) == (count, 1, 0, None)
assert set(OnGpu.streams) == {1}, "the default stream is made to wait for the arrays"
assert fake.words[0] == arrays["q"].array.ctypes.data
program.forward(**arrays, o=o, final_state=None, stream=77)
assert fake.stream == 77 and fake.words[8] == 0
assert OnGpu.streams[-1] == 77, "the stream named is made to wait"
program.forward(**arrays, o=o, final_state=None, stream=0)
assert fake.stream is None and OnGpu.streams[-1] == 1

def complaint(**changes):
    try:
        program.forward(**{**arrays, "o": o, "final_state": S, **changes})
    except (prism.PrismError, ValueError) as error:
        return str(error)

offsets = np.array([0, 5, 20])
two = OnGpu(np.zeros((2, H, K, V), "f4"))
assert complaint(offsets=OnGpu(offsets), final_state=two) == (
    "argument 'offsets': expected a copy in host memory to check, or leave to trust it, found neither")
assert complaint(offsets=OnGpu(offsets), final_state=two, host_offsets=offsets) is None
assert complaint(offsets=OnGpu(offsets), final_state=two, trust_offsets=True) is None
assert "last element must be T = 20, found 21" in complaint(
    offsets=OnGpu(offsets), final_state=two, host_offsets=np.array([0, 5, 21]))
assert "host_offsets: expected a contiguous i64 copy" in complaint(
    offsets=OnGpu(offsets), final_state=two, host_offsets=np.array([0, 20]))
assert complaint(k=arrays["k"].array) == (
    "argument 'k': is on cpu, but argument 'q' is on cuda:0; all arrays of a call are on one device")
assert "cannot make an output like OnGpu on a GPU; pass arrays for the outputs" in complaint(o=None)
assert complaint(**{n: OnGpu(a.array, (2, 5)) for n, a in {**arrays, "o": o, "final_state": S}.items()}) == (
    "no GPU 5; this machine has 1")
assert "expected an array on cpu or cuda, found one on device type 4" in complaint(
    **{n: OnGpu(a.array, (4, 0)) for n, a in {**arrays, "o": o, "final_state": S}.items()})
assert "no kernel for cpu" in complaint(**{n: a.array for n, a in {**arrays, "o": o, "final_state": S}.items()})
assert (fake.pushed, fake.allocations) == (0, 0)
print("done")
"""


@pytest.mark.skipif(not DRIVER, reason="run by ctest, which names the stand-in for the driver")
def test_calls():
    text = f"TESTS, DRIVER = {os.path.dirname(__file__)!r}, {DRIVER!r}\n" + PROGRAM
    environment = {**os.environ, "PRISM_CUDA_DRIVER": DRIVER}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
