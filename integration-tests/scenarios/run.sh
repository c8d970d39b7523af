#!/usr/bin/env bash
# Runs the scenario tests: the three operators' binaries on a real control plane. Arguments go to
# pytest (-k ghosts, -x, -m "not slow"). Builds nothing of C++: `make build` comes first.
#
# The whole suite, or the part of it that `-m` names, runs side by side in ESI_WORKERS processes (3), each
# with a control plane of its own (side_by_side.py). Anything else that is picked runs in one process, whose
# output `-s` shows; ESI_WORKERS=0 does the same with the whole suite.
set -euo pipefail
source "$(dirname "$0")/environment.sh"
cd "$scenarios"
picked=0
for ((number = 1; number <= $#; ++number)); do
    case ${!number} in
        -m) ((++number)) ;;
        --junit-xml=* | --durations=*) ;;
        *) picked=1 ;;
    esac
done
# Collecting garbage is half of what an API server of that size computes; memory is there.
export GOGC=${GOGC:-300}
workers=${ESI_WORKERS:-$((picked ? 0 : 3))}
exec "$python" -B -m pytest --numprocesses="$workers" "$@"
