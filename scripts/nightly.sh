#!/bin/bash
# What takes hours: tens of thousands of random chains of factors against the f64
# interpreter, and random steps against the proof of state independence, from a
# seed that is printed and can be given again.
# usage: nightly.sh [CHAINS [SEED [REGIONS]]]
#        default: 30000 chains, seed from the date, 100000 regions
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
for number in "$@"; do
  [[ $number =~ ^[0-9]+$ ]] || fail "expected numbers, found '$number'"
done
cd "$root"
use_cuda
export PRISM_CHAINS=${1:-30000} PRISM_SEED=${2:-$(date -u +%Y%m%d)} PRISM_REGIONS=${3:-100000}
[ -f build/build.ninja ] || configure dev
cmake --build --preset dev -j "$jobs"
step "$PRISM_CHAINS random chains, seed $PRISM_SEED"
# The test reads both variables; its label keeps it findable whatever it is called.
ctest --test-dir build --label-regex random-chains --output-on-failure --no-tests=error --timeout 36000
step "$PRISM_REGIONS random regions, of any ops and affine by construction"
build/bin/PrismAnalysisTests --gtest_filter='Superposition.*'
