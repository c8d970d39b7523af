#!/usr/bin/env bash
# Builds the fuzz targets (libFuzzer, ASan, UBSan) and runs each for FUZZ_SECONDS (60), two at a time:
# all of them, or those named. What was found interesting is kept in build/fuzz/corpus and used by the
# next run; inputs that break a target are kept in build/fuzz/crashes, and make this fail.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

seconds=${FUZZ_SECONDS:-60}
folder=build/fuzz
seeds=integration-tests/fuzz/seeds
if (($# > 0)); then
    targets=("$@")
else
    mapfile -t targets < <(find "$seeds" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
fi

log=$(mktemp)
if ! cmake --preset fuzz >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "fuzz: configuring preset 'fuzz' failed, see above" >&2
    exit 1
fi
rm -f "$log"
cmake --build --preset fuzz -j "${JOBS:-$(nproc)}" --target "${targets[@]/#/fuzz_}" || exit 1
mkdir -p "$folder/crashes" "$folder/logs"

run_one() {
    local target=$1 dictionary=()
    mkdir -p "$folder/corpus/$target"
    [[ -f $seeds/$target.dict ]] && dictionary=("-dict=$seeds/$target.dict")
    "$folder/integration-tests/fuzz/fuzz_$target" "${dictionary[@]}" -max_total_time="$seconds" \
        -max_len=4096 -timeout=25 -rss_limit_mb=2560 -print_final_stats=1 \
        -artifact_prefix="$folder/crashes/$target-" \
        "$folder/corpus/$target" "$seeds/$target" >"$folder/logs/$target.log" 2>&1
    echo $? >"$folder/logs/$target.rc"
    echo "fuzz: $target is done" >&2
}
export -f run_one
export folder seeds seconds
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'run_one "$1"' _ {}

failed=0
printf '\n%-18s %8s %12s %8s %8s %9s  %s\n' target seconds executions exec/s edges features result
for target in "${targets[@]}"; do
    log=$folder/logs/$target.log
    result=ok
    if [[ $(cat "$folder/logs/$target.rc") != 0 ]]; then
        failed=1
        result="BROKEN, see $log"
    fi
    stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -n 1; }
    runs=$(stat number_of_executed_units)
    took=$(sed -n 's/^Done .* in \([0-9]*\) second.*/\1/p' "$log" | tail -n 1)
    read -r edges features < <(sed -n 's/.*cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' "$log" | tail -n 1)
    printf '%-18s %8s %12s %8s %8s %9s  %s\n' "$target" "${took:--}" "${runs:--}" \
        "$(stat average_exec_per_sec)" "${edges:--}" "${features:--}" "$result"
done
exit $failed
