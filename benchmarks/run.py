#!/usr/bin/env python3
"""Benchmarks of Prism against its peers.

usage: run.py --list
       run.py --suite NAME [--json FILE] [--build FOLDER] [--repeats N] [--python PYTHON]
       run.py --suite chunk-choice [--level LEVEL] [--calibration FILE]
       run.py --suite gpu-forward|gpu-families|gpu-decode|gpu-choice [--bin FOLDER] [--bundles FOLDER] [--compile-only] [--dry-run] [--all] [--only TEXT] ...

Ours and the peers run in one process, interleaved: every repeat runs every case
once, in an order that rotates, so that all see the same machine. The figure of a
case is the minimum over the repeats on the CPU, the median on a GPU; the spread
stands beside it.
Peers need PyTorch: give a Python that has it (--python, or an active VIRTUAL_ENV).
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def restart_under(python):
    """Starts this program again under another Python, or that of the active VIRTUAL_ENV."""
    if not python and os.environ.get("VIRTUAL_ENV"):
        python = os.path.join(os.environ["VIRTUAL_ENV"], "bin", "python")
    if python and os.path.abspath(python) != os.path.abspath(sys.executable) and not os.environ.get("PRISM_BENCH_PYTHON"):
        os.environ["PRISM_BENCH_PYTHON"] = python
        os.execv(python, [python] + sys.argv)


def use_numpy(python):
    restart_under(python)
    try:
        import numpy  # noqa: F401
    except ImportError:
        sys.exit(f"run.py: {sys.executable} has no NumPy; give a Python that does, --python PYTHON")


def use_python(python):
    """Starts this program again under the Python that has PyTorch."""
    restart_under(python)
    try:
        import torch  # noqa: F401
    except ImportError:
        sys.exit("run.py: this Python has no PyTorch for the peers; 'python3 -m venv V && V/bin/pip install torch numpy', "
                 "then --python V/bin/python")


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return f"{name}, {os.cpu_count()} cores"


def measure(cases, repeats):
    """Case name -> its seconds, one figure for each repeat."""
    names = list(cases)
    for name in names:
        cases[name]()  # loads, touches memory, fills caches
    seconds = {name: [] for name in names}
    for repeat in range(repeats):
        for i in range(len(names)):
            name = names[(repeat + i) % len(names)]
            begin = time.perf_counter()
            cases[name]()
            seconds[name].append(time.perf_counter() - begin)
        if sys.stderr.isatty():
            print(f"\r{repeat + 1} of {repeats}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return seconds


class Peak:
    """The f32 FMA peak of one core, measured among the other cases."""

    def __init__(self):
        import ctypes
        folder = tempfile.mkdtemp(prefix="prism-peak-")
        library = os.path.join(folder, "peak.so")
        subprocess.run(["clang-22", "-O3", "-march=native", "-mprefer-vector-width=512", "-ffp-contract=fast", "-shared", "-fPIC",
                        os.path.join(HERE, "peak.c"), "-o", library], check=True)
        self.function = ctypes.CDLL(library).prism_peak
        self.function.argtypes = [ctypes.c_long, ctypes.c_void_p]
        self.function.restype = ctypes.c_double
        self.sink = ctypes.c_float(0.5)
        self.address = ctypes.addressof(self.sink)
        self.flops = 0.0

    def __call__(self):
        self.flops = self.function(2_000_000, self.address)


def rms_ratio(got, want):
    return float(((got.double() - want) ** 2).sum() / (want**2).sum()) ** 0.5


def chunk_flops(chunk, keys, values):
    """Per step and head: the chunk form with a direct solve, dense, erase and base write."""
    return chunk * (4 * keys + 3 * values) + 6 * keys * values


def cpu_gated_deltanet(options):
    """Gated DeltaNet forward on the CPU, f32, B 1, T 4096, H 4, K = V = 64."""
    import numpy as np
    import torch

    import bundle
    import torch_gated_deltanet as peer

    batch, steps, heads, keys, values = 1, 4096, 4, 64, 64
    spec = {"prism_spec": 1, "name": "gated_deltanet", "family": "gated_deltanet",
            "dims": {"B": None, "T": None, "H": heads, "K": keys, "V": values},
            "dtype": {"io": "f32", "gate": "f32", "state": "f32"}, "entries": ["forward"], "target": ["cpu"]}
    folder = tempfile.mkdtemp(prefix="prism-bench-")
    path = os.path.join(folder, "spec.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    compiler = os.path.join(options.build, "bin", "prism-compile")
    subprocess.run([compiler, path, "-o", os.path.join(folder, "bundle")], check=True)
    entry = bundle.Entry(os.path.join(folder, "bundle"), "forward")

    generator = torch.Generator().manual_seed(options.seed)
    randn = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    unit = lambda x: torch.nn.functional.normalize(x, dim=-1)  # noqa: E731
    inputs = [unit(randn(batch, steps, heads, keys)), unit(randn(batch, steps, heads, keys)),
              randn(batch, steps, heads, values),
              torch.nn.functional.logsigmoid(randn(batch, steps, heads)) / 16, torch.sigmoid(randn(batch, steps, heads))]
    names = [a["name"] for a in entry.entry["arguments"] if a["role"] == "input"]
    if len(names) != len(inputs):
        sys.exit(f"run.py: the forward entry takes {', '.join(names)}; expected q, k, v, the log-gate and the strength")
    want_o, want_state = peer.recurrence(*inputs)

    peak = Peak()
    cases, plans, errors = {"peak, 1 thread": peak}, {}, {}
    for schedule in ("chunk", "recurrent"):
        for threads in (1, 2):
            arrays = {name: x.numpy() for name, x in zip(names, inputs)}
            arrays["o"] = np.zeros((batch, steps, heads, values), np.float32)
            arrays["final_state"] = np.zeros((batch, heads, keys, values), np.float32)
            kernel = entry.kernel(schedule).bind(arrays, batch, steps)
            run = kernel.runner(threads)
            run()
            name = f"{schedule}, {threads} thread{'s' if threads > 1 else ''}"
            errors[name] = max(rms_ratio(torch.from_numpy(arrays["o"]), want_o),
                               rms_ratio(torch.from_numpy(arrays["final_state"]), want_state))
            if not errors[name] <= 1e-5:
                sys.exit(f"run.py: {name}: RMS ratio {errors[name]:.1e} to the float64 recurrence, expected at most 1e-5")
            plans[name] = kernel.info
            cases[name] = run
    peers = []
    for method in ("solve", "rows"):
        for chunk in (16, 32, 64):
            for threads in (1, 2):
                def run(method=method, chunk=chunk, threads=threads):
                    torch.set_num_threads(threads)
                    with torch.inference_mode():
                        return peer.forward(*inputs, chunk, method)
                error = rms_ratio(run()[0], want_o)
                if not error <= 1e-5:
                    sys.exit(f"run.py: torch {method} {chunk}: RMS ratio {error:.1e} to the float64 recurrence")
                name = f"torch {method}, chunk {chunk}, {threads} thread{'s' if threads > 1 else ''}"
                cases[name] = run
                peers.append(name)

    seconds = measure(cases, options.repeats)
    best = min(peers, key=lambda name: min(seconds[name]))
    peak_rate = peak.flops / min(seconds["peak, 1 thread"])
    default = entry.default_schedule(batch, steps)
    rows = []
    for name, info in plans.items():
        ours = min(seconds[name])
        row = {"case": f"T {steps} H {heads} K {keys} V {values} f32, {name}", "ours_ms": ours * 1e3,
               "peer": best, "peer_ms": min(seconds[best]) * 1e3, "ratio": min(seconds[best]) / ours,
               "error": errors[name], "isa": info["isa"], "plan": info["plan"],
               "default_plan": info["plan"]["schedule"] == default}
        if info["plan"]["schedule"] == "chunk":
            flops = chunk_flops(info["plan"]["chunk"], keys, values) * steps * heads * batch
            row.update({"gflops": flops / ours / 1e9, "peak_gflops_one_thread": peak_rate / 1e9})
            if name.endswith("1 thread"):
                row["of_peak"] = flops / ours / peak_rate
        rows.append((name, row))
    for name in peers:
        rows.append((name, {"case": f"T {steps} H {heads} K {keys} V {values} f32, peer", "ours_ms": None,
                            "peer": name, "peer_ms": min(seconds[name]) * 1e3, "ratio": None}))
    common = {"device": processor(), "versions": {"prism": entry.manifest["compiler"], "torch": torch.__version__,
                                                  "python": platform.python_version()},
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "repeats": options.repeats}
    for name, row in rows:
        times = sorted(seconds[name])
        row["spread_ms"] = {"min": times[0] * 1e3, "median": times[len(times) // 2] * 1e3, "max": times[-1] * 1e3}
        row.update(common)
    return [row for _, row in rows]


def gpu_forward(options):
    """Eight shapes of Gated DeltaNet; RetNet, simple GLA, DeltaNet, Mamba-2 form, PRISM on a GPU, bf16, K = V = 128."""
    import gpu_suite

    return gpu_suite.run(options)


def gpu_families(options):
    """GLA, KDA, RWKV-7 and gated DeltaProduct on a GPU, three shapes each, bf16, K = V = 128."""
    import gpu_suite

    return gpu_suite.run(options)


def gpu_decode(options):
    """One step of Gated DeltaNet for 1, 64 and 256 sequences on a GPU, states in f32 and bf16."""
    import gpu_suite

    return gpu_suite.run(options)


def gpu_choice(options):
    """The kernel and segments that the table names against all others, on a GPU; no peers."""
    import gpu_choice as suite

    return suite.gpu_choice(options)


def chunk_choice(options):
    """The chosen chunk and schedule against a sweep on this CPU: 30 shapes, five families; no peers."""
    import chunk_choice as suite

    return suite.chunk_choice(options, processor())


SUITES = {"cpu-gated-deltanet": cpu_gated_deltanet, "gpu-forward": gpu_forward, "gpu-families": gpu_families,
          "gpu-decode": gpu_decode, "gpu-choice": gpu_choice, "chunk-choice": chunk_choice}


def show(rows):
    for row in rows:
        spread = row["spread_ms"]
        text = f"{row['case'] if row['ours_ms'] else row['peer']:<55} {spread['min']:8.2f} ms" \
               f"  (median {spread['median']:.2f}, max {spread['max']:.2f})"
        if row["ratio"]:
            text += f"  {row['ratio']:.1f} x the best peer ({row['peer']}, {row['peer_ms']:.2f} ms)"
        if "of_peak" in row:
            text += f"  {row['gflops']:.0f} GFLOP/s, {100 * row['of_peak']:.0f} % of {row['peak_gflops_one_thread']:.0f}"
        print(text + ("  [default plan]" if row.get("default_plan") else ""))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the suites")
    parser.add_argument("--suite", metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder (default: build)")
    parser.add_argument("--repeats", type=int, default=40, help="at least 30 (default 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", help="the Python that has PyTorch")
    choice = parser.add_argument_group("chunk-choice")
    choice.add_argument("--level", choices=("x86-64-v3", "x86-64-v4"), help="CPU level (default: the best that this CPU runs)")
    choice.add_argument("--calibration", metavar="FILE", help="choose by this file instead of measuring the machine in the same run")
    gpu = parser.add_argument_group("the suites of GPUs")
    gpu.add_argument("--bin", metavar="FOLDER", help="where prism-compile is (default: BUILD/bin)")
    gpu.add_argument("--target", default="cuda:sm_90a", help="what to compile for (default cuda:sm_90a)")
    gpu.add_argument("--bundles", metavar="FOLDER", help="play the bundles there, which --compile-only wrote; no compiler is needed")
    gpu.add_argument("--compile-only", action="store_true", help="write the bundles to --bundles and end; no GPU is needed")
    gpu.add_argument("--dry-run", action="store_true", help="check specs, inputs, words and reference on the CPU and end")
    gpu.add_argument("--only", action="append", metavar="TEXT", help="cases whose name contains TEXT (may be repeated)")
    gpu.add_argument("--all", action="store_true", help="time every kernel of a bundle, not the chosen one alone")
    gpu.add_argument("--no-peers", action="store_true", help="ours alone")
    gpu.add_argument("--jobs", type=int, default=0, help="compile the peers' kernels first, in so many processes (default: not)")
    gpu.add_argument("--tuning-ms", type=int, default=40, help="measuring time of a peer's configuration (default 40)")
    return parser


def main():
    parser = arguments()
    options = parser.parse_args()
    if options.list:
        for name, suite in SUITES.items():
            print(f"{name:<22} {suite.__doc__}")
        return 0
    if options.suite not in SUITES:
        parser.error(f"unknown suite '{options.suite}', expected one of: {', '.join(SUITES)}")
    if options.repeats < 30:
        parser.error(f"--repeats is {options.repeats}, expected at least 30: fewer say little about a shared machine")
    if options.compile_only and not options.bundles:
        parser.error("--compile-only needs --bundles FOLDER, where the bundles go")
    options.bin = options.bin or os.path.join(options.build, "bin")
    if options.suite == "chunk-choice":
        use_numpy(options.python)
    elif not options.compile_only:
        use_python(options.python)
    sys.path.insert(0, HERE)
    rows = SUITES[options.suite](options)
    if options.suite == "cpu-gated-deltanet":  # the others show each row as it comes
        show(rows)
    if options.json and rows:
        with open(options.json + ".part", "w", encoding="utf-8") as file:
            json.dump({"suite": options.suite, "rows": rows}, file, indent=2)
            file.write("\n")
        os.replace(options.json + ".part", options.json)
    return 1 if any(row.get("missed") for row in rows or []) else 0


if __name__ == "__main__":
    sys.exit(main())
