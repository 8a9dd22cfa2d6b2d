#!/bin/sh
# The journal of a real run, with sockets, clocks and threads, is done again: a
# hub decides the same and sends the same, byte for byte. Also of a run that was
# gone on with; and what has been changed in a journal is found.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

sim() { "$bin/starswitch-sim" replay "$@"; }

is_same() { # NAME
    sim "$here/$1.journal" >"$here/$1.replay" 2>&1 || {
        cat "$here/$1.replay"
        failed "$1 is not the same"
    }
    grep -q "same, byte for byte" "$here/$1.replay" ||
        failed "nothing says that $1 is the same"
    sed "s/^/    $1: /" "$here/$1.replay"
}

# run NAME OPTION...: a hub and two nodes for 1,000 iterations; during the first
# 500 the hub still looks for nodes that keep a centre.
run() {
    local name=$1
    shift
    hub "$name" --every 10 --delay 2 --nodes 2 --iterations 1000 --save 300ms \
        --evaluate 200ms --model $model --data "$data" \
        --journal "$here/$name.journal" "$@"
    as=n1 node "$name-1" --step-time 3ms
    as=n2 node "$name-2" --step-time 4ms
    ends "$name-1" 0 30
    ends "$name-2" 0 30
    ends "$name" 0 30
    said "$name" " journal $here/$name.journal" ||
        failed "the hub does not say where its journal is"
}

run diloco --init tournament
is_same diloco
run async --policy async
is_same async
run judged --policy soup
is_same judged

# A hub that is killed leaves a journal without an end; one that goes on begins
# a journal of its own, with what it goes on from.
hub killed --policy mean --every 10 --save 100ms --journal "$here/h1.journal"
node n3
until_ 10 "n3 exchanges" at_least n3 applied 5
until_ 10 "the centre is saved" told killed centre_saved
send KILL killed
ends killed 137
start killed "$bin/starswitch-hub" --listen "127.0.0.1:$port" \
    --directory "$here/killed.run" --policy mean --every 10 \
    --journal "$here/h2.journal"
until_ 15 "n3 is back" told killed node_rejoined n3
goes_on 10 n3
send TERM n3
ends n3 0
send TERM killed
ends killed 0
is_same h2
code=0
sim "$here/h1.journal" >"$here/h1.replay" 2>&1 || code=$?
[ $code = 74 ] || failed "a journal without an end: $code"
grep -q "steps are the same" "$here/h1.replay" ||
    failed "nothing is said of the steps of a hub that was killed"
grep -q "breaks off\|the end is missing" "$here/h1.replay" ||
    failed "nothing says that the end is missing"

# What is cut off is refused where it breaks.
code=0
head -c 40000 "$here/diloco.journal" >"$here/cut.journal"
sim "$here/cut.journal" >"$here/cut.replay" 2>&1 || code=$?
[ $code = 74 ] || failed "a journal that was cut: $code"
grep -q "is damaged at byte" "$here/cut.replay" || failed "no byte is named"
: >"$here/empty.journal"
sim "$here/empty.journal" >"$here/empty.replay" 2>&1 &&
    failed "nothing is no journal"
grep -q "this is no journal" "$here/empty.replay" || failed "nothing is said"
echo "    what is cut off or no journal is refused"
