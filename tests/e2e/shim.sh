#!/bin/sh
# starswitch-sim shim: a real node trains through it with a real hub, is cut off
# by its trace and comes back; and what it refuses.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

cat >"$here/bad.trace" <<END
starswitch-trace 1
span 1h
0s * delay 5ms
0s * jitter 2ms
0s n1 up 20Mbit
0s n1 down 20Mbit
12s n1 up 0
16s n1 up 20Mbit
end
END
# Node and shim use the ports behind those of the hub.
hub_port=$port
the_hub() {
    port=$hub_port
    hub h --policy mean --every 20 --delay 4 --save 1s "$@"
    port=$shim_port
}
while port=$((port + 2)) && is_taken $port || is_taken $((port + 1)); do :; done
shim_port=$port
the_hub

shim() { # NAME OPTION...
    local name=$1
    shift
    start "$name" "$bin/starswitch-sim" shim --hub "127.0.0.1:$hub_port" \
        --listen "127.0.0.1:$shim_port" "$@"
}

# ---- a node behind it ----

shim s --trace "$here/bad.trace" --name n1
until_ 10 "the shim is ready" said s \
    "listening on 127.0.0.1:$shim_port for n1, hub 127.0.0.1:$hub_port"
node n1
goes_on 20 n1
until_ 40 "the cut is noticed" told h node_silent n1
goes_on 40 n1
never_paused n1
send TERM n1
ends n1 0
! told h node_lost n1 || failed "the node was lost, not silent"

# ---- its hub goes away and comes back ----

node n2
goes_on 20 n2
send KILL h
ends h 137
until_ 20 "the node knows" is_ n2 attached false
the_hub
goes_on 40 n2
send TERM n2
ends n2 0
send TERM s
ends s 0
said s "bytes up" || failed "no figures at the end"
tail -n 1 "$here/s.err"
send TERM h
ends h 0

# ---- what it refuses ----

start other "$bin/starswitch-sim" shim --listen "127.0.0.1:$shim_port"
until_ 10 "another shim is ready" said other "listening on"
taken=$shim_port

refused() { # CODE TEXT OPTION...
    local code=$1 text=$2
    shift 2
    rm -f "$here/r.err"
    shim r "$@"
    ends r "$code" 10
    [ "$(wc -l <"$here/r.err")" = 1 ] || failed "$*: not one sentence"
    said r "$text" || failed "$*: not a word of $text"
    sed 's/^/    /' "$here/r.err"
}
echo "starswitch-trace 2" >"$here/worse.trace"
refused 74 "cannot read" --trace "$here/none"
refused 74 "worse.trace: line 1" --trace "$here/worse.trace"
refused 78 "--insecure" --listen 0.0.0.0:7543
refused 69 "nobody.invalid" --hub nobody.invalid
refused 69 "take another --listen" --listen "127.0.0.1:$taken"
