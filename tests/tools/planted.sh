#!/bin/sh
# The gates catch what they are for: in a copy of the tree, one violation is
# planted at a time; its gate must fail and name the file.
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD WERROR SAN SUITES
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
folders=$(tools/layers --folders | tr ' ' '\n' | cut -d/ -f1 | sort -u)

# The objects come along, so that only what is planted must be compiled.
mkdir -p "$copy/build"
for folder in Makefile .clang-format docs tools $folders; do
    [ ! -e "$folder" ] || cp -a "$folder" "$copy"
done
cp -a "${STAR_BUILD:=build}/ready" "$copy/build"
(cd "$STAR_BUILD" && find . -path ./tests -prune -o -name "*.[oad]" -print0 |
    tar --null -T - -cf -) | tar -C "$copy/build" -xf -
cd "$copy"
mkdir -p core policies hub/program node train net sim

# The folder must hold planted.c already; the gate must name it, and be
# content once it is gone.
must_catch() { # GATE FILE
    if make -s CC=gcc BUILD=build "$1" >said 2>&1; then
        echo "make $1 did not see $2"
        exit 1
    fi
    if ! grep -q "^$2:" said; then
        echo "make $1 failed without naming $2:"
        cat said
        exit 1
    fi
    rm "$2"
    if ! make -s CC=gcc BUILD=build "$1" >said 2>&1; then
        echo "make $1 fails without $2:"
        cat said
        exit 1
    fi
    echo "make $1 catches $2"
}

echo '#include "net/loop.h"' >hub/planted.c
must_catch layers hub/planted.c

echo '#include "hub/program/watch.h"' >node/planted.h
must_catch layers node/planted.h

# Two that call each other.
circle() { # OWN OTHER
    echo "int $1(int x);"
    echo "int $2(int x);"
    echo "int $1(int x) { return x ? $2(x - 1) : 0; }"
}
circle star_planted star_other >policies/planted.c
circle star_other star_planted >policies/other.c
must_catch cycles policies/planted.c
rm policies/other.c

cat >core/planted.c <<'END'
#include <time.h>
time_t star_planted(void);
time_t star_planted(void)
{
    return time(NULL);
}
END
cp core/planted.c clock.c
must_catch purity core/planted.c
cp clock.c policies/planted.c
must_catch banned policies/planted.c

# In a file that joins machines to the world, a clock may be read.
cat >hub/program/planted.c <<'END'
#include <time.h>
int star_planted(struct timespec *now);
int star_planted(struct timespec *now)
{
    return clock_gettime(CLOCK_MONOTONIC, now);
}
END
make -s CC=gcc BUILD=build purity banned
mv hub/program/planted.c hub/planted.c
must_catch purity hub/planted.c

echo 'extern  int planted;' >core/planted.h
must_catch formatted core/planted.h

long_function() { # LINES
    echo 'int star_planted(int x)'
    echo '{'
    yes '    x++;' | head -n $(($1 - 4))
    echo '    return x;'
    echo '}'
}
long_function 61 >train/planted.c
must_catch size train/planted.c
yes 'extern int planted;' | head -n 401 >tools/planted.h
must_catch size tools/planted.h
yes 'extern int planted;' | head -n 701 >core/planted.h
must_catch size core/planted.h
yes 'extern int planted;' | head -n 700 >core/planted.h
make -s CC=gcc BUILD=build size
rm core/planted.h
printf '/* %078d */\n' 1 >sim/planted.h
must_catch size sim/planted.h
long_function 60 >train/planted.c
make -s CC=gcc BUILD=build size
