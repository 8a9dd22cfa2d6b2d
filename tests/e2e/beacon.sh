#!/bin/sh
# A node without --hub on a network of its own finds the hub with --lan that
# announces itself there; of two it asks which, or takes the one whose key it
# has; nothing of the keys is in what is announced.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/e2e/network

network || exit 0
export XDG_CONFIG_HOME="$here/config"
# CZMQ would read these.
export ZSYS_INTERFACE=nowhere ZSYS_LOGSTREAM=stdout ZSYS_SIGHANDLER=

# lan NAME PORT OPTION...: a hub on the network, in the background.
lan() {
    local name=$1 at=$2
    shift 2
    inside=$at_hub
    start "$name" "$bin/starswitch-hub" --lan --directory "$here/$name.run" \
        --listen "$hub_address:$at" --policy mean "$@"
    until_ 10 "$name listens" said "$name" "listening tcp://$hub_address:$at"
}
# seeks NAME OPTION...: a node without --hub.
seeks() {
    local name=$1
    shift
    inside=$at_node
    start "$name" "$bin/starswitch-node" --name "$name" --model $model \
        --data "$data" --step-time 10ms --json "$@"
}
key() { # HUB
    echo "--key-file $here/$1.run/keys/invitation"
}

# ---- one hub; what it announces ----

lan h1 7541
inside=$at_node
start heard python3 tests/e2e/beacon.py listen 2
ends heard 0 30
cut -d' ' -f3 "$here/heard.out" >"$here/datagrams"
[ -s "$here/datagrams" ] || failed "nothing is announced"
python3 tests/e2e/beacon.py secrets "$here/datagrams" "$here/h1.run/keys" ||
    failed "key material is announced"
begun=$(date +%s%N)
# shellcheck disable=SC2046
seeks n1 $(key h1)
until_ 20 "n1 finds its hub" said n1 "found the hub of run"
took=$((($(date +%s%N) - begun) / 1000000))
said n1 "at $hub_address:7541" || failed "n1 found something else"
[ -n "${CI:-}" ] || echo "found after $took ms"
until_ 20 "n1 joins" told h1 node_enrolled n1
goes_on 20 n1
seeks plain
ends plain 77 30

# ---- datagrams of somebody else, at the hub and at a node ----

start flood python3 tests/e2e/beacon.py noise "$hub_address" 20000
ends flood 0 60
start noise python3 tests/e2e/beacon.py noise 10.99.0.255 20000
# shellcheck disable=SC2046
seeks n3 $(key h1)
until_ 20 "n3 finds its hub" said n3 "found the hub of run"
ends noise 0 60
goes_on 20 n1 n3

# ---- two ----

lan h2 7551
# shellcheck disable=SC2046
seeks n2 $(key h2)
until_ 20 "n2 joins" told h2 node_enrolled n2
seeks asks
ends asks 78 30
said asks "2 hubs announce themselves on this network: " ||
    failed "it does not say how many"
said asks "$hub_address:7541" && said asks "$hub_address:7551" &&
    said asks "choose one with --hub" || failed "it does not list them"

# ---- a key of neither; none that announces itself ----

lan h3 7561 --no-beacon
# shellcheck disable=SC2046
seeks lost $(key h3)
ends lost 78 30
said lost "and the key is not that hub's" || failed "it does not say why"
send TERM h1
send TERM h2
ends h1 0 30
ends h2 0 30
# shellcheck disable=SC2046
seeks alone $(key h3)
until_ 20 "it trains alone" said alone "say where it is with --hub"
until_ 20 "it trains" at_least alone iteration 10
