#!/bin/sh
# What Tab offers in bash, and in zsh where it is installed: commands, options
# and values, for the front command and for each program.
set -eu
cd "$(dirname "$0")/../.."
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failed() {
    echo "completion: $*" >&2
    exit 1
}

mkdir "$here/bin" "$here/folder"
cp packaging/starswitch "$here/bin"
for name in hub node sim; do
    ln -s "$(realpath "${STAR_BUILD:-build}")/starswitch-$name" "$here/bin"
done
touch "$here/faults"
PATH=$here/bin:$PATH

# "LINE | offered, with blanks around each | not offered"
cat >"$here/lines" <<'END'
starswitch  | hub node sim auto doctor plan top logs demo check |
starswitch hub  | ctl top logs plan keygen | run
starswitch hub ctl d | drain | status
starswitch doctor --h | --hub --help | --json
starswitch plan --par | --params |
starswitch auto --goa | --goal |
starswitch-node auto --policy d | diloco | mean
starswitch auto --goal 1 -- fa | faults | --goal
starswitch auto --dr | --dry-run |
starswitch-node auto --dr | --dry-run |
starswitch launch --local 4 --pol | --policy |
starswitch launch --loc | --local | --logs
starswitch launch --policy d | diloco | mean
starswitch launch --local 4 f | faults folder | --local
starswitch launch --local 4 -- starswitch-n | starswitch-node | --nodes
starswitch launch --local 4 -- cat fa | faults |
starswitch auto -- starswitch-n | starswitch-node |
starswitch check f | faults | fg
starswitch hub ctl status -- | --directory --json | --policy
starswitch-hub t | top | ctl
starswitch-hub --json --no-j | --no-json | --json
starswitch-hub --polic | --policy |
starswitch-hub --policy d | diloco ddp | mean
starswitch-hub --reduce m | multi-krum median | krum
starswitch-hub --optimizer=k | keep | average
starswitch-hub --directory f | folder | faults
starswitch-hub --record f | faults |
starswitch-node --codec | | --codec-up --cores
starswitch-sim run --compute  | surrogate real | run
END

cat >"$here/offers" <<'END'
# Prints what bash offers for the words; the last one is not yet whole.
compopt() { :; }
. "$1"
shift
# A line of bash has the sign of --name=value as a word of its own.
for word; do
    case $word in
    --*=*) COMP_WORDS+=("${word%%=*}" = "${word#*=}") ;;
    *) COMP_WORDS+=("$word") ;;
    esac
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_starswitch "$1"
echo " ${COMPREPLY[*]} "
END
file=$PWD/packaging/completion/starswitch.bash
offered() { # LINE
    # Its last word is empty where the line ends with a blank.
    case $1 in *' ') last= ;; *) last=${1##* } ;; esac
    # shellcheck disable=SC2086
    (cd "$here" && bash offers "$file" ${1% *} "$last") | tr '\n' ' '
}
while IFS='|' read -r line wanted other; do
    said=$(offered "${line% }")
    for word in $wanted; do
        case $said in *" $word "*) ;;
        *) failed "bash does not offer $word for '$line': $said" ;; esac
    done
    for word in $other; do
        case $said in *" $word "*)
            failed "bash offers $word for '$line': $said" ;; esac
    done
done <"$here/lines"
echo "bash completes commands, options and values"

command -v zsh >/dev/null || {
    echo "zsh: skipped, it is not installed"
    exit 0
}
cat >"$here/asks" <<'END'
# Types the line and a Tab into a zsh, until it shows what is awaited.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "stty -echo; PS1=; fpath=($1 \$fpath); autoload -Uz compinit
compinit -u -D; bindkey '^I' list-choices; cd $2; print RE''ADY"
zpty -r -m shell said '*READY*' || exit 1
zpty -n -w shell "$3"$'\t'
zpty -r -m shell said "*$4*" || exit 1
zpty -d shell
END
in_zsh() { # LINE WORD: Tab shows the word
    timeout 20 zsh -f "$here/asks" "$PWD/packaging/completion" "$here" "$@" ||
        failed "zsh does not offer $2 for '$1'"
}
in_zsh "starswitch " "looks for what is wrong"
in_zsh "starswitch hub ctl d" "last offer"
in_zsh "starswitch auto --dr" "this process would do"
in_zsh "starswitch launch --local 4 --pol" "what the hub does"
in_zsh "starswitch launch --loc" "nodes here"
in_zsh "starswitch launch --local 4 -- starswitch-n" starswitch-node
in_zsh "starswitch launch --local 4 -- cat fa" faults
in_zsh "starswitch check f" folder
in_zsh "starswitch hub ctl status --d" "where the run is kept"
in_zsh "starswitch-hub --polic" "what the hub does"
in_zsh "starswitch-hub --policy d" downpour
in_zsh "starswitch-hub --directory=f" folder
in_zsh "starswitch-sim run --compute " surrogate
echo "zsh completes them, and says what they mean"
