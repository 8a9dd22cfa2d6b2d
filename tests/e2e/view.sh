#!/bin/sh
# starswitch-sim view shows the course of a hub's run and of a simulated one on
# the hub's own page: the slider goes back, by the keyboard too; nothing is
# asked of anybody else; Ctrl-C ends it; what is no course is refused in words.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

view() { # COURSE NODES NAME: that node is the first one
    show_course "$1" tests/e2e/view.py "$2" "$3"
}

hub h --policy mean --every 10 --delay 2 --no-page --course "$here/hub.course"
as='<img src=x onerror=top.name=1>' node n1
node n2
until_ 20 "nodes train" at_least n2 applied 20
send TERM h
ends h 0 30
[ "$(head -n 1 "$here/hub.course")" = "starswitch-course 1" ] ||
    failed "a course does not begin with its format"
# Whoever was killed leaves half a line.
printf '9.9 status {"elapsed"' >>"$here/hub.course"
view "$here/hub.course" 2 '<img src=x onerror=top.name=1>'

"$bin/starswitch-sim" run --nodes 6 --iterations 1000 --every 20 --params 1M \
    --step-time 100ms --course "$here/sim.course" >/dev/null
view "$here/sim.course" 6 n1

# A disk that failed has left a hole, and somebody's program a line of its own.
head -c 20000 "$here/sim.course" >"$here/torn.course"
head -c 100 /dev/zero >>"$here/torn.course"
tail -c +20001 "$here/sim.course" >>"$here/torn.course"
echo '300.5 status {"nodes":"x","chunks":null}' >>"$here/torn.course"
echo '300.6 status {"nodes":[],"chunks":{},"elapsed":NaN}' >>"$here/torn.course"
view "$here/torn.course" 6 n1
said view "and 2 more cannot be read" ||
    failed "no word of what is left out: $(cat "$here/view.err")"

no_course() { # WORDS FILE
    "$bin/starswitch-sim" view "$2" >"$here/no.out" 2>&1 &&
        failed "$2 is shown"
    grep -q "$1" "$here/no.out" || failed "no word of it: $(cat "$here/no.out")"
}
no_course "is no course of a run" "$data"
echo "starswitch-course 1" >"$here/empty"
no_course "had not begun" "$here/empty"
no_course "/nowhere" /nowhere
