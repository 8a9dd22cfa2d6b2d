#!/bin/sh
# What the page makes of a status that it is given: hints only where they follow
# from what was measured, time left and its name, a phone's width with long
# names. The course is made here, as no run would come to all of this.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

browser=$(command -v chromium || command -v chromium-browser || true)
[ "$browser" ] || failed "no chromium: tools/packages names it"
at=127.0.0.1:$((port + 7))

"$bin/starswitch-sim" run --nodes 3 --iterations 300 --every 20 --params 1M \
    --step-time 100ms --course "$here/run.course" >/dev/null
start view "$bin/starswitch-sim" view "$here/run.course" --listen "$at"
until_ 10 "the page is served" grep -q "http://$at/" "$here/view.out"
start look python3 tests/e2e/page_shown.py "$browser" "$at" \
    ${PICTURES:+"$PICTURES"}
ends look 0 90
cat "$here/look.out"
send INT view
ends view 0 10
