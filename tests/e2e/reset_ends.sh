#!/bin/sh
# A node's connections are reset once, just before or after its run is ended or
# it is asked to leave: the centre holds each of its steps all the same.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

begin() { # RUN
    hub "$1" --policy mean --codec-up raw --codec-down raw --init hub \
        --every 4 --delay 4
    way=$((port + 4))
    start "$1way" python3 tests/e2e/resets.py "$way" "$port"
    until_ 10 "connections are forwarded" said "$1way" ready
    start "$1n1" "$bin/starswitch-node" --hub "127.0.0.1:$way" --name "$1n1" \
        --trainer "$bin/tests/preload/counting_trainer.so" \
        --model "x:1,$here/$1n1.steps" --step-time 4ms --json
    until_ 30 "$1n1 takes part" at_least "$1n1" applied 20
}

balances() { # RUN
    ends "$1" 0 30
    ends "$1n1" 0 30
    send TERM "$1way"
    python3 tests/e2e/counted.py "$here/$1.run/current/centre.safetensors" \
        "$here/$1n" 1 || failed "$1: not all that was learnt is in the centre"
}

for signal in USR1 USR2; do
    begin "before$signal"
    send $signal "before${signal}way"
    end_run "before$signal"
    balances "before$signal"

    begin "after$signal"
    end_run "after$signal" &
    send $signal "after${signal}way"
    wait $!
    balances "after$signal"

    begin "drained$signal"
    send $signal "drained${signal}way"
    "$bin/starswitch-hub" ctl drain "drained${signal}n1" \
        --directory "$here/drained$signal.run" >/dev/null ||
        failed "it cannot be drained"
    ends "drained${signal}n1" 0 30
    end_run "drained$signal"
    balances "drained$signal"

    begin "leaves$signal"
    send $signal "leaves${signal}way"
    send INT "leaves${signal}n1"
    ends "leaves${signal}n1" 0 30
    end_run "leaves$signal"
    ends "leaves$signal" 0 30
    send TERM "leaves${signal}way"
    python3 tests/e2e/counted.py \
        "$here/leaves$signal.run/current/centre.safetensors" \
        "$here/leaves${signal}n" 1 || failed "a node that left is short"
done
