#!/bin/sh
# --lan on a network of its own: the hub finds its address, makes keys and says
# where it listens; with the line of keygen a node elsewhere enrols and trains.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/e2e/network

network || exit 0
export XDG_CONFIG_HOME="$here/config"

inside=$at_hub
start h "$bin/starswitch-hub" --lan --directory "$here/h.run" --policy mean
until_ 10 "the hub listens" said h "listening tcp://$hub_address:7541 (switch)"
said h "encrypted" || failed "it does not say whether it is encrypted"
start keygen "$bin/starswitch-hub" keygen "$here/h.run"
ends keygen 0 10
said keygen "starswitch-node --hub $hub_address:7541 --key-file invitation" ||
    failed "keygen does not print the line"

# What it printed, as people paste it, where the file is.
inside=$at_node
options=$(sed -n 's/.*starswitch-node \(--hub .*--key-file \).*/\1/p' \
    "$here/keygen.err")$here/h.run/keys/invitation
# shellcheck disable=SC2086
start n1 "$bin/starswitch-node" $options --name n1 --model $model \
    --data "$data" --step-time 10ms --json
until_ 20 "n1 enrols" told h node_enrolled n1
goes_on 20 n1
port=7541 node plain
ends plain 77 30
goes_on 20 n1

# Of one address 64 strangers may be silent: for each one more the oldest goes.

start silent python3 -c '
import socket, sys
peers = [socket.create_connection((sys.argv[1], 7541)) for _ in range(100)]
gone = 0
for peer in peers[:36]:  # the others have five seconds for their handshake
    peer.settimeout(4)
    try:
        while peer.recv(1024):
            pass
        gone += 1
    except ConnectionError:
        gone += 1
    except TimeoutError:
        pass
still = 0
for peer in peers[36:]:
    peer.setblocking(False)
    try:
        while peer.recv(1024):
            pass
    except BlockingIOError:
        still += 1
    except ConnectionError:
        pass
print("gone", gone, "still", still)
' $hub_address
ends silent 0 30
said silent "gone 36 still 64" || failed "an address has other silent ones"
goes_on 20 n1
send TERM n1
ends n1 0
inside=
send TERM h
ends h 0 30

# A PC in two networks: one must be chosen, or has the way out; then how the
# other one is served is said.
$at_hub ip link add other type veth peer name others
$at_hub ip address add 10.98.0.1/24 dev other
$at_hub ip link set other up
$at_hub ip link set others up
inside=$at_hub
start either "$bin/starswitch-hub" --lan --directory "$here/two.run"
ends either 78 10
said either "choose one with --listen, beside --lan" ||
    failed "there is nothing to choose"
$at_hub ip route add default via 10.99.0.2
start two "$bin/starswitch-hub" --lan --directory "$here/two.run"
until_ 10 "the hub listens" said two "listening tcp://$hub_address:"
said two "This PC is also 10.98.0.1 on other: for PCs there say --listen \
10.98.0.1 beside --lan" || failed "it does not name its other network"
send TERM two
ends two 0 30
