#!/bin/sh
# Three stars, and whether what `starswitch-sim tune` chooses for them is
# within 10 % of the best of a sweep over a coarse grid. Takes some minutes.
set -eu
cd "$(dirname "$0")/.."
build=${STAR_BUILD:-build}
status=0

check() { # NAME OPTION...
    local name=$1 line ratio
    shift
    line=$("$build/bench/tune_sweep" --step-time 200ms "$@")
    printf '%s %s\n' "$name" "$line"
    ratio=${line##*\"ratio\":}
    awk -v ratio="${ratio%\}}" 'BEGIN { exit !(ratio >= 0.9) }' || {
        echo "$name: $ratio of the best, less than 0.9" >&2
        status=1
    }
}

check gigabit --nodes 4 --params 25M
check ten_gigabit --nodes 16 --params 124M --rate 1GB/s --port 1GB/s
check wifi --nodes 8 --params 10M --trace examples/wifi.trace
exit $status
