"""What is run: command lines of starswitch-sim, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from untuned.work import WORKS, Work

STEP = "0.1"  # seconds
SELDOM = "--evaluate 1h"  # of runs of which only the end counts
INTERVALS = (1, 2, 5, 10, 20, 50, 100)
BY_HAND = tuple(  # what somebody would try, with every k and d below
    (words.split()[0], f"--policy {words}")
    for words in ("mean", "diloco --outer-momentum 0.5", "diloco")
)
HAND_INTERVALS = (5, 20, 50)
NETWORKS = (10, 100, 1000)  # Mbit/s, of each node's link and of the hub's port
LONG = 2400  # iterations where bytes count: first ones move nodes furthest apart
WALL = 60  # seconds that each run of the sweep has


def line(
    work: Work,
    nodes: int,
    options: str,
    seed: int,
    *,
    end: str = "",
    rate: float = 1.0,
    batch: int = 1,
) -> str:
    """What starswitch-sim is told; `rate` and `batch` are times the work's own,
    `end` is all iterations unless it says otherwise."""
    model = work.spec(work.batch * batch, work.rate * rate)
    end = end or f"--iterations {work.iterations}"
    return " ".join(
        f"run --model {model} --data {work.data} --nodes {nodes} --init hub "
        f"--step-time {STEP}s {SELDOM} --seed {seed} {end} {options}".split()
    )


def pooled(work: Work, nodes: int, rate: float, seed: int, end: str = "") -> str:
    """Data parallelism: the gradient of all nodes' samples at every iteration is
    that of one node which has all data and takes as many samples."""
    alone = "--policy mean --every 100 --delay 0"
    return line(work, 1, alone, seed, end=end, rate=rate, batch=nodes)


def told_nothing(work: Work, nodes: int, rate: float, seed: int) -> str:
    """The default policy on a gigabit."""
    return line(work, nodes, "", seed, rate=rate)


def delays(every: int) -> dict[str, int]:
    """The delays that are tried with an interval, by their names."""
    return {"0": 0, "k/2": every // 2, "k": every, "2k": 2 * every}


def fixed(policy: str, every: int, delay: int) -> str:
    """A policy whose k and d somebody has set."""
    return f"--policy {policy} --every {every} --delay {delay}"


@dataclass(frozen=True)
class Network:
    """A star in which a work is learnt for WALL seconds."""

    work: Work
    nodes: int
    mbit: int

    def line(self, options: str, seed: int) -> str:
        """A run on it."""
        port = f"--rate {self.mbit}Mbit --port {self.mbit}Mbit"
        return line(
            self.work, self.nodes, f"{port} {options}", seed, end=f"--time {WALL}s"
        )

    def by_hand(self) -> Iterator[tuple[str, str]]:
        """Name and options of each setting that is tried on it."""
        for name, options in BY_HAND:
            momentum = " 0.5" if "0.5" in options else ""
            for every in HAND_INTERVALS:
                for delay in dict.fromkeys((0, 4, every // 2)):
                    yield (
                        f"{name}{momentum}, k = {every}, d = {delay}",
                        f"{options} --every {every} --delay {delay}",
                    )


def networks() -> list[Network]:
    """All stars of the sweep."""
    return [
        Network(work, nodes, mbit)
        for work in WORKS.values()
        for nodes in (4, 8)
        for mbit in NETWORKS
    ]
