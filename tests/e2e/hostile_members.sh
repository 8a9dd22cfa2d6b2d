#!/bin/sh
# What members can do to a hub and to each other, and strangers who pass for
# members; a row of docs/faults.md each, by tests/interop/hostile.py, against
# real hubs with real nodes: what is promised of it holds, the hub's memory,
# descriptors and processor time stay within bounds, the nodes go on.
#
#     tests/e2e/hostile_members.sh [GROUP...]        some seconds each
#     tests/e2e/hostile_members.sh long [GROUP...]   a minute each; nodes keep
#                                                    their rates
#
# Groups are members, memory, alone, keyed, nodes, folder; all of them.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export PYTHONDONTWRITEBYTECODE=1 XDG_CONFIG_HOME="$here/config"
python=/usr/bin/python3
span=3 crowd=60 floods=20 parts=3 keys_asked=600 names=800 least=0
[ "${1:-}" != long ] || {
    shift
    span=60 crowd=2000 floods=400 parts=600 keys_asked=6000 names=10000
    # A minute holds the five seconds that all newcomers have, once, and 5 %.
    least=0.8
}

# Processes of a group are nobody's children here.
clean_up() {
    local pid tries=100
    for pid in "$here"/*.pid; do
        while [ ! -s "${pid%.pid}.code" ] && [ $tries -gt 0 ]; do
            sleep 0.05
            tries=$((tries - 1))
        done
    done
}

# row ROW HUB NODE [OPTION...]: by the lines of that node it is seen how others
# fare.
row() {
    local name=$1 victim=$2 lines=$3
    shift 3
    $python tests/interop/hostile.py "$name" "$port" \
        "$(cat "$here/$victim.pid")" "$here/$lines.out" "$@" \
        >"$here/row-$victim.out" || failed "$victim: row $name"
    cat "$here/row-$victim.out"
}
number() { # HUB WORD: of the last row's line
    sed -n "s/.*\"$2\": \([0-9.]*\).*/\1/p" "$here/row-$1.out"
}

# beside ROW HUB NODE [OPTION...]: the same, between two times without it; in
# the long form the nodes keep their rate.
beside() {
    local before with after
    [ $least != 0 ] || {
        row "$@"
        return
    }
    row calm "$2" "$3" --seconds $span
    before=$(number "$2" results)
    row "$@"
    with=$(number "$2" results)
    row calm "$2" "$3" --seconds $span
    after=$(number "$2" results)
    awk -v before="$before" -v with="$with" -v after="$after" \
        -v least=$least 'BEGIN {
            ratio = 2 * with / (before + after)
            printf "    %.3f of the rate without\n", ratio
            exit ratio < least }' || failed "nodes were slowed down: row $1"
}

# real NAME COORDINATE [OPTION...]
real() {
    local name=$1 coordinate=$2
    shift 2
    start "$name" "$bin/starswitch-node" --hub "127.0.0.1:$port" \
        --name "$name" --trainer "$bin/tests/preload/counting_trainer.so" \
        --model "x:$coordinate" --step-time 4ms --json "$@"
}
serves() { until_ 10 "$1 serves" [ -s "$here/$1.out" ]; }
over() { # NAME...: as if the power had gone
    local name
    for name; do
        send KILL "$name"
        until_ 5 "$name is gone" is_over "$name"
        : >"$here/$name.out" # the next one serves once it has written
    done
}
with="--policy mean --every 12 --delay 6 --init hub --json"

# ---- among members ----

members() {
    local run epoch plan="$with --chunk 4KiB --save 1s --staleness 5"
    # shellcheck disable=SC2086
    hub h $plan
    real n1 1
    real n2 2
    goes_on 20 n1 n2
    [ $least = 0 ] || row idle h n1 --seconds 10
    beside idle h n1 --seconds $span
    beside newcomers h n1 --seconds $span
    beside drips h n1 --seconds $span
    row boasts h n1 --seconds $span
    row late h n1 --seconds 1 --many 500
    row nothing h n1 --many $floods
    row names h n1
    "$bin/starswitch-hub" ctl status --directory "$here/h.run" >"$here/s.out"
    said s "turned" || failed "the status does not show who has that name"
    ! grep -q "$(printf '\342\200\256')" "$here/s.out" ||
        failed "the status turns the direction of writing"
    row forged h n1
    goes_on 20 n1 n2

    # ---- beside a hub that starts again ----

    row whose h n1
    run=$(number h run) epoch=$(number h epoch)
    over h
    # shellcheck disable=SC2086
    hub h $plan
    serves h
    row keeps_more h n1 --seconds 60 --run "$run" \
        --epoch $((epoch + 4294967296))
    goes_on 20 n1 n2
}

# ---- memory ----

memory() {
    # shellcheck disable=SC2086
    hub m $with
    real n3 1
    real n4 2
    goes_on 20 n3 n4
    row unfinished m n3 --many $crowd --descriptors $((4 * crowd + 100))
    row gathers m n3 --many $parts --rss-mib 2700
    goes_on 20 n3 n4
    over m n3 n4
    hub g --json
    serves g
    row giant g g --many 504
    over g
}

# ---- a model, a goal, nobody else ----

alone() {
    # shellcheck disable=SC2086
    hub a $with --iterations 100000
    serves a
    row boasts a a --seconds 2
    ! told a run_ending || failed "one alone has ended the run"
    over a
    # shellcheck disable=SC2086
    hub b --policy mean --every 1000 --init hub --json --goal 0.1
    serves b
    row boasts b b --seconds 2
    ! told b run_ending || failed "one alone has reached the goal"
    over b
    hub c --json --policy mean --model $model --data "$data"
    serves c
    row another c c
    node n6
    goes_on 20 n6
    over c n6
}

# ---- keys ----

keyed() {
    local key=$here/k.run/keys/invitation
    start keygen "$bin/starswitch-hub" keygen "$here/k.run" \
        --listen "127.0.0.1:$port"
    ends keygen 0
    # shellcheck disable=SC2086
    hub k --keys "$here/k.run/keys" $with
    serves k
    real n7 1 --key-file "$key"
    real bad 2 --key-file "$key"
    goes_on 20 n7 bad
    send TERM bad
    ends bad 0 20
    row renamed k n7 --line "$(cat "$key")" --seconds 6 \
        --own "$XDG_CONFIG_HOME/starswitch/bad.key_secret"
    row claims k n7 --line "$(cat "$key")" --many $names --descriptors 900 \
        --own "$XDG_CONFIG_HOME/starswitch/bad.key_secret"
    row enrols k n7 --line "$(cat "$key")" --seconds $((span * 2)) \
        --many $keys_asked
    goes_on 20 n7
}

# ---- a hub that means harm ----

nodes() {
    start evil $python tests/interop/hostile_hub.py junk "$port" $((2 + span))
    node n8
    ends evil 0 $((20 + span))
    at_least n8 iteration 100 || failed "junk has stopped n8"
    start evil2 $python tests/interop/hostile_hub.py waits "$port" \
        $((2 + span * 11))
    sleep 2
    [ "${least}" = 0 ] || {
        before=$(count n8 iteration)
        until_ 640 "n8 waits no longer" \
            at_least n8 iteration $((before + 50))
    }
    # Once ends the wait, and the hub has half a minute for the last offer;
    # twice is at once.
    send TERM n8
    sleep 1
    is_over n8 || send TERM n8
    until_ 10 "n8 ends" is_over n8
}

# ---- its directory ----

folder() {
    local file
    # shellcheck disable=SC2086
    hub f $with --save 1s --record "$here/f.record"
    real n9 1
    goes_on 20 n9
    for file in f.run/lock f.record f.run/seal; do
        [ "$(stat -c %a "$here/$file")" = 600 ] ||
            failed "others may read $file: $(stat -c %a "$here/$file")"
    done
    echo mine >"$here/mine"
    ln -s "$here/mine" "$here/f.run/state.json.tmp"
    send USR1 f
    until_ 10 "f writes its state" [ -s "$here/f.run/state.json" ]
    [ "$(cat "$here/mine")" = mine ] || failed "it writes through a link"
    until_ 10 "f has saved" [ -e "$here/f.run/current/centre.safetensors" ]
    over f n9
    file=$here/f.run/current/centre.safetensors
    rm "$file"
    mkfifo "$file"
    # shellcheck disable=SC2086
    hub f $with
    until_ 10 "a hub waits for no FIFO" said f "it is no plain file"
}

# Each has a port of its own; all at a time, as most of it is waiting.
lanes=
[ $# -gt 0 ] || set -- members memory alone keyed nodes folder
for lane; do
    port=$((port + 20))
    while is_taken $port || is_taken $((port + 1)); do
        port=$((port + 2))
    done
    if [ $least = 0 ]; then
        "$lane" >"$here/lane-$lane" 2>&1 &
        lanes="$lanes $lane:$!"
    else
        "$lane"
    fi
done
bad=
for lane in $lanes; do
    wait "${lane#*:}" || bad="$bad ${lane%:*}"
    cat "$here/lane-${lane%:*}"
done
[ -z "$bad" ] || { echo "FAILED:$bad"; exit 1; }
