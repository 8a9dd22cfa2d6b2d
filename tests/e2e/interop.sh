#!/bin/sh
# What stands in docs/protocol.md and docs/codecs.md is enough for another
# implementation: one in Python, tests/interop. It founds runs, trains beside
# real nodes, leaves, is killed, gives back a centre that the hub has lost; all
# count, and what the centre holds is worked out by hand.
#
#     tests/e2e/interop.sh         70 rounds, 2 kills of the node, 1 of the hub
#     tests/e2e/interop.sh long    1000, 20 and 20, and more policies
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export PYTHONDONTWRITEBYTECODE=1 XDG_CONFIG_HOME="$here/config"
# The system's, whose packages tools/packages names.
python=/usr/bin/python3
rounds=70 kills=2 hub_kills=1 limit=40
[ "${1:-}" != long ] || rounds=1000 kills=20 hub_kills=20 limit=400

# ---- vectors ----

$python tests/interop/vectors.py || failed "the vectors are not as documented"

# ---- counting nodes ----

# other NAME COORDINATE [OPTION...]: the one in Python.
other() {
    local name=$1
    shift
    start "$name" $python tests/interop/count.py "$port" "$name" "$@" \
        --folder "$here" --pace 0.004
}

# real NAME COORDINATE [OPTION...]
real() {
    local name=$1 coordinate=$2
    shift 2
    start "$name" "$bin/starswitch-node" --hub "127.0.0.1:$port" \
        --name "$name" --trainer "$bin/tests/preload/counting_trainer.so" \
        --model "x:$coordinate,$here/$name.steps" --step-time 4ms --json "$@"
}

# How many lines of its log have this; rounds that it has a result of.
logged() { cat "$here/$1.log" 2>/dev/null | grep -cF "$2" || :; } # NAME WORDS
results() { logged "$1" '"result"'; }                             # NAME
has_results() { [ "$(results "$1")" -ge "$2" ]; }
more_results() { # NAME NUMBER SECONDS
    until_ "$3" "$1 goes on" has_results "$1" $(($(results "$1") + $2))
}

# leaves NAME: it makes its last offer, and is told what became of it.
leaves() {
    send TERM "$1"
    ends "$1" 0 30
}

judge() { # HUB NAME...
    local hub=$1
    shift
    is_over "$hub" || send TERM "$hub"
    ends "$hub" 0 30
    $python tests/interop/judge.py "$here" \
        "$here/$hub.run/current/centre.safetensors" "$@" ||
        failed "the centre is not what was counted"
}

with="--policy mean --init hub --every 12 --delay 6 --chunk 4KiB --save 1s"

# keyed NAME: a hub with keys, and the key for nodes, which enrols.
keyed() {
    start "keys-$1" "$bin/starswitch-hub" keygen "$here/$1.run" \
        --listen "127.0.0.1:$port"
    ends "keys-$1" 0 10
    line=$(cat "$here/$1.run/keys/invitation")
    # shellcheck disable=SC2086
    hub "$1" --keys "$here/$1.run/keys" --nodes 3 $with
}

# ---- beside two real nodes, with keys, enrolled by the line ----

keyed a
other p 0 --line "$line"
until_ 20 "p founds the run" told a centre_founded p
real n1 1 --key "$line"
real n2 2 --key "$line"
until_ "$limit" "$rounds rounds" has_results p "$rounds"
leaves n1
leaves n2
leaves p
judge a p 0:p 1:n1 2:n2

# ---- killed at any moment, it comes back ----

# moment MOST: sleeps for so many hundredths of a second, or less.
moment() {
    sleep "$(awk -v most="$1" -v seed="$(now)" \
        'BEGIN { srand(seed); print rand() * most / 100 }')"
}
kill_it() { # NAME
    send KILL "$1"
    until_ 5 "$1 is gone" is_over "$1"
}
has_begun() { [ "$(logged k '"start"')" -gt "$1" ]; }

keyed d
other o 0 --line "$line"
until_ 20 "o founds the run" told d centre_founded o
real n3 1 --key "$line"
real n4 2 --key "$line"
for i in $(seq 0 "$kills"); do
    other k 3 --line "$line"
    until_ 20 "k begins" has_begun "$i"
    [ "$i" != "$kills" ] || break
    moment 150
    kill_it k
done
more_results k 3 20
leaves n3
leaves k
leaves n4
leaves o
judge d o 0:o 1:n3 2:n4 3:k

# ---- a hub that is killed, and loses all every other time, goes on; its
# --chunk is another one then, which is for new runs ----

keeps_more() { [ "$(logged q '"kept"')" -gt "$1" ]; }
is_given() { [ "$(grep -c centre_recovered "$here/b.err")" -gt "$1" ]; }
with="$with --codec-up raw --codec-down raw"
# shellcheck disable=SC2086
hub b $with
other q 0
until_ 20 "q takes part" has_results q 3
for i in $(seq "$hub_kills"); do
    before=$(logged q '"kept"')
    until_ 20 "q keeps a newer centre" keeps_more "$before"
    moment 150
    kill_it b
    before=$(grep -c centre_recovered "$here/b.err" || :)
    [ $((i % 2)) = 0 ] || rm -rf "$here/b.run"
    # shellcheck disable=SC2086
    hub b $(echo "$with" | sed "s/4KiB/$((4 << i % 3))KiB/")
    [ $((i % 2)) = 0 ] ||
        until_ 20 "q gives the centre back" is_given "$before"
    more_results q 2 20
done
leaves q
judge b q 0:q

# ---- a run that the hub ends: what was under way is merged as well ----

# shellcheck disable=SC2086
hub f $with --nodes 3 --iterations 600
other u 0
until_ 20 "u founds the run" told f centre_founded u
real n5 1
real n6 2
ends f 0 40
for name in u n5 n6; do
    ends "$name" 0 20
done
judge f u 0:u 1:n5 2:n6

# ---- its connections break just before it leaves: so does its last offer ----

# shellcheck disable=SC2086
hub g $with
start way $python tests/e2e/resets.py $((port + 4)) "$port"
until_ 10 "connections are forwarded" said way ready
start v1 $python tests/interop/count.py $((port + 4)) v1 1 --folder "$here" \
    --pace 0.004
until_ 20 "v1 takes part" has_results v1 3
send USR1 way
leaves v1
send TERM way
send TERM g
ends g 0 30
# It may have seen no result of what was merged while it had no connection.
sed -n 's/.*"end", "steps": \([0-9]*\),.*/\1/p' "$here/v1.log" \
    >"$here/v1.steps"
$python tests/e2e/counted.py "$here/g.run/current/centre.safetensors" \
    "$here/v" 1 || failed "its last steps are not in the centre"

# ---- the default: a tournament, outer momentum, an end that the hub calls ----

hub c --every 12 --delay 6 --tournament 50 --iterations 900 --chunk 4KiB
real m 1
until_ 20 "m takes part" told c node_joined m
other t 0
ends m 0 40
ends t 0 20
ends c 0 20
for words in '"told": true' '"farewell": "done"' '"taken": 1'; do
    tail -n 1 "$here/t.log" | grep -qF "$words" ||
        failed "not $words: $(tail -n 1 "$here/t.log")"
done
has_results t 10 || failed "t has taken no part: $(tail -n 1 "$here/t.log")"

# ---- each way to exchange, and the other codecs ----

# plays NUMBER OPTION...: a run that the hub ends; nobody may be cut.
plays() {
    local number=$1
    shift
    hub "e$number" --every 12 --delay 6 --tournament 8 --nodes 2 \
        --iterations 800 --chunk 4KiB "$@"
    real "r$number" 1
    other "s$number" 0
    ends "r$number" 0 60
    ends "s$number" 0 20
    ends "e$number" 0 20
    has_results "s$number" 20 || failed "$*: $(tail -n 1 "$here/s$number.log")"
    for words in connection '"norm"' '"corrupt"' '"nonfinite"'; do
        [ "$(logged "s$number" "$words")" = 0 ] || failed "$*: $words"
    done
}
[ "${1:-}" = long ] || exit 0
number=0
while read -r options; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    plays $number $options
done <<'END'
--policy streaming --fragments 2
--policy async
--policy ddp --every 1
--policy easgd
--policy lsgd
--policy mean --miss cut
--policy mean --miss wait
--policy mean --codec-up int4 --codec-down e3m0
--policy mean --codec-up top10 --codec-down sign
--policy mean --codec-up f16 --codec-down bf16
END
