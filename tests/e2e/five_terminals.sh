#!/bin/sh
# A hub and its nodes by hand, in five terminals: nodes come first, come later,
# are killed, stopped and asked to leave; the hub is killed and started again.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

run() { # MORE OPTIONS
    hub h --policy mean --every 20 --delay 4 --save 300ms "$@"
}

# A node without a hub trains, and says so.
node n1
until_ 10 "n1 trains alone" at_least n1 iteration 50
is_ n1 attached false || failed "n1 says that it is attached"
alone() { field n1 state | grep -q "^training alone; .*nothing listens"; }
until_ 10 "n1 says that it is alone, and why" alone

run
until_ 10 "n1 joins the hub that it waited for" told h node_joined n1
for name in n2 n3 n4; do
    node $name
done
for name in n2 n3 n4; do
    until_ 10 "$name joins" told h node_joined $name
done
goes_on 10 n1 n2 n3 n4
node n5
until_ 10 "a fifth node joins" told h node_joined n5
goes_on 10 n1 n5
echo "five nodes are there"

send KILL n2
until_ 10 "the hub sees that n2 is lost" told h node_lost n2
goes_on 10 n1 n3 n4 n5
echo "one was killed, the others go on"

send STOP n3
until_ 10 "n3 is shown as silent" told h node_silent n3
goes_on 10 n1 n4 n5
send CONT n3
until_ 10 "n3 is back" told h node_back n3
goes_on 10 n1 n3
echo "one was stopped, the others went on, and it came back"

send TERM n4
ends n4 0
until_ 10 "n4 has left" told h node_left n4
last=$(($(count n4 offered) + 1))
merged() { # NODE: its last exchange in the centre that was saved
    sed -n "s/^node .* \([0-9]*\) [0-9]* $1\$/\1/p" "$here/h.run/current/state"
}
is_merged() { [ "$(merged "$1")" = "$2" ]; }
until_ 10 "the last progress of n4, exchange $last, is in the centre" \
    is_merged n4 $last
echo "one has left, and its last progress counts"

send KILL h
ends h 137
saved() { metadata "$here/h.run/current/centre.safetensors" version; }
version=$(saved)
[ "$version" -gt 5 ] || failed "version $version was saved"
for name in n1 n3 n5; do
    until_ 10 "$name trains on alone" is_ $name attached false
done
run
for name in n1 n3 n5; do
    until_ 15 "$name is back at the hub" told h node_rejoined $name
done
said h "at version $version" || failed "it does not go on from $version"
goes_on 10 n1 n3 n5
later() { [ "$(saved)" -gt "$version" ]; }
until_ 10 "a version after $version is saved" later
never_paused n1
never_paused n5
echo "the hub was killed at version $version and goes on, and nobody paused"

end_run h
for name in n1 n3 n5 h; do
    ends $name 0
done
! told h node_lost n1 || failed "a node that left with the hub is called lost"
