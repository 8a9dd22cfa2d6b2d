"""Averages among the buffers stay between what there is, whatever the policy."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from typing import Any

import pytest
import starswitch
import torch
from conftest import batch, small_model
from starswitch._programs import program_path

LAG = (0.001, 0.004)  # seconds of an iteration, by node


def presets() -> list[str]:
    """Those of the hub's own list."""
    said = subprocess.run(
        [program_path("starswitch-hub"), "--help"], capture_output=True, text=True
    ).stdout
    listed = re.search(r"\n--policy:[^\n]*\n(.*?)\n\n", said, re.DOTALL)
    assert listed, said
    return re.findall(r"^  ([a-z][a-z-]*)  +[A-Z]", listed[1], re.MULTILINE)


class Held(torch.nn.Module):
    """With an average that nobody changes, so that none but it can come out."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.inner = small_model(seed)
        self.register_buffer("mean", torch.full((300,), 3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.inner(x)
        return out


def run(node: int, seen: list[float], stop: threading.Event) -> None:
    model = Held(node)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    with starswitch.attach(model, optimizer, name=f"n{node}") as link:
        until = time.monotonic() + 30
        step = 0
        while time.monotonic() < until and not (
            stop.is_set() and link.state().applied > 12
        ):
            x, y = batch(1000 * node + step)
            step += 1
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            link.report(loss=loss, samples=len(x))
            optimizer.step()
            seen += [model.mean.min().item(), model.mean.max().item()]
            if link.state().applied > 12:
                stop.set()
            time.sleep(LAG[node])
        with link.center():
            seen += [model.mean.min().item(), model.mean.max().item()]


@pytest.mark.parametrize("policy", presets())
def test_an_average_that_is_the_same_everywhere_stays(hub: Any, policy: str) -> None:
    if policy == "ddp":
        pytest.skip("gradients, which a Python node does not give")
    hub("--policy", policy, "--every", 4, "--delay", 5, "--init", "hub")
    seen: tuple[list[float], list[float]] = ([], [])
    stop = threading.Event()
    nodes = [threading.Thread(target=run, args=(i, seen[i], stop)) for i in (0, 1)]
    for node in nodes:
        node.start()
    for node in nodes:
        node.join(60)
        assert not node.is_alive()
    for values in seen:
        assert values and min(values) > 2.999 and max(values) < 3.001
