#!/bin/sh
# examples/launch/ray_star.py on a Ray cluster of this machine: the actor of a
# node is killed, and that of the hub; both come back and the goal is reached.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/engines/jobs

python=build/ray-venv/bin/python
"$python" -c 'import ray' 2>/dev/null || skip Ray "there is none in
    build/ray-venv: python3 -m venv build/ray-venv &&
    build/ray-venv/bin/pip install ray"
PATH=$(realpath "$bin"):$PATH
export HOME="$here" # where Ray puts a token
export RAY_USAGE_STATS_ENABLED=0 RAY_TMPDIR="$here/ray" PYTHONUNBUFFERED=1
parent() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }

start job "$python" examples/launch/ray_star.py --nodes 3 \
    --directory "$here/run" --listen "127.0.0.1:$port" --model "$model" \
    --data "$data" --goal 0.01 --policy mean --no-page --json \
    --save 200ms -- \
    starswitch-node --model "$model" --data "$data" --step-time 20ms --json
until_ 90 "three nodes join" joined job 3
until_ 30 "they train" beyond job 3
kill -KILL "$(parent "$(parent "$(process n2)")")"
until_ 60 "the node is back" joined job 4
echo "Ray: a node's actor is killed, and is back"
kill -KILL "$(parent "$(ours starswitch-hub)")"
until_ 60 "the hub goes on" said job "going on with run"
until_ 60 "the nodes are back" joined job 7
echo "Ray: the hub's actor is killed, and goes on with the run"
ends job 0 120
said job "goal reached" || failed "the goal is not reached"
echo "Ray: the goal is reached"
