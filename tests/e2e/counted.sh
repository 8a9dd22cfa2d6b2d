#!/bin/sh
# Learning is counted, in real processes: each node's trainer adds 1 to a number
# of its own each step, and the policy adds what is offered (each offer by 1/N,
# times N). The hub is killed at random moments, every other time its directory
# is lost, too; in the end the centre holds each node's steps, none short, none
# twice.
#
#     tests/e2e/counted.sh           4 kills with one node, 4 with four, two
#                                    early ends, and hubs with other --chunk,
#                                    ended by hand, or killed and wiped
#     tests/e2e/counted.sh long      200 kills, with d of 0, 3, k and 2 k
#     tests/e2e/counted.sh ends      100 ends of runs, half of them early
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
every=10

counting() { # NAME COORDINATE
    start "$1" "$bin/starswitch-node" --hub "$hub_address:$port" --name "$1" \
        --trainer "$bin/tests/preload/counting_trainer.so" \
        --model "x:$2,$here/$1.steps" --step-time 4ms --json
}

life() { # RUN NODES DELAY
    hub "$1" --policy async --reduce mean --outer-lr "$2" --nodes "$2" \
        --codec-up raw --codec-down raw --init hub --every $every \
        --delay "$3" --chunk $chunk --save 500ms
}
chunk=4KiB

# moment MOST: sleeps for so many hundredths of a second, or less.
moment() {
    seed=$((seed + 1))
    sleep "$(awk -v most="$1" -v seed="$seed" \
        'BEGIN { srand(seed); print rand() * most / 100 }')"
}
seed=${STAR_SEED:-$$}

all_are_back() { # RUN NODES
    local i
    for i in $(seq "$2"); do
        told "$1" "node_(re)?joined" "$1n$i" || return 1
    done
}

# The run ends, and each step is in it. RUN NODES DELAY
is_counted() {
    local run=$1 nodes=$2 i
    moment 50
    end_run "$run"
    ends "$run" 0 30
    for i in $(seq "$nodes"); do
        ends "${run}n$i" 0 30
    done
    python3 tests/e2e/counted.py "$here/$run.run/current/centre.safetensors" \
        "$here/${run}n" "$nodes" || failed "$nodes nodes, d $3, seed $seed"
}

# other_chunks RUN NODES DELAY: the hub is ended by hand and started again with
# another --chunk, then killed and started with a third one and nothing on its
# disk, and the run goes on.
other_chunks() {
    local run=$1 i
    shift
    life "$run" "$@"
    for i in $(seq "$1"); do
        counting "${run}n$i" "$i"
    done
    for chunk in 8KiB 16KiB; do
        for i in $(seq "$1"); do
            until_ 30 "${run}n$i takes part" at_least "${run}n$i" applied 1
        done
        moment 100
        if [ $chunk = 8KiB ]; then
            send TERM "$run"
            ends "$run" 0 20
        else
            send KILL "$run"
            until_ 5 "$run is gone" is_over "$run"
            rm -rf "$here/$run.run"
        fi
        rm -f "$here/$run.out" "$here/$run.err"
        life "$run" "$@"
        until_ 30 "all nodes are back" all_are_back "$run" "$1"
        # shellcheck disable=SC2046
        goes_on 30 $(seq -f "${run}n%g" "$1")
    done
    until_ 20 "$run has its centre back" told "$run" centre_recovered
    chunk=4KiB
    is_counted "$run" "$@"
}

early= # not empty: the end may come before anything is merged

# counted RUN NODES DELAY KILLS
counted() {
    local run=$1 nodes=$2 kill i
    shift
    life "$run" "$@"
    for i in $(seq "$nodes"); do
        counting "${run}n$i" "$i"
    done
    for i in $(seq "$nodes"); do
        [ "$early" ] ||
            until_ 30 "${run}n$i takes part" at_least "${run}n$i" applied 1
    done
    moment 100
    for kill in $(seq "$3"); do
        send KILL "$run"
        until_ 5 "$run is gone" is_over "$run"
        [ $((kill % 2)) = 0 ] || rm -rf "$here/$run.run"
        rm -f "$here/$run.out" "$here/$run.err"
        life "$run" "$@"
        [ $((kill % 3)) = 0 ] || {
            until_ 30 "all nodes are back" all_are_back "$run" "$nodes"
            moment 300
        }
        moment 100
    done
    until_ 30 "all nodes are back at last" all_are_back "$run" "$nodes"
    is_counted "$run" "$@"
}

case ${1:-} in
long)
    for d in 0 3 $every $((2 * every)); do
        counted "a$d" 1 $d 25
        counted "b$d" 4 $d 25
    done
    ;;
ends)
    for i in $(seq 25); do
        early=$([ $((i / 2 % 2)) = 0 ] || echo yes)
        for d in 0 3 $every $((2 * every)); do
            counted "e$i-$d" $((1 + i % 2 * 3)) $d 0
        done
    done
    ;;
*)
    counted a 1 3 4
    counted b 4 20 4
    early=yes
    counted c 1 3 0
    counted d 4 20 0
    other_chunks f 1 3
    other_chunks g 4 20
    ;;
esac
