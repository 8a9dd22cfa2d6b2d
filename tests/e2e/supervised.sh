#!/bin/sh
# A hub with --supervise that crashes is back by itself within a second or so,
# and its node goes on from the version that was saved; signals reach it, and
# it ends as the hub ends. When the watching process is killed, so is the hub.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

child() { # of the process that was started
    local pid
    pid=$(cat "$here/h.pid")
    tr -d ' ' <"/proc/$pid/task/$pid/children"
}
is_other() { # PID: there is a child, and not this one
    local now
    now=$(child)
    [ -n "$now" ] && [ "$now" != "$1" ]
}

hub h --supervise --policy mean --save 100ms --course "$here/h.course" \
    --record "$here/h.rec" --journal "$here/h.journal"
node n1
goes_on 20 n1
for signal in ABRT SEGV KILL; do
    before=$(child)
    kill -$signal "$before"
    until_ 10 "another hub after SIG$signal" is_other "$before"
    goes_on 20 n1
done
said h "crashed" || failed "the crash is not said"
# What each of the four hubs has written is there.
for file in course rec journal; do
    for number in "" .1 .2 .3; do
        [ -s "$here/h.$file$number" ] || failed "no h.$file$number"
    done
done

# A signal to the process that was started reaches the hub.
rm -f "$here/h.run/state.json"
send USR1 h
until_ 10 "state.json" [ -s "$here/h.run/state.json" ]

hub=$(child)
send KILL h
until_ 10 "the hub dies with who watches it" [ ! -d "/proc/$hub" ]
until_ 5 "its code" is_over h

hub h --supervise --policy mean
goes_on 20 n1
send TERM h
until_ 20 "it ends" is_over h
code=$(cat "$here/h.code")
[ "$code" -lt 128 ] || failed "it ended with $code"
