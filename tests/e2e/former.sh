#!/bin/sh
# The former release beside this one: its nodes with today's hub, today's nodes
# with its hub, with keys; and today's hub goes on with what its hub has saved.
# What it is: the newest tag before this one, or the commit in tests/e2e/former.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export XDG_CONFIG_HOME="$here/config"

skip() {
    echo "skipped: $*"
    exit 0
}

# ---- its programs, built once ----

former=$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null ||
    grep -v '^#' tests/e2e/former)
git cat-file -e "$former^{commit}" 2>/dev/null ||
    skip "this tree has no history with $former"
former=$(git rev-parse "$former^{commit}")
then=$bin/former/$former
if [ ! -x "$then/build/starswitch-node" ]; then
    rm -rf "$then"
    mkdir -p "$then"
    git archive "$former" | tar -x -C "$then"
    # A make of its own, not a part of the one that calls this, nor with the
    # variables that this has been given. What it computes takes no time.
    env -i PATH="$PATH" HOME="$HOME" timeout -k 10 480 \
        make -C "$then" -j2 HUSH=1 CFLAGS=-O0 \
        build/starswitch-hub build/starswitch-node \
        >"$here/make.out" 2>&1 || failed "the former release cannot be built"
fi
then=$(realpath "$then/build")

# ---- a star of both ----

# hub_of BIN NAME: with keys; node_of BIN HUB NAME: enrols, by its key.
hub_of() {
    start "$2" "$1/starswitch-hub" --listen "127.0.0.1:$port" \
        --directory "$here/$2.run" --keys "$here/$2.run/keys" --json \
        --policy mean --every 10 --save 1s
    until_ 10 "$2 listens" said "$2" listening
}
node_of() {
    start "$3" "$1/starswitch-node" --hub "127.0.0.1:$port" --name "$3" \
        --key-file "$here/$2.run/keys/invitation" --model $model \
        --data "$data" --step-time 10ms --json
}
stay() { # NODE...: no connection has been cut
    local name
    for name; do
        ! told "$name" hub_gone || failed "$name was cut off"
    done
}

for of in today former; do
    [ $of = today ] && own=$bin other=$then || own=$then other=$bin
    "$own/starswitch-hub" keygen "$here/$of.run" >"$here/keygen.out" 2>&1
    hub_of "$own" $of
    node_of "$own" $of "$of-own"
    until_ 30 "its own node trains" at_least "$of-own" applied 1
    node_of "$other" $of "$of-other"
    goes_on 30 "$of-own" "$of-other"
    stay "$of-own" "$of-other"
    # Both know how the star is, and are told of its end.
    send TERM "$of-other"
    ends "$of-other" 0
    [ $of = former ] || { end_run today && ends today 0; }
done
echo "nodes of each release train with the hub of the other"

# ---- the hub is upgraded, its node stays ----

send TERM former
ends former 0
saved=$(metadata "$here/former.run/current/centre.safetensors" version)
[ "$saved" -gt 0 ] || failed "the former hub has saved nothing"
hub_of "$bin" former
until_ 10 "it goes on with what is saved" said former "at version $saved"
goes_on 30 former-own
node_of "$bin" former newer
goes_on 30 newer former-own
echo "today's hub goes on at version $saved of the former one, with its node"
