"""The race's options: one command makes docs/race.md and docs/race.svg."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from racing import report, runner, venvs
from racing.arms import PEERS, arms_of
from racing.network import TREE

ALL = "ddp,hivemind,localsgd,diloco,flwr,starswitch,byhand"


def options() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="bench/python/race",
        description="The same PyTorch script through starswitch and its peers, on "
        "networks of namespaces: held-out loss over wall time. Needs root, and "
        "pip for the peers' packages, which go under build/race/venv; $RACE_TORCH is "
        "a Python that has torch and matplotlib, for ddp and starswitch.",
    )
    parser.add_argument(
        "--mbit", default="10,100,1000", help="the ports' rates (%(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=90, help="each arm's time (%(default)s)"
    )
    parser.add_argument(
        "--peers",
        default=ALL,
        help="PEER or PEER@STEPS, with commas; a PEER alone runs its sweep of sync "
        f"intervals: {', '.join(PEERS)} (%(default)s)",
    )
    parser.add_argument("--nodes", type=int, default=4, help="(%(default)s)")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep earlier results of arms that are not run now",
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="the raw data, JSON lines (build/race/results.jsonl)",
    )
    parser.add_argument(
        "--docs",
        type=Path,
        default=TREE / "docs",
        help="where race.md and race.svg go (docs)",
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing, write the report again"
    )
    return parser.parse_args()


def read(results: Path) -> list[dict[str, Any]]:
    """The rows of an earlier race."""
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text().splitlines()]


def write(results: Path, rows: list[dict[str, Any]]) -> None:
    """All rows, in place of what was there."""
    results.parent.mkdir(parents=True, exist_ok=True)
    part = results.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows))
    part.replace(results)


def race(asked: argparse.Namespace, build: Path, results: Path) -> int:
    """Runs the arms; how many failed."""
    arms = arms_of(asked.peers)
    for name in sorted({"torch"} | {arm.peer.venv for arm in arms}):
        venvs.make(name, build)
    rows = read(results) if asked.keep else []
    failures = 0
    for mbit in (int(word) for word in asked.mbit.split(",")):
        for arm in arms:
            folder = build / "race/run" / f"{mbit}-{arm}"
            key = (arm.peer.name, arm.every, mbit)
            try:
                new = runner.run(arm, asked.nodes, mbit, asked.seconds, folder, build)
            except (runner.Failed, subprocess.SubprocessError) as failure:
                runner.complain(failure)
                failures += 1
                head = {"peer": arm.peer.name, "every": arm.every, "mbit": mbit}
                new = [{**head, "failed": str(failure).splitlines()[0]}]
            new[-1]["version"] = report.version_of(arm.peer, build)
            rows = [
                row for row in rows if (row["peer"], row["every"], row["mbit"]) != key
            ] + new
            write(results, rows)
            print(json.dumps(new[-1]), flush=True)
    return failures


def main() -> int:
    """Races, then reports; 1 if an arm failed."""
    asked = options()
    build = Path(os.environ.get("STAR_BUILD", "build"))
    build = build if build.is_absolute() else TREE / build
    results = asked.results or build / "race/results.jsonl"
    if not asked.report and os.geteuid() != 0:
        print("race: skipped: network namespaces need root", file=sys.stderr)
        return 0
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(1))  # networks are removed
    failures = 0 if asked.report else race(asked, build, results)
    report.write(read(results), asked.docs, build)
    plot = [venvs.program("torch", build), "-m", "racing.plot"]
    subprocess.run(
        [*plot, str(results), str(asked.docs / "race.svg")],
        env={**os.environ, "PYTHONPATH": str(TREE / "bench/python")},
        check=True,
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
