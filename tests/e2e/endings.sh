#!/bin/sh
# A run ends by itself: by iterations, by time, by its goal. Hub and nodes exit
# with 0, and the model that is left can be read by somebody else.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# A run of two nodes that ends; its words are TEXT, its exit codes are 0.
run() { # NAME TEXT OPTION...
    local name=$1 text=$2 each file tensor
    shift 2
    hub "$name" --every 20 --delay 4 --evaluate 200ms "$@"
    node "$name-1"
    node "$name-2"
    for each in "$name" "$name-1" "$name-2"; do
        ends "$each" 0 30
    done
    said "$name" "$text" || failed "$name does not say: $text"
    ! told "$name" node_lost || failed "$name: nodes that left are called lost"
    for file in current/centre best; do
        file=$here/$name.run/$file.safetensors
        tensors "$file" >"$here/tensors"
        for tensor in 'layer1.weight F32 \[16, 6\]' 'layer2.bias F32 \[3\]'; do
            grep -q "^$tensor " "$here/tensors" ||
                failed "$file has no $tensor"
        done
    done
    echo "    $name: $text; $(tail -n 1 "$here/$name-1.out")"
}

run iterations "300 iterations done" --iterations 300 --policy mean
at_least iterations-1 iterations 280 || failed "too few iterations"
[ "$(count iterations-1 iterations)" -lt 600 ] || failed "too many iterations"

run time "the time is over" --time 3s --policy async \
    --report "$here/time.html"
run goal "goal reached" --goal 95% --policy diloco --model $model \
    --data "$data" --report "$here/goal.html"
run loss "goal reached" --goal 0.3 --policy mean --model $model --data "$data"

# The report says how values travelled; results of async cannot be changes.
for each in 'goal codec int8' 'time codec-up int8 codec-down raw'; do
    grep -q " ${each#* } &#160;" "$here/${each%% *}.html" ||
        failed "the report does not say: $each"
done

# The line that goes on replaces no file of this part of the run.
said time "To go on with it" || failed "how to go on is not told"
! grep -A 1 "To go on with it" "$here/time.out" | grep -q -e --report ||
    failed "going on as is told replaces the report"

# What the centre makes up stands in the last lines and in the report.
seq 2000 >"$here/numbers"
text="--model gpt:L1-D16-H2-T16 --data $here/numbers"
# shellcheck disable=SC2086
hub writes --iterations 40 $text --report "$here/writes.html"
# shellcheck disable=SC2086
start writes-1 "$bin/starswitch-node" --hub "127.0.0.1:$port" $text
for each in writes writes-1; do
    ends "$each" 0 30
done
said writes ' writes  "' || failed "the hub does not show what its model writes"
grep -q "<h2>The centre writes</h2>" "$here/writes.html" ||
    failed "the report does not show it"

# Who only waits for others is not told that its network is slow.
hub lonely --nodes 2
start lonely-1 "$bin/starswitch-node" --hub "127.0.0.1:$port" --model $model \
    --data "$data" --step-time 10ms
until_ 30 "the first round's result is late" said lonely-1 "late=1"
send TERM lonely
ends lonely 0
send TERM lonely-1
ends lonely-1 0 30
said lonely-1 "No result came, and no other node was there" ||
    failed "who waits for others is not told so"
! said lonely-1 slower || failed "who waits for others is told it is slow"

# What a --goal wants is what the best model has.
score=$(metadata "$here/loss.run/best.safetensors" score)
awk -v score="$score" 'BEGIN { exit !(score > 0 && score <= 0.3) }' ||
    failed "the best model's score is $score"

# A node that never had a hub says what becomes of it, and may save it itself.
start alone "$bin/starswitch-node" --hub 127.0.0.1:1 --model $model \
    --data "$data" --iterations 50
ends alone 0 20
said alone "no hub has taken this node in (training alone; " &&
    said alone "), and what was learnt is lost: --save" ||
    failed "alone: not a word of what is lost"
start alone "$bin/starswitch-node" --hub 127.0.0.1:1 --model $model \
    --data "$data" --iterations 50 --save "$here/alone.safetensors"
ends alone 0 20
[ "$(metadata "$here/alone.safetensors" iteration)" -ge 50 ] ||
    failed "alone: the model is not saved"
tensors "$here/alone.safetensors" | grep -q '^layer1.weight F32' ||
    failed "alone: no tensors"

grep -q '^{"time":"20.*Z","event":"status","name":"loss-1",' \
    "$here/loss-1.out" || failed "a node's line has neither time nor event"

# Nor does it say how good it was before it had learnt anything.
head -n 1 "$here/loss-1.out" | grep -q '"iteration":1,.*"accuracy":-1' ||
    failed "a node evaluates after one iteration"

# Files that are not there are not named, and neither is a way to go on.
start none "$bin/starswitch-hub" --listen "127.0.0.1:$port" --time 1s \
    --directory "$here/none.run"
ends none 1 20
! said none safetensors || failed "none: a model is named that is not there"

# A window that is closed is a goodbye, too.
hub window --every 20
inside="env --default-signal=HUP"
node window-1
inside=
until_ 20 "window-1 takes part" at_least window-1 applied 2
send HUP window-1
ends window-1 0 20
until_ 5 "its last offer was made" said window \
    "node_left window-1: the node leaves the run"
end_run window
ends window 0 20

# A goal that was not reached in time is not success; and what goes on with the
# run is the whole line.
hub short --every 20 --goal 0.0000000001 --time 2s --model $model --data "$data"
node short-1
ends short 1 30
ends short-1 0 30
said short "NOT reached" || failed "short: not a word of the goal"
said short "the goal is not reached: the time is over" ||
    failed "short does not say why it ends with 1"
for each in "--listen 127.0.0.1:$port" "--every 20" "--model $model" \
    "--directory $here/short.run"; do
    grep -qF -- "$each" "$here/short.out" || failed "no word of $each to go on"
done
! said short " --time 2s" || failed "short would end at once again"
