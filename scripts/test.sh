#!/usr/bin/env bash
# The tests, as two commands:
#   scripts/test.sh        what a newcomer and a reviewer run: unit tests, the core of the simulation, the launcher, each
#                          promise of README and user guide once on a real control plane, the chart, the interface's
#                          document, its Python client, the page
#   scripts/test.sh all    the rest: all scenarios, the whole simulation with crash table and sweep, the example
#                          scheduler, the images, the gate of the benchmark, and, where their parts are built, some
#                          minutes on real nodes
# Each ends with the time and the count of each layer, and one line that counts all.
#
# Layers that need different things run side by side: what has control planes waits most of the time, each on its own;
# what computes all the time (the simulation, the page) gets the rest of the processors.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

if [[ ${PRESET:-release} != release ]]; then
    echo "test: everything is tested as it is shipped, which is the preset release. For another one:" \
        "make unit PRESET=$PRESET, make simulation PRESET=$PRESET" >&2
    exit 2
fi
command=${1:-test}
case $command in
    test | all) ;;
    *)
        echo "usage: scripts/test.sh [all]" >&2
        exit 2
        ;;
esac
results=$PWD/build/test-results/$command
# shellcheck disable=SC2034
lasted=$PWD/build/test-results/$command.seconds
rm -rf "$results"
mkdir -p "$results"
source scripts/layers.sh
failed=0

set_up() {
    scripts/setup.sh &&
        scripts/setup.sh integration-tests/chart/debian-packages.txt integration-tests/images/debian-packages.txt \
            integration-tests/page/debian-packages.txt
}

# shard FILE NUMBER: a third of the tests in a program. It says nothing but what fails.
shard() {
    local name
    name=$(basename "$1")-$2
    GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$2 GTEST_OUTPUT=xml:$results/unit/$name.xml timeout 900 "$1" --gtest_brief=1 \
        >"$results/unit/$name.log" 2>&1 && return
    cat "$results/unit/$name.log"
    echo "$1, a third of its tests (GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$2): failed"
    return 1
}

# `make unit` begins a process for each test. Most of them cost less than that, so here a process runs many.
unit_tests() {
    local bad=0
    mkdir -p "$results/unit"
    export -f shard
    export results
    find build/release -name 'esi_*_tests' -type f -executable -print0 | sort -z |
        xargs -0 -I{} printf '%s\0' {} 0 {} 1 {} 2 | xargs -0 -n 2 -P "$(nproc)" bash -c 'shard "$@"' shard || bad=1
    ctest --test-dir build/release -j "$(nproc)" --no-tests=error --output-on-failure -E '^esi_' \
        --output-junit "$results/unit/others.xml" | grep -vE '^ *Start |Passed +[0-9.]+ sec$'
    ((PIPESTATUS[0] == 0)) || bad=1
    return "$bad"
}

launcher_tests() {
    local go
    go=$(integration-tests/cluster/go.sh) || return 1
    (cd integration-tests/cluster &&
        CGO_ENABLED=0 GOTOOLCHAIN=local "$go" test -trimpath -buildvcs=false -json ./launcher ./sparkstub ./flinkstub) \
        >"$results/launcher.json"
}

# What computes all the time, one after the other, behind those that react.
computing() {
    renice -n 5 "$BASHPID" >/dev/null
    "computing_of_$command"
}

computing_of_test() {
    layer simulation "simulation: kept plans, 250 seeds, crashes in scenarios that differ" \
        env CORE=1 SEEDS=250 scripts/simulate.sh "$results/simulation.xml"
}

computing_of_all() {
    layer simulation "simulation: virtual time, every fault" \
        env SIMULATION_SECONDS="${SIMULATION_SECONDS-900}" scripts/simulate.sh "$results/simulation.xml"
}

# What needs no control plane and is in `make test` only, one after the other.
without_cluster() {
    local bad=0 GLOBIGNORE="integration-tests/page/tests/large.test.mjs"
    layer unit "unit tests" unit_tests || bad=1
    layer client "the Python client of the interface" \
        examples/clients/python/tests/run.sh --junit-xml="$results/client.xml" || bad=1
    layer page "the page in a browser" integration-tests/page/run.sh --junit-xml="$results/page.xml" \
        integration-tests/page/tests/*.test.mjs || bad=1
    return "$bad"
}

# What is short beside the scenarios, one after the other: what needs a control plane has its own.
beside_scenarios_of_test() {
    layer chart "the chart on a real control plane: values, rights, installations" \
        integration-tests/chart/run.sh -m "not more" --junit-xml="$results/chart.xml"
}

beside_scenarios_of_all() {
    local bad=0
    layer colocation "unit tests of the example scheduler" \
        examples/schedulers/colocation/tests/run.sh --junit-xml="$results/colocation.xml" || bad=1
    layer chart "the chart on a real control plane: metrics, alerts, claims, older releases, operators that run" \
        integration-tests/chart/run.sh -m more --junit-xml="$results/chart.xml" || bad=1
    layer page "the page in a browser: 5,000 slots" integration-tests/page/run.sh --junit-xml="$results/page.xml" \
        integration-tests/page/tests/large.test.mjs || bad=1
    if layer "" "build the images" scripts/images.sh; then
        layer images "tests of the images" integration-tests/images/run.sh --junit-xml="$results/images.xml" || bad=1
    else
        bad=1
    fi
    return "$bad"
}

scenarios_of_test() {
    layer launcher "unit tests of the control plane's launcher" launcher_tests || failed=1
    layer scenarios "scenarios on real control planes: each promise once" \
        env ESI_WORKERS=2 integration-tests/scenarios/run.sh -m promise --junit-xml="$results/scenarios.xml" || failed=1
    layer interface "the interface's document and generated requests" \
        integration-tests/interface/run.sh --requests 100 --junit-xml="$results/interface.xml" || failed=1
}

scenarios_of_all() {
    layer scenarios "scenarios on real control planes" \
        integration-tests/scenarios/run.sh --junit-xml="$results/scenarios.xml" || failed=1
}

layer "" "setup" set_up || exit 1
# Beside the compilers of C++: most of a first time is downloads and links, which leave a core idle.
beside control-plane layer "" "build the control plane (minutes, once)" integration-tests/cluster/build.sh
layer "" "build the operators" scripts/build.sh release || exit 1
if [[ $command == test ]]; then
    beside unit without_cluster
fi
beside computing computing
have_control_plane=0
if ended control-plane; then
    have_control_plane=1
    beside short "beside_scenarios_of_$command"
    "scenarios_of_$command"
    ended short || failed=1
else
    failed=1
fi
if [[ $command == test ]]; then
    ended unit || failed=1
fi
ended computing || failed=1
if [[ $command == all ]] && ((have_control_plane)); then
    # Alone on the machine: its ratios of times would suffer from others.
    layer bench "gate of the benchmark: counts and ratios" \
        integration-tests/bench/run.sh gate --junit-xml="$results/bench.xml" || failed=1
    layer nodes "real nodes: an installation, a Spark job, a Flink job (skipped where \`make nodes\` was not run)" \
        integration-tests/node/run.sh --if-built -m quick --junit-xml="$results/nodes.xml" || failed=1
fi

echo
python3 scripts/count_results.py "$results" "$command" || failed=1
echo "wall time: $SECONDS s"
failed_layers | sed 's/^/failed: /' >&2
((failed)) || echo "$SECONDS" >"$lasted"
exit "$failed"
