#!/bin/bash
# What is too slow for every change: sanitizers, the build without the precompiled
# header, the Python package installed by pip beside PyTorch and JAX, half a minute
# of fuzzing for each reader, the runtime's threads, static analysis. Runs after
# check.sh within PRISM_EXTRA_SECONDS (default 1500) and says what it left out for
# lack of time. A failure of a part named in PRISM_EXTRA_ADVICE is told and no more.
# usage: check-extra.sh [includes|python|threads|fuzz|sanitizers|tidy]...    default: all, in this order
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
cd "$root"
exec < /dev/null
use_cuda

budget=${PRISM_EXTRA_SECONDS:-1500}
# At least 1: of 0 seconds "timeout" makes no limit at all.
remaining() { local left=$((budget - SECONDS)); echo $((left > 0 ? left : 1)); }
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(includes python threads fuzz sanitizers tidy)
broken=()
advice=()
skipped=()

# Our code under AddressSanitizer and UBSan; LLVM itself is not instrumented, and
# what it keeps until exit is not ours to report. Nor does it undo the poisoning
# that its headers' arenas do in our instrumented code.
sanitizers() {
  configure asan
  timeout "$(remaining)" cmake --build --preset asan -j "$jobs" || return
  if [ "$(remaining)" -lt 60 ]; then skipped+=("tests under sanitizers"); return 0; fi
  local status=0 log=$root/out/asan-tests.log
  ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1 \
    timeout "$(remaining)" ctest --test-dir build-asan -j "$jobs" --output-on-failure \
    --no-tests=error --label-exclude 'speed|slow' 2>&1 | tee "$log" || status=$?
  # Cut off is left out, unless something had failed before.
  if [ $status -eq 124 ] && ! grep -qE '\*\*\*(Failed|Exception|Timeout)' "$log"; then
    skipped+=("some tests under sanitizers")
    status=0
  fi
  return $status
}

# Arbitrary bytes for every reader, and passes in any order.
fuzz() {
  timeout "$(remaining)" scripts/fuzz.sh --seconds "${PRISM_FUZZ_SECONDS:-30}"
}

# The pool, programs that several threads call, and compiling in threads, under
# ThreadSanitizer. LLVM is not instrumented, and its atomics are not seen: what its
# libraries do to memory themselves is left out, what our code does is not.
threads() {
  configure tsan
  timeout "$(remaining)" cmake --build --preset tsan -j "$jobs" --target PrismRuntimeTests PrismThreadsTests || return
  timeout "$(remaining)" build-tsan/bin/PrismRuntimeTests --gtest_brief=1 || return 1
  TSAN_OPTIONS=ignore_noninstrumented_modules=1 timeout "$(remaining)" build-tsan/bin/PrismThreadsTests --gtest_brief=1
}

# Every file of the two dialects and of the runtime includes what it uses.
includes() {
  configure nopch
  local libraries=() library
  for library in PrismScanIR PrismTileIR PrismRuntime; do
    if ninja -C build-nopch -t query "$library" > /dev/null 2>&1; then libraries+=("$library"); fi
  done
  [ ${#libraries[@]} -gt 0 ] || { say "none of the libraries exists"; return 1; }
  timeout "$(remaining)" cmake --build --preset nopch -j "$jobs" --target "${libraries[@]}"
}

# The package as pip installs it, against an installed Prism, with real PyTorch and
# JAX (CPU): every test of python/tests.
python() {
  local prefix=$root/out/installed
  configure dev
  timeout "$(remaining)" cmake --build --preset dev -j "$jobs" --target PrismC prism-calibrate prism-compile \
    prism-lsp-server prism-opt prism-reduce prism-run || return
  rm -rf "$prefix"
  cmake --install build --prefix "$prefix" > "$root/out/install.log" || return 1
  [ -x "$framework_venv/bin/python" ] || "$python" -m venv "$framework_venv" || return 1
  timeout "$(remaining)" "$framework_venv/bin/pip" install -q --disable-pip-version-check \
    "${python_wheels[@]}" "${framework_wheels[@]}" mypy==2.4.1 || return
  timeout "$(remaining)" "$framework_venv/bin/pip" install -q --disable-pip-version-check --no-build-isolation \
    --force-reinstall --no-deps "$root" --config-settings=cmake.source-dir=python \
    --config-settings=cmake.define.CMAKE_PREFIX_PATH="$prefix" \
    --config-settings=build-dir="$root/out/build-wheel" || return
  # What a user's type checker sees, and the package's own code.
  "$framework_venv/bin/python" -m mypy --strict "$root/python/prism" || return 1
  PYTHONDONTWRITEBYTECODE=1 timeout "$(remaining)" "$framework_venv/bin/python" -m pytest -q -p no:cacheprovider \
    "$root/python/tests"
}

# clang-tidy on the files that differ from the main branch, or on all, latest
# first, until the time is used up.
tidy() {
  command -v clang-tidy-22 > /dev/null || fail "clang-tidy-22 not found; scripts/setup.sh installs it"
  [ -f build/compile_commands.json ] || configure dev
  local base files=() file checked=0 bad=0 log=$root/out/clang-tidy.log
  base=$(git merge-base HEAD origin/HEAD 2> /dev/null || git merge-base HEAD origin/main 2> /dev/null || true)
  if [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ]; then
    mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'lib/*.cpp' 'tools/*.cpp')
    say "${#files[@]} files differ from the main branch"
  fi
  if [ ${#files[@]} -eq 0 ]; then
    mapfile -t files < <(git log --format= --name-only -- 'lib/*.cpp' 'tools/*.cpp' | awk '!seen[$0]++' |
      while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
  fi
  : > "$log"
  while [ $checked -lt ${#files[@]} ] && [ "$(remaining)" -gt 30 ]; do
    local batch=("${files[@]:checked:jobs}") # one file a core
    printf '%s\0' "${batch[@]}" |
      xargs -0 -P "$jobs" -n 1 clang-tidy-22 --quiet -p build --warnings-as-errors='*' >> "$log" 2> /dev/null || bad=1
    checked=$((checked + ${#batch[@]}))
    printf '\rclang-tidy: %d of %d files' "$checked" "${#files[@]}"
  done
  echo
  [ $checked -eq ${#files[@]} ] || skipped+=("clang-tidy on $((${#files[@]} - checked)) of ${#files[@]} files")
  # Advice for now: the tree has not been through it once, so a finding does not fail.
  if [ $bad -ne 0 ]; then
    grep -E '(warning|error):' "$log" | sort -u | head -20
    say "clang-tidy: $(grep -E '(warning|error):' "$log" | sort -u | wc -l) findings (advice), all in $log"
  fi
}

for part in "${parts[@]}"; do
  case $part in
    includes | python | threads | fuzz | sanitizers | tidy) ;;
    *) fail "unknown part '$part', expected includes, python, threads, fuzz, sanitizers or tidy" ;;
  esac
  step "$part ($(remaining) s left)"
  # Seconds that a part needs, roughly.
  case $part in
    sanitizers) needed=600 ;;
    python) needed=420 ;;
    fuzz) needed=240 ;;
    threads) needed=420 ;;
    *) needed=60 ;;
  esac
  if [ "$(remaining)" -lt $needed ]; then
    skipped+=("$part")
    continue
  fi
  # "set -e" is off inside a tested function: each part returns its failures, and
  # 124 where its time was up.
  status=0
  "$part" || status=$?
  if [ $status -eq 124 ] && [ "$(remaining)" -le 1 ]; then
    skipped+=("the rest of $part")
  elif [ $status -ne 0 ]; then
    if [[ " ${PRISM_EXTRA_ADVICE:-} " == *" $part "* ]]; then advice+=("$part"); else broken+=("$part"); fi
  fi
done

step "done"
[ ${#skipped[@]} -eq 0 ] || printf 'left out for lack of time: %s\n' "${skipped[@]}"
[ ${#advice[@]} -eq 0 ] || printf 'FAILED, as advice: %s\n' "${advice[@]}"
if [ ${#broken[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${broken[@]}"
  exit 1
fi
say "every extra check that ran passed"
