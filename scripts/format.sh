#!/bin/bash
# Formats the C++ and C sources of the project in place.
# usage: format.sh [--check] [FILE...]     --check: only report what would change
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"

formatter=clang-format-22 # another version formats differently
command -v $formatter > /dev/null || fail "$formatter not found; scripts/setup.sh installs it"
mode=(-i)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run -Werror)
  shift
fi
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.c')
fi
$formatter "${mode[@]}" "${files[@]}"
say "${#files[@]} files $([ "${mode[0]}" = -i ] && echo formatted || echo 'are formatted as clang-format-22 would')"
