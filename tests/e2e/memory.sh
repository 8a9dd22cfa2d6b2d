#!/bin/sh
# With malloc failing at the library's allocations in turn, at one of them and
# from there on, a host never ends and never waits: it trains on alone, is told,
# and takes part again once there is memory. `long`: three times over.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
cc -std=gnu11 -Wall -Iinclude -o "$here/host" tests/host/memory.c \
    -L"$bin" -lstarswitch "$bin/tests/preload/memory.so"
hub h --policy mean --every 5
hosts=4 times=1
[ "${1:-}" != long ] || times=3
for i in $(seq $hosts); do
    LD_LIBRARY_PATH="$bin" LD_PRELOAD="$bin/tests/preload/memory.so" \
        start "host$i" "$here/host" "host$i" \
        "$i" $hosts "${STAR_LAST:-300}" $times
done
for i in $(seq $hosts); do
    ends "host$i" 0 300
    echo "    $(cat "$here/host$i.out")"
done
send TERM h
ends h 0
