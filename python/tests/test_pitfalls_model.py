"""Pitfalls of models: what tensors may be, and what becomes of them."""

from __future__ import annotations

import copy
import io
import logging
import threading
import time
from ctypes import addressof, c_float
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import starswitch
import torch
from conftest import batch, small_model, train, until, wait_offers
from starswitch._link import Described, pack
from starswitch.torch import TorchParameters

EVERY = ("--every", 5, "--delay", 2)
RAW = ("--policy", "mean", "--codec-up", "raw", "--codec-down", "raw")


def parameters_of(model: Any, params: str = "trainable") -> TorchParameters:
    return TorchParameters({"": model}, None, params, "average")


def moved(parameters: TorchParameters, keep: float, scale: float, v: Any) -> None:
    """As the library calls it, in pieces that end inside of tensors."""
    v = v.contiguous()
    whole = (c_float * v.numel()).from_address(v.data_ptr())
    for first in range(0, v.numel(), 37):
        count = min(37, v.numel() - first)
        parameters.change(keep, scale, addressof(whole) + 4 * first, first, count)


def staged(parameters: TorchParameters) -> Any:
    assert parameters.begin_copy()()
    return parameters._staging.clone()


def exchange(model: Any, optimizer: Any, link: Any, results: int, step: Any) -> None:
    """Steps until so many more results have been applied."""
    goal = link.state().applied + results
    end = time.monotonic() + 60
    while link.state().applied < goal:
        assert time.monotonic() < end, link.state()
        step()
        time.sleep(1e-3)


def drift(model: Any) -> Any:
    """A step of a script of its own: no gradients, each parameter moves a bit."""

    def step() -> None:
        for one in model.parameters():
            if one.requires_grad:
                one.grad = torch.full_like(one, 0.01)

    return step


class Norm:
    """A node of its own whose data are about `mean`, in `forwards` batches of 10
    per step; notes its statistics before and behind each exchange, by the
    version that came of it."""

    def __init__(self, name: str, mean: float, forwards: int) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)
        )
        optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9)
        self.offered: dict[int, dict[str, Any]] = {}  # by version
        self.result: dict[int, dict[str, Any]] = {}
        self.failed: BaseException | None = None
        self.link = starswitch.attach(self.model, optimizer, name=name)
        self._given = optimizer, mean, forwards
        self._thread = threading.Thread(target=self._train, daemon=True)

    def _statistics(self) -> dict[str, Any]:
        return {name: one.clone() for name, one in self.model[1].named_buffers()}

    def _train(self) -> None:
        optimizer, mean, forwards = self._given
        random = torch.Generator().manual_seed(len(self.link.state().name))
        try:
            while self.link.state().version < 8:
                for _ in range(forwards):
                    x = mean * (1 + torch.randn(10, 1, 6, 6, generator=random))
                    loss = self.model(x).square().mean()
                    loss.backward()
                    self.link.report(loss=loss, samples=10)
                before, applied = self._statistics(), self.link.state().applied
                optimizer.step()
                optimizer.zero_grad()
                if self.link.state().applied > applied:
                    version = self.link.state().version
                    self.offered[version] = before
                    self.result[version] = self._statistics()
        except BaseException as error:
            self.failed = error

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join(60)
        assert self.failed is None and not self._thread.is_alive(), self.failed


@pytest.mark.parametrize(
    "options",
    [RAW, ("--policy", "diloco", "--codec-up", "int8", "--codec-down", "int8")],
    ids=["mean", "diloco-int8"],
)
def test_p01_batchnorm_statistics_are_equal_after_an_exchange(
    hub: Any, options: tuple[str, ...]
) -> None:
    hub("--every", 5, "--delay", 0, "--nodes", 2, *options)
    one, two = Norm("n1", 1.0, 3), Norm("n2", -4.0, 1)
    for node in (one, two):
        node.start()
    for node in (one, two):
        node.join()
    both = sorted(one.result.keys() & two.result.keys())
    assert len(both) >= 6, both
    for version in both:
        here, there = one.offered[version], two.offered[version]
        for name, value in one.result[version].items():
            assert value.isfinite().all()
            assert torch.equal(value, two.result[version][name]), name
            mean = (3 * here[name] + there[name]) / 4  # three times as many
            largest = torch.maximum(here[name], there[name])
            counts = name == "num_batches_tracked"
            if counts or version > both[0]:  # the first began while one joined
                assert torch.allclose(value, largest if counts else mean, atol=1e-4)
        assert (one.result[version]["running_var"] > 0).all()
    tracked = [int(each.model[1].num_batches_tracked) for each in (one, two)]
    assert tracked[0] == tracked[1]
    for node in (one, two):
        node.link.detach()


def test_p01_batchnorm_statistics_by_samples(hub: Any) -> None:
    hub("--every", 5, "--delay", 2, "--nodes", 2, *RAW)
    links, models = [], []
    for i, size in enumerate((30, 10)):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
        optimizer = torch.optim.SGD(model.parameters(), 0.0)
        link = starswitch.attach(model, optimizer, name=f"n{i}")
        models.append(
            (model, optimizer, size, torch.full((size, 1, 5, 5), 1.0 + 8 * i))
        )
        links.append(link)
    for _ in range(10**4):
        for (model, optimizer, size, x), link in zip(models, links, strict=True):
            model(x).sum().backward()
            link.report(samples=size)
            optimizer.step()
            optimizer.zero_grad()
        time.sleep(1e-3)
        if all(link.state().applied >= 8 for link in links):
            break
    one, two = (m[0][1] for m in models)
    steps = [link.state().iteration for link in links]
    # Alone they would be at their own means, 8 units apart.
    own = [models[i][0][0](models[i][3]).mean().item() for i in (0, 1)]
    apart = (one.running_mean - two.running_mean).abs().max()
    assert apart < 0.6 * abs(own[0] - own[1]), (one.running_mean, two.running_mean)
    tracked = [int(m.num_batches_tracked) for m in (one, two)]
    assert tracked[0] == tracked[1] or abs(tracked[0] - tracked[1]) <= 5, tracked
    assert max(tracked) <= max(steps)  # the maximum, no sum
    for link in links:
        link.detach()


def test_p01_batchnorm_goes_on_with_a_hub_that_starts_again(hub: Any) -> None:
    """The file of the centre does not say which tensors are statistics."""
    star = hub("--every", 5, "--delay", 2, *RAW)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    link = starswitch.attach(model, optimizer)
    until(lambda: train(model, optimizer, 5, link) and link.state().applied > 3)
    star.stop()
    until(lambda: train(model, optimizer, 5, link) and not link.state().attached)
    star.start()
    until(lambda: train(model, optimizer, 5, link) and link.state().applied > 9)
    steps = link.state().iteration
    norm = model[1]
    assert int(norm.num_batches_tracked) <= steps
    assert norm.running_mean.isfinite().all() and (norm.running_var > 0).all()
    saved = star.export()
    assert saved["1.num_batches_tracked"] > 0.5 * steps
    with link.center():
        assert 0 < int(norm.num_batches_tracked) <= steps
        assert (norm.running_var > 0).all()
    link.detach()


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(11, 6)
        self.middle = torch.nn.Linear(6, 6)
        self.head = torch.nn.Linear(6, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: Any) -> Any:
        return self.head(torch.tanh(self.middle(self.embed(x))))


def test_p02_tied_weights_once(hub: Any, tmp_path: Any) -> None:
    from safetensors.torch import load_model, save_model

    one = hub(*EVERY, *RAW)
    torch.manual_seed(0)
    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    link = starswitch.attach(model, optimizer)
    assert link._elements == 11 * 6 + 6 * 6 + 6
    exchange(model, optimizer, link, 4, lambda: (drift(model)(), optimizer.step()))
    state = link.state()
    assert state.bytes_up <= (state.offered + 2) * (4 * link._elements + 64)
    assert model.head.weight is model.embed.weight
    link.detach()
    exported = one.export()
    assert set(exported) == {"embed.weight", "middle.weight", "middle.bias"}
    other = Tied()
    other.load_state_dict(exported, strict=False)
    assert torch.equal(other.head.weight, exported["embed.weight"])
    file = str(tmp_path / "tied.safetensors")
    save_model(model, file)
    load_model(other, file)
    assert torch.equal(other.head.weight, model.embed.weight)
    assert torch.equal(other.embed.weight, model.embed.weight)


def test_p02_two_parameters_of_one_memory_are_moved_once() -> None:
    model = Tied()
    model.head.weight = torch.nn.Parameter(model.embed.weight)
    model.head.register_buffer("twice", model.head.weight.data)
    assert model.head.weight is not model.embed.weight
    parameters = parameters_of(model)
    assert parameters.elements == 11 * 6 + 6 * 6 + 6
    before = model.head.weight.detach().clone()
    moved(parameters, 1, 1, torch.ones(parameters.elements))
    assert torch.equal(model.head.weight, before + 1)
    # As .to() of a model does, to which they are two.
    model.head.weight.data = model.head.weight.data.clone()
    with pytest.raises(
        starswitch.StarswitchError, match=r"head\.weight .* its own now"
    ):
        staged(parameters)


@pytest.mark.parametrize("how", ["script", "trace"])
def test_torchscript_is_exchanged(hub: Any, how: str) -> None:
    hub(*EVERY, *RAW)
    plain = torch.nn.Sequential(small_model(), torch.nn.BatchNorm1d(3))
    make = (
        torch.jit.script
        if how == "script"
        else partial(torch.jit.trace, example_inputs=batch(0)[0])
    )
    model = make(plain)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with starswitch.attach(model, optimizer) as link:
        exchange(model, optimizer, link, 2, lambda: train(model, optimizer, 1, link))
        with link.center():
            model(batch(0)[0])
        assert link._parameters.described == parameters_of(plain).described
        assert link.attached


@pytest.mark.parametrize("part", ["turned", "tail"])
def test_p02_what_shares_a_part_of_its_memory_is_refused_by_name(part: str) -> None:
    model = Tied()
    weight = model.embed.weight.data
    shared = weight.t() if part == "turned" else weight[3:]
    model.head.weight = torch.nn.Parameter(shared)
    with pytest.raises(starswitch.StarswitchError, match=r"head\.weight .* embed\."):
        parameters_of(model)
    both = torch.randn(6, 8)  # columns of one matrix have nothing in common
    model.head.weight = torch.nn.Parameter(both[:, :3])
    model.head.bias = torch.nn.Parameter(both[:, 3:])
    assert parameters_of(model).elements == 11 * 6 + 6 * 6 + 6 + 6 * 8


def strided() -> Any:
    """A model whose parameters lie in memory in every way but plainly."""
    torch.manual_seed(1)
    model = torch.nn.Module()
    conv = torch.randn(4, 3, 5, 5)
    model.conv = torch.nn.Parameter(conv.to(memory_format=torch.channels_last))
    model.turned = torch.nn.Parameter(torch.randn(7, 9).t())
    model.spread = torch.nn.Parameter(torch.randn(6, 20)[:, ::2])
    return model


def twin(model: Any) -> Any:
    other = torch.nn.Module()
    for name, one in model.named_parameters():
        plain = one.detach().clone(memory_format=torch.contiguous_format)
        setattr(other, name, torch.nn.Parameter(plain))
    return other


def test_p03_strides_stay(hub: Any) -> None:
    model = strided()
    other = twin(model)
    strides = [one.stride() for one in model.parameters()]
    places = [one.data_ptr() for one in model.parameters()]
    pairs = [parameters_of(model), parameters_of(other)]
    assert torch.equal(staged(pairs[0]), staged(pairs[1]))
    random = torch.Generator().manual_seed(2)
    for i in range(50):
        v = torch.randn(pairs[0]._first[-1], generator=random)
        for one in pairs:
            moved(one, (1, 0.5, 0)[i % 3], (1, 0.5, 1)[i % 3], v)
    assert torch.equal(staged(pairs[0]), staged(pairs[1]))
    # And in a run: the strides stay, and nodes agree with what the hub has.
    one = hub("--every", 2, "--delay", 1, *RAW)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 50, lambda: (drift(model)(), optimizer.step()))
    assert [one.stride() for one in model.parameters()] == strides
    assert [one.data_ptr() for one in model.parameters()] == places
    link.detach()
    for name, value in one.export().items():
        assert torch.allclose(value, dict(model.named_parameters())[name], atol=1e-5)


@pytest.mark.parametrize("how", ["data", "assign", "to"])
def test_p04_replaced_tensors(hub: Any, how: str) -> None:
    one = hub(*EVERY, *RAW)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 2, lambda: (drift(model)(), optimizer.step()))
    fresh = {k: v.detach().clone() + 1 for k, v in model.state_dict().items()}
    if how == "data":
        for name, old in model.named_parameters():
            old.data = fresh[name]
    elif how == "assign":
        model.load_state_dict(fresh, assign=True)
    else:
        model.to(torch.float64)
        model.load_state_dict(fresh)
    # The optimizer's rate is 0: the next offer carries what was put there.
    exchange(model, optimizer, link, 4, lambda: optimizer.step())
    link.detach()
    for name, value in one.export().items():
        want = model.state_dict()[name].float()
        assert torch.allclose(value, want, atol=1e-5), name
        assert torch.allclose(want, fresh[name], atol=1e-5), name


def test_p04_tensors_of_all_kinds_between_exchanges() -> None:
    """Those that C moves lie beside those that torch does, and tensors change
    their kind; a twin of separate tensors is moved by torch alone."""
    large = torch.randn(40_000, generator=torch.Generator().manual_seed(1))
    model = torch.nn.Module()
    model.many = torch.nn.ParameterList(
        [torch.zeros(3), torch.zeros(2, 5), large, torch.zeros(4, 4), torch.zeros(())]
    )
    parameters = parameters_of(model)
    twin = [one.detach().clone() for one in model.many]
    sizes = [one.numel() for one in twin]
    random = torch.Generator().manual_seed(2)

    def exchanged(keep: float, scale: float) -> None:
        assert torch.equal(
            staged(parameters), torch.cat([t.view(-1).float() for t in twin])
        )
        v = torch.randn(sum(sizes), generator=random)
        moved(parameters, keep, scale, v)
        for one, part in zip(twin, v.split(sizes), strict=True):
            one.mul_(keep).add_(part.view(one.shape), alpha=scale)
        for one, like in zip(model.many, twin, strict=True):
            assert torch.equal(one.detach(), like)
            assert one.shape == like.shape

    exchanged(1.0, 1.0)
    versions = [one._version for one in model.many]
    exchanged(0.5, 1.0)
    assert all(
        one._version > old for one, old in zip(model.many, versions, strict=True)
    )
    model.many[1].data = torch.empty(5, 2).copy_(twin[1].t()).t()  # not row-major
    model.many[3].data = twin[3].clone()
    exchanged(0.0, 1.0)
    model.many[1].data = twin[1].clone()
    twin[3] = twin[3].double()
    model.many[3].data = twin[3].clone()
    model.many[2].data = twin[2].clone()
    exchanged(1.0, 1.0)
    count = torch.arange(float(sum(sizes)))
    with parameters.swapped(count.data_ptr()):
        assert model.many[4].item() == sum(sizes) - 1
        assert model.many[3].dtype == torch.float64 and model.many[3][0, 0] == 40_013
    exchanged(1.0, 1.0)
    model.many[1].data = torch.zeros(5, 2)
    with pytest.raises(starswitch.StarswitchError, match=r"many\.1 has the shape"):
        parameters.begin_copy()


def test_p05_lazy_module_is_named() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.LazyLinear(3))
    with pytest.raises(starswitch.StarswitchError, match=r"1\.weight has no shape yet"):
        starswitch.attach(model)
    model(torch.zeros(1, 8))
    starswitch.attach(model).detach()


@pytest.mark.parametrize("strict", [False, True])
def test_p05_unfrozen_on_one_of_two_nodes(hub: Any, caplog: Any, strict: bool) -> None:
    hub(*EVERY)
    nodes = []
    for i in range(2):
        model = small_model()
        model[0].weight.requires_grad_(False)
        optimizer = torch.optim.SGD(
            [one for one in model.parameters() if one.requires_grad], 0.01
        )
        link = starswitch.attach(
            model, optimizer, name=f"n{i}", strict=strict and i == 0
        )
        nodes.append((model, optimizer, link))

    def both(steps: int) -> None:
        for i in range(steps):
            for model, optimizer, link in nodes:
                train(model, optimizer, 1, link, first=i, pause=1e-3)

    both(60)
    model, optimizer, link = nodes[0]
    assert link.attached
    model[0].weight.requires_grad_(True)
    optimizer.add_param_group({"params": [model[0].weight]})
    before = model[0].weight.detach().clone()
    with caplog.at_level(logging.ERROR, "starswitch"):
        if strict:
            with pytest.raises(
                starswitch.StarswitchError, match=r"0\.weight was frozen"
            ):
                both(500)
        else:
            until(lambda: (both(1), not link.attached)[1])
            assert "0.weight was frozen at attach" in caplog.text
            assert 'params="all"' in caplog.text
            assert not torch.equal(before, model[0].weight)
    assert not link.attached and not optimizer._optimizer_step_post_hooks
    assert "0.weight" in link.state().text
    applied = nodes[1][2].state().applied
    exchange(*nodes[1], 2, lambda: train(nodes[1][0], nodes[1][1], 1, nodes[1][2]))
    assert nodes[1][2].state().applied > applied


def test_p05_group_added_later(hub: Any, caplog: Any) -> None:
    hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model[0].parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    optimizer.add_param_group({"params": list(model[2].parameters())})
    exchange(model, optimizer, link, 2, lambda: train(model, optimizer, 1, link))
    assert link.attached  # they were exchanged already
    strange = torch.nn.Parameter(torch.zeros(4))
    optimizer.add_param_group({"params": [strange]})
    train(model, optimizer, 50, link, pause=1e-3)
    assert "(4,)" in caplog.text and not link.attached


def test_p05_a_parameter_added_to_a_group_that_was_there(hub: Any, caplog: Any) -> None:
    hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model[0].parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    optimizer.param_groups[0]["params"].append(model[2].bias)
    exchange(model, optimizer, link, 2, lambda: train(model, optimizer, 1, link))
    assert link.attached  # it was exchanged already
    optimizer.param_groups[0]["params"].append(torch.nn.Parameter(torch.zeros(4)))
    train(model, optimizer, 50, link, pause=1e-3)
    assert "(4,)" in caplog.text and not link.attached


def test_p05_a_module_added_later_is_told_of_once(caplog: Any) -> None:
    model = small_model()
    parameters = parameters_of(model)
    model.dropout = torch.nn.Dropout()
    staged(parameters)
    assert not caplog.records
    model[0].adapter = torch.nn.Linear(2, 2)
    for _ in range(2):
        staged(parameters)
    assert [one.getMessage() for one in caplog.records] == [
        "not in the model at attach, and so not exchanged: 0.adapter.weight, "
        "0.adapter.bias; attach again on all nodes"
    ]


def test_p05_shape_changed_later(hub: Any, caplog: Any) -> None:
    hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 1, lambda: train(model, optimizer, 1, link))
    model[2].weight = torch.nn.Parameter(torch.zeros(5, 16))
    model[2].bias = torch.nn.Parameter(torch.zeros(5))
    train(model, optimizer, 60, link, pause=1e-3)
    assert "2.weight has the shape (5, 16) now" in caplog.text
    assert not link.attached


def test_p14_no_torn_snapshot(hub: Any) -> None:
    """What is offered is what the parameters were in one iteration's hook, though
    the copy takes some iterations, as from a GPU."""
    hub("--every", 10, "--delay", 5)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    link = starswitch.attach(model, optimizer)
    parameters = link._parameters
    begin, offer = parameters.begin_copy, link._lib.star_offer
    checked: list[int] = []
    waiting: list[Any] = []

    def slow() -> Any:
        begin()
        values = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        left = [3]
        waiting[:] = [(link._iteration, values.double().sum())]

        def complete() -> bool:
            left[0] -= 1
            return left[0] < 0

        return complete

    class Library:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def star_offer(self, handle: Any, iteration: int) -> int:
            began, checksum = waiting[0]
            assert began == iteration
            assert parameters._staging.double().sum() == checksum
            checked.append(link._iteration - iteration)
            return int(offer(handle, iteration))

    real, link._lib = link._lib, Library()
    parameters.pieces = lambda: None
    parameters.begin_copy = slow
    exchange(model, optimizer, link, 5, lambda: train(model, optimizer, 1, link))
    assert len(checked) >= 5 and min(checked) >= 1, checked
    link._lib = real


def test_p17_random_state(hub: Any) -> None:
    import random

    hub("--every", 2, "--delay", 1)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    before = torch.get_rng_state(), random.getstate()
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 100, lambda: (drift(model)(), optimizer.step()))
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()
    link.detach()


def test_p21_low_precision_against_a_float32_twin() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        model = small_model()
        low = copy.deepcopy(model).to(dtype)
        model.load_state_dict({k: v.float() for k, v in low.state_dict().items()})
        pair = [parameters_of(model), parameters_of(low)]
        random = torch.Generator().manual_seed(3)
        for i in range(1000):
            v = torch.randn(pair[0]._first[-1], generator=random) * 1e-5 + 1e-5
            for one in pair:
                moved(one, 1, 1, v)
            if i % 100 == 99:
                for one in pair:
                    moved(one, 0.999, 0.001, v)
        apart = (staged(pair[0]) - staged(pair[1])).abs().max()
        assert apart < 2e-5, (dtype, apart)
        # The model itself is the nearest that its precision has.
        for a, b in zip(model.parameters(), low.parameters(), strict=True):
            assert torch.allclose(a, b.float(), rtol=2**-8, atol=1e-4)
        # A resumed script goes on with what the tensors could not hold.
        again = parameters_of(copy.deepcopy(low))
        again.load_state_dict(pair[1].state_dict())
        assert torch.equal(staged(again), staged(pair[1]))


def test_p21_in_a_run_small_corrections_are_not_lost(hub: Any) -> None:
    """One node trains in small steps; a bfloat16 and a float32 node only listen
    and end at the same place, 1,000 steps later."""
    hub("--every", 10, "--delay", 2, *RAW)
    nodes = []
    for name, rate, dtype in [
        ("trains", 2e-3, torch.float32),
        ("low", 0.0, torch.bfloat16),
        ("twin", 0.0, torch.float32),
    ]:
        model = small_model().to(torch.bfloat16).to(dtype)
        optimizer = torch.optim.SGD(model.parameters(), rate)
        nodes.append((model, optimizer, starswitch.attach(model, optimizer, name=name)))
    for _model, _optimizer, link in nodes:
        wait_offers(link)
    start = staged(nodes[2][2]._parameters)
    for _ in range(1000):
        for model, optimizer, _link in nodes:
            drift(model)()
            optimizer.step()
        time.sleep(5e-4)
    nodes[0][1].param_groups[0]["lr"] = 0.0
    for _ in range(200):
        for _model, optimizer, _link in nodes:
            optimizer.step()
        time.sleep(1e-3)
    low, exact = (staged(node[2]._parameters) for node in nodes[1:])
    went = (exact - start).abs().max()
    assert went > 2e-3, went
    assert (low - exact).abs().max() < 0.02 * went, (low - exact).abs().max()


def with_base(seed: int) -> Any:
    """A frozen base, quantised in part, and an adapter."""
    torch.manual_seed(seed)
    base = torch.nn.Linear(8, 16).requires_grad_(False)
    base.codes = torch.nn.Parameter(
        torch.randint(0, 255, (64,), dtype=torch.uint8), requires_grad=False
    )
    torch.manual_seed(0)
    return torch.nn.Sequential(base, torch.nn.Linear(16, 3))


def test_p22_frozen_part_hashed_not_sent(hub: Any) -> None:
    one = hub(*EVERY)
    model = with_base(1)
    optimizer = torch.optim.SGD(model[1].parameters(), 0.01)
    link = starswitch.attach(model, optimizer, name="a")
    assert link._elements == 16 * 3 + 3
    exchange(model, optimizer, link, 2, lambda: train(model, optimizer, 1, link))
    names = set(one.export())
    assert {n for n in names if not n.startswith("frozen.")} == {"1.weight", "1.bias"}
    same = with_base(1)
    clock = torch.optim.SGD(same[1].parameters(), 0.01)
    second = starswitch.attach(same, clock, name="b")
    exchange(same, clock, second, 1, lambda: train(same, clock, 1, second))
    other = with_base(2)
    clock = torch.optim.SGD(other[1].parameters(), 0.01)
    third = starswitch.attach(other, clock, name="c")
    with pytest.raises(starswitch.SchemaMismatch) as error:
        third.wait_ready(20)
        train(other, clock, 3000, third, pause=1e-3, stop=lambda: third.over)
        third.wait_ready(1)
    assert "not trained differs" in str(error.value), error.value
    assert 'params="all"' in str(error.value)


def with_buffers(seed: int) -> Any:
    """A flow's permutation, a queue, and what is the same everywhere or may not be."""
    model = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.BatchNorm1d(6))
    random = torch.Generator().manual_seed(seed)
    model.register_buffer("order", torch.randperm(6, generator=random))
    model.register_buffer("queue", torch.randn(4, generator=random))
    model.register_buffer("labels", torch.randint(9, (7,), generator=random))
    rate = torch.randn(3, generator=random)
    model.register_buffer("rate", rate, persistent=False)
    model.register_buffer("positions", torch.arange(5))
    model.register_buffer("count", torch.tensor(seed))
    return model


def test_p22_a_permutation_that_was_drawn_is_the_same_on_all_nodes() -> None:
    models = [with_buffers(seed) for seed in (1, 2, 2)]
    models[2].order.copy_(models[0].order)
    prints = [parameters_of(model).fingerprint() for model in models]
    assert prints[0] and prints[0] == prints[2] != prints[1]
    models[0].order.copy_(torch.arange(6))
    assert not parameters_of(models[0]).fingerprint()
    local = TorchParameters({"": models[1]}, None, "trainable", "local")
    assert not local.fingerprint()


def test_p22_other_permutations_are_refused(hub: Any) -> None:
    hub(*EVERY)
    starswitch.attach(with_buffers(1), name="a").wait_ready(20)
    with pytest.raises(starswitch.SchemaMismatch, match="same seed"):
        starswitch.attach(with_buffers(2), name="b").wait_ready(20)


def test_p22_buffers_that_are_no_statistics_are_named(caplog: Any) -> None:
    caplog.set_level(logging.INFO)
    starswitch.attach(with_buffers(1)).detach()
    said = caplog.text
    assert "averaged over nodes, as statistics are: queue;" in said
    assert "drawn at random: labels, rate, positions" in said


def test_p22_peft(hub: Any) -> None:
    peft = pytest.importorskip("peft")
    transformers = pytest.importorskip("transformers")
    one = hub(*EVERY)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=1, n_head=2, n_embd=16, vocab_size=50, n_positions=16
    )
    model = peft.get_peft_model(
        transformers.GPT2LMHeadModel(config),
        peft.LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True),
    )
    optimizer = torch.optim.AdamW(
        [p for p in model.parameters() if p.requires_grad], 0.01
    )
    link = starswitch.attach(model, optimizer)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert link._elements == trained
    x = torch.randint(0, 50, (4, 8), generator=torch.Generator().manual_seed(0))

    def step() -> None:
        optimizer.zero_grad()
        loss = model(input_ids=x, labels=x).loss
        loss.backward()
        link.report(loss=loss, samples=4)
        optimizer.step()

    exchange(model, optimizer, link, 2, step)
    sent = sum(v.numel() for k, v in one.export().items() if "frozen." not in k)
    assert sent == trained
    link.detach()


def test_p23_result_during_evaluation(hub: Any) -> None:
    one = hub("--every", 5, "--delay", 1)
    nodes = []
    for i in range(2):
        model = small_model(i)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        link = starswitch.attach(model, optimizer, name=f"n{i}")
        nodes.append((model, optimizer, link))

    for *_model, link in nodes:
        wait_offers(link)

    def both(steps: int) -> None:
        for i in range(steps):
            for model, optimizer, link in nodes:
                train(model, optimizer, 1, link, first=i, pause=1e-3)

    both(100)
    model, optimizer, link = nodes[0]
    # Up to where an offer has just been made, whose result comes meanwhile.
    version, offered = one.status()["version"], link.state().offered
    until(lambda: (both(1), link.state().offered > offered)[1])
    x, _ = batch(0)
    model.eval()
    with torch.no_grad():
        first = model(x)
        until(lambda: one.status()["version"] > version, what="a result")
        time.sleep(0.2)  # for it to arrive
        assert torch.equal(first, model(x))
    applied = link.state().applied
    optimizer.param_groups[0]["lr"] = 0.0
    until(lambda: (both(1), link.state().applied > applied)[1], what="it is applied")
    assert not torch.equal(first, model(x))


def test_p30_save_and_copy_while_attached() -> None:
    import pickle

    model = small_model()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    train(model, optimizer, 3, link)
    for thing in (model, optimizer):
        file = io.BytesIO()
        torch.save(thing, file)
        file.seek(0)
        torch.load(file, weights_only=False)
        copy.deepcopy(thing)
        torch.save(thing.state_dict(), io.BytesIO())
    twin_ = copy.deepcopy(model)
    clock = torch.optim.SGD(twin_.parameters(), 0.1)
    before = link.state().iteration
    train(twin_, clock, 3)
    assert link.state().iteration == before  # the copy is nobody's
    assert copy.deepcopy({"link": link})["link"] is link
    with pytest.raises(TypeError, match="belongs to the process that attached"):
        pickle.dumps(link)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "link": link.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file)  # weights_only: plain types alone
    link.detach()
    again = starswitch.attach(model, optimizer, name=saved["link"]["name"])
    again.load_state_dict(saved["link"])
    assert again.state().name == saved["link"]["name"]


# ---- what tensors may be ----


def test_params_all_and_trainable() -> None:
    model = with_base(1)
    assert parameters_of(model)._first[-1] == 16 * 3 + 3
    assert parameters_of(model, "all")._first[-1] == 16 * 3 + 3 + 8 * 16 + 16
    assert parameters_of(model, "all").fingerprint()  # of the integers
    assert not parameters_of(small_model()).fingerprint()
    with pytest.raises(ValueError, match="trainable"):
        starswitch.attach(model, params="some")
    with pytest.raises(starswitch.StarswitchError, match=r"all 4 .*frozen"):
        starswitch.attach(small_model().requires_grad_(False))
    with pytest.raises(starswitch.StarswitchError, match="has no parameters"):
        starswitch.attach(torch.nn.ReLU())


def test_odd_tensors(hub: Any) -> None:
    one = hub(*EVERY, *RAW)
    torch.manual_seed(0)
    model = torch.nn.Module()
    model.phase = torch.nn.Parameter(torch.randn(3, 4, dtype=torch.complex64))
    model.empty = torch.nn.Parameter(torch.zeros(0, 5))
    model.deep = torch.nn.Parameter(torch.randn(1, 2, 1, 2, 1, 2, 1, 2, 1, 3))
    model.wide = torch.nn.Parameter(torch.randn(5, dtype=torch.float64))
    model.scalar = torch.nn.Parameter(torch.tensor(2.5))
    model.codes = torch.nn.Parameter(torch.arange(4), requires_grad=False)
    model.names = torch.nn.ParameterDict(
        {
            ("ä long näme " * 9 + str(i)): torch.nn.Parameter(torch.ones(2, 2) * i)
            for i in range(3)
        }
    )
    before = {k: v.detach().clone() for k, v in model.named_parameters()}
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.1)
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 4, lambda: (drift(model)(), optimizer.step()))
    went = link.state().iteration * 0.001
    for name, value in model.named_parameters():
        if value.requires_grad and value.numel():
            away = (before[name] - value).abs()
            assert torch.allclose(away, torch.full_like(away, went), atol=1e-3), name
        else:
            assert torch.equal(before[name], value)
    link.detach()
    exported = one.export()
    pairs = torch.view_as_real(model.phase.detach())
    assert torch.allclose(exported["phase"], pairs, atol=1e-5)
    assert exported["deep"].shape == (1, 48)


def test_names_and_numbers_that_a_schema_has_no_room_for() -> None:
    many = [Described(f"t{i}", (2, 3)) for i in range(5000)]
    packed = pack(many)
    assert len(packed) <= 300 and sum(one.elements for one in packed) == 30000
    assert pack(many) == packed
    renamed = [*many[:-1], Described("other", (2, 3))]
    assert pack(renamed)[-1].name != packed[-1].name
    long = pack([Described("x" * 500 + str(i), (2,)) for i in range(9)])
    assert len({one.name for one in long}) == 9
    assert all(len(one.name) <= 63 for one in long)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_nan_parameters_are_not_offered_and_heal(
    hub: Any, caplog: Any, kind: str
) -> None:
    """A node whose parameters are NaN harms nobody; parameters that replace its
    own heal it, though Adam's moments are NaN, too."""
    one = hub(*EVERY)
    model = small_model()
    optimizer = getattr(torch.optim, kind)(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    exchange(model, optimizer, link, 3, lambda: train(model, optimizer, 1, link))
    with torch.no_grad():
        model[0].weight[0, 0] = float("nan")
    with caplog.at_level(logging.INFO, "starswitch"):
        train(model, optimizer, 60, link, pause=1e-3)
    assert "its parameters hold NaN or infinity" in caplog.text
    assert all(bool(p.isfinite().all()) for p in model.parameters())
    assert one.status()["chunks"]["nonfinite"] == 0
    assert all(bool(v.isfinite().all()) for v in one.export().values())
    parameters = parameters_of(model)
    moved(parameters, 0, 1, torch.ones(parameters._first[-1]))
    assert all(bool((p == 1).all()) for p in model.parameters())
    low = small_model().to(torch.bfloat16)
    with torch.no_grad():
        low[0].weight.fill_(float("nan"))
    parameters = parameters_of(low)
    moved(parameters, 0, 1, torch.ones(parameters._first[-1]))
    assert all(bool((p == 1).all()) for p in low.parameters())


class Quantized(torch.Tensor):
    """As torchao's: what it was not made for it refuses."""

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("of a quantized state")


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.complex64])
def test_a_state_is_spoilt_by_what_is_not_finite(dtype: torch.dtype) -> None:
    """And whatever else there is in it keeps nobody from replacing parameters."""
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    train(model, optimizer, 2)
    parameters = TorchParameters({"": model}, optimizer, "trainable", "average")
    first = optimizer.state[model[0].weight]
    nothing = torch.empty(0)
    first |= {"low": torch.zeros(4, dtype=dtype), "none": nothing, "name": "a"}
    first["int8"] = torch.ones(3).as_subclass(Quantized)
    first["bits"] = torch.ones(3, dtype=torch.int8)
    first["float8"] = torch.ones(3).to(torch.float8_e4m3fn)
    first["sparse"] = torch.eye(3).to_sparse()
    optimizer.state["step"] = 3
    assert not parameters.is_spoilt()
    for value in (float("inf"), float("nan")):
        first["low"][1] = value
        assert parameters.is_spoilt()


def test_lists_of_a_state_are_looked_into() -> None:
    model = small_model()
    optimizer = torch.optim.LBFGS(model.parameters())
    x, y = torch.randn(8, model[0].in_features), torch.randn(8)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x).sum(1) - y).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    parameters = TorchParameters({"": model}, optimizer, "trainable", "average")
    assert not parameters.is_spoilt()
    (state,) = optimizer.state.values()
    state["old_dirs"][-1][3] = float("nan")
    assert parameters.is_spoilt()


@pytest.mark.parametrize("kind", ["SGD", "Adam", "Adagrad", "RMSprop"])
def test_a_state_that_is_forgotten_is_as_at_first(kind: str) -> None:
    model = small_model()
    made = getattr(torch.optim, kind)
    optimizer = made(model.parameters(), 0.05)
    train(model, optimizer, 3)
    parameters = TorchParameters({"": model}, optimizer, "trainable", "average")
    parameters.replaced(True)
    if kind == "Adagrad":  # which older versions of torch do not make again
        for one in model.parameters():
            state = optimizer.state[one]
            assert state["step"] == 0 and not state["sum"].any()
    other = copy.deepcopy(model)
    train(model, optimizer, 2)
    train(other, made(other.parameters(), 0.05), 2)
    for ours, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_gan_and_wrapped_models() -> None:
    g, d = small_model(), small_model()
    optimizer = torch.optim.SGD(g.parameters(), 0.1)
    link = starswitch.attach({"g": g, "d": torch.nn.DataParallel(d)}, optimizer)
    names = {one.name for one in link._parameters.described}
    assert {"g.0.weight", "d.0.weight"} <= names and len(names) == 8
    link.detach()
    compiled = torch.compile(g, backend="eager")
    names = {one.name for one in starswitch.attach(compiled)._parameters.described}
    assert names == {"0.weight", "0.bias", "2.weight", "2.bias"}
    with pytest.raises(starswitch.StarswitchError, match="trains none of"):
        starswitch.attach(d, optimizer)
    with pytest.raises(TypeError, match="ends an iteration"):
        starswitch.attach(d, [optimizer])
    with pytest.raises(starswitch.StarswitchError, match="meta device"):
        starswitch.attach(torch.nn.Linear(2, 2, device="meta"))


def test_an_fsdp_with_whole_names_is_refused_by_name() -> None:
    """With use_orig_params its parameters are plain tensors, of which each process
    has a piece."""

    class FullyShardedDataParallel(torch.nn.Linear):
        sharding_strategy = SimpleNamespace(name="FULL_SHARD")

    model = torch.nn.Sequential(FullyShardedDataParallel(2, 2))
    with pytest.raises(starswitch.StarswitchError, match="0 is sharded by FSDP"):
        starswitch.attach(model)
    FullyShardedDataParallel.sharding_strategy.name = "NO_SHARD"
    starswitch.attach(model).detach()


class Averaging(torch.optim.Optimizer):
    """As Schedule-Free: z takes the steps, the parameters follow."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for one in self.param_groups[0]["params"]:
            state = self.state[one]
            if not state:
                state["z"] = one.clone()
            state["z"].sub_(one.grad)
            one.lerp_(state["z"], 0.1)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.complex64])
def test_what_an_optimizer_keeps_of_the_parameters_moves_with_them(kind: Any) -> None:
    """Else it would draw a node back from all that others have learnt."""
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)).to(kind)
    optimizer = Averaging(model.parameters())
    parameters = TorchParameters({"": model}, optimizer, "trainable", "average")
    v = torch.randn(parameters.elements)
    moved(parameters, 1.0, 1.0, v)  # before there is any state
    for one in model.parameters():
        one.grad = torch.ones_like(one)
    optimizer.step()

    def kept() -> Any:
        states = [optimizer.state[one]["z"] for one in model.parameters()]
        reals = [torch.view_as_real(z) if z.is_complex() else z for z in states]
        return torch.cat([one.reshape(-1).float() for one in reals])

    before = kept()
    moved(parameters, 1.0, 2.0, v)
    close = 0.1 if kind == torch.bfloat16 else 1e-5
    assert torch.allclose(kept(), before + 2 * v, atol=close)
    moved(parameters, 0.0, 1.0, v)
    assert torch.allclose(kept(), v, atol=close)
