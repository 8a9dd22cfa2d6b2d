#!/bin/sh
# A hub with keys: nodes come in with the line that it prints and nobody else
# does; a revoked one is cut off; no secret is in anything that is written.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

keys=$here/h.run/keys
export XDG_CONFIG_HOME="$here/config"

# The key for nodes that keygen printed.
key_in() { tail -n 1 "$1"; }

mode() { stat -c %a "$1"; }

shows() { field "$1" state | grep -qF "$2"; }

# refused NAME CODE: the node must end so, by itself.
refused() {
    ends "$1" "$2" 30
}

# ---- what may listen where ----

start open "$bin/starswitch-hub" --listen "0.0.0.0:$port" \
    --directory "$here/never"
ends open 78 10
said open "--lan" || failed "the sentence does not name --lan"
start both "$bin/starswitch-hub" --lan --insecure --directory "$here/never"
ends both 78 10
[ ! -e "$here/never" ] || failed "a hub that was refused left its directory"

# ---- keys ----

start keygen "$bin/starswitch-hub" keygen "$here/h.run" \
    --listen "127.0.0.1:$port"
ends keygen 0 10
key=$(key_in "$here/keygen.out")
[ ${#key} = 87 ] || failed "keygen prints no key: $(cat "$here/keygen.out")"
said keygen "starswitch-node --hub 127.0.0.1:$port --key-file invitation" ||
    failed "keygen does not print the line"
said keygen "made new keys in $keys" || failed "keygen makes keys silently"
! grep -q "$key" "$here/keygen.err" || failed "what is not the key has it"
[ "$(cat "$keys/invitation")" = "$key" ] || failed "the file has another key"
for file in hub.key_secret enrolment.key_secret invitation; do
    [ "$(mode "$keys/$file")" = 600 ] ||
        failed "$file has mode $(mode "$keys/$file")"
done
[ "$(mode "$keys")" = 700 ] || failed "others may look into the keys"
start again "$bin/starswitch-hub" keygen "$here/h.run"
ends again 0 10
[ "$(key_in "$here/again.out")" = "$key" ] || failed "keygen made new keys"
! said again "made new keys" || failed "keygen says that it made new keys"

# ---- two nodes enrol and train ----

hub h --keys "$keys" --policy mean --record "$here/h.record" \
    --report "$here/h.html"
node n1 --key "$key" --record "$here/n1.record"
node n2 --key-file "$keys/invitation"
until_ 20 "n1 enrols" told h node_enrolled n1
line="keygen $here/h.run --keys $keys --listen 127.0.0.1:$port prints it"
said h "$line" || failed "the hub does not say which keys are its own"
said h "Only this PC reaches this hub" || failed "its line is for other PCs"
said h " --key-file invitation --model MODEL --data DATA" ||
    failed "with the hub's line no node starts"
until_ 20 "n2 enrols" told h node_enrolled n2
goes_on 20 n1 n2
[ "$(ls "$keys/allowed")" = "n1.key
n2.key" ] || failed "allowed: $(ls "$keys/allowed")"
[ "$(mode "$XDG_CONFIG_HOME/starswitch/n1.key_secret")" = 600 ] ||
    failed "n1's own key may be read by others"
tr '\0' ' ' <"/proc/$(cat "$here/n1.pid")/cmdline" >"$here/ps.out"
! said ps "$key" || failed "ps shows the key of n1"

said n1 "say --key-file" || failed "nobody warns of --key"
! said n2 "say --key-file" || failed "it warns of --key-file"

for name in h n1 n2; do
    limits=/proc/$(cat "$here/$name.pid")/limits
    grep -q "^Max core file size  *0 *0 " "$limits" ||
        failed "a core of $name would hold its key"
done

# As a service it has the key from its manager, which sets rights of its own.
mkdir "$here/credentials"
cp "$keys/invitation" "$here/credentials/starswitch-node.key"
chmod 440 "$here/credentials/starswitch-node.key"
inside="env CREDENTIALS_DIRECTORY=$here/credentials"
node served
inside=
until_ 20 "the service enrols" told h node_enrolled served
send TERM served
ends served 0 30
rm -r "$here/credentials" "$keys/allowed/served.key"

# ---- and a group for collectives ----

export STARSWITCH_HUB="127.0.0.1:$port" LD_LIBRARY_PATH="$bin"
for i in 1 2; do
    start "m$i" env STARSWITCH_KEY="$key" "$bin/examples/mail" "m$i" 2 1000 ring
done
ends m1 0 30
ends m2 0 30
[ -f "$keys/allowed/m1.key" ] || failed "m1 has not enrolled"

# ---- strangers ----

start loud "$bin/examples/mail" loud 2 1000 ring
until_ 20 "a member without a key ends" is_over loud
[ "$(cat "$here/loud.code")" != 0 ] && said loud "key" ||
    failed "a member without a key is not told why"

node plain
refused plain 77
cut=$(key_in "$here/keygen.out" | cut -c 1-40)
start lost "$bin/starswitch-node" --hub "127.0.0.1:$port" --name lost \
    --model $model --data "$data" --step-time 10ms \
    --key "$cut"
ends lost 78 10
node dry --dry-run
ends dry 0 10
said dry "key     none, which will do for a hub that listens on this PC" ||
    failed "--dry-run does not say what of the key"
said dry "raw: the hub's codecs decide" ||
    failed "--dry-run does not say that its bytes are raw"
node dry --dry-run --key "$key"
ends dry 0 10
said dry "key     has the form of one" || failed "--dry-run doubts the key"
node dry --dry-run --key "$cut"
ends dry 78 10
# A key comes through a pipe, too; not from a file that others may read.
mkfifo "$here/pipe"
printf '\n  %s\r\n' "$key" >"$here/pipe" &
node dry --dry-run --key-file "$here/pipe"
ends dry 0 10
"$bin/starswitch-node" --model $model --data "$data" --dry-run \
    --key-file - <"$keys/invitation" >"$here/stdin.out" ||
    failed "no key is read from standard input"
said stdin "key     has the form of one" || failed "standard input is no key"
cp "$keys/invitation" "$here/open.key_secret"
chmod 644 "$here/open.key_secret"
node dry --dry-run --key-file "$here/open.key_secret"
ends dry 78 10
said dry "chmod 600" || failed "it does not say what is wrong with the file"
node dry --dry-run --key-file "$here/none"
ends dry 74 10
# Whoever says he is n1 is another node, and n1 trains on.
as=n1 node thief --key "$key" --identity "$here/thief.key_secret"
goes_on 20 thief
ls "$keys/allowed" | grep -q '^n1-[0-9a-f]*.key$' ||
    failed "who says he is n1 is not told apart"
send TERM thief
ends thief 0
goes_on 20 n1
as=n3 node mallory --key "$key" --identity "$here/mallory.key_secret"
until_ 20 "n3 enrols" told h node_enrolled n3
goes_on 20 mallory
send TERM mallory
ends mallory 0
# Enrolled under one name it says another: it is the node of its key.
start posing "$bin/starswitch-node" --hub "127.0.0.1:$port" --name n2 \
    --model $model --data "$data" --step-time 10ms --json --key "$key" \
    --identity "$here/mallory.key_secret"
goes_on 20 posing
until_ 20 "it comes back as n3" told h node_rejoined n3
send TERM posing
ends posing 0
goes_on 20 n1 n2

# ---- revoking ----

start revoke "$bin/starswitch-hub" revoke "$here/h.run" n1
ends revoke 0 10
said revoke "has read it" || failed "revoke does not tell the hub"
refused n1 77
goes_on 20 n2
node n1 --key "$key"
refused n1 77
# By hand, and the hub told by a signal.
mv "$keys/allowed/n2.key" "$keys/revoked/"
send HUP h
refused n2 77
mv "$keys/revoked/n2.key" "$keys/allowed/"
send HUP h
node n2 --key "$key"
until_ 20 "n2 is let in again" is_ n2 attached true
# A hub that cannot read its list keeps the old one, and that is said.
echo "what?" >"$keys/allowed/n9.key"
start vain "$bin/starswitch-hub" revoke "$here/h.run" n2
ends vain 74 10
said vain "n2 is off the list, but a hub that runs keeps its old list" &&
    said vain "n9.key" || failed "revoke does not say that it was in vain"
start again "$bin/starswitch-hub" ctl reload --directory "$here/h.run"
ends again 74 10
said again "n9.key" || failed "reload does not say why it failed"
goes_on 20 n2
rm "$keys/allowed/n9.key"
start again "$bin/starswitch-hub" ctl reload --directory "$here/h.run"
ends again 0 10
refused n2 77
mv "$keys/revoked/n2.key" "$keys/allowed/"
send HUP h
node n2 --key "$key"
until_ 20 "n2 is let in once more" is_ n2 attached true
# The operator lets n1 in again, by the key that it says it has.
n1=$(sed -n 's/.*enroll DIR n1 \(N[^ "]*\).*/\1/p' "$here/n1.err" | tail -n 1)
[ -n "$n1" ] || failed "n1 does not say what its key is"
"$bin/starswitch-hub" enroll "$here/h.run" n1 "$n1" >/dev/null
node n1 --key "$key"
until_ 20 "n1 is let in again" is_ n1 attached true
goes_on 20 n2
send TERM n1
ends n1 0

# ---- a hub that starts again knows them, and nobody else by the old line ----

said revoke "--rotate" || failed "revoke does not say how to change the key"

# ---- a new key for nodes, while the hub runs ----

start newline "$bin/starswitch-hub" keygen "$here/h.run" --once
ends newline 0 10
new=$(key_in "$here/newline.out")
[ ${#new} = 87 ] && [ "$new" != "$key" ] || failed "keygen prints the old key"
said newline "it lets in 1 more node" || failed "keygen does not say for whom"
node n4 --key "$key"
refused n4 77
node n5 --key "$new"
until_ 20 "n5 comes in by the new key" is_ n5 attached true
node n6 --key "$new"
refused n6 77
start newer "$bin/starswitch-hub" revoke "$here/h.run" n5 --rotate
ends newer 0 10
refused n5 77
new=$(cat "$keys/invitation")
goes_on 20 n2
node n7 --key "$new"
until_ 20 "n7 comes in by the newest key" is_ n7 attached true
send TERM n7
ends n7 0
start short "$bin/starswitch-hub" keygen "$here/h.run" --for 1s --most 0
ends short 0 10
is_past() { # the key's end
    [ "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \> "$(sed -n \
        's/.*until = "\(.*\)"/\1/p' "$keys/enrolment.key_secret")" ]
}
until_ 10 "the key ends" is_past
node n8 --key "$(key_in "$here/short.out")"
refused n8 77
start again "$bin/starswitch-hub" keygen "$here/h.run"
ends again 0 10
new=$(key_in "$here/again.out")

# ---- a hub that starts again knows them, and nobody else by the old key ----

send TERM n2
ends n2 0
send TERM h
ends h 0 30
hub h --keys "$keys" --policy mean
node n2 --key "$key"
until_ 20 "n2 is back" is_ n2 attached true
node n4 --key "$key"
refused n4 77
node n9 --key "$new"
until_ 20 "n9 comes in by the new key" is_ n9 attached true
send TERM n9
ends n9 0
send TERM n2
ends n2 0
send TERM h
ends h 0 30

# ---- a hub whose keys were made anew: nodes say so, whatever they know ----

mv "$keys" "$here/old.keys"
hub h --keys "$keys" --policy mean
until_ 20 "the hub says that it made keys" said h "made new keys in $keys"
node n2
until_ 20 "who has no key is told" said n2 "give it --key-file"
ends n2 77
for who in n2 fresh; do
    node $who --key-file "$here/old.keys/invitation"
    until_ 30 "$who says that the hub has other keys" said $who \
        "127.0.0.1:$port has other keys than this node's key is for; take"
    until_ 20 "$who shows it" shows $who "has other keys than"
    until_ 20 "$who trains" at_least $who iteration 10
    send TERM $who
    ends $who 0
    said $who "other keys than this node's key is for), and what was learnt" ||
        failed "$who does not say at its end why what it has learnt is lost"
done
told h offence 127.0.0.1 || failed "the hub does not say from where"
send TERM h
ends h 0 30

# ---- no secret in anything that was written ----

sed -n 's/.*secret-key = "\(.*\)"/\1/p' "$keys"/*.key_secret \
    "$XDG_CONFIG_HOME"/starswitch/*.key_secret >"$here/secrets"
printf '%s\n' "$key" "$new" >>"$here/secrets"
[ "$(wc -l <"$here/secrets")" -ge 5 ] || failed "no secrets to look for"
find "$here" -type f ! -name '*.key_secret' ! -name secrets \
    ! -name keygen.out ! -name again.out ! -name newline.out \
    ! -name short.out ! -name invitation |
    while read -r file; do
        ! grep -qF -f "$here/secrets" "$file" || failed "a secret is in $file"
    done
