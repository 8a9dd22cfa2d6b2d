"""What the two lines cost a PyTorch script, paired.

    python bench/python/overhead.py [--blocks 12] [--width 2560] [--every 50]

One process trains a model of about 10 million parameters; blocks of 50 steps
with the link and without it take turns, so that both see the same machine. A hub
and a second node, which moves its parameters and computes next to nothing, run
beside it. Prints a line of JSON: the time of a step at p50 and p99, with over
without; the share of the time inside the link, Python's part and report included,
and the same of the training thread's processor time, which other programs disturb
less; and how many exchanges were made.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

PORT = 17641


def model_of(width: int) -> torch.nn.Sequential:
    import torch

    return torch.nn.Sequential(
        torch.nn.Linear(512, width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, width // 2),
        torch.nn.ReLU(),
        torch.nn.Linear(width // 2, 10),
    )


def other(width: int) -> None:
    """A node that only moves: 20 steps a second, until the run is over."""
    import starswitch
    import torch

    torch.set_num_threads(1)
    model = model_of(width)
    link = starswitch.attach(model, name="other")
    *_, last = model.parameters()
    while not link.over:
        with torch.no_grad():
            last.add_(1e-5)
        link.report(loss=1.0)
        link.step()
        time.sleep(0.05)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(arguments: argparse.Namespace) -> dict[str, object]:
    import starswitch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    model = model_of(arguments.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    link = starswitch.attach(model, optimizer, name="measured")
    link.wait_ready(30)
    x = torch.randn(arguments.batch, 512)
    y = torch.randint(10, (arguments.batch,))
    inside = inside_cpu = all_cpu = 0.0
    hook = link.step

    def timed(act: Callable[[], None]) -> None:
        nonlocal inside, inside_cpu
        cpu, begin = time.thread_time(), time.perf_counter()
        act()
        inside += time.perf_counter() - begin
        inside_cpu += time.thread_time() - cpu

    times: dict[bool, list[float]] = {True: [], False: []}
    for block in range(2 * arguments.blocks):
        linked = block % 2 == 0
        step = partial(timed, hook) if linked else lambda: None
        link.step = step  # type: ignore[method-assign]
        cpu = time.thread_time()
        for _ in range(50):
            begin = time.perf_counter()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if linked:
                timed(partial(link.report, loss=loss, samples=len(x)))
            times[linked].append(time.perf_counter() - begin)
        all_cpu += (time.thread_time() - cpu) * linked
    state = link.state()
    link.step = hook  # type: ignore[method-assign]
    link.detach()
    with_, without = times[True], times[False]
    return {
        "bench": "python_overhead",
        "parameters": sum(one.numel() for one in model.parameters()),
        "steps": len(with_),
        "step_ms": round(1e3 * statistics.median(without), 2),
        "p50": round(statistics.median(with_) / statistics.median(without), 4),
        "p99": round(percentile(with_, 0.99) / percentile(without, 0.99), 4),
        "mean": round(statistics.fmean(with_) / statistics.fmean(without), 4),
        "inside": round(inside / sum(with_), 5),
        "inside_cpu": round(inside_cpu / all_cpu, 5),
        "inside_c": round(state.inside / sum(with_), 5),
        "offered": state.offered,
        "applied": state.applied,
        "every": state.every,
        "delay": state.delay,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--blocks", type=int, default=12, help="pairs of 50 steps")
    parser.add_argument("--width", type=int, default=2560)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--every", type=int, default=50, help="k")
    parser.add_argument("--delay", type=int, default=25, help="d")
    parser.add_argument("--threads", type=int, default=1, help="of the training")
    parser.add_argument("--other", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.other:
        other(arguments.width)
        return 0
    from starswitch._programs import program_path

    os.environ["STARSWITCH_HUB"] = f"127.0.0.1:{PORT}"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        hub = subprocess.Popen(
            [
                program_path("starswitch-hub"),
                *("--listen", f"127.0.0.1:{PORT}", "--directory", f"{folder}/run"),
                *("--every", str(arguments.every), "--delay", str(arguments.delay)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        beside = subprocess.Popen(
            [sys.executable, __file__, "--other", "--width", str(arguments.width)],
            stderr=subprocess.DEVNULL,
        )
        try:
            print(json.dumps(measure(arguments)))
        finally:
            beside.kill()
            hub.kill()
            beside.wait()
            hub.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
