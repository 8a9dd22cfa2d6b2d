#!/bin/sh
# A node that does not reach its hub says why: in its log once, and for as long
# as it is so in its state. It trains on meanwhile.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# says NODE WORDS: in its log, and it is its state; and it trains.
says() {
    until_ 60 "$1 says: $2" told "$1" hub_unreached
    said "$1" "$2" || failed "$1: not a word of: $2"
    until_ 20 "$1 shows it" shows "$1" "$2"
    until_ 20 "$1 trains" at_least "$1" iteration 10
    [ "$(grep -c hub_unreached "$here/$1.err")" -le 3 ] ||
        failed "$1 says it again and again"
    echo "    $(field "$1" state)"
    send TERM "$1"
    ends "$1" 0 30
}
shows() { field "$1" state | grep -qF "$2"; }

node refused
says refused "the hub at 127.0.0.1:$port is not there: nothing listens"

# Another service, and one that says nothing.
cat >"$here/service.py" <<'END'
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
kept = []
while True:
    kept.append(listener.accept()[0])
    if sys.argv[2]:
        kept[-1].sendall(sys.argv[2].encode() + b"\r\n" * 40)
END
first=$port
foreign() { # NAME WORDS
    while port=$((port + 2)) && is_taken $port || is_taken $((port + 1)); do
        :
    done
    start "$1" python3 "$here/service.py" "$port" "$2"
    until_ 10 "$1 is there" said "$1" ready
}
foreign web "HTTP/1.1 400 Bad Request"
node lost
says lost "is no starswitch hub"
foreign mute ""
node patient
says patient "takes the connection and says nothing"
port=$first

# The hub's second port, given as its first.
hub h
until_ 20 "the hub is there" is_taken $((port + 1))
port=$((first + 1))
node second
port=$first
ends second 78 20
said second "that is the hub's second port: give :$port, its first" ||
    failed "second is not told what its mistake is"
told h node_refused second || failed "the hub does not say who came wrongly"
! told h offence || failed "a wrong number is taken for an attack"
send TERM h
ends h 0 30

# Where no way leads.
if unshare -n true 2>/dev/null; then
    inside="unshare -n"
    hub_address=192.0.2.1
    node offline
    says offline "the hub at 192.0.2.1:$port cannot be reached"

    # Where packets vanish.
    cat >"$here/void" <<'END'
ip link set lo up
iptables -w -A INPUT -p tcp -j DROP
exec "$@"
END
    inside="unshare -n sh $here/void"
    hub_address=127.0.0.1
    node vanished
    says vanished "the hub at 127.0.0.1:$port does not answer"
    # A resolver that says nothing holds nobody up.
    cat >"$here/deaf" <<'END'
ip link set lo up
iptables -w -A INPUT -p udp -j DROP
mount --bind "${0%/*}/resolv.conf" /etc/resolv.conf
exec "$@"
END
    echo "nameserver 127.0.0.1" >"$here/resolv.conf"
    inside="unshare -n -m sh $here/deaf"
    hub_address=hub.test
    begun=$(now)
    node asking
    until_ 20 "asking trains" at_least asking iteration 10
    [ $(($(now) - begun)) -lt 500 ] || failed "asking waits for its resolver"
    says asking "the hub at hub.test:$port has a name that is still being"
fi
