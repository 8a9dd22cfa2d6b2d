# The commands that the front lists, and what a command says of its options.
_starswitch_commands() { # PROGRAM
    "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p'
}
_starswitch_help() { # PROGRAM COMMAND
    "$1" "$2" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u
}

# Answers with those of the words that begin as the user has.
_starswitch_offer() { # BEGUN WORDS
    local word
    COMPREPLY=()
    for word in $2; do
        case $word in
        @file) compopt -o filenames && mapfile -t COMPREPLY < <(
            compgen -f -- "$1") ;;
        @folder) compopt -o filenames && mapfile -t COMPREPLY < <(
            compgen -d -- "$1") ;;
        @flag) ;;
        "$1"*) COMPREPLY+=("$word") ;;
        esac
    done
}

# Somebody else's words, behind --: a command's, which begins at this word.
_starswitch_other() { # BEGUN FIRST
    if declare -F _command_offset >/dev/null; then
        _command_offset "$2"
    elif [ "$COMP_CWORD" = "$2" ]; then
        _starswitch_offer "$1" @file
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$1")
    else
        _starswitch_offer "$1" @file
    fi
}

_starswitch() {
    local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
    local begun=${COMP_WORDS[COMP_CWORD]} last program=${1##*/} first=1 values
    local verb more= i
    program=${program#starswitch}
    program=${program#-}
    if [ -z "$program" ]; then
        if [ "$COMP_CWORD" = 1 ]; then
            _starswitch_offer "$begun" "$(_starswitch_commands "$1")"
            return
        fi
        program=${COMP_WORDS[1]} first=2
        case $program in
        hub | node | sim) ;;
        *) first=0 verb=$program ;; # a command that is short for another
        esac
    fi
    verb=${verb:-${words[first]:-}}
    for i in "${!words[@]}"; do
        [ "${words[i]}" != -- ] || {
            case $verb in
            auto | launch) _starswitch_other "$begun" $((i + 1)) ;;
            *) _starswitch_offer "$begun" @file ;;
            esac
            return
        }
    done
    # `--name=value` is three words here: COMP_WORDBREAKS has the sign.
    [ "$begun" != = ] || begun=
    last=${words[*]: -1}
    [ "$last" != = ] || last=${words[*]: -2:1}
    case $verb in
    plan) program=sim ;;
    doctor) program=node ;;
    top | logs) program=hub ;;
    auto) program=hub more=' --dry-run' ;;
    launch)
        program=hub more=' --local --hosts --logs --ssh --dry-run'
        case $last in
        --logs) _starswitch_offer "$begun" @folder && return ;;
        --local | --hosts | --ssh) COMPREPLY=() && return ;;
        esac
        ;;
    ctl)
        [ "$COMP_CWORD" != $((first + 1)) ] || {
            _starswitch_offer "$begun" "$_starswitch_ctl"
            return
        }
        case $begun in -*)
            _starswitch_offer "$begun" ' --directory --json --help'
            return
            ;;
        esac
        ;;
    demo | check)
        case $begun in
        -*) _starswitch_offer "$begun" "$(_starswitch_help "$1" "$verb")" ;;
        *) _starswitch_offer "$begun" @file ;;
        esac
        return
        ;;
    esac
    values=$(_starswitch_values "$program$last") &&
        [ "$values" != @flag ] && {
        _starswitch_offer "$begun" "$values"
        return
    }
    case $begun in -*) values=_starswitch_${program}_options ;;
    *) values=_starswitch_${program}_commands ;; esac
    [ "$values" != "_starswitch_${program}_commands" ] ||
        [ "$COMP_CWORD" = "$first" ] || {
        _starswitch_offer "$begun" @file
        return
    }
    _starswitch_offer "$begun" "${!values}
$more"
}

complete -F _starswitch starswitch starswitch-hub starswitch-node \
    starswitch-sim
