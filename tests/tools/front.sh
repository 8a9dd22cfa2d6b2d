#!/bin/sh
# `starswitch COMMAND` is the program that it stands beside: its help, its exit
# code, its process; without Python, too.
set -eu
cd "$(dirname "$0")/../.."
bin=$(realpath "${STAR_BUILD:-build}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failed() {
    echo "front: $*" >&2
    exit 1
}

mkdir "$here/bin" "$here/else"
cp packaging/starswitch "$here/bin"
for name in hub node sim; do
    ln -s "$bin/starswitch-$name" "$here/bin"
done
ln -s ../bin/starswitch "$here/else/star" # found by where it is, not by a link
star=$here/else/star

same() { # WORDS... : PROGRAM WORDS...
    "$here/bin/starswitch-$2" $3 >"$here/theirs" 2>&1 || true
    "$star" $1 >"$here/ours" 2>&1 || true
    cmp -s "$here/ours" "$here/theirs" || failed "$1 is not starswitch-$2 $3"
}
code_of() { # CODE WORDS...
    code=0
    expected=$1
    shift
    "$@" >"$here/out" 2>"$here/err" || code=$?
    [ "$code" = "$expected" ] || failed "$* ends with $code, not $expected"
}
same "hub --help" hub --help
same "node --help" node --help
same "sim --help" sim --help
same --version hub --version
same "plan --params nonsense" hub "plan --params nonsense"
same "top --directory $here" hub "top --directory $here"
same "logs n1 --directory $here" hub "logs n1 --directory $here"
same "doctor --hub" node "doctor --hub"

# Arguments arrive as they were given.
mv "$here/bin/starswitch-sim" "$here/sim"
printf '#!/bin/sh\nprintf "%%s|" $$ "$@"\nexit 75\n' >"$here/bin/starswitch-sim"
chmod +x "$here/bin/starswitch-sim"
code_of 75 sh -c 'printf "%s|" $$; exec "$@"' - "$star" sim "a  b" "" '*'
pid=$(cut -d'|' -f1 "$here/out")
[ "$(cat "$here/out")" = "$pid|$pid|a  b||*|" ] ||
    failed "another process or other arguments: $(cat "$here/out")"

rm "$here/bin/starswitch-sim"
code_of 69 "$star" sim
grep -q "starswitch-sim is not there" "$here/err" || failed "what is missing?"
code_of 64 "$star"
code_of 64 "$star" nonsense
grep -q "no command 'nonsense'" "$here/err" || failed "nonsense is not named"
code_of 0 "$star" --help

# Where no python3 has the package, that is said.
mkdir "$here/no"
printf '#!/bin/sh\nexit 1\n' >"$here/no/python3"
chmod +x "$here/no/python3"
code_of 69 env PATH="$here/no:$PATH" "$star" check train.py
grep -q "pip install starswitch" "$here/err" || failed "no way on is said"
code_of 0 env PATH="$here/no:$PATH" "$star" hub --help

# In a TrainJob of Kubeflow the package starts these programs, if it is there.
code_of 64 env PATH="$here/no:$PATH" KUBEFLOW_TRAINER_SERVER_URL=x "$star" auto
printf '#!/bin/sh\necho "$STARSWITCH_PROGRAMS: $*"\n' >"$here/no/python3"
code_of 0 env PATH="$here/no:$PATH" KUBEFLOW_TRAINER_SERVER_URL=x \
    "$star" auto --goal 0.3 -- "a b"
said=$(tail -n 1 "$here/out")
[ "$said" = "$here/bin: -m starswitch auto --goal 0.3 -- a b" ] ||
    failed "auto in a TrainJob: $(cat "$here/out")"
code_of 64 env PATH="$here/no:$PATH" "$star" auto
echo "starswitch is the programs it stands beside"
