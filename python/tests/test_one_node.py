"""One node alone with its hub: what it learns stays, whatever the hub does."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import starswitch
import torch
from conftest import Hub
from torch import nn

STEP = 1e-3


class Counting(nn.Module):
    """Each step adds STEP to all weights; the other counter is BatchNorm's."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1000))
        self.norm = nn.BatchNorm1d(4, affine=False)


@pytest.mark.parametrize("kills", [0, 2])
@pytest.mark.parametrize(
    "options", [(), ("--every", 20, "--delay", 5), ("--every", 50, "--delay", 0)]
)
def test_nothing_that_it_learns_is_taken_back(
    hub: Callable[..., Hub], options: tuple[object, ...], kills: int
) -> None:
    star = hub("--save", "200ms", *options)
    model = Counting()
    optimizer = torch.optim.SGD([model.w], lr=1.0)
    link = starswitch.attach(model, optimizer)
    steps, applied, end = 0, 0, time.monotonic() + 60
    while (applied < 12 or kills) and time.monotonic() < end:
        model.norm(torch.rand(8, 4))
        model.w.grad = torch.full_like(model.w, -STEP)
        optimizer.step()
        steps += 1
        time.sleep(0.002)
        # int8 may be a step off for a while, and never loses one
        assert abs(model.w[0].item() / STEP - steps) < 1.5, link.state()
        assert model.norm.num_batches_tracked.item() == steps
        applied = link.state().applied
        if kills and applied >= 12:
            star.kill()
            star.start()
            kills, applied = kills - 1, 0
    assert not kills and applied >= 12
    link.detach()
