#!/usr/bin/env bash
# `make demo-real`: installs and builds what is missing, then shows it. KEEP=1 leaves it running.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../scripts/setup.sh" "$here/debian-packages.txt"
"$here/build.sh" >/dev/null
source "$here/../scenarios/environment.sh"
"$here/../../scripts/images.sh" >/dev/null
exec "$python" -B "$here/show.py"
