#!/bin/sh
# The packages in a bare Debian 12: installed, used, upgraded while hub and node
# run, purged. `make deb-check` calls it: tests/packages/debian.sh FOLDER, that
# has the packages; there, too, is kept what debootstrap makes (bookworm.tar).
#
# Nothing is systemd here: the units' ExecStart lines are run as it would, and
# its systemctl writes down what the packages ask of it.
set -eu
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
user=61184 # of those that systemd takes for DynamicUser

. tests/packages/common

dependencies() { # what is Debian's of what the packages need
    for file in "$folder"/*.deb; do
        dpkg-deb -f "$file" Depends | tr ',' '\n'
    done | sed 's/[(|:].*//; s/ //g' | grep -v starswitch | sort -u
}

if [ "${2:-}" != apart ]; then
    can_be_root make deb-check
    lintian --allow-root --fail-on error "$folder"/*.deb >/dev/null ||
        { echo "FAILED: lintian finds errors"; exit 1; }
    echo "lintian finds no error"
    # shellcheck disable=SC2046
    bare_debian bookworm $(dependencies)
    apart 500 "$0"
fi

# ---- two of them, hub and node ----

ip link set lo up
. tests/e2e/common
clean_up() { umount "$here"/*/proc 2>/dev/null; }

within="env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root"
within() { # ROOT COMMAND...
    root=$here/$1
    shift
    chroot "$root" $within "$@"
}
files() {
    (cd "$here/$1" && find . -xdev ! -path './proc/*' ! -path './tmp/*' \
        ! -path './var/log/*' ! -path './var/cache/*' ! -name '*-old' \
        ! -path './usr/local/*' ! -path './run/*' | sort)
}
make_root() { # NAME
    mkdir "$here/$1"
    tar -C "$here/$1" -xpf "$folder/bookworm.tar"
    mount -t proc proc "$here/$1/proc"
    mkdir -p "$here/$1/run/systemd/system"
    # A systemctl that does nothing but remember.
    cat >"$here/$1/bin/systemctl" <<'END'
#!/bin/sh
echo "$@" >>/run/asked
case $1 in show) echo enabled ;; esac
END
    chmod +x "$here/$1/bin/systemctl"
    files "$1" >"$here/$1.before"
}
install_all() { # NAME FOLDER
    mkdir -p "$here/$1/tmp/debs"
    cp "$2"/*.deb "$here/$1/tmp/debs/"
    within "$1" sh -c 'dpkg -i /tmp/debs/*.deb' >"$here/dpkg-$1.log" 2>&1 ||
        failed "dpkg -i in the root of the $1"
    rm -r "$here/$1/tmp/debs"
}
asked() { grep -qs "$2" "$here/$1/run/asked"; }

# What systemd does with a unit: its settings, its state, its user.
service() { # hub|node STATE
    state=/var/lib/private/$2
    mkdir -p -m 711 "$here/$1/var/lib/private"
    mkdir -p "$here/$1$state"
    ln -sfn "private/$2" "$here/$1/var/lib/$2"
    chown -R $user:$user "$here/$1$state"
    line=$(sed -n 's/^ExecStart=//p' \
        "$here/$1/lib/systemd/system/starswitch-$1.service")
    # shellcheck disable=SC2086
    start "$1" chroot "$here/$1" $within STATE_DIRECTORY="$state" \
        XDG_CONFIG_HOME="$state" XDG_STATE_HOME="$state" \
        CREDENTIALS_DIRECTORY=/run/credentials \
        setpriv --reuid $user --regid $user --clear-groups --no-new-privs \
        sh -c "set -a; . /etc/starswitch/$1.env; cd $state; exec $line"
}

make_root hub
make_root node
install_all hub "$folder"
install_all node "$folder"
! asked hub ' start .*starswitch' || failed "something is started"
echo "installed: neither unit is enabled nor started"

within hub timeout 200 starswitch demo --goal 80% >"$here/demo.log" 2>&1 ||
    failed "starswitch demo"
grep -a "goal" "$here/demo.log" | tail -n 1 | grep . ||
    failed "the demo says nothing of its goal"

# ---- services, with keys, each in a root of its own ----

cat >>"$here/hub/etc/starswitch/hub.env" <<END
STARSWITCH_LAN=yes
STARSWITCH_LISTEN=127.0.0.1:$port
END
service hub starswitch
key=starswitch-node.key
keys=$here/hub/var/lib/private/starswitch/keys
until_ 20 "there is a key for nodes" [ -s "$keys/invitation" ]
awk 'BEGIN { for (i = 0; i < 800; i++)
    printf "%.3f,%.3f,%d\n", rand() + i % 2, rand() - i % 2, i % 2 }' \
    >"$here/node/srv/blobs.csv"
cat >>"$here/node/etc/starswitch/node.env" <<END
STARSWITCH_HUB=127.0.0.1:$port
STARSWITCH_MODEL=mlp:2-8-2
STARSWITCH_DATA=/srv/blobs.csv
STARSWITCH_STEP_TIME=5ms
END
install -D -m 600 "$keys/invitation" "$here/node/etc/credstore/$key"
install -D -m 400 -o $user "$here/node/etc/credstore/$key" \
    "$here/node/run/credentials/$key"
service node starswitch-node
until_ 30 "the node joins" told hub node_joined
goes_on 30 node
echo "a node of another root has joined the hub, by its key"

# ---- an upgrade, while both run ----

mkdir "$here/newer"
for file in "$folder"/*.deb; do
    dpkg-deb -R "$file" "$here/repack"
    version=$(dpkg-deb -f "$file" Version)
    sed -i "s/$version/$version+1/" "$here/repack/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$here/repack" "$here/newer" >/dev/null
    rm -r "$here/repack"
done
: >"$here/hub/run/asked"
install_all hub "$here/newer"
! is_over hub || failed "the upgrade stops the hub"
asked hub 'try-restart.*starswitch-hub' || failed "no restart is asked for"
! asked hub ' stop ' || failed "the upgrade asks to stop"
grep -q "^STARSWITCH_LISTEN=127" "$here/hub/etc/starswitch/hub.env" ||
    failed "the upgrade loses the settings"
send TERM hub # as systemd does then
ends hub 0
before=$(count node iteration)
until_ 10 "the node trains on without its hub" \
    at_least node iteration $((before + 100))
service hub starswitch
until_ 30 "the node is back" told hub node_rejoined
goes_on 30 node
never_paused node
echo "upgraded while it runs: settings kept, the node went on all the time"

# ---- removed, and purged ----

: >"$here/hub/run/asked"
for name in hub node; do
    within $name dpkg -r python3-starswitch libstarswitch-dev \
        libstarswitch1 starswitch >"$here/remove.log" 2>&1
    [ -s "$here/$name/etc/starswitch/$name.env" ] || failed "settings removed"
    [ -n "$(ls "$here/$name/var/lib/private")" ] || failed "the run is removed"
done
asked hub 'stop .*starswitch-hub' || failed "what is removed is not stopped"
send TERM node # as systemd does then
ends node 0
send TERM hub
ends hub 0
for name in hub node; do
    within $name dpkg -P starswitch libstarswitch1 libstarswitch-dev \
        python3-starswitch >"$here/purge.log" 2>&1
    rm -f "$here/node/srv/blobs.csv"
    files $name | diff "$here/$name.before" - >"$here/left" ||
        failed "a purge leaves $(cat "$here/left")"
done
echo "removed: stopped, settings and runs kept; purged: nothing is left"
