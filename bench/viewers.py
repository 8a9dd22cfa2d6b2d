"""What viewers of the page cost a hub: bench/viewers.sh runs it.

viewers.py NAME NODES PID URL PAIRS SECONDS: the hub is a process, and serves its
page at the URL.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.request import urlopen

VIEWERS = 3


class Viewer:
    """Asks for what the page asks for when it is opened, and reads what comes."""

    def __init__(self, url: str) -> None:
        for path in ("/", "/healthz", "/status", "/api/v1/course"):
            with urlopen(url + path, timeout=10) as answer:
                answer.read()
        self._events = urlopen(url + "/api/v1/events", timeout=10)
        self._over = False
        self.seen = 0
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._over:
            self.seen += self._events.readline().startswith(b"event: status")

    def close(self) -> None:
        self._over = True
        self._thread.join()
        self._events.close()


def busy(pid: int) -> tuple[float, float]:
    """Processor seconds of all threads of a process, and of the page's."""
    all_threads = page = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        used = int((thread / "schedstat").read_text().split()[0]) / 1e9
        all_threads += used
        if (thread / "comm").read_text() == "page\n":
            page += used
    return all_threads, page


class Figures(NamedTuple):
    """Of one phase: percent of a core, those of the page's thread, and rounds a
    second."""

    core: float
    page: float
    rate: float


def rounds(url: str) -> tuple[float, int]:
    """How many rounds were done when."""
    with urlopen(url + "/status", timeout=10) as answer:
        status = json.load(answer)
    return status["elapsed"], status["rounds"]


def phase(pid: int, url: str, length: float) -> Figures:
    since, before = rounds(url)
    at, used = time.monotonic(), busy(pid)
    time.sleep(length)
    part = 100 / (time.monotonic() - at)
    core, page = (part * (b - a) for a, b in zip(used, busy(pid), strict=True))
    until, done = rounds(url)
    return Figures(core, page, (done - before) / (until - since))


def viewed_phase(pid: int, url: str, length: float) -> Figures:
    viewers = [Viewer(url) for _ in range(VIEWERS)]
    figures = phase(pid, url, length)
    for viewer in viewers:
        viewer.close()
        if viewer.seen < length / 2:
            sys.exit(f"a viewer has seen {viewer.seen} statuses in {length} s")
    return figures


def main(name: str, nodes: str, pid: str, url: str, pairs: str, length: str) -> None:
    at = int(pid), url, float(length)
    alone: list[Figures] = []
    viewed: list[Figures] = []
    for pair in range(int(pairs)):  # each of them is first in turn
        if pair % 2:
            viewed.append(viewed_phase(*at))
        alone.append(phase(*at))
        if not pair % 2:
            viewed.append(viewed_phase(*at))
    both = list(zip(alone, viewed, strict=True))
    figures = {
        "core_percent": median(b.core for b in viewed),
        "core_percent_alone": median(a.core for a in alone),
        "core_percent_more": median(b.core - a.core for a, b in both),
        "page_percent": median(b.page for b in viewed),
        "page_percent_alone": median(a.page for a in alone),
    }
    if name == "fast":  # else too few rounds for a rate
        ratios = sorted(b.rate / a.rate for a, b in both)
        figures |= {
            "rounds_per_second": median(b.rate for b in viewed),
            "rate_ratio": median(ratios),
            "lowest_ratio": ratios[0],
            "highest_ratio": ratios[-1],
        }
    head = {"bench": "viewers", "nodes": int(nodes), "pace": name}
    head |= {"viewers": VIEWERS, "pairs": len(both)}
    print(json.dumps(head | {key: round(value, 4) for key, value in figures.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
