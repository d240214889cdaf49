"""What the suites share: timing in turn, the processor and its measured limits, the error figure."""

import ctypes
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return f"{name}, {os.cpu_count()} cores"


def measure(cases, repeats):
    """Case name -> its seconds, one figure for each repeat, in an order that rotates."""
    names = list(cases)
    seconds = {name: [] for name in names}
    for repeat in range(repeats):
        for i in range(len(names)):
            name = names[(repeat + i) % len(names)]
            begin = time.perf_counter()
            cases[name]()
            seconds[name].append(time.perf_counter() - begin)
        if sys.stderr.isatty():
            print(f"\r{repeat + 1} of {repeats}", end="\r", file=sys.stderr)
    return seconds


def rms_ratio(got, want):
    """sqrt(sum of squared errors / sum of squares); nan where `got` has any."""
    got = np.asarray(got, np.float64).reshape(want.shape)
    error, size = float(np.sqrt(((got - want) ** 2).sum())), float(np.sqrt((want**2).sum()))
    return error / size if size else (0.0 if error == 0 else float("inf"))


class Peak:
    """The f32 FMA peak of one core, measured among the other cases."""

    def __init__(self):
        folder = tempfile.mkdtemp(prefix="prism-peak-")
        library = os.path.join(folder, "peak.so")
        subprocess.run(["clang-22", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast", "-shared", "-fPIC",
                        os.path.join(HERE, "peak.c"), "-o", library], check=True)
        self.function = ctypes.CDLL(library).prism_peak
        self.function.argtypes = [ctypes.c_long, ctypes.c_void_p]
        self.function.restype = ctypes.c_double
        self.sink = ctypes.c_float(0.5)
        self.address = ctypes.addressof(self.sink)
        self.flops = 0.0

    def __call__(self):
        self.flops = self.function(2_000_000, self.address)


class Copy:
    """Bytes read and written by one core that copies more than its caches hold."""

    def __init__(self, size=64 << 20):
        self.source, self.target = np.ones(size // 4, np.float32), np.zeros(size // 4, np.float32)
        self.bytes = 2 * size

    def __call__(self):
        np.copyto(self.target, self.source)
