#!/bin/sh
# What Grafana's dashboards and Prometheus' alerts ask for is what a hub tells;
# promtool, where it is installed, finds nothing wrong with either; and a reader
# of TensorBoard's files finds in them what the hub has said.
set -eu
cd "$(dirname "$0")/../.."
. tests/e2e/common

hub h --policy mean --every 10 --delay 2 --page "127.0.0.1:$((port + 7))" \
    --model "$model" --data "$data" --goal 0.0001 --save 1s --up 800Mbit \
    --down 800Mbit --tasks 4 --tensorboard "$here/board"
node n1
node n2
until_ 20 "nodes train" at_least n1 applied 3
until_ 20 "the centre is saved" told h centre_saved
python3 tests/e2e/metrics.py "$((port + 7))" packaging >"$here/metrics.txt" ||
    failed "a name is asked for that no hub tells"

# The trainers of starswitch-node know their optimizer's time, and nodes have
# begun after their hub.
awk -F '[" ]' '/^starswitch_up_seconds / { up = $2 }
    /^starswitch_node_time_seconds_total{node="n1"/ {
        time[$4] = $NF; all += $NF
    }
    END { exit !(time["compute"] > 0 && time["optimizer"] > 0 && all <= up) }
    ' "$here/metrics.txt" || failed "n1 does not tell where its time goes"

mkdir "$here/made"
python3 packaging/grafana/make.py "$here/made"
for board in operator learning; do
    cmp "$here/made/$board.json" "packaging/grafana/$board.json" ||
        failed "say python3 packaging/grafana/make.py: $board.json is another"
done

if command -v promtool >/dev/null; then
    promtool check metrics <"$here/metrics.txt" >"$here/promtool.out" 2>&1 ||
        failed "promtool complains about /metrics"
    [ ! -s "$here/promtool.out" ] || failed "promtool has remarks"
    promtool check rules packaging/prometheus/starswitch.rules.yml \
        >"$here/promtool.out" 2>&1 || failed "promtool complains about rules"
    promtool test rules tests/e2e/alerts.yml >"$here/promtool.out" 2>&1 ||
        failed "an alert fires when it is not to, or does not"
fi
send TERM h
ends h 1 30 # its goal is not reached
python3 tests/e2e/tensorboard.py "$here/board" loss/centre loss/n1 loss/n2 \
    rounds/version "iterations a second/n1" accuracy/centre >"$here/curves" ||
    failed "TensorBoard's files cannot be read"
version=$(sed -n 's|^rounds/version \([0-9]*\)\..*|\1|p' "$here/curves")
grep -q "version $version\$" "$here/h.err" ||
    failed "the last version is not $version"
echo "dashboards and alerts ask for what a hub tells"
