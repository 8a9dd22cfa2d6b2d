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

"$bin/starswitch-sim" tune --nodes 2 --params 100M --step-time 20ms \
    --rate 10Mbit --port 10Mbit >"$here/words" 2>"$here/err"
grep -q "use one PC.*" "$here/words" || failed "not one PC"
grep -q "by closed forms" "$here/words" || failed "it was played?"

start refused "$bin/starswitch-sim" tune --policy krum
ends refused 64 10
said refused "tune knows" || failed "not a word of what it knows"
