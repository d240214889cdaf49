"""Runs prism-opt, and a stock mlir-opt with the plugin, on every example; their outputs must be equal.

usage: compare.py PRISM_OPT PRISM_COMPILE MLIR_OPT PLUGIN EXAMPLES
"""
import glob
import os
import subprocess
import sys
import tempfile

PIPELINES = [
    "builtin.module(scan-verify-state-independence{granularity=mini_batch})",
    "builtin.module(canonicalize,cse,func.func(scan-choose-chunk-size))",
    "builtin.module(func.func(scan-choose-chunk-size),convert-scan-to-tile)",
]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    return done.returncode, done.stdout, done.stderr


def main():
    prism_opt, prism_compile, mlir_opt, plugin, examples = sys.argv[1:]
    stock = [mlir_opt, f"--load-dialect-plugin={plugin}", f"--load-pass-plugin={plugin}"]
    compared = succeeded = 0
    with tempfile.TemporaryDirectory() as folder:
        files = sorted(glob.glob(f"{examples}/models/*.mlir"))
        for spec in sorted(glob.glob(f"{examples}/*.json")):
            module = os.path.join(folder, os.path.basename(spec) + ".mlir")
            code, text, errors = run([prism_compile, spec, "--emit=scan", "-o", module])
            if code != 0:
                sys.exit(f"{spec}: {errors}")
            files.append(module)
        for file in files:
            for pipeline in PIPELINES:
                arguments = [file, f"--pass-pipeline={pipeline}"]
                ours, theirs = run([prism_opt, *arguments]), run([*stock, *arguments])
                if ours != theirs:
                    sys.exit(f"{file} differs under {pipeline}:\n{ours}\n{theirs}")
                compared += 1
                succeeded += ours[0] == 0
    print(f"{compared} outputs are equal, {succeeded} of them of pipelines that succeeded")
    if succeeded < 40:
        sys.exit("too few to mean anything")


main()
