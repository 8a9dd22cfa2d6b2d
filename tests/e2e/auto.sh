#!/bin/sh
# starswitch-node auto: the process of rank 0 is the hub, the others run the
# command, whatever engine has started them (real ones: tests/engines).
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

bin=$(cd "$bin" && pwd)
export XDG_CONFIG_HOME="$here/config"
cd "$here"

# ---- what it would do ----

# plans WORDS VARIABLE=VALUE...: that is somewhere in what it prints.
plans() {
    local words=$1
    shift
    env "$@" "$bin/starswitch-node" auto --dry-run --goal 0.3 -- train me \
        >plan.out 2>plan.err || true
    cat plan.out plan.err | grep -qF -- "$words" ||
        failed "$*: no '$words' in: $(cat plan.out plan.err)"
}

slurm="SLURM_NTASKS=5 SLURM_JOB_ID=77 SLURM_NNODES=5"
list='pc[01-04,7]b,gpu'
# shellcheck disable=SC2086
{
    plans "--listen 0.0.0.0:23520 --lan --no-beacon --directory" \
        $slurm SLURM_PROCID=0 "SLURM_JOB_NODELIST=$list"
    plans "STARSWITCH_HUB=pc01b:23520 STARSWITCH_NAME=n4" \
        $slurm SLURM_PROCID=4 "SLURM_JOB_NODELIST=$list"
    plans "STARSWITCH_KEY_FILE=$here/starswitch-77/keys/invitation" \
        $slurm SLURM_PROCID=4 "SLURM_JOB_NODELIST=$list"
    plans "STARSWITCH_HUB=one:23520" $slurm SLURM_PROCID=4 \
        SLURM_JOB_NODELIST=other SLURM_STEP_NODELIST=one
    plans "torchrun, RANK 2 of 4" $slurm SLURM_PROCID=0 RANK=2 WORLD_SIZE=4 \
        MASTER_ADDR=pc0
    plans "STARSWITCH_HUB=10.0.0.1:4000" $slurm SLURM_PROCID=1 \
        STARSWITCH_LISTEN=10.0.0.1:4000
    plans "a node of elsewhere:1" $slurm SLURM_PROCID=0 \
        STARSWITCH_HUB=elsewhere:1
}
plans "STARSWITCH_HUB=lead.svc:7541" LWS_WORKER_INDEX=3 LWS_GROUP_SIZE=5 \
    LWS_LEADER_ADDRESS=lead.svc
plans "STARSWITCH_NAME=n1 STARSWITCH_NODE=0 train me" \
    PMI_RANK=1 PMI_SIZE=3 MPI_LOCALNRANKS=3
plans "no engine has started this process" A=1
plans "RANK is no number: two" RANK=two WORLD_SIZE=3 MASTER_ADDR=pc0
plans "started one process" PMI_RANK=0 PMI_SIZE=1
plans "PMI_RANK is 3, but there are 3 ranks" PMI_RANK=3 PMI_SIZE=3
plans "PMI does not say on which host" PMI_RANK=1 PMI_SIZE=3
plans "MPICH does not say on which host" \
    PMI_RANK=1 PMI_SIZE=3 MPI_LOCALNRANKS=1
# mpirun in a script of sbatch.
# shellcheck disable=SC2086
plans "Open MPI, OMPI_COMM_WORLD_RANK 2 of 3: a node of 127.0.0.1:2" \
    $slurm SLURM_PROCID=0 SLURM_JOB_NODELIST=other OMPI_COMM_WORLD_RANK=2 \
    OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3 PMIX_NAMESPACE=5

# ---- what it does ----

cat >train <<END
#!/bin/sh
exec "$bin/starswitch-node" --model $model --data "$data" --step-time 5ms \
    --json "\$@"
END
chmod +x train

# ranks NAME COUNT VARIABLE=VALUE... -- WORD...: so many processes.
ranks() {
    local name=$1 count=$2 rank=0 engine=
    shift 2
    while [ "$1" != -- ]; do
        engine="$engine $1"
        shift
    done
    shift
    while [ $rank -lt "$count" ]; do
        # shellcheck disable=SC2086
        start "$name-$rank" env $(echo "$engine" | sed "s/%/$rank/g") \
            "$bin/starswitch-node" auto "$@"
        rank=$((rank + 1))
    done
}

# A node is no rank of torchrun's: starswitch.attach leaves all but local rank 0
# of a PC's ranks out.
start ranked env RANK=2 LOCAL_RANK=2 WORLD_SIZE=3 LOCAL_WORLD_SIZE=3 \
    MASTER_ADDR=127.0.0.1 "$bin/starswitch-node" auto --directory ranked.run \
    -- env
ends ranked 0
said ranked "STARSWITCH_NODE=1" || failed "the command has no number"
! grep -E '^(LOCAL_)?(RANK|WORLD_SIZE)=' ranked.out ||
    failed "the command takes itself for a rank"

# On one host, until the scripts have ended.
on_one="PMI_SIZE=4 MPI_LOCALNRANKS=4"
# shellcheck disable=SC2086
ranks alone 4 $on_one PMI_RANK=% -- --listen "127.0.0.1:$port" \
    --every 20 --init hub --no-page --directory alone.run --idle 1s \
    -- ./train --iterations 600
for rank in 1 2 3 0; do
    ends alone-$rank 0 30
done
said alone-0 "no node has been there for 1 s" ||
    failed "the hub ended otherwise"
for rank in 1 2 3; do
    told alone-0 node_joined n$rank || failed "n$rank did not join"
    ! said alone-$rank "says nothing" || failed "n$rank took it for no hub"
    at_least alone-$rank applied 1 || failed "n$rank took no result"
done

# Two jobs of one host, in folders of their own: each has its own hub.
for job in one other; do
    mkdir $job
    cp train $job/
    cd $job
    # shellcheck disable=SC2086
    ranks $job 2 PMI_SIZE=2 MPI_LOCALNRANKS=2 PMI_RANK=% -- --every 20 \
        --no-page --idle 1s -- ./train --iterations 400
    cd ..
done
for job in one other; do
    ends $job-1 0 30
    ends $job-0 0 30
    told $job-0 node_joined n1 || failed "its own node did not join"
    ! told $job-0 node_lost || failed "a node of the other job was taken for it"
done

# A command that starts the node and waits, as scripts do; one that leaves it.
for kind in waits leaves; do
    [ $kind = waits ] && behind= || behind="& wait"
    printf '#!/bin/sh\n./train "$@" %s\n' "$behind" >$kind
    chmod +x $kind
    port=$((port + 2))
    hub $kind --every 20 --no-page
    start $kind-node env STARSWITCH_HUB="127.0.0.1:$port" STARSWITCH_NAME=n1 \
        "$bin/starswitch-node" auto -- ./$kind
    until_ 20 "n1 exchanges" at_least $kind-node applied 2
    send TERM $kind-node
    ends $kind-node 143 40
    told $kind node_left n1 || failed "$kind: n1 said no goodbye"
    end_run $kind
    ends $kind 0 20
done

# With keys, at this host's name: one node is asked to end as SLURM does it, one
# is killed with all that it had started, and is started again.
name=$(hostname)
if getent hosts "$name" >/dev/null; then
    port=$((port + 2))
    ranks keyed 3 LWS_GROUP_SIZE=3 LWS_LEADER_ADDRESS="$name" \
        LWS_WORKER_INDEX=% -- --listen "0.0.0.0:$port" --every 20 --no-page \
        --directory keyed.run --idle 2s -- ./train
    for rank in 1 2; do
        until_ 20 "n$rank exchanges" at_least keyed-$rank applied 2
    done
    [ -s keyed.run-nodes/n1.key_secret ] || failed "n1 has no key of its own"
    send USR1 keyed-1
    ends keyed-1 138 # 128 and SIGUSR1: there is more to do
    told keyed-0 node_left n1 || failed "n1 said no goodbye"
    child=$(cat /proc/"$(cat keyed-2.pid)"/task/*/children)
    send KILL keyed-2
    until_ 5 "n2's command ends" [ ! -e /proc/"${child% }" ]
    ends keyed-2 137
    ends keyed-0 0 30

    # Started again elsewhere: the hub is not where it was.
    port=$((port + 2))
    mkdir told.run-nodes
    printf 'former nowhere' >told.run-nodes/host
    ranks told 2 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=% \
        PMIX_NAMESPACE=now -- --every 20 --no-page \
        --directory told.run --idle 2s -- ./train --iterations 1000
    ends told-1 0 60
    at_least told-1 applied 1 || failed "it found no hub"
    ends told-0 0 30
fi
