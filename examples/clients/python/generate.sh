#!/usr/bin/env bash
# Makes src/esi_client/generated anew out of openapi.json, or with an argument a new folder of that name.
# With --document it first takes docs/openapi.json from the program: build/release/operators/esi-scheduling.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [[ ${1:-} == --document ]]; then
    "${ESI_SCHEDULING:-$here/../../../build/release/operators/esi-scheduling}" --print-openapi >"$here/../../../docs/openapi.json.new"
    mv "$here/../../../docs/openapi.json.new" "$here/../../../docs/openapi.json"
    shift
fi
python=$("$here/tests/venv.sh")
exec "$python" -B "$here/generate.py" "$@"
