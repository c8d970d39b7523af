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

# The same seeds in another process with another environment: another time zone, locale and folder,
# freed and fresh memory filled with other bytes, the address space laid out anew. Their digests are
# of every byte of every change.
digest_of() { sed -n 's/^digest  *//p'; }
same_elsewhere() {
    local path here there
    local seeds=(seeds --from "${FROM:-1}" --count 3 --twice-every 0)
    path=$(realpath "$program") || return 1
    here=$("$path" "${seeds[@]}" 2>/dev/null | digest_of)
    there=$(cd / && env -i TZ=Pacific/Chatham LC_ALL=tr_TR.UTF-8 MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1 \
        "$path" "${seeds[@]}" --jobs 1 2>/dev/null | digest_of)
    echo "here $here, elsewhere $there"
    [[ -n $here && $here == "$there" ]]
}

check "kept plans" "$program" cases
check "seeds" "$program" seeds --from "${FROM:-1}" --count "${SEEDS:-1000}"
check "the same elsewhere" same_elsewhere
check "crash at each write" "$program" crash-table
check "spec sweep" "$program" sweep
check "mutations apply" python3 integration-tests/simulation/mutations/mutate.py --check

if [[ -n $junit ]]; then
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo "<testsuite name=\"simulation\" tests=\"${#cases[@]}\">"
        echo "<properties><property name=\"seeds\" value=\"${SEEDS:-1000}\"/></properties>"
        printf '%s\n' "${cases[@]}"
        echo "</testsuite>"
    } >"$junit"
fi
exit $failed
