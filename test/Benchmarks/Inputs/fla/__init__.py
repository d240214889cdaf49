"""A stand-in for flash-linear-attention 0.6.0: the one call whose arrays the suites make up, on a CPU."""
