#!/bin/sh
# Root looks after a hub that runs as somebody else, as a service does: what it
# leaves in the hub's directory is the hub's, which starts again.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

if [ "$(id -u)" != 0 ] || ! setpriv --reuid=65534 --regid=65534 \
    --clear-groups true 2>/dev/null; then
    echo "    left out: only root can become somebody else"
    exit 0
fi
export XDG_CONFIG_HOME="$here/config"
chmod 711 "$here"
run=$here/h.run
mkdir "$run"
chown 65534:65534 "$run"
# The build folder may be where nobody else may look.
cp "$bin/starswitch-hub" "$here/hub"

# as_service NAME: the hub as its own user.
as_service() {
    start "$1" setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$here/hub" --listen "127.0.0.1:$port" --keys "$run/keys" \
        --directory "$run" --policy mean
}
# is_own: nothing in the directory is anybody else's.
is_own() {
    find "$run" ! -uid 65534 -o ! -gid 65534 >"$here/foreign.out"
    [ ! -s "$here/foreign.out" ] ||
        failed "$1 left files of root: $(cat "$here/foreign.out")"
}
# asks WORD...: a command of root's.
asks() {
    "$bin/starswitch-hub" "$@" >>"$here/asks.out" 2>>"$here/asks.err" ||
        failed "root cannot: $*"
    is_own "$1"
}

is_there() {
    "$bin/starswitch-hub" ctl status --directory "$run" >"$here/ctl.out" 2>&1
}

asks keygen "$run"
as_service h
until_ 20 "the hub is there" is_there
node n1 --key-file "$run/keys/invitation"
until_ 20 "n1 enrols" told h node_enrolled n1
goes_on 20 n1
asks keygen "$run" --rotate
asks revoke "$run" n1 --rotate
until_ 30 "n1 is told what lets it in" said n1 "enroll DIR"
asks enroll "$run" n1 "$(grep -oE '\bN[A-Za-z0-9_-]{43}\b' "$here/n1.err" |
    tail -n 1)"
asks ctl checkpoint --directory "$run"
send TERM h
ends h 0 30
until_ 30 "n1 ends" is_over n1

# A hub that root starts there for a moment, too.
hub h --keys "$run/keys"
until_ 20 "the hub of root's is there" is_there
send TERM h
ends h 0 30
asks verify "$run"

as_service again
until_ 20 "the hub is there again" is_there
node n3 --key-file "$run/keys/invitation"
goes_on 20 n3
send TERM n3
ends n3 0 30
send TERM again
ends again 0 30
