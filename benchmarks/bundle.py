"""Calls the CPU kernels of a bundle in process, by the ABI of docs/Bundle.md.

No Python runs inside a timed call but one ctypes call for each thread.
"""

import ctypes
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

DTYPES = {"f64": np.float64, "f32": np.float32, "bf16": np.uint16, "f16": np.float16, "i64": np.int64}


def isa_levels():
    """The x86-64 levels that this processor runs, best first."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = set(next(line for line in file if line.startswith("flags")).split())
    levels = []
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        levels.append("x86-64-v4")
    if {"avx2", "bmi1", "bmi2", "fma", "f16c"} <= flags:
        levels.append("x86-64-v3")
    return levels


class Entry:
    """One entry of a bundle."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        self.folder = folder
        self.entry = next(e for e in self.manifest["entries"] if e["name"] == name)

    def default_schedule(self, sequences, steps):
        """What the manifest's decision table chooses for so many sequences of that length."""
        heads = sequences * self.entry["value_heads"]
        made = {k.get("isa") for k in self.entry["kernels"]}
        level = next((isa for isa in isa_levels() if isa in made), None)
        for row in self.entry["choice"]:
            if row["target"] == "cpu" and row.get("isa") in (None, level) and steps <= row.get("max_steps", steps) and heads <= row.get("max_heads", heads):
                return row["schedule"]
        raise LookupError("the decision table has no row for the CPU")

    def kernel(self, schedule, isa=None):
        for level in [isa] if isa else isa_levels():
            for kernel in self.entry["kernels"]:
                if kernel["target"] == "cpu" and kernel["isa"] == level and kernel["plan"]["schedule"] == schedule:
                    return Kernel(self, kernel)
        raise LookupError(f"the bundle has no CPU kernel with the schedule '{schedule}' that this processor runs")


class Kernel:
    """A kernel; bind() it to arrays once, then call it as often as wanted."""

    def __init__(self, entry, info):
        self.entry, self.info = entry.entry, info
        library = ctypes.CDLL(os.path.join(entry.folder, info["file"]))
        self.function = getattr(library, info["symbol"])
        self.function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self.function.restype = ctypes.c_int32

    def bind(self, arrays, sequences, steps):
        """arrays: name -> numpy array; optional arguments may be absent."""
        pointers, strides = [], []
        for argument in self.entry["arguments"]:
            array = arrays.get(argument["name"])
            if array is None:
                if not argument["optional"]:
                    raise KeyError(f"argument '{argument['name']}' is missing")
                pointers.append(0)
                strides += [0] * len(argument["axes"])
                continue
            if array.dtype != DTYPES[argument["dtype"]]:
                raise TypeError(f"argument '{argument['name']}' is {array.dtype}, expected {argument['dtype']}")
            pointers.append(array.ctypes.data)
            strides += [stride // array.itemsize for stride in array.strides]
        self.arrays = arrays  # keeps them alive
        self.words = np.array([value % 2**64 for value in pointers + [sequences, steps] + strides], np.uint64)
        self.items = sequences * self.entry["value_heads"] * self.info["value_blocks"]
        return self

    def runner(self, threads):
        """A function without arguments that does all work items on that many threads.

        It keeps the kernel, its arrays and its workspace alive.
        """
        size = max(self.info["workspace"], 64)
        scratch = np.empty(threads * (size + 64) // 8 + 64, np.uint64)
        first = -(-scratch.ctypes.data // 64) * 64
        step = -(-size // 64) * 64
        words, function = self.words.ctypes.data, self.function
        cuts = [self.items * i // threads for i in range(threads + 1)]
        parts = [(first + i * step, cuts[i], cuts[i + 1]) for i in range(threads) if cuts[i] < cuts[i + 1]]

        def part(workspace, begin, end):
            if function(words, workspace, begin, end) != 0:
                raise RuntimeError("the kernel reported a failure")

        pool = ThreadPoolExecutor(len(parts) - 1) if len(parts) > 1 else None  # ctypes releases the interpreter lock

        def run():
            others = [pool.submit(part, *p) for p in parts[1:]]
            part(*parts[0])
            for other in others:
                other.result()

        run.keeps = (self, scratch)  # what the addresses point to
        return run
