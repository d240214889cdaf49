#!/usr/bin/env python3
"""Checks that no model family is named below the spec layer.

A model is a chain of state factors; whoever lowers, plans or runs it must not know
which paper it comes from. So in lib/ and include/ (except the Spec folders, which
own the presets) no identifier and no string may contain a family's name, in any
spelling: GatedDeltaNet, gated_deltanet, "gated-deltanet". Comments and the prose
of ODS (summary, description) may cite a source.

Exits with 1 and one line per place. Starts by testing itself.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ABOVE = ("lib/Spec/", "include/Prism/Spec/")
# Without separators and in lower case. `prism` itself is the project; its model
# is meant by prism_l2, prism_v3 and the like.
NAMES = {
    "linearattention", "retnet", "retention", "gla", "gatedlinearattention", "mamba", "mamba2", "ssd", "s6", "deltanet",
    "gateddeltanet", "gateddeltanet2", "gdn", "gdn2", "kda", "deltaproduct", "gateddeltaproduct", "rwkv", "rwkv7",
    "mlstm", "gatedrfa", "hgrn", "mingru", "rglru", "firstorder", "ttt", "titans", "prisml", "prismv",
    "prisml0", "prisml1", "prisml2", "prisml4", "prismv2", "prismv3",
}
LONGEST = 6 # parts of a name, e.g. r-g-l-r-u never splits finer than this


def parts(line):
    """The words of a line, identifiers split at underscores and humps, in lower case."""
    words = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|\S", line.replace("_", " ").replace("-", " "))
    return [word.lower() for word in words]


def names_in(line):
    found, words = set(), parts(line)
    for first in range(len(words)):
        joined = ""
        for word in words[first:first + LONGEST]:
            if not word.isalnum():
                break
            joined += word
            if joined in NAMES:
                found.add(joined)
    return found


def code_of(text, is_tablegen):
    """The text with comments (and ODS prose) blanked, line numbers kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    if is_tablegen:
        text = re.sub(r"let\s+(?:summary|description)\s*=\s*(?:\[\{.*?\}\]|\"(?:\\.|[^\"\\])*\")", blank, text, flags=re.S)
    pattern = r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")"
    return re.sub(pattern, lambda m: m.group(0) if m.group(1) else blank(m), text, flags=re.S)


def self_test():
    bad = ["void lowerGatedDeltaNet();", 'if (name == "gated_deltanet")', "int GLA = 0;", "RWKV7Pattern p;",
           'StringRef("linear attention")', "isMamba2(op)", 'x("prism_l2")', "struct KDALowering {};", "useRgLRU()"]
    good = ["#include \"Prism/Spec/Spec.h\"", "glaze(x); // as in GLA", "StateOpInterface op;", "prism::scan::f(l);",
            'emitError("[C1] states")', "attention(); /* RetNet */"]
    for line in bad:
        if not names_in(code_of(line, False)):
            sys.exit(f"check-names: broken: does not find the name in: {line}")
    for line in good:
        if names_in(code_of(line, False)):
            sys.exit(f"check-names: broken: finds a name in: {line}")


def main():
    self_test()
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "lib", "include"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.split()
    faults = files = 0
    for path in listing:
        full = os.path.join(ROOT, path)
        if path.startswith(ABOVE) or not path.endswith((".h", ".cpp", ".c", ".td", ".txt")) or not os.path.exists(full):
            continue
        files += 1
        for name in sorted(names_in(os.path.splitext(path)[0].replace("/", " / "))):
            faults += 1
            print(f"{path}: file name contains the model family '{name}'")
        with open(full, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"#[^\n]*", "", text) if path.endswith(".txt") else code_of(text, path.endswith(".td"))
        for number, line in enumerate(text.split("\n"), 1):
            for name in sorted(names_in(line)):
                faults += 1
                print(f"{path}:{number}: code names the model family '{name}'; say what the chain of factors has instead")
    print(f"check-names: {files} files, {faults} fault(s)")
    return 1 if faults or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
