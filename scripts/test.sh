#!/usr/bin/env bash
# Everything that must pass: unit tests of the C++ code, the simulation, the images, unit tests of the
# cluster launcher, the scenarios with the real binaries on a real control plane, the chart, and, where
# their parts are built, some minutes on real nodes. Ends with one line that counts.
set -uo pipefail
cd "$(dirname "$0")/.."

if [[ ${PRESET:-release} != release ]]; then
    echo "test: everything is tested as it is shipped, which is the preset release. For another one:" \
        "make unit PRESET=$PRESET, make simulation PRESET=$PRESET" >&2
    exit 2
fi
started=$SECONDS
results=build/test-results
rm -rf "$results"
mkdir -p "$results"
failed_steps=()

step() {  # step NAME COMMAND...: runs it, remembers a failure, goes on
    local name=$1
    shift
    echo
    echo "==> $name"
    if ! "$@"; then
        failed_steps+=("$name")
        return 1
    fi
}

unit_tests() {
    ctest --test-dir build/release -j "$(nproc)" --no-tests=error --output-on-failure \
        --output-junit "$PWD/$results/unit.xml" | grep -vE '^ *Start |Passed +[0-9.]+ sec$'
    return "${PIPESTATUS[0]}"
}

# ended PID LOG: waits for a step that was begun before, and shows what it said.
ended() {
    local code=0
    wait "$1" || code=$?
    cat "$2"
    return "$code"
}

launcher_tests() {
    local go
    go=$(integration-tests/cluster/go.sh) || return 1
    (cd integration-tests/cluster &&
        CGO_ENABLED=0 GOTOOLCHAIN=local "$go" test -trimpath -buildvcs=false -json ./launcher ./sparkstub ./flinkstub) \
        >"$results/launcher.json"
}

step "setup" scripts/setup.sh || exit 1
step "build the operators" scripts/build.sh release || exit 1
step "unit tests" unit_tests
step "simulation: virtual time, every fault" scripts/simulate.sh "$PWD/$results/simulation.xml"
step "unit tests of the example scheduler" \
    examples/schedulers/colocation/tests/run.sh --junit-xml="$PWD/$results/colocation.xml"
if step "build the images" scripts/images.sh; then
    step "tests of the images" integration-tests/images/run.sh --junit-xml="$PWD/$results/images.xml"
fi
if step "build the control plane (minutes, once)" integration-tests/cluster/build.sh; then
    step "unit tests of the control plane's launcher" launcher_tests
    # Scenarios wait most of the time, so the chart has a control plane of its own beside them.
    integration-tests/chart/run.sh --junit-xml="$PWD/$results/chart.xml" >"$results/chart.log" 2>&1 &
    chart=$!
    trap 'kill "$chart" 2>/dev/null' EXIT
    step "scenarios on the real control plane" \
        integration-tests/scenarios/run.sh --junit-xml="$PWD/$results/scenarios.xml"
    step "the chart on a real control plane (beside the scenarios)" ended "$chart" "$results/chart.log"
    trap - EXIT
    step "real nodes: an installation, a Spark job, a Flink job (skipped where \`make nodes\` was not run)" \
        integration-tests/node/run.sh --if-built -m quick --junit-xml="$PWD/$results/nodes.xml"
fi

echo
python3 scripts/count_results.py "$results"
counted=$?
echo "wall time: $((SECONDS - started)) s"
if ((${#failed_steps[@]} > 0)); then
    printf 'failed step: %s\n' "${failed_steps[@]}" >&2
    exit 1
fi
exit $counted
