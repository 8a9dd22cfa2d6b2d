#!/bin/sh
# Hub and node as services: what their manager hears, what signals do, and that
# they do not need anybody who listens.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# A program whose manager is NAME.notified: manager NAME, then `$inside`.
manager() {
    start "$1.notified" python3 tests/e2e/notified.py "$here/$1.socket"
    until_ 10 "the manager of $1 listens" said "$1.notified" ready
    inside="env NOTIFY_SOCKET=$here/$1.socket WATCHDOG_USEC=4000000"
}
heard() { # NAME TEXT [TIMES]
    [ "$(grep -c "^[0-9.]* $2" "$here/$1.notified.out")" -ge "${3:-1}" ]
}

manager h
hub h --policy mean --every 20 --delay 4 --json
manager n1
node n1
inside=
node n2

# ---- ready, and alive ----

until_ 10 "the hub is ready" heard h READY=1
until_ 10 "the node is ready" heard n1 READY=1
until_ 30 "both are alive" heard h WATCHDOG=1 4
heard n1 WATCHDOG=1 2 || failed "the node gives no signs of life"
until_ 10 "the hub says how it goes" heard h "STATUS=2 nodes, version "
until_ 10 "the node says how it goes" heard n1 "STATUS=iteration "
awk '$2 == "WATCHDOG=1" {
        if (last && $1 - last > 3.6) { print "a pause of " $1 - last; bad = 1 }
        last = $1
    }
    END { exit bad }' "$here/h.notified.out" || failed "the hub lives unevenly"
send STOP h
count_then=$(grep -c WATCHDOG "$here/h.notified.out")
sleep 4.5
[ "$(grep -c WATCHDOG "$here/h.notified.out")" -le $((count_then + 1)) ] ||
    failed "a hub that is stopped seems alive"
send CONT h
goes_on 20 n1 n2

# ---- what it is doing ----

state=$here/h.run/state.json
send USR1 h
until_ 10 "the state is written" [ -s "$state" ]
python3 - "$state" <<'END' || failed "state.json makes no sense"
import json, sys
state = json.load(open(sys.argv[1]))
assert state["event"] == "state" and len(state["run"]) == 16
assert sorted(node["name"] for node in state["nodes"]) == ["n1", "n2"]
assert state["offered"] == sum(state["chunks"].values()) + state["open"] > 0
assert state["resident_bytes"] > 1 << 20 and state["pool_bytes"] > 0
assert state["events"]["node_joined"] == 2
assert state["version"] > 0 and "open_rounds" in state
END
until_ 10 "the state is logged" said h '"event":"state"'
[ -z "$(ls "$here/h.run/" | grep state.json.tmp)" ] || failed "a file is left"
send USR1 n1
until_ 10 "the node prints its state" grep -q '"iteration":' "$here/n1.err"

# ---- reading again ----

send HUP h
until_ 10 "it reads again" told h reloaded
until_ 10 "and is ready again" heard h READY=1 2
heard h RELOADING=1 && heard h MONOTONIC_USEC= || failed "it does not say so"
goes_on 10 n1 n2

# Every line of the log has its id.
python3 - "$here/h.err" "$here/n2.err" <<'END' || failed "not a log"
import json, sys
for line in [line for name in sys.argv[1:] for line in open(name)]:
    event = json.loads(line)
    assert all(key in event for key in ("time", "level", "event", "subject"))
END

# ---- the end: in good order, or at once ----

send TERM h # what a service manager does to start it again
until_ 10 "the hub says that it ends" heard h STOPPING=1
ends h 0
told h hub_stopped || failed "the hub does not say what it has done"
! is_over n1 && ! is_over n2 || failed "a node ends with a hub that is stopped"
manager again
hub h --policy mean --every 20 --delay 4 --json
inside=
until_ 30 "the nodes are back" told h node_rejoined n2
goes_on 20 n1 n2

send STOP n2 # whose last offer the hub waits for
end_run h
until_ 10 "the hub says that it ends" heard again STOPPING=1
heard again EXTEND_TIMEOUT_USEC= || failed "the hub asks for no time"
sleep 0.3
! is_over h || failed "the hub did not wait"
twice() { send TERM h 2>/dev/null || :; sleep 0.2; is_over h; }
until_ 10 "it ends at once" twice
ends h 143
send CONT n2 # the nodes end with the run if they have heard that it does
send TERM n1 2>/dev/null || :
send TERM n2 2>/dev/null || :
ends n1 0
ends n2 0
heard n1 STOPPING=1 || failed "the node does not say that it ends"
echo "the manager knows; state, reload and end are as asked"

# ---- nobody listens ----

echo 'exec "$@" >&- 2>&- <&-' >"$here/deaf"
inside="sh $here/deaf"
rm -rf "$here/h.run"
hub h --policy mean --every 20 --delay 4 --save 300ms
inside=
node n3
goes_on 20 n3
magic() { # a tensor file that something was written into is none
    tensors "$here/h.run/current/centre.safetensors" >/dev/null
}
until_ 10 "the centre is saved" [ -s "$here/h.run/current/centre.safetensors" ]
magic || failed "the centre is spoiled"
send TERM n3
ends n3 0

# Whose reader goes after a line.
start quiet sh -c '{ "$@" 2>&1; echo $? >"$0"; } | head -n 1' \
    "$here/quiet-code" "$bin/starswitch-node" --hub "127.0.0.1:$port" \
    --name n4 --model $model --data "$data" --step-time 10ms --json \
    --iterations 400
ends quiet 0 30
[ "$(cat "$here/quiet-code")" = 0 ] || failed "a node needs its reader"
send TERM h
ends h 0
echo "nobody has to listen"
