#!/bin/sh
# Chaos: a hub and nodes of which each has a network namespace, with kills,
# stops, cut and slow links and full disks that a seed draws; then what they
# have recorded is judged (tests/chaos/judge.h). Needs root.
#
#     tests/e2e/chaos.sh             for CHAOS_TIME seconds, with CHAOS_NODES
#     tests/e2e/chaos.sh hub-kills   100 kills of the hub, and no other fault
#     tests/e2e/chaos.sh counted     one node and all faults but its kill: the
#                                    centre holds all that it has learnt, once
#
# CHAOS_SEED draws, CHAOS_HUB has more options for the hub, CHAOS_MORE for
# star-chaos, and the recordings stay in CHAOS_FOLDER, if there is one.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

seconds=${CHAOS_TIME:-120} nodes=${CHAOS_NODES:-8} seed=${CHAOS_SEED:-1}
folder=${CHAOS_FOLDER:-$here/chaos}
if ! unshare --pid --fork --mount --net true 2>/dev/null; then
    echo "skipped: namespaces need root"
    exit 0
fi
mkdir -p "$folder"
cp "$data" "$folder"

run() { # OPTION...
    tests/chaos/network "$folder" "$nodes" "$bin/star-chaos" run "$folder" \
        --programs "$bin" --nodes "$nodes" --seed "$seed" \
        --hub "${CHAOS_HUB:-}" "$@" || failed "not all have ended"
}

# The longest lease is over in 60 s; a short run has no time for that.
quiet=60
[ "$seconds" -ge 300 ] || quiet=25

if [ "${1:-}" = hub-kills ]; then
    run --time 1800 --quiet 10 --hub-kills 100 --rest 3 \
        --mean all=0 --mean hub-kill=1
    "$bin/star-chaos" judge "$folder" --serve 2
elif [ "${1:-}" = counted ]; then
    # Of several, each weighs 1/N, and N is how many are heard at the time.
    nodes=1 CHAOS_HUB="--policy async --reduce mean --codec-up raw \
        --codec-down raw ${CHAOS_HUB:-}"
    # shellcheck disable=SC2086
    run --time $((seconds - quiet - 10)) --quiet $quiet --counted \
        --mean kill=0 --mean hub-loss=60 ${CHAOS_MORE:-}
    python3 tests/e2e/counted.py "$folder/centre.safetensors" "$folder/n" \
        "$nodes" || failed "what was learnt is not what the centre holds"
    "$bin/star-chaos" judge "$folder" --recovery
else
    # shellcheck disable=SC2086
    run --time $((seconds - quiet - 10)) --quiet $quiet --mean hub-loss=60 \
        ${CHAOS_MORE:-}
    "$bin/star-chaos" judge "$folder" --recovery
fi
