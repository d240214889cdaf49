#!/usr/bin/env python3
"""Benchmarks of Prism against its peers.

usage: run.py --list
       run.py --suite NAME [--json FILE] [--build FOLDER] [--repeats N] [--python PYTHON]
       run.py --suite cpu-families|cpu-gated-deltanet [--threads N,...] [--no-peers] [--bin FOLDER] [--only TEXT] [--dry-run] [--seed N]
       run.py --suite chunk-choice [--level LEVEL] [--calibration FILE]
       run.py --suite gpu-forward|gpu-families|gpu-decode|gpu-choice|gpu-diagonal|gpu-lengths|gpu-sizes [--bin FOLDER] [--bundles FOLDER] [--compile-only] [--dry-run] [--all] [--only TEXT] ...

An option that the suite does not take is an error.

Ours and the peers run in one process, interleaved: every repeat runs every case
once, in an order that rotates, so that all see the same machine. The figure of a
case is the minimum over the repeats on the CPU, the median on a GPU; the spread
stands beside it.
Peers need PyTorch: give a Python that has it (--python, or an active VIRTUAL_ENV).
"""

import argparse
import json
import os
import sys

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


def cpu_families(options):
    """Every family at one shape, PRISM and Gated DeltaNet at two; f32, on the CPU, beside several forms in PyTorch."""
    import cpu_families as suite

    return suite.cpu_families(options)


def cpu_gated_deltanet(options):
    """Gated DeltaNet forward on the CPU, f32, B 1, T 4096, H 4, K = V = 64, by chunks and by steps."""
    import cpu_families as suite

    return suite.cpu_gated_deltanet(options)


def on_gpu(summary):
    """A suite of cases of its name (gpu_cases.py)."""
    def suite(options):
        import gpu_suite

        return gpu_suite.run(options)
    suite.__doc__ = summary
    return suite


def gpu_choice(options):
    """The kernel and segments that the table names against all others, on a GPU; no peers."""
    import gpu_choice as suite

    return suite.run(options)


def gpu_diagonal(options):
    """Elementwise states of 2,048 channels, and S6 with 16 each, whole and in segments, on a GPU; bf16 and f32, no peers."""
    import gpu_choice as suite

    return suite.run(options)


def gpu_lines(name):
    """gpu-lengths or gpu-sizes, with the suite's own docstring."""
    import gpu_lines as suites

    return getattr(suites, name)


def chunk_choice(options):
    """The chosen chunk and schedule against a sweep on this CPU: 30 shapes, five families; no peers."""
    import chunk_choice as suite
    import timing

    return suite.chunk_choice(options, timing.processor())


SUITES = {"cpu-families": cpu_families, "cpu-gated-deltanet": cpu_gated_deltanet, "chunk-choice": chunk_choice,
          "gpu-forward": on_gpu("Eight shapes of Gated DeltaNet; RetNet, simple GLA, DeltaNet, Mamba-2 form, PRISM on a GPU, bf16, K = V = 128."),
          "gpu-families": on_gpu("GLA, KDA, RWKV-7 and gated DeltaProduct on a GPU, three shapes each, bf16, K = V = 128."),
          "gpu-decode": on_gpu("One step of Gated DeltaNet for 1, 64 and 256 sequences on a GPU, states in f32 and bf16."),
          "gpu-choice": gpu_choice,
          "gpu-diagonal": gpu_diagonal,
          "gpu-lengths": gpu_lines("gpu_lengths"),
          "gpu-sizes": gpu_lines("gpu_sizes")}


# What suites take beside --suite, --json, --build, --repeats and --python, by the options' destinations.
OF_CASES = {"seed", "dry_run", "only", "no_peers", "bin"}
ON_GPU = OF_CASES | {"target", "bundles", "compile_only", "all"}
TAKEN = {"cpu-families": OF_CASES | {"threads"}, "cpu-gated-deltanet": OF_CASES | {"threads"}, "chunk-choice": {"level", "calibration"},
         # Without peers, whose kernels --jobs and --tuning-ms are for.
         **{name: ON_GPU for name in ("gpu-choice", "gpu-diagonal", "gpu-lengths", "gpu-sizes")},
         **{name: ON_GPU | {"jobs", "tuning_ms"} for name in ("gpu-forward", "gpu-families", "gpu-decode")}}


def refuse_unused(parser, suite):
    """Ends with an error at an option that the suite would leave without effect."""
    bare = arguments()
    for action in bare._actions:
        action.default = argparse.SUPPRESS  # what is left was given
    given = vars(bare.parse_args())
    for action in bare._actions:
        takers = [name for name, taken in TAKEN.items() if action.dest in taken]
        if action.dest in given and takers and suite not in takers:
            parser.error(f"{action.option_strings[-1]}: suite '{suite}' does not take it, expected one of: {', '.join(takers)}")


def threads(text):
    counts = [int(part) for part in text.split(",")]
    if min(counts) < 1:
        raise ValueError
    return counts


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="list the suites")
    parser.add_argument("--suite", metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder (default: build)")
    parser.add_argument("--repeats", type=int, default=40, help="at least 30 (default 40)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", help="the Python that has PyTorch")
    parser.add_argument("--dry-run", action="store_true", help="check inputs, forms and reference at small sizes on the CPU and end")
    parser.add_argument("--only", action="append", metavar="TEXT", help="cases whose name contains TEXT (may be repeated)")
    parser.add_argument("--no-peers", action="store_true", help="ours alone")
    parser.add_argument("--bin", metavar="FOLDER", help="where prism-compile is (default: BUILD/bin)")
    cpu = parser.add_argument_group("cpu-families and cpu-gated-deltanet")
    cpu.add_argument("--threads", type=threads, default=sorted({1, os.cpu_count()}), metavar="N,...",
                     help="threads of both sides (default: 1 and one for each core)")
    choice = parser.add_argument_group("chunk-choice")
    choice.add_argument("--level", choices=("x86-64-v3", "x86-64-v4"), help="CPU level (default: the best that this CPU runs)")
    choice.add_argument("--calibration", metavar="FILE", help="choose by this file instead of measuring the machine in the same run")
    gpu = parser.add_argument_group("the suites of GPUs")
    gpu.add_argument("--target", default="cuda:sm_90a", help="what to compile for (default cuda:sm_90a)")
    gpu.add_argument("--bundles", metavar="FOLDER", help="play the bundles there, which --compile-only wrote; no compiler is needed")
    gpu.add_argument("--compile-only", action="store_true", help="write the bundles to --bundles and end; no GPU is needed")
    gpu.add_argument("--all", action="store_true", help="time every kernel of a bundle, not the chosen one alone")
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
    refuse_unused(parser, options.suite)
    if options.repeats < 30:
        parser.error(f"--repeats is {options.repeats}, expected at least 30: fewer say little about a shared machine")
    if options.compile_only and not options.bundles:
        parser.error("--compile-only needs --bundles FOLDER, where the bundles go")
    options.bin = options.bin or os.path.join(options.build, "bin")
    on_cpu = options.suite in ("cpu-families", "cpu-gated-deltanet")
    if options.suite == "chunk-choice" or on_cpu and (options.dry_run or options.no_peers):
        use_numpy(options.python)
    elif not options.compile_only:
        use_python(options.python)
    sys.path.insert(0, HERE)
    rows = SUITES[options.suite](options)
    if options.json and rows:
        with open(options.json + ".part", "w", encoding="utf-8") as file:
            json.dump({"suite": options.suite, "rows": rows}, file, indent=2)
            file.write("\n")
        os.replace(options.json + ".part", options.json)
    return 1 if any(row.get("missed") for row in rows or []) else 0


if __name__ == "__main__":
    sys.exit(main())
