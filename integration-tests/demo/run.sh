#!/usr/bin/env bash
# `make demo`: a whole evaluation set-up on simulated nodes, shown while it works. KEEP=1 leaves it
# running; `run.sh stop` ends one that was kept.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export ESI_OPERATORS=${ESI_OPERATORS:-$root/build/release/operators}
python=$("$here/../scenarios/venv.sh")
if [[ -z ${ESI_CLUSTER:-} ]]; then
    ESI_CLUSTER=$("$here/../cluster/build.sh" | tail -n 1)
    export ESI_CLUSTER
fi
exec "$python" -B "$here/demo.py" "$@"
