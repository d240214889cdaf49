"""Random chains of factors against the float64 recurrence (seeded).

A chain has one to five factors (decays of the whole state and per key, erases simultaneous and chained,
with tied and free keys, injections of rank 1 to 3, refinement) and one or two
reads anywhere in it; sizes, dtype, packing, direction, layout, chunk and schedule
are random too. One in four has two or three states with a chain each, perhaps a number that is stepped before them, and
an output computed from what is read of all.
"""

import os
import random
import re

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


class Several(Chain):
    """Two or three states, each a chain of its own, some beside a number that is stepped before them, and outputs that
    are computed from what is read of all."""

    def __init__(self, rng):
        super().__init__(rng, recurrent=False)
        axes = [["K", "V"], rng.choice([["K", "V"], ["K"], ["V"]]), rng.choice([["K"], ["V"]])][: rng.choice([2, 2, 3])]
        self.states = {f"S{i}": a for i, a in enumerate(axes)}
        self.number = rng.random() < 0.5
        self.lets = {}

    def decay(self):
        if self.number and self.rng.random() < 0.5:
            return {"decay": "keep"}
        return super().decay()

    def own(self, name, axes):
        """A step of a state, with its operands along the axes it has."""
        step = self.rng.choice([self.decay, self.erase, self.inject, self.inject])()
        kind, operands = next(iter(step.items()))
        if kind == "decay" and not isinstance(operands, dict):
            operands = {"gate": operands}
        if kind == "decay" and "K" not in axes and operands.get("along") == "key":
            operands = {"gate": self.fresh("gate", ["Hv"])}
        if kind == "erase" and "K" not in axes:
            kind, operands = "inject", {"value": "v"}
        if kind == "inject":
            if axes != ["K", "V"]:
                operands = {**({"key": self.key()} if "K" in axes else {}), **({"value": "v"} if "V" in axes else {}),
                            "scale": self.strength()}
            if self.number and "refine" not in operands and "scale" in operands and self.rng.random() < 0.5:
                name_of = f"scale{len(self.lets)}"
                self.lets[name_of] = f"exp(-abs(m)) * {operands['scale']}"
                operands["scale"] = name_of
        return {kind: {**operands, "state": name}}

    def build(self):
        rng, steps, outputs = self.rng, [], []
        if self.number:
            self.inputs.update({"i": ["B", "T", "Hv"], "f": ["B", "T", "Hv"]})
            self.lets = {"next": "max(0.5 * m + f, i)", "keep": "min(m - next, 0)"}
            steps.append({"set": {"state": "m", "value": "next"}})
        for name, axes in self.states.items():
            own = [self.own(name, axes) for _ in range(rng.randint(1, 3))]
            if not any("inject" in s for s in own):
                own.append({"inject": {**({"key": "k"} if "K" in axes else {}), **({"value": "v"} if "V" in axes else {}),
                                       "state": name}})
            read = {"state": name, "output": f"r{name}", "scale": rng.choice([1, 0.5])}
            if "K" in axes:
                read["query"] = "q"
            own.insert(rng.randint(0, len(own)), {"read": read})
            steps += own
            outputs.append(f"r{name}")
        whole = [o for o, axes in zip(outputs, self.states.values()) if "V" in axes]
        text = " + ".join(o if o in whole else f"{whole[0]} / (1 + abs({o}))" for o in outputs)
        self.spec["outputs"] = {"o": rng.choice([text, f"tanh({text})", f"l2norm({text}, 0.1)"])}
        if self.number and rng.random() < 0.5:
            self.spec["outputs"]["o"] += " * exp(-abs(next))"
        self.spec["states"] = {**self.states, **({"m": []} if self.number else {})}
        if rng.random() < 0.2:
            self.spec["reverse"] = True
        self.spec["steps"] = steps
        used = str(steps) + str(list(self.lets.values())) + str(self.spec["outputs"])
        names = set(re.findall(r"[A-Za-z_0-9]+", used))
        while True:  # a let that nothing names is an error
            spare = [n for n in self.lets if n not in names]
            if not spare:
                break
            for n in spare:
                del self.lets[n]
            names = set(re.findall(r"[A-Za-z_0-9]+", str(steps) + str(list(self.lets.values())) + str(self.spec["outputs"])))
        if self.lets:
            self.spec["let"] = self.lets
        for name in [n for n in self.inputs if n not in names]:
            del self.inputs[name]
        return self.spec


def make_test(kit, seed, target):
    rng = random.Random(seed)
    schedule = rng.choice(["chunk", "chunk", "recurrent"])
    several = seed % 4 == 0
    spec = Several(rng).build() if several else Chain(rng, schedule == "recurrent").build()
    if rng.random() < 0.3:
        lengths = [rng.choice([0, 1, 2, 7, 16, 17, 33]) for _ in range(rng.randint(1, 5))]
        shape = "lengths=" + "+".join(map(str, lengths))
    else:
        shape = f"B={rng.choice([1, 2])},T={rng.choice([0, 1, 2, 15, 16, 17, 40, 65, 100])}"
    chunk = rng.choice([2, 4, 8, 16, 32, 64]) if schedule == "chunk" else None
    if target.startswith("cuda"):
        chunk = None if schedule == "recurrent" else min(chunk, 8 if several else 16)
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
