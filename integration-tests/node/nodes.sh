#!/usr/bin/env bash
# The real nodes by hand, with the programs and the Python of the tests: nodes.sh up | install | status |
# kubectl ... | helm ... | in NODE ... | down (see nodes.py).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=""
# shellcheck source=integration-tests/scenarios/environment.sh
source "$here/../scenarios/environment.sh"
exec "$python" -B "$here/nodes.py" "$@"
