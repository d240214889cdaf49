"""Short convolutions before a recurrence, against plain loops in float64.

The loops here know no chunk and no load: one token after another, a list for the
window. Compiled programs run in both schedules, over dense and packed sequences,
forwards and backwards, in one call and in several.
"""

import itertools
import math

import numpy as np

import cases
import models
import papers
import tools

TOLERANCE = {"f64": 1e-12, "f32": 1e-5, "bf16": 1e-2, "f16": 4e-3}
ACTIVATIONS = {
    "identity": lambda y: y,
    "silu": lambda y: y / (1 + math.exp(-y)),
    "gelu": lambda y: y / 2 * (1 + math.erf(y / math.sqrt(2))),
    "tanh": math.tanh,
    "relu": lambda y: max(y, 0.0),
}


def convolve(x, weight, bias, activation, window):
    """x [T, D], weight [D, W] from the oldest tap, window [D, W - 1]: the results and the window after them."""
    taps, outputs = weight.shape[1], np.zeros(x.shape)
    seen = [list(channel) for channel in window]
    for t, d in itertools.product(range(x.shape[0]), range(x.shape[1])):
        seen[d].append(x[t, d])
        last = seen[d][-taps:]
        outputs[t, d] = ACTIVATIONS[activation](bias[d] + sum(w * y for w, y in zip(weight[d], last)))
    return outputs, np.array([channel[len(channel) - taps + 1:] for channel in seen])


def read(array):
    """Integers are bf16."""
    return cases.from_bf16(array).astype(np.float64) if array.dtype == np.uint16 else array.astype(np.float64)


class Model:
    """Gated DeltaNet whose `convolved` inputs go through convolutions of W taps."""

    def __init__(self, dtype="f32", K=8, V=12, Hk=2, Hv=4, W=4, convolved="qkv", activation="silu", bias=(), reverse=False,
                 head_first=False):
        self.dtype, self.K, self.V, self.Hk, self.Hv, self.W = dtype, K, V, Hk, Hv, W
        self.convolved, self.activation, self.bias, self.reverse = convolved, activation, bias, reverse
        self.head_first = head_first
        spec = models.gated_deltanet(dtype, K, V)
        spec["dims"].update({"Hk": Hk, "Hv": Hv, "W": W})
        spec["reverse"], spec["entries"] = reverse, ["forward", "decode"]
        spec["short_convolution"] = {}
        for name in convolved:
            heads, feature = ("Hv", "V") if name == "v" else ("Hk", "K")
            spec["inputs"][name + "_taps"] = [heads, feature, "W"]
            spec["short_convolution"][name] = {"weight": name + "_taps", "activation": activation}
            if name in bias:
                spec["inputs"][name + "_bias"] = [heads, feature]
                spec["short_convolution"][name]["bias"] = name + "_bias"
            if head_first:
                spec["inputs"][name] = ["B", heads, "T", feature]
        self.spec = spec
        self.windows = [f"final_{name}_window" for name in convolved]

    def heads(self, name):
        return (self.Hv, self.V) if name == "v" else (self.Hk, self.K)

    def inputs(self, rows, T, sequences, seed=0):
        """Values that the I/O type has."""
        rng = np.random.default_rng(seed)

        def rounded(a):
            return read(cases.bf16(a)) if self.dtype == "bf16" else a.astype(cases.NP[self.dtype]).astype(np.float64)
        x = {}
        for name in "qkv":
            heads, D = self.heads(name)
            x[name] = rounded(rng.normal(size=(rows, T, heads, D)) / math.sqrt(D))
            if name in self.convolved:
                x[name + "_taps"] = rounded(rng.uniform(-1, 1, (heads, D, self.W)))
                x[f"initial_{name}_window"] = rounded(rng.normal(size=(sequences, heads, D, self.W - 1)) / math.sqrt(D))
            if name in self.bias:
                x[name + "_bias"] = rounded(rng.normal(size=(heads, D)) / 10)
        x["log_alpha"] = -rng.uniform(0, 0.2, (rows, T, self.Hv)).astype(np.float32).astype(np.float64)
        x["beta"] = rng.uniform(0, 1, (rows, T, self.Hv)).astype(np.float32).astype(np.float64)
        x["initial_state"] = rng.normal(size=(sequences, self.Hv, self.K, self.V)).astype(np.float32).astype(np.float64)
        return x

    def reference(self, x, bounds):
        """Sequence i is bounds[i] = (row, begin, end)."""
        rows, T = x["log_alpha"].shape[:2]
        results = {"o": np.zeros((rows, T, self.Hv, self.V)), "final_state": np.zeros((len(bounds), self.Hv, self.K, self.V))}
        for name in self.convolved:
            heads, D = self.heads(name)
            results[f"final_{name}_window"] = np.zeros((len(bounds), heads, D, self.W - 1))
        for n, (row, begin, end) in enumerate(bounds):
            steps = list(range(begin, end))
            if self.reverse:
                steps.reverse()
            seen = {}
            for name in "qkv":
                heads, D = self.heads(name)
                for h in range(heads):
                    seen[name, h] = x[name][row, steps, h]
                    if name not in self.convolved:
                        continue
                    window = x.get(f"initial_{name}_window")
                    seen[name, h], results[f"final_{name}_window"][n, h] = convolve(
                        seen[name, h], x[name + "_taps"][h], x[name + "_bias"][h] if name in self.bias else np.zeros(D),
                        self.activation, np.zeros((D, self.W - 1)) if window is None else window[n, h])
            for h in range(self.Hv):
                key = h * self.Hk // self.Hv
                one = {"q": seen["q", key], "k": seen["k", key], "v": seen["v", h], "T": len(steps),
                       "log_alpha": x["log_alpha"][row, steps, h], "beta": x["beta"][row, steps, h]}
                start = x["initial_state"][n, h].T if "initial_state" in x else np.zeros((self.V, self.K))
                outputs, state = papers.gated_deltanet(one, start)
                results["final_state"][n, h] = state.T
                for t, o in zip(steps, outputs):
                    results["o"][row, t, h] = o
        return results

    def arrays(self, x):
        """As the compiled program takes them."""
        return {name: np.moveaxis(a, 2, 1).copy() if self.head_first and name in self.convolved else a for name, a in x.items()}


class Runner(cases.Runner):
    gates = ("log_alpha", "beta")


def compare(got, want, dtype, what):
    for name, a in got.items():
        b = want[name]
        if "window" in name:  # moved, not computed
            assert np.array_equal(a, b), f"{what}: {name}\n{a}\nexpected\n{b}"
            continue
        error = math.sqrt(np.sum((a - b) ** 2) / max(np.sum(b**2), 1e-300))
        assert error <= TOLERANCE[dtype], f"{what}: {name} is off by {error}"


def run(runner, model, x, schedule, entry="forward", **more):
    names = ["o", "final_state", *model.windows]
    return dict(zip(names, runner(schedule, entry=entry, outputs=names, **model.arrays(x), **more)))


def whole(kit, target, label, model, plans, lengths=(1, 2, 3, 5, 33), absent=False):
    for number, plan in enumerate(plans):
        runner = Runner(kit, target, model.spec, f"{label}_{number}", plan)
        for schedule in ("chunk",) if plan else ("chunk", "recurrent"):
            for T in lengths:
                x = model.inputs(2, T, 2, seed=T)
                if absent:
                    x = {name: a for name, a in x.items() if not name.startswith("initial")}
                got = run(runner, model, x, schedule)
                compare(got, model.reference(x, [(0, 0, T), (1, 0, T)]), model.dtype, f"{schedule} {plan} T={T}")
    return True, ""


def packed(kit, target, label, model, plans):
    lengths = [0, 1, 2, 3, 0, 4, 17, 33]
    ends = np.cumsum([0] + lengths)
    x = model.inputs(1, ends[-1], len(lengths), seed=7)
    want = model.reference(x, [(0, a, b) for a, b in zip(ends[:-1], ends[1:])])
    for number, plan in enumerate(plans):
        runner = Runner(kit, target, model.spec, f"{label}_{number}", plan)
        for schedule in ("chunk",) if plan else ("chunk", "recurrent"):
            compare(run(runner, model, x, schedule, offsets=ends), want, model.dtype, f"packed {schedule} {plan}")
    return True, ""


def splits(kit, target, label, model):
    """One call and several: the same bits where all calls step, within the bound where some take chunks."""
    T = 13
    x = model.inputs(2, T, 2, seed=3)
    want = model.reference(x, [(0, 0, T), (1, 0, T)])
    runner = Runner(kit, target, model.spec, label)
    one = run(runner, model, x, "recurrent")
    for split in ((1, 12), (2, 11), (3, 10), (12, 1), (4, 4, 5), (1,) * T):
        for schedules in (("recurrent", "recurrent"), ("recurrent", "decode"), ("chunk", "chunk"), ("chunk", "decode")):
            carried = {name: a for name, a in x.items() if name.startswith("initial")}
            outputs, at = [], 0
            for n, length in enumerate(split):
                part = {name: a[:, at:at + length] for name, a in x.items() if name in ("q", "k", "v", "log_alpha", "beta")}
                weights = {name: a for name, a in x.items() if name.endswith(("taps", "bias"))}
                kind = schedules[min(n, 1)]
                got = run(runner, model, {**part, **weights, **carried}, None if kind == "decode" else kind,
                          "decode" if kind == "decode" else "forward")
                outputs.append(got["o"])
                carried = {name.replace("final", "initial"): a for name, a in got.items() if name != "o"}
                at += length
            got["o"] = np.concatenate(outputs, 1)
            compare(got, want, model.dtype, f"{split} {schedules}")
            if "chunk" not in schedules:
                for name in got:
                    assert np.array_equal(got[name], one[name]), f"{split} {schedules}: other bits in {name}"
    return True, ""


def all_tests(kit, target):
    chunks = [None] if target.startswith("cuda") else [None, {"schedule": "chunk", "chunk": 4}, {"schedule": "chunk", "chunk": 16}]
    blocks = [{"schedule": "chunk", "chunk": 8, "value_block": 5}]
    for W in (2, 3, 4, 8):
        yield f"taps-{W}", lambda W=W: whole(kit, target, f"taps{W}", Model(W=W), chunks, lengths=(1, 2, 7, 20))
    for activation in ACTIVATIONS:
        yield f"activation-{activation}", lambda a=activation: whole(
            kit, target, f"act{a}", Model(activation=a, bias=("q", "v"), Hk=1, Hv=1), [None], lengths=(5,))
    for dtype in ("f64", "bf16", "f16"):
        if not (dtype == "f64" and target.startswith("cuda")):
            yield f"type-{dtype}", lambda d=dtype: whole(kit, target, f"type{d}", Model(d, bias=("k",)), chunks, lengths=(2, 21))
    for convolved in ("q", "k", "v"):
        yield f"only-{convolved}", lambda c=convolved: whole(kit, target, f"only{c}", Model(convolved=c), chunks, lengths=(3, 18))
    yield "absent-windows", lambda: whole(kit, target, "absent", Model(), chunks, lengths=(1, 3, 18), absent=True)
    yield "empty", lambda: whole(kit, target, "empty", Model(), [None], lengths=(0,))
    yield "head-first", lambda: whole(kit, target, "headfirst", Model(head_first=True), chunks, lengths=(3, 18))
    yield "value-blocks", lambda: whole(kit, target, "blocks", Model(V=12), blocks, lengths=(2, 19))
    yield "one-channel", lambda: whole(kit, target, "one", Model(K=1, V=1, W=2), chunks, lengths=(1, 2, 18))
    yield "wide", lambda: whole(kit, target, "wide", Model(K=64, V=72, Hk=1, Hv=1), chunks, lengths=(70,))
    yield "reverse", lambda: whole(kit, target, "reverse", Model(reverse=True), chunks, lengths=(1, 2, 19))
    yield "packed", lambda: packed(kit, target, "packed", Model(bias=("q", "k", "v")), chunks)
    yield "packed-reverse", lambda: packed(kit, target, "packedreverse", Model(reverse=True), chunks)
    for dtype in ("f32", "bf16"):
        yield f"splits-{dtype}", lambda d=dtype: splits(kit, target, f"splits{d}", Model(d, Hk=1, Hv=2, bias=("k",)))


def main():
    arguments = tools.parser(__doc__).parse_args()
    target = arguments.target or ("cpu" if arguments.device == "cpu" else "cuda:sm_90a")
    kit = tools.Tools(arguments.bin, arguments.device)
    tests = list(all_tests(kit, target))
    return tools.run_all(arguments.jobs, tests, len(tests))


if __name__ == "__main__":
    tools.main(main)
