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
    local options=_starswitch_$1_options commands=_starswitch_$1_commands
    local -a known=(${(P)commands})
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]] && (( $#known )); then
        _describe command known
        return
    fi
    case $words[2] in
    ctl) (( CURRENT != 3 )) || { _describe command _starswitch_ctl; return; } ;;
    plan) options=_starswitch_sim_options ;;
    auto) options=_starswitch_hub_options ;;
    esac
    # Behind -- are somebody else's words.
    if (( ${words[(I)--]} && ${words[(I)--]} < CURRENT )); then
        _files
        return
    fi
    _arguments ${(P)options} '*:file:_files'
}

_starswitch() {
    local program=${service#starswitch} front=$words[1]
    program=${program#-}
    if [[ -z $program ]]; then
        if (( CURRENT == 2 )); then
            local -a known=(${(f)"$($front --help 2>/dev/null |
                sed -n 's/^  \([a-z]\{2,\}\)  *\(.*\)/\1:\2/p')"})
            _describe command known
            return
        fi
        program=$words[2]
        case $program in
        hub | node | sim) shift words; (( CURRENT-- )) ;;
        doctor) program=node ;;
        plan) program=sim ;;
        top | logs | auto) program=hub ;;
        *)
            local -a said=(${(f)"$($front $program --help 2>/dev/null |
                grep -o -- '--[a-z][a-z-]*' | sort -u)"})
            [[ $PREFIX == -* ]] && compadd -- $said || _files
            return
            ;;
        esac
    fi
    _starswitch_program $program
}

_starswitch "$@"
