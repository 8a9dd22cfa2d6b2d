#!/bin/sh
# Links so slow that a chunk takes longer than a node may be silent, with the
# queue of a cheap modem in front of them, so that whatever is said waits behind
# it: training begins and goes on, nobody is cut or taken for dead, no node ever
# waits. Real processes on network namespaces; needs root.
#
#     tests/e2e/slow_links.sh          two nodes with keys at 0.25 Mbit/s, and
#                                      two over telephones' links (shim)
#     tests/e2e/slow_links.sh long     a million parameters: the default at 0.5,
#                                      1, 2 and 5 Mbit/s, 2 and 4 nodes, then
#                                      each policy at 0.5; about an hour
#     tests/e2e/slow_links.sh one RATE NODES VERSIONS SECONDS OPTION...
#     tests/e2e/slow_links.sh flaps    at 1 Mbit/s, away for 3 s of every 20,
#                                      one node gives the first parameters, a
#                                      node stops, and its learning is merged
#     tests/e2e/slow_links.sh barren   links that carry too little for anything:
#                                      hub and node say what to do
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. bench/kit/network
network_burst=16kb
# shellcheck disable=SC2034
network_hub=1gbit
star=slow-$$
step=20ms
least=10
model=mlp:6-256-256-3,batch=1

clean_up() { network_remove "$star"; }

slow_hub() { # NODES OPTION...
    local nodes=$1
    shift
    inside="ip netns exec $star-hub"
    start h "$bin/starswitch-hub" --listen "$(network_address):7541" \
        --directory "$here/h.run" --nodes "$nodes" --json "$@"
    inside=
}

slow_nodes() { # NODES OPTION...
    local i nodes=$1
    shift
    for i in $(seq 0 $((nodes - 1))); do
        inside="ip netns exec $star-$i"
        start "n$i" "$bin/starswitch-node" --hub "$(network_address):7541" \
            --name "n$i" --model $model --data "$data" --step-time $step \
            --json "$@"
    done
    inside=
}

# What the hub said last: the number of this name.
number() { count "$1" "$2"; }

# goes_on_well HUB NODES VERSIONS SECONDS: so many versions after the first.
goes_on_well() {
    local hub=$1 nodes=$2 first
    until_ "$4" "$hub: a first version" at_least "$hub" version 1
    first=$(count "$hub" version)
    until_ "$4" "$hub: $3 versions more" \
        at_least "$hub" version $((first + $3))
    awk -v first="$(number "$hub" pending)" -v nodes="$nodes" \
        -v span="$(number "$hub" training)" -v what="$label" \
        -v versions="$(number "$hub" version)" 'BEGIN {
        printf "    %s, %d nodes: first version after %.0f s, then %.1f a " \
            "minute\n", what, nodes, first, (versions - 1) * 60 / span }'
}

none_suffers() { # HUB NODE...
    local hub=$1 event node
    shift
    for event in node_slow node_lost; do
        ! told "$hub" $event || failed "$label: $event"
    done
    # A busy machine may hold a node up now and then.
    [ "$(grep -c '"node_silent"' "$here/$hub.err")" -lt 3 ] ||
        failed "$label: node_silent"
    [ "$(number "$hub" expired)" = 0 ] || failed "$label: chunks were cut"
    for node; do
        [ ! "$least" ] || never_paused "$node"
        [ "$(count "$node" waited | cut -d . -f 1)" = 0 ] ||
            failed "$label: $node has waited"
    done
}

# one RATE NODES VERSIONS SECONDS OPTION...
one() {
    local rate=$1 nodes=$2 versions=$3 seconds=$4 names
    shift 4
    label="$rate $*"
    network_make "$star" "$nodes" "$rate" || return 1
    slow_hub "$nodes" --insecure "$@"
    slow_nodes "$nodes"
    names=$(seq -f 'n%g' 0 $((nodes - 1)))
    goes_on_well h "$nodes" "$versions" "$seconds"
    # shellcheck disable=SC2086
    none_suffers h $names
}

# Two nodes whose links do not bring a sixteenth of a chunk in half a minute.
barren() {
    label="3kbit"
    network_make "$star" 2 3kbit || return 1
    slow_hub 2 --insecure
    slow_nodes 2
    until_ 500 "the hub warns" told h nothing_merged
    said h "Start the hub with a larger --every" || failed "not what to do"
    until_ 500 "a node warns" barren_node
    grep -h '"nothing_merged"' "$here"/*.err
}
# flap N: its port is down for 3 s of every 20.
flap() {
    sleep $((7 * $1))
    while sleep 17; do
        ip -n "$star-switch" link set "port-$1" down 2>/dev/null || return
        sleep 3
        ip -n "$star-switch" link set "port-$1" up 2>/dev/null || return
    done
}

# Two nodes with a million parameters, no tournament.
flaps() {
    local i began
    network_make "$star" 2 "${1:-1mbit}" || return 1
    slow_hub 2 --insecure --init hub
    slow_nodes 2
    for i in 0 1; do
        [ "${2:-}" = steady ] || flap $i &
    done
    began=$(now)
    until_ 400 "the centre is founded" told h centre_founded
    echo "    founded after $((($(now) - began) / 100)) s"
    until_ 400 "a first version" at_least h version 1
    began=$(now)
    send TERM n0
    ends n0 0 400
    echo "    n0 has left after $((($(now) - began) / 100)) s"
    ! told n0 last_offer_lost || failed "n0 has lost its last offer"
}

barren_node() { told n0 nothing_merged || told n1 nothing_merged; }

# A link of a telephone: bursts, and at times nothing for some seconds.
telephone() { # SEED
    awk -v seed="$1" 'BEGIN {
        srand(seed)
        print "starswitch-trace 1\nspan 300s\n0s * delay 40ms"
        for (i = 0; i < 300; i++) {
            rate = rand() < 0.06 ? 0 : exp(rand() * 4) / 10
            if (rate == 0)
                hole = 1 + int(rand() * 3)
            if (hole-- > 0)
                rate = 0
            printf "%ds * up %.3fMbit\n%ds * down %.3fMbit\n",
                i, rate, i, 3 * rate
        }
        print "end"
    }'
}

# Two nodes, each behind a shim of its own, at a hub of its own.
over_telephones() {
    local i hub_port=$port shim_port=$port
    start t "$bin/starswitch-hub" --listen "127.0.0.1:$hub_port" \
        --directory "$here/t.run" --nodes 2 --json
    for i in 1 2; do
        telephone $i >"$here/$i.trace"
        while shim_port=$((shim_port + 2)) && is_taken $shim_port ||
            is_taken $((shim_port + 1)); do :; done
        start "s$i" "$bin/starswitch-sim" shim --hub "127.0.0.1:$hub_port" \
            --listen "127.0.0.1:$shim_port" --trace "$here/$i.trace"
        until_ 10 "the shim is ready" said "s$i" "listening on"
        start "t$i" "$bin/starswitch-node" --hub "127.0.0.1:$shim_port" \
            --name "t$i" --model $model --data "$data" --step-time $step \
            --json
    done
}

short() {
    over_telephones
    if network_make "$star" 2 0.25mbit 2>/dev/null; then
        start keygen "$bin/starswitch-hub" keygen "$here/h.run" \
            --listen "$(network_address):7541"
        ends keygen 0 10
        slow_hub 2
        slow_nodes 2 --key-file "$here/h.run/keys/invitation"
        label="0.25mbit, keys"
        goes_on_well h 2 2 100
        none_suffers h n0 n1
        said h "% is here, the rest takes" ||
            failed "the status does not say how far uploads are"
        said n0 "iterations late" || said n1 "iterations late" ||
            failed "nodes do not say how late results are"
    else
        echo "    namespaces need root: shims only"
    fi
    label=telephones
    goes_on_well t 2 3 60
    never_paused t1
    never_paused t2
}

# Each in a process of its own, three at a time: they sleep most of the time.
long() {
    local nodes rate policy
    {
        for nodes in 2 4; do
            for rate in 0.5 1 2 5; do
                echo "${rate}mbit $nodes 3 1800"
            done
        done
        for policy in $("$bin/starswitch-hub" --help |
            sed -n '/^--policy:/,/^$/s/^  \([a-z-]*\)  .*/\1/p'); do
            case $policy in
            auto) ;;
            ddp) echo "0.5mbit 2 3 1800 --policy ddp --every 1" ;;
            *) echo "0.5mbit 2 3 1800 --policy $policy" ;;
            esac
        done
    } | xargs -P 3 -I LINE sh -c "sh tests/e2e/slow_links.sh one LINE"
}

case ${1:-} in
one)
    shift
    step=100ms least='' model=mlp:6-1000-1000-3,batch=1
    one "$@"
    ;;
flaps)
    shift
    step=100ms model=mlp:6-1000-1000-3,batch=1
    flaps "$@"
    ;;
barren) barren ;;
long) long ;;
*) short ;;
esac
