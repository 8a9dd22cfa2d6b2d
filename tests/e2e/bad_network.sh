#!/bin/sh
# Two nodes train through a proxy that flips bits, sends messages twice and in
# another order, breaks connections off and lets them stand still. They go on,
# every chunk gets one verdict, what is corrupt is noticed and offered again,
# and the goal is reached.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
model=mlp:6-64-64-3

hub_port=$port
while port=$((port + 2)) && is_taken $port || is_taken $((port + 1)); do :; done
shim_port=$port

port=$hub_port
hub h --policy mean --every 10 --delay 3 --chunk 4KiB --codec-up raw --json \
    --iterations 1500 --model $model --data "$data"
start shim "$bin/starswitch-sim" shim --hub "127.0.0.1:$hub_port" \
    --listen "127.0.0.1:$shim_port" --seed 3 --flip 10 --duplicate 0.02 \
    --swap 0.02 --cut 0.002 --stall 0.0005
until_ 10 "the proxy listens" said shim "listening on"
# A signal to a hub that has not begun to run would end it.
until_ 10 "the hub runs" [ -s "$here/h.out" ]
port=$shim_port
node n1
node n2

state=$here/h.run/state.json
holds() { # EXPRESSION: in Python, of the hub's state; c: its verdicts
    send USR1 h
    [ -s "$state" ] && python3 -c 'import json, sys
state = json.load(open(sys.argv[1]))
c = state["chunks"]
sys.exit(not eval(sys.argv[2]))' "$state" "$1"
}
until_ 30 "faults are met" \
    holds 'c["merged"] > 100 and c["corrupt"] > 2 and c["lost"] > 0'
holds 'state["offered"] == sum(c.values()) + state["open"]' ||
    failed "not every chunk has one verdict: $(cat "$state")"
goes_on 30 n1 n2
ends h 0 60
# Who was cut off just then looks for the hub until it is told to end: once, as
# a second signal would end it at once.
leaves() {
    is_over "$1" && return
    [ ! -e "$here/$1.told" ] && is_ "$1" attached false || return
    : >"$here/$1.told"
    send TERM "$1" 2>/dev/null || :
    is_over "$1"
}
until_ 20 "n1 ends" leaves n1
until_ 20 "n2 ends" leaves n2
ends n1 0
ends n2 0
never_paused n1
never_paused n2

# The last line of the hub: as good as over a good network.
python3 - "$here/h.out" <<'END' || failed "the centre is not as good"
import json, sys
last = [json.loads(line) for line in open(sys.argv[1])][-1]
assert last["accuracy"] > 0.99 and last["loss"] < 0.05, last
print("    loss", last["loss"], "chunks", last["chunks"])
END
tensors "$here/h.run/current/centre.safetensors" >"$here/tensors"
! grep -qi "nan\|inf" "$here/tensors" || failed "the centre is not finite"

send TERM shim
ends shim 0
sed 1d "$here/shim.err" | sed 's/^/    /'
for fault in "bits flipped" "messages twice" swapped; do
    ! grep -qE "(^|, )0 $fault" "$here/shim.err" || failed "no $fault"
done
