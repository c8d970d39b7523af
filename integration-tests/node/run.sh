#!/usr/bin/env bash
# Runs the tests on real nodes. Arguments go to pytest (-m quick, -k upgrade). Builds what is missing
# first, but with --if-built: then tests whose parts are not there are skipped by name.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [[ ${1:-} == --if-built ]]; then
  shift
  export ESI_NODES_IF_BUILT=1
else
  "$here/../../scripts/setup.sh" "$here/debian-packages.txt"
  "$here/build.sh" >/dev/null
fi
source "$here/../scenarios/environment.sh"
"$here/../../scripts/images.sh" >/dev/null
cd "$here"
exec "$python" -B -m pytest "$@"
