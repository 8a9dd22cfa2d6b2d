#!/bin/sh
# Frames, handshakes and cuts of strangers against a hub with nodes, without
# keys and with them, and of a hostile hub against a node: nobody ends, nobody
# grows, the nodes go on. And 10,000 names of connections are claimed, from 16
# addresses, which no hub gives away any more. The long form is make attack.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

keys=$here/k.run/keys
export XDG_CONFIG_HOME="$here/config"

# attack NAME VICTIM OPTION...
attack() {
    local name=$1 victim=$2
    shift 2
    start "$name" nice -n 10 "$bin/star-attack" --port "$port" \
        --pid "$(cat "$here/$victim.pid")" \
        --seconds "${SECONDS_EACH:-2}" --frames "${FRAMES:-50000}" \
        --seed "${SEED:-1}" --rss-mib 700 --descriptors 3000 "$@"
    ends "$name" 0 $((${SECONDS_EACH:-2} + 30))
    said "$name" '"verdict":"alive"' || failed "$name has no verdict"
    [ -z "${SECONDS_EACH:-}" ] || cat "$here/$name.out"
}

# ---- without keys ----

hub h --policy mean
node n1
node n2
goes_on 20 n1 n2
attack plain h
goes_on 20 n1 n2
attack race h --claims 10000 --hold 9000 --descriptors 6000
goes_on 20 n1 n2
never_paused n1

# ---- with keys: of one that is known, and then banned ----

free_port
start keygen "$bin/starswitch-hub" keygen "$here/k.run" \
    --listen "127.0.0.1:$port"
ends keygen 0 10
key=$keys/invitation
hub k --keys "$keys" --policy mean
node n3 --key-file "$key"
node n4 --key-file "$key"
node bad --key-file "$key"
goes_on 30 n3 n4 bad
send TERM bad
ends bad 0 20
attack keyed k --hub "$keys/hub.key_secret" \
    --own "$XDG_CONFIG_HOME/starswitch/bad.key_secret"
goes_on 20 n3 n4
attack race2 k --claims 10000 --hold 9000 --descriptors 6000 \
    --hub "$keys/hub.key_secret" \
    --own "$XDG_CONFIG_HOME/starswitch/bad.key_secret"
goes_on 20 n3 n4

# ---- a hostile hub ----

free_port
node alone
attack hub alone --as-hub
before=$(count alone iteration)
until_ 10 "the node trains on" at_least alone iteration $((before + 50))
