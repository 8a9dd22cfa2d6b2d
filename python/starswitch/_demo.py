"""`starswitch demo`: a hub and four nodes on this PC learn to tell spirals apart.

The real programs on real connections; only the data are made up, so that nothing
is fetched. `make demo` of the source tree trains on pictures.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import subprocess
import tempfile
from pathlib import Path

from ._programs import program_environment, program_path
from .launch import free_port

SPIRALS, SAMPLES = 3, 20000
MODEL = "mlp:2-64-64-3,lr=0.001,batch=32"


def _spirals() -> str:
    """Lines of CSV: x, y and which spiral the point is of."""
    draw = random.Random(1)
    lines = []
    for i in range(SAMPLES):
        along = math.sqrt(draw.random())
        angle = 12 * along + 2 * math.pi * (i % SPIRALS) / SPIRALS + draw.gauss(0, 0.25)
        x, y = along * math.cos(angle), along * math.sin(angle)
        lines.append(f"{x:.4f},{y:.4f},{i % SPIRALS}\n")
    return "".join(lines)


def _train(folder: Path, nodes: int, goal: str) -> int:
    data = folder / "spirals.csv"
    data.write_text(_spirals())
    address = f"127.0.0.1:{free_port()}"
    what = ["--model", MODEL, "--data", str(data)]
    hub = [program_path("starswitch-hub"), "--listen", address, "--goal", goal, *what]
    hub += ["--nodes", str(nodes), "--every", "20", "--delay", "4"]
    hub += ["--iterations", "20000", "--tournament", "50"]
    hub += ["--directory", str(folder / "run"), "--report", str(folder / "report.html")]
    node = [program_path("starswitch-node"), "--hub", address, "--step-time", "4ms"]
    said = (folder / "nodes.log").open("w")
    # The first process is the hub; Ctrl-C reaches all, and the hub saves and ends.
    known = program_environment()
    processes = [subprocess.Popen(hub, env=known)]
    try:
        for i in range(1, nodes + 1):
            command = [*node, "--name", f"n{i}", *what]
            processes.append(
                subprocess.Popen(command, stdout=said, stderr=said, env=known)
            )
        return processes[0].wait()
    except KeyboardInterrupt:
        processes[0].wait(20)
        return 130
    finally:
        for process in processes[1:]:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
        said.close()


def main(arguments: list[str]) -> int:
    """The exit code: 0 if the goal was reached."""
    parser = argparse.ArgumentParser("starswitch demo", description=__doc__)
    parser.add_argument("--nodes", type=int, default=4, help="so many (4)")
    parser.add_argument("--goal", default="92%", help="accuracy that ends it (92%%)")
    asked = parser.parse_args(arguments)
    print(f"A hub and {asked.nodes} nodes on this PC learn to tell spirals apart.")
    folder = Path(tempfile.mkdtemp(prefix="starswitch-demo-"))
    return _train(folder, asked.nodes, asked.goal)
