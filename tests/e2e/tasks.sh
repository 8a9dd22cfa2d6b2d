#!/bin/sh
# EF-8: real nodes train on tasks until all epochs are done, although a node is
# killed and the hub is killed and started again. EF-1: so does a trainer that
# is a model and its gradient, and nothing else. EF-7: both times are told.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

run() { # MORE OPTIONS
    hub h --policy mean --every 5 --delay 2 --save 200ms --tasks 20 \
        --epochs 20 --task-time 5s --json "$@"
}
status() { # HUB FIELD: of the last line about the run
    grep '"event":"status"' "$here/$1.out" | tail -n 1 |
        sed -n "s/.*[{,]\"$2\":\([^,}]*\).*/\1/p"
}

run
node n1
node n2
goes_on 10 n1 n2
send KILL n2
until_ 10 "the hub sees that n2 is lost" told h node_lost n2
node n2
until_ 20 "n2 is back" told h node_rejoined n2
send KILL h
ends h 137
rm "$here/h.err"
run
until_ 20 "n1 is back" told h node_rejoined n1
ends h 0 60
ends n1 0
ends n2 0
said h "20 epochs done" || failed "the run ended for another reason"
[ "$(status h epoch)" = 20 ] || failed "epoch $(status h epoch)"
awk -v pending="$(status h pending)" -v training="$(status h training)" \
    'BEGIN { exit !(pending > 0 && training > 0) }' || failed "no times"
echo "    after it was started again: pending $(status h pending) s, training" \
    "$(status h training) s"

hub own --policy mean --every 5 --delay 2 --tasks 50 --epochs 2 --json
for name in o1 o2; do
    start $name "$bin/starswitch-node" --hub "$hub_address:$port" \
        --name $name --trainer "$bin/examples/blobs_trainer.so" \
        --step-time 2ms --json
done
ends own 0 60
ends o1 0
ends o2 0
said own "2 epochs done" || failed "the run ended for another reason"
echo "    a trainer of somebody's own: 2 epochs of 50 tasks in" \
    "$(status own training) s"
