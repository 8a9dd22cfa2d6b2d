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
# RUNS times the same node goes through all phases, one process each time, of
# SECONDS_EACH. Figures are medians of the runs; rates are first divided by
# that of the same process before there was a hub.
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

# Where the node stands: iterations, seconds, seconds inside the library.
stand() { echo "$(count n iteration) $(count n seconds) $(count n inside)"; }

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

run() {
    rm -f "$here"/n.out "$here"/n.err
    inside=$at_node
    start n "$bin/starswitch-node" --hub "$hub_address:$port" --name n \
        --model $wide --data $data --evaluate 24h --json
    until_ 60 "the node trains" at_least n iteration 1
    pin
    measure alone
    inside="$at_hub taskset -c 1"
    hub h$1 --insecure --policy mean --every 50 --delay 25 --save 24h \
        --evaluate 24h
    until_ 30 "the node joins" is_ n attached true
    goes_on 60 n
    measure live
    send STOP h$1
    measure stopped
    send CONT h$1
    if [ -n "$at_hub" ]; then
        until_ 60 "the node is back" is_ n attached true
        goes_on 60 n
        swallow -I
        measure dropped
        swallow -D
    fi
    send KILL h$1
    send KILL n
    ends n 137
    ends h$1 137
}

for i in $(seq "$runs"); do
    run "$i"
done

awk -v phases="$phases" -v seconds="$seconds" -v runs="$runs" \
    -v cores="$where" '
function median(list, count,    i, j, swap) {
    for (i = 1; i < count; i++)
        for (j = i + 1; j <= count; j++)
            if (list[j] < list[i]) {
                swap = list[i]; list[i] = list[j]; list[j] = swap
            }
    i = int((count + 1) / 2)
    return (list[i] + list[count + 1 - i]) / 2
}
function say(figure, phase, list, unit) {
    printf "{\"figure\":\"%s\",\"hub\":\"%s\",\"value\":%.3f,", figure, phase,
        median(list, runs)
    printf "\"unit\":\"%s\",\"runs\":%d,\"seconds\":%d,", unit, runs, seconds
    printf "\"cores\":\"%s\"}\n", cores
}
{
    n = ++count[$1]
    rate[$1, n] = ($5 - $2) / ($6 - $3)
    part[$1, n] = 100 * ($7 - $4) / ($6 - $3)
}
END {
    split(phases, phase, " ")
    for (p = 1; p in phase; p++) {
        for (i = 1; i <= runs; i++) {
            list[i] = rate[phase[p], i]
            shares[i] = part[phase[p], i]
            ratios[i] = 100 * rate[phase[p], i] / rate["alone", i]
        }
        say("iterations", phase[p], list, "1/s")
        say("inside library calls", phase[p], shares, "% of wall time")
        if (p > 1)
            say("rate against alone", phase[p], ratios, "%")
    }
}' "$here/measured"
