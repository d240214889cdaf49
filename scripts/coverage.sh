#!/bin/bash
# Which lines of the readers and verifiers the tests run: a table for each file,
# and every line in out/coverage/index.html. Builds the preset "coverage", what is
# needed of it, and runs the unit tests and lit tests that reach these files.
# usage: coverage.sh [--no-build]     --no-build: with the programs there are
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
cd "$root"
exec < /dev/null
use_cuda

case "${1:-}" in
  "" | --no-build) ;;
  *) fail "unknown argument '$1', expected --no-build" ;;
esac
for tool in llvm-profdata-22 llvm-cov-22; do
  command -v $tool > /dev/null || fail "$tool not found; scripts/setup.sh installs it"
done

# What is read, and what is refused.
sources=(lib/Spec lib/Import lib/Support/{Json,JsonShape,TextDiagnostic,EmitDiagnostic}.cpp lib/TargetInfo/Calibration.cpp
  lib/Runtime/{Manifest,Npy}.cpp lib/Dialect/Scan/IR lib/Dialect/Tile/IR)
unit_tests=(PrismSpecTests PrismSupportTests PrismRuntimeTests)
tools=(prism-opt prism-compile prism-run prism-spec-check)
# Of test/: the folders of specs and dialects, and what tools refuse.
lit_tests='(Spec|Dialect)/|prism-compile/(errors|calibration|segments|evaluate|families|models)|prism-run/'

if [ "${1:-}" != --no-build ]; then
  configure coverage
  timeout 1500 cmake --build --preset coverage -j "$jobs" --target "${unit_tests[@]}" "${tools[@]}"
fi

out=$root/out/coverage
rm -rf "$out"
mkdir -p "$out/raw"
export LLVM_PROFILE_FILE=$out/raw/%p-%m.profraw
failed=0
for test in "${unit_tests[@]}"; do
  step "$test"
  timeout 600 "build-coverage/bin/$test" --gtest_brief=1 || failed=1
done
step "the published schema"
timeout 300 "$python" test/Spec/schema_agreement.py --tool build-coverage/bin/prism-spec-check || failed=1
step "lit: $lit_tests"
timeout 900 "$llvm_bin/lit" -s --filter "$lit_tests" build-coverage/test || failed=1

find "$out/raw" -name '*.profraw' > "$out/profiles"
llvm-profdata-22 merge --sparse --input-files="$out/profiles" -o "$out/all.profdata"
rm -rf "$out/raw"
objects=()
for program in "${unit_tests[@]:1}" "${tools[@]}"; do objects+=(-object "build-coverage/bin/$program"); done
report=("build-coverage/bin/${unit_tests[0]}" "${objects[@]}" -instr-profile="$out/all.profdata")
step "lines"
llvm-cov-22 report "${report[@]}" --show-region-summary=false --show-branch-summary=false "${sources[@]}" | tee "$out/table.txt"
llvm-cov-22 show "${report[@]}" --format=html --output-dir="$out" "${sources[@]}"
say "every line: out/coverage/index.html"
[ $failed -eq 0 ] || fail "some tests failed; what they reach is counted as far as they came"
