#!/bin/sh
# What `make install` leaves is enough for a stranger: the headers are C99 and
# C++, pkg-config says all that a compiler must know, the examples build, and
# two copies of the one that embeds the library agree around an installed hub.
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL MFLAGS WERROR SAN SUITES CC
root=$(mktemp -d)
finish() {
    code=$?
    trap - EXIT
    set +e # they may be over
    # shellcheck disable=SC2086
    kill -KILL $hub $one 2>/dev/null
    rm -rf "$root"
    exit $code
}
hub= one=
trap finish EXIT
trap 'exit 1' INT TERM HUP
make -s BUILD="${STAR_BUILD:-build}" DESTDIR="$root" PREFIX=/usr install

# As for a system of its own, that lies in $root.
export PKG_CONFIG_PATH="$root/usr/lib/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs starswitch)
private=$(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/starswitch.pc")
# Where nothing else is installed, too.
PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH pkg-config --cflags --libs starswitch \
    >/dev/null
export LD_LIBRARY_PATH="$root/usr/lib"
strict="-Wall -Wextra -Wpedantic -pedantic -Werror -pthread"

for header in "$root"/usr/include/*.h; do
    cc -std=c99 $strict $flags -fsyntax-only -x c "$header"
    clang++ -std=c++11 $strict -fsyntax-only -I"$root/usr/include" -x c++ \
        -Wno-pragma-once-outside-header "$header"
    echo "${header##*/} is C99 and C++"
done

[ -s "$root/usr/share/man/man5/starswitch-trace.5" ]
[ -s "$root/usr/share/man/man1/starswitch-hub.1" ]
echo "the man pages are there"
[ -s "$root/usr/share/zsh/site-functions/_starswitch" ]
for name in starswitch starswitch-hub starswitch-node starswitch-sim; do
    bash -c '. "$1" && complete -p "${1##*/}"' - \
        "$root/usr/share/bash-completion/completions/$name" >/dev/null
done
echo "bash and zsh complete the programs"
# Programs tell a service manager how they are; a library is somebody else's
# program.
if grep -q NOTIFY_SOCKET "$root/usr/lib/libstarswitch.so"; then
    echo "FAILED: the library talks to service managers"
    exit 1
fi
grep -q NOTIFY_SOCKET "$root/usr/bin/starswitch-hub"
"$root/usr/bin/starswitch" hub --version

cat >"$root/both.cc" <<'END_OF_CC'
#include <starswitch.h>
#include <starswitch_trainer.h>
int main()
{
    star_link *link = nullptr;
    char error[256] = "";
    star_status status =
        star_attach(nullptr, nullptr, 0, &link, error, sizeof error);
    star_detach(&link);
    return status == STAR_BAD_ARGUMENT && error[0] ? 0 : 1;
}
END_OF_CC
clang++ -std=c++11 $strict "$root/both.cc" -o "$root/both" $flags
"$root/both"
echo "C++ calls it"
tools/symbols "$root/usr/lib/libstarswitch.so" \
    "$root/usr/lib/libstarswitch.a"

cc -std=c99 $strict -fPIC -shared -o "$root/trainer.so" \
    examples/blobs_trainer.c -I"$root/usr/include" -lm
cc -std=c99 $strict -o "$root/embed" examples/embed.c $flags -lm
cc -std=c99 $strict -I"$root/usr/include" -o "$root/embed-static" \
    examples/embed.c "$root/usr/lib/libstarswitch.a" $private
echo "the examples build against what was installed"

# Another port when this one is taken.
start_hub() {
    for try in 1 2 3 4 5; do
        port=$((20000 + ($$ * 7 + try * 613) % 12000 / 2 * 2))
        "$root/usr/bin/starswitch-hub" --listen "127.0.0.1:$port" \
            --policy mean --every 50 --nodes 2 --time 15s --json \
            --directory "$root/run" >"$root/hub.log" 2>&1 &
        hub=$!
        # It prints a line a second once it listens.
        until [ -s "$root/hub.log" ]; do sleep 0.1; done
        sleep 0.1
        if kill -0 $hub 2>/dev/null; then return 0; fi
    done
    cat "$root/hub.log"
    return 1
}

start_hub
export STARSWITCH_HUB="127.0.0.1:$port"
timeout 60 "$root/embed" 0 >"$root/one" &
one=$!
timeout 60 "$root/embed-static" 1 >"$root/other"
wait $one
wait $hub
cat "$root/one" "$root/other"
# Alone, each would call every point of the other's cloud its own: 50 %.
for said in "$root/one" "$root/other"; do
    awk '{ right = $1 } END { exit !(right > 60) }' "$said"
done
[ -n "$(find "$root/run" -name '*.safetensors')" ]
echo "two loops that embed it learn what neither can learn alone"

# Nothing is left behind.
make -s BUILD="${STAR_BUILD:-build}" DESTDIR="$root" PREFIX=/usr uninstall
left=$(find "$root/usr" -type f -o -type l)
[ -z "$left" ] || {
    echo "FAILED: make uninstall leaves $left"
    exit 1
}
