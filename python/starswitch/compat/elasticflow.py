"""ElasticFlow's face: a model and what its cost is, nothing else.

    import functools, torch
    from starswitch.compat.elasticflow import run

    def model():
        return {
            "w": torch.zeros(784, 10),
            "b": torch.zeros(10),
            "optimizer": functools.partial(torch.optim.SGD, lr=0.1),
        }

    def forward(x, y, params):
        return torch.nn.functional.cross_entropy(x @ params["w"] + params["b"], y)

    result = run(model, forward, (images, labels), epochs=3)

The same call trains alone, or with others when there is a hub: the loop, the
gradient, the exchange and the parts of the data are run's. Without a hub it is
bit for bit the loop that one would write by hand.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from .. import attach
from ..errors import StarswitchError
from ..sampler import Sampler

Tensors = Mapping[str, torch.Tensor]
Forward = Callable[[Any, Any, Tensors], torch.Tensor]

LOOK_EVERY = 8  # iterations between two looks at whether a hub is there


@dataclass
class Result:
    """What a run left. Times in seconds."""

    params: dict[str, torch.Tensor] = field(default_factory=dict)
    """By name; of a Module, its state_dict."""
    loss: float = float("nan")
    """The mean cost of the last epoch's samples, NaN if there were none."""
    iterations: int = 0
    samples: int = 0
    pending: float = 0.0
    """From the call to the first iteration: nothing is waited for."""
    training: float = 0.0
    """From there to the end."""
    joined: float | None = None
    """From the call until a hub had taken this node in; None: none has."""
    text: str = ""
    """How it ended, in words."""
    net: torch.nn.Module | None = field(repr=False, default=None)


class Named(torch.nn.Module):
    """Tensors by name, sorted: in whatever order they were written down, those of
    one name meet. A dot in a name is a module inside."""

    def __init__(self, tensors: Tensors) -> None:
        super().__init__()
        for name in sorted(tensors):
            *path, last = name.split(".")
            place: torch.nn.Module = self
            for word in path:
                if word not in place._modules:
                    place.add_module(word, torch.nn.Module())
                place = place.get_submodule(word)
            value = tensors[name]
            if not isinstance(value, torch.nn.Parameter):
                value = torch.nn.Parameter(value.detach(), value.is_floating_point())
            place.register_parameter(last, value)


def _optimizer(made: Any, given: Tensors, net: torch.nn.Module) -> Any:
    """An optimizer of these parameters, from what model() says it is: a function
    of the parameters, such as a class or a partial, or one that was made of its
    tensors."""
    params = dict(net.named_parameters())
    if not isinstance(made, torch.optim.Optimizer):
        return made([one for one in params.values() if one.requires_grad])
    ours = {id(tensor): params[name] for name, tensor in given.items()}
    for group in made.param_groups:
        group["params"] = [ours.get(id(one), one) for one in group["params"]]
    for one in [one for one in made.state if id(one) in ours]:
        made.state[ours[id(one)]] = made.state.pop(one)
    return made


def _build(model: Any, forward: Forward | None) -> tuple[Any, Any, Any]:
    """The Module, its optimizer, and cost(x, y)."""
    built = model() if callable(model) else model
    if isinstance(built, torch.nn.Module):
        net: Any = built
        for name in ("loss", "optimizer"):
            if not callable(getattr(net, name, None)):
                raise StarswitchError(
                    f"{type(net).__name__} has no method {name}: a class for run has "
                    "forward(x), loss(output, y) and optimizer()"
                )
        return net, net.optimizer(), lambda x, y: net.loss(net(x), y)
    if not isinstance(built, Mapping) or "optimizer" not in built:
        raise StarswitchError(
            'model() must return its tensors by name, and "optimizer", a function of '
            "a list of parameters such as functools.partial(torch.optim.SGD, lr=0.1)"
        )
    if forward is None or len(inspect.signature(forward).parameters) != 3:
        raise StarswitchError("forward must be a function forward(x, y, params)")
    tensors = {name: one for name, one in built.items() if name != "optimizer"}
    for name, one in tensors.items():
        if not isinstance(one, torch.Tensor):
            raise StarswitchError(f"{name} is a {type(one).__name__}, not a tensor")
    net = Named(tensors)
    params = dict(net.named_parameters())
    optimizer = _optimizer(built["optimizer"], tensors, net)
    return net, optimizer, lambda x, y: forward(x, y, params)


def _batches(data: Any) -> tuple[int, Callable[[list[int]], tuple[Any, Any]]]:
    """How many samples there are, and a function from their numbers to x and y."""
    if isinstance(data, tuple) and len(data) == 2:
        x, y = (torch.as_tensor(one) for one in data)
        if len(x) != len(y):
            raise StarswitchError(f"there are {len(x)} x and {len(y)} y")
        return len(x), lambda places: (x[places], y[places])

    def collate(places: list[int]) -> tuple[Any, Any]:
        x, y = torch.utils.data.default_collate([data[i] for i in places])
        return x, y

    return len(data), collate


def run(
    model: Any,
    forward: Forward | None = None,
    data: Any = None,
    *,
    epochs: int | None = 1,
    batch_size: int = 32,
    shuffle: bool = True,
    seed: int = 0,
    on_step: Callable[[int, float], Any] | None = None,
    **options: Any,
) -> Result:
    """Trains, alone or with others, and returns what was learnt.

    model: a function that returns named tensors and "optimizer"; or a class of
        torch.nn.Module with forward(x), loss(output, y) and optimizer().
    forward: forward(x, y, params), the mean cost of a batch; not for a class.
    data: (x, y), tensors of as many rows; or a dataset of pairs.
    epochs: this process's passes; a hub with --epochs may end the run before, and
        a pass is then the parts of an epoch that the hub gives to this node.
        None: until the hub ends the run.
    batch_size: samples of an iteration; the last of an epoch may have fewer.
    shuffle, seed: of the order of samples (starswitch.Sampler), the same on all
        nodes. The parameters are model()'s own: seed them there.
    on_step: called with the iteration's number, from 1, and its cost.
    options: hub, name, key and the others of starswitch.attach; the hub is
        $STARSWITCH_HUB unless said.

    StarswitchError: model, forward or data cannot be right. A hub that is not
    there or goes away is no error.
    """
    begun = time.monotonic()
    if data is None:
        raise StarswitchError("run needs data: (x, y), or a dataset of pairs")
    net, optimizer, cost = _build(model, forward)
    count, batch = _batches(data)
    link = attach(net, optimizer, **options)
    sampler = Sampler(count, link, batch_size=batch_size, shuffle=shuffle, seed=seed)
    result = Result(net=net)
    passed, first = 0, begun
    try:
        while not sampler.over and (epochs is None or passed < epochs):
            total = 0.0
            before = result.samples
            for places in _groups(sampler, batch_size):
                if not result.iterations:
                    first = time.monotonic()
                x, y = batch(places)
                optimizer.zero_grad()
                loss = cost(x, y)
                loss.backward()
                link.report(loss=loss, samples=len(places))
                optimizer.step()
                result.iterations += 1
                result.samples += len(places)
                total += float(loss.detach()) * len(places)
                if result.joined is None and result.iterations % LOOK_EVERY == 1:
                    if link.attached:
                        result.joined = time.monotonic() - begun
                if on_step is not None:
                    on_step(result.iterations, float(loss.detach()))
            if result.samples > before:
                result.loss = total / (result.samples - before)
            passed += 1
    finally:
        link.detach()
    result.text = link.state().text
    result.pending, result.training = first - begun, time.monotonic() - first
    result.params = {k: v.detach().clone() for k, v in net.state_dict().items()}
    return result


def _groups(sampler: Sampler, size: int) -> Iterator[list[int]]:
    """Lists of so many numbers; the last may be shorter."""
    group: list[int] = []
    for one in sampler:
        group.append(one)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
