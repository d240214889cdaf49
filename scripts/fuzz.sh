#!/bin/bash
# Looks for inputs that break readers and passes: the targets of unittests/Fuzz,
# built with sanitizers, start from the tests' own inputs and change them. What
# they find stays in out/fuzz: crash-* files, a log and a corpus for each target.
# usage: fuzz.sh [--seconds N] [target]...    N seconds a target (default 60);
#        targets: Spec, Module, Manifest, Npy, Passes (default: all)
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
cd "$root"
exec < /dev/null

all=(Spec Module Manifest Npy Passes)
seconds=60
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--seconds: expected a number of seconds, found '${2:-}'"
      seconds=$2
      shift
      ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || fail "unknown target '$1', expected one of: ${all[*]}"
      targets+=("$1")
      ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")

configure asan
cmake --build --preset asan -j "$jobs" --target "${targets[@]/#/PrismFuzz}"

export ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1
limits=(-timeout=30 -rss_limit_mb=4096)

# Runs one input alone; false where it is a fault of LLVM's: on the way to a crash
# the innermost function of an op is one of LLVM's own op, or there is only its
# parser (docs/Testing.md has those we know). Any other fault is ours to look at.
is_ours() {
  local target=$1 input=$2 innermost
  "build-asan/bin/PrismFuzz$target" "${limits[@]}" "$input" > "$input.log" 2>&1 && return 0
  innermost=$(sed '/LLVMFuzzerTestOneInput/q' "$input.log" | grep -m 1 -oE 'prism::|mlir::[a-z]+::[A-Za-z]+Op::(parse|verify)|mlir::parseSourceFile' || true)
  [[ $innermost != mlir::* ]]
}

# True where an input was too slow or too large only in the search's own process,
# which other inputs and other programs had filled.
is_passing() {
  [[ $(basename "$2") != crash-* ]] && "build-asan/bin/PrismFuzz$1" "${limits[@]}" "$2" > "$2.log" 2>&1
}

# What was found, with its input where that is short: a log may be all there is.
show() {
  say "$1: FAULT: $(grep -a -m 1 -oE '(ERROR: .{0,100}|fault: .*|runtime error: .*)' "$2.log" || echo "none when run alone"): $2"
  [ "$(stat -c %s "$2")" -gt 2048 ] || say "$1: base64 -d <<< $(base64 -w 0 "$2")"
}

# Faults do not end a run: each is kept, and told apart afterwards.
fuzz() {
  local target=$1 folder=$root/out/fuzz/$1 seeds input ours=0 theirs=0 passing=0
  mapfile -t seeds < "build-asan/unittests/Fuzz/$target.seeds"
  rm -rf "$folder"
  mkdir -p "$folder/corpus"
  "build-asan/bin/PrismFuzz$target" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 \
    -max_total_time="$seconds" "${limits[@]}" -max_len=16384 -seed="${PRISM_SEED:-1}" \
    -artifact_prefix="$folder/" "$folder/corpus" "${seeds[@]}" > "$folder/log" 2>&1 || true
  for input in "$folder"/{crash,timeout,oom}-*; do
    [ -e "$input" ] || continue
    if is_passing "$target" "$input"; then
      passing=$((passing + 1))
    elif is_ours "$target" "$input"; then
      ours=$((ours + 1))
      show "$target" "$input"
    else
      theirs=$((theirs + 1))
    fi
  done
  # Nothing ran: the target did not start, or its own seeds broke it.
  grep -q '^#[1-9][0-9]*: cov' "$folder/log" || { say "$target: did not run, see $folder/log"; return 1; }
  say "$target: $(grep -oE '^#[0-9]+' "$folder/log" | tail -1 | tr -d '#') inputs, $ours faults, $theirs of LLVM's, $passing slow or large once"
  [ $ours -eq 0 ]
}
export -f fuzz is_ours is_passing say show
export root seconds
export limits_text="${limits[*]}"
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'limits=($limits_text); fuzz {}' || fail "faults found, see above"
