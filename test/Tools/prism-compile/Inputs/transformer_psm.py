"""examples/prefix/transformer_psm.mlir in NumPy, by a static scan up and down a tree.

usage: transformer_psm.py make FOLDER T      writes an .npy file for each argument
       transformer_psm.py compare FOLDER     y.npy against the scan
"""

import math
import sys

import numpy as np

SHAPES = {"e": (4, 6)}
for part in ("agg", "inf"):
    SHAPES.update({f"{part}_{m}": (6, 6) for m in "qkv"})
    SHAPES.update({f"{part}_1": (6, 24), f"{part}_2": (24, 6)})


def block(z, causal, weights):
    q, k, v, w1, w2 = weights
    scores = (z @ q) @ (z @ k).T
    if causal:
        scores[np.triu_indices(8, 1)] = -np.inf
    p = np.exp(scores - scores.max(1, keepdims=True))
    o = z + p / p.sum(1, keepdims=True) @ (z @ v)
    h = o @ w1
    return o + h / 2 * (1 + np.vectorize(math.erf)(h * float(np.float32(0.5**0.5)))) @ w2


def prefixes(x, e, agg):
    """P[right] = agg(P[parent], T[left]); nothing stands before the first place."""
    levels = [list(x) + [None] * (2 ** max(len(x) - 1, 0).bit_length() - len(x))]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([None if b is None else agg(a, b) for a, b in zip(below[::2], below[1::2])])
    found = [e]
    for level in reversed(levels[:-1]):
        found = [p for i, parent in enumerate(found) for p in (
            parent, None if level[2 * i] is None or parent is None else level[2 * i] if i == 0 else agg(parent, level[2 * i]))]
    return found


def main():
    folder = sys.argv[2]
    if sys.argv[1] == "make":
        random = np.random.default_rng(7)
        for name, shape in {"x": (2, int(sys.argv[3]), 6), **SHAPES}.items():
            np.save(f"{folder}/{name}.npy", random.standard_normal(shape) / (1 if name in "xe" else 3))
        return
    a = {name: np.load(f"{folder}/{name}.npy") for name in ("x", "y", *SHAPES)}
    weights = {part: [a[f"{part}_{m}"] for m in "qkv12"] for part in ("agg", "inf")}
    join = lambda older, newer: block(np.concatenate([older, newer]), False, weights["agg"])[4:]
    steps, worst = a["x"].shape[1], 0.0
    for x, y in zip(a["x"], a["y"]):
        chunks = [x[t:t + 4] for t in range(0, steps, 4)]
        for t, (chunk, prefix) in enumerate(zip(chunks, prefixes(chunks, a["e"], join))):
            padded = np.concatenate([prefix, chunk, np.zeros((4 - len(chunk), 6))])
            want = block(padded, True, weights["inf"])[4:][:len(chunk)]
            worst = max(worst, np.abs(want - y[4 * t:4 * t + len(chunk)]).max())
    assert worst < 1e-12, worst
    print(f"{steps} steps agree")


main()
