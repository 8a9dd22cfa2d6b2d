#!/bin/sh
# Traces made of what ping and iperf3 really print, here and now, in a network
# of two namespaces with a narrow link (or on loopback where there are none);
# what is cut off or garbled is refused by its line.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/e2e/network

sim=$bin/starswitch-sim
if network; then
    inside=$at_node
    $at_node tc qdisc add dev link0 root tbf rate 100mbit burst 32kb \
        latency 50ms
    most=120
else
    at_hub= at_node= most=1000000
fi

# refused WHAT KIND FILE: code 74 and a line's number, or that it is empty.
refused() {
    code=0
    "$sim" import "$2" "$3" >"$here/none" 2>"$here/why" || code=$?
    [ "$code" = 74 ] || failed "$1: exit code $code"
    grep -q "line [0-9]\|empty" "$here/why" || failed "$1: $(cat "$here/why")"
}

# values TRACE QUANTITY: those that it has.
values() { awk -v what="$2" '$3 == what { print $4 }' "$1"; }

# ---- ping ----

$at_node ping -D -n -i 0.05 -c 20 "$hub_address" >"$here/ping.log"
"$sim" import ping "$here/ping.log" --node n1 -o "$here/ping.trace"
[ "$(values "$here/ping.trace" delay | wc -l)" -ge 3 ] ||
    failed "few delays: $(cat "$here/ping.trace")"
awk '{ print } /icmp_seq=3/ { print "what is this?" }' "$here/ping.log" \
    >"$here/garbled.log"
head -c 300 "$here/ping.log" >"$here/cut.log"
: >"$here/empty.log"
refused "ping, garbled" ping "$here/garbled.log"
refused "ping, cut off" ping "$here/cut.log"
refused "ping, empty" ping "$here/empty.log"
echo "ping: $(values "$here/ping.trace" delay | wc -l) delays"

# ---- iperf3 ----

start server $at_hub iperf3 -s -1 -p $port
listens() {
    $at_hub cat /proc/net/tcp /proc/net/tcp6 |
        grep -q ":$(printf %04X $port) 0*:0000 0A"
}
until_ 20 "iperf3 listens" listens
# What waits in a small buffer does not count as sent.
$at_node iperf3 -c "$hub_address" -p $port -t 2 -i 0.5 -w 128K -J \
    >"$here/iperf.json"
"$sim" import iperf3 "$here/iperf.json" --node n1 -o "$here/iperf.trace"
"$sim" export csv "$here/iperf.trace" |
    awk -F, -v most=$most '$3 == "up" {
        count++
        mbit = $4 * 8e-6
        if (mbit <= 0 || mbit > most) bad = mbit
    }
    END {
        print "iperf3: " count " rates"
        if (count < 2) { print "few rates"; exit 1 }
        if (bad) { print bad " Mbit/s through 100"; exit 1 }
    }' || failed "$(cat "$here/iperf.trace")"
head -c 2000 "$here/iperf.json" >"$here/cut.json"
sed '7s/.*/&,,/' "$here/iperf.json" >"$here/garbled.json"
refused "iperf3, cut off" iperf3 "$here/cut.json"
refused "iperf3, garbled" iperf3 "$here/garbled.json"
refused "iperf3, empty" iperf3 "$here/empty.log"

# ---- both are traces that the simulator follows ----

"$sim" run --nodes 2 --params 100k --time 5s --trace "$here/iperf.trace" \
    --json >"$here/run.json"
grep -q '"done":true' "$here/run.json" || failed "$(cat "$here/run.json")"
echo "what ping and iperf3 say is followed"
