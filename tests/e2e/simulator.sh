#!/bin/sh
# The simulator as somebody meets it who wants to choose a policy: run, compare,
# sweep, with small settings; the same seeds say the same with 1 or 2 workers.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

small="--nodes 3 --params 100k --step-time 50ms --goal 0.2"

# sim NAME CODE COMMAND...: starswitch-sim ends with this code.
sim() {
    local name=$1 code=$2
    shift 2
    start "$name" "$bin/starswitch-sim" "$@"
    ends "$name" "$code" 60
}

# prints NAME WORDS: they stand in what it has printed.
prints_() { grep -qF -- "$2" "$here/$1.out"; }
prints() { prints_ "$@" || failed "$1 does not say: $2"; }

# refused TEXT COMMAND...: a sentence with TEXT in it, and nothing is run.
refused() {
    local text=$1
    shift
    sim refused 64 "$@"
    [ "$(wc -l <"$here/refused.err")" = 1 ] || failed "not one sentence: $*"
    grep -qF -- "$text" "$here/refused.err" || failed "no word of $text: $*"
    [ ! -s "$here/refused.out" ] || failed "something was run: $*"
    rm "$here"/refused.*
}

sim help 0 --help
prints help "  mahimahi "
prints help "What a --scenario may say"

# check NAME PROGRAM: python looks at its lines of JSON, `lines`.
check() {
    python3 -c "
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
runs = [line for line in lines if 'run' in line]
sums = [line for line in lines if 'summary' in line]
assert all(line['compute'] == 'surrogate' for line in lines)
$2" "$here/$1.out" || failed "the JSON of $1"
}

# ---- run ----

sim run 0 run $small
prints run "compute  surrogate"
prints run "loss 0.2 reached after"
sim choice 0 run --nodes 3 --params 2M --rate 10Mbit --step-time 100ms \
    --time 2min
prints choice "s: k 5 -> "
sim choice_json 0 run --nodes 3 --params 2M --rate 10Mbit --step-time 100ms \
    --time 2min --json
prints choice_json '"chosen":"k 5 -> '

# ---- compare ----

sim compare 0 compare --policy mean,diloco,easgd $small --seeds 3 \
    --report "$here/compare.html"
prints compare "compute  surrogate"
prints compare "seconds to loss 0.2, median [IQR]"
prints compare "3/3"
prints compare "less time than"
prints compare "behind it: starswitch-sim run --policy"
for words in "</html>" "<svg" "Loss of the centre" "In pairs"; do
    grep -qF "$words" "$here/compare.html" || failed "the report has no $words"
done
! grep -qE "http|<script|nan|inf[^o]" "$here/compare.html" ||
    failed "the report has what it should not have"

sim one 0 compare --policy mean,easgd $small --seeds 3 --json --workers 1
sim two 0 compare --policy mean,easgd $small --seeds 3 --json --workers 2
cmp "$here/one.out" "$here/two.out" || failed "workers make a difference"
check one "
assert len(runs) == 6 and len(sums) == 2
assert {run['seed'] for run in runs} == {1, 2, 3}
best = sums[0]
assert best['rank'] == 1 and best['measure'] == 'time_s'
times = sorted(run['time_s'] for run in runs
               if run['setting'] == best['setting'])
assert abs(best['median'] - times[1]) < 1e-6
assert sums[1]['median'] >= best['median']
assert best['wins'] + sums[1]['wins'] >= 3"

sim never 0 compare --policy mean,easgd $small --goal 0.0001 --time 20s \
    --seeds 2
prints never "never"
prints never "0/2"
sim loss 0 compare --policy mean,diloco --nodes 3 --params 100k --time 30s \
    --seeds 2
prints loss "loss at the end, median [IQR]"

sim real 0 compare --policy mean,easgd --model $model --data "$data" \
    --nodes 3 --goal 80% --seeds 2 --time 100s
prints real "compute  real: $model"
prints real "seconds to 80 % accuracy"

# Who has waited long enough is told what there is.
start stopped "$bin/starswitch-sim" compare --policy mean,easgd $small \
    --goal 0.0001 --time 600s --seeds 10000 --workers 2
until_ 20 "it plays" prints_ stopped "seeds    1 to 10000"
send INT stopped
ends stopped 75 30
prints stopped "median [IQR]"

refused "such as --policy" compare $small
refused "no such policy" compare --policy mean,banana $small
refused "twice" compare --policy mean,mean $small
refused "sweep" compare --policy mean,diloco --over "every=1,2" $small

# ---- sweep ----

sim sweep 0 sweep --over "every=10,40 delay=0,5" $small --seeds 2 \
    --report "$here/sweep.html"
prints sweep "4 settings with seeds 1 to 2"
prints sweep "every=10 delay=5"
prints sweep "What matters"
grep -qF "What the options are worth" "$here/sweep.html" ||
    failed "the report of a sweep"

sim first 0 sweep --over "every=10,40 delay=0,5" $small --seeds 2 --json \
    --workers 1
sim second 0 sweep --over "every=10,40 delay=0,5" $small --seeds 2 --json \
    --workers 2
cmp "$here/first.out" "$here/second.out" || failed "workers make a difference"
check first "
assert len(runs) == 8 and len(sums) == 4
assert [line['rank'] for line in sums] == [1, 2, 3, 4]
assert sums == sorted(sums, key=lambda line: line['median'])
assert sums[0]['setting'].keys() == {'every', 'delay'}"

# What does not go together is left out, named once, and not fatal.
sim some 0 sweep --over "codec-down=raw,int8 gate=sync,async" $small --seeds 1
[ "$(grep -c "left out" "$here/some.err")" = 1 ] ||
    failed "what does not go together is not named once"
prints some "gate=async"
refused "no such policy" sweep --over "policy=apple,banana" $small
refused "such as \"every=" sweep $small
refused "there is no option evry" sweep --over "evry=1,2" $small
refused "give it beside them" sweep --over "seed=1,2" $small

# ---- soak ----

sim alone 0 soak --seeds 12 --json --workers 1
sim both 0 soak --seeds 12 --json --workers 2
cmp "$here/alone.out" "$here/both.out" || failed "workers make a difference"
grep -q '^{"seeds":12,"first":1,.*"violations":0,"failing":\[\]}$' \
    "$here/alone.out" || failed "the JSON of soak"
# Who interrupts it is told how to go on.
start parted "$bin/starswitch-sim" soak --seeds 1000000 --seed 5 --workers 1
until_ 180 "a thousand seeds are lived" grep -q \
    "^1000 of 1000000 seeds in .*; the rest: --seed 1005 --seeds 999000\$" \
    "$here/parted.err"
send INT parted
ends parted 75 30
grep -q "For the others give --seed 10[0-9]5 --seeds 99[89][0-9]*" \
    "$here/parted.err" || failed "where to go on is not told"
sim words 0 soak --seeds 2 --seed 9
prints words "2 seeds from 9 on, each twice"
prints words "violations: 0"
sim story 0 soak --scenario tests/sim/study/lives/former_session.story \
    --record "$here/story.txt"
prints story "nothing is wrong with it"
grep -q "^hub " "$here/story.txt" || failed "no transcript"
echo "set nodse 3" >"$here/wrong.story"
sim wrong 64 soak --scenario "$here/wrong.story"
grep -qF "line 1: there is nothing called 'nodse'" "$here/wrong.err" ||
    failed "a wrong line is not named"

# ---- OpenBLAS is told what the processor can, unless the user tells it ----

kernels() { # [OPENBLAS_CORETYPE=X]: which ones compute in the end
    env OPENBLAS_VERBOSE=2 "$@" "$bin/starswitch-sim" --version 2>&1 |
        sed -n 's/^Core: //p' | tail -n 1
}
if [ -n "$(kernels)" ] && grep -qw avx2 /proc/cpuinfo; then
    [ "$(kernels)" != Prescott ] || failed "slow kernels on a fast processor"
    [ "$(kernels OPENBLAS_CORETYPE=Prescott)" = Prescott ] ||
        failed "the user's choice of kernels does not stand"
fi

echo "the simulator runs, compares, sweeps and soaks"
