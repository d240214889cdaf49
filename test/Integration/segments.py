"""Sequences split into segments, against the float64 recurrence.

Every model, and random chains, with several numbers of segments: lengths that fill
no chunk, one or several, more segments than chunks, packed sequences of different
lengths, gates that forget everything, grouped heads, reversed time, with and without
an initial state. Outputs and final states are compared.
"""

import os
import random

import models
import random_chains
import tools

LENGTHS = [0, 1, 63, 64, 65, 1000]
SEGMENTS = [2, 3, 8]
GATES = ["mild", "hard", "mixed", "burst"]


def model_tests(kit, target):
    rng = random.Random(20261130)
    for name in sorted(set(models.MODELS) - models.STEPPED - models.SEVERAL):
        for steps in LENGTHS:
            segments = rng.choice(SEGMENTS)
            spec = models.MODELS[name](rng.choice(["f32", "bf16"]), rng.choice([16, 60, 64]), rng.choice([16, 64, 100]))
            gates = rng.choice(GATES) if name in models.GATED else "mild"
            extra = ["--no-initial-state"] if rng.random() < 0.3 else []
            label = f"{name}-T{steps}-P{segments}-{gates}"
            yield label, lambda spec=spec, label=label, steps=steps, gates=gates, extra=extra, segments=segments: kit.check(
                spec, label, schedule="chunk", shape=f"B=2,T={steps}", gates=gates, seed=steps, target=target,
                segments=segments, extra=extra)


def packed_tests(kit, target):
    for segments in SEGMENTS:
        for reverse in (False, True):
            spec = models.nameless("f32", 24, 40)
            spec["dims"].update({"Hk": 2, "Hv": 4})
            spec["reverse"] = reverse
            label = f"packed-P{segments}{'-reverse' if reverse else ''}"
            yield label, lambda spec=spec, label=label, segments=segments: kit.check(
                spec, label, schedule="chunk", chunk=16, shape="lengths=0+1+63+64+65+200", gates="mixed", target=target,
                segments=segments)


def chain_tests(kit, target, count, first_seed):
    for seed in range(first_seed, first_seed + count):
        rng = random.Random(seed)
        spec = random_chains.Chain(rng, recurrent=False).build()
        if rng.random() < 0.3:
            shape = "lengths=" + "+".join(str(rng.choice([0, 1, 7, 16, 33, 90])) for _ in range(rng.randint(1, 4)))
        else:
            shape = f"B={rng.choice([1, 2])},T={rng.choice([0, 1, 15, 16, 17, 65, 200])}"
        chunk, segments, gates = rng.choice([2, 8, 16]), rng.choice([2, 3, 5, 9]), rng.choice(GATES)
        if target.startswith("cuda") and spec["dtype"]["io"] == "f64":
            spec["dtype"]["io"] = "f32"
        extra = ["--no-initial-state"] if rng.random() < 0.3 else []
        yield f"chain seed {seed}", lambda spec=spec, seed=seed, chunk=chunk, segments=segments, gates=gates, shape=shape, \
            extra=extra: kit.check(spec, f"chain{seed}", schedule="chunk", chunk=chunk, shape=shape, gates=gates, seed=seed,
                                   target=target, segments=segments, extra=extra)


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=int(os.environ.get("PRISM_CHAINS", 300)) // 5)
    parser.add_argument("--first-seed", type=int, default=int(os.environ.get("PRISM_SEED", 1)))
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin, arguments.device)
    target = arguments.target or ("cpu" if arguments.device == "cpu" else "cuda:sm_90a")
    tests = [*model_tests(kit, target), *packed_tests(kit, target),
             *chain_tests(kit, target, arguments.count, arguments.first_seed)]
    return tools.run_all(arguments.jobs, tests, len(tests))


if __name__ == "__main__":
    tools.main(main)
