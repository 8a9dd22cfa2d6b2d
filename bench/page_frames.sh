#!/bin/sh
# How smooth the page is in a headless Chromium while somebody pans a curve and
# drags the slider: 32 nodes, two simulated hours. JSON lines: times between
# frames in ms, p50 and p95; 60 a second are 16.7. PICTURES=FOLDER keeps
# pictures.
set -eu
cd "$(dirname "$0")/.."
bin=${STAR_BUILD:-build}
browser=$(command -v chromium || command -v chromium-browser)
here=$(mktemp -d)
view=
trap '[ -z "$view" ] || kill "$view"; rm -rf "$here"' EXIT

"$bin/starswitch-sim" run --nodes "${NODES:-32}" --time 2h --step-time 2s \
    --params 1M --every 20 --course "$here/course" >"$here/run"
"$bin/starswitch-sim" view "$here/course" >"$here/out" &
view=$!
while ! grep -qs http "$here/out"; do
    kill -0 "$view"
    sleep 0.1
done
python3 bench/page_frames.py "$browser" "$(sed 's/ .*//' "$here/out")" \
    ${PICTURES:+"$PICTURES"}
