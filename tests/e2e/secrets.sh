#!/bin/sh
# No secret is where others look: in process lists and environments, in logs,
# pages, recordings and saves, in answers of the page and of ctl, in cores; nor
# in what makes images and manifests. What has to hold one has a mode of 0600.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
export XDG_CONFIG_HOME="$here/config" PYTHONDONTWRITEBYTECODE=1
page=127.0.0.1:$((port + 2))

# Of the page, as one who has the token; of events there is no end.
ask() { # PATH
    python3 - "http://$page/$1" "$token" >>"$here/answers.out" <<'END'
import sys, time, urllib.request
request = urllib.request.Request(
    sys.argv[1], headers={"Authorization": "Bearer " + sys.argv[2]})
answer, end = urllib.request.urlopen(request, timeout=2), time.time() + 1
while time.time() < end and (line := answer.readline()):
    print(line.decode(), end="")
END
}

# ---- a run with keys, that writes all it can ----

"$bin/starswitch-hub" keygen "$here/h.run" >"$here/keygen.out" 2>&1
token=of-the-page-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf '%s\n' "$token" >"$here/token"
chmod 600 "$here/token"
# With the core files that its user would like to have.
mkdir "$here/cores"
cat >"$here/careless" <<'END'
ulimit -c unlimited
program=$(realpath "$1")
cd "${0%/*}/cores"
shift
exec "$program" "$@"
END
inside="sh $here/careless"
hub h --keys "$here/h.run/keys" --policy mean --every 10 --json \
    --page "$page" --page-token-file "$here/token" --record "$here/h.record" \
    --journal "$here/h.journal" --report "$here/h.html" \
    --course "$here/h.course" --tensorboard "$here/h.curves" --save 200ms
node n1 --key-file "$here/h.run/keys/invitation" --record "$here/n1.record" \
    --save "$here/n1.safetensors"
inside=
start n2 env STARSWITCH_KEY_FILE=- sh -c 'exec "$@" <"$0"' \
    "$here/h.run/keys/invitation" "$bin/starswitch-node" \
    --hub "127.0.0.1:$port" --name n2 --model $model --data "$data" \
    --step-time 10ms --json
until_ 20 "n1 enrols" told h node_enrolled n1
until_ 20 "n2 enrols" told h node_enrolled n2
goes_on 20 n1 n2

sed -n 's/.*secret-key = "\(.*\)"/\1/p' "$here"/h.run/keys/*.key_secret \
    "$XDG_CONFIG_HOME"/starswitch/*.key_secret >"$here/secrets"
cat "$here/h.run/keys/invitation" "$here/token" >>"$here/secrets"
[ "$(wc -l <"$here/secrets")" = 6 ] || failed "not the secrets that there are"
no_secret processes

# ---- what is asked of it ----

for path in "" status metrics snapshot.svg api/v1/events; do
    ask "$path"
done
grep -q '"nodes"' "$here/answers.out" || failed "the page answers nothing"
for words in "ctl status" "ctl status --json" "top --json" "logs n1"; do
    # shellcheck disable=SC2086
    timeout 2 "$bin/starswitch-hub" $words --directory "$here/h.run" \
        >>"$here/answers.out" 2>&1 </dev/null || true
done
send USR1 h
send USR1 n1
until_ 10 "the hub writes its state" [ -s "$here/h.run/state.json" ]
# A wrong key is not repeated either.
"$bin/starswitch-node" --dry-run --model $model --data "$data" \
    --key "$(cut -c 1-80 "$here/h.run/keys/invitation")" \
    >"$here/wrong.out" 2>&1 && failed "a key that is cut is taken"
cut -c 1-80 "$here/h.run/keys/invitation" >>"$here/secrets"
send TERM n2
ends n2 0

# ---- cores ----

(cd "$here/cores" && sh -c 'ulimit -c unlimited; kill -ABRT $$' || true) \
    2>/dev/null
if [ "$(ls "$here/cores")" ]; then
    rm "$here/cores"/*
    send ABRT h
    send ABRT n1
    ends h 134
    ends n1 134
    [ -z "$(ls "$here/cores")" ] || failed "a core: $(ls "$here/cores")"
    echo "cores: none, of hub and node"
else
    send TERM h
    send TERM n1
    echo "cores: skipped, this system keeps them elsewhere"
fi
until_ 20 "hub and node end" is_over h
until_ 20 "hub and node end" is_over n1

# ---- what is left, and what is shipped ----

no_secret files "$here"
find "$here" -type f | grep -E '\.key_secret$|/invitation$' |
    while read -r file; do
        [ "$(stat -c %a "$file")" = 600 ] ||
            failed "$file has mode $(stat -c %a "$file")"
    done
# A key, or a place for one, in what makes images, units and objects.
! grep -rnE '\bE[A-Za-z0-9_-]{86}\b|secret-key *=|STARSWITCH_KEY *[=:]' \
    packaging examples/launch >"$here/shipped.out" ||
    failed "what is shipped holds a key"
echo "packaging, examples/launch: no key"
