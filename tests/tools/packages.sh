#!/bin/sh
# tools/install on a Debian that has nothing: says first what and how much it
# will install, the compiler among it, and then no more; what apt says is shown
# when it fails. The Debian is a toy: two commands that answer as apt does.
set -eu
cd "$(dirname "$0")/../.."
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

failed() {
    echo "FAILED: $*"
    cat "$here/said"
    exit 1
}

cat >"$here/dpkg-query" <<'END'
#!/bin/sh
exit 1
END
cat >"$here/apt-cache" <<'END'
#!/bin/sh
echo "  Candidate: 1.0"
END
cat >"$here/apt-get" <<'END'
#!/bin/sh
case "$*" in
*--assume-no*)
    echo "0 upgraded, 87 newly installed, 0 to remove and 3 not upgraded."
    echo "Need to get 135 MB/140 MB of archives."
    echo "After this operation, 625 MB of additional disk space will be used."
    exit 1
    ;;
esac
echo "$*" >>"$0.asked"
for line in $(seq 300); do echo "Unpacking $line ..."; done
[ ! -e "$0.cut" ] || {
    echo "E: dpkg was interrupted, you must manually run" \
        "'dpkg --configure -a' to correct the problem."
    exit 100
}
[ ! -e "$0.broken" ] || { echo "E: the disk is full"; exit 100; }
END
# Whoever is not root asks sudo.
printf '#!/bin/sh\nexec "$@"\n' >"$here/sudo"
chmod +x "$here"/*

PATH=$here:$PATH tools/install build demo >"$here/said" 2>&1 ||
    failed "it fails with $?"
for each in " gcc " " libc6-dev " " dataset-fashion-mnist" \
    "87 packages, 135 MB to fetch, 625 MB on the disk"; do
    grep -q -- "$each" "$here/said" || failed "no word of $each beforehand"
done
[ "$(wc -l <"$here/said")" -le 3 ] || failed "it says too much"
grep -q "install .* gcc .* dataset-fashion-mnist" "$here/apt-get.asked" ||
    failed "the compiler is not installed"
echo "says how much, installs, and is quiet"

touch "$here/apt-get.broken"
! PATH=$here:$PATH tools/install build >"$here/said" 2>&1 ||
    failed "it did not notice"
for each in "the disk is full" "As root, type: apt-get update"; do
    grep -q "$each" "$here/said" || failed "no word of $each"
done
echo "says what apt said when that failed"

rm "$here/apt-get.broken"
touch "$here/apt-get.cut"
! PATH=$here:$PATH tools/install build >"$here/said" 2>&1 ||
    failed "it did not notice that dpkg was interrupted"
grep -q "As root, type: dpkg --configure -a" "$here/said" ||
    failed "it does not say what to do"
echo "says what to do when dpkg was interrupted"
