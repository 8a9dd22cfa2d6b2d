"""JAX: parameters go in and come out.

    import starswitch.jax

    link = starswitch.jax.attach(params)        # hub, key, name: environment
    for x, y in batches:
        params, state, loss = update(params, state, x, y)     # jitted, your own
        params = link.exchange(params, loss=loss, samples=len(x))
    link.detach()

JAX's arrays do not change, so that what a hub sends is in what `exchange`
returns; most often that is what was given to it. An offer is a copy on the
device, which arrives in host memory while the next iterations run; arrays may
be donated to the next update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ._link import Described, Link, Options
from .errors import StarswitchError
from .numpy import no_floats, vector_at

# jax's own types say nothing of these.
_barrier: Callable[[jax.Array], jax.Array] = jax.lax.optimization_barrier
FLOATING = ("float16", "bfloat16", "float32", "float64")


def _name(path: tuple[Any, ...]) -> str:
    """A leaf's place in its tree: layers.0.w"""
    words = []
    for key in path:
        for attribute in ("key", "name", "idx"):
            if hasattr(key, attribute):
                words.append(str(getattr(key, attribute)))
                break
        else:
            words.append(str(key))
    return ".".join(words) or "value"


def _is_ready(array: Any) -> bool:
    return bool(array.is_ready())


def _is_floating(leaf: Any) -> bool:
    return (
        isinstance(leaf, (jax.Array, np.ndarray))
        and leaf.dtype.name in FLOATING
        and leaf.size > 0
    )


def _form(leaf: Any) -> tuple[tuple[int, ...], Any] | None:
    """Shape and type of what is exchanged, the type as JAX has it: what begins as
    NumPy's float64 comes back from an update as float32."""
    if not _is_floating(leaf):
        return None
    return leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype)


@jax.jit
def _copies(leaves: list[jax.Array], rests: list[jax.Array | None]) -> list[jax.Array]:
    """Of each leaf's own memory, float32."""
    return [
        jnp.copy(one.astype(jnp.float32) if rest is None else one + rest).reshape(-1)
        for one, rest in zip(leaves, rests, strict=True)
    ]


@jax.jit
def _changed(
    leaves: list[jax.Array],
    rests: list[jax.Array | None],
    keeps: list[jax.Array],
    adds: list[jax.Array],
) -> tuple[list[jax.Array], list[jax.Array | None]]:
    """keep x + add, and what a leaf's precision cannot hold of it; what is not kept
    may be NaN."""
    values: list[jax.Array] = []
    left: list[jax.Array | None] = []
    for leaf, rest, keep, add in zip(leaves, rests, keeps, adds, strict=True):
        if rest is None:
            kept = jnp.where(keep == 0, 0, leaf * keep.astype(leaf.dtype))
            values.append(kept + add.astype(leaf.dtype))
            left.append(None)
            continue
        kept = (leaf.astype(jnp.float32) + rest) * keep
        exact = jnp.where(keep == 0, 0, kept) + add
        # A barrier: what is rounded must not be optimized away.
        value = _barrier(exact.astype(leaf.dtype))
        values.append(value)
        left.append(exact - value.astype(jnp.float32))
    return values, left


class JaxParameters:
    """The floating leaves of a pytree, in its order, as `exchange` was last given
    them. Changes are gathered in host memory while the C library makes them, and
    go to the device together (`apply`)."""

    def __init__(
        self, params: Any, replaced: Callable[[bool], None] | None = None
    ) -> None:
        self._replaced = replaced
        paths, tree = jax.tree_util.tree_flatten_with_path(params)
        self._tree: Any = tree
        self._all = [leaf for _, leaf in paths]
        self._names = [_name(path) for path, _ in paths]
        self._check_traced(self._all)
        self._ours = [i for i, leaf in enumerate(self._all) if _is_floating(leaf)]
        self._known = [_form(leaf) for leaf in self._all]
        if not self._ours:
            raise no_floats(dict(zip(self._names, self._all, strict=True)))
        self.described: Sequence[Described] = [
            Described(self._names[i], tuple(self._all[i].shape)) for i in self._ours
        ]
        self._first = [0]
        for each in self.described:
            self._first.append(self._first[-1] + each.elements)
        self._staging = np.zeros(self._first[-1], dtype=np.float32)
        self.staging: int = self._staging.ctypes.data
        self._rests: list[jax.Array | None] = [
            jnp.zeros(one.shape, jnp.float32)
            if self._all[i].dtype.itemsize == 2
            else None
            for i, one in zip(self._ours, self.described, strict=True)
        ]
        self._add: NDArray[np.float32] | None = None
        self._keep: NDArray[np.float32] | None = None
        self._touched: set[int] = set()
        self._losses: list[tuple[Any, int]] = []

    def _check_traced(self, leaves: list[Any]) -> None:
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            raise StarswitchError(
                "attach and exchange cannot be inside jit, grad, vmap or scan: call "
                "them in the training loop, on what the jitted update returned"
            )

    # ---- exchange's side ----

    def take(self, params: Any) -> None:
        """These are the parameters now."""
        leaves, tree = jax.tree_util.tree_flatten(params)
        self._check_traced(leaves)
        if tree != self._tree:
            raise StarswitchError(
                f"params has another structure than at attach: {tree} instead of "
                f"{self._tree}"
            )
        for name, leaf, known in zip(self._names, leaves, self._known, strict=True):
            form = _form(leaf)
            if form == known:
                continue
            if known is None:
                raise StarswitchError(
                    f"{name} was no array of floats at attach and is one now, which "
                    "the other nodes would not hear of: begin with jnp.asarray of it"
                )
            raise StarswitchError(
                f"{name} was {known} at attach and is {form or type(leaf)} now"
            )
        self._all = leaves

    @property
    def params(self) -> Any:
        return jax.tree_util.tree_unflatten(self._tree, self._all)

    @property
    def deleted(self) -> bool:
        """Whether an array was donated to some computation since."""
        return any(
            isinstance(self._all[i], jax.Array) and self._all[i].is_deleted()
            for i in self._ours
        )

    def apply(self) -> bool:
        """Makes the changes that were gathered; whether there were any."""
        if not self._touched:
            return False
        assert self._add is not None
        places = sorted(self._touched)
        self._touched.clear()
        leaves, rests, keeps, adds = [], [], [], []
        for place in places:
            a, b = self._first[place], self._first[place + 1]
            leaf = self._all[self._ours[place]]
            leaves.append(jnp.asarray(leaf))
            rests.append(self._rests[place])
            # Copies: what is gathered next overwrites these.
            adds.append(self._put(self._add[a:b].reshape(leaf.shape), leaf))
            keeps.append(
                jnp.ones((), jnp.float32)
                if self._keep is None
                else self._put(self._keep[a:b].reshape(leaf.shape), leaf)
            )
            self._add[a:b] = 0
        values, left = _changed(leaves, rests, keeps, adds)
        for place, value, rest in zip(places, values, left, strict=True):
            self._all[self._ours[place]] = value
            self._rests[place] = rest
        self._keep = None
        return True

    @staticmethod
    def _put(values: NDArray[np.float32], like: Any) -> jax.Array:
        sharding = getattr(like, "sharding", None)
        array = jnp.array(values, copy=True)
        return array if sharding is None else jax.device_put(array, sharding)

    # ---- Parameters ----

    def begin_copy(self) -> Callable[[], bool]:
        leaves = [jnp.asarray(self._all[i]) for i in self._ours]
        copies = _copies(leaves, self._rests)
        for one in copies:
            one.copy_to_host_async()
        if not self._touched:
            return partial(self._end_copy, copies)
        # C has counted what is gathered, and may gather more before these arrive.
        assert self._add is not None
        keep = None if self._keep is None else self._keep.copy()
        return partial(self._end_copy, copies, keep, self._add.copy())

    def _end_copy(
        self,
        copies: list[jax.Array],
        keep: NDArray[np.float32] | None = None,
        add: NDArray[np.float32] | None = None,
    ) -> bool:
        if not all(_is_ready(one) for one in copies):
            return False
        for one, a, b in zip(copies, self._first, self._first[1:], strict=False):
            self._staging[a:b] = np.asarray(one)
        if keep is not None:
            self._staging[keep == 0] = 0  # it may be NaN
            self._staging *= keep
        if add is not None:
            self._staging += add
        return True

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        if self._add is None:
            self._add = np.zeros(self._first[-1], dtype=np.float32)
        part = self._add[first : first + count]
        if keep != 1:
            if self._keep is None:
                self._keep = np.ones(self._first[-1], dtype=np.float32)
            self._keep[first : first + count] *= np.float32(keep)
            part *= np.float32(keep)
        part += np.float32(scale) * vector_at(values, count)
        begin = int(np.searchsorted(self._first, first, side="right")) - 1
        end = int(np.searchsorted(self._first, first + count - 1, side="right"))
        self._touched.update(range(begin, end))

    def replaced(self, reset: bool) -> None:
        if self._replaced is not None:
            self._replaced(reset)

    def read_loss(self, loss: Any, samples: int) -> None:
        if np.iscomplexobj(loss):
            raise TypeError(f"loss must be a real number, not {loss!r:.60}")
        if not isinstance(loss, jax.Array):
            loss = float(np.mean(np.asarray(loss, dtype=np.float32)))
        self._losses.append((loss, samples))

    def take_loss(self) -> float:
        """Of the iterations whose losses have been computed by now: on a device
        the newest may be on its way yet, and is told with the next ones."""
        total, weight = 0.0, 0
        waiting = []
        for loss, samples in self._losses:
            if isinstance(loss, jax.Array) and not _is_ready(loss):
                waiting.append((loss, samples))
                continue
            total += float(np.mean(np.asarray(loss, dtype=np.float32))) * samples
            weight += samples
        self._losses = waiting
        return total / weight if weight else float("nan")

    @contextmanager
    def swapped(self, values: int) -> Iterator[None]:
        vector = vector_at(values, self._first[-1])
        own = list(self._all)
        for i, a, b in zip(self._ours, self._first, self._first[1:], strict=False):
            piece = vector[a:b].reshape(own[i].shape).astype(own[i].dtype)
            sharding = getattr(own[i], "sharding", None)
            array = jnp.array(piece, copy=True)
            self._all[i] = (
                array if sharding is None else jax.device_put(array, sharding)
            )
        try:
            yield
        finally:
            self._all = own


class JaxLink(Link):
    """A link to a hub, made by `starswitch.jax.attach`."""

    _parameters: JaxParameters

    def exchange(
        self,
        params: Any,
        *,
        loss: Any = None,
        samples: int | None = None,
        accuracy: float | None = None,
    ) -> Any:
        """Ends an iteration: takes the parameters as the update left them, and
        returns those to go on with, a tree of the same structure, types and
        places. loss (mean of this iteration's samples; an array is not waited
        for), samples, accuracy: as of `report`.

            params = link.exchange(params, loss=loss, samples=len(x))

        StarswitchError: the tree is another than at attach, or this is traced.
        """
        self._parameters.take(params)
        self.report(loss=loss, samples=samples, accuracy=accuracy)
        self.step()
        return self._parameters.params if self._parameters.apply() else params

    @property
    def params(self) -> Any:
        """The parameters as the link holds them: what `exchange` last returned,
        and inside `with link.center():` those of the hub."""
        return self._parameters.params

    @contextmanager
    def center(self, *, all_ranks: bool = False) -> Iterator[Any]:
        """What the hub holds, as of the newest result, as a tree such as `params`:

        with link.center() as params:
            accuracy = evaluate(params, test)
        """
        with super().center(all_ranks=all_ranks):
            yield self.params

    def _offer_last(self, until: float) -> None:
        if not self._parameters.deleted:  # else they cannot be read any more
            super()._offer_last(until)


def attach(
    params: Any,
    *,
    replaced: Callable[[bool], None] | None = None,
    **options: Any,
) -> JaxLink:
    """Lets a pytree of parameters take part in a run; returns at once, hub or not.

    params: leaves of float16, bfloat16, float32 and float64 are exchanged, as
        float32, under the names of their places (layers.0.w); others pass
        through `exchange` untouched, and must not become such.
    replaced: called from `exchange` when all parameters were replaced by others;
        its argument says whether the optimizer's state should be made anew.
    options: hub, name, key and the others of `starswitch.attach`.

    StarswitchError: a leaf or an option cannot be right, or this is traced.
    """
    return JaxLink(JaxParameters(params, replaced), Options(**options))
