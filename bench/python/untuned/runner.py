"""Runs arms, as many at a time as there are cores, and keeps what came out.

A result is kept under the arm's command line, with the program's checksum: a
study that was stopped goes on, and another program's results do not count. Of
a run whose loss is looked at all the time the curve is kept, too."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from untuned.arms import SELDOM

Outcome = dict[str, Any]  # the last line of what starswitch-sim --json prints
Curve = list[tuple[float, float, float]]  # s, iterations of a node, centre's loss


def curve_of(course: Path) -> Curve:
    """What a file of --course says of the loss, once each time it was looked at."""
    curve: Curve = []
    for row in course.read_text().splitlines():
        _, kind, said = [*row.split(" ", 2), "", ""][:3]
        if kind != "status":
            continue
        status = json.loads(said)
        loss, nodes = status["loss"], status["nodes"]
        if loss is None or not nodes or (curve and loss == curve[-1][2]):
            continue
        iterations = sum(node["iterations"] for node in nodes) / len(nodes)
        curve.append((float(status["elapsed"]), iterations, float(loss)))
    return curve


class Runner:
    """`results` is a file of JSON lines. With `trust`, what another build of the
    program has said counts, too."""

    def __init__(
        self, program: Path, results: Path, workers: int, trust: bool = False
    ) -> None:
        self.program, self.results, self.workers = program, results, workers
        self.checksum = hashlib.sha256(program.read_bytes()).hexdigest()[:16]
        self.known: dict[str, Outcome] = {}
        if results.exists():
            for line in results.read_text().splitlines():
                row = json.loads(line)
                if trust or row["program"] == self.checksum:
                    self.known[row["arm"]] = row

    def run(self, arms: Iterable[str]) -> None:
        """Runs those that are not known yet; says how far it is."""
        missing = [arm for arm in dict.fromkeys(arms) if arm not in self.known]
        began = time.monotonic()
        with ThreadPoolExecutor(self.workers) as pool:
            runs = [pool.submit(self._run, arm) for arm in missing]
            for done, run in enumerate(as_completed(runs), 1):
                self._keep(run.result())
                spent = time.monotonic() - began
                left = spent / done * (len(missing) - done)
                print(
                    f"\r{done} of {len(missing)} runs, {left / 60:.0f} min to go ",
                    end="" if done < len(missing) else "\n",
                    file=sys.stderr,
                    flush=True,
                )

    def loss(self, arm: str) -> float:
        """The centre's held-out loss at the end of an arm that has been run."""
        return float(self.known[arm]["loss"])

    def curve(self, arm: str) -> Curve:
        """The losses on the way of an arm that has been run."""
        return [(point[0], point[1], point[2]) for point in self.known[arm]["curve"]]

    def _say(self, *words: str) -> str:
        command = [str(self.program), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):  # 1: without its goal
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _run(self, arm: str) -> Outcome:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            course = Path(folder) / "course"
            watched = arm.startswith("run") and SELDOM not in arm
            watch = ["--course", str(course)] if watched else []
            said = self._say(*arm.split(), "--json", *watch)
            outcome: Outcome = json.loads(said.splitlines()[-1])
            if watch:
                outcome["curve"] = curve_of(course)
        outcome["took"] = time.monotonic() - began
        return {"arm": arm, "program": self.checksum, **outcome}

    def _keep(self, row: Outcome) -> None:
        self.results.parent.mkdir(parents=True, exist_ok=True)
        with self.results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.known[row["arm"]] = row
