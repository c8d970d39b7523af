#!/usr/bin/env bash
# The simulation as a test: kept plans, seeds, plans of gangs, the table of crash points, the sweep over all specs,
# preview and explain in some states of seeds, and whether every kept mutation still applies. Progress and summaries go to the terminal.
#   SEEDS=1000 GANGS=600 FROM=1 STATES=200 scripts/simulate.sh [JUNIT-FILE]
# With SIMULATION_SECONDS=n the seeds are run in parts of a quarter, after all else, and no part begins when
# n seconds are over; the first one always does. How many were run is in the JUnit file.
# With CORE=1 the kept plans, seeds, and crashes in scenarios that differ, and nothing else: what `make test` runs.
# ESI_SIMULATION names another program than that of the preset.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
junit=${1:-}
program=${ESI_SIMULATION:-build/${PRESET:-release}/integration-tests/simulation/esi-simulation}
seeds=${SEEDS:-1000} from=${FROM:-1}
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
    local three=(seeds --from "$from" --count 3 --twice-every 0)
    path=$(realpath "$program") || return 1
    here=$("$path" "${three[@]}" 2>/dev/null | digest_of)
    there=$(cd / && env -i TZ=Pacific/Chatham LC_ALL=tr_TR.UTF-8 MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1 \
        "$path" "${three[@]}" --jobs 1 2>/dev/null | digest_of)
    echo "here $here, elsewhere $there"
    [[ -n $here && $here == "$there" ]]
}

# run_seeds: all at once, or in parts until the time is over; `done_seeds` is how many were run.
done_seeds=0
run_seeds() {
    local part=$seeds count
    if [[ -n ${SIMULATION_SECONDS:-} ]]; then
        part=$(((seeds + 3) / 4))
    fi
    while ((done_seeds < seeds)); do
        if ((done_seeds > 0 && SECONDS >= SIMULATION_SECONDS)); then
            echo "$SECONDS s are over: $done_seeds of $seeds seeds were run"
            return
        fi
        count=$((seeds - done_seeds < part ? seeds - done_seeds : part))
        "$program" seeds --from "$((from + done_seeds))" --count "$count" || return
        done_seeds=$((done_seeds + count))
    done
}

crash_some() {
    local scenario
    for scenario in strict "flink cancelled" "claims in turn" gangs; do
        "$program" crash-table --scenario "$scenario" || return
    done
}

check "kept plans" "$program" cases
check "the same elsewhere" same_elsewhere
if [[ -n ${CORE:-} ]]; then
    check "crash at each write of some scenarios" crash_some
else
    check "crash at each write" "$program" crash-table
    check "spec sweep" "$program" sweep
    check "preview and explain" "$program" foresee --from "$from" --count "${STATES:-200}"
    check "gangs" "$program" gangs --from "$from" --count "${GANGS:-600}"
    check "mutations apply" python3 integration-tests/simulation/mutations/mutate.py --check
fi
check "seeds" run_seeds

if [[ -n $junit ]]; then
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo "<testsuite name=\"simulation\" tests=\"${#cases[@]}\">"
        echo "<properties><property name=\"seeds\" value=\"$done_seeds\"/></properties>"
        printf '%s\n' "${cases[@]}"
        echo "</testsuite>"
    } >"$junit"
fi
exit $failed
