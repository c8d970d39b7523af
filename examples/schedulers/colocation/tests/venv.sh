#!/usr/bin/env bash
# Prints the path of a Python in which this package and the client package are installed (their sources
# as they are here); makes it once, in the user's cache folder, under a name that changes with what is
# installed. Each time it sees to it that the client is what docs/openapi.json gives.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/esi
client=$here/../../clients/python
key=$({ python3 --version; echo "$here"; cat "$here/pyproject.toml" "$here/requirements.txt" "$here/tests/requirements.txt" \
    "$client/pyproject.toml" "$client/setup.py"; } | sha256sum | cut -c1-16)
venv=$cache/colocation-$key
if [[ ! -e $venv/ready ]]; then
    echo "colocation: installing it into $venv" >&2
    mkdir -p "$cache"
    exec 9>"$venv.lock"
    flock 9
    if [[ ! -e $venv/ready ]]; then
        rm -rf "$venv"
        python3 -m venv "$venv" >&2
        "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
            -r "$here/requirements.txt" -r "$here/tests/requirements.txt" >&2
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
            --editable "$client" --editable "$here" >&2
        touch "$venv/ready"
    fi
fi
"$venv/bin/python" -B "$client/generate.py" >&2
echo "$venv/bin/python"
