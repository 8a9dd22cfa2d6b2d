#!/bin/sh
# starswitch-hub ctl: what it says of a run, saves, drains, pins and stops; and
# that nobody who misuses its socket disturbs the hub.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

# ctl COMMAND...: to the hub h; what it says is in $here/ctl.out and ctl.err.
ctl() {
    timeout 60 "$bin/starswitch-hub" ctl "$@" --directory "$here/h.run" \
        >"$here/ctl.out" 2>"$here/ctl.err" </dev/null
}

# refused CODE TEXT COMMAND...: it ends so, with one sentence and no JSON.
refused() {
    local code=0 expected=$1 text=$2
    shift 2
    ctl "$@" || code=$?
    [ $code = "$expected" ] || failed "ctl $*: $code instead of $expected"
    [ "$(wc -l <"$here/ctl.err")" = 1 ] && [ ! -s "$here/ctl.out" ] ||
        failed "ctl $*: not one sentence"
    said ctl "$text" || failed "ctl $*: not a word of $text"
    sed 's/^/    /' "$here/ctl.err"
}

# does TEXT COMMAND...: it succeeds and says one line of JSON with TEXT.
does() {
    local text=$1
    shift
    ctl "$@" --json || failed "ctl $*: $?"
    python3 -c 'import json, sys; json.load(sys.stdin)' <"$here/ctl.out" ||
        failed "ctl $*: no JSON"
    said ctl "$text" || failed "ctl $*: not a word of $text"
}

# status EXPRESSION: whether it holds for the object s that ctl status says;
# what is not known is null, and then it does not.
status() {
    ctl status --json || failed "ctl status: $?"
    python3 -c '
import json, sys
s = json.load(sys.stdin)
nodes = {n["name"]: n for n in s["nodes"]}
sys.exit(not eval("(" + sys.argv[1] + ")"))' "$1" <"$here/ctl.out" 2>/dev/null
}

# ---- no hub ----

refused 69 "no hub is running in" status
refused 64 "there is no such command; there are status, checkpoint" banana
refused 64 "which command?"
refused 64 "which node?" drain
refused 64 "takes one node" drain n1 n2
refused 69 "no hub is running in" drain "n1 n2"
refused 64 "--every" status --every 3
refused 64 "one line" drain "n1
stop"
start help "$bin/starswitch-hub" ctl --help
ends help 0 10
said help "ctl COMMAND" && said help "drain " && said help "--directory" ||
    failed "--help does not tell of ctl"
! said help "--policy" || failed "--help tells of what ctl does not take"

# The socket of a hub that died is in nobody's way.
mkdir "$here/h.run"
python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$here/h.run/control.sock"
refused 69 "no hub is running in" status

# What is no socket is not taken away.
mkdir -p "$here/kept/control.sock"
start kept "$bin/starswitch-hub" --listen "127.0.0.1:$port" \
    --directory "$here/kept"
ends kept 74 10
said kept "control.sock is in the way of the hub's socket and is no socket" ||
    failed "not told what is in the way"
[ -d "$here/kept/control.sock" ] || failed "a directory is gone"

hub h --policy mean --every 20 --delay 4 --save 1h
until_ 10 "the hub answers" ctl status
[ "$(stat -c %a "$here/h.run/control.sock")" = 600 ] ||
    failed "others may reach the socket"
refused 75 "no centre yet" checkpoint
refused 64 "there are: none" pin n1

# ---- status ----

node n1
node n2
until_ 20 "status tells all of two nodes" status '
    s["version"] > 3 and len(s["run"]) == 16 and s["run_epoch"] > 0 and
    s["loss"] > 0 and len(nodes) == 2 and s["resident_bytes"] > 0 and
    all(n["iterations"] > 0 and n["rate"] > 0 and n["loss"] > 0 and
        n["activity"] for n in nodes.values())'

# The same for a person: lines, no JSON.
ctl status || failed "ctl status: $?"
for each in "node .* iterations .* state" "^ n1 .* train" "^ n2 " \
    "^ centre  vers" "^ run     [0-9a-f]\{16\}, epoch " "^ memory  .* MB" \
    "^ chunks  .* merged" "^ events  2 node_joined"; do
    grep -q "$each" "$here/ctl.out" || failed "ctl status has no line $each"
done
! grep -q '[{}]' "$here/ctl.out" || failed "ctl status speaks JSON to a person"
sed 's/^/    /' "$here/ctl.out"

# ---- checkpoint ----

does '"text":"saved' checkpoint
version=$(sed 's/.*saved version \([0-9]*\).*/\1/' "$here/ctl.out")
saved=$(metadata "$here/h.run/current/centre.safetensors" version)
[ "$saved" -ge 3 ] && [ "$saved" = "$version" ] ||
    failed "checkpoint says $version, the file $saved"

# ---- pin ----

refused 64 "there is no node banana; there are: n" pin banana
does '"text":"n1 is the winner' pin n1
status 'nodes["n1"]["pinned"] and not nodes["n2"]["pinned"]' ||
    failed "n1 is not pinned"
does '"ok":true' unpin
status 'not nodes["n1"]["pinned"]' || failed "n1 is still pinned"

# ---- whoever misuses the socket ----

python3 - "$here/h.run/control.sock" <<'END' || failed "misuse is noticed"
import json, socket, sys, time

def client():
    one = socket.socket(socket.AF_UNIX)
    one.connect(sys.argv[1])
    one.settimeout(20)
    return one

def ask(words):
    one = client()
    one.sendall(words)
    one.shutdown(socket.SHUT_WR)
    said = b""
    while True:
        more = one.recv(65536)
        if not more:
            return said
        said += more

silent = [client() for _ in range(20)]
begin = time.monotonic()
assert json.loads(ask(b"status\n"))["ok"]
assert time.monotonic() - begin < 3, "others wait for who says nothing"
for words in b"banana\n", b"\n", b"drain\n", b"status now\n", b"\xff\x00\n", \
        b"unpin\0n1\n", b"unpin\0\n":
    said = json.loads(ask(words))
    assert not said["ok"] and said["code"] == 64 and said["text"], words
assert json.loads(ask(b"pin " + b"x" * 200 + b"\n"))["code"] == 64
assert json.loads(ask(b"y" * 256))["code"] == 64
assert ask(b"") == b"" and ask(b"stop") == b""
hasty = client()
hasty.sendall(b"status\n")
hasty.close()
END
status 'True' || failed "the hub is disturbed"

# ---- drain ----

does 'n2 makes its last offer and leaves' drain n2
ends n2 0 15
until_ 5 "n2 is gone" status 'nodes["n2"]["gone"]'
! told h node_lost n2 || failed "a drained node is called lost"
# What a node counts is what travels, encoded, as its hub counts it.
up=$(field n2 bytes_up)
[ "${up:-0}" -gt 0 ] && status "nodes['n2']['up_bytes'] * 1.3 + 500 > $up" ||
    failed "n2 counts $up bytes up, and its hub others"
goes_on 10 n1
node n2
until_ 10 "n2 is back" status 'not nodes["n2"]["gone"]'
goes_on 30 n1 n2

# ---- stop: the hub, not the run ----

iterations=$(count n1 iteration)
does 'until it is started again' stop
ends h 0 20
[ ! -e "$here/h.run/control.sock" ] || failed "the socket is left behind"
saved=$(metadata "$here/h.run/current/centre.safetensors" version)
later() { at_least n1 iteration $((iterations + 100)); }
until_ 20 "n1 trains on alone" later
! is_over n2 || failed "n2 has ended with the hub"
hub h --policy mean --every 20 --delay 4 --save 1h
until_ 20 "the hub is back" ctl status
goes_on 30 n1 n2
status "s[\"version\"] > $saved" || failed "it does not go on from $saved"

# ---- end ----

does 'the run ends' end
ends h 0 20
ends n1 0 20
ends n2 0 20
said h "ended by hand" || failed "the hub does not say why it ended"
[ ! -e "$here/h.run/control.sock" ] || failed "the socket is left behind"
refused 69 "--directory $here/h.run goes on with it" stop

# ---- a name that no socket can have ----

long=$here/$(printf '%0100d' 0)
start long "$bin/starswitch-hub" --listen "127.0.0.1:$port" --directory "$long"
ends long 78 10
said long "too many for the socket in it" || failed "not a word of the length"
sed 's/^/    /' "$here/long.err"
[ ! -e "$long" ] || failed "a hub that was refused left its directory"
