#!/usr/bin/env bash
# Prints the path of a Python that has the packages of one suite's requirements.txt; makes it once, in the user's
# cache folder, under a name that changes with the list.
#   integration-tests/venv.sh scenarios|interface|images
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# As the caches are called since before there was one script for all: another name would install everything again.
declare -A names=([scenarios]=venv [interface]=interface [images]=images-venv)
suite=${1:-}
if [[ -z $suite || -z ${names[$suite]:-} ]]; then
    echo "usage: integration-tests/venv.sh scenarios|interface|images" >&2
    exit 2
fi
list=$here/$suite/requirements.txt
cache=${XDG_CACHE_HOME:-$HOME/.cache}/esi
key=$({ python3 --version; cat "$list"; } | sha256sum | cut -c1-16)
venv=$cache/${names[$suite]}-$key
if [[ ! -e $venv/ready ]]; then
    echo "$suite: installing Python packages into $venv" >&2
    mkdir -p "$cache"
    exec 9>"$venv.lock"
    flock 9
    if [[ ! -e $venv/ready ]]; then
        rm -rf "$venv"
        python3 -m venv "$venv" >&2
        "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$list" >&2
        touch "$venv/ready"
    fi
fi
echo "$venv/bin/python"
