# What stands behind an option: words, or a path.
_starswitch_value() { # WORD...; then what _arguments adds
    local -a values=(${@:#-*})
    case ${(j: :)values} in
    *@folder*) _files -/ ;;
    *@file*) _files ;;
    '') _message value ;;
    *) compadd -- $values ;;
    esac
}

_starswitch_program() { # PROGRAM
    # Not "options" and "commands", which zsh has.
    local rows=_starswitch_$1_options verbs=_starswitch_$1_commands
    local verb=${2:-$words[2]} other=${words[(i)--]}
    local -a known=(${(P)verbs}) more=()
    if (( CURRENT == 2 )) && [[ -z $2 && $words[2] != -* ]] && (( $#known )); then
        _describe command known
        return
    fi
    # Behind -- are somebody else's words, of a command of theirs.
    if (( other < CURRENT )); then
        case $verb in
        auto | launch)
            shift $other words
            (( CURRENT -= other ))
            _normal
            ;;
        *) _files ;;
        esac
        return
    fi
    case $verb in
    ctl)
        (( CURRENT != 3 )) || { _describe command _starswitch_ctl; return; }
        more=(${(M)${(P)rows}:#--(directory|json|help)[=\[]*})
        _arguments $more '*:node:'
        return
        ;;
    plan) rows=_starswitch_sim_options ;;
    auto)
        rows=_starswitch_hub_options
        more=('--dry-run[print what this process would do, and end]')
        ;;
    launch) more=($_starswitch_launch) ;;
    esac
    _arguments $more ${(P)rows} '*:file:_files'
}

# Launch's own options, beside the hub's.
_starswitch_launch=(
    '--local=[nodes here, so many]:N:_starswitch_value'
    '--hosts=[nodes by ssh on these PCs]:PC,PC...:_starswitch_value'
    '--logs=[files instead of this terminal]:DIR:_starswitch_value @folder'
    '--ssh=[such as "ssh -p 2222"]:COMMAND:_starswitch_value'
    '--dry-run[print what it would do]'
)

_starswitch() {
    local program=${service#starswitch} front=$words[1] verb=
    program=${program#-}
    if [[ -z $program ]]; then
        if (( CURRENT == 2 )); then
            local -a known=(${(f)"$($front --help 2>/dev/null |
                sed -n 's/^  \([a-z]\{2,\}\)  *\(.*\)/\1:\2/p')"})
            _describe command known
            return
        fi
        program=$words[2] verb=$words[2]
        case $program in
        hub | node | sim) shift words; (( CURRENT-- )); verb= ;;
        doctor) program=node ;;
        plan) program=sim ;;
        top | logs | auto | launch) program=hub ;;
        *)
            local -a said=(${(f)"$($front $program --help 2>/dev/null |
                grep -o -- '--[a-z][a-z-]*' | sort -u)"})
            [[ $PREFIX == -* ]] && compadd -- $said || _files
            return
            ;;
        esac
    fi
    _starswitch_program $program $verb
}

_starswitch "$@"
