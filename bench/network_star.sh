#!/bin/sh
# How close to what the links allow is the star on a switch of 1 Gbit/s, and
# what does it do at 8? Rounds, an uploader, staggered exchanges, pings and a
# whole run, each on network namespaces whose ports have token buckets. One
# JSON line per figure; needs root.
#
# ROUNDS (5), MEGABYTES (64), RATES ("1 8"), SIZES ("4 8"): nodes.
set -eu
cd "$(dirname "$0")/.."
. bench/kit/network
case ${1:-} in
--help)
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,8p'
    exit 0
    ;;
esac

bin=${STAR_BUILD:-build}/bench
rounds=${ROUNDS:-5} megabytes=${MEGABYTES:-64}
name=bench-$$

finish() {
    code=$?
    trap - EXIT
    network_remove $name
    exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# Each has its limit; one that fails says so and the others go on.
run() { # PROGRAM [OPTION...]
    local program=$1 said
    shift
    if said=$(timeout 600 "$bin/$program" --network $name --rounds "$rounds" \
        "$@"); then
        echo "$said" | sed "s/^{/{\"gigabit\":$rate,/"
    else
        echo "network_star.sh: $program $* failed at $rate Gbit/s" >&2
    fi
}

round() { # NODES NAME [OPTION...]
    local nodes=$1 figure=$2
    shift 2
    run star_round --nodes "$nodes" --megabytes "$megabytes" \
        --bytes "$goodput" --name "$figure" --against none "$@"
}

for rate in ${RATES:-1 8}; do
    for nodes in ${SIZES:-4 8}; do
        network_make $name "$nodes" "${rate}gbit" || {
            echo "network_star.sh: skipped: network namespaces need root" >&2
            exit 0
        }
        said=$(run goodput)
        echo "$said"
        goodput=$(echo "$said" |
            sed -n 's/.*"bytes_per_second":\([0-9]*\).*/\1/p')
        run star_round --nodes "$nodes" --megabytes "$megabytes" \
            --bytes "$goodput" --name link_round
        round "$nodes" link_best --lossy --scores -- --policy best
        round "$nodes" link_int8 --lossy -- \
            --codec-up int8 --codec-down int8
        run star_round --nodes "$nodes" --megabytes "$megabytes" \
            --bytes "$goodput" --name link_keys --keys --against f32
        run port_busy --nodes "$nodes" --megabytes "$megabytes" \
            --rate "${rate}000000000"
        run control_rtt --nodes "$nodes" --megabytes "$megabytes" \
            --name link_rtt
        [ "$nodes" != 8 ] || run end_to_end --nodes 8 --bytes "$goodput"
        network_remove $name
    done
done
