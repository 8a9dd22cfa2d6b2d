#!/bin/sh
# How much of a node's time does the library take, and how much slower than
# alone does it train: with a hub, with a hub that is stopped, and with a
# network that swallows every packet? One JSON line per figure.
#
# 10 million parameters, offered every 50 iterations, results applied 25 later.
# The training thread has core 0 for itself; the node's network threads and the
# hub have core 1, so that neither the hub's work nor copying to the network is
# what is measured, as on a PC with a core to spare. CORES=one is the other
# extreme: all threads of the node on core 0.
#
# RUNS times one process goes through all phases, of SECONDS_EACH, each
# between two without a hub, with whose mean it is compared. Figures are
# medians. Rates suffer from whatever else this PC does; the processor time
# that the training thread needs for an iteration does so much less.
set -eu
cd "$(dirname "$0")/.."
. tests/e2e/common
. tests/e2e/network

runs=${RUNS:-5} seconds=${SECONDS_EACH:-20} cores=${CORES:-split}
where="training thread 0, network threads and hub 1"
[ "$cores" = split ] || where="node 0, hub 1"
data=/usr/share/datasets/fashion-mnist
wide=mlp:784-2600-2600-600-10
phases="alone live stopped"
if network >"$here/network"; then
    phases="$phases dropped"
else
    cat "$here/network" >&2
    at_hub= at_node=
fi

# Where the node stands: iterations, seconds, seconds inside the library, and
# the processor time of its training thread, in hundredths of a second.
stand() {
    local pid
    pid=$(cat "$here/n.pid")
    echo "$(count n iteration) $(count n seconds) $(count n inside)" \
        "$(cut -d ' ' -f 14,15 "/proc/$pid/task/$pid/stat" |
            awk '{ print $1 + $2 }')"
}

is_later() { # SECONDS THAN
    awk -v now="$(count n seconds)" -v than="$2" -v by="$1" \
        'BEGIN { exit now < than + by }'
}

pin() {
    local thread core
    for thread in "/proc/$(cat "$here/n.pid")/task"/*; do
        core=1
        [ "${thread##*/}" != "$(cat "$here/n.pid")" ] || core=0
        [ "$cores" = split ] || core=0
        taskset -cp $core "${thread##*/}" >/dev/null
    done
}

# Two lines from now, so that what came before is over; then what is measured.
measure() { # PHASE
    local from
    until_ 60 "the node trains" is_later 2 "$(count n seconds)"
    from=$(stand)
    until_ $((seconds + 60)) "the node trains" is_later "$seconds" \
        "$(echo "$from" | cut -d ' ' -f 2)"
    echo "$1 $from $(stand)" >>"$here/measured"
}

# A hub that the node has joined and exchanged with.
with_hub() {
    inside="$at_hub taskset -c 1"
    hub h --insecure --policy mean --every 50 --delay 25 --save 24h \
        --evaluate 24h
    until_ 60 "the node joins" is_ n attached true
    goes_on 60 n
}

without_hub() {
    send KILL h
    ends h 137
    until_ 60 "the node is alone again" is_ n attached false
    measure alone
}

run() {
    rm -f "$here"/n.out "$here"/n.err
    inside=$at_node
    start n "$bin/starswitch-node" --hub "$hub_address:$port" --name n \
        --model $wide --data $data --evaluate 24h --json
    until_ 60 "the node trains" at_least n iteration 1
    pin
    measure alone
    with_hub
    measure live
    without_hub
    with_hub
    send STOP h
    measure stopped
    without_hub
    if [ -n "$at_hub" ]; then
        with_hub
        swallow -I
        measure dropped
        swallow -D
        without_hub
    fi
    send KILL n
    ends n 137
}

for _ in $(seq "$runs"); do
    run
done

awk -v phases="$phases" -v seconds="$seconds" -v runs="$runs" \
    -v cores="$where" '
function median(list, many,    i, j, swap) {
    for (i = 1; i < many; i++)
        for (j = i + 1; j <= many; j++)
            if (list[j] < list[i]) {
                swap = list[i]; list[i] = list[j]; list[j] = swap
            }
    i = int((many + 1) / 2)
    return (list[i] + list[many + 1 - i]) / 2
}
function say(figure, phase, list, unit) {
    printf "{\"bench\":\"never_waits\","
    printf "\"figure\":\"%s\",\"hub\":\"%s\",\"value\":%.3f,", figure, phase,
        median(list, count[phase])
    printf "\"unit\":\"%s\",\"runs\":%d,\"seconds\":%d,", unit, runs, seconds
    printf "\"cores\":\"%s\"}\n", cores
}
function finish_pair() { # a phase stands between two without a hub
    if (between != "") {
        n = ++count[between]
        rate[between, n] = middle
        ratio[between, n] = 200 * middle / (before + now)
        work[between, n] = 200 * cost / (cheap + costs)
    }
    between = ""
}
{
    now = ($6 - $2) / ($7 - $3)
    costs = ($9 - $5) / ($6 - $2)
    n = ++parts[$1]
    part[$1, n] = 100 * ($8 - $4) / ($7 - $3)
}
$1 != "alone" { between = $1; middle = now; cost = costs }
$1 == "alone" {
    finish_pair()
    before = now
    cheap = costs
    rate["alone", ++count["alone"]] = now
}
END {
    split(phases, phase, " ")
    for (p = 1; p in phase; p++) {
        name = phase[p]
        for (i = 1; i <= count[name]; i++) {
            list[i] = rate[name, i]
            shares[i] = part[name, i]
            ratios[i] = ratio[name, i]
            works[i] = work[name, i]
        }
        say("iterations", name, list, "1/s")
        say("inside library calls", name, shares, "% of wall time")
        if (p == 1)
            continue
        say("rate against alone", name, ratios, "%")
        say("processor time per iteration against alone", name, works, "%")
    }
}' "$here/measured"
