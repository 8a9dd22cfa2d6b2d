#!/bin/sh
# `starswitch-hub logs` shows the last lines of a node, through the hub: of one
# that is here, that is gone, or that says more than it may; as text, whatever
# they hold.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export PYTHONDONTWRITEBYTECODE=1

logs() { # NAME ARGUMENTS...: what it prints is in NAME.out
    local name=$1 code=0
    shift
    "$bin/starswitch-hub" logs "$@" --directory "$here/h.run" \
        >"$here/$name.out" 2>"$here/$name.err" || code=$?
    echo $code >"$here/$name.code"
}
shows() { # NAME WORDS ARGUMENTS...
    local name=$1 words=$2
    shift 2
    logs "$name" "$@"
    grep -qF -- "$words" "$here/$name.out"
}
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$(cat "$here/h.pid")/status"; }

hub h --policy mean --every 10 --json
node n1
until_ 20 "n1 trains" told h node_joined n1
until_ 20 "a line of n1" shows n1.logs " INFO " n1

logs nobody nobody
ends nobody 64
said nobody "no node nobody has said anything to this hub; these have: n1" ||
    failed "who has said something is not told"
logs usage
ends usage 64

# A node may be called as an option is: behind -- that is a name.
hub_says() { # NAME COMMAND...: what it prints is in NAME.out
    local name=$1 code=0
    shift
    "$bin/starswitch-hub" "$@" >"$here/$name.out" 2>"$here/$name.err" || code=$?
    echo $code >"$here/$name.code"
}
as=-f node odd
until_ 20 "-f trains" told h node_joined -f
option_free() {
    hub_says odd.logs logs --directory "$here/h.run" -n 5 -- -f
    grep -qF " INFO " "$here/odd.logs.out"
}
until_ 20 "a line of -f" option_free
hub_says odd.pin ctl pin --directory "$here/h.run" -- -f
ends odd.pin 0
said odd.pin "-f is the winner" || failed "-f is not pinned"
hub_says odd.first ctl --directory "$here/h.run" -- unpin
ends odd.first 0
send INT odd
ends odd 0

# ---- one that follows, and one that floods ----

start follow "$bin/starswitch-hub" logs n1 -f -n 5 --directory "$here/h.run"
until_ 20 "it follows" grep -q " INFO " "$here/follow.out"
before=$(rss)
/usr/bin/python3 tests/e2e/logs.py "$port" 20000 ||
    failed "the flood did not get through"
until_ 20 "the flood's last line" shows flood.logs " INFO flood: done" flood
grep -q "lines left out" "$here/flood.logs.out" ||
    failed "what was left out is not counted"
[ "$(wc -l <"$here/flood.logs.out")" -le 20 ] || failed "more than 20 lines"
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" \
    "$here/flood.logs.out" || failed "control characters reach the terminal"
grep -qF '?[2J?]0;owned? ? evil ?31m' "$here/flood.logs.out" ||
    failed "an escape sequence is not shown as text"
logs all flood -n 128
counted=$(awk '/^\.\.\./ { n += $2; next } { n++ } END { print n }' \
    "$here/all.out")
[ "$counted" -ge 19800 ] || failed "$counted of 20002 lines are accounted for"
more=$(($(rss) - before))
[ $more -lt 32768 ] || failed "the flood takes $more KiB of the hub's memory"
until_ 10 "n1's lines are still there" shows n1.logs " INFO " n1

# ---- one that is gone ----

logs n1.before n1
send KILL n1
ends n1 137
until_ 20 "n1 is gone" told h node_lost n1
logs n1.after n1
cmp "$here/n1.before.out" "$here/n1.after.out" ||
    failed "the last lines of a node that is gone are not there"
lines=$(wc -l <"$here/follow.out")
more() { [ "$(wc -l <"$here/follow.out")" -gt "$lines" ]; }
node n1
until_ 20 "its new lines are followed" more
send TERM follow
ends follow 0
start again "$bin/starswitch-hub" logs n1 -f --directory "$here/h.run"
until_ 20 "it follows again" grep -q " INFO " "$here/again.out"
send KILL h
ends h 137
hub h --policy mean --every 10 --json
until_ 30 "n1 is with the next hub" shows n1.next " INFO hub_attached" n1
followed() { [ "$(grep -cxF -f "$here/n1.next.out" "$here/again.out")" -ge \
    "$(wc -l <"$here/n1.next.out")" ]; }
until_ 10 "all lines of the next hub are followed" followed
send INT again
ends again 0
