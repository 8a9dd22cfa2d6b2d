#!/bin/sh
# starswitch-sim tune: the same settings for any number of workers, as words and
# as JSON; "use one PC"; what it cannot know is refused.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

tune="$bin/starswitch-sim tune --nodes 3 --params 2M --step-time 100ms
    --rate 100Mbit --port 100Mbit --seeds 1"

$tune --json --workers 1 >"$here/one" 2>"$here/err"
$tune --json --workers 2 >"$here/two" 2>"$here/err"
cmp "$here/one" "$here/two" || failed "workers make a difference"
[ "$(grep -c '"tune":"choice"' "$here/one")" = 1 ] || failed "no choice"
grep -q '"compute":"surrogate"' "$here/one" || failed "what computes?"

$tune >"$here/words" 2>"$here/err"
command=$(sed -n 's/^  \(starswitch-hub .*\)/\1/p' "$here/words")
grep -q "\"tune\":\"choice\".*\"command\":\"$command\"" "$here/one" ||
    failed "words and JSON choose differently"
grep '^ [a-z~]' "$here/words"
grep -q '^ auto  *left to itself (starswitch-hub --nodes 3)' "$here/words" &&
    grep -q 'it comes to k = ' "$here/words" ||
    failed "what auto comes to is not said"
grep -q "times as fast as the fastest alone" "$here/words" &&
    grep -q "([0-9.]* to [0-9.]*, by how much your model" "$here/words" ||
    failed "what a speed-up hangs on is not said"
$tune --noise-scale 2.5 >"$here/words" 2>"$here/err"
! grep -q "by how much your model" "$here/words" ||
    failed "whoever says the noise scale is given a range"
$tune --goal 0.1 >"$here/words" 2>"$here/err"
grep -q "goal  *loss 0.1: when is not foreseen; say --model" "$here/words" ||
    failed "when a surrogate is good is foreseen"

# A goal out of reach: the choice is there, whoever interrupts it or not.
learner="--model lm:context=4,embedding=2,hidden=4,batch=4,lr=0.01
    --data /usr/share/common-licenses --goal 0.01"
# shellcheck disable=SC2086
start endless $tune $learner
until_ 60 "the choice is printed" said endless "  starswitch-hub --nodes 3"
until_ 60 "it is played" said endless "until the goal"
send TERM endless
ends endless 75 20
said endless "stopped before the goal" || failed "why it ends is not said"
$tune $learner --time 20s >"$here/words" 2>"$here/err"
tail -1 "$here/words" | grep -q "goal  *loss 0.01 is NOT reached" ||
    failed "20 s are no limit"

"$bin/starswitch-sim" tune --nodes 2 --params 100M --step-time 20ms \
    --rate 10Mbit --port 10Mbit >"$here/words" 2>"$here/err"
grep -q "use one PC.*" "$here/words" || failed "not one PC"
grep -q "by closed forms" "$here/words" || failed "it was played?"

start refused "$bin/starswitch-sim" tune --policy krum
ends refused 64 10
said refused "tune knows" || failed "not a word of what it knows"

# What is printed is what was played: `run` with the printed settings comes to
# what was promised within 15 %, and its nodes soon train together.
star="--nodes 4 --params 800k --step-time 100ms" seconds=900
keeps_its_word() { # STAR...
    # With noise as large as that, more PCs are worth slow links.
    "$bin/starswitch-sim" tune $star "$@" --noise-scale 32 --seeds 1 --json \
        >"$here/tuned" \
        2>"$here/err" || failed "tune $*: $(cat "$here/err")"
    words=$(python3 -c "
import json
for line in open('$here/tuned'):
    row = json.loads(line)
    if row['tune'] == 'choice':
        print(row['command'].split(' ', 3)[3])")
    [ "$words" ] || failed "tune $*: no choice: $(cat "$here/tuned")"
    "$bin/starswitch-sim" run $star "$@" $words --time ${seconds}s --json \
        >"$here/ran" 2>"$here/err" || failed "run $words"
    python3 -c "
import json
promise = [json.loads(line) for line in open('$here/tuned')][-1]
run = json.load(open('$here/ran'))
words = '$words'.split()
parts = 1
if '--fragments' in words:
    parts = int(words[words.index('--fragments') + 1])
rate = run['iterations_per_s'] / promise['iterations_per_s']
every = run['round_s'] * parts * run['iterations_per_s'] / promise['every']
together = $seconds - promise['start_s']
rounds = run['rounds'] * run['round_s'] / together
print('$*: %.1f times promised, rate %.2f, k %.2f, rounds %.2f of it, together '
      'after %.0f s' % (promise['speed_up'], rate, every, rounds,
                        promise['start_s']))
assert 0.85 < rate < 1.15 and 0.85 < every < 1.15 and rounds > 0.85
" || failed "run does not do what tune $* promised: $words: $(cat "$here/ran")"
}

# A telephone's link, second by second: often slow, at times nothing.
awk 'BEGIN {
    print "starswitch-trace 1\nspan 60s\n0s * delay 25ms"
    for (i = 0; i < 60; i++) {
        seed = (seed * 1103 + 12345) % 65536
        rate = seed % 23 == 0 ? 0 : 1 + (seed % 97) / 8
        printf "%ds * up %.3fMbit\n%ds * down %.3fMbit\n", i, rate, i, 2 * rate
    }
    print "end"
}' >"$here/cellular.trace"

printf 'starswitch-trace 1\nspan 60s\n0s * delay 20ms\n0s * up 1Mbit
0s * down 20Mbit\nend\n' >"$here/asymmetric.trace"

keeps_its_word --rate 5Mbit
keeps_its_word --rate 20Mbit
keeps_its_word --rate 20Mbit --loss 0.01
keeps_its_word --rate 20Mbit --latency 150ms
keeps_its_word --trace "$here/asymmetric.trace"
keeps_its_word --trace "$here/cellular.trace"
star="--nodes 4 --params 1M --step-time 200ms" seconds=7200
keeps_its_word --rate 0.5Mbit
keeps_its_word --rate 2Mbit
star="--nodes 2 --params 5M --step-time 500ms" seconds=7200
keeps_its_word --rate 1Mbit
