#!/bin/sh
# Do those who attack a hub slow its nodes down? A JSON line for each attack:
# the nodes' results a second under it beside those without it, in turn, what
# the hub took of memory, descriptors and cores, and how much there was of it.
#
# Four nodes whose step has 20 ms exchange each ten of them, which leaves
# processor time to spare, as PCs with a core to spare do. Attackers give way to
# them (nice 10), since a stranger brings its own processor: what is measured is
# what they cost the hub. Of strangers, against a hub with keys:
#
#     connections   12,000 that are no nodes (bench/attacker.c)
#     frames        and handshakes, as many as come through (tests/attack)
#
# and against one without keys, once newcomers' patience is used up:
#
#     claims        of names of connections, 10,000 a second (tests/attack)
#     newcomers, idle, drips, boasts, nothing, unfinished
#                   what members do (tests/interop/hostile.py)
#
# ATTACKS names some of them. PAIRS (3) times SECONDS_EACH (12) with and
# without. CONNECTIONS (12000): the hub keeps cutting many of them.
set -eu
cd "$(dirname "$0")/.."
. tests/e2e/common
export PYTHONDONTWRITEBYTECODE=1 XDG_CONFIG_HOME="$here/config"

pairs=${PAIRS:-3} seconds=${SECONDS_EACH:-12} connections=${CONNECTIONS:-12000}
outside="connections frames"
within="claims newcomers idle drips boasts nothing unfinished"
attacks=${ATTACKS:-$outside $within}
nodes="n1 n2 n3 n4"

# star HUB OPTION...: a hub and its nodes, which take OPTIONs, on a free port.
star() {
    local name=$1
    shift
    hub "$name" --policy mean --every 10 --delay 5 --save 24h --json $options
    for node in $nodes; do
        rm -f "$here/$node.out"
        start $node "$bin/starswitch-node" --hub "127.0.0.1:$port" \
            --name $node --json --step-time 20ms \
            --trainer "$bin/tests/preload/counting_trainer.so" \
            --model "x:${node#n}" "$@"
    done
    # shellcheck disable=SC2086
    goes_on 60 $nodes
    pid=$(cat "$here/$name.pid") victim=$name
}

memory() { # Rss or HWM, in kB
    sed -n "s/^Vm$1:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$pid/status"
}
descriptors() { find "/proc/$pid/fd" -mindepth 1 | wc -l; }
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

# Results of all nodes, and the second of each one's line, added up.
stand() {
    for node in $nodes; do
        echo "$(count $node applied) $(count $node seconds)"
    done | awk '{ a += $1; s += $2 } END { print a, s }'
}
rate() {
    local before after
    before=$(stand)
    sleep "$seconds"
    after=$(stand)
    echo "$before $after" | awk '{ printf "%.3f\n", ($3 - $1) / ($4 - $2) }'
}

# attack KIND NAME SECONDS: in the background.
attack() {
    local kind=$1 name=$2 long=$3
    case $kind in
    connections)
        start "$name" nice -n 10 "$bin/bench/attacker" --port "$port" \
            --connections "$connections" --rate 4000 --seconds "$long" ;;
    frames)
        start "$name" nice -n 10 "$bin/star-attack" --port "$port" \
            --hub "$keys/hub.key_secret" --frames 1000000000 \
            --own "$XDG_CONFIG_HOME/starswitch/bad.key_secret" \
            --seconds "$long" --hold 1000 ;;
    claims)
        start "$name" nice -n 10 "$bin/star-attack" --port "$port" \
            --claims $((10000 * long)) --seconds "$long" --hold 9000 ;;
    *)
        start "$name" nice -n 10 /usr/bin/python3 tests/interop/hostile.py \
            "$kind" "$port" "$pid" "$here/n1.out" --seconds "$long" \
            --many "$(many "$kind" "$long")" ;;
    esac
}
amount() { # KIND NAME: connections opened, frames delivered, names claimed
    case $1 in
    connections) count "$2" opened ;;
    frames) count "$2" delivered ;;
    claims) count "$2" claims ;;
    *) sed -n 's/.*"\(members\|frames\|offers\|whole\)": \([0-9]*\).*/\2/p' \
        "$here/$2.out" | tail -n 1 ;;
    esac
}
many() { # how many there are of a kind in so many SECONDS
    case $1 in
    nothing) echo $((200 * $2)) ;;
    *) echo 500 ;;
    esac
}

# median FIELD OF DIGITS: of the pairs' lines.
median() {
    cut -d ' ' -f "$1" "$here/pairs" | sort -n | awk -v digits="$2" '
        { v[NR] = $1 }
        END {
            printf "%.*f", digits,
                (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
        }'
}

pair() { # KIND NUMBER: ratio, memory, descriptors, cores, alone, amount
    local alone under before used open
    alone=$(rate)
    echo 5 >"/proc/$pid/clear_refs" # the peak of its memory begins anew
    attack "$1" "$1$2" $((seconds + 22))
    sleep 20 # until all are there, and nobody is new any more
    before=$(ticks)
    under=$(rate)
    used=$(ticks) open=$(descriptors)
    until_ 90 "$1 ends" is_over "$1$2"
    echo "$under $alone $(memory HWM) $open $used $before $seconds" \
        "$(amount "$1" "$1$2")" |
        awk '{ printf "%.4f %d %d %.3f %.3f %d\n", $1 / $2, $3 / 1024, $4,
            ($5 - $6) / 100 / $7, $2, $8 }' >>"$here/pairs"
}

measure() { # KIND
    local number
    rm -f "$here/pairs"
    for number in $(seq "$pairs"); do
        pair "$1" "$number"
    done
    for node in $nodes; do
        is_ $node attached true || failed "$node has been cut by $1"
    done
    printf '{"bench":"hostile","attack":"%s","ratio":%s,"alone":%s,' \
        "$1" "$(median 1 3)" "$(median 5 2)"
    printf '"hub_MiB":%s,"descriptors":%s,"cores":%s,"amount":%s,"runs":%s}\n' \
        "$(median 2 0)" "$(median 3 0)" "$(median 4 2)" "$(median 6 0)" \
        "$pairs"
}

some() { # KINDS: those of them that are wanted
    local kind
    for kind in $1; do
        case " $attacks " in *" $kind "*) echo "$kind" ;; esac
    done
}
measure_all() { # KINDS
    local kind
    for kind in $1; do
        measure "$kind"
    done
    for node in $nodes $victim; do
        send KILL $node
        until_ 10 "$node ends" is_over $node
    done
}

if [ -n "$(some "$outside")" ]; then
    start keygen "$bin/starswitch-hub" keygen "$here/h.run" \
        --listen "127.0.0.1:$port"
    ends keygen 0
    keys=$here/h.run/keys options="--keys $here/h.run/keys"
    star h --key-file "$keys/invitation"
    start bad "$bin/starswitch-node" --hub "127.0.0.1:$port" --name bad \
        --trainer "$bin/tests/preload/counting_trainer.so" --model x:5 \
        --key-file "$keys/invitation"
    until_ 20 "bad joins" told h node_joined bad
    send TERM bad
    ends bad 0 20
    measure_all "$(some "$outside")"
fi
if [ -n "$(some "$within")" ]; then
    free_port
    options=
    star u
    measure_all "$(some "$within")"
fi
