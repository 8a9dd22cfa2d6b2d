#!/bin/sh
# `starswitch-hub top` shows a hub that runs: in a terminal, which may be
# resized, have no colours, and lose the hub for a while; and through a pipe, as
# ssh without a terminal is one, in lines without a single escape.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

start nobody "$bin/starswitch-hub" top --directory "$here/h.run"
ends nobody 69 10
said nobody "no hub is running in" || failed "top does not say that none runs"

hub h --policy mean --every 10 --json
node n1
until_ 20 "n1 trains" told h node_joined n1

# ---- in a terminal ----

mkfifo "$here/orders"
watching() { # NAME COMMAND...: top.py, which obeys `order`
    local name=$1
    shift
    (
        rm -f "$here/$name.code"
        code=0
        python3 tests/e2e/top.py "$@" <"$here/orders" \
            >"$here/$name.out" 2>"$here/$name.err" || code=$?
        echo $code >"$here/$name.code"
    ) &
    exec 3>"$here/orders"
    watcher=$name
}
order() {
    local tries=0
    echo "$*" >&3
    until_ 40 "$watcher: $*" answered "$*"
    said "$watcher" "done $*" || failed "$watcher: $*"
}
answered() { said "$watcher" "done $*" || is_over "$watcher"; }

watching t1 "$bin/starswitch-hub" top --directory "$here/h.run"
order size 100 24
order shows n1
order colour yes
order size 40 12
order size 160 50
send KILL h
ends h 137
order shows the hub is away
order size 30 10
hub h --policy mean --every 10 --json
order size 100 24
order shows n1
order key q
order ends
exec 3>&-
ends t1 0

watching t2 env NO_COLOR=1 "$bin/starswitch-hub" top --directory "$here/h.run"
order size 100 24
order shows n1
order colour no
order key $(printf '\003')
order ends
exec 3>&-
ends t2 0

# A terminal that cannot be redrawn has lines, and the same keys.
watching t3 env TERM=dumb "$bin/starswitch-hub" top --directory "$here/h.run"
order says version=
order key q
order ends
exec 3>&-
ends t3 0

# ---- through pipes ----

mkfifo "$here/end"
start pipe cat "$here/end"
start piped sh -c "TERM=xterm exec '$bin/starswitch-hub' top --directory \
    '$here/h.run' >'$here/end'"
until_ 20 "a line about the run" said pipe "version="
start lines "$bin/starswitch-hub" top --directory "$here/h.run" --json
until_ 20 "a line of JSON" said lines '"nodes":[{"name":"n1"'
python3 -c 'import json, sys; json.loads(open(sys.argv[1]).readline())' \
    "$here/lines.out" || failed "no JSON"
send KILL h
ends h 137
until_ 20 "the pipe tells that the hub is away" said pipe "hub=away"
until_ 20 "so does JSON" said lines '"event":"away"'
! grep -q "$(printf '\033')" "$here/pipe.out" "$here/lines.out" ||
    failed "there are escapes in a pipe"
send INT lines
ends lines 0
send KILL pipe
ends pipe 137
ends piped 141 10 # nobody reads it any more
# Who reads goes away.
timeout 20 "$bin/starswitch-hub" top --directory "$here/h.run" \
    2>"$here/none.err" | head -n 1 >/dev/null || :
send TERM n1
ends n1 0 30
