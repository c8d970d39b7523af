#!/usr/bin/env bash
# Runs the scenario tests: the three operators' binaries on a real control plane. Arguments go to
# pytest (-k ghosts, -x, -m "not slow"). Builds nothing of C++: `make build` comes first.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
cd "$scenarios"
exec "$python" -B -m pytest "$@"
