#!/usr/bin/env bash
# Measures a start, a swap and the operators' memory on a real control plane; prints markdown.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
exec "$python" -B "$scenarios/bench_start.py" "$@"
