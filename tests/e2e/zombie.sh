#!/bin/sh
# A hub is taken for dead, another one on an empty disk takes its run over from
# the nodes, and then the first one is back: it must not serve anybody. Both
# have the same keys, by which it knows what the other has sealed.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export XDG_CONFIG_HOME="$here/config"
keys=$here/keys
start keygen "$bin/starswitch-hub" keygen --keys "$keys"
ends keygen 0 10
key=$(cat "$here/keygen.out")

first=$port
hub a --keys "$keys" --policy mean --every 5 --delay 2 --json
port=$((port + 2))
while is_taken "$port" || is_taken $((port + 1)); do
    port=$((port + 2))
done
for name in n1 n2; do
    start $name "$bin/starswitch-node" --name $name --step-time 10ms --json \
        --key "$key" --hub "127.0.0.1:$first,127.0.0.1:$port" --model $model \
        --data "$data"
done
goes_on 30 n1 n2
# So long that both nodes keep a version.
until_ 60 "the hub says how it is" at_least a version 150
send STOP a
held=$(count a version)

hub b --keys "$keys" --policy mean --every 5 --delay 2 --json
until_ 60 "the other hub has a centre from a node" told b centre_recovered
goes_on 60 n1 n2
# So far that nodes keep a version of it, which proves to the first one that it
# is there.
until_ 60 "the other hub goes on" at_least b version $((held + 200))

send CONT a
send KILL b
ends b 137
ends a 75 60
said a "another hub has taken the run over" || failed "a does not say why"
for name in n1 n2; do
    is_over $name && failed "$name ended with the hub"
done

# It is started again while the other serves, and has waited for nodes for a
# while when they come: they have more than its disk.
hub b --keys "$keys" --policy mean --every 5 --delay 2 --json
until_ 60 "b goes on" at_least b version $((held + 400))
port=$first
hub a --keys "$keys" --policy mean --every 5 --delay 2 --json
goes_on 30 n1 n2
has_lines() { [ "$(grep -c '}$' "$here/$1.out")" -ge "$2" ]; }
until_ 30 "a has been up for five seconds" has_lines a \
    $(($(grep -c '}$' "$here/a.out") + 5))
held=$(count b version)
send KILL b
ends b 137
until_ 60 "a has the centre of b from a node" told a centre_recovered
until_ 60 "a goes on from there" at_least a version $((held + 50))
for name in n1 n2; do
    send TERM $name
done
ends n1 0
ends n2 0
