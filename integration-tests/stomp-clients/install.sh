#!/usr/bin/env bash
# Prints the folder node_modules with the packages of package.json; makes it once, in build/, under a
# name that changes with the list. Beside it stand the programs of this folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
key=$({ node --version; cat "$here"/package*.json "$here"/*.mjs; } | sha256sum | cut -c1-16)
target=$here/../../build/stomp-clients-$key
if [[ ! -e $target/ready ]]; then
    echo "scenarios: installing npm packages into $target" >&2
    mkdir -p "$target"
    exec 9>"$target.lock"
    flock 9
    if [[ ! -e $target/ready ]]; then
        cp "$here"/package*.json "$here"/*.mjs "$target"
        npm ci --prefix "$target" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
        touch "$target/ready"
    fi
fi
echo "$(cd "$target" && pwd)/node_modules"
