# Sourced by test.sh: layers of tests one after the other and side by side, each with its wall time. What begins and
# ends is told on the terminal at once, also of layers in the background, with the time that is left as far as the last
# run of the same command tells.
# `results` is the folder that gets the logs and layers.tsv: for each layer its name in the results,
# seconds, exit code, and what it is. `lasted` is the file that keeps how long the last run took.
# shellcheck shell=bash
: >"$results/layers.tsv"
declare -A lanes=()
exec 3>&1

# clock: "2:10, some 7 min left"
clock() {
    local whole
    printf '%d:%02d' "$((SECONDS / 60))" "$((SECONDS % 60))"
    whole=$(cat "${lasted:-/dev/null}" 2>/dev/null)
    if [[ -n $whole ]] && ((whole > SECONDS)); then
        printf ', some %d min left' "$(((whole - SECONDS + 59) / 60))"
    fi
}

# layer NAME WHAT COMMAND...: runs it and writes down how long it took and how it ended.
layer() {
    local name=$1 what=$2 began=$SECONDS code=0 how=well
    shift 2
    printf '\n==> %s (%s)\n' "$what" "$(clock)" >&3
    [[ -z ${in_background:-} ]] || printf '\n==> %s\n' "$what"
    "$@" || code=$?
    ((code == 0)) || how="with exit code $code"
    printf '<== %s: ended %s after %d s (%s)\n' "$what" "$how" "$((SECONDS - began))" "$(clock)" >&3
    printf '%s\t%s\t%s\t%s\n' "$name" "$((SECONDS - began))" "$code" "$what" >>"$results/layers.tsv"
    return "$code"
}

# beside LANE COMMAND...: begins it in the background, in a process group of its own.
beside() {
    local lane=$1
    shift
    set -m
    (
        in_background=1
        "$@"
    ) >"$results/$lane.log" 2>&1 </dev/null &
    set +m
    lanes[$lane]=$!
}

# ended LANE: waits for it, shows what it printed, and returns its exit code.
ended() {
    local code=0
    if kill -0 "${lanes[$1]}" 2>/dev/null; then
        printf '\n(waiting for %s: tail -f %s)\n' "$1" "$results/$1.log"
    fi
    wait "${lanes[$1]}" || code=$?
    unset "lanes[$1]"
    cat "$results/$1.log"
    return "$code"
}

# Ends what still runs in the background, as Ctrl-C does, and waits for it.
end_lanes() {
    local lane
    for lane in "${!lanes[@]}"; do
        kill -INT -- "-${lanes[$lane]}" 2>/dev/null
    done
    wait
}
trap end_lanes EXIT

# failed_layers: what did not end well, a line each.
failed_layers() { awk -F '\t' '$3 != 0 {print $4}' "$results/layers.tsv"; }
