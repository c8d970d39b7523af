#!/usr/bin/env bash
# `make demo`: a whole evaluation set-up on simulated nodes, shown while it works. KEEP=1 leaves it
# running; `run.sh stop` ends one that was kept. ESI_DEMO_DIR: another folder than build/demo, for a second
# demo beside the first.
set -euo pipefail
source "$(dirname "$0")/../scenarios/environment.sh"
exec "$python" -B "$scenarios/../demo/demo.py" "$@"
