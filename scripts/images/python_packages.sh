#!/usr/bin/env bash
# Prints the folder with the Python packages that the example scheduler needs, in the versions that its tests
# run with, for Debian's Python; makes it once, in the user's cache folder, under a name that changes with them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$here/../../examples/schedulers/colocation
cache=${XDG_CACHE_HOME:-$HOME/.cache}/esi
key=$({ /usr/bin/python3 --version; uname -m; cat "$project/requirements.txt" "$0"; } |
    sha256sum | cut -c1-16)
folder=$cache/colocation-image-$key
if [[ ! -e $folder/ready ]]; then
    echo "images: installing the Python packages of esi-colocation into $folder" >&2
    mkdir -p "$cache"
    exec 9>"$folder.lock"
    flock 9
    if [[ ! -e $folder/ready ]]; then
        rm -rf "$folder"
        /usr/bin/python3 -m venv "$folder/venv" >&2
        "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --only-binary :all: \
            --require-hashes --requirement "$project/requirements.txt" --target "$folder/packages" >&2
        touch "$folder/ready"
    fi
fi
echo "$folder/packages"
