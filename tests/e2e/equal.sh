#!/bin/sh
# Two runs of two nodes with --every 1 --delay 0 --exchange gradient end with
# the same parameters, byte for byte, whatever the two cores were doing.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# Nodes train alone until the hub has taken them in, which would make a run
# its own. So the first step takes so long that they are in when it ends, and
# a run in which one of them was not is told apart and made again. The second
# one takes the parameters of the first at the end of that step, so it has one
# gradient less to offer.
run() { # NAME
    hub "$1" --policy mean --init hub --every 1 --delay 0 \
        --exchange gradient --outer-lr 1 --nodes 2
    sleep 4 # for 1.5 s it looks for nodes that keep a centre
    as=n1 node "$1-1" --step-time 400ms --iterations 20
    until_ 10 "the first node joins" told "$1" centre_founded
    as=n2 node "$1-2" --step-time 400ms --iterations 20
    ends "$1-1" 0 30
    ends "$1-2" 0 30
    send TERM "$1"
    ends "$1" 0
    [ "$(count "$1-1" offered)" = 20 ] && [ "$(count "$1-2" offered)" = 19 ]
}

# The parameters at the end: those of the file's last bytes.
values() { # NAME
    tail -c 652 "$here/$1.run/current/centre.safetensors" >"$here/$1.bytes"
}

# A process that is late by a step makes a run its own: a few are made.
alike= former=
for try in 1 2 3 4 5 6; do
    run "run$try" || continue
    values "run$try"
    for other in $former; do
        ! cmp -s "$here/$other.bytes" "$here/run$try.bytes" || alike=$other
    done
    former="$former run$try"
    [ -z "$alike" ] || break
done
[ "$alike" ] || failed "no two of these runs are equal:$former"
echo "    163 parameters, 20 rounds, and they begin with" \
    "$(od -An -tx4 -N 16 "$here/$alike.bytes")"
