#!/bin/sh
# `starswitch-node doctor` finds, on a network of two, what may be wrong between
# a PC and its hub: each once, by the sentence for it, with the exit code for
# it; and nothing where nothing is. Prints the sentences.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/e2e/network
network || exit 0
port=7541
export XDG_CONFIG_HOME="$here/config"
service=$here/service.py
tests=$PWD/tests

# doctor NAME CODE [OPTION...]: must exit with this code.
doctor() {
    local name=$1 code=$2 got tries=0
    shift 2
    while :; do
        got=0
        # shellcheck disable=SC2086
        $inside "$bin/starswitch-node" doctor --hub "$hub_address:$port" "$@" \
            >"$here/$name.out" 2>"$here/$name.err" || got=$?
        # On a machine with too much to do it may have to be asked again.
        [ $got = 75 ] && [ "$code" != 75 ] && [ $tries -lt 20 ] || break
        tries=$((tries + 1))
        sleep 1
    done
    [ $got = "$code" ] || failed "$name: doctor ends with $got, not with $code"
}

# finds NAME LEVEL CHECK WORDS: such a finding, and prints it.
finds() {
    tr '\n' ' ' <"$here/$1.out" | sed 's/  */ /g; s/ \(ok\|warn\|bad\) /\
\1 /g' >"$here/$1.lines"
    grep "^$2 $3 " "$here/$1.lines" | grep -qF -- "$4" ||
        failed "$1: doctor does not say \"$2 $3 $4\""
    printf '%s\n' "$1:"
    grep "^$2 $3 " "$here/$1.lines" | fold -s -w 72 | sed 's/^/    /'
}

# finds_no NAME LEVEL [CHECK]
finds_no() {
    ! grep -q "^$2 *${3:-}" "$here/$1.out" ||
        failed "$1: doctor finds something: $(grep "^$2 *${3:-}" \
            "$here/$1.out")"
}

# ---- where all is well ----

inside=$at_hub
hub h --insecure --policy mean --json
inside=$at_node
listens() { $at_hub grep -q ":$(printf %04X "$1") " /proc/net/tcp; }
until_ 20 "the hub listens" listens $((port + 1))
doctor well 0 --params 1M
finds_no well bad
finds well ok port "a hub listens at $hub_address:$port"
finds well ok protocol "hub and node speak"
finds well ok clock "of the hub's"
finds well ok "round trip" "the longest of 10 took"
finds well "[a-z]*" "rate up" "bit/s"
finds well "[a-z]*" "rate down" "bit/s"
finds well ok "packet size" "1500 bytes"
finds well ok memory "a model of 1000000 parameters"
finds well ok "second port" "port $((port + 1)) for data is there"
doctor lines 0 --json
python3 - "$here/lines.out" <<'END' || failed "not a line of JSON each"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert {line["level"] for line in lines[:-1]} <= {"ok", "warn", "bad"}, lines
assert all(line["text"] for line in lines[:-1])
assert lines[-1]["bad"] == 0 and lines[-1]["code"] == 0
END

# ---- names and ports ----

hub=$hub_address
hub_address=pc0.invalid
doctor unknown 69
finds unknown bad name "the hub at pc0.invalid:7541 has a name that"
hub_address=$hub
port=7542
doctor second 78
finds second bad port "that is the hub's second port: give :7541"
port=7601
doctor refused 69
finds refused bad port "is not there: nothing listens on that port"
$at_hub iptables -w -A INPUT -p tcp --dport 7602 -j DROP
port=7602
doctor dropped 69
finds dropped bad port "does not answer: nothing came back"
$at_hub iptables -w -A INPUT -p tcp --dport 7542 -j DROP
port=7541
doctor halved 69
finds halved bad "second port" "$hub_address:7542 does not answer"
$at_hub iptables -w -D INPUT -p tcp --dport 7542 -j DROP

# A name with two addresses: nothing listens at the first, or at both.
$at_hub ip address add 10.99.0.3/24 dev switch
$at_hub ip address add fd99::1/64 dev switch nodad
ip -n "star-$$-node" address add fd99::2/64 dev link0 nodad
printf '10.99.0.3 two\n%s two\n10.99.0.3 six\nfd99::1 six\n' \
    "$hub_address" >"$here/hosts"
cat >"$here/named" <<'END'
mount --bind "$1" /etc/hosts
shift
exec "$@"
END
inside=$at_hub
port=7661
start h6 "$bin/starswitch-hub" --listen "[fd99::1]:$port" --insecure \
    --directory "$here/h6.run"
listens6() { $at_hub grep -q ":$(printf %04X "$1") " /proc/net/tcp6; }
until_ 20 "the hub on IPv6 listens" listens6 $((port + 1))
said h6 "listening tcp://[fd99::1]:$port, NOT encrypted" ||
    failed "an address of IPv6 has no brackets before its port"
inside="$at_node sh $here/named $here/hosts"
hub_address=six
doctor six 0
finds six ok port "at six:7661; of its 2 addresses fd99::1 answers"
finds six ok "second port" "port 7662 for data is there"
hub_address=two
port=7541
doctor two 0
finds two ok port "of its 2 addresses 10.99.0.1 answers"
finds two ok "second port" "port 7542 for data is there"
port=7601
doctor neither 69
finds neither bad port "nothing listens on that port; so it is at none of its 2"
hub_address=$hub
inside=$at_node
port=7541
send TERM h6
ends h6 0 30

# ---- who is no hub ----

cat >"$service" <<'END'
import socket, sys
listener = socket.create_server(("", int(sys.argv[1])))
first, then = (word.encode().decode("unicode_escape").encode("latin1")
               for word in sys.argv[2:4])
print("ready", flush=True)
while True:
    connection = listener.accept()[0]
    connection.sendall(first)
    connection.settimeout(3)
    try:
        if then and connection.recv(100):
            connection.sendall(then)
    except OSError:
        pass
    connection.close()
END
foreign() { # NAME PORT FIRST THEN WORDS
    inside=$at_hub
    start "$1.service" python3 "$service" "$2" "$3" "$4"
    inside=$at_node
    until_ 10 "$1 is there" said "$1.service" ready
    port=$2
    doctor "$1" 69
    finds "$1" bad port "looks like $5"
}
foreign ssh 7611 'SSH-2.0-OpenSSH_9.2\r\n' '' "an SSH server"
foreign web 7612 '' 'HTTP/1.0 200 OK\r\n\r\n' "a web server (HTTP)"
foreign tls 7613 '' '\x15\x03\x01\x00\x02\x02\x16' "a server of TLS"
foreign odd 7614 'hello, \x1b[31mworld\r\n' '' \
    'a program that says "hello, ?[31mworld"'

# ---- protocols ----

cat >"$here/other.py" <<'END'
import json, sys, msgpack, zmq
kinds = {row["name"]: row["kind"]
         for row in json.load(open(sys.argv[3]))["messages"]}
socket = zmq.Context().socket(zmq.ROUTER)
socket.bind("tcp://*:%s" % sys.argv[1])
print("ready", flush=True)
while True:
    peer, header = socket.recv_multipart()[:2]
    said = msgpack.unpackb(header)
    if said[0] == kinds["probe"] and sys.argv[2] == "answers":
        socket.send_multipart([peer, msgpack.packb(
            [kinds["probed"], said[3], 9, 11, 0, 0, 0, 0, 0])])
END
for way in answers silent; do
    inside=$at_hub
    start "$way" /usr/bin/python3 "$here/other.py" \
        "$([ $way = answers ] && echo 7621 || echo 7623)" $way docs/vectors.json
    inside=$at_node
    until_ 10 "$way is there" said $way ready
done
port=7621
doctor newer 76
finds newer bad protocol "the hub speaks 9 to 11, this node 3"
port=7623
doctor older 76
finds older bad protocol "the hub does not understand the question"

# ---- the link ----

port=7541
# A card that says it is a gigabit one.
cat >"$here/gigabit" <<'END'
mount -t tmpfs none /sys/class/net
mkdir /sys/class/net/link0
echo 1000 >/sys/class/net/link0/speed
exec "$@"
END
for side in hub node; do
    tc -n "star-$$-$side" qdisc add dev link0 root tbf rate 10mbit \
        burst 16kb latency 100ms
done
inside="$at_node sh $here/gigabit"
doctor slow 0
finds slow warn "rate up" "the card (link0) says 1 Gbit/s"
finds slow warn "rate down" "the card (link0) says 1 Gbit/s"
# What its queue lost is nothing that a cable did.
finds slow ok loss "a queue on the way is short"
inside=$at_node
for side in hub node; do
    tc -n "star-$$-$side" qdisc del dev link0 root
done

# measures NAME CHECK LEAST MOST: the rate, in Mbit/s, is between them.
measures() {
    python3 - "$here/$1.out" "$2" "$3" "$4" <<'END' || failed "$1: $2 is wrong"
import json, sys
name, check, least, most = sys.argv[1:]
text = next(one["text"] for one in map(json.loads, open(name))
            if one.get("check") == check)
words = text.removeprefix("at least ").split(";")[0].split()
rate = float(words[0]) * {"k": 1e-3, "M": 1, "G": 1e3}[words[1][0]]
print("    %s: %s" % (check, text))
sys.exit(not float(least) <= rate <= float(most))
END
}
# A shaper lets bursts through, which were taken for its rate. How busy this
# machine is decides how much less is seen, and how late what was lost comes
# again, so the bounds are far off.
# Each has a hub of its own, which has not spent its bytes yet.
port=7651
for shaped in "10 128 5" "100 128 50" "500 64 1" "940 128 1"; do
    # shellcheck disable=SC2086
    set -- $shaped
    for side in hub node; do
        tc -n "star-$$-$side" qdisc add dev link0 root tbf rate "$1mbit" \
            burst "$2kb" latency 50ms
    done
    inside=$at_hub
    hub "hub$1" --insecure --policy mean --json
    inside=$at_node
    until_ 20 "the hub listens" listens $((port + 1))
    doctor "rate$1" 0 --json
    printf '%s\n' "$1 Mbit/s:"
    measures "rate$1" "rate up" "$3" $(($1 * 16 / 10))
    measures "rate$1" "rate down" "$3" $(($1 * 16 / 10))
    send TERM "hub$1"
    ends "hub$1" 0 30
    for side in hub node; do
        tc -n "star-$$-$side" qdisc del dev link0 root
    done
done
port=7541

# Packets as they are on a wire: else 64 KiB are one.
packets() { # MOST: segments that are handed over as one
    for side in hub node; do
        ip -n "star-$$-$side" link set link0 gso_max_segs "$1"
    done
}
packets 1
lossy() { # NAME WORDS SIDE...: it loses one packet of a hundred
    local name=$1 words=$2 rule
    shift 2
    rule="INPUT -p tcp -m statistic --mode random --probability 0.01 -j DROP"
    # shellcheck disable=SC2086
    "$@" iptables -w -A $rule
    doctor "$name" 0
    finds "$name" warn loss "$words"
    # shellcheck disable=SC2086
    "$@" iptables -w -D $rule
}
lossy lossy_up "packets were sent again" $at_hub
lossy lossy_down "packets were sent again" $at_node
# One of a hundred was dropped, and about that is what TCP sends again.
tr '\n' ' ' <"$here/lossy_down.out" | tr -s ' ' |
    grep -qE 'from it [0-9]+ of [0-9]+ \((0\.[4-9][0-9]*|[12](\.[0-9])?) %\)' ||
    failed "lossy_down: not about 1 % is lost"
packets 65535

for side in hub node; do
    ip -n "star-$$-$side" link set link0 mtu 1400
done
doctor narrow 0
finds narrow warn "packet size" "packets of 1400 bytes go through"
for side in hub node; do
    ip -n "star-$$-$side" link set link0 mtu 1500
done

# Long packets vanish, and nobody says so: it finds out which, and with cards
# that are told so, all is well.
packets 1
hole() { # NAME LENGTH CHECK WORDS SIDE...
    local name=$1 length=$2 check=$3 words=$4 rule side
    shift 4
    rule="INPUT -p tcp -m length --length $length: -j DROP"
    # shellcheck disable=SC2086
    "$@" iptables -w -A $rule
    doctor "$name" 69
    finds "$name" bad "$check" "$words"
    finds "$name" bad "$check" "packets of up to $((length - 1)) bytes go"
    finds "$name" bad "$check" "dev CARD mtu $((length - 1)) on both PCs"
    for side in hub node; do
        ip -n "star-$$-$side" link set link0 mtu $((length - 1))
    done
    doctor "$name.mended" 0
    finds "$name.mended" warn "packet size" "of $((length - 1)) bytes go"
    for side in hub node; do
        ip -n "star-$$-$side" link set link0 mtu 1500
    done
    # shellcheck disable=SC2086
    "$@" iptables -w -D $rule
}
# shellcheck disable=SC2086
hole hole 1300 "rate up" "short messages reach the hub, long ones do not" \
    $at_hub
# shellcheck disable=SC2086
hole hole_down 1401 "rate down" "messages come from the hub, long ones do not" \
    $at_node
finds hole_down "[a-z]*" "rate up" "bit/s"
packets 65535

# A firewall that lets no connection carry much: it says so, or says nothing.
cuts() { # NAME WORDS TARGET...
    local name=$1 words=$2 rule
    shift 2
    rule="INPUT -p tcp --dport 7542 -m connbytes --connbytes 200000:
        --connbytes-dir both --connbytes-mode bytes -j $*"
    # shellcheck disable=SC2086
    $at_hub iptables -w -A $rule
    doctor "$name" 69
    finds "$name" bad "second port" "port 7542 for data $words after "
    # shellcheck disable=SC2086
    $at_hub iptables -w -D $rule
}
cuts reset "was cut" REJECT --reject-with tcp-reset
cuts silent "fell silent" DROP
finds silent warn "rate up" "not measured: the connection did not last"

# ---- this PC ----

library=$(realpath "$bin/tests/preload/clock.so")
inside="$at_node env LD_PRELOAD=$library CLOCK_OFFSET=-3600"
doctor late 0
finds late warn clock "60 min behind the hub's"
inside=$at_node
doctor large 70 --params 100G
finds large bad memory "a model of 100000000000 parameters"

# ---- keys ----

port=7551
inside=$at_hub
hub k --keys "$here/keys" --policy mean
until_ 20 "the hub with keys listens" listens 7552
inside=$at_node
doctor without 77
finds without bad key "lets in keys only, and this node has none"
start other "$bin/starswitch-hub" keygen "$here/other.run"
ends other 0 10
doctor foreign 77 --key-file "$here/other.run/keys/invitation"
finds foreign bad key "has other keys than this node's key is for"
doctor new 75 --key-file "$here/keys/invitation" --name pc1
finds new warn key "this PC has not enrolled yet"
finds new warn "rate up" "not measured: the hub gives bytes"
finds new warn loss "not measured: as rate up"
finds_no new bad
port=7552
doctor new_second 78 --key-file "$here/keys/invitation" --name pc1
finds new_second bad port "that is the hub's second port: give :7551"
port=7551
[ ! -e "$here/config/starswitch" ] || failed "doctor has made a key"
port=7552
node misled --key-file "$here/keys/invitation" --iterations 1M
ends misled 78
said misled "that is the hub's second port: give :7551" ||
    failed "a node is not told which port is the hub's first"
port=7551
node pc1 --key-file "$here/keys/invitation" --iterations 300
ends pc1 0 60
doctor enrolled 0 --key-file "$here/keys/invitation" --name pc1
finds enrolled ok key "the hub lets this PC in"
finds enrolled "[a-z]*" "rate up" "bit/s"
port=7552
doctor second_keys 78 --key-file "$here/keys/invitation" --name pc1
finds second_keys bad port "that is the hub's second port: give :7551"
port=7551
start gone "$bin/starswitch-hub" revoke "$here/k.run" pc1 --keys "$here/keys"
ends gone 0 10
doctor revoked 77 --key-file "$here/keys/invitation" --name pc1
finds revoked bad key "does not let in this node's key"

# ---- nobody's run is disturbed ----

port=7541
node n1
node n2
goes_on 30 n1 n2
for i in 1 2 3; do
    doctor "busy$i" 0
done
goes_on 30 n1 n2
never_paused n1
never_paused n2
! told h offence || failed "the hub takes a doctor for an offender"
for name in n1 n2 h k; do
    send TERM $name
    ends $name 0 30
done
