#!/bin/sh
# make demo's run, small: it reaches its goal. And Ctrl-C, which it invites,
# typed in a terminal: the run ends in good order, saved, summed up, with 130.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export MODEL=$model DATA="$data" OUT="$here/my demo" STAR_BUILD="$bin"
mkdir "$OUT" # empty, and so nobody's

GOAL=90% start well tools/demo.sh
ends well 0 100
said well "goal 90 % reached after" || failed "the goal is not told"
said well "$OUT/run.recording" || failed "what it leaves is not told"
said well "starswitch-node --hub 127.0.0.1:" ||
    failed "how nodes go on with it is not told"
[ -s "$OUT/best.safetensors" ] || failed "no best model"
grep -q '^20[0-9-]*T[0-9:]*Z INFO hub_attached: ' "$OUT/n1.log" ||
    failed "a node's log has no times"

# A goal that nobody reaches.
GOAL=0.0000000001 start stopped python3 tests/e2e/terminal.py centre_founded \
    tools/demo.sh
ends stopped 130 100
for each in "Ending the run" "run_ended" " centre  version "; do
    said stopped "$each" || failed "Ctrl-C: not a word of: $each"
done
! said stopped Terminated || failed "the shell says how it ended them"
[ -s "$OUT/current/centre.safetensors" ] || failed "Ctrl-C saves nothing"
for node in n1 n2 n3 n4; do
    grep -q " iterations in " "$OUT/$node.log" ||
        failed "$node did not end in good order"
done
echo "Ctrl-C: $(grep -ao 'centre  version [0-9]*' "$here/stopped.out")"

said stopped "and then four nodes" || failed "how it goes on is not told"
said stopped "--goal 1e-10" || failed "it goes on without its goal"

# Ctrl-C as early as it can be; and SIGTERM to all of its processes.
GOAL=0.0000000001 start early python3 tests/e2e/terminal.py "Ctrl-C stops all" \
    tools/demo.sh
ends early 130 60
GOAL=0.0000000001 start termed setsid tools/demo.sh
until_ 60 "the run is founded" said termed centre_founded
kill -TERM "-$(cat "$here/termed.pid")"
ends termed 130 60
until_ 10 "all of it has ended" sh -c "! ps -eo args | grep -F '$OUT' |
    grep -v grep | grep -q star"

# A folder of somebody else is left alone.
mkdir "$here/mine"
touch "$here/mine/thesis"
OUT=$here/mine start refused tools/demo.sh
ends refused 1 10
said refused "other files than a demo's in $here/mine/" ||
    failed "it does not say what is the matter"
[ -e "$here/mine/thesis" ] || failed "it has emptied a folder"
