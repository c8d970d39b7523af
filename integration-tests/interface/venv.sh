#!/usr/bin/env bash
# Prints the path of a Python that has the packages of requirements.txt; makes it once, in the
# user's cache folder, under a name that changes with the list.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/esi
key=$({ python3 --version; cat "$here/requirements.txt"; } | sha256sum | cut -c1-16)
venv=$cache/interface-$key
if [[ ! -e $venv/ready ]]; then
    echo "interface: installing Python packages into $venv" >&2
    mkdir -p "$cache"
    exec 9>"$venv.lock"
    flock 9
    if [[ ! -e $venv/ready ]]; then
        rm -rf "$venv"
        python3 -m venv "$venv" >&2
        "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements.txt" >&2
        touch "$venv/ready"
    fi
fi
echo "$venv/bin/python"
