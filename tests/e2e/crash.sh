#!/bin/sh
# A real hub under load is killed in the middle of a call: at its n-th write,
# fsync, rename, unlink, send and so on. After each, its directory is whole, and
# a hub that is started there goes on from a version that is not older than the
# last one that was said to be saved. STAR_POINTS: how many such points, spread
# over the kinds of calls.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

points=${STAR_POINTS:-40}
library=$(realpath "$bin/tests/preload/faults.so")
newest=0 # version that was ever said to be saved
lives=0

# life VARIABLE=VALUE...: a hub with the library, in the same directory.
life() {
    rm -f "$here/h.out" "$here/h.err"
    inside="env LD_PRELOAD=$library $*"
    hub h --policy async --every 5 --delay 2 --save 10ms --evaluate 10ms \
        --best 2
    inside=
}

# The version in the last whole line with these words, or 0.
version_in() { # WORDS
    local version
    version=$(sed -n "s/.*$1version \([0-9]*\)\>.*/\1/p" "$here/h.out" \
        "$here/h.err" 2>/dev/null | sort -n | tail -n 1)
    echo "${version:-0}"
}

saves_after() { # VERSION
    [ "$(version_in 'centre_saved.*')" -gt "$1" ]
}

# What it began with is not older than what was saved; what it saves counts.
judge() { # WHERE
    local begun saved
    begun=$(version_in 'going on with run .* at ')
    saved=$(version_in 'centre_saved.*')
    [ "$begun" = 0 ] || [ "$begun" -ge "$newest" ] ||
        failed "$1: it goes on at $begun, and $newest was saved"
    [ "$saved" = 0 ] || [ "$saved" -ge "$newest" ] ||
        failed "$1: it saves $saved, and $newest was saved"
    ! said h "is damaged" || failed "$1: it found something damaged"
    [ "$saved" = 0 ] || newest=$saved
    "$bin/starswitch-hub" verify "$here/h.run" >"$here/verify" 2>&1 || {
        cat "$here/verify"
        failed "$1: verify finds something"
    }
}

nodes() {
    for name in n1 n2; do
        start $name "$bin/starswitch-node" --hub "$hub_address:$port" \
            --name $name --trainer "$bin/examples/blobs_trainer.so" \
            --step-time 3ms --json
    done
}

# How often a hub does what in some saves: between how many calls a point can be
# chosen. Before that, there are generations and best centres.
nodes
life STAR_FAULT=send:1000000:kill
until_ 20 "it saves" saves_after 0
until_ 20 "it saves more" saves_after $(($(version_in 'centre_saved.*') + 30))
send KILL h
ends h 137
judge "at first"
life "STAR_CALLS=$here/calls"
until_ 20 "it saves again" saves_after "$newest"
until_ 20 "it saves more" saves_after $((newest + 30))
end_run h
for name in h n1 n2; do
    ends $name 0
done
judge "when the calls were counted"

# The kinds with few calls first: what they leave goes to the others.
sort -n -k 2 "$here/calls" | awk -v points="$points" '
    { kind[NR] = $1; calls[NR] = $2 }
    END {
        for (i = 1; i <= NR; i++) {
            count = int(points / (NR - i + 1) + 0.5)
            count = count < calls[i] ? count : calls[i]
            points -= count
            for (j = 0; j < count; j++)
                print kind[i] ":" int(calls[i] * (j + 0.5) / count) + 1
        }
    }' >"$here/points"

nodes
killed=0
while read -r point; do
    life "STAR_FAULT=$point:kill"
    limit=$(($(now) + 500))
    until is_over h || [ "$(now)" -gt "$limit" ]; do
        sleep 0.02
    done
    if is_over h; then
        killed=$((killed + 1))
    else
        send KILL h
    fi
    ends h 137
    judge "$point"
    lives=$((lives + 1))
done <"$here/points"
[ $((killed * 4)) -ge $((lives * 3)) ] ||
    failed "only $killed of $lives lives came to their point"

# And then nothing goes wrong any more.
life STAR_FAULT=send:1000000000:kill
for name in n1 n2; do
    until_ 20 "$name is back" told h node_rejoined $name
done
goes_on 20 n1 n2
until_ 20 "it saves" saves_after "$newest"
judge "at last"
send TERM h
ends h 0
echo "    killed at $killed points of $(wc -l <"$here/calls") kinds; version" \
    "$newest was saved"
