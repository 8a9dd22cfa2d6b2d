"""Arrays that a link moves in place."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import starswitch
import starswitch.numpy
from conftest import until

np = pytest.importorskip("numpy")

TARGET = 3.0


def arrays(dtype: str = "float32") -> dict[str, Any]:
    return {"w": np.zeros((4, 3), dtype), "b": np.zeros(3, dtype)}


def train(link: starswitch.Link, params: dict[str, Any], steps: int) -> None:
    for _ in range(steps):
        loss = 0.0
        for one in params.values():
            loss += float(((one - TARGET) ** 2).mean())
            one -= (0.02 * (one - TARGET)).astype(one.dtype)
        link.report(loss=loss, samples=8)
        link.step()


def test_without_a_hub_arrays_are_as_without_a_link() -> None:
    ours, plain = arrays(), arrays()
    with starswitch.numpy.attach(ours, hub="127.0.0.1:1") as link:
        train(link, ours, 50)
    for _ in range(50):
        for one in plain.values():
            one -= 0.02 * (one - TARGET)
    for name in plain:
        assert (ours[name] == plain[name]).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_two_nodes_meet_in_place(hub: Any, dtype: str) -> None:
    one = hub("--every", 5, "--delay", 2, "--policy", "mean", "--init", "hub")
    a, b = arrays(dtype), arrays(dtype)
    b["w"] += 6.0
    kept = [*a.values(), *b.values()]
    with (
        starswitch.attach(a, hub=one.address, name="a") as la,
        starswitch.attach(b, hub=one.address, name="b") as lb,
    ):
        la.wait_ready(20)
        lb.wait_ready(20)

        def both() -> bool:
            train(la, a, 1)
            train(lb, b, 1)
            return min(la.state().applied, lb.state().applied) > 5

        until(both)
        until(lambda: both() and all(abs(x - TARGET).max() < 0.2 for x in kept))
        lb.detach(within=0)  # its last round would wait for the other, which rests
    assert all(x is y for x, y in zip(kept, [*a.values(), *b.values()], strict=True))
    assert {x.dtype.name for x in kept} == {dtype}


def test_what_a_link_moves_and_what_it_leaves() -> None:
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(starswitch.StarswitchError, match="read-only"):
        starswitch.numpy.attach({"w": frozen}, hub="127.0.0.1:1")
    with pytest.raises(starswitch.StarswitchError, match="no array of floats"):
        starswitch.numpy.attach([np.zeros(3, np.int64)], hub="127.0.0.1:1")
    with pytest.raises(TypeError, match="hubb"):
        starswitch.numpy.attach([np.zeros(3)], hubb="127.0.0.1:1")
    moved = starswitch.numpy.NumpyParameters(
        {"n": np.arange(3), "w": np.ones((2, 2)), "e": np.zeros(0)}
    )
    assert [one.name for one in moved.described] == ["w"]


def test_an_array_of_the_dict_may_be_replaced_by_one_of_its_shape() -> None:
    given = {"w": np.zeros((2, 2), np.float32)}
    moved = starswitch.numpy.NumpyParameters(given)
    given["w"] = np.full((2, 2), 7, np.float32)
    assert moved.begin_copy()()
    assert (moved._staging == 7).all()
    given["w"] = np.zeros(3, np.float32)
    with pytest.raises(starswitch.StarswitchError, match="shape"):
        moved.begin_copy()


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_change_is_keep_x_plus_scale_v_wherever_it_begins(order: Any) -> None:
    given = {
        "a": np.asarray(np.arange(12).reshape(3, 4), np.float32, order=order),
        "b": np.ones(5, np.float64)[::1],
    }
    before = np.concatenate([one.reshape(-1) for one in given.values()])
    moved = starswitch.numpy.NumpyParameters(given)
    v = np.arange(8, dtype=np.float32)
    moved.change(0.5, 2.0, v.ctypes.data, 7, 8)
    after = np.concatenate([one.reshape(-1) for one in given.values()])
    before[7:15] = 0.5 * before[7:15] + 2 * v
    assert (after == before).all()
    assert given["a"].flags.f_contiguous == (order == "F")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_was_nan_is_what_replaces_it(dtype: str) -> None:
    given = {"w": np.ones(4, dtype)}
    moved = starswitch.numpy.NumpyParameters(given)
    v = np.full(4, 0.5, np.float32)
    moved.change(1.0, 1.0, v.ctypes.data, 0, 4)
    given["w"][1:3] = np.nan
    moved.change(1.0, 1.0, v.ctypes.data, 0, 4)
    moved.change(0.0, 2.0, v.ctypes.data, 0, 4)
    moved.begin_copy()
    assert (given["w"] == 1).all() and (moved._staging == 1).all()


def test_small_changes_of_float16_add_up() -> None:
    given = {"w": np.ones(4, np.float16)}
    moved = starswitch.numpy.NumpyParameters(given)
    v = np.full(4, 1e-4, np.float32)  # half of what float16 tells apart near 1: 5e-4
    for _ in range(1000):
        moved.change(1.0, 1.0, v.ctypes.data, 0, 4)
    assert np.allclose(given["w"], 1.1, atol=1e-3)
    moved.begin_copy()
    assert np.allclose(moved._staging, 1.1, atol=1e-5)


def test_import_of_starswitch_imports_no_framework() -> None:
    code = (
        "import sys, starswitch; "
        "print([x for x in ('torch', 'numpy', 'jax') if x in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
