"""What can never be right is said at once, with what was given."""

from __future__ import annotations

import re
from typing import Any

import pytest
import starswitch
import torch
from conftest import small_model
from starswitch import StarswitchError
from starswitch.local_sgd import DiLoCo, LocalSGD

NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"hub": "h:abc"}, StarswitchError, "hub h:abc: expected a port"),
        ({"hub": "a,h:99999"}, StarswitchError, "hub a,h:99999: expected a port"),
        ({"hub": "a b"}, StarswitchError, "hub a b: expected a host"),
        ({"hub": " "}, ValueError, "hub=' ' names no hub"),
        ({"hub": 5}, TypeError, "not 5"),
        ({"hub": b"pc0"}, TypeError, "hub must be a string, not b'pc0'"),
        ({"cores": "99-98"}, StarswitchError, "cores 99-98: expected a list"),
        ({"cores": "0,9999"}, StarswitchError, "core 9999 is not there"),
        ({"name": "a\0b"}, ValueError, r"'a\x00b' holds a NUL"),
        ({"name": "x" * 50}, StarswitchError, "has 50 bytes: 39 at most"),
        ({"record": "/no/such"}, StarswitchError, "/no/such: No such file"),
        ({"up": -1}, ValueError, "not -1"),
        ({"up": "10M"}, TypeError, "not '10M'"),
        ({"leave_within": NAN}, ValueError, "not nan"),
        ({"params": "some"}, ValueError, "not 'some'"),
        ({"evaluate": 5}, TypeError, "not 5"),
    ],
)
def test_attach_says_what_it_was_given(
    given: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=re.escape(said)):
        starswitch.attach(small_model(), **given)


@pytest.mark.parametrize("optimizer", ["sgd", [1], torch.nn.Linear(1, 1)])
def test_what_is_no_optimizer_is_said(optimizer: Any) -> None:
    with pytest.raises(TypeError, match=type(optimizer).__name__):
        starswitch.attach(small_model(), optimizer)


def test_reports_and_states_say_what_they_were_given() -> None:
    model = small_model()
    with starswitch.attach(model) as link:
        for wrong in (-0.1, 5, float("inf")):
            with pytest.raises(ValueError, match=f"from 0 to 1, not {wrong}"):
                link.report(accuracy=wrong)
        link.report(accuracy=NAN)
        link.report(accuracy=1)
        for loss in (torch.tensor(1j), torch.ones(3) * 1j):
            with pytest.raises(TypeError, match=r"a real number.* torch\.complex64"):
                link.report(loss=loss)
        with pytest.raises(ValueError, match="on the meta device"):
            link.report(loss=torch.zeros((), device="meta"))
        link.step()
        assert link.attached is False and "training alone:" not in link.state().text
        for within, kind in (("a", TypeError), (NAN, ValueError), (-1, ValueError)):
            with pytest.raises(kind, match=re.escape(f"seconds, not {within!r}")):
                link.detach(within)  # type: ignore[arg-type]
        for no_state in (None, {}, {"format": 7}):
            with pytest.raises(ValueError, match=re.escape(f"but {no_state!r}")):
                link.load_state_dict(no_state)
    with pytest.raises(starswitch.Closed, match="the link was detached; attach again"):
        link.wait_ready(1)
    link.report(loss=1.0)
    link.step()
    link.detach()


def test_launch_local_says_what_it_was_given() -> None:
    for wrong in (0, ["a", "a"], ["hub", "b"]):
        with pytest.raises(ValueError, match=re.escape(f"not {wrong!r}")):
            starswitch.launch_local(wrong, "train.py")
    for nodes in (1.5, "ab", None):
        with pytest.raises(TypeError, match=re.escape(f"not {nodes!r}")):
            starswitch.launch_local(nodes, "train.py")  # type: ignore[arg-type]
    for timeout in (-1, NAN):
        with pytest.raises(ValueError, match=f"timeout must be .* not {timeout}"):
            starswitch.launch_local(1, "train.py", timeout=timeout)


@pytest.mark.parametrize("wrong", [1.5, "a"])
def test_a_sampler_says_what_it_was_given(wrong: Any) -> None:
    sampler = starswitch.Sampler(10)
    for name in ("batch_size", "accumulate", "seed"):
        said = f"{name} must be a whole number, not {wrong!r}"
        with pytest.raises(TypeError, match=re.escape(said)):
            starswitch.Sampler(10, **{name: wrong})
    with pytest.raises(TypeError, match="epoch must be a whole number"):
        sampler.set_epoch(wrong)
    with pytest.raises(TypeError, match="link must be what attach returned"):
        starswitch.Sampler(10, wrong)
    for position in (99, -1):
        with pytest.raises(ValueError, match=f"its position is {position}, of 10"):
            sampler.load_state_dict({**sampler.state_dict(), "position": position})


def test_a_seed_may_be_of_any_whole_type() -> None:
    orders = [list(starswitch.Sampler(20, seed=one)) for one in (3, torch.tensor(3))]
    assert orders[0] == orders[1]


def test_torchfts_faces_say_what_they_were_given() -> None:
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for wrong in (0, 1.5, NAN, float("inf")):
        with pytest.raises(ValueError, match=f"a whole number from 1, not {wrong}"):
            LocalSGD(None, model, optimizer, wrong)
    with pytest.raises(ValueError, match="a whole number below sync_every"):
        DiLoCo(None, [model], optimizer, optimizer, 5, fragment_sync_delay=1.5)
    LocalSGD(None, model, optimizer, 20.0)


def test_arrays_that_are_not_exchanged_are_named() -> None:
    np = pytest.importorskip("numpy")
    with pytest.raises(StarswitchError, match="w is int32, b is empty"):
        starswitch.attach({"w": np.ones(3, dtype="i4"), "b": np.ones(0)})
