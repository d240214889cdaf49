#!/bin/bash
# Spelling and small habits of text: codespell, no tabs or trailing blanks, a
# licence line in every source, no note that says the change is not finished.
set -euo pipefail
cd "$(dirname "$0")/.."
broken=0
command -v codespell > /dev/null || { echo "check-spelling: codespell not found; scripts/setup.sh installs it" >&2; exit 1; }

mapfile -t files < <(git ls-files -- . ':!LICENSE' ':!*.npy' ':!*.mlirbc' ':!utils/spelling-ignore.txt')
# Tests misspell on purpose, to see the nearest name offered.
codespell --ignore-words utils/spelling-ignore.txt $(printf '%s\n' "${files[@]}" | grep -vE '^(test|unittests)/') || broken=1

mapfile -t sources < <(git ls-files -- '*.cpp' '*.h' '*.c' '*.td')
for file in "${sources[@]}"; do
  head -5 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception' ||
    { echo "$file: no SPDX line in its first five lines"; broken=1; }
done
if git grep -nI -E $'\t|[ \t]+$' -- '*.cpp' '*.h' '*.td' '*.py' '*.sh' '*.md' '*.txt' '*.cmake'; then
  echo "check-spelling: tabs or trailing blanks in the lines above"
  broken=1
fi
if git grep -nI -E "DO NOT ""SUBMIT|\b(TO""DO|FIX""ME|X""XX)\b"; then
  echo "check-spelling: unfinished notes in the lines above; write an issue instead"
  broken=1
fi
# Longer files get split before they cannot be.
for file in "${sources[@]}"; do
  lines=$(wc -l < "$file")
  [ "$lines" -le 1000 ] || { echo "$file: $lines lines, expected at most 1000"; broken=1; }
done
[ $broken -eq 0 ] && echo "check-spelling: ${#files[@]} files, no fault"
exit $broken
