#!/usr/bin/env python3
"""Checks the direction of dependencies between the folders of the project.

usage: check-layering.py                     includes and CMake link lines of the sources
       check-layering.py --binaries BUILD    what the built tools define and need

RULES below is the law; docs/Architecture.md draws it. A folder without a rule is
an error, so a new one gets its place in the order before its first line of code.
Exits with 1 and one line per fault.
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LLVM_BIN = "/usr/lib/llvm-22/bin"

# Folder (below include/Prism and lib; include/prism-runtime counts as Runtime, include/prism-c as CAPI) -> folders it may depend on. `*` stands for
# one path part; a folder may always use itself. What is not listed is forbidden:
# in particular one conversion never uses another, and no target runs a pass.
IR = ["Support", "Dialect/*/IR"]
LOWERING = IR + ["Analysis", "TargetInfo"]
PIPELINES = LOWERING + ["Dialect/*/Transforms", "Conversion", "Conversion/*", "Target", "Target/*"]
RULES = {
    "PCH": [],
    "Support": [],
    "Dialect/*/IR": ["Support"],
    "TargetInfo": ["Support"],
    "Analysis": IR + ["TargetInfo"],
    "Dialect/*/Transforms": LOWERING,
    "Conversion": IR, # the common pass list
    "Conversion/*": LOWERING + ["Conversion"],
    "Interpreter": IR,
    "Spec": ["Support"], # reads text, knows no IR
    "Import": IR + ["Spec"], # spec to scan
    "Target": IR + ["TargetInfo"],
    "Target/*": IR + ["TargetInfo", "Target", "Runtime", "Conversion/TileToCPU"], # Runtime: one definition of the manifest; the conversion: what a kernel promises
    "Pipelines": PIPELINES,
    "Compiler": PIPELINES + ["Pipelines", "Registration", "Runtime"],
    "Driver": IR + ["TargetInfo", "Compiler", "Spec", "Import", "Target/Bundle"], # text to bundle, for every front end
    "Check": IR + ["Interpreter", "Runtime"], # compiled against interpreted
    "Registration": PIPELINES + ["Pipelines", "Interpreter"],
    "CAPI": ["Runtime"], # for programs that do not know LLVM
    "CAPI/Compiler": ["CAPI", "Driver", "Registration"], # the library behind it, which they load
    "Runtime": [], # plays bundles on machines without a compiler
}
# The runtime may include neither of these either, nor may prism-run need them.
NO_LLVM = ("llvm/", "mlir/", "llvm-c/", "mlir-c/")
NO_LLVM_TOOLS = {"prism-run"}
NO_LLVM_TOOL_LIBRARIES = {"PrismRuntime"}
NO_LLVM_LIBRARIES = {"libPrismC.so"}
WITHOUT_HEADERS = {"PCH", "CAPI/Compiler"} # folders of lib/ that include/ does not mirror

faults = []


def fault(where, text):
    faults.append(f"{where}: {text}")


def rule_of(folder):
    """The key of RULES for a folder, e.g. Dialect/Scan/IR -> Dialect/*/IR."""
    for pattern in RULES:
        if re.fullmatch(pattern.replace("*", "[^/]+"), folder):
            return pattern
    return None


def folder_of(path):
    """The longest leading part of a path below include/Prism or lib that has a rule."""
    parts = os.path.dirname(path).split("/")
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if rule_of(folder):
            return folder
    return None


def may_use(user, used):
    if user == used:
        return True
    return any(re.fullmatch(p.replace("*", "[^/]+"), used) for p in RULES[rule_of(user)])


def sources():
    """(path from the root, path below include/Prism or lib) of every own source."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "include", "lib"], cwd=ROOT,
                             check=True, capture_output=True, text=True).stdout.split()
    for path in listing:
        if os.path.exists(os.path.join(ROOT, path)):
            yield path, re.sub(r"^(include/Prism|lib)/", "", path.replace("include/prism-runtime/", "include/Prism/Runtime/")
                               .replace("include/prism-c/", "include/Prism/CAPI/"))


def check_includes():
    pattern = re.compile(r'^\s*(?:#\s*include|include)\s+["<]([^">]+)[">]')
    for path, below in sources():
        if not path.endswith((".h", ".cpp", ".c", ".td")):
            continue
        user = folder_of(below)
        if user is None:
            fault(path, "its folder has no rule in utils/check-layering.py; say there what it may depend on")
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = pattern.match(line)
                if not match:
                    continue
                included = match.group(1)
                if user in ("Runtime", "CAPI") and included.startswith(NO_LLVM):
                    fault(f"{path}:{number}", f"{user} includes {included}; it must build without LLVM")
                if included.startswith("prism-runtime/"):
                    used = "Runtime"
                elif included.startswith("prism-c/"):
                    used = "CAPI"
                elif included.startswith("Prism/"):
                    used = folder_of(included[len("Prism/"):])
                else:
                    continue
                if used is None:
                    fault(f"{path}:{number}", f"includes {included}, of a folder without a rule")
                elif not may_use(user, used):
                    fault(f"{path}:{number}", f"{user} includes {included}; {user} may not depend on {used}")


def calls(text, names):
    """(name, arguments) of every call of one of the CMake functions."""
    text = re.sub(r"#[^\n]*", "", text)
    for match in re.finditer(r"\b(" + "|".join(names) + r")\s*\(([^()]*)\)", text):
        yield match.group(1), match.group(2).split()


def linked(arguments):
    """The names after LINK_LIBS up to the next keyword."""
    if "LINK_LIBS" not in arguments:
        return []
    names = []
    for argument in arguments[arguments.index("LINK_LIBS") + 1:]:
        if argument == "DEPENDS":
            break
        if argument not in ("PUBLIC", "PRIVATE"):
            names.append(argument)
    return names


def read_lists(top):
    for folder, _, files in os.walk(os.path.join(ROOT, top)):
        if "CMakeLists.txt" in files:
            path = os.path.relpath(os.path.join(folder, "CMakeLists.txt"), ROOT)
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                yield path, file.read()


def check_links():
    libraries = ["prism_add_mlir_library", "prism_add_plain_library"]
    owner, links = {}, []
    for path, text in read_lists("lib"):
        folder = folder_of(path[len("lib/"):])
        for _, arguments in calls(text, libraries):
            owner[arguments[0]] = folder
            links += [(path, folder, arguments[0], name) for name in linked(arguments)]
        for _, arguments in calls(text, ["target_link_libraries"]):
            links += [(path, folder, arguments[0], n) for n in arguments[1:] if n not in ("PUBLIC", "PRIVATE")]
    for path, folder, library, name in links:
        if name.startswith(("MLIR", "LLVM")):
            fault(path, f"{library} links {name} by name; MLIR and LLVM come from the shared libraries only")
        elif name.startswith("Prism"):
            if name not in owner:
                fault(path, f"{library} links {name}, which no CMakeLists.txt below lib/ adds")
            elif folder and owner[name] and not may_use(folder, owner[name]):
                fault(path, f"{library} ({folder}) links {name}; {folder} may not depend on {owner[name]}")
    for path, text in read_lists("tools"):
        for _, arguments in calls(text, ["prism_add_mlir_tool", "target_link_libraries"]):
            wrong = [n for n in linked(arguments) or arguments[1:]
                     if n.startswith(("Prism", "MLIR", "LLVM")) and n not in NO_LLVM_TOOL_LIBRARIES]
            if arguments[0] in NO_LLVM_TOOLS and wrong:
                fault(path, f"{arguments[0]} links {', '.join(wrong)}; it may use only the runtime")


def check_mirror():
    """Every folder of lib/ with sources has one in include/Prism, and the other way round."""
    mine = {"lib": set(), "include/Prism": set()}
    for path, below in sources():
        top = "lib" if path.startswith("lib/") else "include/Prism"
        kinds = (".cpp", ".c") if top == "lib" else (".h",)
        folder = folder_of(below)
        if path.endswith(kinds) and folder and os.path.dirname(below):
            mine[top].add(folder)
    for folder in sorted(mine["lib"] - mine["include/Prism"] - WITHOUT_HEADERS):
        fault(f"lib/{folder}", "has no headers in its mirror below include/")
    for folder in sorted(mine["include/Prism"] - mine["lib"]):
        parents = any(other.startswith(folder + "/") for other in mine["lib"])
        if not parents: # a folder of common headers, e.g. Conversion/Passes.h, stands above libraries
            fault(f"include/Prism/{folder}", f"has no sources in lib/{folder}")


def tool_output(tool, *arguments):
    return subprocess.run([os.path.join(LLVM_BIN, tool), *arguments], check=True, capture_output=True, text=True).stdout


def check_binaries(build):
    tools = os.path.join(build, "bin")
    names = sorted(n for n in os.listdir(tools) if n.startswith("prism-")) if os.path.isdir(tools) else []
    if not names:
        fault(tools, "holds no prism-* tool to look at")
    for name in names:
        path = os.path.join(tools, name)
        # A second copy of MLIR in one process ends in types that differ from themselves.
        if re.search(r"\bmlir::MLIRContext::MLIRContext\(", tool_output("llvm-nm", "-C", "--defined-only", path)):
            fault(path, "defines mlir::MLIRContext::MLIRContext: static MLIR archives were linked beside libMLIR.so")
        if name in NO_LLVM_TOOLS:
            check_needs_no_llvm(path)
    for name in NO_LLVM_LIBRARIES:
        check_needs_no_llvm(os.path.join(build, "lib", name))


def check_needs_no_llvm(path):
    needed = tool_output("llvm-readobj", "--needed-libs", path)
    for library in re.findall(r"lib(?:MLIR|LLVM)\S*", needed):
        fault(path, f"needs {library}; it must run on machines without LLVM")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binaries", metavar="BUILD")
    options = parser.parse_args()
    if options.binaries:
        check_binaries(options.binaries)
    else:
        check_includes()
        check_links()
        check_mirror()
    for text in faults:
        print(text)
    print(f"check-layering: {len(faults)} fault(s)" if faults else "check-layering: every dependency points the right way")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
