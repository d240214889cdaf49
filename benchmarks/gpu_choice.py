"""The suites gpu-choice and gpu-diagonal: the kernel and the number of segments that a bundle's table names, against all that it holds."""

import re

import gpu_suite

LOSS = 0.15  # of the best in the sweep


def judge(rows):
    """A row for each case: what the table names, the best of those that are right, and the loss."""
    by_case = {}
    for row in rows:
        if "failed" not in row:
            by_case.setdefault(re.match(r".* f32 arrays|.*(?= bf16)", row["case"])[0], []).append(row)
    result = []
    for case, kernels in by_case.items():
        taken = next((row for row in kernels if row["default_plan"]), None)
        if taken is None:
            result.append({"case": f"{case} choice", "failed": "the kernel that the table names was not timed", "missed": True})
            continue
        best = min((row for row in kernels if row["right"]), key=lambda row: row["ours_ms"], default=taken)
        loss = taken["ours_ms"] / best["ours_ms"] - 1
        result.append({"case": f"{case} choice", "chosen": describe(taken), "best": describe(best), "loss": loss,
                       "missed": loss > LOSS or not taken["right"]})
    return result


def describe(row):
    plan = row["plan"]
    segments = f", {row['segments']} segments" if row["segments"] > 1 else ""
    blocks = f", {plan['prepare_blocks']} prepare_blocks" if "prepare_blocks" in plan else ""
    return f"{plan['schedule']} {plan['chunk']}, value block {plan['value_block']}{blocks}{segments}"


def run(options):
    options.all, options.no_peers = True, True
    rows = gpu_suite.run(options)
    verdicts = judge(rows)
    for row in verdicts:
        if "failed" in row:
            print(f"{row['case']}: FAILED: {row['failed']}")
            continue
        print(f"{row['case']:<45} {row['chosen']:<36} best {row['best']:<36} loss {100 * row['loss']:5.1f} %"
              + ("  MISSED" if row["missed"] else ""))
    if verdicts:
        missed = sum(row["missed"] for row in verdicts)
        print(f"{len(verdicts) - missed} of {len(verdicts)} within {100 * LOSS:.0f} % of the best of the sweep")
    return rows + verdicts
