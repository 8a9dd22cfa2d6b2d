"""One node alone with its hub: it loses nothing of what it has learnt."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable

import pytest
import starswitch
import torch
from conftest import Hub, batch, until, wait_offers

RAW = ("--codec-up", "raw", "--codec-down", "raw")
PAUSE = 0.003  # seconds an iteration takes more, so that a hub can answer


class Twins:
    """A model that is attached and one that is not, trained on the same."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 3)
        )
        self.alone = copy.deepcopy(self.model)
        self.optimizers = [
            torch.optim.SGD(one.parameters(), lr=0.05)
            for one in (self.model, self.alone)
        ]
        self.link = starswitch.attach(self.model, self.optimizers[0])
        self.steps = 0

    def step(self, loss: float) -> None:
        x, y = batch(self.steps)
        self.steps += 1
        self.link.report(loss=loss)
        for one, optimizer in zip(
            (self.model, self.alone), self.optimizers, strict=True
        ):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(one(x), y).backward()
            optimizer.step()
        self.check()
        time.sleep(PAUSE)

    def check(self) -> None:
        held = self.model.state_dict()
        for name, one in self.alone.state_dict().items():
            torch.testing.assert_close(
                held[name],
                one,
                rtol=1e-3,
                atol=1e-4,
                msg=lambda text, name=name: f"{name}, step {self.steps}: {text}",
            )
        assert int(held["1.num_batches_tracked"]) == self.steps

    def train_until_applied(self, more: int, loss: Callable[[int], float]) -> None:
        wanted = self.link.state().applied + more

        def trained() -> bool:
            self.step(loss(self.steps))
            return self.link.state().applied >= wanted

        until(trained, 60.0, f"{wanted} results are applied")


@pytest.mark.parametrize(
    ("every", "delay", "loss"),
    [
        (1, 0, lambda step: 1.0),
        (5, 3, lambda step: math.nan),
        (20, 4, lambda step: float(step)),  # every result is of a better model
    ],
    ids=["k=1, d=0", "k=5, d=3, NaN", "k=20, d=4, losses rise"],
)
def test_a_single_node_goes_on_as_if_it_were_alone(
    hub: Callable[..., Hub], every: int, delay: int, loss: Callable[[int], float]
) -> None:
    star = hub("--policy", "mean", "--every", every, "--delay", delay, *RAW)
    twins = Twins()
    wait_offers(twins.link)
    twins.train_until_applied(3, loss)
    with twins.link.center():
        pass
    twins.check()
    star.kill()
    for _ in range(2 * every):
        twins.step(loss(twins.steps))
    star.start()
    twins.train_until_applied(3, loss)
    twins.link.detach()
    twins.check()
