"""One small run of every kind of kernel, compiled in one place and played in another.

usage: played.py --prepare FOLDER --bin BIN [--target cuda:sm_90a]
       played.py --play FOLDER --bin BIN [--device cuda:0] [--sanitizer TOOL]... [--jobs N]

--prepare compiles each case with its plan and writes inputs and the float64
outputs beside the bundle; it needs prism-compile (and ptxas for machine code).
--play needs prism-run and numpy alone: each run's outputs and final state are
compared with those, by the RMS ratio of docs/Testing.md. --sanitizer runs it
under compute-sanitizer, with that tool (memcheck, racecheck, initcheck,
synccheck; may be repeated): what the tool finds fails the case as well.
"""

import json
import os
import shutil
import subprocess
import sys

import models
import tools

LIMITS = {"f32": 1e-5, "f16": 0.002, "bf16": 0.005}
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# Kernels of one loop, whose threads meet at the block's barrier. In the others a warp hands over what it wrote by one lane's
# arrival on an mbarrier, behind the warp's own barrier: racecheck does not follow that, and reports every such message
# (docs/Testing.md).
ONE_LOOP = ("plain-chunk", "plain-segments", "steps", "states", "elements")
# initcheck does not see what the copy engine stores, and so takes outputs for unwritten where they are copied to the host; they are compared
# with float64 instead.
MORE = {"initcheck": ("--check-api-memory-access", "no")}


def family(name, dtype, keys, values, **dims):
    dims = {"B": None, "T": None, "Hk": 2, "Hv": 4, "K": keys, "V": values, **dims}
    return {"prism_spec": 1, "family": name, "dims": dims, "dtype": {"io": dtype}, "entries": ["forward"]}


def one_step(spec, state):
    return {**spec, "dtype": {**spec["dtype"], "state": state}, "entries": ["decode"]}


def chunks(chunk=64, **keys):
    return {"schedule": "chunk", "chunk": chunk, **keys}


# Name -> (spec, plan, shape). Lengths fill no chunk; three chunks let every ring of buffers go round.
CASES = {
    "narrow": (family("gated_deltanet", "bf16", 128, 128), chunks(value_block=64), "B=1,T=200"),
    "wide": (family("gated_deltanet", "bf16", 128, 128), chunks(value_block=128), "B=1,T=200"),
    "apart": (family("gated_deltanet", "bf16", 128, 128), chunks(value_block=64, prepare_blocks=1), "B=1,T=300"),
    "segments": (family("gated_deltanet", "bf16", 128, 128), chunks(segments=3), "B=1,T=300"),
    "packed": (family("gated_deltanet", "bf16", 64, 64), chunks(), "lengths=0+1+64+130"),
    "no-erase": (family("retnet", "bf16", 128, 128), chunks(), "B=1,T=200"),
    "no-erase-segments": (family("retnet", "bf16", 128, 128), chunks(segments=3), "B=1,T=300"),
    "ranks": (family("prism", "bf16", 64, 64, L=1), chunks(), "B=1,T=200"),
    "half": (family("gated_deltanet", "f16", 64, 128), chunks(), "B=1,T=200"),
    "key-decay": (family("kda", "bf16", 64, 64), chunks(), "B=1,T=200"),
    "plain-chunk": (models.nameless("f32", 24, 40), chunks(16), "lengths=0+1+17+64"),
    "plain-segments": (models.nameless("f32", 24, 40), chunks(16, segments=3), "B=2,T=100"),
    "steps": (family("gated_deltanet", "bf16", 128, 128), {"schedule": "recurrent"}, "B=2,T=20"),
    # Of so many heads that the decision table names the kernel that copies its state.
    "copied": (one_step(family("gated_deltanet", "bf16", 128, 128, Hk=64, Hv=128), "bf16"), {"schedule": "recurrent"}, "B=4,T=1"),
    "states": (models.three_states("f32", 24, 40), {"schedule": "recurrent"}, "B=2,T=20"),
    "elements": (models.s6("f32", 16, 48), {"schedule": "recurrent"}, "B=2,T=20"),
}


def prepare(kit, folder, target, name):
    """(passed, output) of compiling one case."""
    spec, plan, shape = CASES[name]
    place = os.path.join(folder, name)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    paths = [os.path.join(place, file) for file in ("spec.json", "plan.json")]
    if target == "cpu":  # which has no blocks of 128 columns, and none that prepare; a plan for it names what it has
        plan = {key: value for key, value in plan.items() if key not in ("value_block", "prepare_blocks")}
    for path, value in zip(paths, (spec, plan)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
    bundle = kit.run("prism-compile", paths[0], "--plan", paths[1], "--target", target, "-o", os.path.join(place, "bundle"))
    if bundle.returncode != 0:
        return False, bundle.stderr
    sample = kit.run("prism-compile", paths[0], "--sample", place, "--shape", shape, "--gates", "mixed")
    return sample.returncode == 0, bundle.stderr + sample.stderr


def number(dtype, array):
    import numpy as np

    return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else array


def ratio(got, want):
    """sqrt(sum of squared errors / sum of squares), NaN if anything is NaN; a reference of zeros is met exactly or not at all."""
    import numpy as np

    error, size = np.square(got - want).sum(), np.square(want).sum()
    return float(np.sqrt(error / size)) if size else (0.0 if error == 0 else float("inf"))


def play(kit, folder, sanitizer, name):
    """(passed, output) of one case's run."""
    import numpy as np

    place = os.path.join(folder, name)
    with open(os.path.join(place, "bundle", "manifest.json"), encoding="utf-8") as file:
        entry = json.load(file)["entries"][0]
    arguments = entry["arguments"]
    command = [os.path.join(kit.bin, "prism-run"), os.path.join(place, "bundle"), entry["name"], "--device", kit.device]
    results = {}
    for argument in arguments:
        path = os.path.join(place, argument["name"] + ".npy")
        if os.path.exists(path):
            command += ["--in", f"{argument['name']}={path}"]
        elif argument["role"] in ("output", "final_state"):
            results[argument["name"]] = (argument["dtype"], os.path.join(kit.scratch, f"{name}.{argument['name']}.npy"))
            command += ["--out", f"{argument['name']}={results[argument['name']][1]}"]
    if sanitizer:
        command = ["compute-sanitizer", "--tool", sanitizer, *MORE.get(sanitizer, ()), "--error-exitcode", "99", *command]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
    if run.returncode != 0:
        return False, run.stdout[-3000:] + run.stderr[-1000:]
    passed, output = bool(results), ""
    io = next(argument["dtype"] for argument in arguments if argument["role"] == "output")
    for result, (dtype, path) in results.items():
        error = ratio(number(dtype, np.load(path)).astype(np.float64), np.load(os.path.join(place, result + ".expected.npy")))
        output += f"{result}: RMS ratio {error:.1e}, limit {LIMITS[io]}\n"
        passed = passed and error <= LIMITS[io]
    return passed, output


def main():
    parser = tools.parser(__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--prepare", metavar="FOLDER")
    where.add_argument("--play", metavar="FOLDER")
    parser.add_argument("--sanitizer", action="append", choices=TOOLS)
    parser.add_argument("--only", action="append", choices=sorted(CASES), metavar="CASE", help="this case (may be repeated)")
    arguments = parser.parse_args()
    kit = tools.Tools(arguments.bin, arguments.device)
    names = arguments.only or list(CASES)
    if arguments.prepare:
        target = arguments.target or "cuda:sm_90a"
        tests = [(name, lambda name=name: prepare(kit, arguments.prepare, target, name)) for name in names]
    else:
        tests = [(f"{name} {tool or ''}", lambda name=name, tool=tool: play(kit, arguments.play, tool, name))
                 for tool in arguments.sanitizer or [None] for name in names if tool != "racecheck" or name in ONE_LOOP]
        left_out = [name for name in names if name not in ONE_LOOP]
        if "racecheck" in (arguments.sanitizer or []) and left_out:
            print(f"racecheck is left out for {', '.join(left_out)}: it does not follow what one lane's arrival publishes")
    return tools.run_all(arguments.jobs, tests, len(tests))


if __name__ == "__main__":
    sys.exit(main())
