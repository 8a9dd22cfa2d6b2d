#!/bin/sh
# The programs of bench/ still measure something: each in its smallest size
# prints whole lines of JSON, and what they print comes on the page.
set -eu
cd "$(dirname "$0")/../.."
bin=${STAR_BUILD:-build}/bench
here=$(mktemp -d)
. bench/kit/network
finish() {
    code=$?
    trap - EXIT
    network_remove "smoke-$$"
    rm -rf "$here"
    exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# Its figures, which must be as many as said.
prints() { # LINES PROGRAM [OPTION...]
    local lines=$1 program=$2
    shift 2
    timeout 60 "$bin/$program" --rounds 1 "$@" >"$here/new"
    python3 -c 'import json, sys
for line in sys.stdin:
    assert "bench" in json.loads(line)' <"$here/new"
    [ "$(wc -l <"$here/new")" = "$lines" ]
    cat "$here/new" >>"$here/figures"
}

prints 1 star_round --nodes 2 --megabytes 1
prints 1 star_round --nodes 3 --megabytes 2 --against f32 --lossy \
    --name star_best -- --policy best
prints 1 goodput --seconds 0.1
prints 1 control_rtt --megabytes 1 --seconds 0.1
prints 2 training_thread --megabytes 1 --step-time 0.01
prints 1 port_busy --nodes 2 --megabytes 1 --seconds 0.2
prints 1 simulated --nodes 2 --millions 1
prints 1 end_to_end --nodes 2 --megabytes 1 --step-time 0.01 --seconds 0.5 \
    --bytes 1e9
echo "each program prints its figures as JSON"

if network_make "smoke-$$" 2 1gbit 2>"$here/said"; then
    prints 1 star_round --network "smoke-$$" --megabytes 1 --bytes 1e8
    echo "a star on a network of its own"
else
    echo "skipped: network namespaces need root: $(cat "$here/said")"
fi

echo "- Machine: this one" >"$here/facts"
awk -f bench/performance.awk "$here/facts" bench/targets.txt \
    "$here/figures" >"$here/page"
grep -q "^| P1 | a round, .*N = 2, S = 1 MiB | [0-9.]* | <= 1.15 | " \
    "$here/page"
grep -q "^### star_best" "$here/page"
echo "the page has the target and the figure"

refused() {
    if "$bin/$@" 2>"$here/said"; then
        echo "FAILED: $*: not refused"
        exit 1
    fi
}
refused star_round --nodes none
grep -q -- "--nodes: its value cannot be right" "$here/said"
refused goodput --nothing
echo "wrong options are refused"
