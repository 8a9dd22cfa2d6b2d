#!/bin/sh
# Does the simulator say what happens? Each line of bench/truth/scenarios is run
# by real programs, on network namespaces whose ports have token buckets or over
# shims, then simulated with the same seeds by starswitch-sim validate, which
# measures both. What a step takes beside --step-time is taken from the first
# line's first run; all else is predicted. Prints JSON lines; needs root.
#
#   bench/truth.sh            all, 5 seeds each: about 20 minutes
#   bench/truth.sh --quick    five scenarios, one seed: 90 seconds
#   bench/truth.sh --docs     all, and writes docs/truth.svg and the table in
#                             docs/simulation.md
#
# SEEDS (5), SECONDS_EACH (11), SCENES: names, KEEP: a folder for recordings.
# What other programs compute meanwhile is measured, too: use a quiet machine,
# or WITH="chrt -r 5", which real programs are then started with.
set -eu
cd "$(dirname "$0")/.."
. bench/kit/network
quick='rank-mean-late rank-async two-mean eight-diloco shim-easgd'
docs=
case ${1:-} in
--help)
    sed -n '2,15s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--quick) SCENES=$quick SEEDS=${SEEDS:-1} ;;
--docs) docs=1 ;;
esac
bin=${STAR_BUILD:-build}
seeds=${SEEDS:-5} seconds=${SECONDS_EACH:-11}
with=${WITH:-}
model=mlp:784-256-10,batch=32,lr=0.0003
source=${DATA:-/usr/share/datasets/fashion-mnist}
name=truth-$$
work=$(mktemp -d)
keep=${KEEP:-$work}
mkdir -p "$keep"

finish() {
    code=$?
    trap - EXIT
    for place in $(ip netns list | grep -o "^$name-[a-z0-9]*"); do
        # shellcheck disable=SC2046
        kill $(ip netns pids "$place") 2>/dev/null || true
    done
    network_remove $name
    rm -rf "$work"
    exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# ---- data: a part of the images, so that nodes have read it at once ----

images() { # FILE COUNT-IN-OCTAL COUNT
    {
        printf "\\0\\0\\010\\003\\0\\0$2\\0\\0\\0\\034\\0\\0\\0\\034"
        gzip -dc "$source/$1.gz" | tail -c +17 | head -c $(($3 * 784))
    } >"$work/data/$1"
}

labels() { # the same
    {
        printf "\\0\\0\\010\\001\\0\\0$2"
        gzip -dc "$source/$1.gz" | tail -c +9 | head -c "$3"
    } >"$work/data/$1"
}

mkdir "$work/data"
images train-images-idx3-ubyte '\056\340' 12000
labels train-labels-idx1-ubyte '\056\340' 12000
images t10k-images-idx3-ubyte '\007\320' 2000
labels t10k-labels-idx1-ubyte '\007\320' 2000

# ---- a real run ----

at() { # PLACE COMMAND...
    local place=$1
    shift
    ip netns exec "$name-$place" "$@"
}

# LINK is RATE, or RATE:DELAY:JITTER of a shim.
is_shim() { case $link in *:*) true ;; *) false ;; esac }
of_link() { echo "$link" | cut -d : -f "$1"; }

# A short queue of tokens: a wire has none. Where cubic, which is Linux's own,
# may not be had in a namespace, reno begins and shares in the same way.
network() { # NODES
    local place
    if is_shim; then
        ip netns add "$name-hub" && ip -n "$name-hub" link set lo up
        return
    fi
    # shellcheck disable=SC2034
    network_burst=16kb
    network_make $name "$1" "${link}mbit" || return
    for place in hub $(seq 0 $(($1 - 1))); do
        at "$place" sysctl -qw net.ipv4.tcp_congestion_control=cubic \
            2>/dev/null ||
            at "$place" sysctl -qw net.ipv4.tcp_congestion_control=reno
    done
}

address() { if is_shim; then echo 127.0.0.1; else network_address; fi }

listens() { at hub grep -q ':1D75 .* 0A ' /proc/net/tcp; }

# shim NODE SEED: the node connects to port 7543 + 2 NODE.
shim() {
    ip netns exec "$name-hub" "$bin/starswitch-sim" shim --hub 127.0.0.1:7541 \
        --listen "127.0.0.1:$((7543 + 2 * $1))" --name "n$(($1 + 1))" \
        --rate "$(of_link 1)Mbit" --latency "$(of_link 2)ms" \
        --jitter "$(of_link 3)ms" --seed "$2" 2>"$work/shim$1" &
    shims="$shims $!"
    until grep -qs listening "$work/shim$1"; do
        kill -0 $! || return
        sleep 0.02
    done
}

node() { # NODE STEP SEED
    local place=$1 port=7541
    ! is_shim || place=hub port=$((7543 + 2 * $1))
    # shellcheck disable=SC2086
    ip netns exec "$name-$place" $with "$bin/starswitch-node" --json \
        --name "n$(($1 + 1))" --hub "$(address):$port" --model $model \
        --data "$work/data" --seed "$3" --step-time "$2ms" \
        >/dev/null 2>"$work/node$1" &
    nodes_of="$nodes_of $!"
}

# real RECORDING NODES STEP SLOW SEED OPTION...: n1 comes first, and founds.
real() {
    local record=$1 nodes=$2 step=$3 slow=$4 seed=$5 hub last i code=0
    local shims='' nodes_of=''
    shift 5
    last=$((nodes - 1))
    # shellcheck disable=SC2086
    ip netns exec "$name-hub" $with "$bin/starswitch-hub" --insecure --json \
        --nodes "$nodes" --listen "$(address):7541" --directory "$work/run" \
        --model $model --data "$work/data" --evaluate 250ms --init hub \
        --seed "$seed" --time "${seconds}s" --record "$record" "$@" \
        >/dev/null 2>"$work/hub" &
    hub=$!
    until listens; do
        kill -0 $hub 2>/dev/null || break
        sleep 0.02
    done
    for i in $(seq 0 $last); do
        ! is_shim || shim "$i" "$seed"
    done
    node 0 "$step" "$seed"
    sleep 0.3
    for i in $(seq 1 $((last - 1))); do
        node "$i" "$step" "$seed"
        sleep 0.03
    done
    node $last "$slow" "$seed"
    wait $hub || code=$?
    # shellcheck disable=SC2086
    wait $nodes_of || true
    # shellcheck disable=SC2086
    [ -z "$shims" ] || kill $shims
    wait
    rm -rf "$work/run"
    [ $code = 0 ] ||
        echo "truth.sh: the hub failed: $(tail -n 1 "$work/hub")" >&2
    return $code
}

# ---- and the same, simulated ----

# Of a link's bits TCP carries 1448 bytes of each frame of 1514, as tc counts;
# a shim counts what it carries, and nodes share nothing but the hub's loopback.
network_options() {
    local rate
    if is_shim; then
        echo "--rate $(of_link 1)Mbit --port none --latency $(of_link 2)ms" \
            "--jitter $(of_link 3)ms"
        return
    fi
    rate=$(awk -v mbit="$link" 'BEGIN {
        print int(mbit * 125 * 1448 / 1514) "kB/s" }')
    echo "--rate $rate --port $rate --latency 50us --jitter 50us"
}

# speeds NODES STEP SLOW: 1,1,0.5
speeds() {
    awk -v n="$1" -v step="$2" -v slow="$3" -v extra="$extra" 'BEGIN {
        for (i = 1; i < n; i++)
            printf "1,"
        printf "%.9f\n", (step + extra) / (slow + extra)
    }'
}

validate() { # RECORDING NODES STEP SLOW GOAL
    # shellcheck disable=SC2046
    "$bin/starswitch-sim" validate "$1" --json --goal "$5" \
        $(network_options) --speeds "$(speeds "$2" "$3" "$4")" \
        --step-time "$(awk -v a="$3" -v b="$extra" 'BEGIN {
            print int((a + b) * 1e3) "us" }')"
}

# How much longer an iteration takes in reality, in milliseconds.
calibrate() { # JSON
    echo "$1" | awk -F '"step":' '{
        extra = 1e3 * ($2 - $3)
        print (extra > 0 ? extra : 0)
    }'
}

scenario() { # NAME NODES LINK STEP SLOW GOAL OPTION...
    local scenario=$1 nodes=$2 link=$3 step=$4 slow=$5 goal=$6 seed record said
    shift 6
    network "$nodes" || {
        echo "truth.sh: skipped: network namespaces need root" >&2
        return
    }
    for seed in $(seq "$seeds"); do
        record=$keep/$scenario.$seed.record
        real "$record" "$nodes" "$step" "$slow" "$seed" "$@" || continue
        said=$(validate "$record" "$nodes" "$step" "$slow" "$goal")
        if [ -z "$calibrated" ]; then
            extra=$(calibrate "$said") calibrated=1
            echo "{\"calibrated\":\"$scenario\",\"extra_ms\":$extra}"
            said=$(validate "$record" "$nodes" "$step" "$slow" "$goal")
        fi
        echo "{\"scenario\":\"$scenario\",\"nodes\":$nodes,\"link\":\"$link\",$(
            echo "$said" | sed 's/^{//')"
    done
    network_remove $name
}

extra=0 calibrated=
grep -v '^#' bench/truth/scenarios >"$work/scenarios"
while read -r first rest; do
    case " ${SCENES:-$first} " in
    *" $first "*) ;;
    *) continue ;;
    esac
    # shellcheck disable=SC2086
    scenario $first $rest </dev/null
done <"$work/scenarios" | tee "$work/lines"
awk -v form=text -f bench/truth/report.awk "$work/lines" >&2
[ -n "$docs" ] || exit 0
awk -v form=svg -f bench/truth/report.awk "$work/lines" >docs/truth.svg
awk -v form=table -f bench/truth/report.awk "$work/lines" >"$work/table"
awk -v table="$work/table" '
    /^<!-- truth: end -->/ { within = 0 }
    !within { print }
    /^<!-- truth: begin/ {
        within = 1
        while ((getline line <table) > 0)
            print line
    }' docs/simulation.md >"$work/page"
cat "$work/page" >docs/simulation.md
