#!/usr/bin/env bash
# Tests of the package. Arguments go to pytest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/venv.sh")
cd "$here/.."
exec "$python" -B -m pytest "$@"
