"""Calling entries with NumPy arrays, against the recurrence in float64."""

import array
import gc
import os
import threading

import ml_dtypes
import numpy as np
import prism
import pytest
from recurrence import H, K, V, check, inputs, ratio, reference, state


@pytest.mark.parametrize("steps", [0, 1, 15, 16, 17, 65])
@pytest.mark.parametrize("schedule", [None, "chunk", "recurrent"])
def test_values(program, steps, schedule):
    arrays, initial = inputs(2, steps), state(2)
    outputs = program.forward(**arrays, initial_state=initial, schedule=schedule)
    assert isinstance(outputs.o, np.ndarray) and outputs.o.dtype == np.float32
    check(outputs, reference(arrays, initial))


def test_optional_arguments(program):
    arrays = inputs(3, 20)
    o, final = program.forward(**arrays)
    check((o, final), reference(arrays))
    assert program.forward(**arrays, initial_state=None, final_state=None).final_state is None
    check(program.forward(**arrays, final_state=..., o=None), reference(arrays))
    assert ratio(program.forward(**arrays, final_state=None).o, reference(arrays)[0]) < 1e-5


def test_packed_sequences(program):
    arrays, initial = inputs(1, 40), state(5)
    offsets = np.array([0, 0, 3, 39, 40, 40])
    check(program.forward(**arrays, initial_state=initial, offsets=offsets), reference(arrays, initial, offsets))
    with pytest.raises(prism.ArgumentError, match="the last element must be T = 40, found 41"):
        program.forward(**arrays, offsets=np.array([0, 41]))


def test_prefill_then_decode_in_place(program):
    arrays, initial = inputs(2, 30), state(2)
    wanted = reference(arrays, initial)
    first = {name: a[:, :20] for name, a in arrays.items()}
    o, S = program.forward(**first, initial_state=initial)
    outputs, address = [o], S.ctypes.data
    for t in range(20, 30):
        token = {name: a[:, t : t + 1] for name, a in arrays.items()}
        o, same = program.decode(**token, initial_state=S, final_state=S)
        assert same is S and S.ctypes.data == address
        outputs.append(o)
    check((np.concatenate(outputs, axis=1), S), wanted)


def test_outputs_of_the_callers(program):
    arrays = inputs(2, 9)
    mine = np.full((2, 9, H, V), np.nan, "f4")
    o, _ = program.forward(**arrays, o=mine)
    assert o is mine
    assert ratio(mine, reference(arrays)[0]) < 1e-5
    # A part of a larger array, as the caller has laid it.
    large = np.full((2, 9, 2 * H, V), np.nan, "f4")
    program.forward(**arrays, o=large[:, :, ::2])
    assert ratio(large[:, :, ::2], reference(arrays)[0]) < 1e-5
    assert np.isnan(large[:, :, 1::2]).all()


def test_strides(program):
    arrays = inputs(2, 17)
    head_first = {n: np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) for n, a in arrays.items()}
    check(program.forward(**head_first), reference(arrays))
    backwards = {n: np.ascontiguousarray(a[:, ::-1])[:, ::-1] for n, a in arrays.items()}
    check(program.forward(**backwards), reference(arrays))
    same_gate = np.broadcast_to(arrays["g"][:1, :1], arrays["g"].shape)
    check(program.forward(**{**arrays, "g": same_gate}), reference({**arrays, "g": same_gate}))
    arrays["q"] = np.asfortranarray(arrays["q"])
    with pytest.raises(prism.ArgumentError) as caught:
        program.forward(**arrays)
    assert caught.value.argument == "q"
    assert str(caught.value) == "argument 'q': expected stride 1 along the last axis (k), found 68"


def test_bfloat16(bf16_program):
    arrays = inputs(2, 19)
    for name in "qkv":
        arrays[name] = arrays[name].astype(ml_dtypes.bfloat16)
    outputs = bf16_program.forward(**arrays)
    assert outputs.o.dtype == ml_dtypes.bfloat16 and outputs.final_state.dtype == np.float32
    check(outputs, reference(arrays), limit=5e-3)
    mine = np.zeros((2, 19, H, V), ml_dtypes.bfloat16)
    assert bf16_program.forward(**arrays, o=mine).o is mine
    assert np.array_equal(mine, outputs.o)
    arrays["q"] = arrays["q"].astype("f4")
    with pytest.raises(prism.ArgumentError, match="argument 'q': expected dtype bf16, found f32"):
        bf16_program.forward(**arrays)


def complaint(program, **changes):
    arrays = {**inputs(2, 5), **changes}
    with pytest.raises(prism.ArgumentError) as caught:
        program.forward(**arrays)
    return caught.value


def test_errors_name_the_argument(program):
    arrays = inputs(2, 5)
    error = complaint(program, betta=arrays["beta"])
    assert (error.argument, error.nearest) == ("betta", "beta")
    assert str(error).startswith("entry 'forward' has no argument 'betta'; did you mean 'beta'? (it has q, k, v,")
    error = complaint(program, v=None)
    assert str(error) == "argument 'v' is missing: expected input f32 [B, T, 2, 4]"
    for dtype, name in (("i4", "int32"), ("?", "bool"), (">f4", "big-endian float32"), ("c8", "complex64"), ("f8", "f64")):
        error = complaint(program, q=arrays["q"].astype(dtype))
        assert error.argument == "q"
        assert str(error) == f"argument 'q': expected dtype f32, found {name}"
    error = complaint(program, q=arrays["q"][:, :3])
    assert str(error) == "argument 'k' has T = 5 (axis 1 of [2, 5, 2, 8]), but argument 'q' has T = 3"
    error = complaint(program, q=[1.0, 2.0])
    assert "expected an array (of NumPy, PyTorch, JAX or any with __dlpack__), found list" in str(error)
    error = complaint(program, q=arrays["q"].swapaxes(1, 2))
    assert "the array looks like 'bhtk', this argument's axes are 'bthk'" in str(error)


def test_objects_that_are_no_arrays(program):
    q = inputs(2, 5)["q"]

    class WrongCapsule:
        def __dlpack__(self, **options):
            return 5

        def __dlpack_device__(self):
            return (1, 0)

    bytewise = np.zeros(q.shape, np.dtype([("pad", "u1"), ("x", "f4")]))["x"]
    for wrong, text in (
        ("text", "expected an array"),
        (np.float32(1), "found []: 0 dimensions instead of 4"),
        (np.array([None]), "expected dtype f32, found format 'O'"),
        (bytewise, "expected strides that are multiples of 4 bytes, found 5"),
        (np.frombuffer(bytearray(q.nbytes + 1), "u1")[1:].view("f4").reshape(q.shape), "a multiple of 4 bytes"),
        (np.ma.masked_array(q), "expected an array without a mask"),
        (WrongCapsule(), "argument 'q': "),
    ):
        error = complaint(program, q=wrong)
        assert error.argument == "q" and text in str(error)
    with pytest.raises(ValueError, match="null character"):
        program.entries["forward"].run({"q\0": q})

    class Interrupting(WrongCapsule):
        def __dlpack_device__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.forward(q=Interrupting())


def test_errors_of_outputs(program):
    fixed = np.zeros((2, 5, H, V), "f4")
    fixed.flags.writeable = False
    assert str(complaint(program, o=fixed)) == "argument 'o': is written, and the array is read-only"
    arrays = inputs(2, 5)
    assert "overlaps argument 'v'" in str(complaint(program, v=arrays["v"], o=arrays["v"]))
    # Read-only inputs are read.
    for a in arrays.values():
        a.flags.writeable = False
    check(program.forward(**arrays), reference(arrays))


def test_errors_of_calls(program):
    with pytest.raises(prism.ArgumentError, match="argument 'q' is missing"):
        program.forward()
    with pytest.raises(prism.DeviceError, match="no kernel with schedule 'tree' for cpu; the bundle holds chunk, rec"):
        program.forward(**inputs(1, 2), schedule="tree")
    with pytest.raises(prism.PrismError, match="a stream is for a GPU, the device is the CPU"):
        program.forward(**inputs(1, 2), stream=7)
    with pytest.raises(TypeError, match="stream: expected an integer, a CUDA stream's handle, found 'x'"):
        program.forward(**inputs(1, 2), stream="x")
    with pytest.raises(TypeError):
        program.forward(inputs(1, 2)["q"])
    with pytest.raises(prism.ArgumentError, match="host_offsets: expected"):
        program.forward(**inputs(1, 2), host_offsets=np.array([0, 2]))


def test_other_arrays(program):
    """Whatever has a buffer or __dlpack__."""

    class OnlyDLPack:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, stream=None):  # as before DLPack 1: no max_version
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    class Refusing(OnlyDLPack):
        def __dlpack__(self, **options):
            raise BufferError("not today")

    arrays = inputs(1, 6)
    check(program.forward(**{n: OnlyDLPack(a) for n, a in arrays.items()}), reference(arrays))
    offsets = array.array("q", [0, 2, 6])
    check(program.forward(**arrays, offsets=offsets), reference(arrays, offsets=list(offsets)))
    with pytest.raises(prism.ArgumentError, match="argument 'k': not today") as caught:
        program.forward(**{**arrays, "k": Refusing(arrays["k"])})
    assert isinstance(caught.value.__cause__, BufferError)


def test_controls_by_dict(program):
    arrays = inputs(1, 6)
    check(program.entries["forward"].run(arrays, schedule="chunk"), reference(arrays))


def test_from_threads(program):
    other = prism.compile(__import__("recurrence").spec(reverse=False))
    failures = []

    def work(index):
        try:
            for seed in range(30):
                arrays = inputs(1 + seed % 3, 1 + 7 * index, seed)
                check((other if index % 2 else program).forward(**arrays), reference(arrays))
        except BaseException as error:  # a thread's own failure is lost otherwise
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_number_of_threads(program):
    before = prism.num_threads()
    try:
        for threads in (1, 3):
            prism.set_num_threads(threads)
            assert prism.num_threads() == threads
            arrays = inputs(4, 20)
            check(program.forward(**arrays), reference(arrays))
        with pytest.raises(prism.DeviceError, match="expected at most 1024 threads, found 5000"):
            prism.set_num_threads(5000)
        with pytest.raises(ValueError, match="threads: expected 0 or more, found -1"):
            prism.set_num_threads(-1)
        assert prism.num_threads() == 3
    finally:
        prism.set_num_threads(before)


@pytest.mark.filterwarnings("ignore:.*fork")  # that is what is tested
def test_forked_child(program):
    """A child has its own threads, and ends."""
    arrays = inputs(4, 20)
    program.forward(**arrays)
    child = os.fork()
    if child == 0:
        try:
            check(program.forward(**arrays), reference(arrays))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_calls_keep_no_memory(program):
    arrays, S = inputs(1, 1), state(1)
    offsets = np.array([0, 1])

    def calls(count):
        for _ in range(count):
            program.decode(**arrays, initial_state=S, final_state=S, offsets=offsets)
            try:
                program.decode(**arrays, initial_state=S, offsets=S)
            except prism.ArgumentError:
                pass
        gc.collect()

    calls(1000)
    before = resident()
    calls(10000)
    assert resident() - before < 2 << 20


def test_programs_are_freed():
    """Kernels, descriptors and handles go with the last entry."""
    spec = __import__("recurrence").spec

    def once():
        call = prism.compile(spec(), target="cpu:x86-64-v3").forward
        arrays = inputs(1, 3)
        check(call(**arrays), reference(arrays))

    once()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        once()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
