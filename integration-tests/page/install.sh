#!/usr/bin/env bash
# Prints the folder that has node_modules with the packages of package.json; makes it once, in build/, under a name that
# changes with the list. No browser is downloaded: the tests drive Debian's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
key=$({ node --version; cat "$here"/package*.json; } | sha256sum | cut -c1-16)
target=$here/../../build/page-tests/packages-$key
if [[ ! -e $target/ready ]]; then
    echo "page: installing npm packages into build/page-tests" >&2
    mkdir -p "$target"
    exec 9>"$target.lock"
    flock 9
    if [[ ! -e $target/ready ]]; then
        cp "$here"/package*.json "$target"
        npm ci --prefix "$target" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
        touch "$target/ready"
    fi
fi
cd "$target" && pwd
