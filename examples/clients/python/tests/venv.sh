#!/usr/bin/env bash
# Prints the path of a Python in which this package is installed (its sources as they are here); makes
# it once, in the user's cache folder, under a name that changes with what is installed. Each time it
# sees to it that src/esi_client/generated is what openapi.json gives.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/esi
key=$({ python3 --version; echo "$here"; cat "$here/pyproject.toml" "$here/setup.py" "$here/requirements.txt" \
    "$here/tests/requirements.txt"; } | sha256sum | cut -c1-16)
venv=$cache/client-$key
mkdir -p "$cache"
exec 9>"$venv.lock"
flock 9
if [[ ! -e $venv/ready ]]; then
    echo "client: installing it into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
        -r "$here/requirements.txt" -r "$here/tests/requirements.txt" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --editable "$here" >&2
    touch "$venv/ready"
fi
"$venv/bin/python" -B "$here/generate.py" >&2
echo "$venv/bin/python"
