#!/usr/bin/env bash
# Reruns on a machine with an NVIDIA GPU all that the documents report of GPUs: the
# integration tests (gpu-check.sh), small runs of every kind of kernel, under
# compute-sanitizer too where it is found, then the speed suites of docs/Benchmarks.md.
#
# usage: scripts/gpu.sh [--bin FOLDER] [--bundles FOLDER] [--out FOLDER] [--played FOLDER] [--jobs N] [--suite NAME]...
#                       [--no-check | --no-speed] [-- ARGUMENTS OF benchmarks/run.py]
#   --bin      folder with prism-compile and prism-run (default: build/bin)
#   --suite    gpu-forward, gpu-families, gpu-decode, gpu-choice, gpu-diagonal, gpu-lengths or gpu-sizes (default: all)
#   --bundles  play these bundles in the speed suites, written before by
#              benchmarks/run.py --suite NAME --compile-only --bundles FOLDER;
#              with --no-check, neither compiler nor libraries are needed then
#   --played   play these small runs, written before by test/Integration/played.py
#              --prepare FOLDER; with --no-check, prism-run is enough then
#   --out      logs, and NAME.json and NAME.log of each suite (default: out/gpu)
#   --jobs     processes that compile at once (default: cores)
# PYTHON names the Python (default: python3): the tests need numpy, the suite PyTorch
# with CUDA. Peers that it can import (flash-linear-attention, FlashInfer, mamba_ssm) are timed too.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
fail() { printf 'gpu.sh: error: %s\n' "$*" >&2; exit 2; }
bin=build/bin out=out/gpu jobs=$(nproc) check=1 speed=1 bundles=() suites=() played=
while [ $# -gt 0 ]; do
  case $1 in
    --bin | --bundles | --out | --jobs | --suite | --played)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in
        --bin) bin=$2 ;;
        --bundles) bundles=(--bundles "$2") ;;
        --out) out=$2 ;;
        --jobs) jobs=$2 ;;
        --suite) suites+=("$2") ;;
        --played) played=$2 ;;
      esac
      shift 2 ;;
    --no-check) check=0; shift ;;
    --no-speed) speed=0; shift ;;
    --) shift; break ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null || fail "no NVIDIA GPU found"
mkdir -p "$out"
status=0
if [ "$check" = 1 ]; then
  JOBS=$jobs scripts/gpu-check.sh "$bin" "$out/gpu-check" || status=1
fi
if [ "$check" = 1 ] || [ -n "$played" ]; then
  [ -n "$played" ] || { played=$out/played && "${PYTHON:-python3}" test/Integration/played.py --prepare "$played" --bin "$bin" || status=1; }
  sanitizers=()
  if command -v compute-sanitizer > /dev/null; then
    sanitizers=(--sanitizer memcheck --sanitizer racecheck --sanitizer initcheck --sanitizer synccheck)
  else
    echo "gpu.sh: compute-sanitizer not found, so nothing runs under it"
  fi
  for flags in "" "${sanitizers[*]}"; do
    "${PYTHON:-python3}" test/Integration/played.py --play "$played" --bin "$bin" --device cuda:0 --jobs 4 $flags 2>&1 |
      tee -a "$out/played.log" || status=1
    [ ${#sanitizers[@]} -gt 0 ] || break
  done
fi
[ ${#suites[@]} -gt 0 ] || suites=(gpu-forward gpu-families gpu-decode gpu-choice gpu-diagonal gpu-lengths gpu-sizes)
for suite in $([ "$speed" = 0 ] || echo "${suites[@]}"); do
  forPeers=(--jobs "$jobs")
  case $suite in gpu-choice | gpu-diagonal | gpu-lengths | gpu-sizes) forPeers=() ;; esac # without peers
  PYTHONUNBUFFERED=1 "${PYTHON:-python3}" benchmarks/run.py --suite "$suite" --bin "$bin" ${bundles[@]+"${bundles[@]}"} \
    ${forPeers[@]+"${forPeers[@]}"} --json "$out/$suite.json" "$@" 2>&1 | tee "$out/$suite.log" || status=1
done
exit $status
