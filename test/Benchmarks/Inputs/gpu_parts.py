"""What the suite gpu-forward does without a GPU and without PyTorch. usage: gpu_parts.py BENCHMARKS BUNDLE"""

import ctypes
import math
import os
import sys

sys.path.insert(0, sys.argv[1])
import gpu_cases  # noqa: E402
import gpu_driver  # noqa: E402
import gpu_probe  # noqa: E402

gpu_probe.CASE_SECONDS = 1
gpu_probe.__file__ = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_child.py")
for name, sentence in gpu_probe.broken_cases(gpu_cases.forward_cases(), "", False).items():
    print(f"{name}: {sentence}")

_, entry = gpu_driver.read_entry(sys.argv[2], "forward")
for steps, sequences in ((1, 1), (8192, 8), (8192, 16), (8192, 1)):  # of 8 value heads
    chosen = gpu_driver.choose(entry, sequences, steps, 90)
    plan = chosen["plan"]
    print(f"{steps} steps, {sequences} sequences: {plan['schedule']}, value block {plan['value_block']}, {chosen['segments']} segments")
for chip in ("sm_80", "sm_90a"):  # a row of another chip's kernels, and one of ours
    row = {"target": "cuda", "chip": chip, "schedule": "recurrent"}
    print(f"with a row of {chip}:", gpu_driver.choose({**entry, "choice": [row, *entry["choice"]]}, 1, 8192, 90)["plan"]["schedule"])
for part in [*chosen["before"], chosen]:
    print(part["symbol"], gpu_driver.items(entry, part, 1, 4), "items in 4 segments")
print(*gpu_driver.intermediate_shapes(chosen, 2, 4))
print("every kernel:", *(label or "chosen" for label in gpu_driver.kernels(entry, 1, 8192, 90, True)), sep="\n  ")
try:
    gpu_driver.choose(entry, 1, 1, 100)
except LookupError as error:
    print(error)


class Tensor:
    """As much of a tensor as the words and maps ask for."""

    dtype = "torch.bfloat16"

    def __init__(self, *strides, shape=()):
        self.strides, self.shape = strides, shape

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return 2

    def dim(self):
        return len(self.strides)

    def stride(self):
        return self.strides

    def data_ptr(self):
        return 4096


try:
    gpu_driver.words(entry, {"q": Tensor(8, 4, 1)}, 3, 7)
except TypeError as error:
    print(error)
two = {"arguments": [{"name": "x", "dtype": "bf16", "axes": "bth", "optional": False},
                     {"name": "n", "dtype": "i64", "axes": "n", "optional": True}]}
whole = gpu_driver.words(two, {"x": Tensor(8, -4, 1)}, 3, 7)
print("words", *whole)
arrays = {"intermediates": [{"shape": ["N", 2, "S", 4, 8]}, {"shape": ["N", "S"]}]}
print("words", *gpu_driver.split_words(two, arrays, whole, [64, 128], 3, 5))


def encode(dtype, found, box, to):
    """Leaves what it was told last in `told`, and a mark in the map."""
    encode.told = (dtype, *found, box)
    ctypes.memset(to, 171, 128)
    return True


rows = {"arguments": [{"name": "x", "dtype": "bf16", "axes": "bhtk", "optional": True}]}
wants = {"tensor_maps": [{"argument": "x", "rows": 16, "columns": 64}]}
for tensor in (Tensor(4800, 1600, 40, 1, shape=(2, 3, 40, 40)), Tensor(7, 1600, 40, 1, shape=(1, 3, 40, 40)),
               Tensor(4800, 1600, 41, 1, shape=(2, 3, 39, 40)), Tensor(4800, 1600, 40, 1, shape=(2, 3, 0, 40)), None):
    encode.told = None
    made = gpu_driver.parameter(rows, wants, {"x": tensor}, gpu_driver.words(rows, {"x": tensor}, 2, 40), encode)
    print("map", len(made), ctypes.addressof(made) % 64, made[7], made[15] == made[23], hex(made[8]), hex(made[23]), encode.told)
print("no maps", len(gpu_driver.parameter(rows, {}, {}, gpu_driver.words(rows, {}, 2, 40), encode)))
