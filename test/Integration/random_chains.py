"""Random chains of factors against the float64 recurrence (seeded).

A chain has one to five factors (decays of the whole state and per key, erases simultaneous and chained,
with tied and free keys, injections of rank 1 to 3, refinement) and one or two
reads anywhere in it; sizes, dtype, packing, direction, layout, chunk and schedule
are random too.
"""

import os
import random

import models
import tools

SIZES = [1, 2, 3, 5, 8, 15, 16, 17, 24, 33, 48, 60, 64]


class Chain:
    def __init__(self, rng, recurrent):
        self.rng, self.recurrent = rng, recurrent
        K, V = rng.choice(SIZES), rng.choice(SIZES)
        Hk = rng.choice([1, 1, 2])
        self.spec = models.base("chain", rng.choice(["f32", "f32", "bf16", "f16", "f64"]), K, V, Hk,
                                Hk * rng.choice([1, 2]))
        self.inputs = self.spec["inputs"]
        self.count = 0
        self.keys = ["k"]

    def fresh(self, stem, axes):
        name = f"{stem}{self.count}"
        self.count += 1
        outer = ["B", "T"]
        if self.rng.random() < 0.2:  # head before time
            self.inputs[name] = ["B", axes[0], "T"] + axes[1:]
        else:
            self.inputs[name] = outer + axes
        return name

    def key(self):
        if self.rng.random() < 0.5:
            return self.rng.choice(self.keys)
        name = self.fresh("key", [self.rng.choice(["Hk", "Hv"]), "K"])
        self.keys.append(name)
        return name

    def strength(self):
        return self.fresh("beta", ["Hv"])

    def rank(self):
        name = f"R{self.count}"
        self.spec["dims"][name] = self.rng.choice([1, 2, 3])
        return name

    def decay(self):
        # Only the recurrent schedule takes gates per value or element.
        along = self.rng.choice(["scalar", "key", "value", "element"] if self.recurrent else ["scalar", "key"])
        axes = {"scalar": [], "key": ["K"], "value": ["V"], "element": ["K", "V"]}[along]
        if axes:
            return {"decay": {"gate": self.fresh("gate", ["Hv"] + axes), "along": along}}
        return {"decay": self.fresh("gate", ["Hv"])}

    def erase(self):
        kind = self.rng.random()
        if kind < 0.5:
            return {"erase": {"key": self.key(), "strength": self.strength()}}
        if kind < 0.75:
            erase = {"read": self.key(), "write": self.key(), "strength": self.strength()}
            if self.rng.random() < 0.4:
                erase["of"] = "previous"
            return {"erase": erase}
        rank = self.rank()
        return {"erase": {"key": self.fresh("keys", ["Hv", rank, "K"]), "strength": self.fresh("betas", ["Hv", rank])}}

    def inject(self):
        kind = self.rng.random()
        if kind < 0.5:
            inject = {"key": self.key(), "value": "v" if self.rng.random() < 0.5 else self.fresh("value", ["Hv", "V"])}
            if self.rng.random() < 0.6:
                inject["scale"] = self.strength()
            return {"inject": inject}
        rank = self.rank()
        inject = {"key": self.fresh("keys", ["Hv", rank, "K"]), "scale": self.fresh("scales", ["Hv", rank])}
        if kind < 0.75:
            inject["value"] = self.fresh("values", ["Hv", rank, "V"])
        else:
            inject["refine"] = {"anchor": self.fresh("anchor", ["Hv", "V"]), "value": "v",
                                "gain": self.fresh("gain", ["Hv", rank, "V"]),
                                "activation": self.rng.choice(["gelu", "silu", "tanh", "identity", "relu"])}
        return {"inject": inject}

    def build(self):
        rng = self.rng
        steps = [rng.choice([self.decay, self.erase, self.erase, self.inject, self.inject])()
                 for _ in range(rng.randint(1, 5))]
        if not any("inject" in s for s in steps):
            steps.append(self.inject())
        steps.insert(rng.randint(0, len(steps)), {"read": {"query": "q"}})
        if rng.random() < 0.2:
            steps.insert(rng.randint(0, len(steps)), {"read": {"query": "k", "scale": -0.5, "output": "extra"}})
        if rng.random() < 0.2:
            self.spec["reverse"] = True
        self.spec["steps"] = steps
        used = str(steps)
        for name in list(self.inputs):
            if f"'{name}'" not in used:
                del self.inputs[name]
        return self.spec


def make_test(kit, seed, target):
    rng = random.Random(seed)
    schedule = rng.choice(["chunk", "chunk", "recurrent"])
    spec = Chain(rng, schedule == "recurrent").build()
    if rng.random() < 0.3:
        lengths = [rng.choice([0, 1, 2, 7, 16, 17, 33]) for _ in range(rng.randint(1, 5))]
        shape = "lengths=" + "+".join(map(str, lengths))
    else:
        shape = f"B={rng.choice([1, 2])},T={rng.choice([0, 1, 2, 15, 16, 17, 40, 65, 100])}"
    chunk = rng.choice([2, 4, 8, 16, 32, 64]) if schedule == "chunk" else None
    if target.startswith("cuda"):
        chunk = None if schedule == "recurrent" else min(chunk, 16)
        if spec["dtype"]["io"] == "f64":
            spec["dtype"]["io"] = "f32"
    gates = rng.choice(["mild", "hard", "mixed", "burst"])
    extra = ["--no-initial-state"] if rng.random() < 0.3 else []
    return f"seed {seed}", lambda: kit.check(spec, f"chain{seed}", schedule=schedule, chunk=chunk, shape=shape,
                                             gates=gates, seed=seed, target=target, extra=extra)


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=int(os.environ.get("PRISM_CHAINS", 300)))
    parser.add_argument("--first-seed", type=int, default=int(os.environ.get("PRISM_SEED", 1)))
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin, arguments.device)
    target = arguments.target or ("cpu" if arguments.device == "cpu" else "cuda:sm_90a")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.count)
    return tools.run_all(arguments.jobs, [make_test(kit, seed, target) for seed in seeds], arguments.count)


if __name__ == "__main__":
    tools.main(main)
