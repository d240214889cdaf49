"""Numbers in f64 that are hard to round to 16 bits, and a look at what they became.

round_numbers.py make x.npy bf16|f16
round_numbers.py compare x.npy y.npy bf16|f16
"""

import sys

import numpy

BITS = {"bf16": 8, "f16": 11}  # of the significand


def numbers(dtype):
    """Ties, and numbers that f32 takes for ties; the largest numbers; those that are none."""
    unit = 2.0 ** (1 - BITS[dtype])
    values = []
    for scale in (1.0, 2.0**-3, 2.0**9):
        for last in (0, 1):
            tie = 1.0 + last * unit + unit / 2
            values += [scale * tie, scale * (tie + 2.0**-40), scale * (tie - 2.0**-40), scale * (1.0 + last * unit)]
    values += [0.0, 1e-320, 65519.999, 65520.0, 3e38, 1e39, numpy.inf, numpy.nan]
    values = numpy.array(values + [-value for value in values])
    return values.reshape(1, -1, 1, 8)


def rounded(value, bits):
    """To the nearest, ties to even, of a normal number."""
    if not numpy.isfinite(value) or value == 0.0:
        return value
    unit = 2.0 ** (numpy.frexp(value)[1] - bits)
    return float(numpy.rint(value / unit)) * unit


def expected(values, dtype):
    if dtype == "f16":
        return values.astype(numpy.float16).astype(numpy.float64)
    near = numpy.array([rounded(value, BITS[dtype]) for value in values.flat]).reshape(values.shape)
    near[abs(values) < 1e-300] *= 0.0
    near[abs(near) >= 2.0**128] *= numpy.inf
    return near


if sys.argv[1] == "make":
    numpy.save(sys.argv[2], numbers(sys.argv[3]))
else:
    x, y, dtype = numpy.load(sys.argv[2]), numpy.load(sys.argv[3]), sys.argv[4]
    if dtype == "bf16":
        y = (y.astype(numpy.uint32) << 16).view(numpy.float32)
    want, found = expected(x, dtype), y.astype(numpy.float64)
    wrong = ~((want == found) & (numpy.signbit(want) == numpy.signbit(found)) | numpy.isnan(want) & numpy.isnan(found))
    for value, near, got in zip(x[wrong], want[wrong], found[wrong]):
        print(f"{value!r} is nearest to {near!r}, found {got!r}")
    print(f"{wrong.sum()} of {x.size} numbers differ")
    sys.exit(bool(wrong.any()))
