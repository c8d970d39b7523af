#!/usr/bin/env bash
# The simulation as a test: kept plans, seeds, the table of crash points, the sweep over all specs,
# and whether every kept mutation still applies. Progress and summaries go to the terminal.
#   SEEDS=1000 FROM=1 scripts/simulate.sh [JUNIT-FILE]
set -uo pipefail
cd "$(dirname "$0")/.."
junit=${1:-}
program=build/${PRESET:-release}/integration-tests/simulation/esi-simulation
cases=()
failed=0

check() {  # check NAME COMMAND...
    local name=$1 started=$SECONDS result=""
    shift
    echo
    echo "--> $name"
    if ! "$@"; then
        failed=1
        result="<failure message=\"see the output of: $*\"/>"
    fi
    cases+=("<testcase classname=\"simulation\" name=\"$name\" time=\"$((SECONDS - started))\">$result</testcase>")
}

check "kept plans" "$program" cases
check "seeds" "$program" seeds --from "${FROM:-1}" --count "${SEEDS:-1000}"
check "crash at each write" "$program" crash-table
check "spec sweep" "$program" sweep
check "mutations apply" python3 integration-tests/simulation/mutations/mutate.py --check

if [[ -n $junit ]]; then
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo "<testsuite name=\"simulation\" tests=\"${#cases[@]}\">"
        printf '%s\n' "${cases[@]}"
        echo "</testsuite>"
    } >"$junit"
fi
exit $failed
