#!/bin/sh
# docs/faults.md names tests: each of them exists.
set -eu
cd "$(dirname "$0")/../.."
missing=0

# A life that the soak has found is a row of its table.
is_named() { # SUITE TEST
    grep -q "TEST($2)" "tests/$1.c" 2>/dev/null ||
        grep -q "LIFE(${2#life_of_})" "tests/${1%/*}/lives.def" 2>/dev/null
}

grep -o '`[a-z0-9]*/[a-z0-9_]*\(: [a-z0-9_]*\|\.sh\)`' docs/faults.md |
    tr -d '`' | sort -u >"${TMPDIR:-/tmp}/faults.$$"
while read -r suite name; do
    case $suite in
    *.sh) [ ! -e "tests/$suite" ] || continue ;;
    *) ! is_named "${suite%:}" "$name" || continue ;;
    esac
    echo "docs/faults.md names $suite $name, which is not there"
    missing=1
done <"${TMPDIR:-/tmp}/faults.$$"
[ "$(wc -l <"${TMPDIR:-/tmp}/faults.$$")" -ge 60 ] || missing=1
rm -f "${TMPDIR:-/tmp}/faults.$$"
exit $missing
