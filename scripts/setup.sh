#!/bin/bash
# Installs what is missing to build and test Prism on Debian 12 and says what it
# found. Uses the network only if something is missing; needs root or sudo then.
#
# usage: setup.sh [--no-cuda]     --no-cuda: do not look for or install ptxas
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=(
  libmlir-22-dev mlir-22-tools llvm-22 llvm-22-dev llvm-22-tools clang-22 lld-22 libclang-rt-22-dev
  clang-format-22 clang-tidy-22 codespell cmake ninja-build
  nlohmann-json3-dev libcli11-dev libgtest-dev python3-dev python3-venv python3-numpy python3-jsonschema
)
with_cuda=yes
for argument in "$@"; do
  case $argument in
    --no-cuda) with_cuda=no ;;
    *) fail "unknown argument '$argument', expected --no-cuda" ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  step "installing ${#missing[@]} packages: ${missing[*]}"
  command -v apt-get > /dev/null ||
    fail "needs the packages ${missing[*]}, and this system has no apt-get to install them"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null ||
      fail "installing packages needs root or sudo; as root: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q \
      -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" < /dev/null
  }
  apt_get update || say "apt-get update reported errors; trying with the lists at hand"
  for package in "${missing[@]}"; do
    candidate=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')
    if [ -z "$candidate" ] || [ "$candidate" = '(none)' ]; then
      fail "no package '$package' in the APT sources. LLVM 22 comes from Debian 12's security suite:" \
        "'deb http://deb.debian.org/debian-security bookworm-security main' in /etc/apt/sources.list"
    fi
  done
  apt_get install -y --no-install-recommends "${missing[@]}"
fi

say "LLVM     $("$llvm_bin/llvm-config" --version) in ${llvm_bin%/bin}"
say "compiler $(clang++-22 --version | head -1)"
say "CMake    $(cmake --version | sed -n '1s/cmake version //p'), ninja $(ninja --version)"
say "Python   $("$python" -c 'import sys, numpy; print(sys.version.split()[0] + ", numpy " + numpy.__version__)') at $python"

# has_wheels: true if the environment holds exactly the versions wanted.
has_wheels() {
  "$python_venv/bin/python" - "${python_wheels[@]}" 2> /dev/null << 'END'
import importlib.metadata, sys
for wanted in sys.argv[1:]:
    name, version = wanted.split("==")
    if importlib.metadata.version(name) != version:
        sys.exit(1)
END
}
if ! has_wheels; then
  say "installing ${python_wheels[*]} into ${python_venv#"$root"/}"
  if ! { "$python" -m venv "$python_venv" &&
         "$python_venv/bin/pip" install -q --disable-pip-version-check "${python_wheels[@]}"; }; then
    say
    say "*** The Python packages could not be installed (is PyPI reachable?). The Python package will be neither"
    say "*** built nor tested."
    rm -rf "$python_venv"
  fi
fi
if [ -d "$python_venv" ]; then
  say "nanobind ${python_wheels[0]#*==} for the Python package in ${python_venv#"$root"/}"
fi

[ "$with_cuda" = yes ] || exit 0
if ! cuda=$(find_cuda); then
  say "no CUDA toolkit on this machine; installing ptxas and libdevice ($nvcc_wheel) into ${nvcc_venv#"$root"/}"
  if ! { "$python" -m venv "$nvcc_venv" &&
         "$nvcc_venv/bin/pip" install -q --disable-pip-version-check --no-deps "$nvcc_wheel"; }; then
    say
    say "*** ptxas could not be installed (is PyPI reachable?). PTX will be written but not assembled,"
    say "*** and every test that needs ptxas will be reported as UNSUPPORTED."
    exit 0
  fi
  chmod +x "$nvcc_venv"/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/* 2> /dev/null || true
  cuda=$(find_cuda) || fail "the wheel $nvcc_wheel holds no ptxas"
fi
say "ptxas    $("$cuda/bin/ptxas" --version | sed -n 's/.*release [0-9.]*, V//p') in $cuda"
if [ -f "$cuda/nvvm/libdevice/libdevice.10.bc" ]; then
  say "libdevice in $cuda/nvvm/libdevice"
else
  say "no libdevice beside ptxas: f64 gate functions are not available on the GPU"
fi
