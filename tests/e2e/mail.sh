#!/bin/sh
# AP-12: peers send each other messages through the hub, round a ring and from
# all to all, and find every number as it was sent.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
export LD_LIBRARY_PATH="$bin"

run() { # NAME PEERS INTS
    local i from
    from=$(now)
    for i in $(seq "$2"); do
        start "$1-$i" "$bin/examples/mail" "$1-$i" "$2" "$3" "$1"
    done
    for i in $(seq "$2"); do
        ends "$1-$i" 0 60
    done
    echo "    $(cat "$here/$1-1.out"), in $(($(now) - from))0 ms"
}

hub h --policy mean
run ring 4 "${STAR_INTS:-3e6}"
run all 4 "${STAR_INTS:-3e6}"
send TERM h
ends h 0
