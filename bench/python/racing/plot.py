"""docs/race.svg: held-out loss over time, one panel a network.

python -m racing.plot RESULTS SVG
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

from racing.arms import PEERS
from racing.report import best_of, curve

matplotlib.use("svg")
from matplotlib import pyplot

COLOURS = {
    "ddp": "#555555",
    "hivemind": "#cc7722",
    "localsgd": "#3477b8",
    "diloco": "#7a52a0",
    "flwr": "#5a9a3c",
    "starswitch": "#c02040",
    "byhand": "#e08090",
}


def main(results: Path, picture: Path) -> None:
    """Draws each peer's best interval."""
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    networks = sorted({row["mbit"] for row in rows if "summary" in row})
    if not networks:
        return
    pyplot.rcParams.update({"svg.hashsalt": "race", "font.size": 9})
    figure, panels = pyplot.subplots(
        1, len(networks), figsize=(3.6 * len(networks), 3.4), sharey=True, squeeze=False
    )
    for panel, mbit in zip(panels[0], networks, strict=True):
        mine = [row for row in rows if row["mbit"] == mbit and "summary" in row]
        for summary in best_of(mine):
            peer, every = PEERS[summary["peer"]], summary["every"]
            points = curve(rows, summary)
            panel.plot(
                [seconds for seconds, _ in points],
                [loss for _, loss in points],
                color=COLOURS.get(peer.name, "#000000"),
                linewidth=2 if peer.name == "starswitch" else 1.2,
                label=peer.title + (f", every {every}" if every else ""),
            )
        panel.set_title(f"{mbit} Mbit/s")
        panel.set_xlabel("seconds")
        panel.set_ylim(top=4.5)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7)
    panels[0][0].set_ylabel("held-out loss, nats a byte")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
