"""A stand-in for FlashInfer: the two calls of 0.7.4 that the suites make, with its arguments, shapes and types, on a CPU."""
