# Sourced by the other scripts: where things are, how they speak.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
llvm_bin=/usr/lib/llvm-22/bin
# The distribution's Python, because numpy and jsonschema come from its packages.
python=${PRISM_PYTHON:-/usr/bin/python3}
jobs=${PRISM_JOBS:-$(nproc)}

# The wheel with ptxas and libdevice, used where no CUDA toolkit is found.
nvcc_wheel=nvidia-cuda-nvcc-cu12==12.9.86
nvcc_venv=$root/.venv-cuda

# What the Python package is built and tested with.
python_wheels=(nanobind==3.1.0 scikit-build-core==1.1.2 numpy==2.4.6 ml_dtypes==0.6.0 pytest==9.2.0)
python_venv=$root/.venv-python
# The frameworks whose arrays it takes: 5 GB, for check-extra.sh alone.
framework_wheels=(torch==2.15.0 jax==0.10.2)
framework_venv=$root/.venv-frameworks

say() { printf '%s\n' "$*"; }
fail() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# show_help "$@": prints the script's opening comment and ends, where that is asked
# for.
show_help() {
  case "${1:-}" in
    -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//;t p;b;:p;p}' "$0"; exit 0 ;;
  esac
}

# step TEXT: a headline with the seconds passed since the script began.
step() { printf '\n=== [%4d s] %s\n' "$SECONDS" "$*"; }

# has_ptxas FOLDER: true if its bin/ptxas starts (it may be a stale wrapper).
has_ptxas() { [ -n "$1" ] && [ -x "$1/bin/ptxas" ] && "$1/bin/ptxas" --version > /dev/null 2>&1; }

# find_cuda: prints the toolkit folder (holding bin/ptxas), or fails.
find_cuda() {
  local candidate tool
  for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if has_ptxas "$candidate"; then
      (cd "$candidate" && pwd)
      return 0
    fi
  done
  if tool=$(command -v ptxas) && candidate=$(dirname "$(dirname "$(readlink -f "$tool")")") && has_ptxas "$candidate"; then
    printf '%s\n' "$candidate"
    return 0
  fi
  for candidate in "$nvcc_venv"/lib/python3*/site-packages/nvidia/cuda_nvcc; do
    if has_ptxas "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

# use_cuda: exports CUDA_HOME and PATH, so that CMake, lit and prism-compile all
# see the toolkit that setup.sh found or installed. Nothing happens without one.
use_cuda() {
  local home
  if home=$(find_cuda); then
    export CUDA_HOME=$home
    case ":$PATH:" in *":$home/bin:"*) ;; *) export PATH=$home/bin:$PATH ;; esac
  fi
}

# configure PRESET: CMake with the packaged Python, quiet unless it fails. With
# the Python package where setup.sh installed what it needs.
configure() {
  local log=$root/out/configure-$1.log with_python=(-DPRISM_PYTHON=OFF)
  if [ "$1" = dev ] && [ -x "$python_venv/bin/python" ]; then
    with_python=(-DPRISM_PYTHON=ON -DPython_EXECUTABLE="$python_venv/bin/python")
  fi
  mkdir -p "$root/out"
  if ! (cd "$root" && cmake --preset "$1" -DPython3_EXECUTABLE="$python" "${with_python[@]}") > "$log" 2>&1; then
    tail -40 "$log" >&2
    fail "CMake could not configure preset '$1' (whole output in $log)"
  fi
  say "configured preset $1 (output in ${log#"$root"/})"
}
