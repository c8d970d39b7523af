#!/usr/bin/env bash
# The numbers of docs/performance.md, as markdown on stdout; progress on stderr. About half an hour on two
# cores once everything is built; --quick: the small size only, two minutes. Other arguments:
# integration-tests/bench/bench.py.
set -euo pipefail
cd "$(dirname "$0")/.."

load=$(cut -d' ' -f1 /proc/loadavg)
if awk -v load="$load" -v cores="$(nproc)" 'BEGIN {exit !(load > cores / 2)}'; then
    printf 'bench: the machine is busy (load %s on %s cores): the times will be too long\n' "$load" "$(nproc)" >&2
fi
exec integration-tests/bench/run.sh "$@"
