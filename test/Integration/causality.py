"""A token that is no number does not change the past, bit by bit.

Models and random chains in the chunk form, chunks of several sizes with a tail:
at one step every input becomes NaN or infinite, and all outputs of the steps before
it (after it, with time reversed), and of the other sequence, must stay as they were.
"""

import os
import random

import numpy as np

import models
import random_chains
import tools

STEPS = 37  # of a chunk of 16 two whole ones and a tail of 5
POISON = {np.dtype(np.uint16): {"nan": 0x7FC0, "inf": 0x7F80}}  # bf16


def poisoned(array, axes, step, kind):
    """The array with every element of one step of sequence 0 replaced."""
    array = array.copy()
    where = tuple({"B": 0, "T": step}.get(axis, slice(None)) for axis in axes)
    array[where] = POISON.get(array.dtype, {"nan": np.nan, "inf": np.inf})[kind]
    return array


class Model:
    """One spec compiled for the chunk schedule, with random inputs."""

    def __init__(self, kit, spec, name, chunk, isa):
        self.kit, self.spec, self.name = kit, spec, name
        self.folder = os.path.join(kit.scratch, name)
        path = kit.write_json(name + ".json", spec)
        plan = kit.write_json(name + ".plan.json", {"schedule": "chunk", "chunk": chunk})
        common = [path, "--target", f"cpu:{isa}", "--plan", plan]
        for extra in (["-o", self.folder + ".bundle"], ["--sample", self.folder, "--shape", f"B=2,T={STEPS}"]):
            result = kit.run("prism-compile", *common, *extra)
            assert result.returncode == 0, result.stdout + result.stderr
        files = [f[:-4] for f in os.listdir(self.folder)]
        self.arrays = {f: np.load(os.path.join(self.folder, f + ".npy")) for f in files if not f.endswith(".expected")}
        self.outputs = [f[:-9] for f in files if f.endswith(".expected") and not f.startswith("final_")]

    def run(self, arrays):
        arguments = [self.folder + ".bundle", "forward", "--schedule", "chunk", "--threads", "1"]
        for name, array in arrays.items():
            path = os.path.join(self.folder, name + ".in.npy")
            np.save(path, array)
            arguments += ["--in", f"{name}={path}"]
        for name in self.outputs:
            arguments += ["--out", f"{name}={self.folder}/{name}.out.npy"]
        result = self.kit.run("prism-run", *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return {name: np.load(f"{self.folder}/{name}.out.npy") for name in self.outputs}

    def check(self, step, kind):
        before = self.run(self.arrays)
        inputs = self.spec["inputs"]
        after = self.run({name: poisoned(array, inputs[name], step, kind) if "T" in inputs.get(name, []) else array
                          for name, array in self.arrays.items()})
        past = slice(step + 1, None) if self.spec.get("reverse") else slice(0, step)
        for name in self.outputs:  # B, T, head, value
            for part in ((0, past), (1,)):
                old, new = before[name][part], after[name][part]
                changed = np.argwhere(np.any(old.view(np.uint8) != new.view(np.uint8), axis=-1))
                if len(changed):
                    return False, f"{kind} at step {step} changes output {name}{part} at {changed[:5].tolist()}"
        return True, ""


def make_test(kit, spec, name, chunk, isa, step, kind):
    return name, lambda: Model(kit, spec, name, chunk, isa).check(step, kind)


def several_erases(dtype, K, V):
    """Three keys a token erased at once: a system whose tokens no register tile divides."""
    spec = models.prism(dtype, K, V, 2)
    spec["dims"]["R"] = 3
    spec["inputs"].update({"keys": models.TOKEN + ["Hv", "R", "K"], "betas": models.TOKEN + ["Hv", "R"]})
    spec["steps"].insert(1, {"erase": {"key": "keys", "strength": "betas"}})
    return spec


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=int(os.environ.get("PRISM_CHAINS", 60)), help="random chains")
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin)
    with open("/proc/cpuinfo", encoding="ascii") as file:
        isas = ["x86-64-v3", "x86-64-v4"] if "avx512vl" in file.read() else ["x86-64-v3"]
    tests = []
    for model, build in {**models.MODELS, "several_erases": several_erases}.items():
        if model in models.STEPPED:
            continue  # no chunk: a token is all that a step sees
        for i, (chunk, step) in enumerate([(16, 36), (16, 17), (64, 9), (32, 21), (8, 3), (4, 22)]):
            rng = random.Random(i)
            dtype, (K, V) = rng.choice(["f32", "bf16", "f64"]), rng.choice([(64, 64), (16, 128), (33, 20)])
            tests.append(make_test(kit, build(dtype, K, V), f"{model}_{i}", chunk, isas[i % len(isas)], step,
                                   ["nan", "inf"][i // 2 % 2]))
    for seed in range(arguments.count):
        rng = random.Random(seed)
        spec = random_chains.Chain(rng, recurrent=False).build()
        tests.append(make_test(kit, spec, f"chain_{seed}", rng.choice([2, 4, 8, 16, 32, 64]), rng.choice(isas),
                               rng.randrange(STEPS), rng.choice(["nan", "inf"])))
    return tools.run_all(arguments.jobs, tests, len(tests))


if __name__ == "__main__":
    tools.main(main)
