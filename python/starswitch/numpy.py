"""NumPy: arrays that a link moves in place.

import starswitch.numpy

arrays = {"w": w, "b": b}
link = starswitch.numpy.attach(arrays)      # hub, key, name: environment
for x, y in batches:
    w -= rate * gradient(x, y)              # in place, or arrays["w"] = ...
    link.report(loss=loss, samples=len(x))
    link.step()                             # ends the iteration
link.detach()
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from ctypes import c_float
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._link import Described, Link, Options
from .errors import StarswitchError, some

Array = NDArray[Any]
Arrays = Mapping[str, Array] | Sequence[Array]

LOW_PRECISION = ("float16", "bfloat16")
FLOATING = (*LOW_PRECISION, "float32", "float64")


def vector_at(address: int, count: int) -> NDArray[np.float32]:
    """So many float32 in C's memory, valid as long as that is."""
    return np.ctypeslib.as_array((c_float * count).from_address(address))


def no_floats(leaves: Mapping[Any, Any]) -> StarswitchError:
    """Of arrays by name, none of which holds numbers that could be exchanged."""
    kinds = [
        f"{name} is {'empty' if getattr(one, 'size', 1) == 0 else _kind(one)}"
        for name, one in leaves.items()
    ]
    return StarswitchError(
        f"there is no array of floats ({some(kinds)}): nothing would be exchanged; "
        'astype("float32") makes one'
    )


def _kind(one: Any) -> str:
    return str(getattr(one, "dtype", type(one).__name__))


class Losses:
    """The mean of losses by samples, of numbers that need no device."""

    def __init__(self) -> None:
        self._sum, self._weight = 0.0, 0

    def read_loss(self, loss: Any, samples: int) -> None:
        self._sum += float(loss) * samples
        self._weight += samples

    def take_loss(self) -> float:
        mean = self._sum / self._weight if self._weight else float("nan")
        self._sum, self._weight = 0.0, 0
        return mean


class NumpyParameters(Losses):
    """Floating arrays in the order in which they are given. The container is
    asked for its arrays at each use, so that an array in a dict may be replaced
    by another of its shape."""

    def __init__(
        self, arrays: Arrays, replaced: Callable[[bool], None] | None = None
    ) -> None:
        super().__init__()
        self._replaced = replaced
        self._arrays: Mapping[Any, Array] | Sequence[Array] = arrays
        named: list[tuple[Any, Array]] = (
            list(arrays.items())
            if isinstance(arrays, Mapping)
            else list(enumerate(arrays))
        )
        self._keys: list[Any] = []
        described: list[Described] = []
        seen: set[int] = set()
        for key, one in named:
            if not isinstance(one, np.ndarray):
                raise StarswitchError(
                    f"{key} is a {type(one).__name__}, not a NumPy array"
                )
            if one.dtype.name not in FLOATING or not one.size or id(one) in seen:
                continue
            if not one.flags.writeable:
                raise StarswitchError(f"{key} is read-only: results are added in place")
            seen.add(id(one))
            self._keys.append(key)
            described.append(Described(str(key), one.shape))
        if not described:
            raise no_floats(dict(named))
        self.described: Sequence[Described] = described
        self._first = [0]
        for each in described:
            self._first.append(self._first[-1] + each.elements)
        self._staging = np.zeros(self._first[-1], dtype=np.float32)
        self.staging: int = self._staging.ctypes.data
        self._rest: dict[int, NDArray[np.float32]] = {}

    def _array(self, i: int) -> Array:
        one = self._arrays[self._keys[i]]
        if one.shape != self.described[i].shape:
            raise StarswitchError(
                f"{self._keys[i]} had the shape {self.described[i].shape} when it was "
                f"attached and has {one.shape} now"
            )
        return one

    # ---- Parameters ----

    def begin_copy(self) -> Callable[[], bool]:
        for i, (a, b) in enumerate(zip(self._first, self._first[1:], strict=False)):
            part = self._staging[a:b]
            part[:] = self._array(i).reshape(-1)
            if i in self._rest:
                part += self._rest[i]
        return lambda: True

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        vector = vector_at(values, count)
        begin = bisect_right(self._first, first) - 1
        end = bisect_right(self._first, first + count - 1)
        for i in range(begin, end):
            a, b = self._first[i], self._first[i + 1]
            low, high = max(a, first), min(b, first + count)
            piece = vector[low - first : high - first]
            self._change_one(i, keep, scale, piece, low - a)

    def _change_one(
        self,
        i: int,
        keep: float,
        scale: float,
        piece: NDArray[np.float32],
        first: int,
    ) -> None:
        array = self._array(i)
        flat = array.reshape(-1)  # a view, or a copy of one that is not contiguous
        part = flat[first : first + len(piece)]
        if array.dtype.name in LOW_PRECISION:
            self._change_low(i, keep, scale, piece, first, part)
        else:
            if keep == 0:
                part[:] = 0  # it may be NaN
            elif keep != 1:
                part *= array.dtype.type(keep)
            part += array.dtype.type(scale) * piece
        if not np.shares_memory(flat, array):
            array[...] = flat.reshape(array.shape)

    def _change_low(
        self,
        i: int,
        keep: float,
        scale: float,
        piece: NDArray[np.float32],
        first: int,
        part: Array,
    ) -> None:
        """A parameter is array + rest: the array holds what its precision can,
        and the rest keeps small changes until they add up."""
        if i not in self._rest:
            self._rest[i] = np.zeros(self.described[i].elements, dtype=np.float32)
        rest = self._rest[i][first : first + len(piece)]
        value = np.float32(scale) * piece
        if keep != 0:  # else it may be NaN
            value += np.float32(keep) * (part.astype(np.float32) + rest)
        part[:] = value
        np.subtract(value, part.astype(np.float32), out=rest)

    def replaced(self, reset: bool) -> None:
        if self._replaced is not None:
            self._replaced(reset)

    @contextmanager
    def swapped(self, values: int) -> Iterator[None]:
        vector = vector_at(values, self._first[-1])
        own = [self._array(i).copy() for i in range(len(self._keys))]
        for i, (a, b) in enumerate(zip(self._first, self._first[1:], strict=False)):
            array = self._array(i)
            array[...] = vector[a:b].reshape(array.shape)
        try:
            yield
        finally:
            for i, saved in enumerate(own):
                self._array(i)[...] = saved


def attach(
    arrays: MutableMapping[str, Array] | Arrays,
    *,
    replaced: Callable[[bool], None] | None = None,
    **options: Any,
) -> Link:
    """Lets arrays take part in a run; returns at once, hub or not.

    arrays: by name, or a list, whose names are "0", "1" ... Those of float16,
        bfloat16, float32 and float64 are exchanged, as float32, and changed in
        place by `link.step()` and by nothing else; others stay as they are.
    replaced: called from `link.step()` when all parameters were replaced by
        others; its argument says whether to forget what an optimizer gathered.
    options: hub, name, key and the others of `starswitch.attach`.

        w, b = np.zeros((784, 10), np.float32), np.zeros(10, np.float32)
        link = starswitch.numpy.attach({"w": w, "b": b}, hub="192.168.1.10")

    StarswitchError: an array or an option cannot be right.
    """
    return Link(NumpyParameters(arrays, replaced), Options(**options))
