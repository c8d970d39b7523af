#!/usr/bin/env bash
# Runs the scenario tests: the three operators' binaries on a real control plane. Arguments go to
# pytest (-k ghosts, -x, -m "not slow"). Builds nothing of C++: `make build` comes first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$("$here/venv.sh")
export ESI_OPERATORS=${ESI_OPERATORS:-$root/build/release/operators}
for name in esi-testbed esi-batchjob esi-scheduling; do
    if [[ ! -x $ESI_OPERATORS/$name ]]; then
        echo "scenarios: $ESI_OPERATORS/$name is missing: run \`make build\` first" >&2
        exit 1
    fi
done
if [[ -z ${ESI_CLUSTER:-} ]]; then
    ESI_CLUSTER=$("$here/../cluster/build.sh" | tail -n 1)
    export ESI_CLUSTER
fi
cd "$here"
exec "$python" -B -m pytest "$@"
