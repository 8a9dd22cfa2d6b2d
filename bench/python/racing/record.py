"""The clock, the snapshots and the iterations of a run, as files in one folder.

The processes of a run are on one machine, so they meet through files: no peer's
network carries the race's own bookkeeping.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

PATIENCE = 5  # intervals that a snapshot waits for parameters that are merged


class Recorder:
    """What one process of a run writes.

    The clock starts when all nodes have joined, and stops for nobody. A snapshot
    (3.3 MB) takes a few milliseconds and is in everybody's time.
    """

    def __init__(self, folder: Path, rank: int, nodes: int, seconds: float) -> None:
        self.folder, self.rank, self.nodes = folder, rank, nodes
        self.seconds = seconds
        self.interval = max(1.0, seconds / 25)
        self.started = self.last = 0.0
        self.count = 0

    def start_together(self) -> None:
        """Waits until every node has joined, then starts the clock."""
        (self.folder / f"joined-{self.rank}").touch()
        while len(list(self.folder.glob("joined-*"))) < self.nodes:
            time.sleep(0.002)
        self.start()

    def start(self) -> None:
        """Starts the clock; rank 0 tells the runner, which reads its counters."""
        self.started = self.last = time.monotonic()
        if self.rank == 0:
            (self.folder / "started").touch()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def due(self, merged: bool) -> bool:
        """Whether to save now: an interval has passed, and the parameters are
        everybody's (merged), or have not been for long."""
        waited = time.monotonic() - self.last
        return waited >= self.interval * (1 if merged else PATIENCE)

    def progress(self, iterations: int) -> None:
        """Notes how far this process has come."""
        with (self.folder / f"progress-{self.rank}.jsonl").open("a") as out:
            row = {"seconds": self.elapsed(), "iterations": iterations}
            print(json.dumps(row), file=out)
        self.last = time.monotonic()

    def snapshot(self, model: nn.Module, iterations: int) -> None:
        """Saves the parameters, one vector of float32, for the judge."""
        name = f"snapshot-{self.count:05d}.pt"
        row = {"seconds": self.elapsed(), "iterations": iterations, "file": name}
        vector = parameters_to_vector(model.parameters()).detach()
        torch.save(vector, self.folder / name)
        with (self.folder / "snapshots.jsonl").open("a") as out:
            print(json.dumps(row), file=out)
        self.count += 1

    def over(self) -> None:
        """Tells the runner that the time is up."""
        (self.folder / "over").touch()
