#!/bin/sh
# bench/truth/report.awk on lines whose means, errors and ranking were done by
# hand.
set -eu
cd "$(dirname "$0")/../.."
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

line() { # SCENE REAL-ROUND SIMULATED-ROUND REAL-GOAL SIMULATED-GOAL
    echo "{\"scenario\":\"$1\",\"real\":{\"rounds\":9,\"round_time\":$2,"\
"\"goal_time\":$4},\"simulated\":{\"rounds\":9,\"round_time\":$3,"\
"\"goal_time\":$5}}"
}

{
    echo '{"calibrated":"rank-a","extra_ms":0.1}'
    line rank-a 1 1.5 4 4
    line rank-b 2 2.2 5 5
    line rank-b 4 4.4 7 7
    line rank-c 5 4.9 3 4.5
    line slow 0.1 0.101 8 8
    line slow 0.1 0.101 -1 8
} >"$here/lines"

says() { # FORM WORDS
    awk -v form="$1" -f bench/truth/report.awk "$here/lines" >"$here/said"
    grep -qF -e "$2" "$here/said" || {
        echo "the $1 does not say: $2"
        cat "$here/said"
        exit 1
    }
}

# b: 3 ± 1 against 3.3; errors of rounds: 10, 2, 1 %, without the first
# scenario.
says table '| rank-a (calibrated on) | 1 | 1.000 ± 0.000 |'
says table '| rank-b | 2 | 3.000 ± 1.000 | 3.300 ± 1.100 | +10.0 % |'
says table 'Time per round: median error 2.0 %, 95th percentile 9.2 %, 3 pre'
says table "Kendall's tau of the policies 1.00"
# Goals: a and c change places, so two of three pairs agree; 0, 50, 0 %.
says table 'Time to the loss: median error 0.0 %, 95th percentile 45.0 %, 3 pre'
says table "Kendall's tau of the policies 0.33"
says text '(not reached: 1)'
says svg '<title>rank-b: 3.000 ± 1.000 s, simulated 3.300 ± 1.100 s</title>'
python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$here/said"
echo "the report of bench/truth.sh adds up"
