#!/usr/bin/env bash
# The numbers of docs/performance.md, as markdown on stdout; progress on stderr. Takes about four
# minutes on two cores once everything is built. Arguments go to the benchmark: --runs 20 (starts),
# --nodes 500 (of the large testbed, 0 = leave it out), --keep FOLDER (audit log and logs).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'bench: %s\n' "$*" >&2; }

load=$(cut -d' ' -f1 /proc/loadavg)
if awk -v load="$load" -v cores="$(nproc)" 'BEGIN {exit !(load > cores / 2)}'; then
    say "the machine is busy (load $load on $(nproc) cores): the times will be too long"
fi
printf '%s, %s cores, Debian %s, kernel %s, load %s before the start\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$(cat /etc/debian_version)" "$(uname -r)" "$load"
exec integration-tests/scenarios/bench.sh "$@"
