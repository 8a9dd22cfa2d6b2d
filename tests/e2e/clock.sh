#!/bin/sh
# The wall clocks of hub and nodes jump by hours all the time: nobody is silent
# or lost, nothing is declined, nobody pauses. A node whose clock was set back
# before it was started again is let in.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

library=$(realpath "$bin/tests/preload/clock.so")
inside="env LD_PRELOAD=$library"

# The clock does jump.
inside_says() { $inside sh -c 'date +%s; sleep 1; date +%s'; }
inside_says | awk 'NR == 1 { first = $1 }
    END { jump = $1 - first; exit !(jump > 3600 || jump < -3600) }' ||
    failed "the clock does not jump"

hub h --policy mean --every 20 --delay 4 --save 300ms --json
node n1
node n2
goes_on 20 n1 n2
until_ 20 "they train" at_least n1 iteration 800
goes_on 20 n1 n2
never_paused n1
never_paused n2
for event in node_lost node_silent declined offence node_refused; do
    ! told h $event || failed "the clock has made a $event"
done

# Started again a day earlier.
send KILL n2
ends n2 137
until_ 20 "n2 is gone" told h node_lost n2
inside="env LD_PRELOAD=$library CLOCK_OFFSET=-90000"
rm "$here/n2.out"
node n2
goes_on 20 n1 n2
! said n2 "newer node" || failed "n2 is taken for an older one"
for name in n1 n2 h; do
    send TERM $name
    ends $name 0
done
echo "clocks jump, and training goes on"
