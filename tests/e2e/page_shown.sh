#!/bin/sh
# What the page makes of a status that it is given: hints only where they follow
# from what was measured, time left and its name, a phone's width with long
# names; who has no token is asked for it. The course is made here, as no run
# would come to all of this.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

"$bin/starswitch-sim" run --nodes 3 --iterations 300 --every 20 --params 1M \
    --step-time 100ms --course "$here/run.course" >/dev/null
token_file=$here/token
(umask 077 && echo 0123456789abcdef >"$token_file")
show_course "$here/run.course" tests/e2e/page_shown.py 0123456789abcdef \
    ${PICTURES:+"$PICTURES"}
