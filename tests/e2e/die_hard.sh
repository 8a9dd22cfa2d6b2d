#!/bin/sh
# RB-14: ten workers of 10 000 elements and 3 versions are killed where Rabit's
# acceptance set says, some again while they recover, and started again. With
# the model kept by the hub or by the workers, all end with the bytes of a run
# in which nobody died.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# A mock is RANK,VERSION,SEQUENCE,NDEATH; one whose rank has died more often
# before is never met, as in Rabit.
workers=10 elements=10000 versions=3
a="mock=0,0,1,0 mock=1,1,1,0"
b="$a mock=0,1,1,0 mock=4,1,1,0 mock=9,1,1,0"
c="$b mock=1,1,1,1 mock=8,1,2,0 mock=4,1,3,0"
export STARSWITCH_HUB="$hub_address:$port"
export LD_LIBRARY_PATH="$bin"

# Starts a worker again each time that it was killed.
keep_alive() { # NAME MODEL FILE [MOCK...]
    local name=$1 model=$2 file=$3
    shift 3
    # shellcheck disable=SC2016
    start "$name" sh -c '
        program=$1 pid=$2 name=$3 model=$4 file=$5
        shift 5
        trial=0 code=137
        while [ $code = 137 ]; do
            "$program" "$name" '"$workers $elements $versions"' "$model" \
                $trial "$file" "$@" &
            echo $! >"$pid"
            code=0
            wait $! || code=$?
            rm -f "$pid"
            trial=$((trial + 1))
        done
        echo "$name was started $trial times"
        exit $code' keep_alive \
        "$bin/examples/die_hard" "$here/now-$name.pid" "$name" "$model" \
        "$file" "$@"
}

run() { # NAME MODEL STARTS [MOCK...]
    local name=$1 model=$2 starts=$3 i total
    shift 3
    for i in $(seq $workers); do
        keep_alive "$name-$i" "$model" "$here/$name-$i.model" "$@"
    done
    for i in $(seq $workers); do
        ends "$name-$i" 0 60
        cmp "$here/first-1.model" "$here/$name-$i.model" 2>/dev/null ||
            [ "$name-$i" = first-1 ] || failed "$name-$i differs"
    done
    total=$(cat "$here/$name"-*.out | awk '{ n += $4 } END { print n }')
    [ "$total" = "$starts" ] ||
        failed "$name: $total starts of workers instead of $starts"
    echo "    $name: $total starts, and the same $((4 * elements)) bytes"
}

hub h --policy mean --chunk 8KiB --window 3
run first global 10
[ "$(wc -c <"$here/first-1.model")" = $((4 * elements)) ] ||
    failed "no model of $elements elements"
for model in global lazy; do
    # shellcheck disable=SC2086
    run "$model-recover" $model 12 $a
    # shellcheck disable=SC2086
    run "$model-die-same" $model 14 $b
    # shellcheck disable=SC2086
    run "$model-die-hard" $model 16 $c
done
send TERM h
ends h 0
