#!/bin/sh
# The example in starswitch.h is a program: it compiles as C99 against the
# header alone, and takes part in a run.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
export LD_LIBRARY_PATH="$bin"

awk '/\*\// { exit }
     / \*     #include/ { code = 1 }
     code && !/^ \*(     |$)/ { exit }
     code { print substr($0, 8) }' include/starswitch.h >"$here/example.c"
mkdir "$here/include"
cp include/starswitch.h "$here/include"
cc -std=c99 -Wall -Wextra -pedantic -Werror -I"$here/include" \
    -o "$here/example" "$here/example.c" -L"$bin" -lstarswitch
hub h --policy mean --time 2s --nodes 1
start example "$here/example"
ends example 0 30
ends h 0 30
[ "$(cat "$here/example.out")" = 3.000 ] || failed "it did not learn"
