"""Without a hub the two lines change nothing: losses, parameters, buffers, the
optimizer's state, the scheduler's, the scaler's and the random state are those of
the script without them, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import starswitch
import torch
from torch import nn

torch.set_num_threads(1)


class Tiny(nn.Module):
    """A transformer of two layers whose head is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 32)
        self.place = nn.Parameter(torch.randn(16, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 64, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.body(self.embed(x) + self.place))
        return out


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))


def cnn() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Dropout(0.3), nn.Conv2d(8, 16, 2), nn.BatchNorm2d(16), nn.Flatten()),
        nn.Linear(64, 10),
    )


def batch(model: nn.Module, i: int) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(i)
    if isinstance(model, Tiny):
        text = torch.randint(0, 64, (8, 17), generator=random)
        return text[:, :-1], text[:, 1:].reshape(-1)
    first = next(model.parameters())
    shape = (16, 3, 8, 8) if first.dim() == 4 else (16, 20)
    x = torch.randn(shape, generator=random).to(first.dtype)
    return x, torch.randint(0, 5, (16,), generator=random)


class Case(NamedTuple):
    """A loop. accumulate: batches to a step; infinite: every tenth step's
    gradient is."""

    model: Callable[[], nn.Module]
    optimizer: Callable[[Any], Any]
    schedule: Callable[[Any], Any] | None = None
    accumulate: int = 1
    autocast: bool = False
    scaler: bool = False
    infinite: bool = False
    clip: bool = False
    change: Callable[[nn.Module], nn.Module] = lambda model: model


def groups(parameters: Any) -> Any:
    given = list(parameters)
    decay: dict[str, Any] = {"params": given[3:], "weight_decay": 0.0}
    return torch.optim.AdamW([{"params": given[:3]}, decay], 1e-3)


CASES = {
    "perceptron, SGD with momentum": Case(
        perceptron, lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True)
    ),
    "perceptron, LBFGS": Case(
        perceptron, lambda p: torch.optim.LBFGS(p, 0.1, max_iter=5)
    ),
    "perceptron in bf16": Case(
        perceptron,
        lambda p: torch.optim.SGD(p, 0.01, momentum=0.9),
        change=lambda model: model.bfloat16(),
    ),
    "CNN, SGD, cosine": Case(
        cnn,
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9),
        lambda one: torch.optim.lr_scheduler.CosineAnnealingLR(one, 100),
    ),
    "CNN in channels_last, accumulated": Case(
        cnn,
        lambda p: torch.optim.AdamW(p, 1e-3),
        accumulate=4,
        change=lambda model: model.to(memory_format=torch.channels_last),  # type: ignore[call-overload]
    ),
    "transformer, AdamW, clipped bf16": Case(
        Tiny, lambda p: torch.optim.AdamW(p, 1e-3), autocast=True, clip=True
    ),
    "transformer, scaler": Case(
        Tiny,
        lambda p: torch.optim.AdamW(p, 1e-3),
        autocast=True,
        scaler=True,
        infinite=True,
    ),
    "transformer, fused, scaler": Case(
        Tiny,
        lambda p: torch.optim.AdamW(p, 1e-3, fused=True),
        autocast=True,
        scaler=True,
        infinite=True,
    ),
    "transformer, two groups, one cycle": Case(
        Tiny,
        groups,
        lambda one: torch.optim.lr_scheduler.OneCycleLR(one, 1e-2, total_steps=100),
    ),
}
BATCHES = 40


def run(case: Case, attaches: bool) -> dict[str, Any]:
    """All that a script could compare after it."""
    torch.manual_seed(3)
    model = case.change(case.model())
    optimizer: Any = case.optimizer(model.parameters())
    link = starswitch.attach(model, optimizer) if attaches else None
    schedule = case.schedule(optimizer) if case.schedule else None
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=case.scaler)
    losses = []

    def loss_of(i: int) -> torch.Tensor:
        x, y = batch(model, i)
        with torch.autocast("cpu", torch.bfloat16, enabled=case.autocast):
            out = model(x)
        return nn.functional.cross_entropy(out.flatten(0, -2).float(), y)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(i)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    for i in range(BATCHES):
        if isinstance(optimizer, torch.optim.LBFGS):
            losses.append(optimizer.step(closure).item())
            continue
        loss = loss_of(i) / case.accumulate
        scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        losses.append(loss.item())
        if link is not None:
            link.report(loss=loss, samples=16)
        if (i + 1) % case.accumulate:
            continue
        if case.infinite and i % 10 == 5:
            gradient = next(model.parameters()).grad
            assert gradient is not None
            gradient[0, 0] = float("inf")
        if case.clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if schedule is not None:
            schedule.step()
    if link is not None:
        state = link.state()
        assert state.iteration + state.skipped == BATCHES // case.accumulate
        assert state.skipped == (BATCHES // 10 if case.infinite else 0)
        link.detach(within=0)
    return {
        "losses": losses,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": scaler.state_dict(),
        "rates": schedule and schedule.get_last_lr(),
        "random": torch.get_rng_state(),
    }


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return (
            one.dtype == other.dtype
            and one.stride() == other.stride()
            and torch.equal(one, other)
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            is_same(one[key], other[key]) for key in one
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("name", CASES)
def test_without_a_hub_the_script_is_as_it_was(name: str) -> None:
    before, after = (run(CASES[name], attaches) for attaches in (False, True))
    for what in before:
        assert is_same(before[what], after[what]), what
