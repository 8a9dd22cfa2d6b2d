#!/bin/sh
# Do 10,000 connections that are no nodes slow those down that are? One JSON
# line: rounds a second under attack beside those without it, in turn, and what
# memory the hub took at most.
#
# A hub with keys and four nodes that have enrolled, which exchange about ten
# times a second and leave processor time to spare, as PCs with a core to spare
# do; bench/attacker.c says what the others do. It wants CONNECTIONS (12000), as
# the hub keeps cutting many of them. PAIRS times SECONDS_EACH with and without.
set -eu
cd "$(dirname "$0")/.."
. tests/e2e/common

pairs=${PAIRS:-5} seconds=${SECONDS_EACH:-12} connections=${CONNECTIONS:-12000}

export XDG_CONFIG_HOME="$here/config"
start keygen "$bin/starswitch-hub" keygen "$here/h.run" \
    --listen "127.0.0.1:$port"
ends keygen 0
key=$(cat "$here/keygen.out")
hub h --keys "$here/h.run/keys" --policy mean --every 10 --delay 5 --save 24h \
    --json
for name in n1 n2 n3 n4; do
    node $name --key "$key"
done
goes_on 60 n1 n2 n3 n4
pid=$(cat "$here/h.pid")
memory() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"; }
before=$(memory)

# Rounds a second, by what two of the hub's lines say.
stand() { echo "$(field h rounds) $(field h seconds)"; }
rate() {
    local before after
    before=$(stand)
    sleep "$seconds"
    after=$(stand)
    echo "$before $after" | awk '{ printf "%.3f\n", ($3 - $1) / ($4 - $2) }'
}

for pair in $(seq "$pairs"); do
    alone=$(rate)
    start "a$pair" "$bin/bench/attacker" --port "$port" \
        --connections "$connections" --rate 4000 --seconds $((seconds + 12))
    sleep 6 # until all are there
    under=$(rate)
    ends "a$pair" 0 60
    echo "$alone $under $(field "a$pair" most) $(field "a$pair" cut)"
done >"$here/pairs"
for name in n1 n2 n3 n4; do
    is_ $name attached true || failed "$name has been cut"
done

sort -n "$here/pairs" | awk -v before="$before" -v after="$(memory)" '
    { ratio[NR] = $2 / $1; most = $3 > most ? $3 : most; cut += $4 }
    END {
        for (i = 1; i < NR; i++)
            for (j = i + 1; j <= NR; j++)
                if (ratio[j] < ratio[i]) {
                    t = ratio[i]; ratio[i] = ratio[j]; ratio[j] = t
                }
        i = int((NR + 1) / 2)
        printf "{\"bench\":\"hostile\",\"connections\":%d,\"cut\":%d,", most,
            cut
        printf "\"ratio\":%.3f,\"runs\":%d,",
            (ratio[i] + ratio[NR + 1 - i]) / 2, NR
        printf "\"hub_MiB\":%.0f,\"without_MiB\":%.0f}\n", after / 1024,
            before / 1024
    }'
