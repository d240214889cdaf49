#!/bin/bash
# Generates the reference pages of dialects and passes from ODS.
# usage: docs.sh BUILD_FOLDER [TARGET_FOLDER]     default target: out/docs
set -euo pipefail
. "$(dirname "$0")/common.sh"
cd "$root"
build=${1:-build}
target=${2:-out/docs}
[ -f "$build/build.ninja" ] || fail "no build in '$build'; run cmake --preset dev first"

ninja -C "$build" mlir-doc
pages=$(find "$build/docs" -name '*.md' | wc -l)
[ "$pages" -gt 0 ] || fail "mlir-doc wrote no page to $build/docs"
rm -rf "$target"
mkdir -p "$target"
# The generated pages beside the written ones, so that relative links work.
cp -r docs/. "$target/"
mkdir -p "$target/Generated"
cp -r "$build/docs/." "$target/Generated/"
say "$pages generated pages in $target/Generated"
