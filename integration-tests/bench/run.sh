#!/usr/bin/env bash
# The numbers of docs/performance.md (bench.py; its arguments). Builds nothing of C++ and no control
# plane: `make bench` does that first. ESI_OPERATORS names the folder of other binaries. With the word "gate"
# before them the arguments go to pytest: the gate of make test-all (gate/bounds.py).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../scenarios/environment.sh"
ESI_FILESERVER=${ESI_FILESERVER:-$("$here/build.sh")}
export ESI_FILESERVER PYTHONPATH="$here:$scenarios"
if [[ ${1:-} == gate ]]; then
    export PYTHONPATH="$PYTHONPATH:$here/gate"
    cd "$here/gate"
    exec "$python" -B -m pytest "${@:2}"
fi
exec "$python" -B "$here/bench.py" "$@"
