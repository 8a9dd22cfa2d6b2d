#!/bin/sh
# The example in starswitch.h is a program: it compiles as C99 against the
# header alone, and takes part in a run. Each header of the library compiles by
# itself, in C and in C++, and a program in C++ finds what it declares.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
export LD_LIBRARY_PATH="$bin"
strict="-Wall -Wextra -pedantic -Werror"

awk '/\*\// { exit }
     / \*     #include/ { code = 1 }
     code && !/^ \*(     |$)/ { exit }
     code { print substr($0, 8) }' include/starswitch.h >"$here/example.c"
mkdir "$here/include"
cp include/starswitch.h "$here/include"
cc -std=c99 $strict -I"$here/include" \
    -o "$here/example" "$here/example.c" -L"$bin" -lstarswitch
hub h --policy mean --time 2s --nodes 1
start example "$here/example"
ends example 0 30
ends h 0 30
[ "$(cat "$here/example.out")" = 3.000 ] || failed "it did not learn"

for header in include/*.h; do
    name=$(basename "$header")
    printf '#include <%s>\n#include <%s>\nint main(void)\n{ return 0; }\n' \
        "$name" "$name" >"$here/twice.c"
    cc -std=c99 $strict -Iinclude -fsyntax-only "$here/twice.c"
    c++ -std=c++11 $strict -x c++ -Iinclude -fsyntax-only "$here/twice.c"
done

cat >"$here/example.cc" <<'END'
#include <cstdio>
#include <cstring>
#include <starswitch.h>
#include <starswitch_group.h>

int main()
{
    float w[6] = {0};
    const star_tensor tensors[] = {STAR_TENSOR("w", 2, w, nullptr, 2, 3)};
    star_options options{};
    star_progress progress{};
    star_state state{};
    star_link *link;
    char error[256];

    options.size = sizeof options;
    options.quiet = 1;
    progress.size = sizeof progress;
    state.size = sizeof state;
    if (std::strcmp(star_version(), STAR_VERSION) != 0 ||
        star_attach(&options, tensors, 1, &link, error, sizeof error))
        return 1;
    if (star_step(link, &progress) != STAR_GO ||
        star_look(link, &state) != STAR_OK || state.iteration != 1)
        return 2;
    star_group_leave(nullptr);
    (void)star_detach_within(&link, 0);
    return link ? 3 : 0;
}
END
c++ -std=c++11 $strict -Iinclude -o "$here/example-cc" "$here/example.cc" \
    -L"$bin" -lstarswitch
start example-cc "$here/example-cc"
ends example-cc 0 10

# What a program is linked with is the library of that ABI, and a version of it.
abi=$(sed -n 's/^#define STAR_ABI //p' include/starswitch.h)
readelf -d "$here/example-cc" | grep -q "NEEDED.*libstarswitch.so.$abi\]" ||
    failed "a program is not linked with libstarswitch.so.$abi"
readelf -W --dyn-syms "$here/example-cc" |
    grep -q "star_attach@STARSWITCH_$abi " ||
    failed "star_attach has no version"
