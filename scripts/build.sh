#!/usr/bin/env bash
# Configures and builds one preset; ninja's own progress line shows where it is.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: configuring preset '$preset' failed, see above" >&2
    exit 1
fi
echo "build: preset $preset"
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}"
