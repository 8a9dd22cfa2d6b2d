"""Parameters on a device whose copies take their time: when what is copied, and
that nothing waits. The device is the CPU, its streams are a list of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import starswitch
import starswitch.torch
import torch
from conftest import Hub, small_model, train, until
from starswitch._device import Copy


class Late:
    """A copy that is made when its event is asked for the third time, or when
    the training's stream waits for it: in the order a GPU would have."""

    def __init__(self, device: Slow, to: Sequence[torch.Tensor], of: object) -> None:
        self.device, self.to, self.of = device, to, of
        self.then = [one.clone() for one in device.sources(of)]
        self.asked = 0
        self.copied = self.torn = False

    def run(self, why: str) -> None:
        if not self.copied:
            self.copied = True
            self.device.log.append(why)
            now = self.device.sources(self.of)
            self.torn = not all(map(torch.equal, now, self.then))
            torch._foreach_copy_(list(self.to), now)

    def complete(self) -> bool:
        self.asked += 1
        if self.asked > self.device.late:
            self.run("arrived")
        return self.copied

    def protect(self) -> None:
        self.run("protected")


class Slow:
    """A device of that kind."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.copies: list[Late] = []
        self.late = 3  # a copy is asked for so often before it is there

    def sources(self, of: object) -> list[torch.Tensor]:
        assert isinstance(of, (list, tuple))
        return [one.detach() for one in of]

    def host(self, count: int) -> torch.Tensor:
        return torch.zeros(count)

    def fetch(self, to: Sequence[torch.Tensor], of: Sequence[torch.Tensor]) -> Copy:
        self.log.append("fetch")
        copy = Late(self, to, of)
        self.copies.append(copy)
        return copy

    def send(self, values: torch.Tensor, device: torch.device) -> torch.Tensor:
        self.log.append("send")
        return values.clone()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    device = Slow()
    monkeypatch.setattr(starswitch.torch, "device_of", lambda tensors: device)
    return device


def test_a_copy_is_of_the_parameters_as_the_hook_found_them(
    hub: Callable[..., Hub], slow: Slow
) -> None:
    hub("--every", 4, "--delay", 8, "--codec-up", "raw")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    link = starswitch.attach(model, optimizer)
    until(lambda: train(model, optimizer, 8, link) and link.state().applied > 3)
    link.detach()
    parameters = [copy for copy in slow.copies if len(copy.to) > 1]
    assert len(parameters) > 4
    for copy in parameters[:-2]:  # the last replaces one that is under way
        assert copy.copied and not copy.torn
    # The training's stream waited for those that were under way at a step.
    assert "protected" in slow.log
    # All that comes back goes through the device, too.
    assert "send" in slow.log
    for one in model.parameters():
        assert torch.isfinite(one).all()


def test_the_last_offer_is_copied_anew_where_time_has_moved_the_parameters(
    hub: Callable[..., Hub], slow: Slow
) -> None:
    """It was left out where the iteration had been copied before."""
    hub("--every", 8, "--delay", 6, "--codec-up", "raw")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    link = starswitch.attach(model, optimizer)
    until(lambda: train(model, optimizer, 4, link) and link.state().applied > 0)
    slow.log.clear()
    until(lambda: link.idle() or "arrived" in slow.log)
    until(lambda: link.idle() or slow.log[-1] == "send")
    link.detach()
    assert slow.log[-2:] == ["fetch", "arrived"]


def test_a_copy_that_takes_an_iteration_keeps_no_turn_from_the_next(
    hub: Callable[..., Hub], slow: Slow
) -> None:
    """With a fragment's turn at each iteration every second one had none."""
    many = ("--fragments", 8, "--chunk", 4096, "--init", "hub", "--wait", "1s")
    hub("--every", 8, "--delay", 16, *many)
    slow.late = 1
    model = torch.nn.Sequential(torch.nn.Linear(8, 800), torch.nn.Linear(800, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    link = starswitch.attach(model, optimizer)
    offered = [0, 0, 0]

    def is_offered_twice_in_a_row() -> bool:
        train(model, optimizer, 1, link)
        offered[:] = [*offered[1:], link.state().offered]
        return offered[0] + 2 == offered[1] + 1 == offered[2]

    until(is_offered_twice_in_a_row)
    link.detach()


def test_what_is_offered_is_what_was_copied(slow: Slow) -> None:
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    parameters = starswitch.torch.TorchParameters(
        {"": model}, optimizer, "trainable", "average"
    )
    optimizer.register_step_pre_hook(lambda *_: parameters.before_change())
    for i in range(5):
        then = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
        complete = parameters.begin_copy()
        assert not complete()
        train(model, optimizer, 1, first=i)
        assert complete()
        assert torch.equal(parameters._staging, then)


def test_a_result_waits_for_a_copy_that_is_under_way(slow: Slow) -> None:
    model = small_model()
    parameters = starswitch.torch.TorchParameters(
        {"": model}, None, "trainable", "average"
    )
    then = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    parameters.begin_copy()
    change = torch.ones_like(then)
    parameters.change(1.0, 1.0, change.data_ptr(), 0, then.numel())
    assert slow.log == ["fetch", "protected", "send"]
    assert torch.equal(parameters._staging, then)
    now = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    assert torch.equal(now, then + 1)


def test_an_offer_is_not_of_the_centre(slow: Slow) -> None:
    """center() and evaluate= write it to the model while a copy is under way."""
    model = small_model()
    parameters = starswitch.torch.TorchParameters(
        {"": model}, None, "trainable", "average"
    )
    then = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    complete = parameters.begin_copy()
    centre = torch.ones_like(then)
    with parameters.swapped(centre.data_ptr()):
        while not complete():
            pass
    assert not slow.copies[0].torn
    assert torch.equal(parameters._staging, then)


def test_a_loss_is_never_waited_for(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = starswitch.torch.TorchParameters(
        {"": small_model()}, None, "trainable", "average"
    )

    def refuse(*_: object) -> None:
        raise AssertionError("that waits for the device")

    for name in ("item", "tolist", "__float__", "cpu", "numpy"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    seen = []
    for i in range(12):
        parameters.read_loss(torch.tensor(float(i)), 1)
        parameters.read_loss(torch.tensor(float(i) + 3), 2)
        loss = parameters.take_loss()
        if loss == loss:
            seen.append(loss)
    assert seen[:2] == [2.0, 6.0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_offers_and_takes(hub: Callable[..., Hub]) -> None:
    hub("--every", 4, "--delay", 8)
    model = small_model().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    link = starswitch.attach(model, optimizer)
    x, y = torch.randn(32, 8).cuda(), torch.randint(3, (32,)).cuda()

    def steps() -> bool:
        for _ in range(8):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            link.report(loss=loss, samples=32)
            optimizer.step()
        return link.state().applied > 3

    until(steps)
    link.detach()
    assert link.state().offered > 3
