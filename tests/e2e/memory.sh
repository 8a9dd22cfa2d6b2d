#!/bin/sh
# With malloc failing at each of the library's allocations in turn, once and
# from there on, a host never ends: it trains on alone and is told.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
cc -std=gnu11 -Wall -Iinclude -o "$here/host" tests/host/memory.c \
    -L"$bin" -lstarswitch "$bin/tests/preload/memory.so"
hub h --policy mean --every 5
export LD_LIBRARY_PATH="$bin" LD_PRELOAD="$bin/tests/preload/memory.so"
start host "$here/host" "${STAR_ONCE:-220}" "${STAR_EVER:-190}"
unset LD_PRELOAD
ends host 0 120
echo "    $(cat "$here/host.out")"
send TERM h
ends h 0
