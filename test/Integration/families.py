"""Every family against its paper's equation.

For each preset: the float64 recurrence and the compiled CPU code, forward and
decode, against the loops of papers.py on the same arrays: batches, grouped heads,
packed sequences, reverse, with and without initial state, in f64, f32 and bf16;
prefill then decode is one pass for every split.
"""

import json
import os

import numpy as np

import papers
import tools
from cases import bf16, from_bf16

DIMS = {"Hk": 2, "Hv": 4, "K": 6, "V": 5}
NP = {"f32": np.float32, "f64": np.float64}
LIMIT = {"f64": 1e-12, "f32": 1e-5, "bf16": 0.005}


def unit(rng, shape):
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


DRAW = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "unit": unit,
    # Positive features.
    "features": lambda rng, shape: np.exp(0.5 * rng.standard_normal(shape)),
    "fraction": lambda rng, shape: rng.uniform(size=shape),
    # Mild gates, one in eight that drops nearly all, and one in sixteen that drops all.
    "gate": lambda rng, shape: -np.select([rng.uniform(size=shape) < 0.0625, rng.uniform(size=shape) < 0.125], [np.inf, 20.0],
                                          rng.uniform(0.0, 0.3, shape)),
}


class Family:
    """A preset: name, variant and dims, its arrays (where, how drawn, features), and its loop."""

    def __init__(self, name, loop, arrays, variant=None, dims=None, label=None, options=None, states=None, table=None):
        self.name, self.loop, self.arrays, self.variant = name, loop, arrays, variant
        self.dims = {**DIMS, **(dims or {})}
        self.label, self.options, self.table = label or name, options, table or DRAW
        # Axes of each state; what it lacks of K and V is 1.
        self.states = states or {"state": "KV"}

    def spec(self, io, **more):
        spec = {"prism_spec": 1, "name": self.label, "family": self.name, "dims": self.dims, "dtype": {"io": io}}
        if self.variant:
            spec["variant"] = self.variant
        if self.options:
            spec["options"] = self.options
        return {**spec, **more}

    def draw(self, rng, B, T):
        """All arrays of a call, time first."""
        arrays = {}
        for name, (where, how, features) in self.arrays.items():
            heads = self.dims["Hk" if where == "key" else "Hv"]
            lead = [heads] if where == "param" else [B, T, heads]
            arrays[name] = self.table[how](rng, lead + [self.dims[f] for f in features])
        return arrays

    def draw_states(self, rng, N):
        """Initial states; a vector or number is a sum and positive."""
        states = {}
        for name, axes in self.states.items():
            shape = [N, self.dims["Hv"]] + [self.dims[axis] if axis in axes else 1 for axis in "KV"]
            states["initial_" + name] = DRAW["normal" if axes == "KV" else "fraction"](rng, shape)
        return states

    def as_in_the_paper(self, states):
        """The states of one head: V x K, a vector, a number; a lone one by itself."""
        own = {n: a.T if axes == "KV" else a.ravel() if axes else a.item()
               for (n, axes), a in zip(self.states.items(), states)}
        return own if len(own) > 1 else own.popitem()[1]

    def reference(self, arrays, initial=None, offsets=None, reverse=False):
        """o and the final states of all sequences and value heads, by the loop."""
        B, T = next(a.shape[:2] for n, a in arrays.items() if self.arrays[n][0] != "param")
        Hk, Hv, V = (self.dims[n] for n in ("Hk", "Hv", "V"))
        rows = [(0, a, b) for a, b in zip(offsets[:-1], offsets[1:])] if offsets is not None else [(b, 0, T) for b in range(B)]
        o = np.zeros((B, T, Hv, V))
        finals = [np.zeros([len(rows), Hv] + [self.dims[axis] if axis in axes else 1 for axis in "KV"])
                  for axes in self.states.values()]
        for n, (row, begin, end) in enumerate(rows):
            for h in range(Hv):
                begins = initial.values() if initial else [np.zeros_like(f) for f in finals]
                S = self.as_in_the_paper([a[n, h] for a in begins])
                x = {"T": end - begin}
                for name, array in arrays.items():
                    where = self.arrays[name][0]
                    if where == "param":
                        x[name] = array[h]
                        continue
                    x[name] = array[row, begin:end, h * Hk // Hv if where == "key" else h]
                    if reverse:
                        x[name] = x[name][::-1]
                outputs, S = self.loop(x, S)
                if end > begin:
                    o[row, begin:end, h] = outputs[::-1] if reverse else outputs
                for final, state in zip(finals, S.values() if isinstance(S, dict) else [S]):
                    final[n, h] = np.transpose(state).reshape(final[n, h].shape)
        return [o, *finals]


QKV = {"q": ("key", "unit", "K"), "k": ("key", "unit", "K"), "v": ("value", "normal", "V")}
GATED = {**QKV, "log_alpha": ("value", "gate", ""), "beta": ("value", "fraction", "")}
PRISM = {**GATED, "u": ("value", "normal", "V"), "p": ("value", "normal", "LV"), "c": ("key", "unit", "LK"),
         "b": ("value", "fraction", "L")}
RWKV = {"r": ("key", "unit", "K"), "log_w": ("value", "gate", "K"), "k": ("key", "unit", "K"), "v": ("value", "normal", "V")}


def without(arrays, *names):
    return {name: array for name, array in arrays.items() if name not in names}


FAMILIES = [
    Family("linear_attention", papers.linear_attention, QKV),
    Family("retnet", papers.retnet, {**QKV, "log_gamma": ("param", "gate", "")}),
    Family("gla", papers.gla, {**QKV, "log_alpha": ("value", "gate", "K")}),
    Family("mamba", papers.mamba, {"x": ("value", "normal", "V"), "dt": ("value", "normal", "V"), "A_log": ("param", "normal", "KV"),
                                   "B": ("key", "normal", "K"), "C": ("key", "normal", "K")}),
    Family("mamba2", papers.mamba2, {"x": ("value", "normal", "V"), "dt": ("value", "normal", ""), "A_log": ("param", "normal", ""),
                                     "B": ("key", "normal", "K"), "C": ("key", "normal", "K")}),
    Family("deltanet", papers.deltanet, without(GATED, "log_alpha")),
    Family("gated_deltanet", papers.gated_deltanet, GATED),
    Family("gated_deltanet2", papers.gated_deltanet2,
           {**QKV, "log_alpha": ("value", "gate", "K"), "erase_gate": ("value", "fraction", "K"),
            "write_gate": ("value", "fraction", "V")}),
    Family("kda", papers.kda, {**GATED, "log_alpha": ("value", "gate", "K")}),
    *[Family("gated_deltaproduct", papers.gated_deltaproduct,
             {**GATED, "k": ("key", "unit", "MK"), "v": ("value", "normal", "MV"), "beta": ("value", "fraction", "M")},
             dims={"M": M}, label=f"gated_deltaproduct_{M}") for M in (1, 3)],
    Family("rwkv7", papers.rwkv7, {**RWKV, "kappa": ("key", "unit", "K"), "a": ("value", "fraction", "K")}),
    Family("rwkv7", papers.dplr, {**RWKV, "a": ("key", "unit", "K"), "b": ("key", "unit", "K")}, variant="dplr",
           label="dplr"),
    Family("mlstm", papers.mlstm, {**QKV, "log_i": ("value", "normal", ""), "log_f": ("value", "gate", "")},
           states={"C": "KV", "n": "K", "m": ""}),
    Family("gated_rfa", papers.gated_rfa,
           {"q": ("key", "features", "K"), "k": ("key", "features", "K"), "v": ("value", "normal", "V"), "log_g": ("value", "gate", "")},
           states={"S": "KV", "z": "K"}),
    Family("hgrn", papers.hgrn, {"i": ("value", "normal", "V"), "log_f": ("value", "gate", "V")}, dims={"K": 1}),
    Family("mingru", papers.mingru, {"h_tilde": ("value", "normal", "V"), "z_logit": ("value", "normal", "V")}, dims={"K": 1}),
    Family("rg_lru", papers.rg_lru, {"x": ("value", "normal", "V"), "r_logit": ("value", "normal", "V"),
                                     "i_logit": ("value", "normal", "V"), "Lambda": ("param", "normal", "V")}, dims={"K": 1}),
    Family("first_order", papers.first_order, {"x": ("value", "normal", "V"), "log_a": ("value", "gate", "V")}, dims={"K": 1}),
    *[Family("prism", papers.prism_v3, PRISM if L else GATED, dims={"L": L}, label=f"prism_{L}") for L in (0, 1, 2, 4)],
    *[Family("prism", papers.prism_v2, without(PRISM, "k", "beta"), variant="v2", dims={"L": L}, label=f"prism_v2_{L}")
      for L in (1, 2, 4)],
]


class Program:
    """A compiled preset, called with arrays."""

    def __init__(self, kit, family, io, suffix="", **more):
        self.kit, self.io = kit, io
        self.results = ["o", *("final_" + name for name in family.states)]
        self.name = f"{family.label}_{io}{suffix}"
        path = kit.write_json(self.name + ".json", family.spec(io, **more))
        expanded = kit.run("prism-compile", path, "--expand")
        assert expanded.returncode == 0, expanded.stderr
        self.types = {n: i["dtype"] for n, i in json.loads(expanded.stdout)["inputs"].items()}
        assert set(self.types) == set(family.arrays), f"inputs {sorted(self.types)}, expected {sorted(family.arrays)}"
        self.bundle = os.path.join(kit.scratch, self.name + ".bundle")
        compiled = kit.run("prism-compile", path, "-o", self.bundle, "--target", "cpu")
        assert compiled.returncode == 0, compiled.stdout + compiled.stderr
        with open(os.path.join(self.bundle, "manifest.json")) as file:
            self.schedules = sorted({k["plan"]["schedule"] for e in json.load(file)["entries"] if e["name"] == "forward"
                                     for k in e["kernels"]})

    def rounded(self, arrays):
        """What the arrays are after they are stored."""
        return {n: from_bf16(bf16(a)).astype(np.float64) if self.types[n] == "bf16" else
                np.asarray(a, NP[self.types[n]]).astype(np.float64) for n, a in arrays.items()}

    def encode(self, name, array):
        if name == "offsets":
            return np.asarray(array, np.int64)
        if name.startswith("initial_"):
            return np.asarray(array, np.float64 if self.io == "f64" else np.float32)
        return bf16(array) if self.types[name] == "bf16" else np.asarray(array, NP[self.types[name]])

    def __call__(self, entry="forward", schedule=None, **arrays):
        arguments = [self.bundle, entry] + (["--schedule", schedule] if schedule else [])
        for name, array in arrays.items():
            path = os.path.join(self.kit.scratch, f"{self.name}.{name}.npy")
            np.save(path, self.encode(name, array))
            arguments += ["--in", f"{name}={path}"]
        outs = [os.path.join(self.kit.scratch, f"{self.name}.{name}.out.npy") for name in self.results]
        for name, path in zip(self.results, outs):
            arguments += ["--out", f"{name}={path}"]
        result = self.kit.run("prism-run", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        loaded = [np.load(path) for path in outs]
        return [from_bf16(a).astype(np.float64) if a.dtype == np.uint16 else a.astype(np.float64) for a in loaded]


def agree(got, want, limit, what):
    """RMS ratios of output and state; zeros are met exactly."""
    assert len(got) == len(want), what
    for name, a, b in zip(("o", "the final state", "the second state", "the third state"), got, want):
        assert a.shape == b.shape, f"{what}: {name} has shape {a.shape}, expected {b.shape}"
        error, size = np.sqrt(np.sum((a - b) ** 2)), np.sqrt(np.sum(b**2))
        assert error <= limit * size, f"{what}: {name} is off by {error / max(size, 1e-300):.3g}, limit {limit}"


def against_oracle(kit, family, rng):
    """The float64 recurrence on arrays of its own choice."""
    folder = os.path.join(kit.scratch, family.label + ".sample")
    path = kit.write_json(family.label + ".sample.json", family.spec("f64"))
    result = kit.run("prism-compile", path, "--sample", folder, "--entry", "forward", "--shape", "B=2,T=9")
    assert result.returncode == 0, result.stdout + result.stderr
    arrays = {name: np.load(os.path.join(folder, name + ".npy")) for name in family.arrays}
    results = ["o", *("final_" + name for name in family.states)]
    expected = [np.load(os.path.join(folder, name + ".expected.npy")) for name in results]
    initial = {"initial_" + name: np.load(os.path.join(folder, f"initial_{name}.npy")) for name in family.states}
    want = family.reference(arrays, initial)
    agree(expected, want, 1e-12, "the float64 recurrence")


def forward_and_decode(kit, family, rng):
    run = Program(kit, family, "f64")
    state = family.draw_states(rng, 2)
    arrays = family.draw(rng, 2, 37)
    for schedule in run.schedules:
        agree(run(schedule=schedule, **arrays), family.reference(arrays), 1e-12, f"{schedule} from zeros")
        agree(run(schedule=schedule, **state, **arrays), family.reference(arrays, state), 1e-12,
              f"{schedule} with an initial state")
    packed, offsets = family.draw(rng, 1, 37), [0, 0, 3, 20, 37]
    states = family.draw_states(rng, 4)
    want = family.reference(packed, states, offsets)
    for schedule in run.schedules:
        agree(run(schedule=schedule, offsets=offsets, **states, **packed), want, 1e-12, f"{schedule}, packed")
    agree(run("decode", **state, **family_slice(family, arrays, 0, 1)),
          family.reference(family_slice(family, arrays, 0, 1), state), 1e-12, "decode")
    splits(run, family, rng, state)


def family_slice(family, arrays, begin, end):
    return {n: a if family.arrays[n][0] == "param" else a[:, begin:end] for n, a in arrays.items()}


def splits(run, family, rng, state):
    """Prefill of s tokens, decode of the others one by one."""
    T = 6
    arrays = family.draw(rng, 2, T)
    want = family.reference(arrays, state)
    for split in range(T + 1):
        outputs, carried = [], state
        if split:
            o, *finals = run(**carried, **family_slice(family, arrays, 0, split))
            outputs, carried = [o], dict(zip(carried, finals))
        for t in range(split, T):
            o, *finals = run("decode", **carried, **family_slice(family, arrays, t, t + 1))
            outputs, carried = [*outputs, o], dict(zip(carried, finals))
        agree([np.concatenate(outputs, 1), *carried.values()], want, 1e-12, f"prefill of {split} of {T} tokens, then decode")


def reverse(kit, family, rng):
    run = Program(kit, family, "f64", "_reverse", reverse=True, entries=["forward"])
    arrays, offsets = family.draw(rng, 1, 21), [0, 4, 4, 21]
    states = family.draw_states(rng, 3)
    for schedule in run.schedules:
        agree(run(schedule=schedule, offsets=offsets, **states, **arrays),
              family.reference(arrays, states, offsets, reverse=True), 1e-12, f"{schedule}, reverse")


def element_types(kit, family, rng):
    for io in ("f32", "bf16"):
        run = Program(kit, family, io, entries=["forward"])
        arrays = run.rounded(family.draw(rng, 2, 70))
        state = {n: np.float32(a).astype(np.float64) for n, a in family.draw_states(rng, 2).items()}
        for schedule in run.schedules:
            agree(run(schedule=schedule, **state, **arrays), family.reference(arrays, state), LIMIT[io],
                  f"{schedule}, {io}")


def head_first(kit, family, rng):
    run = Program(kit, family, "f64", "_hf", layout="head_first", entries=["forward"])
    arrays = family.draw(rng, 2, 18)
    swapped = {n: a if family.arrays[n][0] == "param" else a.swapaxes(1, 2) for n, a in arrays.items()}
    o, *finals = run(**swapped)
    agree([o.swapaxes(1, 2), *finals], family.reference(arrays), 1e-12, "head first")


TESTS = [against_oracle, forward_and_decode, reverse, element_types, head_first]


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="labels of families to test (default: all)")
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin)
    listed = kit.run("prism-compile", "--list-families")
    assert listed.returncode == 0, listed.stderr
    untested = {line.split()[0] for line in listed.stdout.splitlines()} - {f.name for f in FAMILIES}
    assert not untested, f"families without a loop in papers.py: {sorted(untested)}"
    chosen = [f for f in FAMILIES if not arguments.names or f.label in arguments.names]

    def job(family, test):
        def call():
            try:
                test(kit, family, np.random.default_rng(20261130))
                return True, ""
            except AssertionError as error:
                return False, str(error)
        return f"{family.label}: {test.__name__}", call

    jobs = [job(family, test) for family in chosen for test in TESTS]
    return tools.run_all(arguments.jobs, jobs, len(jobs))


if __name__ == "__main__":
    tools.main(main)
