"""Pytrees that go in and come out."""

from __future__ import annotations

from typing import Any

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import starswitch  # noqa: E402
import starswitch.jax  # noqa: E402
from conftest import until, wait_offers  # noqa: E402

NOBODY = "127.0.0.1:1"


def tree(dtype: Any = jnp.float32, offset: float = 0.0) -> dict[str, Any]:
    return {
        "layers": [
            {"w": jnp.full((4, 3), offset, dtype), "b": jnp.zeros(3, dtype)},
            {"w": jnp.zeros((3, 2), dtype), "steps": jnp.arange(2)},
        ],
        "name": "net",
    }


@jax.jit
def _update(leaves: list[Any]) -> tuple[list[Any], Any]:
    new = [x - jnp.asarray(0.05, x.dtype) * (x - 3) for x in leaves]
    return new, sum(jnp.mean((x - 3).astype(jnp.float32) ** 2) for x in leaves)


def update(params: Any) -> tuple[Any, Any]:
    leaves, shape = jax.tree_util.tree_flatten(params)
    ours = [
        i
        for i, x in enumerate(leaves)
        if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.floating)
    ]
    new, loss = _update([leaves[i] for i in ours])
    for i, x in zip(ours, new, strict=True):
        leaves[i] = x
    return jax.tree_util.tree_unflatten(shape, leaves), loss


def test_without_a_hub_the_same_tree_comes_back() -> None:
    params, plain = tree(), tree()
    with starswitch.jax.attach(params, hub=NOBODY) as link:
        for _ in range(30):
            params, loss = update(params)
            back = link.exchange(params, loss=loss, samples=4)
            assert back is params
            plain, _ = update(plain)
    for x, y in zip(
        jax.tree_util.tree_leaves(params), jax.tree_util.tree_leaves(plain), strict=True
    ):
        assert isinstance(x, str) or (np.asarray(x) == np.asarray(y)).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_two_trees_meet(hub: Any, dtype: str) -> None:
    one = hub("--every", 5, "--delay", 2, "--policy", "mean", "--init", "hub")
    kind = jnp.dtype(dtype)
    a, b = tree(kind), tree(kind, 6.0)
    la = starswitch.jax.attach(a, hub=one.address, name="a")
    lb = starswitch.attach(b, hub=one.address, name="b")
    assert isinstance(lb, starswitch.jax.JaxLink)
    la.wait_ready(20)
    lb.wait_ready(20)
    state = [a, b]

    def both() -> bool:
        for i, link in enumerate((la, lb)):
            params, loss = update(state[i])
            state[i] = link.exchange(params, loss=loss, samples=4)
        return min(la.state().applied, lb.state().applied) > 5

    def gap() -> float:
        x, y = (np.asarray(s["layers"][0]["w"], np.float32) for s in state)
        return float(abs(x - y).max())

    until(lambda: both() and gap() < 0.3)
    la.detach(within=0)  # its last round would wait for the other, which rests
    lb.detach()
    for params in state:
        assert params["name"] == "net"
        assert params["layers"][0]["w"].dtype == kind
        assert list(np.asarray(params["layers"][1]["steps"])) == [0, 1]


def test_names_are_the_places_in_the_tree() -> None:
    moved = starswitch.jax.JaxParameters(tree())
    assert [one.name for one in moved.described] == [
        "layers.0.b",
        "layers.0.w",
        "layers.1.w",
    ]


def test_traced_arrays_are_refused_in_words() -> None:
    params = tree()
    link = starswitch.jax.attach(params, hub=NOBODY)
    with pytest.raises(starswitch.StarswitchError, match="inside jit"):
        jax.jit(lambda x: link.exchange({**params, "name": x}))(jnp.ones(2))
    with pytest.raises(starswitch.StarswitchError, match="inside jit"):
        jax.jit(lambda x: starswitch.jax.attach({"x": x}) and x)(jnp.ones(2))
    link.detach()


def test_another_tree_is_refused_in_words() -> None:
    params = tree()
    link = starswitch.jax.attach(params, hub=NOBODY)
    with pytest.raises(starswitch.StarswitchError, match="another structure"):
        link.exchange({"w": jnp.zeros(3)})
    params["layers"][0]["b"] = jnp.zeros(4)
    with pytest.raises(starswitch.StarswitchError, match=r"layers\.0\.b"):
        link.exchange(params)
    link.detach()


def test_a_tree_may_begin_as_float64_of_numpy() -> None:
    params = {"w": np.zeros((3, 2))}
    with starswitch.jax.attach(params, hub=NOBODY) as link:
        for _ in range(2):
            params = link.exchange(jax.jit(lambda p: {"w": p["w"] + 1})(params))
    assert params["w"].dtype == jnp.float32


def test_a_number_that_becomes_an_array_is_refused_by_name() -> None:
    params = {"w": jnp.zeros(3), "scale": 1.0}
    with starswitch.jax.attach(params, hub=NOBODY) as link:
        link.exchange(params)
        params = jax.jit(lambda p: {"w": p["w"], "scale": p["scale"] * 2})(params)
        with pytest.raises(starswitch.StarswitchError, match=r"scale .* jnp\.asarray"):
            link.exchange(params)


def test_changes_are_gathered_and_made_once() -> None:
    params = {"a": jnp.arange(6.0).reshape(2, 3), "b": jnp.ones(4)}
    moved = starswitch.jax.JaxParameters(params)
    v = np.arange(5, dtype=np.float32)
    moved.change(0.5, 2.0, v.ctypes.data, 4, 5)
    moved.change(1.0, -1.0, v.ctypes.data, 4, 5)
    assert moved.apply()
    assert not moved.apply()
    want = np.concatenate([np.arange(6.0), np.ones(4)])
    want[4:9] = 0.5 * want[4:9] + v
    got = np.concatenate([np.asarray(x).reshape(-1) for x in moved._all])
    assert np.allclose(got, want)
    assert (np.asarray(params["b"]) == 1).all()  # of whoever still holds it


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_an_offer_has_what_the_same_step_applies(dtype: str) -> None:
    moved = starswitch.jax.JaxParameters({"w": jnp.array([jnp.inf, 1.0, 2.0], dtype)})
    v = np.full(3, 8.0, np.float32)
    moved.change(1.0, 1.0, v.ctypes.data, 1, 2)
    moved.change(0.0, 2.0, v.ctypes.data, 0, 1)
    moved.change(0.5, 1.0, v.ctypes.data, 1, 1)
    complete = moved.begin_copy()
    moved.change(1.0, 1.0, v.ctypes.data, 0, 3)  # of a result that comes later
    moved.apply()
    until(complete)
    assert moved._staging.tolist() == [16.0, 12.5, 10.0]
    assert np.asarray(moved._all[0], np.float32).tolist() == [24.0, 20.5, 18.0]


def test_with_d_of_k_no_result_is_handed_back(hub: Any) -> None:
    one = hub(
        *("--every", 4, "--delay", 4, "--miss", "wait"),
        *("--codec-up", "raw", "--codec-down", "raw"),
        *("--policy", "mean", "--outer-lr", 0.5, "--outer-momentum", 0),
    )
    x = jnp.zeros(1)
    link = starswitch.jax.attach(x, hub=one.address)
    wait_offers(link)
    changes = []

    def turn() -> bool:
        nonlocal x
        stepped = x + 16
        x = link.exchange(stepped)
        if x is not stepped:
            changes.append(float(x[0] - stepped[0]))
        return link.state().applied > 7

    until(turn)
    link.detach()
    # Half of 4 iterations is taken back, each time; the first may be of fewer.
    assert changes[2:] == [-32.0] * (len(changes) - 2)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_what_was_nan_is_what_replaces_it(dtype: str) -> None:
    moved = starswitch.jax.JaxParameters({"w": jnp.array([jnp.nan, 1.0], dtype)})
    v = np.full(2, 0.5, np.float32)
    for keep, scale in ((1.0, 1.0), (0.0, 2.0)):
        moved.change(keep, scale, v.ctypes.data, 0, 2)
        moved.apply()
    until(moved.begin_copy())
    assert (np.asarray(moved._all[0], np.float32) == 1).all()
    assert (moved._staging == 1).all()


def test_small_changes_of_bfloat16_add_up() -> None:
    moved = starswitch.jax.JaxParameters({"w": jnp.ones(4, jnp.bfloat16)})
    v = np.full(4, 1e-4, np.float32)
    for _ in range(1000):
        moved.change(1.0, 1.0, v.ctypes.data, 0, 4)
        moved.apply()
    assert np.allclose(np.asarray(moved._all[0], np.float32), 1.1, atol=8e-3)
    until(moved.begin_copy())
    assert np.allclose(moved._staging, 1.1, atol=1e-4)


def test_donated_arrays_spoil_no_copy(hub: Any) -> None:
    one = hub("--every", 3, "--delay", 1)
    step = jax.jit(lambda p: {"w": p["w"] * 0.99}, donate_argnums=0)
    params = {"w": jnp.ones((64, 64))}
    link = starswitch.jax.attach(params, hub=one.address)
    link.wait_ready(20)

    def turn() -> bool:
        nonlocal params
        params = link.exchange(step(params))
        return link.state().applied > 3

    until(turn)
    step(params)
    link.detach()  # what it would offer last is gone


def test_a_loss_that_is_none_is_said_by_its_report() -> None:
    with starswitch.jax.attach(tree()) as link:
        for loss in (jnp.array(1j), "x", 1j):
            with pytest.raises((TypeError, ValueError)):
                link.report(loss=loss)
        link.report(loss=np.float32(1))


def test_a_tree_without_floats_says_what_it_has() -> None:
    said = "there is no array of floats.*n is int32, name is str"
    with pytest.raises(starswitch.StarswitchError, match=said):
        starswitch.jax.attach({"n": jnp.arange(3), "name": "net"})


def test_inside_center_is_what_the_hub_holds(hub: Any) -> None:
    one = hub("--every", 5, "--delay", 2, "--policy", "mean")
    link = starswitch.jax.attach(tree(), hub=one.address)
    state = tree()
    link.wait_ready(20)

    def goes_on() -> bool:
        nonlocal state
        params, loss = update(state)
        state = link.exchange(params, loss=loss, samples=4)
        return link.state().applied > 2

    until(goes_on)
    with link.center() as held:
        theirs, own = (np.asarray(t["layers"][0]["w"]) for t in (held, state))
        assert (theirs != own).any()
    assert (np.asarray(link.params["layers"][0]["w"]) == own).all()
    link.detach()
