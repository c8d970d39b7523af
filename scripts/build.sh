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
header() { find "$cache/precompiled" \( -name '*.pch' -o -name '*.o' -o -name '*.a' \) -print0 2>/dev/null | xargs -0r sha256sum; }
# Asks a copy of the rules: ninja answers no other question about its own as long as they list folders.
header_stands() {
    local rules=build/$preset/precompiled.ninja
    cp "build/$preset/build.ninja" "$rules"
    ninja -C "build/$preset" -f precompiled.ninja -n esi_precompiled | grep -q 'no work to do'
}
make_header() {
    local before kept file_kept
    before=$(header)
    kept=$(mktemp -d)
    while read -r digest file; do
        [[ -z $file ]] || touch -r "$file" "$kept/$digest-$(basename "$file")"
    done <<<"$before"
    cmake --build --preset "$preset" --target esi_precompiled
    while read -r digest file; do
        file_kept=$kept/$digest-$(basename "$file")
        [[ ! -e $file_kept ]] || touch -r "$file_kept" "$file"
    done < <(header)
    rm -r "$kept"
}
if ! header_stands; then
    flock -n 9 || { echo "build: waits for other checkouts that build"; flock 9; }
    make_header
fi
flock -s 9
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" ${targets[0]+--target "${targets[@]}"}
