#!/bin/sh
# pip install of the wheel, and starswitch demo, in a bare Debian 12 that has
# Python with pip, and neither a compiler nor the libraries that programs from
# Debian's packages need. `make wheel-check`: tests/packages/wheel.sh FOLDER,
# that has the wheel; what debootstrap makes is kept there (python.tar).
set -eu
cd "$(dirname "$0")/../.."
wheels=$(cd "$1" && pwd)

skip() {
    echo "skipped: $*"
    exit 0
}
bare() {
    made=$(mktemp -d)
    trap 'rm -rf --one-file-system "$made"' EXIT
    debootstrap --variant=minbase --include=python3-venv bookworm \
        "$made/root" >"$made/log" 2>&1 ||
        skip "debootstrap reaches no mirror: $(tail -n 1 "$made/log")"
    chroot "$made/root" apt-get clean
    tar -C "$made/root" -c . >"$wheels/python.tar.new"
    mv "$wheels/python.tar.new" "$wheels/python.tar"
}

if [ "${2:-}" != apart ]; then
    [ "$(id -u)" = 0 ] || skip "only root makes a root: sudo make wheel-check"
    command -v debootstrap >/dev/null || skip "there is no debootstrap"
    unshare -nmp --fork true 2>/dev/null || skip "no namespaces here"
    [ -s "$wheels/python.tar" ] || (bare) || exit 1
    [ -s "$wheels/python.tar" ] || exit 0
    # All that is started ends with it, and no network is reached.
    exec timeout -k 10 300 unshare --net --mount --pid --fork --kill-child \
        "$0" "$wheels" apart
fi

ip link set lo up
. tests/e2e/common
clean_up() { umount "$here/root/proc" 2>/dev/null; }

mkdir "$here/root"
tar -C "$here/root" -xpf "$wheels/python.tar"
mount -t proc proc "$here/root/proc"
! find "$here/root/usr" "$here/root/lib" -name 'libzmq*' -o -name 'libsodium*' \
    -o -name 'libopenblas*' -o -name 'libmsgpack*' -o -path '*/bin/*cc' |
    grep . || failed "it is not bare"
cp "$wheels"/starswitch-*.whl "$here/root/tmp/"
chroot "$here/root" env -i PATH=/usr/bin:/bin HOME=/root sh -ec '
    python3 -m venv /root/venv
    . /root/venv/bin/activate
    pip install --no-index /tmp/starswitch-*.whl
    timeout 200 starswitch demo --goal 80%' >"$here/demo.out" 2>&1 ||
    failed "pip install, and starswitch demo"
grep -a "goal reached" "$here/demo.out" || failed "the demo reaches no goal"
echo "the wheel is installed by pip, and its demo runs to its end"
