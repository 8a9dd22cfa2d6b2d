#!/bin/sh
# starswitch launch over a real sshd, to this host: keys travel inside ssh, the
# goal is reached; at Ctrl-C a script's trainer makes its last offer, and
# nothing is left on the other side; a host whose key is another one is not
# logged in to.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/engines/jobs

sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || skip ssh "there is no sshd: apt-get install openssh-server"
python=build/python-venv/bin/python
"$python" -c 'import sys' 2>/dev/null ||
    skip ssh "there is no build/python-venv"
python=$(realpath "$(dirname "$python")")/python
bin=$(realpath "$bin")
export XDG_CONFIG_HOME="$here/config" STAR_BUILD="$bin" PYTHONPATH="$PWD/python"

# ---- an sshd of this test, that lets in by one key ----

for key in host user other; do
    ssh-keygen -q -t ed25519 -N "" -f "$here/$key"
done
cp "$here/user.pub" "$here/authorized"
chmod 700 "$here"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
door=$((port + 4))
cat >"$here/sshd_config" <<END
Port $door
ListenAddress 127.0.0.1
HostKey $here/host
PidFile none
AuthorizedKeysFile $here/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
END
start sshd "$sshd" -D -e -f "$here/sshd_config"
until_ 10 "sshd listens" is_taken "$door"
knows() { # KEY: of the host
    echo "[127.0.0.1]:$door $(cut -d ' ' -f 1,2 "$here/$1.pub")" >"$here/known"
}
knows host
ssh="ssh -p $door -i $here/user -o IdentitiesOnly=yes -o BatchMode=yes \
-o UserKnownHostsFile=$here/known"
$ssh 127.0.0.1 true 2>"$here/ssh.err" || skip ssh "this sshd lets nobody in:
    $(tail -n 1 "$here/ssh.err")"

launch() { # NAME HUB-OPTION... -- COMMAND...
    local name=$1
    shift
    start "$name" "$python" -m starswitch launch --hosts 127.0.0.1,127.0.0.1 \
        --ssh "$ssh" --listen "127.0.0.1:$port" --directory "$here/$name.run" \
        --policy mean --every 20 --no-page --json "$@"
}
train="$bin/starswitch-node --model $model --data $data --step-time 10ms --json"

# ---- to the goal ----

# shellcheck disable=SC2086
launch goal --model "$model" --data "$data" --goal 0.05 -- $train
ends goal 0 120
said goal "goal reached" || failed "the goal is not reached"
echo "ssh: two nodes log in, and the goal is reached"

# ---- Ctrl-C ----

printf '#!/bin/sh\n%s\n' "$train" >"$here/train"
chmod +x "$here/train"
port=$((port + 2))
launch stop --lan -- "$here/train"
until_ 60 "two nodes join" joined stop 2
until_ 30 "they train" beyond stop 3
send INT stop
ends stop 130 60
[ "$(grep -ho '"node_left"' "$here/stop.out" | wc -l)" = 2 ] ||
    failed "a node said no goodbye"
gone() { [ -z "$(ours starswitch-node)" ]; }
until_ 10 "nothing is left" gone
echo "ssh: Ctrl-C ends the trainers of scripts, too, after their last offers"

# ---- another host ----

knows other
port=$((port + 2))
# shellcheck disable=SC2086
launch stranger -- $train
ends stranger 255 60
said stranger "REMOTE HOST IDENTIFICATION HAS CHANGED" ||
    failed "it is not said why"
echo "ssh: a host with another key is not logged in to, and ssh says why"
