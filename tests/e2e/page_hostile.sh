#!/bin/sh
# The page's server and those who mean harm, or are only slow: the hub trains
# on, answers others, and keeps nothing of them.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

page_of() { # HUB: the port of its page, once it has said it
    sed -n 's/.* page:* http:\/\/[^:]*:\([0-9]*\)\/.*/\1/p' "$here/$1.out" \
        "$here/$1.err" 2>/dev/null | tail -n 1
}
has_page() { [ -n "$(page_of "$1")" ]; }

hub h --policy mean --every 20 --delay 4 --page "127.0.0.1:$((port + 7))"
until_ 10 "h has a page" has_page h
node n1
until_ 20 "n1 trains" at_least n1 applied 3

python3 tests/e2e/page_hostile.py "$((port + 7))" "$(cat "$here/h.pid")" ||
    failed "somebody who means harm is noticed"
goes_on 20 n1
never_paused n1

# ---- another hub beside it: the usual port may be taken, and no harm done ----

port=$((port + 2))
hub i --no-page
until_ 10 "i runs" test -S "$here/i.run/control.sock"
has_page i && failed "a page that nobody wants"
start j "$bin/starswitch-hub" --listen "$hub_address:$((port + 2))" \
    --directory "$here/j.run" --page "127.0.0.1:$((port - 2 + 7))"
until_ 10 "j says why it has no page" told j no_page
until_ 10 "j runs without" test -S "$here/j.run/control.sock"
start k "$bin/starswitch-hub" --listen "$hub_address:$((port + 4))" \
    --directory "$here/k.run" --page 0.0.0.0
ends k 78
said k "--page-token-file" || failed "k does not say what to do"
