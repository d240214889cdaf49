"""The suites cpu-families and cpu-gated-deltanet: our kernels beside the best form in PyTorch, on as many threads.

For each case the float64 recurrence comes first; every form of ours and of PyTorch
must meet it. A form of PyTorch that does not is shown as wrong and not counted.
All forms run in turn; after SCOUTS rounds those far behind the best are left out,
so that the others see more rounds in the same time.
"""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import bundle
import cpu_cases
import timing

LIMIT = 1e-5  # RMS ratio for f32
SCOUTS, BEHIND = 3, 1.5


def compile_case(compiler, folder, index, case):
    """Compiles the case; returns its forward entry and, by schedule, the FLOP of a token and head."""
    path = os.path.join(folder, f"{index}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(case.spec(), file)
    out = os.path.join(folder, str(index))
    text = subprocess.run([compiler, path, "-o", out, "--explain"], check=True, capture_output=True, text=True).stdout
    flops = {schedule: float(number) * 1e3 for schedule, number in
             re.findall(r"on cpu: schedule (\w+), chunk \d+,.*?; ([0-9.]+) kFLOP", text)}
    return bundle.Entry(out, "forward"), flops


def ours(case, entry, schedule, inputs, threads):
    """(function that runs the kernel, its results, which it fills)."""
    results = {a["name"]: np.full([{"B": 1, "N": 1, "T": case.steps}.get(size, size) for size in a["shape"]], np.nan, np.float32)
               for a in entry.entry["arguments"] if a["role"] in ("output", "final_state")}
    kernel = entry.kernel(schedule).bind({**inputs, **results}, 1, case.steps)
    return kernel.runner(threads), list(results.values()), kernel.info


def torch_forms(case, inputs, threads):
    """Form -> a function that runs it, on so many threads."""
    import torch

    import torch_families

    tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}

    def on_threads(form):
        def run():
            torch.set_num_threads(threads)
            with torch.inference_mode():
                return form()
        return run
    return {name: on_threads(form) for name, form in torch_families.FORMS[case.family.name](tensors).items()}


def error_of(got, want):
    """The largest RMS ratio of outputs and states; nan counts as infinite."""
    errors = [timing.rms_ratio(a, b) for a, b in zip(got, want)]
    return float("inf") if len(got) != len(want) or not np.isfinite(errors).all() else max(errors)


def traffic(entry, results, inputs):
    """Bytes of all inputs and results, each once."""
    return sum(array.nbytes for array in inputs.values()) + sum(array.nbytes for array in results)


class Bench:
    """One case at one number of threads."""

    def __init__(self, case, entry, flops, inputs, want, threads, schedules):
        self.case, self.entry, self.flops, self.threads = case, entry, flops, threads
        self.runs, self.errors, self.plans, self.wrong, self.schedules = {}, {}, {}, {}, {}
        for schedule in schedules:
            run, results, info = ours(case, entry, schedule, inputs, threads)
            run()
            name = f"{schedule}, chunk {info['plan']['chunk']}" if schedule == "chunk" else "steps"
            self.errors[name] = error_of(results, want)
            if not self.errors[name] <= LIMIT:
                sys.exit(f"run.py: {case.name}, {name}: RMS ratio {self.errors[name]:.1e} to the float64 recurrence, expected at most {LIMIT}")
            self.runs[name], self.plans[name], self.schedules[name] = run, info, schedule
        self.bytes = traffic(entry, results, inputs)

    def add_peers(self, inputs, want):
        for name, run in torch_forms(self.case, inputs, self.threads).items():
            name = "torch " + name
            self.errors[name] = error_of([np.asarray(a) for a in run()], want)
            if self.errors[name] <= LIMIT:
                self.runs[name] = run
            else:
                self.wrong[name] = self.errors[name]

    def time(self, repeats, limits):
        """Seconds of every form, and of what measures the machine."""
        seconds = timing.measure({**self.runs, **limits}, SCOUTS)
        peers = [name for name in self.runs if name not in self.plans]
        best = min((min(seconds[name]) for name in peers), default=0)
        kept = {name: run for name, run in self.runs.items() if name in self.plans or min(seconds[name]) <= BEHIND * best}
        for name, times in timing.measure({**kept, **limits}, repeats).items():
            seconds[name] += times
        return seconds

    def row(self, name, seconds, limits):
        """What is printed and kept of one of our forms."""
        peers = {peer: min(times) for peer, times in seconds.items() if peer in self.runs and peer not in self.plans}
        best = min(peers, key=peers.get) if peers else None
        mine, info = min(seconds[name]), self.plans[name]
        flops = self.flops[self.schedules[name]] * self.case.steps * self.case.heads
        cores = min(self.threads, os.cpu_count())
        peak = limits["peak"].flops / min(seconds["peak"]) * cores
        rate = limits["copy"].bytes / min(seconds["copy"])
        times = sorted(seconds[name])
        return {"case": self.case.name, "shape": self.case.shape, "threads": self.threads, "form": name, "plan": info["plan"],
                "isa": info["isa"], "default_plan": self.schedules[name] == self.entry.default_schedule(1, self.case.steps),
                "ours_ms": mine * 1e3, "error": self.errors[name], "peer": best, "peer_ms": best and peers[best] * 1e3,
                "peer_error": best and self.errors[best], "ratio": best and peers[best] / mine,
                "peers_ms": {peer: time * 1e3 for peer, time in peers.items()}, "wrong_peers": self.wrong,
                "gflops": flops / mine / 1e9, "peak_gflops": peak / 1e9, "of_peak": flops / mine / peak,
                "gbytes": self.bytes / mine / 1e9, "copy_gbytes": rate / 1e9, "of_copy": self.bytes / mine / rate,
                "spread_ms": {"min": times[0] * 1e3, "median": times[len(times) // 2] * 1e3, "max": times[-1] * 1e3},
                "missed": bool(best) and peers[best] < mine and self.schedules[name] == self.entry.default_schedule(1, self.case.steps)}


def show(row):
    text = f"{row['case']:<26} {row['shape']:<12} {row['threads']} thr  {row['form']:<10} {row['ours_ms']:8.2f} ms " \
           f"(median {row['spread_ms']['median']:.2f})  {row['error']:.0e}  {100 * row['of_peak']:3.0f} % of peak, {100 * row['of_copy']:3.0f} % of copy"
    if row["peer"]:
        text += f"  {row['ratio']:6.2f} x {row['peer']} ({row['peer_ms']:.2f} ms, {row['peer_error']:.0e})"
    for name, error in row["wrong_peers"].items():
        text += f"  [{name} is wrong: {error:.0e}]"
    print(text + ("  SLOWER" if row["missed"] else ""), flush=True)


def versions(entry):
    found = {"prism": entry.manifest["compiler"], "python": platform.python_version(), "numpy": np.__version__}
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].__version__
    return found


def run_case(case, entry, flops, options, limits, every_schedule):
    inputs = case.inputs(options.seed)
    want = case.reference(inputs)
    rows = []
    for threads in options.threads:
        schedules = sorted({k["plan"]["schedule"] for k in entry.entry["kernels"]}) if every_schedule else \
            [entry.default_schedule(1, case.steps)]
        bench = Bench(case, entry, flops, inputs, want, threads, schedules)
        if not options.no_peers:
            bench.add_peers(inputs, want)
        seconds = bench.time(options.repeats, limits)
        for name in bench.plans:
            rows.append(bench.row(name, seconds, limits))
            show(rows[-1])
    return rows


def dry_run(case, entry):
    """Every schedule and every form of PyTorch against the float64 recurrence; no timing."""
    inputs = case.inputs(0)
    want = case.reference(inputs)
    schedules = sorted({k["plan"]["schedule"] for k in entry.entry["kernels"]})
    bench = Bench(case, entry, {}, inputs, want, 1, schedules)
    text = ", ".join(f"{name} {error:.0e}" for name, error in bench.errors.items())
    try:
        import torch  # noqa: F401
    except ImportError:
        print(f"{case.name}: {text} to the float64 recurrence; no PyTorch here, so its forms are not checked")
        return []
    bench.add_peers(inputs, want)
    peers = {name: error for name, error in bench.errors.items() if name not in bench.plans}
    print(f"{case.name}: {text} to the float64 recurrence; {len(peers) - len(bench.wrong)} of {len(peers)} forms in PyTorch right" +
          "".join(f"; {name} is wrong: {error:.0e}" for name, error in bench.wrong.items()))
    return [{"case": case.name, "missed": True}] if bench.wrong else []


def run_suite(cases, options, every_schedule=False):
    chosen = [case for case in cases if not options.only or any(text in case.name for text in options.only)]
    if not chosen:
        sys.exit(f"run.py: no case's name contains {' or '.join(options.only)}; there are: {', '.join(case.name for case in cases)}")
    compiler = os.path.join(options.bin, "prism-compile")
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            compiled = list(pool.map(lambda job: compile_case(compiler, folder, *job), enumerate(chosen)))
        if options.dry_run:
            return [row for case, (entry, _) in zip(chosen, compiled) for row in dry_run(case, entry)]
        limits = {"peak": timing.Peak(), "copy": timing.Copy()}
        rows = [row for case, (entry, flops) in zip(chosen, compiled)
                for row in run_case(case, entry, flops, options, limits, every_schedule)]
    common = {"device": timing.processor(), "versions": versions(compiled[0][0]), "repeats": options.repeats,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    ratios = [row["ratio"] for row in rows if row["ratio"] and row["default_plan"]]
    if ratios:
        print(f"{sum(ratio >= 1 for ratio in ratios)} of {len(ratios)} at least as fast as the best form in PyTorch; "
              f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f} x; peak of one core {rows[0]['peak_gflops'] / rows[0]['threads']:.0f} GFLOP/s, "
              f"copy {rows[0]['copy_gbytes']:.1f} GB/s; {common['device']}")
    return [{**row, **common} for row in rows]


def cpu_families(options):
    """Every family at one shape (PRISM and Gated DeltaNet at two), f32, on the CPU, beside the best of several forms in PyTorch."""
    return run_suite(cpu_cases.small_cases() if options.dry_run else cpu_cases.all_cases(), options)


def cpu_gated_deltanet(options):
    """Gated DeltaNet forward on the CPU, f32, B 1, T 4096, H 4, K = V = 64, by chunks and by steps."""
    return run_suite(cpu_cases.small_cases()[4:5] if options.dry_run else cpu_cases.one_case(), options, every_schedule=True)
