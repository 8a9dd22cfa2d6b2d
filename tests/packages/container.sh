#!/bin/sh
# What the Containerfile makes, where no engine is: its steps are done in a
# bare Debian, its command is run as its user, and is asked and ended as an
# engine would. `make container-check`: tests/packages/container.sh FOLDER,
# in which make deb-check has left packages and bookworm.tar.
set -eu
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
. tests/packages/common
root=${2:-}
steps=packaging/Containerfile

# A key for nodes, or a secret key in its file.
a_key='\bE[A-Za-z0-9_-]{86}\b|secret-key = "[^"%]{40}"'

# The rest of the lines of a word.
lines() { sed -n "s/^$1 //p" $steps; }
list() { lines "$1" | tr -d '[],"'; } # of JSON strings without spaces

if [ -z "$root" ]; then
    can_be_root make container-check
    [ -s "$folder/bookworm.tar" ] || skip "try make deb-check first"
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
    trap 'exit 1' INT TERM HUP
    tar -C "$root" -xpf "$folder/bookworm.tar"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
    # The only thing that is copied are the packages.
    [ "$(lines COPY)" = "build/deb/*.deb /tmp/" ]
    cp "$folder"/*.deb "$root/tmp/"
    chroot "$root" apt-get -qq update >/dev/null 2>&1 ||
        skip "no mirror is reached"
    lines RUN >"$root.steps"
    while read -r step; do
        touch "$root.before"
        chroot "$root" sh -ec "$step" >"$root.log" 2>&1 </dev/null || {
            tail "$root.log"
            echo "FAILED: $step"
            exit 1
        }
        # What is a layer holds no key.
        ! find "$root" -xdev -type f -newer "$root.before" -exec \
            grep -alE "$a_key" {} + | grep . || {
            echo "FAILED: a key is in the layer of: $step"
            exit 1
        }
    done <"$root.steps"
    rm -f "$root.steps" "$root.log" "$root.before"
    echo "the image's steps: done, no key in any layer"
    code=0
    timeout -k 10 400 unshare --net --mount --pid --uts --fork --kill-child \
        "$0" "$folder" "$root" || code=$?
    exit $code
fi

ip link set lo up
. tests/e2e/common
mount -t proc proc "$root/proc"
user=$(lines USER)
# run NAME WORDS...: its entry point with these words.
run() {
    local name
    name=$1
    shift
    # shellcheck disable=SC2046
    start "$name" chroot "$root" env -i PATH=/usr/bin:/bin $(lines ENV) \
        ${within:-} \
        setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups \
        --no-new-privs sh -c "cd $(lines WORKDIR) && exec $(list ENTRYPOINT) \
            $*"
}
answers() { # PATH: the probe of an engine
    python3 -c "import sys, urllib.request as r
r.urlopen('http://127.0.0.1:7540' + sys.argv[1], timeout=2)" "$1" 2>/dev/null
}

# shellcheck disable=SC2046
run hub $(list CMD)
until_ 20 "/healthz answers" answers /healthz
until_ 20 "/readyz answers" answers /readyz
cp "$data" "$root/srv/blobs.csv"
chmod 644 "$root/srv/blobs.csv"
run node node --hub 127.0.0.1 --model $model --data /srv/blobs.csv \
    --step-time 10ms --json
goes_on 30 node
echo "the image's command serves nodes; /healthz and /readyz answer"

# As an engine ends it, which waits 30 s unless it is told more.
send TERM hub
ends hub 0 30
[ -s "$root/var/lib/starswitch/current/centre.safetensors" ] ||
    failed "the centre is not saved"
send TERM node
ends node 0 30
echo "SIGTERM saves and ends hub and node within 30 s"

# ---- the same as Kubernetes runs it: arguments and probes of manifests ----

# of_manifest FILE args|env|readinessProbe N: words for a shell, of the
# container that has the Nth; of a probe its command, of the environment what
# is told.
of_manifest() {
    python3 - "$@" <<'END'
import shlex, sys, yaml

def objects(thing):
    if isinstance(thing, dict):
        yield thing
        thing = list(thing.values())
    for each in thing if isinstance(thing, list) else []:
        yield from objects(each)

file, name, number = sys.argv[1:]
every = [each[name] for part in yaml.safe_load_all(open(file))
         for each in objects(part)
         if name in each and (name == "args" or "image" in each)]
found = every[int(number)]
if name == "env":
    found = [each["name"] + "=" + each["value"] for each in found
             if "value" in each]
print(shlex.join(found["exec"]["command"] if "exec" in found else found))
END
}
probe() { # FILE NAME VARIABLE=VALUE...: it is content
    local words
    words=$(of_manifest "$1" "$2" 0)
    shift 2
    eval "set -- \"\$@\" $words"
    chroot "$root" env "$@" 2>/dev/null
}
# probes FILE VARIABLE=VALUE...: all become content, as a hub is there.
probes() {
    local at=$1 name
    shift
    for name in startup readiness liveness; do
        until_ 20 "the probe of $name" probe "$at" "${name}Probe" "$@"
    done
}

pictures=/usr/share/datasets/fashion-mnist
python3 -c 'import yaml' 2>/dev/null || skip "the manifest needs python3-yaml"
[ -d "$pictures" ] || skip "the manifest's node needs dataset-fashion-mnist"
ip link add pod type veth peer name other
ip address add 10.99.0.1/24 dev pod
ip link set pod up && ip link set other up
cp -rL "$pictures" "$root/data"

kept=$root/var/lib/starswitch
at=packaging/kubernetes/starswitch.yaml
echo "10.99.0.1 starswitch-hub" >>"$root/etc/hosts"
for name in startup readiness liveness; do
    ! probe $at "${name}Probe" || failed "$name is content without a hub"
done
# shellcheck disable=SC2046
run pod $(of_manifest $at args 0)
probes $at
# A secret's files are links.
install -D -m 440 -g "${user#*:}" "$kept/run/keys/invitation" \
    "$root/run/starswitch/..data/starswitch-node.key"
ln -s ..data/starswitch-node.key "$root/run/starswitch/starswitch-node.key"
hostname starswitch-node-0
# A pod that is made again has its claim and an old key for nodes, and is the
# same node.
for life in first second; do
    within=$(of_manifest $at env 0)
    # shellcheck disable=SC2046
    run "$life" $(of_manifest $at args 1)
    goes_on 60 "$life"
    send TERM "$life"
    ends "$life" 0 60
    nodes=$(cd "$kept/run/keys" && find . -name 'starswitch-node-0*.key')
    [ "$(echo "$nodes" | wc -l)" = 1 ] || failed "of one node: $nodes"
    within=
    run "rotate-$life" hub keygen run --rotate
    ends "rotate-$life" 0 20
done
send TERM pod
ends pod 0 120
echo "the manifest's hub and node: probes answer, a node is let in, both end,"\
    "and one that is made again is the same node"

# ---- and as its engines do: hub and node of each example ----

# pod NAME FILE N VARIABLE=VALUE...: a process of the Nth command, in a pod.
pod() {
    local name=$1 words
    words=$(of_manifest "$2" args "$3")
    shift 3
    within="$*"
    # shellcheck disable=SC2086
    run "$name" $words
}
# star NAME: of which both are there, named NAME-hub and NAME-node.
star() {
    goes_on 60 "$1-node"
    find "$kept" -name '*.key_secret' -exec \
        sed -n 's/.*secret-key = "\(.*\)"/\1/p' {} + >"$here/secrets"
    [ "$(wc -l <"$here/secrets")" = 3 ] || failed "not the secrets there are"
    cat "$kept/run/keys/invitation" >>"$here/secrets"
    no_secret processes
    # The goal is reached, it may be; else there is more to do.
    code=0
    is_over "$1-node" || { send TERM "$1-node" && code=143; }
    ends "$1-node" $code 60
    is_over "$1-hub" || send TERM "$1-hub"
    until_ 120 "$1-hub ends" is_over "$1-hub"
    code=0
    ! grep -q -- --goal "$at" || said "$1-hub" "goal reached" || code=1
    ends "$1-hub" $code
    no_secret files "$here" "$kept" "$root/tmp" "$root/var/log" "$root/var/tmp"
    rm -rf "${kept:?}"/*
    echo "$1: hub and node train, and end when they are told to"
}
hosts() { # NAME...: of pods, which are all here
    for name; do
        echo "10.99.0.1 $name ${name%%.*}" >>"$root/etc/hosts"
    done
}

rm -rf "${kept:?}"/*
at=examples/launch/jobset.yaml
hosts starswitch-hub-0-0.starswitch
pod jobset-hub $at 0
probes $at
# shellcheck disable=SC2046
pod jobset-node $at 1 JOB_COMPLETION_INDEX=0 $(of_manifest $at env 0) \
    STARSWITCH_HUB=starswitch-hub-0-0.starswitch # its pod's annotation
star jobset

at=examples/launch/leaderworkerset.yaml
hosts starswitch-0.starswitch.default
for name in 0:hub 1:node; do
    pod "leaderworkerset-${name#*:}" $at 0 LWS_WORKER_INDEX=${name%:*} \
        LWS_GROUP_SIZE=5 LWS_LEADER_ADDRESS=starswitch-0.starswitch.default
    probes $at LWS_WORKER_INDEX=${name%:*}
done
star leaderworkerset

at=examples/launch/pytorchjob.yaml
hosts starswitch-master-0
for name in 0:hub 1:node; do
    pod "pytorchjob-${name#*:}" $at ${name%:*} RANK=${name%:*} WORLD_SIZE=5 \
        MASTER_ADDR=starswitch-master-0 MASTER_PORT=23456
    probes $at RANK=${name%:*}
done
star pytorchjob

# A pod knows itself by its name.
at=examples/launch/trainjob.yaml
hosts starswitch-node-0-0.starswitch starswitch-node-0-1.starswitch
for name in 0:hub 1:node; do
    hostname starswitch-node-0-${name%:*}
    pod "trainjob-${name#*:}" $at 0 JOB_COMPLETION_INDEX=${name%:*}
    until_ 20 "it knows itself" said "trainjob-${name#*:}" JOB_COMPLETION_INDEX
    probes $at JOB_COMPLETION_INDEX=${name%:*}
done
star trainjob
