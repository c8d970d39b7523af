#!/usr/bin/env bash
# Runs the tests of helm/esi: rendered, applied, installed, on a real control plane of their own.
# Arguments go to pytest (-k rights, -x). Builds nothing of C++: `make build` comes first.
# HELM names another helm than Helm 4 of integration-tests/cluster: HELM=$(./helm3.sh) ./run.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/../../scripts/setup.sh" "$here/debian-packages.txt"
# shellcheck source=integration-tests/scenarios/environment.sh
source "$here/../scenarios/environment.sh"
cd "$here"
# Collecting garbage is half of what an API server of that size computes; memory is there.
export GOGC=${GOGC:-300}
exec "$python" -B -m pytest "$@"
