#!/usr/bin/env bash
# Runs on a machine with an NVIDIA GPU what CI cannot: every integration test with
# --device cuda:0, each against the float64 recurrence.
#
# usage: scripts/gpu-check.sh [BIN] [LOG]
#   BIN  folder with prism-compile and prism-run (default: build/bin)
#   LOG  folder for the logs (default: out/gpu-check)
# Python needs numpy. JOBS sets the number of parallel runs (default: cores).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$(realpath "${1:-build/bin}")
log=${2:-out/gpu-check}
jobs=${JOBS:-$(nproc)}
python=${PYTHON:-python3}
mkdir -p "$log"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || { echo "gpu-check: no NVIDIA GPU found"; exit 1; }
status=0

run() { # NAME COMMAND...
  local name=$1
  shift
  local start=$SECONDS
  if "$@" > "$log/$name.log" 2>&1; then
    echo "ok     $name ($((SECONDS - start)) s): $(tail -n 1 "$log/$name.log")"
  else
    status=1
    echo "FAILED $name ($((SECONDS - start)) s), see $log/$name.log"
    grep -E '^FAILED|WRONG' "$log/$name.log" | head -n 20
    tail -n 1 "$log/$name.log"
  fi
}

target=${TARGET:-cuda:sm_90a}
common=(--bin "$bin" --device cuda:0 --target "$target" --jobs "$jobs")
run cases "$python" test/Integration/cases.py "${common[@]}"
run matrix "$python" test/Integration/matrix.py "${common[@]}"
run segments "$python" test/Integration/segments.py "${common[@]}" --count "${CHAINS:-200}"
run chains "$python" test/Integration/random_chains.py "${common[@]}" --count "${CHAINS:-200}"
exit $status
