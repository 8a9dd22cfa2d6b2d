#!/bin/sh
# What `make convergence` runs, in small: the same figures however many
# processes share the work, every row on the page, and words for what is wrong.
set -eu
cd "$(dirname "$0")/../.."
program=${STAR_BUILD:-build}/star-convergence
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

page() { # WORKERS FILE
    "$program" --quick --only RT1,RT7 --workers "$1" \
        --folder "$here/data" --output "$here/$2" 2>/dev/null
    # All but how long it took.
    sed -i '/^All of it\|processes\.$/d' "$here/$2"
}

page 1 one
page 3 three
cmp "$here/one" "$here/three"
for row in RT1 RT7; do
    grep -q "^## $row: " "$here/one"
done
if grep "^## RT5" "$here/one"; then
    echo "FAILED: RT5 was not asked for"
    exit 1
fi
grep -q "^| W1, DiLoCo, k = 50 | 0\.[0-9]* ± " "$here/one"
echo "one process and three find the same"

if "$program" --seeds none 2>"$here/said"; then
    echo "FAILED: no seeds, and not refused"
    exit 1
fi
grep -q "none: a number from 1 to" "$here/said"
echo "a wrong number is refused"
