#!/bin/sh
# What cannot be is refused: one clear sentence, the right exit code.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# refused CODE TEXT PROGRAM [OPTION...]: it ends so, with one sentence, in
# which TEXT stands, and without having begun anything.
refused() {
    local code=$1 text=$2 program=$3
    shift 3
    start refused "$bin/starswitch-$program" "$@"
    ends refused "$code" 10
    [ "$(wc -l <"$here/refused.err")" = 1 ] ||
        failed "not one sentence: $program $*"
    said refused "$text" || failed "not a word of $text: $program $*"
    sed 's/^/    /' "$here/refused.err"
    rm "$here"/refused.*
}

# ---- the command line ----

refused 64 "every" hub --every 0
refused 64 "every" hub --every banana
refused 64 "policy" hub --policy banana --directory "$here/never"
refused 64 "starswitch-hub ctl status" hub status
refused 64 "there are ctl, top, logs, plan, verify, export" hub exprt
refused 64 "starswitch-hub: plan --link 0: a rate of 0 carries nothing" \
    hub plan --nodes 2 --params 1k --link 0
refused 64 "starswitch-hub: plan --link: expected a rate" hub plan --link
refused 64 "model" node
refused 78 "held-out data" hub --listen "127.0.0.1:$port" --rollback 2 \
    --directory "$here/never"
refused 78 "insecure" hub --listen "0.0.0.0:$port" --directory "$here/never"
refused 78 "--model" hub --listen "127.0.0.1:$port" --goal 87% \
    --directory "$here/never"
refused 78 "tasks" hub --listen "127.0.0.1:$port" --epochs 2 \
    --directory "$here/never"
[ ! -e "$here/never" ] || failed "a hub that was refused left its directory"

# ---- output ----

# unwritten PROGRAM COMMAND...: it does not say that all is well.
unwritten() {
    local program=$1 code=0
    shift
    "$bin/starswitch-$program" "$@" >/dev/full 2>"$here/full.err" || code=$?
    [ $code = 74 ] || failed "$program $*: $code, and nothing is written"
    grep -q "not all that it prints was written" "$here/full.err" ||
        failed "$program $*: $(cat "$here/full.err")"
}
unwritten hub --help
unwritten hub plan --nodes 2 --params 1k --link 1Gbit
unwritten node --version
unwritten sim --help
unwritten sim run --nodes 2 --iterations 10 --json

# ---- data ----

echo "this,is,no,sample" >"$here/words.csv"
refused 74 "$here/nowhere" node --model $model --data "$here/nowhere"
refused 74 "$here/words.csv" node --model $model --data "$here/words.csv"
refused 74 "$here/nowhere" hub --model $model --data "$here/nowhere" \
    --listen "127.0.0.1:$port" --directory "$here/never"

chmod 600 "$here/words.csv"
refused 78 "$here/words.csv: that is no key for nodes" node --model $model \
    --data "$data" --key-file "$here/words.csv"

touch "$here/file"
refused 74 "$here/file" hub --listen "127.0.0.1:$port" --directory "$here/file"

# ---- settings that are not on the command line ----

echo "banana = 3" >"$here/bad.conf"
for program in hub node "sim run"; do
    # shellcheck disable=SC2086
    refused 78 "line 1" $program --config "$here/bad.conf"
done
inside="env STARSWITCH_EVERY=banana"
refused 78 "STARSWITCH_EVERY=banana" hub --directory "$here/never"
inside=
refused 64 "no command" sim banana

# A variable that is nearly one of ours is no error: others may own it.
inside="env STARSWITCH_EVRY=20"
start spelt "$bin/starswitch-node" --model $model --data "$data" --dry-run
ends spelt 0 10
said spelt "did you mean STARSWITCH_EVERY" || failed "misspelt, and silent"
inside=

# ---- files that will be written, at the start ----

refused 74 "$here/no/report.html" hub --listen "127.0.0.1:$port" \
    --directory "$here/r.run" --report "$here/no/report.html"
refused 74 "$here/no/record" hub --listen "127.0.0.1:$port" \
    --directory "$here/r.run" --record "$here/no/record"
start refused "$bin/starswitch-node" --model $model --data "$data" \
    --record "$here/no/record"
ends refused 74 10
said refused "$here/no/record" || failed "the node does not name its recording"
rm -rf "$here"/refused.* "$here/r.run"

# ---- what this PC has not ----

refused 69 "$here/nothing.so" node --trainer "$here/nothing.so"
inside="prlimit --as=3000000000"
large=mlp:6-30000-30000-3
refused 70 "memory" node --model $large --data "$data"
refused 70 "memory" hub --model $large --data "$data" --directory "$here/none"
inside=

# ---- places that are taken ----

hub h --policy mean
node n1
until_ 10 "n1 joins" told h centre_founded n1
refused 69 "$port" hub --listen "127.0.0.1:$port" --directory "$here/other"
refused 69 "$here/h.run" hub --listen "127.0.0.1:$((port + 2))" \
    --directory "$here/h.run"

# ---- nodes that do not fit ----

start other "$bin/starswitch-node" --hub "127.0.0.1:$port" --name other \
    --model mlp:6-8-3 --data "$data" --json
ends other 78 10
said other layer1.weight || failed "the node does not name the tensor"
said other "16,6 in the run" && said other "8,6 at the node" ||
    failed "the node does not say the two shapes"
! said other "what was learnt is lost" || failed "it was there, and refused it"
told h node_refused other || failed "the hub does not say that it refused"
said h layer1.weight || failed "the hub does not name the tensor"
sed 's/^/    /' "$here/other.err"

# skewed NAME VERSION [KEEP]: a node of another release, which speaks VERSION.
skewed() {
    start "relay-$1" python3 tests/e2e/skew.py $relay_port "$port" "$2" ${3:-}
    until_ 10 "the relay is there" said "relay-$1" ready
    start "$1" "$bin/starswitch-node" --hub "127.0.0.1:$relay_port" \
        --name "$1" --model $model --data "$data" --json
    ends "$1" 76 10
    said "$1" "of the protocol, the node version $2" ||
        failed "$1 does not say the versions"
    sed 's/^/    /' "$here/$1.err"
    relay_port=$((relay_port + 2))
}
relay_port=$((port + 4))
skewed old 1
told h node_refused old || failed "the hub does not say that it refused"
skewed future 9
skewed older 1 2   # its HELLO has other fields

# ---- the same name twice: the newest is the one ----

start twin "$bin/starswitch-node" --hub "127.0.0.1:$port" --name n1 \
    --model $model --data "$data" --step-time 10ms --json
ends n1 75 10
said n1 "newer" || failed "the old n1 does not say why it ended"
tail -n 1 "$here/n1.err" | sed 's/^/    /'
goes_on 10 twin
