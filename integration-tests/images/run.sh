#!/usr/bin/env bash
# Tests of the images: what is in them, and whether they run. Arguments go to pytest (-k pause). Builds
# nothing of C++ but the pause, except with `-m dockerfile`: `make build` comes first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/setup.sh" "$here/debian-packages.txt"
python=$("$here/../venv.sh" images)
cd "$here"
exec "$python" -B -m pytest "$@"
