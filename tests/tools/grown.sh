#!/bin/sh
# A program that was compiled against this header works with a library whose
# structs have grown, and one that was compiled against the grown header works
# with this library as long as it does not use what is new.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

export STARSWITCH_HUB="$hub_address:$port"
new="$here/new"
mkdir -p "$new/include"
# Each struct that begins with its size gets a member more, at its end.
for header in include/*.h; do
    awk '{ lines[NR] = $0 }
         /^struct .* \{$/ { begun = NR; sized = 0 }
         begun && NR == begun + 1 && /^    uint32_t size;/ { sized = 1 }
         /^};$/ { if (sized) lines[NR] = "    double grown[3];\n};"
                  begun = sized = 0 }
         END { for (i = 1; i <= NR; i++) print lines[i] }' \
        "$header" >"$new/$header"
done
for header in starswitch starswitch_group; do
    all=$(grep -c '^struct .* {$' "include/$header.h")
    [ "$(grep -c 'double grown' "$new/include/$header.h")" = "$all" ] ||
        failed "a struct of $header.h does not begin with its size"
done

# What of the library reads the header, anew; the rest as it is.
modules="libsodium libxxhash zlib json-c openblas libczmq"
modules="$modules $(pkg-config --exists msgpack-c && echo msgpack-c ||
    echo msgpack)"
for source in node/library/*.c keys/*.c; do
    cc -std=c11 -D_GNU_SOURCE -O1 -fPIC -fvisibility=hidden -pthread \
        -I"$new" -I"$new/include" -I. $(pkg-config --cflags $modules) \
        -c -o "$new/$(echo "$source" | tr / -).o" "$source"
done
soname=$(readelf -d "$bin/libstarswitch.so" |
    sed -n 's/.*soname: \[\(.*\)\]/\1/p')
archives=$(find "$bin" -maxdepth 1 -name "lib*.a" ! -name libstarswitch.a)
cc -shared -o "$new/$soname" "$new"/*.o -Wl,-soname,"$soname" \
    -Wl,--version-script=node/library/symbols.map -Wl,--exclude-libs,ALL \
    -Wl,--as-needed -Wl,--start-group $archives -Wl,--end-group \
    $(pkg-config --libs $modules) -lm -pthread
cc -std=c99 -pthread -I"$new/include" -o "$new/embed" examples/embed.c \
    -L"$bin" -lstarswitch -lm

hub h --policy mean --every 50 --time 3s --nodes 2
LD_LIBRARY_PATH="$new" start old-program "$bin/examples/embed" 0
LD_LIBRARY_PATH="$bin" start new-program "$new/embed" 1
ends old-program 0 30
ends new-program 0 30
ends h 0 30
for name in old new; do
    learnt=$(cut -d. -f1 "$here/$name-program.out")
    echo "    $name: $(cat "$here/$name-program.out")"
    [ "$learnt" -ge 70 ] || failed "the $name program did not learn"
done
