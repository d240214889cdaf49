#!/bin/bash
# Builds everything and runs every test. Ends with one line that counts the tests.
# usage: check.sh [--no-setup]
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
case "$*" in
  "" | --no-setup) ;;
  *) fail "unknown argument '$*', expected --no-setup" ;;
esac
cd "$root"
exec < /dev/null
export DEBIAN_FRONTEND=noninteractive

if [ "${1:-}" != --no-setup ]; then
  step "looking for what the build needs"
  scripts/setup.sh
fi
use_cuda

# Cheap checks of the sources run all, so that one run shows every fault.
broken=()
check() {
  local name=$1
  shift
  step "$name"
  "$@" || broken+=("$name")
}
check "format" scripts/format.sh --check
check "spelling" utils/check-spelling.sh
check "layering of the sources" "$python" utils/check-layering.py
check "model names below the spec layer" "$python" utils/check-names.py
check "numbered constraints" "$python" utils/check-constraints.py
check "links of the documentation" "$python" utils/check-docs.py

step "configuring"
configure dev
step "building with warnings as errors, $jobs jobs"
cmake --build --preset dev -j "$jobs"

check "generated documentation" scripts/docs.sh build
check "layering of the binaries" "$python" utils/check-layering.py --binaries build

step "running every test"
# GPU tests share the device and timing tests the machine: CTest resource locks
# in the lists keep them apart.
ctest --test-dir build -j "$jobs" --output-on-failure --no-tests=error || broken+=("tests")

if [ -z "${CUDA_HOME:-}" ]; then
  say
  say "*** No ptxas on this machine: the tests that assemble PTX were UNSUPPORTED, not passed."
fi
step "done"
if [ ${#broken[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${broken[@]}"
  exit 1
fi
say "every check passed"
