"""Models x paths x dtypes x lengths x head sizes x gates, pairwise covered.

Each row compiles one model for one path, runs it on random inputs and compares
outputs and final states with the float64 recurrence on the rounded inputs. Every
pair of values of two different factors occurs in some row; the rows are the same
on every run. Rows whose path is not on --device are compiled and assembled only
when that device is absent (see --list).
"""

import itertools
import random

import models
import tools

FACTORS = {
    "model": list(models.MODELS),
    "path": ["cpu-recurrent", "cpu-chunk", "gpu-recurrent", "gpu-chunk"],
    "dtype": ["f32", "bf16", "f16"],
    "T": [0, 1, 63, 64, 65, 500, 1000],
    "K": [1, 16, 60, 64, 100, 128, 256],
    "V": [1, 16, 60, 64, 100, 128, 256],
    "gates": ["mild", "hard", "mixed", "burst"],
}
NAMES = list(FACTORS)


def pairs_of(row):
    return {(a, row[a], b, row[b]) for a, b in itertools.combinations(NAMES, 2)}


def covering_rows(seed=20261129):
    """Greedy: of 40 random completions of an uncovered pair, take the one that covers most."""
    rng = random.Random(seed)
    todo = set()
    for a, b in itertools.combinations(NAMES, 2):
        todo |= {(a, x, b, y) for x in FACTORS[a] for y in FACTORS[b]}
    rows = []
    while todo:
        a, x, b, y = min(todo, key=str)
        best = None
        for _ in range(40):
            row = {name: rng.choice(values) for name, values in FACTORS.items()}
            row[a], row[b] = x, y
            gain = len(pairs_of(row) & todo)
            if best is None or gain > best[0]:
                best = (gain, row)
        rows.append(best[1])
        todo -= pairs_of(best[1])
    return rows


def full_device_rows(device):
    """On one device, every pair of its own paths with everything else."""
    prefix = "gpu" if device != "cpu" else "cpu"
    rows = covering_rows()
    # Move rows of the other device's paths here too: twice the coverage.
    for row in rows:
        kind = row["path"].split("-")[1]
        row["path"] = f"{prefix}-{kind}"
    return rows


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the rows and stop")
    arguments = parser.parse_args()
    rows = full_device_rows(arguments.device)
    if arguments.list:
        for row in covering_rows():
            print(row)
        return 0
    kit = tools.Tools(arguments.bin, arguments.device)
    target = arguments.target or ("cpu" if arguments.device == "cpu" else "cuda:sm_90a")

    def job(i, row):
        name = "-".join(str(row[n]) for n in NAMES)
        spec = models.MODELS[row["model"]](row["dtype"], row["K"], row["V"])
        stepped = models.STEPPED if arguments.device == "cpu" else models.STEPPED | models.SEVERAL
        schedule = "recurrent" if row["model"] in stepped else row["path"].split("-")[1]
        gates = row["gates"] if row["model"] in models.GATED else "mild"
        return name, lambda: kit.check(spec, f"row{i}", schedule=schedule, shape=f"B=1,T={row['T']}", gates=gates,
                                       seed=i, target=target)

    return tools.run_all(arguments.jobs, [job(i, row) for i, row in enumerate(rows)], len(rows))


if __name__ == "__main__":
    tools.main(main)
