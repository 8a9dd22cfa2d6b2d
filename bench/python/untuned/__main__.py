"""One command makes docs/untuned.md."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from untuned.report import SECTIONS, Report, write
from untuned.runner import Runner

TREE = Path(__file__).resolve().parents[3]


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
