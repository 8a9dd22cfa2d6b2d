#!/bin/sh
# A hub and three nodes under mpirun, of Open MPI and of MPICH: a node is killed
# and the others train on; or all end, as mpirun has it, and the same command
# goes on from the hub's centre, to its goal.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/engines/jobs
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

job() { # NAME COMMAND...: four processes, in a directory of their own
    local name=$1
    shift
    start "$name" "$@" -n 4 "$bin/starswitch-node" auto \
        --directory "$here/${name%-again}.run" --listen "127.0.0.1:$port" \
        --model "$model" --data "$data" --goal 0.01 --policy mean --no-page \
        --json --save 200ms -- "$bin/starswitch-node" --model "$model" \
        --data "$data" --step-time 20ms --json
    until_ 60 "$name: three nodes join" joined "$name" 3
    until_ 30 "$name: they train" beyond "$name" 3
}

# all_end NAME COMMAND...: when one fails, and may be started again.
all_end() {
    local name=$1
    job "$@"
    kill -KILL "$(process n2)"
    until_ 60 "$name ends" is_over "$name"
    [ "$(cat "$here/$name.code")" != 0 ] || failed "$name: all is well"
    shift
    port=$((port + 2))
    job "$name-again" "$@"
    said "$name-again" "going on with run" || failed "$name begins anew"
    ends "$name-again" 0 120
    said "$name-again" "goal reached" || failed "$name: no goal is reached"
    echo "$name: all end with one; started again, they reach their goal"
}

# others_go_on NAME COMMAND...: when one fails.
others_go_on() {
    local name=$1
    job "$@"
    kill -KILL "$(process n2)"
    until_ 30 "$name: the others go on" \
        beyond "$name" $(($(version "$name") + 3))
    until_ 120 "$name: the goal is reached" said "$name" "goal reached"
    until_ 30 "$name ends" is_over "$name"
    echo "$name: a node is killed, the others reach the goal"
}

if command -v mpirun.openmpi >/dev/null; then
    all_end openmpi mpirun.openmpi --oversubscribe
    port=$((port + 2))
    others_go_on openmpi-recovers mpirun.openmpi --oversubscribe \
        --enable-recovery
else
    echo "Open MPI: skipped, there is no mpirun.openmpi"
fi
port=$((port + 2))
if command -v mpirun.mpich >/dev/null; then
    all_end mpich mpirun.mpich
    port=$((port + 2))
    others_go_on mpich-recovers mpirun.mpich -disable-auto-cleanup
else
    echo "MPICH: skipped, there is no mpirun.mpich"
fi
