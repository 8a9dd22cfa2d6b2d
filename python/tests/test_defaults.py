"""torch's default device and dtype are for what the script makes: what a link makes
beside it is where it must be, of the kind that it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import starswitch
import torch
from conftest import Hub, batch, until, wait_offers
from starswitch.torch import TorchParameters

DEFAULTS = [
    pytest.param("meta", torch.float32, id="meta"),
    pytest.param("cpu", torch.float64, id="float64"),
    pytest.param("cpu", torch.bfloat16, id="bfloat16"),
]


@contextmanager
def defaults(device: str, dtype: torch.dtype) -> Iterator[None]:
    former = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            yield
    finally:
        torch.set_default_dtype(former)


def mixed() -> torch.nn.Module:
    """Tensors that C moves, and such as torch does."""
    torch.manual_seed(0)
    model = torch.nn.Module()
    model.many = torch.nn.ParameterList(
        [
            torch.randn(3),
            torch.randn(40_000),
            torch.randn(5, dtype=torch.bfloat16),
            torch.randn(4, dtype=torch.float64),
            torch.randn(2, dtype=torch.complex64),
        ]
    )
    return model


def moved(device: str, dtype: torch.dtype) -> list[torch.Tensor]:
    """What a copy, two changes and a swap make of a model."""
    model = mixed()
    out = []
    with defaults(device, dtype):
        parameters = TorchParameters({"": model}, None, "trainable", "average")
        count = parameters.elements
        add = torch.arange(float(count), dtype=torch.float32, device="cpu") / 997
        for _ in range(2):
            assert parameters.begin_copy()()
            out.append(parameters._staging.clone())
            parameters.change(0.5, 1.0, add.data_ptr(), 0, count)
        with parameters.swapped(add.data_ptr()):
            out += [one.detach().clone() for one in model.many]
        parameters.read_loss(0.5, 2)
        assert parameters.take_loss() == 0.5
        out += parameters.state_dict().values()
    return out + [one.detach().clone() for one in model.many]


@pytest.mark.parametrize(("device", "dtype"), DEFAULTS)
def test_what_a_link_makes_is_not_of_the_defaults(
    device: str, dtype: torch.dtype
) -> None:
    want, got = moved("cpu", torch.float32), moved(device, dtype)
    for one, other in zip(want, got, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


@pytest.mark.parametrize(("device", "dtype"), DEFAULTS)
def test_a_node_trains_under_other_defaults(
    hub: Callable[..., Hub], device: str, dtype: torch.dtype
) -> None:
    star = hub("--every", 2, "--delay", 1, "--codec-up", "raw", "--codec-down", "raw")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = batch(0)

    def trained() -> bool:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        link.report(loss=loss, samples=len(x))
        return link.state().applied >= 3

    with defaults(device, dtype):
        link = starswitch.attach(model, optimizer)
        wait_offers(link)
        until(trained, what="results are applied")
        held = {k: v.clone() for k, v in model.state_dict().items()}
        with link.center():
            center = {k: v.clone() for k, v in model.state_dict().items()}
        assert all(torch.equal(v, held[k]) for k, v in model.state_dict().items())
        link.detach()
    for name, one in star.export().items():
        assert center[name].dtype == held[name].dtype
        assert torch.allclose(one, held[name].to(one.dtype), atol=0.1), name
