#!/usr/bin/env python3
"""Checks that links and named files of the documentation exist.

Every relative link of a tracked .md file must lead to a file (and to a heading of
it, if it has an anchor); every path in backticks that starts with one of the
project's folders must exist. Exits with 1 and one line per fault.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("benchmarks", "cmake", "docs", "examples", "include", "lib", "scripts", "test", "tools", "unittests", "utils")
GENERATED = "docs/Generated/" # written by scripts/docs.sh


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"#+\s+(.*)", line)
            if match:
                title = re.sub(r"[^\w\- ]", "", match.group(1).lower())
                found.add(title.strip().replace(" ", "-"))
    return found


def faults_of(page):
    folder = os.path.dirname(os.path.join(ROOT, page))
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    prose = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
    for number, line in enumerate(prose.split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(folder, path)) if path else os.path.join(ROOT, page)
            if os.path.relpath(full, ROOT).startswith(GENERATED):
                continue
            if not os.path.exists(full):
                yield f"{page}:{number}: link to {target}, which does not exist"
            elif anchor and full.endswith(".md") and anchor not in anchors(full):
                yield f"{page}:{number}: link to {target}; the page has no such heading"
        for path in re.findall(r"`([\w./-]+)`", line):
            if path.split("/")[0] in FOLDERS and "/" in path and not path.startswith(GENERATED):
                if not os.path.exists(os.path.join(ROOT, path)):
                    yield f"{page}:{number}: names {path}, which does not exist"


def main():
    pages = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    faults = [text for page in pages for text in faults_of(page)]
    for text in faults:
        print(text)
    print(f"check-docs: {len(pages)} pages, {len(faults)} fault(s)")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
