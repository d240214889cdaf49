"""compare.py FOUND.npy EXPECTED.npy LIMIT: fails above an RMS ratio of LIMIT."""

import sys

import numpy

found, expected = (numpy.load(path).astype(numpy.float64) for path in sys.argv[1:3])
limit = float(sys.argv[3])
if found.shape != expected.shape:
    sys.exit(f"{sys.argv[1]}: shape {found.shape}, expected {expected.shape}")
ratio = numpy.sqrt(((found - expected) ** 2).sum() / (expected**2).sum())
if not ratio <= limit:  # NaN fails too
    sys.exit(f"{sys.argv[1]}: RMS ratio {ratio:.3g}, limit {limit:.3g}")
