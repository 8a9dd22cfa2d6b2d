#!/bin/sh
# How long does a scrape of /metrics take with NODES nodes (256)? A real hub,
# and nodes that have joined and say PING (bench/scrape.c). One JSON line.
set -eu
cd "$(dirname "$0")/.."
. tests/e2e/common

hub h --policy mean --gate async --every 1 --delay 1 --chunk 256KiB \
    --page "127.0.0.1:$((port + 7))"
timeout 90 "$bin/bench/scrape" --port "$port" --page "$((port + 7))" \
    --nodes "${NODES:-256}" --scrapes "${SCRAPES:-200}"
