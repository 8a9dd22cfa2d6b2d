#!/bin/sh
# Hub and node in network namespaces of their own, with a bridge between them.
# When the network swallows every packet, the node trains on at its rate; when
# it works again, the node comes back. Needs root.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/e2e/network
network || exit 0

# Where n1 stands: iterations, seconds, seconds inside library calls, seconds
# in which it waited for a result.
stand() {
    echo "$(count n1 iteration) $(count n1 seconds) $(count n1 inside)" \
        "$(count n1 waited)"
}

later() { # SECONDS THAN
    awk -v now="$(count n1 seconds)" -v than="$2" -v by="$1" \
        'BEGIN { exit now < than + by }'
}

# Over the next 4 s: iterations a second, and per cent of the time inside the
# library; waiting is not allowed.
look() {
    local from
    from=$(stand)
    until_ 20 "n1 trains for 4 s" later 4 "$(echo "$from" | cut -d ' ' -f 2)"
    echo "$from $(stand)" | awk '{
        printf "%.1f %.3f\n", ($5 - $1) / ($6 - $2),
            100 * ($7 - $3) / ($6 - $2)
        exit $8 > $4
    }' || failed "n1 waits"
}

inside=$at_hub
hub h --insecure --policy mean --every 20 --delay 4
inside=$at_node
node n1
until_ 10 "n1 joins over the bridge" told h node_joined n1
goes_on 10 n1
with=$(look)

swallow -I
until_ 10 "n1 is shown as silent" told h node_silent n1
without=$(look)
until_ 25 "n1 sees that the hub is silent" is_ n1 attached false
alone=$(look)
never_paused n1
echo "$with $without $alone" | awk '{
    print "    it/s and % of the time inside the library:"
    print "    " $1, $2, "with the hub,", $3, $4, "while packets vanish,",
        $5, $6, "once that is noticed"
    exit $4 > 5 || $6 > 5 || $3 < $1 / 2 || $5 < $1 / 2
}' || failed "the node trains slower in a black hole"

swallow -D
until_ 30 "n1 is back" is_ n1 attached true
told h node_rejoined n1 || told h node_back n1 ||
    failed "no word of n1's return"
goes_on 10 n1
end_run h
ends n1 0
ends h 0
