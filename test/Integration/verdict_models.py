"""Every model of examples/models: its verdict, the form it compiles to, and its numbers.

A table says what is expected of each file; a file without a line in it fails. Each
model is compiled, by --serial where it has no parallel form (and refused without),
and run for several lengths with initial and final states; all results are compared
with the model as it is written, evaluated op by op in float64.
"""

import json
import os
import re

import numpy as np

import tools

LIMIT = 1e-5  # RMS of the error beside the RMS of the result
LENGTHS = (0, 1, 7, 64, 131)

TOKEN, BATCH, SERIAL = "token", "mini_batch", "none"
# Verdict, then the schedules that the bundle holds.
PARALLEL = (TOKEN, ["chunk", "recurrent"])
STEPPED = (TOKEN, ["recurrent"])
MODELS = {
    "deltanet": PARALLEL,
    "gated_deltanet": PARALLEL,
    "gated_deltaproduct": PARALLEL,
    "gla": PARALLEL,
    "gru": (SERIAL, ["recurrent"]),
    "ideal_solver": (SERIAL, ["recurrent"]),
    "kda": PARALLEL,
    "linear_attention": PARALLEL,
    "lstm": (SERIAL, ["recurrent"]),
    "mamba": STEPPED,
    "mamba2": PARALLEL,
    "prism_v2": PARALLEL,
    "prism_v3": PARALLEL,
    "retnet": PARALLEL,
    "rwkv7": PARALLEL,
    "titans_linear": (BATCH, ["chunk"]),
    "titans_mlp": (SERIAL, ["recurrent"]),
    "titans_norm": (SERIAL, ["recurrent"]),
    "ttt_linear": (SERIAL, ["recurrent"]),
    "ttt_linear_no_norm": (BATCH, ["chunk"]),
    "ttt_mlp": (SERIAL, ["recurrent"]),
}

ARGUMENT = re.compile(r"%\w+: tensor<([?\dx]+)xf32> \{scan\.name = \"(\w+)\"(, scan\.optional)?\}")
RESULT = re.compile(r"\(?tensor<[?\dx]+xf32> \{scan\.name = \"(\w+)\"\}")


class Model:
    """A file, its arguments (name, shape, is it a state?) and results, and its bundle."""

    def __init__(self, kit, folder, name):
        self.kit, self.name = kit, name
        self.path = os.path.join(folder, name + ".mlir")
        with open(self.path) as file:
            head = file.read().split("func.func @forward(")[1].split("attributes {scan.entry")[0]
        arguments, results = head.split("->")
        self.arguments = [(m[2], m[1].split("x"), bool(m[3])) for m in ARGUMENT.finditer(arguments)]
        self.results = RESULT.findall(results)
        self.bundle = os.path.join(kit.scratch, name + ".bundle")

    def compile(self, *extra):
        return self.kit.run("prism-compile", self.path, "--target=cpu:x86-64-v3", "-o", self.bundle, *extra)

    def verdict(self):
        for granularity in (TOKEN, BATCH):
            result = self.kit.run("prism-opt", self.path,
                                  f"--scan-verify-state-independence=granularity={granularity}")
            if result.returncode == 0:
                return re.search(r'scan\.state_independent = "(\w+)"', result.stdout)[1]
        return SERIAL

    def schedules(self):
        with open(os.path.join(self.bundle, "manifest.json")) as file:
            entry, = json.load(file)["entries"]
        return sorted({kernel["plan"]["schedule"] for kernel in entry["kernels"]})

    def arrays(self, steps, batch=2):
        """Keys and queries of length one, strengths in (0, 0.2), log-gates below 0."""
        random = np.random.default_rng(len(self.name) + steps)
        made = {}
        for name, axes, is_state in self.arguments:
            dynamic = iter((batch, steps))
            shape = [next(dynamic) if axis == "?" else int(axis) for axis in axes]
            x = random.standard_normal(shape)
            if name in ("q", "k", "C", "B", "r", "kappa", "a", "b", "c") and len(shape) > 3:
                x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9)
            elif is_state or name.startswith("U_"):
                x /= 6
            elif name.startswith("log_") or name in ("g", "w"):
                x = -np.abs(x) / 4
            elif len(shape) == 3:
                x = 0.2 / (1 + np.exp(-x))
            made[name] = x.astype(np.float32)
        return made

    def run(self, tool, arrays, tag, *extra):
        paths = {name: os.path.join(self.kit.scratch, f"{self.name}.{tag}.{name}.npy")
                 for name in (*arrays, *self.results)}
        arguments = []
        for name, array in arrays.items():
            np.save(paths[name], array)
            arguments += ["--in", f"{name}={paths[name]}"]
        for name in self.results:
            arguments += ["--out", f"{name}={paths[name]}"]
        result = self.kit.run(tool, *extra, *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return {name: np.load(paths[name]) for name in self.results}


def rms(x):
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64)))) if x.size else 0.0


def check(model):
    verdict, schedules = MODELS[model.name]
    found = model.verdict()
    if found != verdict:
        return False, f"verdict {found}, expected {verdict}"
    result = model.compile()
    if verdict == SERIAL:
        if result.returncode == 0 or "does not follow an affine recurrence" not in result.stderr:
            return False, f"without --serial: {result.stdout}{result.stderr}"
        result = model.compile("--serial")
    if result.returncode != 0:
        return False, result.stdout + result.stderr
    if model.schedules() != schedules:
        return False, f"schedules {model.schedules()}, expected {schedules}"
    errors = []
    for steps in LENGTHS:
        arrays = model.arrays(steps)
        expected = model.run("prism-compile", arrays, "expected", model.path, "--evaluate")
        for schedule in schedules:
            got = model.run("prism-run", arrays, "got", model.bundle, "forward", "--schedule", schedule)
            for name in model.results:
                size = rms(expected[name])
                if not size < 100:
                    errors.append(f"T={steps} {name}: the inputs make it grow to {size:.3g}, which shows nothing")
                    continue
                error = rms(got[name] - expected[name])
                if not error <= LIMIT * max(size, 1e-3):
                    errors.append(f"{schedule} T={steps} {name}: error {error:.3g} of {size:.3g}")
    return not errors, "\n".join(errors)


def main():
    parser = tools.parser(__doc__)
    parser.add_argument("--models", required=True, help="folder of the models")
    options = parser.parse_args()
    kit = tools.Tools(options.bin)
    there = sorted(f[:-5] for f in os.listdir(options.models) if f.endswith(".mlir"))
    if there != sorted(MODELS):
        print(f"without a line in the table, or without a file: {sorted(set(there) ^ set(MODELS))}")
        return 1
    tests = [(name, lambda name=name: check(Model(kit, options.models, name))) for name in there]
    return tools.run_all(options.jobs, tests, len(tests))


if __name__ == "__main__":
    tools.main(main)
