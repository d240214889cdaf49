"""Cases that users met elsewhere, by name, with values that are known to be right.

Each case compiles a spec to a bundle, runs it with prism-run in every schedule the
device has, and compares with numbers, never with another run alone. What a case
needs and is not built yet is listed as WAITING, with the part that waits.
"""

import math
import os

import numpy as np

import models
import papers
import tools

WAITING = {
    "A07, A16 backward": "the backward",
    "A04 (b), A08, A28 backward": "the backward",
    "A25 lint": "a lint for strength |key|^2 > 2",
}
NP = {"f32": np.float32, "f16": np.float16, "f64": np.float64}


def bf16(a):
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(a):
    return (a.astype(np.uint32) << 16).view(np.float32)


class Runner:
    """One spec, compiled once, run with arrays by schedule."""

    def __init__(self, kit, target, spec, name, plan=None):
        self.kit, self.name, self.io = kit, name, spec["dtype"]["io"]
        self.bundle = os.path.join(kit.scratch, name + ".bundle")
        arguments = [kit.write_json(name + ".json", spec), "-o", self.bundle, "--target", target]
        if plan:
            arguments += ["--plan", kit.write_json(name + ".plan.json", plan)]
        result = kit.run("prism-compile", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr

    def encode(self, name, array):
        if name in ("offsets",):
            return np.asarray(array, np.int64)
        if name in ("initial_state",) or (self.io != "f64" and name in self.gates):
            return np.asarray(array, np.float64 if self.io == "f64" else np.float32)
        return bf16(array) if self.io == "bf16" else np.asarray(array, NP[self.io])

    gates = ()

    def __call__(self, schedule=None, entry="forward", outputs=("o", "final_state"), **arrays):
        arguments = [self.bundle, entry, "--device", self.kit.device]
        if schedule:
            arguments += ["--schedule", schedule]
        for name, array in arrays.items():
            path = os.path.join(self.kit.scratch, f"{self.name}.{name}.npy")
            np.save(path, self.encode(name, array))
            arguments += ["--in", f"{name}={path}"]
        paths = {}
        for name in outputs:
            paths[name] = os.path.join(self.kit.scratch, f"{self.name}.{name}.out.npy")
            arguments += ["--out", f"{name}={paths[name]}"]
        result = self.kit.run("prism-run", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        loaded = [np.load(paths[name]) for name in outputs]
        return [from_bf16(a) if a.dtype == np.uint16 else a.astype(np.float64) for a in loaded]


def close(got, want, tolerance=1e-5):
    got, want = np.asarray(got, np.float64).ravel(), np.asarray(want, np.float64).ravel()
    assert got.shape == want.shape, f"{got.shape} instead of {want.shape}"
    scale = max(1e-30, np.max(np.abs(want), initial=0.0))
    error = np.max(np.abs(got - want), initial=0.0)
    assert error <= tolerance * scale, f"off by {error} (tolerance {tolerance * scale})\n got {got}\n want {want}"


def exact(got, want):
    got, want = np.asarray(got, np.float64).ravel(), np.asarray(want, np.float64).ravel()
    assert got.shape == want.shape and np.array_equal(got, want), f"\n got {got}\n want {want}"


BOTH = ("chunk", "recurrent")


def gdn_spec(K, V, dtype="f32", gated=True):
    spec = models.gated_deltanet(dtype, K, V)
    spec["dims"].update({"Hk": 1, "Hv": 1})
    if not gated:
        del spec["inputs"]["log_alpha"]
        spec["steps"] = spec["steps"][1:]
    return spec


def affine_spec(dtype="f32"):
    """y_t = a_t y_{t-1} + b_t as a 1 x 1 state: key and query 1."""
    spec = models.base("affine", dtype, 1, 1, 1, 1)
    spec["inputs"]["g"] = ["B", "T", "Hv"]
    spec["steps"] = [{"decay": "g"}, {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}}]
    return spec


def column(values):
    return np.asarray(values, np.float64).reshape(1, -1, 1, 1)


def rotating(T, alpha=0.9, beta=0.5):
    """Inputs of A07: k_t = (cos 0.3t, sin 0.3t), q = (1, 0), v_t = (t mod 5) - 2."""
    t = np.arange(T)
    k = np.stack([np.cos(0.3 * t), np.sin(0.3 * t)], -1).reshape(1, T, 1, 2)
    q = np.tile([1.0, 0.0], (1, T, 1, 1)).reshape(1, T, 1, 2)
    v = ((t % 5) - 2.0).reshape(1, T, 1, 1)
    g = np.full((1, T, 1), math.log(alpha) if alpha > 0 else -np.inf)
    return dict(q=q, k=k, v=v, log_alpha=g, beta=np.full((1, T, 1), beta))


def case_a01(kit, target):
    """Strong per-key decay."""
    spec = models.base("gla", "f32", 1, 1, 1, 1)
    spec["inputs"]["g"] = ["B", "T", "Hv", "K"]
    spec["steps"] = [{"decay": {"gate": "g", "along": "key"}}, {"inject": {"key": "k", "value": "v"}}, {"read": {"query": "q"}}]
    one = np.ones((1, 64, 1, 1))
    for chunk in (None, 16) if target.startswith("cuda") else (None, 16, 64):
        run = Runner(kit, target, spec, f"a01_{chunk}", {"schedule": "chunk", "chunk": chunk} if chunk else None)
        for schedule in (("chunk",) if chunk else BOTH):
            for g, want in ((-5.0, 1.006783655), (-3.0, 1.052395696), (-1.0, 1.581976707), (-20.0, 1 / (1 - math.exp(-20)))):
                o, _ = run(schedule, q=one, k=one, v=one, g=np.full((1, 64, 1, 1), g))
                close(o[0, 63, 0, 0], want, 1e-6)
                close(o.ravel(), (1 - np.exp(g * np.arange(1, 65))) / (1 - math.exp(g)), 1e-6)
            close(run(schedule, q=one, k=one, v=one, g=np.full((1, 64, 1, 1), -5.0))[0][0, 1, 0, 0], 1.006737947, 1e-6)
    k = np.tile([0.6, 0.8], (1, 64, 1, 1)).reshape(1, 64, 1, 2)
    g = np.tile([-5.0, -0.01], (1, 64, 1, 1)).reshape(1, 64, 1, 2)
    plain = models.base("gla", "f32", 2, 1, 1, 1)
    plain["inputs"]["g"], plain["steps"] = ["B", "T", "Hv", "K"], spec["steps"]
    run = Runner(kit, target, plain, "a01plain")
    for schedule in BOTH:
        close(run(schedule, q=k, k=k, v=one, g=g)[0][0, 63, 0, 0], 30.76724551, 1e-6)
    spec = models.base("kda", "f32", 2, 1, 1, 1)
    spec["inputs"].update({"g": ["B", "T", "Hv", "K"], "beta": ["B", "T", "Hv"]})
    spec["steps"] = [{"decay": {"gate": "g", "along": "key"}}, {"erase": {"key": "k", "strength": "beta"}},
                     {"inject": {"key": "k", "value": "v", "scale": "beta"}}, {"read": {"query": "q"}}]
    for chunk in (None, 16) if target.startswith("cuda") else (None, 16, 64):
        run = Runner(kit, target, spec, f"a01kda_{chunk}", {"schedule": "chunk", "chunk": chunk} if chunk else None)
        for schedule in (("chunk",) if chunk else BOTH):
            o, s = run(schedule, q=k, k=k, v=one, g=g, beta=np.full((1, 64, 1), 0.5))
            close([o[0, 0, 0, 0], o[0, 1, 0, 0], o[0, 63, 0, 0]], [0.5, 0.659014389, 0.984775355], 1e-6)
            close(s, [0.009196754, 1.224071628], 1e-6)


def case_a04(kit, target):
    """Gates of log 0 and minus infinity."""
    want = {0: -1.0, 1: -1.021334341, 63: 0.326134269, 64: 1.086308872, 79: 0.256041041}
    data = rotating(80)
    gated, plain = Runner(kit, target, gdn_spec(2, 1), "a04g"), Runner(kit, target, gdn_spec(2, 1, gated=False), "a04d")
    for schedule in BOTH:
        o, _ = gated(schedule, **{**data, "log_alpha": np.zeros((1, 80, 1))})
        p, _ = plain(schedule, **{n: a for n, a in data.items() if n != "log_alpha"})
        for t, value in want.items():
            close(o[0, t, 0, 0], value, 1e-6)
            close(p[0, t, 0, 0], value, 1e-6)
    affine = Runner(kit, target, affine_spec(), "a04b")
    right = [1, 2.904837418, 5.628405589, 9.092791981, 5, 10.52418709, 16.52267827, 22.95033755]
    one = column(np.ones(8))
    for reset in (-np.inf, -1e38):
        gate = np.array([reset, -0.1, -0.1, -0.1] * 2).reshape(1, 8, 1)
        for schedule in BOTH:
            o, _ = affine(schedule, q=one, k=one, v=column(range(1, 9)), g=gate, initial_state=np.full((1, 1, 1, 1), 7.0))
            close(o, right, 1e-6)


def case_a07(kit, target):
    """Tails: every length, every chunk; shorter runs are prefixes of longer ones."""
    want = {1: -1.0, 2: -0.966967731208, 63: -0.293806210894, 64: 0.362462808153, 65: 1.091880133714,
            127: -0.728796061294, 128: -0.350112648230, 129: 0.164620662854}
    states = {65: (1.091880133714, 0.463924069913), 129: (0.164620662854, 0.382229522938)}
    chunks = (64, 32, 16, 7) if target == "cpu" else (16, 7)
    for chunk in (None,) + chunks:
        plan = {"schedule": "chunk", "chunk": chunk} if chunk else None
        run = Runner(kit, target, gdn_spec(2, 1), f"a07c{chunk}", plan)
        for schedule in (("chunk",) if chunk else BOTH):
            longest, _ = run(schedule, **rotating(129))
            for T, value in want.items():
                o, s = run(schedule, **rotating(T))
                close(o[0, -1, 0, 0], value, 1e-5)
                close(o, longest[:, :T], 1e-6)
                if T in states:
                    close(s, states[T], 1e-5)


def case_a08(kit, target):
    """Zero-length segments, T = 0."""
    run = Runner(kit, target, affine_spec(), "a08")
    one, g = column(np.ones(5)), np.full((1, 5, 1), math.log(0.5))
    h0 = np.array([10.0, 20, 30, 40]).reshape(4, 1, 1, 1)
    for schedule in BOTH:
        o, s = run(schedule, q=one, k=one, v=column([1, 2, 3, 4, 5]), g=g, offsets=[0, 0, 3, 3, 5], initial_state=h0)
        close(o, [11, 7.5, 6.75, 24, 17], 1e-6)
        close(s, [10, 6.75, 30, 17], 1e-6)
        o, s = run(schedule, q=one, k=one, v=column([1, 2, 3, 4, 5]), g=g, offsets=[0, 0, 3, 3, 5])
        close(s[[0, 2]], [0, 0])
        empty, none = np.zeros((1, 0, 1, 1)), np.zeros((1, 0, 1))
        o, s = run(schedule, q=empty, k=empty, v=empty, g=none, offsets=[0, 0, 0], initial_state=h0[:2])
        assert o.shape == (1, 0, 1, 1)
        exact(s, [10, 20])
        o, s = run(schedule, q=empty, k=empty, v=empty, g=none, initial_state=h0[:1])
        exact(s, [10])


def case_a12(kit, target):
    """Head sizes that are no power of two, below 16, above 256."""
    table = {(1, 1): (0.023445810449, 0.023445810449, 0.331449504589), (3, 5): (-0.000572845287, 0.152552128406, 1.375427269025),
             (100, 7): (-0.022986063899, -0.260847145011, 1.808577451859), (320, 300): (0.000029244525, -0.025675517162, 12.334427566220)}
    T = 5
    for (K, V), (first, total, norm) in table.items():
        run = Runner(kit, target, gdn_spec(K, V), f"a12_{K}_{V}")
        t, i, j = np.arange(T)[:, None] + 1, np.arange(K)[None] + 1, np.arange(V)[None] + 2
        k, q, v = np.sin(0.7 * t * i) / math.sqrt(K), np.cos(0.3 * t * i) / math.sqrt(K), np.sin(0.11 * t * j)
        for schedule in BOTH:
            o, s = run(schedule, q=q.reshape(1, T, 1, K), k=k.reshape(1, T, 1, K), v=v.reshape(1, T, 1, V),
                       log_alpha=np.full((1, T, 1), math.log(0.95)), beta=np.full((1, T, 1), 0.7))
            size = np.max(np.abs(o))
            assert abs(o[0, 4, 0, 0] - first) < 1e-5 * size, (K, V, o[0, 4, 0, 0])
            assert abs(o[0, 4, 0].sum() - total) < 1e-5 * size * V, (K, V, o[0, 4, 0].sum())
            close(math.sqrt((s**2).sum()), norm, 1e-5)


def case_a13(kit, target):
    """More value heads than key heads: floor(h Hk / Hv)."""
    spec = models.linear_attention("f32", 1, 1)
    spec["dims"].update({"Hk": 2, "Hv": 4})
    run = Runner(kit, target, spec, "a13")
    for schedule in BOTH:
        o, _ = run(schedule, q=np.ones((1, 2, 2, 1)), k=np.array([[1.0, 10], [2, 20]]).reshape(1, 2, 2, 1),
                   v=np.array([[1.0, 2, 3, 4], [5, 6, 7, 8]]).reshape(1, 2, 4, 1))
        exact(o, [1, 2, 30, 40, 11, 14, 170, 200])
    spec["dims"]["Hv"] = 3
    result = kit.run("prism-compile", kit.write_json("a13bad.json", spec), "-o", os.path.join(kit.scratch, "a13bad.bundle"))
    assert result.returncode != 0 and "3" in result.stderr and "2" in result.stderr, result.stderr


def case_a16(kit, target):
    """Prefill then decode equals one pass, for every split."""
    spec = gdn_spec(2, 1)
    spec["entries"] = ["forward", "decode"]
    run = Runner(kit, target, spec, "a16")
    want = [-1, -0.9669677312, -0.5695216287, -0.1437350041, 0.1452575448, 0.0191446096, 0.0880774949, -0.0653806213,
            -0.4945095422, -1.1557842226]
    data = rotating(10)
    for split in ((10,), (1, 9), (7, 3), (9, 1), (1,) * 10, (3, 3, 4)):
        for schedules in (("chunk", "chunk"), ("recurrent", "recurrent"), ("chunk", "decode")):
            state, outputs, at = None, [], 0
            for n, length in enumerate(split):
                part = {name: a[:, at:at + length] for name, a in data.items()}
                if state is not None:
                    part["initial_state"] = state
                kind = schedules[min(n, 1)]
                o, state = run(None if kind == "decode" else kind, entry="decode" if kind == "decode" else "forward", **part)
                outputs.append(o.ravel())
                at += length
            close(np.concatenate(outputs), want, 1e-6)
            close(state, (-1.1557842226, 0.3953145735), 1e-6)


def case_a16_window(kit, target):
    """The window of a short convolution is carried as the state is. Taps of 1/2 and 1/4 undo what the input was made with."""
    spec = gdn_spec(2, 1)
    spec["entries"] = ["forward", "decode"]
    spec["dims"]["W"] = 3
    spec["inputs"]["v_taps"] = ["Hv", "V", "W"]
    spec["short_convolution"] = {"v": "v_taps"}
    run = Runner(kit, target, spec, "a16w")
    want = [-1, -0.9669677312, -0.5695216287, -0.1437350041, 0.1452575448, 0.0191446096, 0.0880774949, -0.0653806213,
            -0.4945095422, -1.1557842226]
    data = rotating(10)
    # x_t with x_t + x_{t-1}/2 + x_{t-2}/4 = v_t, before it the window (4, -2).
    x, window = [4.0, -2.0], np.array([4.0, -2.0]).reshape(1, 1, 1, 2)
    for v in data["v"].ravel():
        x.append(v - x[-1] / 2 - x[-2] / 4)
    data["v"] = column(x[2:])
    taps, names = np.array([0.25, 0.5, 1]).reshape(1, 1, 3), ("o", "final_state", "final_v_window")
    for split in ((10,), (1, 9), (7, 3), (9, 1), (1,) * 10, (3, 3, 4)):
        for schedules in (("chunk", "chunk"), ("recurrent", "recurrent"), ("chunk", "decode")):
            carried, outputs, at = {"initial_v_window": window}, [], 0
            for n, length in enumerate(split):
                part = {name: a[:, at:at + length] for name, a in data.items()}
                kind = schedules[min(n, 1)]
                o, state, after = run(None if kind == "decode" else kind, entry="decode" if kind == "decode" else "forward",
                                      outputs=names, v_taps=taps, **part, **carried)
                outputs.append(o.ravel())
                at += length
                carried = {"initial_state": state, "initial_v_window": after}
                exact(after, np.float32(x[at:at + 2]))
            close(np.concatenate(outputs), want, 1e-6)
            close(state, (-1.1557842226, 0.3953145735), 1e-6)


def case_a17(kit, target):
    """Fewer new tokens than a short convolution is wide."""
    spec = affine_spec()
    spec["entries"] = ["forward", "decode"]
    spec["dims"]["W"] = 4
    spec["inputs"]["taps"] = ["Hv", "V", "W"]
    spec["short_convolution"] = {"v": {"weight": "taps"}}
    run = Runner(kit, target, spec, "a17")
    taps, names = np.array([1000.0, 100, 10, 1]).reshape(1, 1, 4), ("o", "final_v_window")

    def call(schedule, window, *x, entry="forward"):
        one = column(np.ones(len(x)))
        # A gate that drops all: what is read is what is written.
        o, after = run(schedule, entry=entry, outputs=names, q=one, k=one, v=column(x), taps=taps,
                       g=np.full((1, len(x), 1), -np.inf), initial_v_window=np.array(window, float).reshape(1, 1, 1, 3))
        return o.ravel(), after
    for schedule in BOTH:
        o, window = call(schedule, (1, 2, 3), 4)
        exact(o, [1234])
        exact(window, [2, 3, 4])
        o, window = call(schedule, window, 5, 6)
        exact(o, [2345, 3456])
        exact(window, [4, 5, 6])
        o, window = call(schedule, (1, 2, 3), 4, 5, 6)
        exact(o, [1234, 2345, 3456])
        exact(window, [4, 5, 6])
        exact(call(schedule, (1, 2, 3))[1], [1, 2, 3])
    o, window = call(None, (1, 2, 3), 4, entry="decode")
    exact(o, [1234])
    exact(window, [2, 3, 4])


def case_a25(kit, target):
    """The delta rule outside the contracting range: growth is the model's truth."""
    want = [2, -4, 14, -40, 122, -364, 1094, -3280, 9842, -29524, 88574, -265720, 797162, -2391484]
    spec = gdn_spec(1, 1, gated=False)
    for chunk in (None, 16, 8):
        run = Runner(kit, target, spec, f"a25c{chunk}", {"schedule": "chunk", "chunk": chunk} if chunk else None)
        for schedule in (("chunk",) if chunk else BOTH):
            one = column(np.ones(14))
            _, _ = run(schedule, q=one, k=one * 2, v=one, beta=np.ones((1, 14, 1)))
            states = [run(schedule, q=column(np.ones(T)), k=column(np.full(T, 2.0)), v=column(np.ones(T)),
                          beta=np.ones((1, T, 1)))[1].ravel()[0] for T in range(1, 15)]
            exact(states, want)
    for dtype in ("f32", "bf16", "f16"):
        run = Runner(kit, target, gdn_spec(1, 1, dtype, gated=False), f"a25{dtype}")
        for schedule in BOTH:
            one = column(np.ones(20))
            o, _ = run(schedule, q=one, k=one, v=one, beta=np.full((1, 20, 1), 2.0))
            exact(o, [2, 0] * 10)


def case_a26(kit, target):
    """Decay first, then the error."""
    run = Runner(kit, target, gdn_spec(1, 1), "a26")
    one = column([1.0])
    for schedule in BOTH:
        for beta, want in ((0.25, 1.75), (1.0, 1.0)):
            o, s = run(schedule, q=one, k=one, v=one, log_alpha=np.full((1, 1, 1), math.log(0.5)), beta=np.full((1, 1, 1), beta),
                       initial_state=np.full((1, 1, 1, 1), 4.0))
            close(s, [want], 1e-6)
            close(o, [want], 1e-6)


def case_a27(kit, target):
    """f32 is multiplied as f32."""
    spec = models.linear_attention("f32", 32, 1)
    spec["dims"].update({"Hk": 1, "Hv": 1})
    run = Runner(kit, target, spec, "a27")
    x = np.full((1, 1, 1, 32), 1 + 2.0**-12)
    for schedule in BOTH:
        o, _ = run(schedule, q=x, k=x, v=column([1.0]))
        assert abs(o.ravel()[0] - 32.01562690734863) < 32 * 1e-6, o


def case_a28(kit, target):
    """Padding is inert; an all-zero key with an l2norm leaves the state merely decayed."""
    run = Runner(kit, target, affine_spec(), "a28")
    mask = np.array([0.0, 0, 1, 1, 1])
    one = column(np.ones(5))
    for schedule in BOTH:
        o, s = run(schedule, q=one, k=one * mask.reshape(1, 5, 1, 1), v=column([9, 9, 1, 2, 3]),
                   g=(math.log(0.5) * mask).reshape(1, 5, 1))
        close(o.ravel()[2:], [1, 2.5, 4.25], 1e-6)
        close(s, [4.25], 1e-6)
    spec = gdn_spec(2, 1)
    spec["let"] = {"kn": "l2norm(k, 1e-6)", "qn": "l2norm(q, 1e-6)"}
    spec["steps"] = [{"decay": "log_alpha"}, {"erase": {"key": "kn", "strength": "beta"}},
                     {"inject": {"key": "kn", "value": "v", "scale": "beta"}}, {"read": {"query": "qn"}}]
    run = Runner(kit, target, spec, "a28n")
    for schedule in BOTH:
        zero = np.zeros((1, 1, 1, 2))
        o, s = run(schedule, q=zero, k=zero, v=column([5.0]), log_alpha=np.full((1, 1, 1), math.log(0.5)),
                   beta=np.full((1, 1, 1), 0.7), initial_state=np.array([2.0, -4]).reshape(1, 1, 2, 1))
        exact(o, [0])
        close(s, [1, -2], 1e-6)


def case_b01(kit, target):
    """Elementary functions, as values of an injection that is read at once."""
    table = {"exp(x)": 0.4965853038, "tanh(x)": -0.6043677771, "erf(x)": -0.6778011938, "sigmoid(x)": 0.3318122278,
             "softplus(x)": 0.4031860489, "silu(x)": -0.2322685595, "gelu(x)": -0.1693745566, "log(-x)": math.log(0.7),
             "log1p(x)": math.log1p(-0.7), "rsqrt(-x)": 1 / math.sqrt(0.7), "pow(-x, 1.5)": 0.7**1.5,
             "relu(x)": 0.0, "abs(x)": 0.7, "logsigmoid(x)": -math.log1p(math.exp(0.7)), "expm1(x)": math.expm1(-0.7),
             "sqrt(-x)": math.sqrt(0.7), "min(x, 2)": -0.7, "max(x, 2)": 2.0}
    for dtype in ("f32", "f64") if target == "cpu" else ("f32",):
        for n, (text, want) in enumerate(table.items()):
            spec = models.base("b01", dtype, 1, 1, 1, 1)
            spec["inputs"]["x"] = ["B", "T", "Hv", "V"]
            spec["let"] = {"y": text}
            del spec["inputs"]["v"]
            spec["steps"] = [{"inject": {"key": "k", "value": "y"}}, {"read": {"query": "q"}}]
            run = Runner(kit, target, spec, f"b01_{dtype}_{n}")
            T = 9  # more than one vector, with a tail
            for schedule in BOTH:
                one = column(np.ones(T))
                x = np.float32(-0.7) if dtype == "f32" else -0.7
                o, _ = run(schedule, q=one, k=one, x=column(np.full(T, x)))
                close(o.ravel(), want * np.arange(1, T + 1), 3e-6 if dtype == "f32" else 1e-9)
    spec = models.base("b01s", "f32", 1, 1, 1, 1)
    spec["inputs"]["x"] = ["B", "T", "Hv", "V"]
    spec["let"] = {"y": "softplus(x)"}
    del spec["inputs"]["v"]
    spec["steps"] = [{"inject": {"key": "k", "value": "y"}}, {"read": {"query": "q"}}]
    run = Runner(kit, target, spec, "b01soft")
    for x, want in ((-20.0, 2.06115362e-9), (100.0, 100.0)):
        o, _ = run("recurrent", q=column([1.0]), k=column([1.0]), x=column([x]))
        close(o, [want], 1e-5)


def case_b02(kit, target):
    """PTX version: too low or unknown for the chip is one line, before LLVM sees it."""
    path = kit.write_json("b02.json", gdn_spec(16, 16))
    for bad, word in (("cuda:sm_90a{ptx=7.8}", "8.0"), ("cuda:sm_90a{ptx=9.9}", "9.9"), ("cuda:sm_91a", "sm_90a")):
        result = kit.run("prism-compile", path, "-o", os.path.join(kit.scratch, "b02.bundle"), "--target", bad)
        lines = [line for line in result.stderr.splitlines() if "error" in line]
        assert result.returncode == 1 and len(lines) == 1 and word in lines[0], (bad, result.stderr)
        assert not os.path.exists(os.path.join(kit.scratch, "b02.bundle"))


def case_b04(kit, target):
    """Shared memory: at 48 KiB, above it, and above every limit."""
    for chip in ("cuda:sm_80", "cuda:sm_120a", "cuda:sm_90a{smem=99K}"):
        for K, V in ((96, 128), (128, 128), (256, 256), (512, 512)):
            path = kit.write_json("b04.json", gdn_spec(K, V))
            result = kit.run("prism-compile", path, "-o", os.path.join(kit.scratch, "b04.bundle"), "--target", chip)
            assert result.returncode == 0, (chip, K, V, result.stderr)
    plan = kit.write_json("b04.plan.json", {"schedule": "chunk", "chunk": 64, "value_block": 512})
    result = kit.run("prism-compile", kit.write_json("b04.json", gdn_spec(512, 512)), "-o",
                     os.path.join(kit.scratch, "b04bad.bundle"), "--target", "cuda:sm_90a", "--plan", plan)
    assert result.returncode == 1 and "bytes" in result.stderr and "value_block" in result.stderr, result.stderr


def case_c09(kit, target):
    """Wrong layout, dtype or name is refused, naming the argument."""
    spec = models.linear_attention("f32", 1, 1)
    spec["dims"].update({"Hk": 2, "Hv": 2})
    run = Runner(kit, target, spec, "c09")
    one, v = np.ones((1, 3, 2, 1)), np.arange(1.0, 7).reshape(1, 3, 2, 1)
    for schedule in BOTH:
        exact(run(schedule, q=one, k=one, v=v)[0], [1, 2, 4, 6, 9, 12])

    def refused(words, **arrays):
        try:
            run(**arrays)
        except AssertionError as error:
            for word in words:
                assert word in str(error), f"'{word}' not in: {error}"
            return
        raise AssertionError(f"{words} was taken")

    refused(["v", "[1, 2, 3, 1]"], q=one, k=one, v=v.reshape(1, 2, 3, 1))
    refused(["value", "v"], q=one, k=one, v=v, value=v)
    refused(["k"], q=one, v=v)
    half = np.ones((1, 3, 2, 1), np.float16)
    encode, run.encode = run.encode, lambda name, a: a if name == "k" else encode(name, a)
    refused(["k", "<f2", "f32"], q=one, k=half, v=v)
    run.encode = encode
    original = run.encode
    run.encode = lambda name, a: np.asarray(a, np.float32) if name == "offsets" else original(name, a)
    refused(["offsets", "i64"], q=one, k=one, v=v, offsets=[0.0, 3.0])


def agrees(kit, target, spec, name, **call):
    """Every schedule of the spec agrees with the float64 recurrence."""
    passed, output = kit.check(spec, name, target=target, shape="B=2,T=37", **call)
    assert passed and "ok" in output, output


def case_x_read_before_write(kit, target):
    """What reads at a writer's place, an output or an erase of the previous state, does not see that writer."""
    read, inject = {"read": {"query": "q"}}, {"inject": {"key": "k", "value": "v", "scale": "beta"}}
    erase = {"erase": {"key": "k", "strength": "beta"}}
    previous = {"erase": {"key": "k", "strength": "beta", "of": "previous"}}
    for n, steps in enumerate(([read, erase, inject], [read, previous], [inject, previous, read], [inject, read, previous])):
        spec = gdn_spec(16, 16, gated=False)
        spec["steps"] = steps
        if inject not in steps:
            del spec["inputs"]["v"]
        agrees(kit, target, spec, f"x_read_{n}")


def case_x_ranks_of_state_shape(kit, target):
    """As many ranks as keys and values: the keys of a token have the state's own shape."""
    spec = models.base("x_ranks", "f32", 16, 16, extra_dims={"L": 16})
    spec["inputs"] = {"q": ["B", "T", "Hk", "K"], "c": ["B", "T", "Hv", "L", "K"], "b": ["B", "T", "Hv", "L"],
                      "w": ["B", "T", "Hv", "L", "V"]}
    spec["steps"] = [{"erase": {"key": "c", "strength": "b"}}, {"inject": {"key": "c", "value": "w", "scale": "b"}},
                     {"read": {"query": "q"}}]
    agrees(kit, target, spec, "x_ranks", schedule="recurrent")
    spec["dims"].update({"L": 4, "K": 4, "V": 4})
    agrees(kit, target, spec, "x_ranks4")


def case_x_rows(kit, target):
    """Rows of inputs and of lets, and the family that is made of them."""
    spec = models.base("x_rows", "f32", 16, 16, extra_dims={"L": 3})
    del spec["inputs"]["k"]
    spec["inputs"].update({"c": ["B", "T", "Hk", "L", "K"], "b": ["B", "T", "Hv", "L"]})
    spec["let"] = {"first": "row(c, 0)", "last": "l2norm(row(c, 2), 1e-5)", "smooth": "silu(b) + 1", "scale": "row(smooth, 1)"}
    spec["steps"] = [{"inject": {"key": "first", "value": "v"}},
                     {"inject": {"key": "last", "value": "v", "scale": "scale"}}, {"read": {"query": "q"}}]
    agrees(kit, target, spec, "x_rows")
    for L in (1, 3):
        dims = {"H": 2, "K": 16, "V": 16, "L": L}
        agrees(kit, target, {"prism_spec": 1, "family": "prism", "variant": "v2", "dims": dims}, f"x_v2_{L}")


def case_x_powers(kit, target):
    """Whole powers of negative numbers."""
    spec = models.base("x_powers", "f32", 8, 8)
    spec["let"] = {"y": "pow(v, 2) - pow(v, 3) * pow(1.5 + pow(v, 4), -1) + pow(v, 0)"}
    spec["steps"] = [{"inject": {"key": "k", "value": "y"}}, {"read": {"query": "q"}}]
    agrees(kit, target, spec, "x_powers")


def case_x_resets_per_key(kit, target):
    """One key drops all where the others keep all: what follows a reset decays from there, key by key."""
    spec = models.gla("f32", 3, 1)
    spec["dims"].update({"Hk": 1, "Hv": 1})
    T = 40
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(1, T, 1, 3)), rng.normal(size=(1, T, 1, 3)), rng.normal(size=(1, T, 1, 1))
    g = np.zeros((1, T, 1, 3))
    g[..., 1], g[0, 5::7, 0, 0], g[0, 3, 0, 2] = -0.01, -np.inf, -np.inf
    g[0, 20:, 0, 2] = -20
    state, want = np.zeros((3, 1)), []
    for t in range(T):
        with np.errstate(invalid="ignore"):
            state = np.exp(g[0, t, 0])[:, None] * state + np.outer(k[0, t, 0], v[0, t, 0])
        want.append(0.5 * state.T @ q[0, t, 0])
    run = Runner(kit, target, spec, "x_resets")
    for schedule in BOTH:
        o, s = run(schedule, q=q, k=k, v=v, g=g)
        close(o, want, 1e-5)
        close(s, state, 1e-5)


def case_x_chunk_of_one(kit, target):
    """The chunk schedule of chunk 1 is the decode's program, under another name."""
    spec = gdn_spec(8, 8)
    spec["entries"] = ["forward", "decode"]
    spec["plan"] = {"schedule": "chunk", "chunk": 1}
    agrees(kit, target, spec, "x_one")


def case_number_first(kit, target):
    """A number by whose exp two states are divided, at gates that drop all and writes that outweigh all."""
    T, K, V = 70, 4, 3
    rng = np.random.default_rng(20261130)
    x = {"q": rng.uniform(0.1, 1, (T, K)), "k": rng.uniform(0.1, 1, (T, K)), "v": rng.standard_normal((T, V)),
         "log_f": rng.choice([0.0, -0.1, -20.0, -88.0, -np.inf], T), "log_i": rng.choice([0.0, 1.0, -88.0, 60.0, -np.inf], T)}
    x["log_f"][20:40], x["log_i"][20:40] = -np.inf, -np.inf  # nothing is left, nothing is written
    x["log_i"][[40, 69]] = 0.5
    x = {name: np.float32(a).astype(np.float64) for name, a in x.items()}
    want, state = papers.mlstm({**x, "T": T}, {"C": np.zeros((V, K)), "n": np.zeros(K), "m": 0.0})
    arrays = {name: a.reshape(1, T, 1, -1) if a.ndim == 2 else a.reshape(1, T, 1) for name, a in x.items()}
    spec = {"prism_spec": 1, "name": "number", "family": "mlstm", "dtype": {"io": "f32"},
            "dims": {"B": None, "T": None, "H": 1, "K": K, "V": V}}
    for chunk in (None, 4, 16) if target.startswith("cuda") else (None, 4, 16, 64):
        run = Runner(kit, target, spec, f"number_{chunk}", {"schedule": "chunk", "chunk": chunk} if chunk else None)
        for schedule in (("chunk",) if chunk else ("recurrent",)):
            o, C, n, m = run(schedule, outputs=("o", "final_C", "final_n", "final_m"), **arrays)
            close(o, want)
            exact(o[0, 20:40], np.zeros((20, 1, V)))
            close(C, state["C"].T)
            close(n, state["n"])
            close(m, state["m"], 1e-6)


CASES = {name[5:].upper(): function for name, function in list(globals().items()) if name.startswith("case_")}


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases to run (default: all)")
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin, arguments.device)
    Runner.gates = ("g", "log_alpha", "beta")
    target = arguments.target or ("cpu" if arguments.device == "cpu" else "cuda:sm_90a")
    for name, reason in WAITING.items():
        print(f"WAITING {name}: {reason}")
    names = arguments.names or list(CASES)

    def job(name):
        def test():
            try:
                CASES[name](kit, target)
                return True, ""
            except AssertionError as error:
                return False, str(error)
        return name, test

    return tools.run_all(arguments.jobs, [job(name) for name in names], len(names))


if __name__ == "__main__":
    tools.main(main)
