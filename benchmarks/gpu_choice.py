"""The suites gpu-choice and gpu-diagonal: the kernel and the number of segments that a bundle's table names, against all that it holds.

usage: gpu_choice.py ROWS.json BUNDLES     the verdicts on times that a suite measured before, by the tables and predictions
                                           of bundles that --suite NAME --compile-only wrote; no GPU is needed
"""

import json
import os
import re
import sys

import gpu_cases
import gpu_driver
import gpu_predictions
import gpu_suite

LOSS = 0.15  # of the best in the sweep
ERROR = 0.25  # of the predicted times, in the median


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


def judge_predictions(rows):
    """How far the predicted times are off in the median, of all rows and of the kernels that the table names."""
    errors = {"all": [], "taken": []}
    for row in rows:
        if "failed" in row or not row["right"]:
            continue
        if row["predicted_ms"] is None:
            return [{"case": f"{row['case']} prediction", "failed": "the compiler predicts no time of this kernel", "missed": True}]
        error = abs(row["predicted_ms"] / row["ours_ms"] - 1)
        errors["all"].append(error)
        if row["default_plan"]:
            errors["taken"].append(error)
    return [{"case": f"predicted times, {name}", "rows": len(values), "median_error": sorted(values)[len(values) // 2],
             "largest_error": max(values), "missed": sorted(values)[len(values) // 2] > ERROR} for name, values in errors.items() if values]


def say_prediction(row):
    return f"{row['case']}: {row['rows']} rows, {100 * row['median_error']:.1f} % off in the median (aim {100 * ERROR:.0f} %), " \
           f"{100 * row['largest_error']:.0f} % at most" + ("  MISSED" if row["missed"] else "")


def is_of(row, case):
    name = case.name + ("" if case.arrays else " bf16")
    return "right" in row and (row["case"] == name or row["case"].startswith(name + ","))


def recorded(rows, folder, cases, has_predictions=True):
    """Rows measured before, with what the bundles' tables now name and the compiler now predicts."""
    result = []
    for case in cases:
        measured = [row for row in rows if is_of(row, case)]
        _, entry = gpu_driver.read_entry(os.path.join(folder, case.bundle), case.entry)
        taken = gpu_predictions.Plan.of(gpu_driver.choose(entry, case.sequences, case.steps, 90), case)
        predicted = gpu_predictions.read(folder, case) if has_predictions else {}
        for row in measured:
            plan = gpu_predictions.Plan.of(row, case)
            result.append({**row, "default_plan": plan == taken, "predicted_ms": predicted.get(plan)})
    return result


def say(rows, has_predictions=True):
    """Prints the verdicts on rows, and returns them."""
    verdicts, predictions = judge(rows), judge_predictions(rows) if has_predictions else []
    for row in verdicts:
        if "failed" in row:
            print(f"{row['case']}: FAILED: {row['failed']}")
            continue
        print(f"{row['case']:<45} {row['chosen']:<36} best {row['best']:<36} loss {100 * row['loss']:5.1f} %"
              + ("  MISSED" if row["missed"] else ""))
    if verdicts:
        missed = sum(row["missed"] for row in verdicts)
        print(f"{len(verdicts) - missed} of {len(verdicts)} within {100 * LOSS:.0f} % of the best of the sweep")
    for row in predictions:
        print(f"{row['case']}: FAILED: {row['failed']}" if "failed" in row else say_prediction(row))
    return verdicts + predictions


def run(options):
    options.all, options.no_peers = True, True
    rows = gpu_suite.run(options)
    return rows + say(rows, has_predictions=options.suite == "gpu-choice")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        measured = json.load(file)
    suite, has_predictions = measured["suite"], measured["suite"] == "gpu-choice"
    rows = recorded(measured["rows"], sys.argv[2], gpu_cases.CASES[suite](), has_predictions)
    return 1 if any(row["missed"] for row in say(rows, has_predictions)) else 0


if __name__ == "__main__":
    sys.exit(main())
