"""The chosen chunk and schedule against a sweep of all, on one thread of this CPU.

prism-calibrate measures the machine first; prism-compile chooses with that file;
every plan of the sweep is compiled and timed in turn, on the same arrays. A case
misses its bar if the chosen plan's minimum is more than LOSS above the best one's
and above what the best one's own times spread; the suite misses if the median
error of the predictions is above ERROR.
"""

import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

LOSS, ERROR = 0.10, 0.25
SETTLED, MOST_BATCHES = 0.02, 20
CHUNKS = (4, 8, 16, 32, 64)
PLANS = [("recurrent", 1)] + [("chunk", chunk) for chunk in CHUNKS]


def shape(family, keys, values, steps, io="f32", heads=4, **dims):
    return {"family": family, "K": keys, "V": values, "T": steps, "H": heads, "io": io, "dims": dims}


# About a millisecond each, and the arrays within the last-level cache.
SHAPES = [
    shape("linear_attention", 16, 16, 8192), shape("linear_attention", 64, 64, 1024), shape("linear_attention", 128, 64, 1024, "bf16"),
    shape("retnet", 32, 32, 4096), shape("retnet", 40, 96, 1024), shape("retnet", 128, 256, 256),
    shape("gla", 16, 16, 4096), shape("gla", 32, 32, 2048), shape("gla", 32, 64, 1024, heads=8),
    shape("gla", 64, 64, 1024, "bf16"), shape("gla", 64, 128, 512), shape("gla", 128, 128, 256),
    shape("deltanet", 16, 16, 4096), shape("deltanet", 32, 32, 4096), shape("deltanet", 48, 80, 1024),
    shape("deltanet", 64, 64, 1024), shape("deltanet", 128, 128, 512, "bf16"), shape("deltanet", 256, 256, 256, heads=2),
    shape("gated_deltanet", 16, 64, 4096), shape("gated_deltanet", 32, 32, 4096), shape("gated_deltanet", 64, 64, 1024),
    shape("gated_deltanet", 64, 64, 100), shape("gated_deltanet", 96, 96, 512), shape("gated_deltanet", 128, 128, 512),
    shape("prism", 16, 16, 2048, L=1), shape("prism", 32, 32, 1024, L=2), shape("prism", 64, 64, 512, L=1),
    shape("prism", 64, 64, 512, L=2), shape("prism", 80, 48, 512, L=1), shape("prism", 128, 128, 256, "bf16", L=2),
]


def name_of(case):
    extra = "".join(f" {key}={value}" for key, value in case["dims"].items())
    return f"{case['family']}{extra} {case['K']}x{case['V']} T {case['T']} H {case['H']} {case['io']}"


def plan_name(plan):
    return plan[0] if plan[0] == "recurrent" else f"chunk {plan[1]}"


class Models:
    """Specs, bundles of every plan, and what the compiler predicts, in a folder."""

    def __init__(self, compiler, level, folder):
        self.compiler, self.level, self.folder = compiler, level, folder

    def path(self, index, ending):
        return os.path.join(self.folder, f"{index}.{ending}")

    def compile(self, job):
        index, plan = job
        plan_file = self.path(index, f"{plan[0]}{plan[1]}.json")
        with open(plan_file, "w", encoding="utf-8") as file:
            json.dump({"schedule": plan[0], "chunk": plan[1]}, file)
        subprocess.run([self.compiler, self.path(index, "spec.json"), "--plan", plan_file,
                        "-o", self.path(index, f"{plan[0]}{plan[1]}")], check=True, stdout=subprocess.DEVNULL)

    def write(self, index, case):
        spec = {"prism_spec": 1, "name": "model", "family": case["family"],
                "dims": {"B": 1, "T": case["T"], "H": case["H"], "K": case["K"], "V": case["V"], **case["dims"]},
                "dtype": {"io": case["io"]}, "entries": ["forward"], "target": ["cpu:" + self.level]}
        with open(self.path(index, "spec.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file)

    def predict(self, index, case, calibration):
        """(plan -> ns a step and head, the plan taken for the case's length)."""
        text = subprocess.run([self.compiler, self.path(index, "spec.json"), "--explain", "--calibration", calibration],
                              check=True, capture_output=True, text=True).stdout
        line = re.search(r"predicted ns a step and value head on \S+, (\d+) steps: (.*)", text)
        if not line or int(line.group(1)) != case["T"]:
            sys.exit(f"run.py: {name_of(case)}: expected predicted times for {case['T']} steps, found:\n{text}")
        times, taken = {}, None
        for part in line.group(2).split(", "):
            name, ns = re.fullmatch(r"(chunk \d+|recurrent) ([0-9.]+)(?: \(this plan\))?", part).groups()
            times[name] = float(ns)
            if part.endswith("(this plan)"):
                taken = name
        steps = re.search(r"note: for sequences of (any length|up to (\d+) steps)", text)
        if steps and (steps.group(2) is None or case["T"] <= int(steps.group(2))):
            taken = "recurrent"
        return times, taken


def arrays_of(entry, case, generator):
    """Inputs that keep every state bounded; outputs of NaN."""
    import numpy as np

    dims = {"B": 1, "b": 1, "N": 1, "n": 1, "T": case["T"], "t": case["T"], "H": case["H"], "h": case["H"],
            "K": case["K"], "k": case["K"], "V": case["V"], "v": case["V"], **case["dims"],
            **{key.lower(): value for key, value in case["dims"].items()}}
    arrays = {}
    for argument in entry["arguments"]:
        if argument["optional"] and argument["role"] != "final_state":
            continue
        name, extents = argument["name"], [dims[axis] for axis in argument["axes"]]
        values = generator.standard_normal(extents, dtype=np.float32)
        if name in ("q", "k", "c"):
            values /= np.linalg.norm(values, axis=-1, keepdims=True)
        elif name.startswith("log_"):
            values = -np.abs(values) / 16
        elif name in ("beta", "b"):
            values = 1 / (1 + np.exp(-values))
        if argument["role"] != "input":
            values[:] = np.nan
        if argument["dtype"] == "bf16":
            values = (values.view(np.uint32) >> 16).astype(np.uint16)
        arrays[name] = np.ascontiguousarray(values)
    return arrays


def check_written(case, plan, arrays, entry):
    """The kernel did the work: nothing that it writes is NaN. (What it writes is the tests' business.)"""
    import numpy as np

    for argument in entry["arguments"]:
        array = arrays.get(argument["name"])
        if argument["role"] == "input" or array is None:
            continue
        bad = (array & 0x7FFF) > 0x7F80 if argument["dtype"] == "bf16" else np.isnan(array)
        if bad.any():
            sys.exit(f"run.py: {name_of(case)}, {plan_name(plan)}: '{argument['name']}' has {int(bad.sum())} elements that are NaN")


def time_case(models, index, case, repeats):
    """Plan name -> its seconds, one for each repeat, in an order that rotates.

    As many repeats as asked for, and as many again until those bring no minimum that is more than
    SETTLED below: other programs on the machine come and go for seconds.
    """
    import bundle
    import numpy as np

    arrays, runs = None, {}
    for plan in PLANS:
        entry = bundle.Entry(models.path(index, f"{plan[0]}{plan[1]}"), "forward")
        arrays = arrays or arrays_of(entry.entry, case, np.random.default_rng(index))
        runs[plan_name(plan)] = entry.kernel(plan[0], models.level).bind(arrays, 1, case["T"]).runner(1)
        runs[plan_name(plan)]()
        check_written(case, plan, arrays, entry.entry)
    names = list(runs)
    seconds = {name: [] for name in names}
    for batch in range(MOST_BATCHES):
        before = {name: min(times, default=math.inf) for name, times in seconds.items()}
        for repeat in range(repeats):
            for i in range(len(names)):
                name = names[(repeat + i) % len(names)]
                begin = time.perf_counter()
                runs[name]()
                seconds[name].append(time.perf_counter() - begin)
        if batch and all(min(seconds[name]) >= (1 - SETTLED) * before[name] for name in names):
            break
    return seconds


def judge(case, seconds, predicted, taken):
    """One row: the chosen plan against the best, predictions against times (ns a step and head)."""
    scale = 1e9 / (case["T"] * case["H"])
    ns = {name: min(times) * scale for name, times in seconds.items()}
    best = min(ns, key=ns.get)
    # How far a quarter of its runs is above the fastest: the better of two such figures is not known.
    spread = max((sorted(seconds[name])[len(seconds[name]) // 4] * scale / ns[name] - 1) for name in (best, taken))
    loss = ns[taken] / ns[best] - 1
    return {"case": name_of(case), "chosen": taken, "best": best, "loss": loss, "spread": spread,
            "ns": ns, "predicted_ns": predicted, "errors": {name: predicted[name] / ns[name] - 1 for name in ns},
            "missed": loss > LOSS and loss > spread}


def show(row):
    error = row["errors"][row["chosen"]]
    times = "  ".join(f"{name.replace('chunk ', 'c').replace('recurrent', 'r')} {ns:.0f}/{row['predicted_ns'][name]:.0f}"
                      for name, ns in row["ns"].items())
    print(f"{row['case']:<46} {row['chosen']:<10} best {row['best']:<10} loss {100 * row['loss']:5.1f} %  spread {100 * row['spread']:4.1f} %"
          f"  predicted {100 * error:+5.1f} %   {times}{'  MISSED' if row['missed'] else ''}", flush=True)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def chunk_choice(options, processor):
    with tempfile.TemporaryDirectory(prefix="prism-chunk-choice-") as folder:
        return run(options, processor, folder)


def run(options, processor, folder):
    import bundle

    level = options.level or bundle.isa_levels()[0]
    tools = os.path.join(options.build, "bin")
    models = Models(os.path.join(tools, "prism-compile"), level, folder)
    for index, case in enumerate(SHAPES):
        models.write(index, case)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(models.compile, [(index, plan) for index in range(len(SHAPES)) for plan in PLANS]))
    calibration = os.path.join(folder, "calibration.json")
    if options.calibration:
        calibration = options.calibration
    else:
        subprocess.run([os.path.join(tools, "prism-calibrate"), "--level", level, "-o", calibration], check=True)
    print(f"{processor}, {level}, one thread, minima of {options.repeats}; ns a step and value head: measured/predicted")
    rows = []
    for index, case in enumerate(SHAPES):
        predicted, taken = models.predict(index, case, calibration)
        rows.append(judge(case, time_case(models, index, case, options.repeats), predicted, taken))
        show(rows[-1])
    with open(calibration, encoding="utf-8") as file:
        costs = json.load(file)["levels"][level]
    of_chosen = median(abs(row["errors"][row["chosen"]]) for row in rows)
    of_all = median(abs(error) for row in rows for error in row["errors"].values())
    missed = sum(row["missed"] for row in rows)
    summary = {"case": "summary", "missed": missed > 0 or max(of_chosen, of_all) > ERROR, "cases_missed": missed,
               "median_error_of_chosen": of_chosen, "median_error": of_all,
               "median_loss": median(row["loss"] for row in rows), "largest_loss": max(row["loss"] for row in rows),
               "device": processor, "level": level, "costs": costs, "repeats": options.repeats,
               "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    print(f"chosen plan: {len(rows) - missed} of {len(rows)} within {100 * LOSS:.0f} % of the best or its spread; "
          f"loss {100 * summary['median_loss']:.1f} % in the median, {100 * summary['largest_loss']:.1f} % at most\n"
          f"predictions: {100 * of_chosen:.1f} % off in the median for chosen plans, {100 * of_all:.1f} % for all {len(rows) * len(PLANS)}; "
          f"the bar is {100 * ERROR:.0f} %")
    return rows + [summary]
