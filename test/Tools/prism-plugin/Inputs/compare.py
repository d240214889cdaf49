"""Runs prism-opt, and a stock mlir-opt with the plugin, on every example; their outputs must be equal.

usage: compare.py PRISM_OPT PRISM_COMPILE MLIR_OPT PLUGIN EXAMPLES
"""
import glob
import os
import subprocess
import sys
import tempfile

# With how many times what each must print at least, so that nothing is not equal to nothing.
PIPELINES = [
    ("builtin.module(scan-verify-state-independence{granularity=mini_batch})", "scan.state_independent", 20),
    ("builtin.module(scan-raise-affine,canonicalize,cse,scan-classify)", "scan.class", 30),
    ("builtin.module(func.func(scan-choose-chunk-size),convert-scan-to-tile)", "tile.program", 15),
]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    return done.returncode, done.stdout, done.stderr


def main():
    prism_opt, prism_compile, mlir_opt, plugin, examples = sys.argv[1:]
    stock = [mlir_opt, f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    modules = [open(path, encoding="utf-8").read() for path in sorted(glob.glob(f"{examples}/models/*.mlir"))]
    for spec in sorted(glob.glob(f"{examples}/*.json")):
        code, text, errors = run([prism_compile, spec, "--emit=scan"])
        if code != 0:
            sys.exit(f"{spec}: {errors}")
        modules.append(text)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "examples.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n// -----\n".join(modules))
        for pipeline, what, least in PIPELINES:
            arguments = [path, "--split-input-file", f"--pass-pipeline={pipeline}"]
            ours, theirs = run([prism_opt, *arguments]), run([*stock, *arguments])
            if ours != theirs:
                sys.exit(f"outputs differ under {pipeline}:\n{ours}\n{theirs}")
            if ours[1].count(what) < least:
                sys.exit(f"{pipeline} printed {what} {ours[1].count(what)} times only")
    print(f"outputs are equal on {len(modules)} examples")


main()
