#!/bin/sh
# What do three viewers of the page cost? NODES real nodes (32), and connections
# that ask for what the page asks for, and read it. One JSON line for nodes at a
# PC's pace: the hub's processor time with viewers and without; one for nodes
# as fast as they can: the rate of rounds with viewers against that without.
# Medians of PAIRS pairs of phases (7), of SECONDS_EACH (10); PACES="paced fast".
set -eu
cd "$(dirname "$0")/.."
. tests/e2e/common

# measure NAME HUB-OPTIONS [NODE-OPTION...]
measure() {
    local name=$1 options=$2 nodes=${NODES:-32} i
    shift 2
    # shellcheck disable=SC2086
    hub "$name" --policy mean --nodes "$nodes" --json \
        --page "127.0.0.1:$((port + 7))" $options
    for i in $(seq "$nodes"); do
        start "$name-n$i" "$bin/starswitch-node" --hub "$hub_address:$port" \
            --name "n$i" --model $model --data "$data" --json "$@"
    done
    until_ 120 "all train together" at_least "$name" rounds 2
    python3 bench/viewers.py "$name" "$nodes" "$(cat "$here/$name.pid")" \
        "http://127.0.0.1:$((port + 7))" "${PAIRS:-7}" "${SECONDS_EACH:-10}"
    end_run "$name"
    ends "$name" 0 60
    for i in $(seq "$nodes"); do
        ends "$name-n$i" 0 60
    done
}
for pace in ${PACES:-paced fast}; do
    case $pace in
    paced) measure paced "--every 20 --delay 10" --step-time 200ms ;;
    fast) measure fast "--every 1 --delay 0" ;;
    esac
done
