#!/usr/bin/env python3
"""Checks the numbered constraints of the dialects.

docs/Dialects/*.md define constraints, each as `[C7]` at the start of a list item
or table row; verifier messages cite them as "[C7] ..."; a test expects each
message. This script reports constraints that only two, or one, of the three know.
Exits with 1 and one line per fault.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAG = r"\[([A-Z]\d+)\]"


def tags(pattern, *globs):
    """Tag -> first place where the pattern (group 1: the tag) matches."""
    found = {}
    for one in globs:
        for path in sorted(glob.glob(os.path.join(ROOT, one), recursive=True)):
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    for match in re.finditer(pattern, line):
                        found.setdefault(match.group(1), f"{os.path.relpath(path, ROOT)}:{number}")
    return found


def main():
    faults = []
    dialects = sorted(d for d in os.listdir(os.path.join(ROOT, "lib/Dialect"))
                      if os.path.isdir(os.path.join(ROOT, "lib/Dialect", d)))
    count = 0
    for dialect in dialects:
        code = tags(r"\"" + TAG, f"lib/Dialect/{dialect}/**/*.cpp")
        stated = tags(r"^\s*(?:[-*|]|\d+\.)?\s*[*`]*" + TAG, f"docs/Dialects/{dialect}.md")
        tested = tags(r"expected-error.*?" + r"\\?\[([A-Z]\d+)\\?\]", f"test/Dialect/{dialect}/**/*.mlir")
        count += len(stated)
        if code and not stated:
            faults.append(f"docs/Dialects/{dialect}.md: states no constraint, but the verifiers cite {len(code)}")
            continue
        for tag in sorted(set(code) | set(stated), key=lambda t: (t[0], int(t[1:]))):
            if tag not in stated:
                faults.append(f"{code[tag]}: cites [{tag}], which docs/Dialects/{dialect}.md does not state")
            if tag not in code:
                faults.append(f"{stated[tag]}: no message in lib/Dialect/{dialect} cites [{tag}]")
            if tag not in tested:
                faults.append(f"test/Dialect/{dialect}: no expected-error cites [{tag}]")
    for text in faults:
        print(text)
    print(f"check-constraints: {count} constraints, {len(faults)} fault(s)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
