#!/bin/sh
# pip install of the wheel, and starswitch demo, in a bare Debian 12 that has
# Python with pip, and neither a compiler nor the libraries that programs from
# Debian's packages need. `make wheel-check`: tests/packages/wheel.sh FOLDER,
# that has the wheel; what debootstrap makes is kept there (python.tar).
set -eu
cd "$(dirname "$0")/../.."
folder=$(cd "$1" && pwd)
. tests/packages/common

if [ "${2:-}" != apart ]; then
    can_be_root make wheel-check
    bare_debian python python3-venv
    apart 300 "$0"
fi

ip link set lo up
. tests/e2e/common
clean_up() { umount "$here/root/proc" 2>/dev/null; }

mkdir "$here/root"
tar -C "$here/root" -xpf "$folder/python.tar"
mount -t proc proc "$here/root/proc"
! find "$here/root/usr" "$here/root/lib" -name 'libzmq*' -o -name 'libsodium*' \
    -o -name 'libopenblas*' -o -name 'libmsgpack*' -o -path '*/bin/*cc' |
    grep . || failed "it is not bare"
cp "$folder"/starswitch-*.whl "$here/root/tmp/"
chroot "$here/root" env -i PATH=/usr/bin:/bin HOME=/root sh -ec '
    python3 -m venv /root/venv
    . /root/venv/bin/activate
    pip install --no-index /tmp/starswitch-*.whl
    timeout 200 starswitch demo --goal 80%' >"$here/demo.out" 2>&1 ||
    failed "pip install, and starswitch demo"
grep -a "goal reached" "$here/demo.out" || failed "the demo reaches no goal"
echo "the wheel is installed by pip, and its demo runs to its end"
