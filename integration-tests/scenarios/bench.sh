#!/usr/bin/env bash
# Measures a start, a swap and the operators' memory on a real control plane; prints markdown.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export ESI_OPERATORS=${ESI_OPERATORS:-$root/build/release/operators}
if [[ -z ${ESI_CLUSTER:-} ]]; then
    ESI_CLUSTER=$("$here/../cluster/build.sh" | tail -n 1)
    export ESI_CLUSTER
fi
exec "$("$here/venv.sh")" -B "$here/bench_start.py" "$@"
