#!/usr/bin/env bash
# Configures and builds one preset: everything, or the targets named after it. ninja's own progress
# line shows where it is.
#   scripts/build.sh [PRESET [TARGET...]]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
targets=("${@:2}")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: configuring preset '$preset' failed, see above" >&2
    exit 1
fi
echo "build: preset $preset"
# All checkouts of a user have one precompiled header: one of them at a time makes it.
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/esi}
mkdir -p "$cache"
flock "$cache/precompiled.lock" cmake --build --preset "$preset" --target esi_precompiled
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" ${targets[0]+--target "${targets[@]}"}
