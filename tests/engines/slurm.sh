#!/bin/sh
# examples/launch/slurm.sbatch in a real SLURM on this machine: a hub and four
# nodes; one node is killed and the others train on; the job is drained by its
# signal and queued again, goes on from its centre, and reaches its goal.
set -eu
cd "$(dirname "$0")/../.."
. tests/engines/slurm_cluster
missing=$(slurm_missing)
if [ "$missing" ]; then
    echo "SLURM: skipped, there is no $(echo "$missing" | tr '\n' ' ')"
    exit 0
fi
[ "${1:-}" = apart ] || exec timeout -k 10 240 unshare --net --uts --mount \
    --pid --fork --kill-child --mount-proc sh "$0" apart
# A name and an address that SLURM takes for those of a host.
hostname localhost
ip link set lo up
ip link add name star0 type veth peer name star1
ip addr add 192.0.2.1/24 dev star0
ip link set star0 up
. tests/e2e/common
. tests/engines/jobs

mkdir "$here/bin" "$here/work"
cp packaging/starswitch "$here/bin"
for name in hub node sim; do
    ln -s "$(realpath "$bin")/starswitch-$name" "$here/bin"
done
PATH=$here/bin:$PATH
slurm_up 8

script=$PWD/examples/launch/slurm.sbatch
export XDG_CONFIG_HOME="$here/config"
export STARSWITCH_MODEL=$model STARSWITCH_DATA="$data" STARSWITCH_JSON=yes
export GOAL=0.01
job=$(cd "$here/work" && sbatch --parsable --output="$here/job.out" "$script" \
    starswitch node --step-time 30ms)
touch "$here/job.out"
run=$here/work/starswitch-$job

over() { # STATE: of the job
    scontrol show job "$job" | grep -q "JobState=$1 "
}

until_ 30 "four nodes join" joined job 4
until_ 30 "they train" beyond job 3
echo "SLURM: a hub and four nodes train"

kill -KILL "$(process n2)"
until_ 30 "the others go on" beyond job $(($(version job) + 3))
slurm_has "$job" RUNNING || failed "the job ends with one of its nodes"
echo "SLURM: a node is killed, the others train on"

! grep -q 'goal reached' "$here/job.out" || failed "the goal was too easy"
scancel --batch --signal=USR1 "$job"
until_ 40 "the job is queued again" over PENDING
before=$(version job)
[ "$(metadata "$run/current/centre.safetensors" version)" -ge "$before" ] ||
    failed "what the hub had when it was drained is not saved"
until_ 60 "the job runs again" over RUNNING
until_ 30 "the hub goes on" grep -q "going on with run" "$here/job.out"
until_ 30 "the nodes are back" joined job 8
echo "SLURM: drained by its signal and queued again, it goes on at $before"

until_ 90 "the goal is reached" over COMPLETED
grep -q 'goal reached' "$here/job.out" || failed "the hub does not say that"
beyond job "$before" || failed "it has begun anew"
echo "SLURM: the goal is reached, and the job is over"
