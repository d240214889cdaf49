"""Calls the kernels of a bundle by the ABI of docs/Bundle.md on torch tensors: the GPU's by the CUDA driver.

`words` is the same for CPU and GPU; a dry run checks it with the CPU's kernels.
"""

import ctypes
import json
import os

DTYPES = {"torch.float64": "f64", "torch.float32": "f32", "torch.bfloat16": "bf16", "torch.float16": "f16", "torch.int64": "i64"}
TORCH_TYPES = {"f64": "float64", "f32": "float32"}
MAX_DYNAMIC_SHARED_SIZE_BYTES = 8  # CU_FUNC_ATTRIBUTE_...


def read_entry(folder, name):
    """The manifest, and its entry of that name."""
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    return manifest, next(entry for entry in manifest["entries"] if entry["name"] == name)


def words(entry, arrays, sequences, steps):
    """The array of 64-bit words that every kernel of the entry takes; optional arguments may be absent."""
    pointers, strides = [], []
    for argument in entry["arguments"]:
        tensor = arrays.get(argument["name"])
        if tensor is None:
            if not argument["optional"]:
                raise KeyError(f"argument '{argument['name']}' is missing")
            pointers.append(0)
            strides += [0] * len(argument["axes"])
            continue
        if DTYPES[str(tensor.dtype)] != argument["dtype"] or tensor.dim() != len(argument["axes"]):
            raise TypeError(f"argument '{argument['name']}' is {tensor.dtype} with {tensor.dim()} axes, "
                            f"expected {argument['dtype']} with axes {argument['axes']}")
        pointers.append(tensor.data_ptr())
        strides += tensor.stride()
    values = [value % 2**64 for value in pointers + [sequences, steps] + strides]
    return (ctypes.c_uint64 * len(values))(*values)


def row_major(shape):
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(extent, 1))
    return strides


def intermediate_shapes(info, sequences, segments):
    """Of the arrays between the launches of a kernel that splits sequences."""
    sizes = {"N": sequences, "S": segments}
    return [[sizes.get(extent, extent) for extent in array["shape"]] for array in info.get("intermediates", [])]


def split_words(entry, info, whole, pointers, sequences, segments):
    """The words of the entry with the arrays between the launches and the number of segments, which all launches take."""
    shapes = intermediate_shapes(info, sequences, segments)
    count = len(entry["arguments"])
    values = list(whole[:count]) + list(pointers) + list(whole[count:])
    values += [stride for shape in shapes for stride in row_major(shape)] + [segments]
    return (ctypes.c_uint64 * len(values))(*values)


def tensor_map(entry, name, arrays, ranks=1):
    """Address, extents and strides in bytes of an array as the copy engine sees it: the last axis, time, then the others;
    before time the one before the last, if boxes have several ranks.

    None where the engine cannot read it; the kernel then copies by itself. The rules are lib/Runtime/TensorMaps.cpp's.
    """
    axes = next(argument["axes"] for argument in entry["arguments"] if argument["name"] == name)
    tensor = arrays.get(name)
    if tensor is None or tensor.numel() == 0 or tensor.data_ptr() % 16:
        return None
    inner = [len(axes) - 1] + ([len(axes) - 2] if ranks > 1 else []) + [axes.index("t")]
    order = inner + [i for i in range(len(axes)) if i not in inner]
    extents = [tensor.shape[i] for i in order]
    # Along an axis of one nothing has a neighbour: any stride will do.
    strides = [tensor.stride()[i] * tensor.element_size() if tensor.shape[i] > 1 else 16 for i in order[1:]]
    if any(stride <= 0 or stride % 16 or stride >= 2**40 for stride in strides) or max(extents) >= 2**31:
        return None
    return tensor.data_ptr(), extents, strides


def parameter(entry, info, arrays, values, encode):
    """A launch's parameter: its words, and for tensor maps a word of flags and the maps, at a multiple of 64 bytes.

    `encode(dtype, map, box, address)` writes 128 bytes and says whether it could.
    """
    maps = info.get("tensor_maps", [])
    if not maps:
        return values
    size = -(-(len(values) + 1) // 8) * 8
    whole = (ctypes.c_uint64 * (size + 16 * len(maps) + 8))()
    aligned = (ctypes.c_uint64 * (size + 16 * len(maps))).from_buffer(whole, -ctypes.addressof(whole) % 64)
    aligned[: len(values)] = values[:]
    for i, wanted in enumerate(maps):
        dtype = next(argument["dtype"] for argument in entry["arguments"] if argument["name"] == wanted["argument"])
        ranks = wanted.get("ranks", 1)
        found = tensor_map(entry, wanted["argument"], arrays, ranks)
        box = (wanted["columns"], *([ranks] if ranks > 1 else []), wanted["rows"])
        if found and encode(dtype, found, box, ctypes.addressof(aligned) + 8 * size + 128 * i):
            aligned[len(values)] |= 1 << i
    return aligned


def items(entry, info, sequences, segments=1):
    each = {"sequences": 1, "segments": segments, "inner_segments": segments - 1}[info.get("items", "sequences")]
    return sequences * each * entry["value_heads"] * info["value_blocks"]


def kernel_rank(info, capability):
    """0 if the kernel's machine code does not run on a GPU of that compute capability, else more for the closer chip."""
    if info["target"] != "cuda" or "cubin" not in info:
        return 0
    chip = info["chip"].removeprefix("sm_")
    made = int(chip.rstrip("af"))
    same = capability == made if chip[-1] in "af" else capability // 10 == made // 10 and capability >= made
    return made * 2 + (chip[-1] in "af") if same else 0


def choose(entry, sequences, steps, capability):
    """The kernel that the manifest's decision table names for so many sequences of that length, as lib/Runtime chooses,
    with the number of segments beside its own keys."""
    heads = sequences * entry["value_heads"]
    closest = max((k for k in entry["kernels"] if kernel_rank(k, capability)), key=lambda k: kernel_rank(k, capability), default={})
    for row in entry["choice"]:
        ours = row.get("chip") in (None, closest.get("chip"))
        if row["target"] == "cuda" and ours and steps <= row.get("max_steps", steps) and heads <= row.get("max_heads", heads):
            kernels = [k for k in entry["kernels"] if k["plan"]["schedule"] == row["schedule"] and kernel_rank(k, capability)]
            if not kernels:
                raise LookupError(f"no machine code with schedule '{row['schedule']}' for sm_{capability}")
            segments = row.get("segments", 1)
            # The chip first; of its kernels those that split as the row does, of these the one with its value block and
            # blocks that prepare.
            kernel = max(kernels, key=lambda k: (kernel_rank(k, capability), ("intermediates" in k) == (segments > 1),
                                                 k["plan"]["value_block"] == row.get("value_block"),
                                                 k["plan"].get("prepare_blocks", 0) == row.get("prepare_blocks", 0)))
            return {**kernel, "segments": segments if "intermediates" in kernel else 1}
    raise LookupError("the decision table has no row for the GPU")


SWEEP = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
SWEEP_OF_STEPS = (8, 16, 32, 64, 128)  # where there are no chunks
FEWEST_CHUNKS = 4  # of a segment in the sweep


def kernels(entry, sequences, steps, capability, every):
    """Label -> kernel: the chosen one under the empty label, the others that run if every, in several numbers of segments."""
    chosen = choose(entry, sequences, steps, capability)
    result = {"": chosen}
    for info in entry["kernels"] if every else []:
        if not kernel_rank(info, capability):
            continue
        plan = info["plan"]
        label = f", {plan['schedule']} {plan['chunk']} value block {plan['value_block']}"
        if "prepare_blocks" in plan:
            label += f", {plan['prepare_blocks']} prepare_blocks"
        sweep = SWEEP if plan["chunk"] > 1 else SWEEP_OF_STEPS
        split = [n for n in sweep if steps >= n * FEWEST_CHUNKS * plan["chunk"]]
        for segments in split if "intermediates" in info else [1]:
            kernel = {**info, "segments": segments}
            if kernel != chosen:
                result[label + (f", {segments} segments" if segments > 1 else "")] = kernel
    return result


class Driver:
    """The few calls of the CUDA driver that a launch takes, in the context that PyTorch made current."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def function(self, folder, info):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        path = os.path.join(folder, info["cubin"])
        self.call("cuModuleLoad", ctypes.byref(module), path.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, info["symbol"].encode())
        if info["shared"]:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE_BYTES, info["shared"])
        return function

    def encode(self, dtype, found, box, to):
        """cuTensorMapEncodeTiled in the swizzle of a box's rows, 32 or 128 bytes, zeros outside."""
        address, extents, strides = found
        swizzle = {16: 1, 64: 3}[box[0]]
        rank = len(extents)
        box = list(box) + [1] * (rank - len(box))
        code = self.library.cuTensorMapEncodeTiled(
            ctypes.c_void_p(to), {"f16": 6, "bf16": 9}[dtype], rank, ctypes.c_void_p(address),
            (ctypes.c_uint64 * rank)(*extents), (ctypes.c_uint64 * (rank - 1))(*strides),
            (ctypes.c_uint32 * rank)(*box), (ctypes.c_uint32 * rank)(*[1] * rank), 0, swizzle, 3, 0)
        return code == 0

    def launcher(self, folder, entry, info, arrays, sequences, steps):
        """A function without arguments that starts the kernel's launches on PyTorch's current stream."""
        import torch

        values, segments, workspace = words(entry, arrays, sequences, steps), info.get("segments", 1), []
        if "intermediates" in info:
            workspace = [torch.empty(shape, dtype=getattr(torch, TORCH_TYPES[array["dtype"]]), device="cuda") for array, shape
                         in zip(info["intermediates"], intermediate_shapes(info, sequences, segments))]
            values = split_words(entry, info, values, [array.data_ptr() for array in workspace], sequences, segments)
        parts = {}
        for part in [*info.get("before", []), info]:
            grid = -(-items(entry, part, sequences, segments) // part.get("items_per_block", 1))
            if grid:
                whole = parameter(entry, part, arrays, values, self.encode)
                parts[part["symbol"]] = self.part(self.function(folder, part), part, grid, whole)

        def launch():
            for part in parts.values():
                part()

        launch.keeps = (arrays, workspace)  # what the addresses point to
        launch.parts = parts  # symbol -> a function that starts this launch alone
        return launch

    def part(self, function, info, grid, parameter):
        import torch

        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(parameter))

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.call("cuLaunchKernel", function, grid, 1, 1, info["threads"], 1, 1, info["shared"], stream, parameters, None)

        launch.keeps = parameter  # what the address points to
        return launch
