#!/bin/sh
# A hub and two nodes under torchrun; a worker is killed: torchrun starts all
# anew, the hub goes on with its run, the nodes are back, the goal is reached.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common
. tests/engines/jobs

python=build/python-venv/bin/python
"$python" -c 'import torch' 2>/dev/null ||
    skip torchrun "there is no torch in build/python-venv"

start job "$python" -m torch.distributed.run --nproc-per-node 3 \
    --max-restarts 3 --master-addr 127.0.0.1 --master-port $((port + 4)) \
    --no-python "$bin/starswitch-node" auto --directory "$here/run" \
    --listen "127.0.0.1:$port" --model "$model" --data "$data" --goal 0.01 \
    --policy mean --no-page --json --save 200ms -- \
    "$bin/starswitch-node" --model "$model" --data "$data" --step-time 20ms \
    --json
until_ 60 "two nodes join" joined job 2
until_ 30 "they train" beyond job 3
kill -KILL "$(process n2)"
until_ 60 "the hub goes on" said job "going on with run"
until_ 60 "the nodes are back" joined job 4
echo "torchrun: a worker is killed, all are started again and go on"
ends job 0 120
said job "goal reached" || failed "the goal is not reached"
echo "torchrun: the goal is reached"
