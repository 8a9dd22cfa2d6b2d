#!/bin/sh
# A hub and four nodes on this PC train a real model until the hub's centre is
# good enough. `make demo` installs and builds what this needs, and calls it.
#
#   CHAOS=1    two nodes are killed on the way, and started again
#   GOAL=89%   another goal; MODEL, DATA and POLICY likewise
#   OUT=demo   the folder for what it leaves
set -eu
cd "$(dirname "$0")/.."
bin=${STAR_BUILD:-build} out=${OUT:-demo}
goal=${GOAL:-88%} policy=${POLICY:-auto}
model=${MODEL:-mlp:784-128-10,lr=0.0003}
data=${DATA:-/usr/share/datasets/fashion-mnist}
step=4ms  # two cores cannot be four PCs; nodes that rest can
most=40000 # iterations of a node: however slow this PC is, it has so many
nodes="n1 n2 n3 n4"
stopped= asked=0

# ---- programs ----

# Runs in the background; pid and exit code go to files of its name. Ctrl-C
# does not reach it, nor a signal to all of this script's processes end who
# waits for it: it is this script that ends the run.
begin() { # NAME COMMAND...
    name=$1
    shift
    rm -f "$out/$name.pid" "$out/$name.code"
    (
        trap '' INT
        trap : TERM HUP
        setsid "$@" &
        code=0
        echo $! >"$out/$name.pid"
        wait $! || code=$?
        while kill -0 $! 2>/dev/null; do # it was a signal that ended waiting
            code=0
            wait $! || code=$?
        done
        echo $code >"$out/$name.code"
    ) &
}

begin_node() {
    begin "$1" "$bin/starswitch-node" --hub "127.0.0.1:$port" --name "$1" \
        --model "$model" --data "$data" --step-time $step \
        >>"$out/$1.log" 2>&1
}

is_over() { [ -s "$out/$1.code" ]; }
send() { # SIGNAL NAME
    is_over "$2" || [ ! -s "$out/$2.pid" ] ||
        kill "-$1" "$(cat "$out/$2.pid")" 2>/dev/null || true
}

wait_for() { # NAME: at most 20 s
    for _ in $(seq 200); do
        ! is_over "$1" || return 0
        sleep 0.1
    done
    return 1
}

finish() {
    trap - EXIT
    set +e
    for name in hub $nodes; do
        send KILL $name
    done
    wait
    rm -f "$out"/*.pid "$out"/*.code
}

fail() {
    echo "demo: $*" >&2
    exit 1
}

# Something ended that should not have: says which, and its last words.
check() {
    for name in $nodes; do
        ! is_over $name || [ "$(cat "$out/$name.code")" = 0 ] ||
            fail "node $name ended with code $(cat "$out/$name.code"):" \
                "$(tail -n 1 "$out/$name.log") (all of it: $out/$name.log)"
    done
}

is_taken() { grep -qs ":$(printf %04X "$1") " /proc/net/tcp /proc/net/tcp6; }

free_port() {
    port=7541
    while is_taken $port || is_taken $((port + 1)); do
        port=$((port + 2))
    done
}

# The run ends as by its goal: with last offers, saved and summed up. Whoever
# asks twice gets it at once.
stop() {
    [ -z "$stopped" ] || exit 130
    stopped=1
    echo "Ending the run: last offers, a last save. Ctrl-C again: at once."
}

# Once it has been stopped, each tenth of a second: the hub may just start.
end_run() {
    [ "$asked" -lt 20 ] || return 0
    asked=$((asked + 1))
    if "$bin/starswitch-hub" ctl end --directory "$out" >/dev/null 2>&1; then
        asked=20
    elif [ "$asked" = 20 ]; then
        send TERM hub
    fi
}

# ---- faults ----

# What chaos does in tenths of a second from the start.
chaos() { # TENTHS
    case $1 in
    20) hit n2 ;;
    35) hit n3 ;;
    40) begin_node n2 ;;
    55) begin_node n3 ;;
    esac
}

hit() {
    send KILL "$1"
    wait_for "$1" || fail "node $1 does not die"
    rm -f "$out/$1.code" "$out/$1.pid"
}

# ---- words ----

# A word for a shell.
quoted() {
    case $1 in
    *[!a-zA-Z0-9_./:,=%+@-]* | '')
        printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
    esac
}

# Behind the hub's line that goes on with the run.
go_on() {
    [ ! -e "$out/current" ] || echo \
"and then four nodes, which the hub waits for, each in a terminal:
    cd $(quoted "$PWD") && $(quoted "$bin/starswitch-node") \
--hub 127.0.0.1:$port --model $(quoted "$model") --data $(quoted "$data")"
}

# ---- the run ----

[ -x "$bin/starswitch-hub" ] || fail "there is no $bin/starswitch-hub: try make"
[ -e "$data" ] || fail "$data is not there: try make demo, which installs it"
[ ! -e "$out" ] || [ -e "$out/n1.log" ] || [ -z "$(ls -A "$out")" ] ||
    fail "there are other files than a demo's in $out/, which each demo" \
        "empties: name another folder, as in make demo OUT=demo2"
rm -rf "$out"
mkdir -p "$out"
: >"$out/n1.log" # so that it is known for a demo's
free_port
trap finish EXIT
trap stop INT TERM HUP

echo "starswitch: a hub and four nodes on this PC, real training." \
    "Ctrl-C stops all."
begin hub "$bin/starswitch-hub" --listen "127.0.0.1:$port" --nodes 4 \
    --policy "$policy" --every 20 --delay 4 --goal "$goal" \
    --iterations $most --tournament 50 --model "$model" --data "$data" \
    --directory "$out" \
    --report "$out/report.html" --record "$out/run.recording"
for name in $nodes; do
    [ "$stopped" ] || begin_node $name
done

tenths=0
until is_over hub; do
    if [ "$stopped" ]; then end_run; else check; fi
    [ -z "${CHAOS:-}" ] || [ "$stopped" ] || chaos $tenths
    sleep 0.1 || true
    tenths=$((tenths + 1))
done
code=$(cat "$out/hub.code")
case $code in
0 | 1) ;; # 1: without its goal
*) [ -z "$stopped" ] || exit 130
    fail "the hub ended with code $code" ;;
esac
for name in $nodes; do
    [ -z "$stopped" ] || send TERM $name
    [ ! -s "$out/$name.pid" ] || wait_for $name ||
        fail "node $name did not end with the hub"
done
if [ "$stopped" ]; then
    go_on
    exit 130
fi
check
if [ "$code" != 0 ]; then
    go_on
    fail "$goal was not reached in $most iterations"
fi
go_on
echo "In $PWD:"
[ -n "${CHAOS:-}" ] ||
    echo "    make demo CHAOS=1             kills two nodes on the way"
echo "    xdg-open $(quoted "$out/report.html")     the same with curves
    $(quoted "$bin/starswitch-hub") --help    what a hub can do"
