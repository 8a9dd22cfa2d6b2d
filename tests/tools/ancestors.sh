#!/bin/sh
# The table of the ancestors' criteria is held to the tests: in a copy of the
# tree one violation is planted at a time, and must be named.
set -eu
cd "$(dirname "$0")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/docs" "$copy/python"
cp -a tests tools "$copy"
cp -a python/tests "$copy/python"
cp -a docs/ancestors.md "$copy/docs"
cd "$copy"
table=tools/ancestors.txt
planted=tests/core/planted.c

check() {
    tools/docs --check tools/ancestors >said 2>&1
}
must_say() { # WORDS
    if check; then
        echo "nobody noticed: $1"
        exit 1
    fi
    if ! grep -qF -e "$1" said; then
        echo "it failed without saying: $1"
        cat said
        exit 1
    fi
    echo "noticed: $1"
}
test_named() {
    echo "static void $1(void)" >$planted
}
rename() { # FROM TO
    find tests -name '*.c' -exec sed -i "s/^static void $1/static void $2/" {} +
}

must_pass() {
    check || { cat said; exit 1; }
}

must_pass

test_named sd_99_nobody_asked_for_this
must_say "$planted: nothing has the number SD-99"
test_named ap9_another_pattern
must_say "$planted: ap9_another_pattern should begin like ap_09_ or t05_"
test_named t5_another_pattern
must_say "$planted: t5_another_pattern should begin like ap_09_ or t05_"
test_named ap_09_not_on_the_page
must_say "docs/ancestors.md is not what the tables say"
rm $planted
must_pass

planted=python/tests/test_planted.py
echo "def test_rb_98_nobody_asked_for_this() -> None:" >$planted
must_say "$planted: nothing has the number RB-98"
echo "    def test_ap9_another_pattern(self) -> None:" >$planted
must_say "$planted: ap9_another_pattern should begin like ap_09_ or t05_"
echo "def test_ap_09_not_on_the_page(hub: Hubs) -> None:" >$planted
must_say "docs/ancestors.md is not what the tables say"
rm $planted
must_pass

rename ap_08_ lonely_
must_say "$table: AP-8 has neither a test nor a reason"
rename lonely_ ap_08_
must_pass

cp $table whole
sed -i '/^AP-5 /d' $table
must_say "$table: AP-6 does not follow AP-4"
sed 's/^+ t02_fedavg.*/+ t02_gone/' whole >$table
must_say "$table: SD-17: there is no test t02_gone"
sed 's/^- That score is left out.*/* &/' whole >$table
must_say "what is this?"
{ cat whole && echo "~ Comes one day.: AP-8"; } >$table
must_say "$table: \"Comes one day.\" nobody waits any more"
cp whole $table
must_pass
