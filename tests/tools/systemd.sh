#!/bin/sh
# The units that are installed are sound, start the programs that are installed
# with them, and leave little open.
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL MFLAGS WERROR SAN SUITES CC
command -v systemd-analyze >/dev/null || {
    echo "FAILED: systemd-analyze is missing: try tools/install checks" >&2
    exit 1
}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
make -s BUILD="${STAR_BUILD:-build}" PREFIX="$root" install

# exposed UNIT TENTHS: of 10 that systemd counts for what is left open.
exposed() {
    unit=$root/lib/systemd/system/$1
    # It is content with words that it does not know, but names the unit.
    if ! systemd-analyze verify --man=no "$unit" >"$root/said" 2>&1 ||
        grep -F "$1" "$root/said"; then
        cat "$root/said"
        exit 1
    fi
    systemd-analyze security --offline=true --no-pager --threshold="$2" \
        "$unit" >"$root/said" 2>&1 || {
        cat "$root/said"
        exit 1
    }
    sed -n 's/^.*Overall/    Overall/p' "$root/said"
    for wanted in Type=notify WatchdogSec= Restart=on-failure LimitCORE=0 \
        LimitNOFILE=262144 StandardOutput=null \
        'RestartPreventExitStatus=1 64 75 77 78'; do
        grep -q "^$wanted" "$unit" || {
            echo "FAILED: $1 does not say $wanted"
            exit 1
        }
    done
}
exposed starswitch-hub.service 15
exposed starswitch-node.service 18
# What it is told to do is enough: a network with keys, and a key that the user
# it runs as may read.
units=$root/lib/systemd/system
grep -q '^LoadCredential=starswitch-node.key$' \
    "$units/starswitch-node.service" || {
    echo "FAILED: the node's unit is given no key"
    exit 1
}
for words in 'STARSWITCH_LAN=yes' '/etc/credstore/starswitch-node.key'; do
    grep -q "$words" README.md && grep -rq "$words" "$units" || {
        echo "FAILED: README and units do not both say $words"
        exit 1
    }
done
