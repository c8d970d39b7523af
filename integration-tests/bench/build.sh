#!/usr/bin/env bash
# Builds and tests the server of recorded clusters, and prints its path. Standard library only: nothing is
# downloaded but Go itself, where it is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
go=$("$here/../cluster/go.sh")
cd "$here/fileserver"
mkdir -p "$root/build/bench"
if [[ ! -x $root/build/bench/fileserver || -n $(find . -newer "$root/build/bench/fileserver" -print -quit) ]]; then
    CGO_ENABLED=0 GOTOOLCHAIN=local "$go" test ./... >&2
    CGO_ENABLED=0 GOTOOLCHAIN=local "$go" build -trimpath -buildvcs=false -o "$root/build/bench/fileserver" .
fi
echo "$root/build/bench/fileserver"
