#!/bin/sh
# 2,000 nodes, each with a key of its own, join one hub and exchange; one whose
# key the hub does not know is refused.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# It ends only once all have attached and exchanged and the stranger is refused.
start crowd timeout 180 "$bin/bench/many_nodes" --keys --joins 2000 \
    --port "$port" --nodes 8 --rounds 1 --pairs 1
ends crowd 0 185
is_ crowd attached 2000 || failed "$(field crowd attached) nodes are attached"
[ "$(count crowd refused)" -ge 1 ] || failed "a stranger is not refused"
