"""The gated delta rule as a spec, its arrays, and the recurrence in float64, step by step."""

import numpy as np

H, K, V = 2, 8, 4


def spec(io="f32", **more):
    return {
        "prism_spec": 1,
        "name": "delta_rule",
        "dims": {"B": None, "T": None, "H": H, "K": K, "V": V},
        "dtype": {"io": io},
        "inputs": {
            "q": ["B", "T", "H", "K"],
            "k": ["B", "T", "H", "K"],
            "v": ["B", "T", "H", "V"],
            "g": ["B", "T", "H"],
            "beta": ["B", "T", "H"],
        },
        "steps": [
            {"decay": "g"},
            {"erase": {"key": "k", "strength": "beta"}},
            {"inject": {"key": "k", "value": "v", "scale": "beta"}},
            {"read": {"query": "q"}},
        ],
        **more,
    }


def inputs(batch, steps, seed=0):
    random = np.random.default_rng(seed)
    shapes = {"q": (H, K), "k": (H, K), "v": (H, V), "g": (H,), "beta": (H,)}
    arrays = {name: random.uniform(-0.5, 0.5, (batch, steps, *shape)).astype("f4") for name, shape in shapes.items()}
    arrays["g"] = arrays["g"] * np.float32(0.3) - np.float32(0.2)
    arrays["beta"] += np.float32(0.6)
    return arrays


def state(sequences, seed=1):
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (sequences, H, K, V)).astype("f4")


def reference(arrays, initial_state=None, offsets=None):
    """(o, final_state) of NumPy arrays of any float type."""
    q, k, v, g, beta = (np.asarray(arrays[name]).astype("f8") for name in ("q", "k", "v", "g", "beta"))
    rows = [(b, 0, q.shape[1]) for b in range(q.shape[0])]
    if offsets is not None:
        rows = [(0, int(begin), int(end)) for begin, end in zip(offsets[:-1], offsets[1:])]
    S = np.zeros((len(rows), H, K, V)) if initial_state is None else np.asarray(initial_state).astype("f8")
    o = np.zeros((*q.shape[:3], V))
    for n, (b, begin, end) in enumerate(rows):
        for t in range(begin, end):
            for h in range(H):
                s = S[n, h]
                s *= np.exp(g[b, t, h])
                s += beta[b, t, h] * np.outer(k[b, t, h], v[b, t, h] - k[b, t, h] @ s)
                o[b, t, h] = q[b, t, h] @ s
    return o, S


def ratio(found, wanted):
    """The error figure of docs/Testing.md: the RMS ratio; zeros must be met exactly."""
    difference = np.sqrt(np.sum((np.asarray(found).astype("f8") - wanted) ** 2))
    return 0.0 if difference == 0 else difference / np.sqrt(np.sum(wanted**2))


def check(outputs, wanted, limit=1e-5):
    for found, right in zip(outputs, wanted):
        assert found.shape == right.shape
        assert ratio(found, right) <= limit
