#!/usr/bin/env python3
"""Runs the hand-written state-1 kernel on a GPU and checks it against float64.

usage: run-state1.py FILE.ptx|FILE.cubin [--blocks N] [--seed N]

FILE comes from the commands at the top of
test/Target/State1/scores-times-values.mlir. Needs numpy and the CUDA driver; no
toolkit. Exits with 1 if the result is wrong.
"""

import argparse
import ctypes
import sys

import numpy as np

ROWS = 64  # rows of Q and columns of every operand; keys come in blocks of 64


def to_bf16(values):
    """Rounds f32 to bf16, ties to even; returns the 16-bit patterns."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Driver:
    """The few calls of the CUDA driver that one launch takes."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            sys.exit(f"run-state1: no CUDA driver: {error}")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            sys.exit(f"run-state1: {name}: {(text.value or b'?').decode()} ({code})")

    def upload(self, array):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(array.nbytes))
        self.call("cuMemcpyHtoD_v2", pointer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        return pointer

    def download(self, pointer, array):
        self.call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(array.nbytes))

    def launch(self, image, kernel, threads, arguments):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        pointers = (ctypes.c_void_p * len(arguments))(
            *[ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p) for argument in arguments])
        self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--blocks", type=int, default=5, help="blocks of 64 keys (default 5)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with open(options.file, "rb") as file:
        image = file.read() + b"\0"

    random = np.random.default_rng(options.seed)
    keys = 64 * options.blocks
    # The kernel knows no scale, so the keys carry it and scores stay near 1.
    q = to_bf16(random.standard_normal((ROWS, 64)))
    k = to_bf16(random.standard_normal((keys, 64)) / 8)
    v = to_bf16(random.standard_normal((keys, 64)))
    o = np.full((ROWS, 64), np.nan, np.float32)

    driver = Driver()
    device = [driver.upload(array) for array in (q, k, v, o)]
    driver.launch(image, b"scores_times_values", 128, device + [ctypes.c_int32(options.blocks)])
    driver.download(device[3], o)

    q64, k64, v64 = (from_bf16(x).astype(np.float64) for x in (q, k, v))
    reference = (q64 @ k64.T) @ v64
    error = np.sqrt(np.sum((o - reference) ** 2) / np.sum(reference**2))
    limit = 0.005  # bf16: the scores are rounded to bf16 between the products
    verdict = "right" if error <= limit else "WRONG"
    print(f"(Q K^T) V, 64 x {keys} keys: RMS ratio to float64 {error:.2e} (limit {limit}): {verdict}")
    return 0 if error <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
