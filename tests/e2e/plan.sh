#!/bin/sh
# `starswitch-hub plan` says what time a round takes on a star, before there is
# one: on three stars of network namespaces, played by real processes with the
# settings that it gives, rounds take that long within 10 %. Needs root.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. bench/kit/network
star=plan-$$
clean_up() { network_remove "$star"; }

# ---- words ----

plan() { "$bin/starswitch-hub" plan "$@"; }
plan --nodes 2 --params 100M --step-time 20ms --link 10Mbit >"$here/one"
grep -q "use one PC" "$here/one" || failed "plan does not say: use one PC"
plan --nodes 3 --params 2M --step-time 100ms --link=100Mbit --seeds 1 \
    >"$here/star"
grep -q "over a ring all-reduce" "$here/star" || failed "no ring beside it"
grep -E "node's link 12.5 MB/s" "$here/star" || failed "the link is another"
! plan --params nonsense 2>"$here/bad.err" || failed "nonsense is planned"

# ---- three stars ----

model=mlp:6-512-512-3,batch=1 parameters=267779
# measured NODES RATE STEP SECONDS
measured() {
    local i nodes=$1 rate=$2 step=$3 first time words
    plan --nodes "$nodes" --params $parameters --step-time "$step" \
        --link "$rate" --seeds 1 --json >"$here/plan" 2>"$here/plan.err"
    words=$(python3 - "$here/plan" <<'END'
import json, sys
row = [json.loads(line) for line in open(sys.argv[1])][-1]
assert row["tune"] == "choice", row
words = row["command"].split()
# Each fragment has a round of its own within k.
parts = int(words[words.index("--fragments") + 1]) if "--fragments" in words \
    else 1
print(row["every"] / row["iterations_per_s"] / parts)
print(row["command"].split(" ", 1)[1])
END
    )
    time=$(echo "$words" | head -n 1)
    words=$(echo "$words" | tail -n 1)
    network_make "$star" "$nodes" "$rate" ||
        { echo "skipped: networks need root"; exit 0; }
    inside="ip netns exec $star-hub"
    rm -rf "$here/h.run" "$here/h.out"
    # shellcheck disable=SC2086
    start h "$bin/starswitch-hub" $words --insecure --json \
        --listen "$(network_address):7541" --directory "$here/h.run"
    for i in $(seq 0 $((nodes - 1))); do
        inside="ip netns exec $star-$i"
        start "n$i" "$bin/starswitch-node" --hub "$(network_address):7541" \
            --name "n$i" --model $model --data "$data" --step-time "$step" \
            --json
    done
    inside=
    until_ 60 "training together" at_least h version 3
    until_ 10 "a line of the hub" [ "$(wc -l <"$here/h.out")" -gt 1 ]
    first=$(wc -l <"$here/h.out")
    sleep "$4"
    tail -n +"$first" "$here/h.out" | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
span = lines[-1]["elapsed"] - lines[0]["elapsed"]
took = span / (lines[-1]["rounds"] - lines[0]["rounds"])
said, what = float(sys.argv[1]), sys.argv[2]
print(f"    {what}: {said:.3f} s a round planned, {took:.3f} s measured, "
      f"{100 * (took / said - 1):+.1f} %")
sys.exit(abs(took / said - 1) > 0.1)' "$time" "$nodes nodes, $rate, $words" ||
        failed "rounds take another time than was planned"
    for i in $(seq 0 $((nodes - 1))); do
        send KILL "n$i"
        ends "n$i" 137
        rm -f "$here/n$i.out"
    done
    send TERM h
    ends h 0 30
    network_remove "$star"
}
measured 2 100Mbit 50ms 20
measured 3 20Mbit 50ms 25
measured 4 50Mbit 100ms 25
