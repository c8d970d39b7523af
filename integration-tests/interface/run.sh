#!/usr/bin/env bash
# Tests of the OpenAPI document: valid, enough for a client, and true of 1,500 generated requests. Arguments go to
# pytest; --requests 10000 makes more, --seed N others. Builds nothing of C++: `make build` comes first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../scenarios/environment.sh"
python=$("$here/../venv.sh" interface)
# The client package out of the document as it is now (test_client_package.py).
"$python" -B "$here/../../examples/clients/python/generate.py"
cd "$here"
export GOGC=${GOGC:-300}
exec "$python" -B -m pytest "$@"
