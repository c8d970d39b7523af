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
# All checkouts of a user have one precompiled header. A checkout that has never built makes it again, alone:
# while others compile with it, it waits. What was made again is what was there: it keeps its time, or all
# other checkouts would compile everything again.
cache=${ESI_CACHE:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/esi}
mkdir -p "$cache"
exec 9>"$cache/precompiled.lock"
header() { find "$cache/precompiled" -name '*.pch' -print0 2>/dev/null | xargs -0r sha256sum; }
make_header() {
    local before kept
    before=$(header)
    kept=$(mktemp -d)
    while read -r digest file; do
        [[ -z $file ]] || touch -r "$file" "$kept/$digest"
    done <<<"$before"
    cmake --build --preset "$preset" --target esi_precompiled
    while read -r digest file; do
        [[ ! -e $kept/$digest ]] || touch -r "$kept/$digest" "$file"
    done < <(header)
    rm -r "$kept"
}
if ! cmake --build --preset "$preset" --target esi_precompiled -- -n | grep -q 'no work to do'; then
    flock -n 9 || { echo "build: waits for other checkouts that build"; flock 9; }
    make_header
fi
flock -s 9
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" ${targets[0]+--target "${targets[@]}"}
