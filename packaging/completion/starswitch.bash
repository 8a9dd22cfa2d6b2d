# bash completion of starswitch and its programs.
# Made from core/options.def: make docs

_starswitch_hub_commands=' ctl top logs plan verify export keygen enroll revoke'
_starswitch_hub_options='
 --listen
 --insecure --no-insecure
 --lan --no-lan
 --no-beacon
 --page
 --no-page
 --page-token-file
 --keys
 --for
 --most
 --once --no-once
 --rotate --no-rotate
 --chunk
 --window
 --budget
 --up
 --down
 --cores
 --threads
 --policy
 --gate
 --select
 --reduce
 --merge
 --receive
 --damping
 --preempt
 --init
 --tournament
 --optimizer
 --fragments
 --dylu --no-dylu
 --every
 --delay
 --miss
 --wait
 --exchange
 --codec-up
 --codec-down
 --staleness
 --nodes
 --outer-lr
 --outer-momentum
 --early
 --elastic
 --pull
 --anchor
 --group
 --global-every
 --top
 --trim
 --faulty
 --clip
 --quorum
 --grace
 --margin
 --gap
 --strikes
 --spare
 --quantile
 --rollback
 --tasks
 --task-time
 --goal
 --iterations
 --time
 --epochs
 --idle
 --model
 --data
 --trainer
 --seed
 --evaluate
 --directory
 --save
 --best
 --record
 --journal
 --report
 --course
 --tensorboard
 --json --no-json
 --follow --no-follow
 --lines
 --supervise --no-supervise
 --config
 --help
 --version'
_starswitch_node_commands=' doctor auto'
_starswitch_node_options='
 --hub
 --key-file
 --key
 --identity
 --name
 --up
 --down
 --cores
 --params
 --iterations
 --time
 --model
 --data
 --trainer
 --seed
 --step-time
 --evaluate
 --dry-run --no-dry-run
 --save
 --record
 --json --no-json
 --config
 --help
 --version'
_starswitch_sim_commands=' run compare sweep tune import export validate view replay soak shim'
_starswitch_sim_options='
 --listen
 --insecure --no-insecure
 --hub
 --name
 --chunk
 --window
 --budget
 --up
 --down
 --policy
 --gate
 --select
 --reduce
 --merge
 --receive
 --damping
 --preempt
 --init
 --tournament
 --optimizer
 --fragments
 --dylu --no-dylu
 --every
 --delay
 --miss
 --wait
 --exchange
 --codec-up
 --codec-down
 --staleness
 --nodes
 --rate
 --port
 --latency
 --jitter
 --loss
 --flip
 --cut
 --duplicate
 --swap
 --stall
 --trace
 --scenario
 --speeds
 --step-cv
 --hiccups
 --hiccup
 --compute
 --params
 --noise
 --spread
 --seeds
 --workers
 --over
 --k-half
 --noise-scale
 --timeline
 --outer-lr
 --outer-momentum
 --early
 --elastic
 --pull
 --anchor
 --group
 --global-every
 --top
 --trim
 --faulty
 --clip
 --quorum
 --grace
 --margin
 --gap
 --strikes
 --spare
 --quantile
 --rollback
 --goal
 --iterations
 --time
 --model
 --data
 --trainer
 --seed
 --step-time
 --evaluate
 --record
 --report
 --course
 --json --no-json
 --config
 --help
 --version'
_starswitch_ctl=' status checkpoint drain pin unpin rollback reload stop end'

_starswitch_values() { # PROGRAM--OPTION
    case $1 in
    hub--listen) echo ;;
    sim--listen) echo ;;
    hub--insecure | hub--no-insecure | sim--insecure | sim--no-insecure) echo @flag ;;
    node--hub) echo ;;
    sim--hub) echo ;;
    hub--lan | hub--no-lan) echo @flag ;;
    hub--no-beacon) echo @flag ;;
    hub--page) echo ;;
    hub--no-page) echo @flag ;;
    hub--page-token-file) echo @file ;;
    hub--keys) echo @folder ;;
    node--key-file) echo @file ;;
    node--key) echo ;;
    hub--for) echo ;;
    hub--most) echo ;;
    hub--once | hub--no-once) echo @flag ;;
    hub--rotate | hub--no-rotate) echo @flag ;;
    node--identity) echo @file ;;
    node--name) echo ;;
    sim--name) echo ;;
    hub--chunk | sim--chunk) echo ;;
    hub--window | sim--window) echo ;;
    hub--budget | sim--budget) echo ;;
    hub--up | sim--up) echo ;;
    hub--down | sim--down) echo ;;
    node--up) echo ;;
    node--down) echo ;;
    hub--cores) echo ;;
    hub--threads) echo ;;
    node--cores) echo ;;
    hub--policy | sim--policy) echo mean auto lean sparse diloco async streaming delayed downpour ddp best better top soup verified easgd easgd-async lsgd pbt median trimmed robust krum multi-krum adam ;;
    hub--gate | sim--gate) echo sync async quorum slack counted ;;
    hub--select | sim--select) echo all best better top ;;
    hub--reduce | sim--reduce) echo mean clip tokens median trimmed krum multi-krum rda soup verified ;;
    hub--merge | sim--merge) echo mean schedule-free heloco mixing delayed elastic elastic-first copy leader adam ;;
    hub--receive | sim--receive) echo all leader quantile halving ;;
    hub--damping | sim--damping) echo none inverse root ;;
    hub--preempt | sim--preempt) echo off margin quantile ;;
    hub--init | sim--init) echo hub tournament population elastic ;;
    hub--tournament | sim--tournament) echo ;;
    hub--optimizer | sim--optimizer) echo keep reset ;;
    hub--fragments | sim--fragments) echo ;;
    hub--dylu | hub--no-dylu | sim--dylu | sim--no-dylu) echo @flag ;;
    hub--every | sim--every) echo ;;
    hub--delay | sim--delay) echo ;;
    hub--miss | sim--miss) echo late skip wait cut ;;
    hub--wait | sim--wait) echo ;;
    hub--exchange | sim--exchange) echo delta gradient parameters ;;
    hub--codec-up | sim--codec-up) echo raw f16 bf16 int8 int4 e3m0 sign top1 top10 sparse ;;
    hub--codec-down | sim--codec-down) echo raw f16 bf16 int8 int4 e3m0 sign top1 top10 sparse ;;
    hub--staleness | sim--staleness) echo ;;
    hub--nodes) echo ;;
    sim--nodes) echo ;;
    sim--rate) echo ;;
    sim--port) echo ;;
    sim--latency) echo ;;
    sim--jitter) echo ;;
    sim--loss) echo ;;
    sim--flip) echo ;;
    sim--cut) echo ;;
    sim--duplicate) echo ;;
    sim--swap) echo ;;
    sim--stall) echo ;;
    sim--trace) echo @file ;;
    sim--scenario) echo @file ;;
    sim--speeds) echo ;;
    sim--step-cv) echo ;;
    sim--hiccups) echo ;;
    sim--hiccup) echo ;;
    sim--compute) echo real surrogate recorded ;;
    sim--params) echo ;;
    sim--noise) echo ;;
    sim--spread) echo ;;
    sim--seeds) echo ;;
    sim--workers) echo ;;
    sim--over) echo ;;
    sim--k-half) echo ;;
    sim--noise-scale) echo ;;
    sim--timeline) echo @file ;;
    hub--outer-lr | sim--outer-lr) echo ;;
    hub--outer-momentum | sim--outer-momentum) echo ;;
    hub--early | sim--early) echo ;;
    hub--elastic | sim--elastic) echo ;;
    hub--pull | sim--pull) echo ;;
    hub--anchor | sim--anchor) echo ;;
    hub--group | sim--group) echo ;;
    hub--global-every | sim--global-every) echo ;;
    hub--top | sim--top) echo ;;
    hub--trim | sim--trim) echo ;;
    hub--faulty | sim--faulty) echo ;;
    hub--clip | sim--clip) echo ;;
    hub--quorum | sim--quorum) echo ;;
    hub--grace | sim--grace) echo ;;
    hub--margin | sim--margin) echo ;;
    hub--gap | sim--gap) echo ;;
    hub--strikes | sim--strikes) echo ;;
    hub--spare | sim--spare) echo ;;
    hub--quantile | sim--quantile) echo ;;
    hub--rollback | sim--rollback) echo ;;
    node--params) echo ;;
    hub--tasks) echo ;;
    hub--task-time) echo ;;
    hub--goal | sim--goal) echo ;;
    hub--iterations | node--iterations | sim--iterations) echo ;;
    hub--time | node--time | sim--time) echo ;;
    hub--epochs) echo ;;
    hub--idle) echo ;;
    hub--model | node--model | sim--model) echo ;;
    hub--data | node--data | sim--data) echo @file ;;
    hub--trainer | node--trainer | sim--trainer) echo @file ;;
    hub--seed | node--seed | sim--seed) echo ;;
    node--step-time | sim--step-time) echo ;;
    hub--evaluate | sim--evaluate) echo ;;
    node--evaluate) echo ;;
    node--dry-run | node--no-dry-run) echo @flag ;;
    hub--directory) echo @folder ;;
    hub--save) echo ;;
    node--save) echo @file ;;
    hub--best) echo ;;
    hub--record | node--record | sim--record) echo @file ;;
    hub--journal) echo @file ;;
    hub--report | sim--report) echo @file ;;
    hub--course | sim--course) echo @file ;;
    hub--tensorboard) echo @folder ;;
    hub--json | hub--no-json | node--json | node--no-json | sim--json | sim--no-json) echo @flag ;;
    hub--follow | hub--no-follow) echo @flag ;;
    hub--lines) echo ;;
    hub--supervise | hub--no-supervise) echo @flag ;;
    hub--config | node--config | sim--config) echo @file ;;
    hub--help | node--help | sim--help) echo @flag ;;
    hub--version | node--version | sim--version) echo @flag ;;
    *) return 1 ;;
    esac
}

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
