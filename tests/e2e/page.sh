#!/bin/sh
# The page of a real run in a real browser: star, curves and table; a node that
# joins, one that is killed and a hub that is restarted within two seconds; the
# keyboard alone; no request but to the hub, and no complaint.
# PICTURES=FOLDER keeps pictures of it, light and dark.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

find_browser

run() {
    hub h --policy mean --every 10 --delay 2 --page "127.0.0.1:$((port + 7))"
}
mkdir "$here/steps"
comes_to() { [ -e "$here/steps/want_$1" ] || is_over page; }
wanted() { # STEP
    until_ 90 "the page comes to $1" comes_to "$1"
    [ -e "$here/steps/want_$1" ] || failed "the page ends before $1"
}
did() { touch "$here/steps/did_$1"; }

run
node n1
node n2
as='<img src=x onerror=top.name=1>' node n0
until_ 20 "nodes train" at_least n0 applied 3
start page python3 tests/e2e/page.py "$browser" "$((port + 7))" "$here/steps" \
    ${PICTURES:+"$PICTURES"}
wanted join
node n3
until_ 20 "n3 joins" told h node_joined n3
did join
wanted kill
send KILL n2
until_ 20 "n2 is lost" told h node_lost n2
did kill
wanted end
send KILL h
did end
ends h 137
wanted begin
run
until_ 20 "the hub is back" test -S "$here/h.run/control.sock"
did begin
wanted over
end_run h
did over
ends h 0
ends page 0 90
cat "$here/page.out"
