"""One command makes docs/untuned.md."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from untuned.learning import learning
from untuned.report import Report, fast, fewer_bytes, monotony, unequal, wall
from untuned.runner import Runner
from untuned.work import WORKS

TREE = Path(__file__).resolve().parents[3]

SECTIONS = {
    "monotony": monotony,
    "learning": learning,
    "fast": fast,
    "wall": wall,
    "unequal": unequal,
    "bytes": fewer_bytes,
}


def of_seeds(seeds: range) -> str:
    """Whose losses stand there."""
    if len(seeds) == 1:
        return "of one seed, so that a difference of 2 % says nothing"
    return f"the median of the seeds {seeds[0]} to {seeds[-1]}, and each"


def write(report: Report, sections: Sequence[str]) -> str:
    """Runs what is missing and returns the page."""
    for name in sections:
        SECTIONS[name](report)
    took = sum(float(row["took"]) for row in report.runner.known.values())
    head = [
        "# What the defaults lose\n",
        "Written by `make convergence`; do not edit. The hub's default policy, told "
        "nothing, beside settings by hand, in virtual time: the hub, nodes and "
        "policies of production, the gradients of train/, 0.1 s an iteration. "
        "Losses are the centre's on held-out data at the end: "
        f"{of_seeds(report.seeds)}.\n",
        *(
            f"- **{work.name}**: {work.about}; {work.batch} samples an iteration."
            for work in WORKS.values()
        ),
        "",
        f"{report.held} claims hold, {report.failed} do not. All of it took "
        f"{took / 60:.0f} minutes of one process.\n",
    ]
    return "\n".join(head + report.text)


def main() -> None:
    """Runs what was asked for and writes it down."""
    parser = argparse.ArgumentParser(
        prog="python3 -m untuned", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--only", default=",".join(SECTIONS), help="sections (%(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--trust", action="store_true", help="results of an earlier build count, too"
    )
    parser.add_argument("--output", type=Path, default=TREE / "docs/untuned.md")
    asked = parser.parse_args()
    build = TREE / os.environ.get("STAR_BUILD", "build")
    runner = Runner(
        build / "starswitch-sim",
        build / "untuned/results.jsonl",
        asked.workers,
        asked.trust,
    )
    report = Report(runner, range(1, asked.seeds + 1))
    asked.output.write_text(write(report, asked.only.split(",")))


if __name__ == "__main__":
    main()
