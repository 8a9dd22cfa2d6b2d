#!/bin/sh
# The layout of the public structs is that of layout.txt, which is that of
# STAR_ABI, the number behind libstarswitch.so: a member may be added at the end
# (and here), but where one moves or goes, or a constant changes, that number is
# to rise.
set -eu
cd "$(dirname "$0")/../.."
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

awk 'BEGIN {
         print "#include <stddef.h>"
         print "#include <starswitch.h>"
         print "#include <starswitch_group.h>"
     }
     NF == 2 { what = "(int)" $1 }
     NF == 3 { what = "(int)offsetof(struct " $1 ", " $2 ")" }
     NF == 3 && $2 == "sizeof" { what = "(int)sizeof(struct " $1 ")" }
     { printf "_Static_assert(%s == %s, \"%s\");\n", what, $NF, $0 }' \
    tests/tools/layout.txt >"$here/layout.c"
[ "$(grep -c _Static_assert "$here/layout.c")" -ge 130 ]
[ "$(getconf LONG_BIT)" = 64 ] || exit 0
cc -std=c11 -Wall -Werror -Iinclude -fsyntax-only "$here/layout.c" || {
    echo "The layout of the public structs is another: what is new goes to" \
        "their end and into tests/tools/layout.txt; else STAR_ABI rises."
    exit 1
}
