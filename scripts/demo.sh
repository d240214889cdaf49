#!/bin/bash
# From a fresh clone to a checked result: installs what is missing, builds the
# tools, compiles an example PRISM spec for the CPU and a GPU, runs its forward on
# the CPU and compares it with the float64 recurrence.
set -euo pipefail
. "$(dirname "$0")/common.sh"
show_help "$@"
[ $# -eq 0 ] || fail "unknown argument '$1', expected none"
cd "$root"

step "looking for what the build needs"
scripts/setup.sh < /dev/null
use_cuda

step "configuring and building the tools, $jobs jobs"
configure dev
cmake --build --preset dev -j "$jobs" --target prism-compile prism-run

spec=examples/prism_l2.json
bundle=out/prism_l2
arrays=out/prism_l2_arrays
step "compiling $spec for cpu and cuda:sm_90a"
build/bin/prism-compile "$spec" --target=cpu,cuda:sm_90a -o "$bundle"
ls -l "$bundle"

step "running its forward on the CPU, 2 sequences of 300 steps"
mkdir -p "$arrays"
read -r -a inputs <<< "$("$python" scripts/demo_arrays.py make "$bundle" "$arrays")"
build/bin/prism-run "$bundle" forward "${inputs[@]}" \
  --out o="$arrays/o.npy" --out final_state="$arrays/final_state.npy"

step "comparing the arrays with the recurrence in float64, computed by NumPy"
"$python" scripts/demo_arrays.py check "$bundle" "$arrays"

step "comparing compiled and interpreted entry on other inputs (prism-compile --check)"
build/bin/prism-compile "$spec" --target=cpu --check --shape B=2,T=65

step "done"
say "PTX for the GPU:"
printf '  %s\n' "$bundle"/*.ptx
if compgen -G "$bundle/*.cubin" > /dev/null; then
  say "and assembled:"
  printf '  %s\n' "$bundle"/*.cubin
else
  say "not assembled: no ptxas was found or could be installed"
fi
say "Try: build/bin/prism-compile $spec --emit=tile      scripts/check.sh runs every test."
