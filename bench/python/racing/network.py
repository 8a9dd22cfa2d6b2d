"""A switch of network namespaces with token buckets, and what crossed it.

bench/kit/network makes it; a place is a namespace: NAME-hub, NAME-0 ... and the
switch itself. Needs root.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

TREE = Path(__file__).resolve().parents[3]
HUB = "10.98.0.1"


def address(rank: int) -> str:
    """A node's, as bench/kit/network gives them."""
    return f"10.98.0.{rank + 2}"


class Network:
    """`nodes` nodes and a hub, each on a full-duplex port of `mbit` Mbit/s."""

    def __init__(self, name: str, nodes: int, mbit: int) -> None:
        self.name, self.nodes, self.mbit = name, nodes, mbit

    def kit(self, *words: str) -> None:
        """Runs a function of bench/kit/network."""
        burst = "256kb" if self.mbit > 100 else "32kb"
        source = f'. "$0"; network_burst={burst}; "$@"'
        file = str(TREE / "bench/kit/network")
        subprocess.run(["sh", "-c", source, file, *words], check=True)

    def __enter__(self) -> Self:
        try:
            self.kit("network_make", self.name, str(self.nodes), f"{self.mbit}mbit")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for place in self.places():
            self.end_all(place)
        self.kit("network_remove", self.name)

    def places(self) -> list[str]:
        """The hub and the nodes, by the names of their namespaces."""
        return [f"{self.name}-hub"] + [f"{self.name}-{i}" for i in range(self.nodes)]

    def inside(self, place: str) -> list[str]:
        """What to put before a command so that it runs there ("hub", "0" ...)."""
        return ["ip", "netns", "exec", f"{self.name}-{place}"]

    @staticmethod
    def processes(place: str) -> list[int]:
        """The processes of a namespace: all were started by this run."""
        said = subprocess.run(
            ["ip", "netns", "pids", place],
            check=False,
            capture_output=True,
            text=True,
        )
        return [int(word) for word in said.stdout.split()]

    def end_all(self, place: str) -> None:
        """Ends the processes of a namespace."""
        for attempt in range(20):
            running = self.processes(place)
            for process in running:
                sign = signal.SIGTERM if attempt == 0 else signal.SIGKILL
                with suppress(ProcessLookupError):
                    os.kill(process, sign)
            if not running:
                return
            time.sleep(0.3)

    def cpu_seconds(self) -> float:
        """What the processes of all places have used, and those they waited for."""
        ticks = 0
        for place in self.places():
            for process in self.processes(place):
                with suppress(FileNotFoundError, ProcessLookupError):
                    said = Path(f"/proc/{process}/stat").read_text()
                    fields = said.rpartition(")")[2].split()
                    ticks += sum(int(field) for field in fields[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")

    def sent(self) -> dict[str, tuple[int, int]]:
        """Bytes that each place has sent and received, as the switch counts them."""
        said = subprocess.run(
            ["ip", "-n", f"{self.name}-switch", "-s", "-j", "link"],
            capture_output=True,
            text=True,
            check=True,
        )
        return {
            link["ifname"].removeprefix("port-"): (
                link["stats64"]["rx"]["bytes"],
                link["stats64"]["tx"]["bytes"],
            )
            for link in json.loads(said.stdout)
            if link["ifname"].startswith("port-")
        }
