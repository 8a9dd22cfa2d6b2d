#!/bin/sh
# What the Containerfile makes, where no engine is: its steps are done in a
# bare Debian, its command is run as its user, and is asked and ended as an
# engine would. `make container-check`: tests/packages/container.sh FOLDER,
# in which make deb-check has left packages and bookworm.tar.
set -eu
cd "$(dirname "$0")/../.."
packages=$(cd "$1" && pwd)
root=${2:-}
steps=packaging/Containerfile

skip() {
    echo "skipped: $*"
    exit 0
}

# The rest of the lines of a word.
lines() { sed -n "s/^$1 //p" $steps; }
list() { lines "$1" | tr -d '[],"'; } # of JSON strings without spaces

if [ -z "$root" ]; then
    [ "$(id -u)" = 0 ] || skip "only root makes a root"
    [ -s "$packages/bookworm.tar" ] || skip "try make deb-check first"
    unshare -nmp --fork true 2>/dev/null || skip "no namespaces here"
    root=$(mktemp -d)
    trap 'rm -rf --one-file-system "$root"' EXIT
    trap 'exit 1' INT TERM HUP
    tar -C "$root" -xpf "$packages/bookworm.tar"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
    # The only thing that is copied are the packages.
    [ "$(lines COPY)" = "build/deb/*.deb /tmp/" ]
    cp "$packages"/*.deb "$root/tmp/"
    chroot "$root" apt-get -qq update >/dev/null 2>&1 ||
        skip "no mirror is reached"
    lines RUN >"$root.steps"
    while read -r step; do
        chroot "$root" sh -ec "$step" >"$root.log" 2>&1 </dev/null || {
            tail "$root.log"
            echo "FAILED: $step"
            exit 1
        }
    done <"$root.steps"
    rm -f "$root.steps" "$root.log"
    code=0
    timeout -k 10 300 unshare --net --mount --pid --fork --kill-child \
        "$0" "$packages" "$root" || code=$?
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

# ---- the same as Kubernetes runs it: arguments and probes of the manifest ----

of_manifest() { # KIND PATH: words for a shell, of a container
    python3 - "$@" <<'END'
import shlex, sys, yaml
for each in yaml.safe_load_all(open("packaging/kubernetes/starswitch.yaml")):
    if each["kind"] == sys.argv[1]:
        found = each["spec"]["template"]["spec"]["containers"][0]
        for name in sys.argv[2].split("."):
            found = found[name]
        print(shlex.join(found))
END
}
probe() { # NAME: it is content
    eval "set -- $(of_manifest StatefulSet "$1.exec.command")"
    chroot "$root" "$@" 2>/dev/null
}

pictures=/usr/share/datasets/fashion-mnist
python3 -c 'import yaml' 2>/dev/null || skip "the manifest needs python3-yaml"
[ -d "$pictures" ] || skip "the manifest's node needs dataset-fashion-mnist"
ip link add pod type veth peer name other
ip address add 10.99.0.1/24 dev pod
ip link set pod up && ip link set other up
echo "10.99.0.1 starswitch-hub" >>"$root/etc/hosts"
cp -rL "$pictures" "$root/data"

for name in startup readiness liveness; do
    ! probe "${name}Probe" || failed "$name is content without a hub"
done
# shellcheck disable=SC2046
run pod $(of_manifest StatefulSet args)
for name in startup readiness liveness; do
    until_ 20 "the probe of $name" probe "${name}Probe"
done
install -D -m 440 -g "${user#*:}" \
    "$root/var/lib/starswitch/run/keys/invitation" \
    "$root/run/starswitch/starswitch-node.key"
within="CREDENTIALS_DIRECTORY=/run/starswitch"
# shellcheck disable=SC2046
run job $(of_manifest Job args)
goes_on 60 job
send TERM job
ends job 0 60
send TERM pod
ends pod 0 120
echo "the manifest's hub and node: probes answer, the node is let in, both end"
