#!/usr/bin/env python3
"""Installs a build into a folder, moves the folder, and builds examples/c against it.

usage: installed_tree.py --build BUILD --source SOURCE [--cc COMPILER]

Also looks at the two libraries: libPrismC needs no LLVM and exports the C API's functions alone; libPrismCompiler
exports its one entry point.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    """The output of a command that must succeed."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if result.returncode != 0:
        sys.exit(f"FAILED: {' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def exported(library):
    """Names of the dynamic symbols that a library defines."""
    table = run("readelf", "--dyn-syms", "--wide", library)
    names = set()
    for line in table.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[6] != "UND":
            names.add(fields[7].split("@")[0])
    return names


def declared(source):
    """Functions that the headers of the C API declare."""
    names = set()
    folder = os.path.join(source, "include", "prism-c")
    for header in os.listdir(folder):
        with open(os.path.join(folder, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        names.update(re.findall(r"PRISM_API[^;(]*?\b(prism\w+)\s*\(", text))
    return names


def check_libraries(prefix, source):
    library = os.path.join(prefix, "lib")
    wanted, found = declared(source), exported(os.path.join(library, "libPrismC.so"))
    if not wanted or wanted != found:
        sys.exit(f"FAILED: libPrismC.so: declared only: {sorted(wanted - found)}, exported only: {sorted(found - wanted)}")
    found = exported(os.path.join(library, "libPrismCompiler.so"))
    if found != {"prismCompilerInterface"}:
        sys.exit(f"FAILED: libPrismCompiler.so exports {sorted(found)[:5]}, expected prismCompilerInterface alone")
    needed = run("readelf", "--dynamic", os.path.join(library, "libPrismC.so"))
    if "NEEDED" not in needed or re.search(r"lib(LLVM|MLIR)", needed):
        sys.exit(f"FAILED: libPrismC.so needs LLVM:\n{needed}")
    print(f"libPrismC.so exports its {len(wanted)} functions and needs no LLVM")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="prism-installed-")
    try:
        first, prefix = os.path.join(folder, "first"), os.path.join(folder, "moved")
        run("cmake", "--install", options.build, "--prefix", first)
        os.rename(first, prefix)
        check_libraries(prefix, options.source)
        build = os.path.join(folder, "build")
        run("cmake", "-S", os.path.join(options.source, "examples", "c"), "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={options.cc}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror")
        run("cmake", "--build", build)
        bundle = os.path.join(folder, "bundle")
        text = run(os.path.join(build, "compile_and_run"), bundle, env={"PATH": ""})
        print(text, end="")
        if text.count(": ok\n") != 2:
            sys.exit("FAILED: expected two results that are ok")
        # A leak of four bytes a call would be 97 pages of 4 KiB.
        text = run(os.path.join(build, "time_calls"), bundle, "100000")
        print(text, end="")
        found = re.search(r"100000 calls of .* us a call, (-?\d+) pages more", text)
        if not found or int(found[1]) > 64:
            sys.exit(f"FAILED: expected 100000 calls that keep no memory, found:\n{text}")
        # The tools of the installed tree run too, and know the bundle.
        listing = run(os.path.join(prefix, "bin", "prism-run"), bundle, "--list")
        if "entry forward" not in listing:
            sys.exit(f"FAILED: prism-run --list:\n{listing}")
        for tool in ("prism-compile", "prism-lsp-server", "prism-reduce"):
            run(os.path.join(prefix, "bin", tool), "--version")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
