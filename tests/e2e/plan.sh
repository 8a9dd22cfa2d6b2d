#!/bin/sh
# `starswitch-hub plan` says what time a round takes on a star, and when the
# goal is reached, before there is one: on three stars of network namespaces,
# played by real processes with the settings that it gives, both is so within
# 10 %. Needs root.
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

# Ten clouds in 20 dimensions, and so slow that the goal is many rounds away.
awk 'BEGIN {
    srand(11)
    for (k = 0; k < 10; k++)
        for (j = 0; j < 20; j++)
            middle[k, j] = rand() * 2 - 1
    for (i = 0; i < 4000; i++) {
        kind = int(rand() * 10)
        for (j = 0; j < 20; j++)
            printf "%.3f,", middle[kind, j] + rand() * 3 - 1.5
        print kind
    }
}' >"$here/clouds.csv"
train="--model mlp:20-256-256-10,lr=0.00004,batch=32 --data $here/clouds.csv
    --evaluate 200ms --goal 0.9"
# shellcheck disable=SC2086
plan --nodes 2 --step-time 50ms ${train%--goal*} >"$here/counted" 2>"$here/err"
grep -q "0.07374 M parameters" "$here/counted" ||
    failed "the model's parameters are not counted: $(cat "$here/counted")"

# measured NODES RATE STEP: nodes have the simulator's names, so that they have
# the same data and first parameters.
measured() {
    local i nodes=$1 rate=$2 step=$3 first time words foreseen began
    # shellcheck disable=SC2086
    plan --nodes "$nodes" --step-time "$step" --link "$rate" --seeds 1 \
        --json $train >"$here/plan" 2>"$here/plan.err" || failed "plan $train"
    words=$(python3 - "$here/plan" <<'END'
import json, sys
row = [json.loads(line) for line in open(sys.argv[1])][-1]
assert row["tune"] == "choice", row
words = row["command"].split()
# Each fragment has a round of its own within k.
parts = int(words[words.index("--fragments") + 1]) if "--fragments" in words \
    else 1
print(row["every"] / row["iterations_per_s"] / parts)
print(row["goal_s"])
print(row["command"].split(" ", 1)[1])
END
    )
    time=$(echo "$words" | sed -n 1p)
    foreseen=$(echo "$words" | sed -n 2p)
    words=$(echo "$words" | tail -n 1)
    network_make "$star" "$nodes" "$rate" ||
        { echo "skipped: networks need root"; exit 0; }
    inside="ip netns exec $star-hub"
    rm -rf "$here/h.run" "$here/h.out"
    # shellcheck disable=SC2086
    start h "$bin/starswitch-hub" $words --insecure --json \
        --listen "$(network_address):7541" --directory "$here/h.run" $train
    for i in $(seq "$nodes"); do
        inside="ip netns exec $star-$((i - 1))"
        # shellcheck disable=SC2086
        start "n$i" "$bin/starswitch-node" --hub "$(network_address):7541" \
            --name "n$i" --step-time "$step" --json ${train%--goal*}
    done
    inside=
    for i in $(seq "$nodes"); do
        until_ 30 "n$i has joined" told h node_joined "n$i"
    done
    began=$(now)
    until_ 60 "training together" at_least h version 3
    until_ 10 "a line of the hub" [ "$(wc -l <"$here/h.out")" -gt 1 ]
    first=$(wc -l <"$here/h.out")
    until_ 120 "the goal" told h run_ending
    began=$(($(now) - began))
    tail -n +"$first" "$here/h.out" | python3 -c '
import json, sys
lines = [json.loads(line) for line in sys.stdin]
span = lines[-1]["elapsed"] - lines[0]["elapsed"]
took = span / (lines[-1]["rounds"] - lines[0]["rounds"])
said, foreseen, until = map(float, sys.argv[1:4])
print(f"    {sys.argv[4]}:")
off = []
for what, planned, measured in (("a round", said, took),
                                ("the goal after", foreseen, until / 100)):
    off.append(measured / planned - 1)
    print(f"      {what} {planned:.3f} s planned, {measured:.3f} s measured, "
          f"{100 * off[-1]:+.1f} %")
sys.exit(max(map(abs, off)) > 0.1)' \
        "$time" "$foreseen" "$began" "$nodes nodes, $rate, $words" ||
        failed "it takes another time than was planned"
    ends h 0 60
    for i in $(seq "$nodes"); do
        ends "n$i" 0 30
        rm -f "$here/n$i.out"
    done
    rm -f "$here/h.err"
    network_remove "$star"
}
measured 2 100Mbit 50ms
measured 3 20Mbit 50ms
measured 4 50Mbit 100ms
