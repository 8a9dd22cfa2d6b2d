"""Tensors that cannot be exchanged: what is not trained stays on its node and ends no
script, what is trained is refused by its name."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
import starswitch
import torch
from conftest import Hub, until, wait_offers
from starswitch.torch import TorchParameters

pytestmark = pytest.mark.filterwarnings("ignore:.*(prototype|beta):UserWarning")


class Own(torch.Tensor):
    """A class that knows next to nothing, and has no memory that could be read."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Own:
        make: Any = torch.Tensor._make_wrapper_subclass
        return make(cls, inner.shape, dtype=inner.dtype)  # type: ignore[no-any-return]

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if function is torch.ops.aten.detach.default:
            return cls(args[0].inner)
        raise NotImplementedError(f"Own knows no {function}")


VALUES = torch.arange(16.0).view(4, 4)
FOUR_BITS = torch.zeros(4, 4, dtype=torch.uint8)
ODD: dict[str, Callable[[], torch.Tensor]] = {
    "layout torch.sparse_coo": VALUES.to_sparse,
    "layout torch.sparse_csr": VALUES.to_sparse_csr,
    "layout torch._mkldnn": VALUES.to_mkldnn,
    "nested": lambda: torch.nested.nested_tensor([VALUES, VALUES[:2]]),
    "a nested": lambda: torch.nested.nested_tensor(
        [VALUES, VALUES[:2]], layout=torch.jagged
    ),
    "torch.float4_e2m1fn_x2": lambda: FOUR_BITS.view(torch.float4_e2m1fn_x2),
    "torch.float8_e4m3fn": lambda: VALUES.to(torch.float8_e4m3fn),
    "negated view": lambda: VALUES.to(torch.complex64).conj().imag,
    "Own": lambda: Own(VALUES),
    "meta device": lambda: torch.zeros(3, device="meta"),
}
TRAINED: dict[str, Callable[[], torch.Tensor]] = {
    **{k: v for k, v in ODD.items() if k not in ("torch.float8_e4m3fn", "a nested")},
    "conjugated": lambda: VALUES.to(torch.complex64).conj(),
}


def trained(hold: Callable[[torch.nn.Module], None], **options: Any) -> bytes:
    """What a script with this model makes of it; with options, as a node."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 3), torch.nn.BatchNorm1d(3))
    hold(model)
    weights = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.Adam(weights)
    link = starswitch.attach(model, optimizer, **options) if options else None
    for _ in range(3):
        loss = model(torch.randn(16, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if link is not None:
            link.report(loss=loss)
    if link is not None:
        with link.center():
            pass
        link.detach(0)
    held = [one.detach() for one in [*weights, *model[1].buffers()]]
    file = io.BytesIO()
    torch.save([*held, torch.get_rng_state()], file)
    return file.getvalue()


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("params", ["trainable", "all"])
def test_what_is_not_trained_ends_no_script(
    kind: str, params: str, caplog: pytest.LogCaptureFixture
) -> None:
    def buffer(model: torch.nn.Module) -> None:
        model.register_buffer("odd", ODD[kind]())

    def frozen(model: torch.nn.Module) -> None:
        model.odd = torch.nn.Parameter(ODD[kind](), requires_grad=False)

    options = {"hub": "127.0.0.1:1", "params": params}
    with caplog.at_level(logging.WARNING, "starswitch"):
        for hold in (buffer, frozen):
            assert trained(hold, **options) == trained(hold)
    said = [one for one in caplog.messages if "cannot be exchanged" in one]
    # Where frozen parameters are asked for, those that torch converts do travel.
    both = params == "all" and kind != "torch.float8_e4m3fn"
    assert len(said) == 1 + both, said
    assert all("keeps its own" in one and "odd (" in one for one in said)
    assert kind.split()[-1] in said[0]
    caplog.clear()
    trained(buffer, buffers="local", hub="127.0.0.1:1")
    assert not any("cannot be exchanged" in one for one in caplog.messages)


@pytest.mark.parametrize("kind", TRAINED)
def test_what_is_trained_is_refused_by_its_name(kind: str) -> None:
    model = torch.nn.Linear(8, 3)
    model.odd = torch.nn.Parameter(TRAINED[kind]())
    said = "odd (is trained and|has no values).*" + re.escape(kind)
    with pytest.raises(starswitch.StarswitchError, match=said):
        starswitch.attach(model)


def test_frozen_tensors_of_all_kinds_are_alike_on_all_nodes() -> None:
    def fingerprint() -> str:
        model = torch.nn.Linear(8, 3)
        model.odd = torch.nn.ParameterList(
            [torch.nn.Parameter(one(), requires_grad=False) for one in ODD.values()]
        )
        return TorchParameters({"": model}, None, "trainable", "local").fingerprint()

    assert fingerprint() == fingerprint()


def test_a_graph_stays_as_it_is_in_a_run(hub: Callable[..., Hub]) -> None:
    star = hub("--every", 2, "--delay", 1)
    model = torch.nn.Linear(4, 4)
    graph = torch.eye(4).to_sparse()
    model.register_buffer("graph", graph)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    link = starswitch.attach(model, optimizer)
    wait_offers(link)

    def step() -> bool:
        torch.sparse.mm(model.graph, model(torch.ones(4, 4))).sum().backward()
        optimizer.step()
        return link.state().applied >= 3

    until(step, what="results are applied")
    with link.center():
        assert model.graph is graph
    link.detach()
    assert set(star.export()) == {"weight", "bias"}
