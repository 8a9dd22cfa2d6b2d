"""Evaluating what the hub holds, not the replica."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import starswitch
import torch
from conftest import Hub, small_model, train, until


def flat(model: torch.nn.Module) -> torch.Tensor:
    return torch.cat([one.detach().reshape(-1) for one in model.parameters()])


def test_center_is_what_the_hub_has_saved(hub: Callable[..., Hub]) -> None:
    star = hub("--every", 4, "--delay", 1, "--codec-up", "raw", "--codec-down", "raw")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    link = starswitch.attach(model, optimizer)
    link.wait_ready(20)
    until(lambda: train(model, optimizer, 4, link) and link.state().applied > 2)
    # No offer is made from here on; what is under way comes to an end.
    own = flat(model)
    until(lambda: star.status()["version"] == link.state().version)
    saved = star.export()

    def is_saved() -> bool:
        with link.center():
            held = model.state_dict()
            return all(torch.equal(held[name], saved[name]) for name in saved)

    until(is_saved)
    assert torch.equal(flat(model), own)
    link.detach()


def test_center_without_a_hub_is_the_model_itself() -> None:
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    link = starswitch.attach(model, optimizer)
    own = flat(model)
    with link.center():
        assert torch.equal(flat(model), own)
    link.detach()
    with link.center():
        assert torch.equal(flat(model), own)


def test_a_frozen_part_stays_inside_center(hub: Callable[..., Hub]) -> None:
    hub("--every", 2, "--delay", 1)
    model = small_model()
    model[0].weight.requires_grad_(False)
    frozen = model[0].weight.clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    link = starswitch.attach(model, optimizer)
    until(lambda: train(model, optimizer, 2, link) and link.state().applied > 2)
    own = flat(model)
    with link.center():
        assert torch.equal(model[0].weight, frozen)
        assert not torch.equal(flat(model), own)
        with pytest.raises(starswitch.StarswitchError, match="leave it first"):
            optimizer.step()
    assert torch.equal(flat(model), own)
    link.detach()
    own = flat(model)
    with link.center():  # as it was last
        assert not torch.equal(flat(model), own)
