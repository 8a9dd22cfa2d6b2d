"""What can never be right is said at once, with what was given."""

from __future__ import annotations

import re
from typing import Any

import pytest
import starswitch
import torch
from conftest import small_model
from starswitch import StarswitchError

NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"hub": "h:abc"}, StarswitchError, "hub h:abc: expected a port"),
        ({"hub": "a,h:99999"}, StarswitchError, "hub a,h:99999: expected a port"),
        ({"hub": "a b"}, StarswitchError, "hub a b: expected a host"),
        ({"hub": " "}, ValueError, "hub=' ' names no hub"),
        ({"hub": 5}, TypeError, "not 5"),
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
