"""One arm on one network, from its first process to its last."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from racing import venvs
from racing.arms import Arm
from racing.network import HUB, TREE, Network, address

JOINING = 180  # seconds that joining may take, package imports included
GRACE = 15  # seconds that rank 0 may take over its time, for its last iteration
TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """An arm did not get to its end; the message says where, and its log's end."""


def busy_seconds() -> float:
    """CPU seconds that the machine's cores have worked, for anybody."""
    words = Path("/proc/stat").read_text().splitlines()[0].split()
    ticks = [int(word) for word in words[1:9]]  # user to steal
    return (sum(ticks) - ticks[3] - ticks[4]) / TICKS


class Run:
    """The processes of one run, their environment and their logs."""

    def __init__(
        self, arm: Arm, network: Network, folder: Path, seconds: float, build: Path
    ) -> None:
        self.arm, self.network, self.folder = arm, network, folder
        self.seconds, self.build = seconds, build
        self.logs: list[TextIO] = []
        self.processes: list[subprocess.Popen[str]] = []

    def environment(self, rank: int) -> dict[str, str]:
        """What a process is told; faces.py reads it. A helper has rank 0's."""
        own = address(rank) if rank >= 0 else HUB
        paths = [str(TREE / "bench/python"), str(TREE / "python")]
        return {
            "PATH": os.pathsep.join([self.program(""), os.environ["PATH"]]),
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(paths),
            "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "eth0",
            "STAR_BUILD": str(self.build),
            "STARSWITCH_HUB": HUB,
            "STARSWITCH_NAME": f"node-{rank}",
            "FLWR_HOME": str(self.folder / f"flwr-{rank}"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "RACE_RANK": str(max(0, rank)),
            "RACE_NODES": str(self.network.nodes),
            "RACE_EVERY": str(self.arm.every),
            "RACE_FOLDER": str(self.folder),
            "RACE_SECONDS": str(self.seconds),
            "RACE_HUB": HUB,
            "RACE_OWN": own,
            "RACE_FIRST": address(0),
        }

    def start(self, rank: int, log: str, *command: str) -> None:
        """Starts a command at a node, or at the hub's place (rank -1)."""
        place = str(rank) if rank >= 0 else "hub"
        out = (self.folder / f"log-{log}").open("w")
        self.logs.append(out)
        self.processes.append(
            subprocess.Popen(
                self.network.inside(place) + list(command),
                env=self.environment(rank),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                text=True,
            )
        )

    def program(self, command: str) -> str:
        """A program of the peer's environment."""
        return venvs.program(self.arm.peer.venv, self.build, command)

    def start_all(self) -> None:
        """The helper at the hub's place, then the nodes."""
        name, nodes = self.arm.peer.name, self.network.nodes
        if name == "flwr":
            self.start_flower()
            return
        if name in ("localsgd", "diloco"):
            self.start(
                -1,
                "hub",
                self.program("torchft_lighthouse"),
                *("--min_replicas", str(nodes), "--join_timeout_ms", "10000"),
            )
        if name in ("starswitch", "byhand"):
            every = self.arm.every
            k = ["--every", str(every), "--delay", str(max(1, every // 4))]
            hub = [str(self.build / "starswitch-hub"), "--listen", HUB, "--insecure"]
            self.start(-1, "hub", *hub, *(k if every else []))
        for rank in range(nodes):
            python = self.program("python")
            self.start(rank, str(rank), python, "-m", "racing.train", name)

    def start_flower(self) -> None:
        """A SuperLink, a SuperNode a node, and the run."""
        home = self.folder / "flwr--1"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "race"\n\n'
            f'[superlink.race]\naddress = "{HUB}:8000"\ninsecure = true\n'
        )
        self.start(
            -1,
            "hub",
            self.program("flower-superlink"),
            *("--insecure", "--host", HUB, "--port", "8000"),
            "--disable-runtime-dependency-installation",
        )
        for rank in range(self.network.nodes):
            self.start(
                rank,
                str(rank),
                self.program("flower-supernode"),
                *("--insecure", "--superlink", f"{HUB}:8000"),
                *("--node-config", f"rank={rank}"),
            )
        time.sleep(8)
        app = self.folder / "app"
        shutil.copytree(TREE / "bench/python/racing/flower", app)
        self.start(-1, "run", self.program("flwr"), "run", str(app), "race", "--stream")

    def wait_for(self, name: str, seconds: float, must: bool = True) -> None:
        """Until a file is there; a process that fails meanwhile ends the run, and
        so does the time if the file must come."""
        limit = time.monotonic() + seconds
        while not (self.folder / name).exists():
            failed = [each for each in self.processes if each.poll()]
            late = time.monotonic() > limit
            if late and not must and not failed:
                return
            if failed or late:
                time.sleep(0.5)
                why = f"ended with {failed[0].returncode}" if failed else "timed out"
                raise Failed(f"{self.arm} waiting for `{name}`: {why}\n{self.ends()}")
            time.sleep(0.01)

    def ends(self) -> str:
        """The last lines of the logs."""
        said = []
        for log in sorted(self.folder.glob("log-*")):
            lines = log.read_text(errors="replace").splitlines()[-15:]
            said.append("\n".join([f"-- {log.name}", *lines]))
        return "\n".join(said)

    def end(self) -> None:
        """Ends what was started, and what that started."""
        for place in self.network.places():
            self.network.end_all(place)
        for process in self.processes:
            process.wait(timeout=30)
        for log in self.logs:
            log.close()

    def iterations(self) -> float:
        """Each node's, at its last note: the mean over the nodes that wrote one."""
        notes = [
            json.loads(file.read_text().splitlines()[-1])
            for file in self.folder.glob("progress-*.jsonl")
        ]
        rates = [note["iterations"] / note["seconds"] for note in notes]
        return self.seconds * float(sum(rates) / len(rates))


def moved(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    """Bytes of a run: all that was sent, and the busiest port's one direction."""
    ports = [
        (after[place][0] - before[place][0], after[place][1] - before[place][1])
        for place in after
    ]
    return {
        "bytes": sum(sent for sent, _ in ports),
        "busiest_port_bytes": max(max(port) for port in ports),
    }


def run(
    arm: Arm, nodes: int, mbit: int, seconds: float, folder: Path, build: Path
) -> list[dict[str, Any]]:
    """Runs an arm; rows: one a snapshot with its loss, then the summary."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    head = {"peer": arm.peer.name, "every": arm.every, "mbit": mbit, "nodes": nodes}
    with Network(f"race-{os.getpid()}", nodes, mbit) as network:
        this = Run(arm, network, folder, seconds, build)
        try:
            this.start_all()
            this.wait_for("started", JOINING)
            before, began = network.sent(), time.monotonic()
            busy, own = busy_seconds(), network.cpu_seconds()
            this.wait_for("over", seconds + GRACE, must=False)
            after, lasted = network.sent(), time.monotonic() - began
            busy, own = busy_seconds() - busy, network.cpu_seconds() - own
        finally:
            this.end()
    judge = [venvs.program("torch", build), "-m", "racing.judge", str(folder)]
    said = subprocess.run(
        judge,
        env={**os.environ, "PYTHONPATH": str(TREE / "bench/python")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = [{**head, **json.loads(line)} for line in said.stdout.splitlines()]
    within = [row for row in rows if row["seconds"] <= seconds + 0.5]
    rows.append(
        {
            **head,
            "summary": True,
            "duration": seconds,
            "iterations": round(this.iterations()),
            "loss": within[-1]["loss"],
            **{k: v * seconds / lasted for k, v in moved(before, after).items()},
            "cpu": round(own / lasted, 2),
            "cpu_others": round((busy - own) / lasted, 2),
            "at": time.strftime("%Y-%m-%d %H:%M"),
        }
    )
    return rows


def complain(failure: Exception) -> None:
    """Says why an arm has no figures."""
    print(f"race: {failure}", file=sys.stderr, flush=True)
