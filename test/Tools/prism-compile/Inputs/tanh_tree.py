"""examples/prefix/tanh_tree.mlir in NumPy, by a binary counter of its own.

usage: tanh_tree.py make FOLDER T      writes x.npy, w.npy, e.npy
       tanh_tree.py compare FOLDER     y.npy and total.npy against the counter
"""

import sys

import numpy as np


def agg(w, older, newer):
    return np.tanh(w @ older) + 2 * newer


class Counter:
    """Perfectly balanced trees over 2^k elements, at most one for each k."""

    def __init__(self, w, e):
        self.w, self.e, self.roots = w, e, []

    def push(self, x):
        k = 0
        while k < len(self.roots) and self.roots[k] is not None:
            x, self.roots[k] = agg(self.w, self.roots[k], x), None
            k += 1
        if k == len(self.roots):
            self.roots.append(None)
        self.roots[k] = x

    def prefix(self):
        p = self.e
        for root in reversed(self.roots):
            if root is not None:
                p = agg(self.w, p, root)
        return p


def main():
    folder = sys.argv[2]
    if sys.argv[1] == "make":
        random = np.random.default_rng(5)
        np.save(folder + "/x.npy", random.standard_normal((2, int(sys.argv[3]), 2, 4, 3)))
        np.save(folder + "/w.npy", random.standard_normal((4, 4)))
        np.save(folder + "/e.npy", random.standard_normal((2, 4, 3)))
        return
    x, w, e, y, total = (np.load(f"{folder}/{name}.npy") for name in ("x", "w", "e", "y", "total"))
    assert y.dtype == np.float64 and y.shape == x.shape and total.shape == (2, 2, 4, 3)
    worst = 0.0
    for row in range(2):
        for head in range(2):
            counter = Counter(w, e[head])
            for t in range(x.shape[1]):
                worst = max(worst, np.abs(y[row, t, head] - counter.prefix() * x[row, t, head]).max())
                counter.push(x[row, t, head])
            worst = max(worst, np.abs(total[row, head] - counter.prefix()).max())
    assert worst < 1e-13, worst
    print(f"{x.shape[1]} steps agree")


main()
