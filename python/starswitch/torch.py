"""PyTorch's parameters, as a link moves them."""

from __future__ import annotations

import atexit
import gc
import hashlib
import logging
import math
import os
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import POINTER, c_float, cast
from functools import partial, wraps
from itertools import accumulate, pairwise
from operator import attrgetter, eq
from time import perf_counter
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch

from . import _library as c
from ._device import HOST, Copy, Cpu, Device, Done, device_of
from ._link import GO, Described, Link, Options, in_pieces, why_idle
from ._plain import (
    FSDP,
    PLAIN,
    check_whole,
    form,
    is_drawn,
    is_usual,
    refusal,
    sample,
    why_not,
)
from ._programs import library
from .errors import StarswitchError, some

Models = torch.nn.Module | Mapping[str, torch.nn.Module]

logger = logging.getLogger("starswitch")

# What optimizers call parameters that they keep beside the model's: Schedule-Free's
# and Prodigy's, Lookahead's slow ones, copies of a higher precision.
OWN = ("z", "p0", "slow_buffer", "slow_param", "slow_params", "master_param")
STATISTICS = ("running_mean", "running_var")
HABIT = 2  # changes between steps that are part of how a script trains
WATCHED = 3  # tensors that tell whether somebody else has changed the parameters
SMALL = 32768  # elements; torch shares larger tensors out among its threads
FLOAT_BYTES = 4
FLOAT = frozenset({torch.float32})
WITH_LARGEST = FLOAT | {torch.float16, torch.bfloat16, torch.float64}
WITH_LARGEST |= {torch.complex64, torch.complex128}
SHAPE, DTYPE, ON_HOST = attrgetter("shape"), attrgetter("dtype"), attrgetter("is_cpu")
ADDRESS = torch.Tensor.data_ptr


def _held(holder: Any, name: str) -> Any:
    """What a module has by this name, or None; TorchScript's dictionaries know no
    get()."""
    return holder[name] if name in holder else None


def unwrap(model: Any) -> Any:
    """The model inside DDP, DataParallel, torch.compile."""
    while True:
        inner = _held(getattr(model, "_modules", {}), "_orig_mod")
        if inner is None and isinstance(
            model, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)
        ):
            inner = model.module
        if inner is None:
            return model
        model = inner


def unwrap_optimizer(optimizer: Any) -> Any:
    """The optimizer inside accelerate's, Lightning's or SDTL's, which have no hooks
    of their own."""
    while "_optimizer_step_post_hooks" not in getattr(optimizer, "__dict__", {}):
        inner = getattr(optimizer, "__dict__", {})
        optimizer = inner.get("optimizer") or inner.get("_optimizer")
        if optimizer is None:
            return None
    return optimizer


# Where a tensor is found: in a dictionary of its module, by name.
_Place = tuple[dict[str, Any], str]


class _Listing:
    """The tensors of some models: those that are exchanged, and those frozen."""

    def __init__(
        self, models: Mapping[str, torch.nn.Module], params: str, buffers: str
    ) -> None:
        self.places: list[_Place] = []
        self.described: list[Described] = []
        self.complex: list[int] = []
        self.frozen: list[tuple[str, _Place]] = []
        self.kept: list[str] = []  # asked for, and such as cannot be exchanged
        self.averaged: list[str] = []  # though by their names no statistics
        self.local: list[str] = []  # buffers that are not exchanged
        self.drawn: list[tuple[str, _Place]] = []  # of those, permutations
        # Who has the memory of another, and whose: the other is exchanged.
        self.shared: list[tuple[str, _Place, _Place]] = []
        self._lying: dict[int, int] = {}  # address: number
        self._all = params == "all"
        self._seen: set[int] = set()
        modules = [
            (path, module)
            for prefix, model in models.items()
            for path, module in model.named_modules(prefix=prefix)
        ]
        # What grows where modules or parameters are added.
        self.holders: list[Any] = [module._modules for _, module in modules]
        self.holders += [module._parameters for _, module in modules]
        for path, module in modules:
            _check_sharding(path, module)
            if module._parameters:
                self._add_parameters(path, module._parameters)
        counters: list[tuple[str, _Place, torch.Tensor]] = []
        for path, module in modules if buffers == "average" else ():
            for name, one in module._buffers.items():
                if name not in module._non_persistent_buffers_set:
                    self._add_buffer(path, module, name, one, counters)
                elif self._is_new(one):
                    self._keep_buffer(path, module, name, one)
        for full, place, counter in counters:
            self._add(full, place, counter, c.star_kind.STAR_LARGEST)
        self._check_apart()

    def _shares(self, full: str, place: _Place, one: torch.Tensor) -> bool:
        """Whether it is another's memory, as a Parameter made of a Parameter is,
        to which all that comes would be added twice."""
        at = one.data_ptr() if type(one) in PLAIN else 0
        i = self._lying.setdefault(at, len(self.places)) if at else -1
        if i in (-1, len(self.places)):
            return False
        holder, name = self.places[i]
        if _layout(holder[name]) == _layout(one):
            self.shared.append((full, place, self.places[i]))
            return True
        if _is_dense(holder[name]) and _is_dense(one):
            raise _overlap(full, self.described[i].name)
        return False

    def _check_apart(self) -> None:
        """StarswitchError: two of them have a part of their memory in common."""
        for (at, i), (following, j) in pairwise(sorted(self._lying.items())):
            holder, name = self.places[i]
            one = holder[name]
            if following >= at + one.nbytes:
                continue
            holder, name = self.places[j]
            other = holder[name]
            if one.device == other.device and _is_dense(one) and _is_dense(other):
                raise _overlap(self.described[j].name, self.described[i].name)

    def _is_new(self, one: torch.Tensor | None) -> bool:
        """Whether it is to be looked at: tied tensors once, empty ones never."""
        if one is None or id(one) in self._seen:
            return False
        self._seen.add(id(one))
        return True

    def _add_parameters(self, path: str, holder: dict[str, Any]) -> None:
        """Of a module; there may be thousands."""
        seen, path = self._seen, f"{path}." if path else ""
        places, described = self.places, self.described
        for name, one in holder.items():
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            full = path + name
            floats = one.is_floating_point()
            if not is_usual(one) or name.endswith(FSDP):
                check_whole(full, one)
                why = why_not(one)
                if why and one.requires_grad:
                    raise refusal(full, one, why)
                if why:
                    if self._all and (floats or one.is_complex()):
                        self.kept.append(f"{full} ({why})")
                    self.frozen.append((full, (holder, name)))
                    continue
            shape = tuple(one.shape)
            if 0 in shape:
                continue
            if (floats or one.is_complex()) and (self._all or one.requires_grad):
                if self._shares(full, (holder, name), one):
                    continue
                if not floats:
                    self.complex.append(len(places))
                    shape = (*shape, 2)
                places.append((holder, name))
                described.append(Described(full, shape))
            else:
                self.frozen.append((full, (holder, name)))

    def _add_buffer(
        self,
        path: str,
        module: torch.nn.Module,
        name: str,
        one: Any,
        counters: list[tuple[str, _Place, torch.Tensor]],
    ) -> None:
        """Counters come last, so that those of a kind are in a row."""
        if not self._is_new(one) or not one.numel():
            return
        full = f"{path}.{name}" if path else name
        counts, floats = name == "num_batches_tracked", one.is_floating_point()
        why = ""
        if not is_usual(one):
            check_whole(full, one)
            why = why_not(one)
            if floats and one.dtype.itemsize == 1:  # quantised, and no statistics
                why = why or f"of {one.dtype}"
        place = (module._buffers, name)
        if why and (counts or floats):
            self.kept.append(f"{full} ({why})")
        elif counts:
            counters.append((full, place, one))
        # Some masks are -inf, which is no value to average.
        elif floats and bool(one.isfinite().all()):
            if name not in STATISTICS:
                self.averaged.append(full)
            self._add(full, place, one, c.star_kind.STAR_AVERAGED)
        else:
            self._keep_buffer(path, module, name, one)

    def _keep_buffer(
        self, path: str, module: torch.nn.Module, name: str, one: torch.Tensor
    ) -> None:
        """Which stays on its node: drawn there, each has another."""
        if type(one) not in PLAIN:
            return
        full = f"{path}.{name}" if path else name
        if is_drawn(one):
            self.drawn.append((full, (module._buffers, name)))
        elif one.numel() > 1:
            self.local.append(full)

    def _add(self, full: str, place: _Place, one: torch.Tensor, kind: int) -> None:
        if self._shares(full, place, one):
            return
        shape = tuple(one.shape)
        if one.is_complex():
            self.complex.append(len(self.places))
            shape = (*shape, 2)
        self.places.append(place)
        self.described.append(Described(full, shape, kind))


def _layout(one: torch.Tensor) -> tuple[Any, ...]:
    return one.device, one.dtype, one.shape, one.stride()


def _is_dense(one: torch.Tensor) -> bool:
    """Whether it has no gaps, in which others may lie, as columns of one matrix."""
    steps = zip(one.shape, one.stride(), strict=True)
    return 1 + sum((n - 1) * step for n, step in steps) == one.numel()


def _overlap(name: str, other: str) -> StarswitchError:
    return StarswitchError(
        f"{name} has a part of its memory in common with {other}, to which all that "
        "comes would be added twice: give it memory of its own (clone())"
    )


def _check_sharding(path: str, module: Any) -> None:
    """StarswitchError: FSDP has cut its parameters up, though they look whole."""
    if type(module).__name__ != "FullyShardedDataParallel":
        return
    if module.sharding_strategy.name != "NO_SHARD":
        raise StarswitchError(
            f"{path or 'the model'} is sharded by FSDP, so that each process holds a "
            "part of it: use DistributedDataParallel within a PC"
        )


class TorchParameters:
    """Tensors of a model in the order of its modules: parameters, then floating
    buffers, then counters of batches. The list is made once; values, places and
    devices of the tensors may change at any time, so that each use asks the module
    for its tensor."""

    def __init__(
        self,
        models: Mapping[str, torch.nn.Module],
        optimizer: torch.optim.Optimizer | None,
        params: str,
        buffers: str,
        device: Device | None = None,
    ) -> None:
        listing = _Listing(models, params, buffers)
        if not listing.described:
            raise StarswitchError(
                f"{_nothing_trains(models)}: nothing would be exchanged; attach once "
                "what is to be trained is in the model and requires gradients"
            )
        self._optimizer = optimizer
        self._places = listing.places
        self._complex = listing.complex
        self._frozen = listing.frozen
        self._drawn = listing.drawn
        self.averaged: Sequence[str] = listing.averaged
        self.local: Sequence[str] = listing.local
        self._shared = listing.shared
        self.kept: Sequence[str] = listing.kept
        self._groups = _group_sizes(optimizer)
        self._models = models
        self._holders = listing.holders
        self._size = sum(map(len, self._holders))
        self.described: Sequence[Described] = listing.described
        self._shapes = [one.shape for one in listing.described]
        self._lengths = array("Q", map(math.prod, self._shapes))
        self._first = [0, *accumulate(self._lengths)]
        with torch.no_grad():
            self._device = device or device_of(self._tensors())
            self._staging = self._device.host(self._first[-1])
            self.staging = self._staging.data_ptr()
        self._residual: dict[int, torch.Tensor] = {}
        # On the CPU a tensor's value is there, and to ask for it is what takes least.
        self._at_once = isinstance(self._device, Cpu)
        self._loss_known = 0.0  # the sum of losses, each by its samples
        self._loss_known_weight = 0
        self._loss_sum: torch.Tensor | None = None
        self._loss_weight = 0
        self._loss_here = self._device.host(1)
        self._loss_copy: Copy | None = None
        self._copy: Copy = Done()
        self._infinite: torch.Tensor | None = None
        trained = [
            (holder, name)
            for holder, name in self._places
            if holder[name].requires_grad
        ]
        self._watched = trained[:: max(1, len(trained) // WATCHED)][:WATCHED]
        # What they were when the last step ended; none: there was no step yet, or
        # one is under way.
        self._stamps: list[tuple[int, int]] = []
        self._moves_between = 0  # how often they changed between two steps

    @property
    def elements(self) -> int:
        """Of the flat vector."""
        return self._first[-1]

    def first(self) -> Any:
        """A tensor that tells one model from another."""
        return _held(*self._places[0])

    def _tensors(self, begin: int = 0, end: int | None = None) -> list[torch.Tensor]:
        """As they are now, complex ones as pairs; for use without gradients."""
        places = self._places if (begin, end) == (0, None) else self._places[begin:end]
        try:
            tensors: list[Any] = [holder[name] for holder, name in places]
        except KeyError:
            raise self._changed_shape() from None
        for i in self._complex:
            if 0 <= i - begin < len(tensors) and tensors[i - begin] is not None:
                tensors[i - begin] = torch.view_as_real(tensors[i - begin])
        return tensors

    def _changed_shape(self) -> StarswitchError:
        """Names the first tensor that is not what it was at attach."""
        for one, (holder, name) in zip(self.described, self._places, strict=True):
            tensor = _held(holder, name)
            if tensor is None:
                return StarswitchError(
                    f"{one.name} is gone from the model since attach: attach again"
                )
            shape = (*tensor.shape, 2) if tensor.is_complex() else tuple(tensor.shape)
            if shape != one.shape:
                return StarswitchError(
                    f"{one.name} has the shape {shape} now and had {one.shape} at "
                    "attach: attach again, on all nodes"
                )
        return StarswitchError("the model has changed since attach: attach again")

    def _check_trained(self) -> None:
        """What is trained by now and was not at attach would stay on this node."""
        for full, (holder, name), (theirs, other) in self._shared:
            one, first = _held(holder, name), _held(theirs, other)
            if one is None or first is None:
                continue
            if one.data_ptr() != first.data_ptr():
                raise StarswitchError(
                    f"{full} had the memory of another tensor at attach and has its "
                    "own now, as .to() gives it: attach again on all nodes, behind it"
                )
        for full, (holder, name) in self._frozen:
            one = _held(holder, name)
            if one is not None and one.requires_grad:
                raise StarswitchError(
                    f"{full} was frozen at attach and is trained now, which the "
                    "other nodes would not hear of: attach again on all nodes, or "
                    'attach with params="all" from the beginning'
                )
        if _group_sizes(self._optimizer) != self._groups:
            self._check_groups()
        size = sum(map(len, self._holders))
        if size != self._size:
            self._size = size
            self._tell_new()

    def _known(self) -> set[int]:
        """What is exchanged, or the same as that."""
        shared = [place for _, place, _ in self._shared]
        return {id(_held(*place)) for place in [*self._places, *shared]}

    def _check_groups(self) -> None:
        before, self._groups = self._groups, _group_sizes(self._optimizer)
        known = self._known()
        assert self._optimizer is not None
        groups = self._optimizer.param_groups
        before += [0] * (len(groups) - len(before))
        for group, had in zip(groups, before, strict=False):
            for one in group["params"][had:]:
                if id(one) not in known:
                    raise StarswitchError(
                        f"the optimizer was given a parameter of shape "
                        f"{tuple(one.shape)} that the model did not have at "
                        "attach: attach again on all nodes"
                    )

    def _tell_new(self) -> None:
        """Whoever trains it may have a use for it on this node alone."""
        known = self._known()
        known.update(id(_held(*place)) for _, place in self._frozen)
        new = [
            name
            for prefix, model in self._models.items()
            for name, one in model.named_parameters(prefix=prefix)
            if one.requires_grad and id(one) not in known
        ]
        if new:
            logger.warning(
                "not in the model at attach, and so not exchanged: %s; attach again "
                "on all nodes",
                some(new),
            )

    def _check_shapes(self, tensors: list[Any], begin: int) -> None:
        """Of tensors from `begin` on."""
        try:
            # One at a time: thousands of tuples would set the collector off.
            shapes = self._shapes[begin : begin + len(tensors)]
            if not all(map(eq, map(SHAPE, tensors), shapes)):
                raise self._changed_shape()
        except AttributeError:  # there is none any more
            raise self._changed_shape() from None

    # ---- Parameters ----

    def _plain(self, tensors: list[Any], begin: int = 0) -> tuple[Any, list[int]]:
        """Of tensors from `begin` on: the addresses of those that C may read and
        write as they are, for as long as `tensors` is held and the script does
        not go on, 0 for the others; and which the others are. StarswitchError:
        the shape of one has changed."""
        self._check_shapes(tensors, begin)
        if not self._at_once:
            return None, list(range(begin, begin + len(tensors)))
        longest = max(self._lengths[begin : begin + len(tensors)])
        if longest <= SMALL and _all_plain(tensors):
            return array("L", map(ADDRESS, tensors)), []
        others = [
            i
            for i, one in enumerate(tensors, begin)
            if self._lengths[i] > SMALL or not _all_plain([one])
        ]
        known = set(others)
        addresses = array(
            "L",
            [
                0 if i in known else one.data_ptr()
                for i, one in enumerate(tensors, begin)
            ],
        )
        return (addresses if len(others) < len(tensors) else None), others

    def _views(self, flat: torch.Tensor, which: Sequence[int]) -> list[torch.Tensor]:
        """A flat vector's parts that are these tensors', in their shapes."""
        parts = torch.split(flat, self._lengths.tolist())
        return [parts[i].view(self._shapes[i]) for i in which]

    @torch.no_grad()
    def pieces(self) -> tuple[Any, Any] | None:
        """Addresses and lengths, for as long as the script does not go on; None:
        not all are what C reads, or they have a rest."""
        if not self._at_once or self._residual:
            return None
        self._check_trained()
        tensors = self._tensors()
        self._check_shapes(tensors, 0)
        if not _all_plain(tensors):
            return None
        return array("L", map(ADDRESS, tensors)), self._lengths

    @torch.no_grad()
    def begin_copy(self) -> Callable[[], bool]:
        self._check_trained()
        tensors = self._tensors()
        for i in list(self._residual):
            rest = self._rest(i, tensors[i])
            if rest is not None:
                tensors[i] = tensors[i].float() + rest
        addresses, others = self._plain(tensors)
        if addresses:
            _gather(addresses, self._lengths, self.staging)
        try:
            self._copy = Done()
            if others:
                targets = self._views(self._staging, others)
                self._copy = self._device.fetch(targets, [tensors[i] for i in others])
        except (RuntimeError, AttributeError, TypeError) as error:
            raise self._changed_shape() from error
        return self._copy.complete

    def before_change(self) -> None:
        """The parameters are about to change: a copy that is under way is of
        what they were."""
        self._copy.protect()

    def _stamps_now(self) -> list[tuple[int, int]]:
        """What changes when somebody writes to the tensors that are watched, or
        puts others in their places."""
        tensors = [_held(holder, name) for holder, name in self._watched]
        return [(id(one), one._version) for one in tensors if one is not None]

    def begin_step(self) -> None:
        """The optimizer is about to change the parameters."""
        self.before_change()
        self._moves_between += self._is_moved()
        self._stamps = []

    def end_step(self) -> None:
        self._stamps = self._stamps_now()

    def _is_moved(self) -> bool:
        return bool(self._stamps) and self._stamps != self._stamps_now()

    def is_changed_outside(self) -> bool:
        """Whether the parameters are no longer what the last step left. Scripts that
        change them between steps again and again, as to clamp them, train so."""
        return self._moves_between < HABIT and self._is_moved()

    @contextmanager
    def _unnoticed(self) -> Iterator[None]:
        """What is changed inside is what a link changes."""
        same = bool(self._stamps) and not self._is_moved()
        try:
            yield
        finally:
            if same:
                self.end_step()

    def _range(self, first: int, count: int) -> tuple[int, int]:
        """The tensors that elements [first, first + count) are of."""
        begin = bisect_right(self._first, first) - 1
        return begin, bisect_right(self._first, first + count - 1)

    def _pieces(
        self,
        values: int,
        first: int,
        count: int,
        tensors: Sequence[torch.Tensor],
        which: Sequence[int],
    ) -> Iterator[tuple[int, torch.Tensor, torch.Tensor, int]]:
        """Of elements [first, first + count), which begin in tensors[0], and of
        `which` tensors: number, the tensor, what there is for it on its device,
        and from which of its elements on."""
        begin = self._range(first, count)[0]
        vector = torch.frombuffer(
            (c_float * count).from_address(values), dtype=torch.float32
        )
        lengths = self._cut(first, count)[0].tolist()
        parts: dict[torch.device, Sequence[torch.Tensor]] = {}
        for i in which:
            tensor = tensors[i - begin]
            if tensor.device not in parts:
                moved = self._device.send(vector, tensor.device)
                parts[tensor.device] = torch.split(moved, lengths)
            at = max(0, first - self._first[i])
            yield i, tensor, parts[tensor.device][i - begin], at

    def _cut(self, first: int, count: int) -> tuple[Any, int]:
        """How much of each of its tensors elements [first, first + count) are,
        and how much of the first of them is before."""
        begin, end = self._range(first, count)
        lengths = self._lengths[begin:end]
        before = first - self._first[begin]
        lengths[0] -= before
        lengths[-1] -= self._first[end] - (first + count)
        return lengths, before

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        with torch.no_grad(), self._unnoticed():
            self._change(keep, scale, values, first, count)

    def _change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        self.before_change()
        begin, end = self._range(first, count)
        tensors = self._tensors(begin, end)
        addresses, others = self._plain(tensors, begin)
        if addresses:
            lengths, before = self._cut(first, count)
            if addresses[0]:
                addresses[0] += FLOAT_BYTES * before
            _scatter(keep, scale, values, addresses, lengths)
            torch.autograd.graph.increment_version(
                tensors
                if not others
                else [one for one, at in zip(tensors, addresses, strict=True) if at]
            )
        whole: list[torch.Tensor] = []
        pieces: list[torch.Tensor] = []
        for i, tensor, piece, at in (
            self._pieces(values, first, count, tensors, others) if others else ()
        ):
            if not tensor.is_floating_point() or tensor.dtype.itemsize < FLOAT_BYTES:
                self._change_low(i, tensor, keep, scale, piece, at)
            elif piece.numel() == tensor.numel():
                whole.append(tensor)
                pieces.append(piece.view(tensor.shape))
            else:
                _change_part(tensor, keep, scale, piece, at)
        if whole:
            _move(whole, keep, scale, pieces)
        keys = self._own_keys()
        if keys:
            which = range(begin, end)
            for i, _, piece, at in self._pieces(values, first, count, tensors, which):
                for one in self._own(i, keys):
                    part = piece.to(one.device, one.dtype)
                    _change_part(one, keep, scale, part, at)

    def _own_keys(self) -> list[str]:
        """What of the optimizer's state is to move with the parameters: else it would
        draw them back to where they were, step by step."""
        states = () if self._optimizer is None else self._optimizer.state.values()
        state = next(iter(states), None)
        return [key for key in OWN if isinstance(state, Mapping) and key in state]

    def _own(self, i: int, keys: Sequence[str]) -> Iterator[torch.Tensor]:
        """Those of one tensor, as large as it."""
        assert self._optimizer is not None
        holder, name = self._places[i]
        state = self._optimizer.state.get(holder[name], {})
        for one in map(state.get, keys):
            if isinstance(one, torch.Tensor) and one.shape == holder[name].shape:
                yield torch.view_as_real(one) if one.is_complex() else one

    @torch.no_grad()
    def raise_to(self, values: int, first: int, count: int) -> None:
        self.before_change()
        begin, end = self._range(first, count)
        tensors = self._tensors(begin, end)
        self._plain(tensors, begin)
        which = range(begin, end)
        for _, tensor, piece, at in self._pieces(values, first, count, tensors, which):
            flat = tensor.contiguous().view(-1)
            part = flat[at : at + piece.numel()]
            torch.maximum(part, piece.to(tensor.dtype), out=part)
            if not tensor.is_contiguous():
                tensor.copy_(flat.view(tensor.shape))

    def _rest(self, i: int, tensor: torch.Tensor) -> torch.Tensor | None:
        """What a tensor of low precision is more than it can hold, float32."""
        rest = self._residual.get(i)
        if rest is None:
            return None
        if tensor.is_floating_point() and tensor.dtype.itemsize >= 4:
            del self._residual[i]
            return None
        if rest.device != tensor.device:
            rest = self._residual[i] = rest.to(tensor.device)
        return rest

    def _change_low(
        self,
        i: int,
        tensor: torch.Tensor,
        keep: float,
        scale: float,
        piece: torch.Tensor,
        first: int,
    ) -> None:
        """The parameter is tensor + rest, of which it holds what its precision
        can; the rest keeps small changes until they add up."""
        rest = self._rest(i, tensor)
        value = tensor.float().contiguous().view(-1)
        if rest is None:
            rest = self._residual[i] = torch.zeros(
                tensor.shape, dtype=torch.float32, device=tensor.device
            )
        else:
            value = value + rest.view(-1)
        _move([value[first : first + piece.numel()]], keep, scale, [piece])
        value = value.view(tensor.shape)
        tensor.copy_(value if tensor.is_floating_point() else value.round())
        torch.sub(value, tensor.float(), out=rest)

    def replaced(self, reset: bool) -> None:
        if reset and self._optimizer is not None:
            _forget_state(self._optimizer)

    def read_loss(self, loss: Any, samples: int) -> None:
        if not isinstance(loss, torch.Tensor):
            value = float(loss)
            if not self._at_once:
                one = torch.tensor(value, dtype=torch.float32, device=HOST)
                self._read_later(one, samples)
                return
        elif self._at_once and loss.device.type == "cpu" and loss.numel() == 1:
            value = loss.item()
            if isinstance(value, complex):
                raise _no_loss(loss)
        else:
            self._read_later(loss, samples)
            return
        self._loss_known += value * samples
        self._loss_known_weight += samples

    @torch.no_grad()
    def _read_later(self, loss: torch.Tensor, samples: int) -> None:
        if loss.is_complex() or loss.is_meta:
            raise _no_loss(loss)
        value = loss.detach().float().mean() * samples
        self._loss_sum = value if self._loss_sum is None else self._loss_sum + value
        self._loss_weight += samples

    def take_loss(self) -> float:
        """On a GPU, that of an iteration before this one."""
        if self._loss_known_weight:
            mean = self._loss_known / self._loss_known_weight
            self._loss_known, self._loss_known_weight = 0.0, 0
            return mean
        if self._loss_sum is None and self._loss_copy is None:
            return math.nan
        return self._take_later()

    @torch.no_grad()
    def _take_later(self) -> float:
        if self._loss_sum is not None and self._loss_copy is None:
            mean = (self._loss_sum / self._loss_weight).reshape(1)
            self._loss_copy = self._device.fetch([self._loss_here], [mean])
        self._loss_sum, self._loss_weight = None, 0
        if self._loss_copy is None or not self._loss_copy.complete():
            return math.nan
        self._loss_copy = None
        return c_float.from_address(self._loss_here.data_ptr()).value

    @contextmanager
    def swapped(self, values: int) -> Iterator[None]:
        with self._unnoticed():
            with torch.no_grad():
                own = self._save(values)
            try:
                yield
            finally:
                with torch.no_grad():
                    self._restore(*own)

    def _save(self, values: int) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
        """Writes a flat vector to the tensors. What they were: those that C reads
        in a flat vector, the others by their numbers."""
        self.before_change()
        tensors = self._tensors()
        addresses, others = self._plain(tensors)
        flat = torch.empty(self._first[-1], dtype=torch.float32, device=HOST)
        kept = {i: tensors[i].detach().clone() for i in others}
        if addresses:
            _gather(addresses, self._lengths, flat.data_ptr())
        vector = torch.frombuffer(
            (c_float * self._first[-1]).from_address(values), dtype=torch.float32
        )
        self._write(vector, tensors, addresses, others)
        return flat, kept

    def _write(
        self,
        flat: torch.Tensor,
        tensors: list[torch.Tensor],
        addresses: Any,
        others: Sequence[int],
    ) -> None:
        if addresses:
            _scatter(0, 1, flat.data_ptr(), addresses, self._lengths)
        for i, view in zip(others, self._views(flat, others), strict=True):
            tensors[i].copy_(view)

    def _restore(self, flat: torch.Tensor, kept: dict[int, torch.Tensor]) -> None:
        tensors = self._tensors()
        self._write(flat, tensors, *self._plain(tensors))
        for i, one in kept.items():
            tensors[i].copy_(one)

    # ---- beyond the protocol ----

    @torch.no_grad()
    def fingerprint(self) -> str:
        """What nodes must share though it is not exchanged: names, shapes and a
        sample of the values of the frozen part and of permutations."""
        if not self._frozen and not self._drawn:
            return ""
        digest = hashlib.blake2b(digest_size=8)
        for full, (holder, name) in self._frozen:
            one = holder[name]
            digest.update(f"{full} {form(one)}\n".encode())
            digest.update(sample(one))
        for full, (holder, name) in self._drawn:
            one = holder[name]
            digest.update(f"{full} {form(one)}\n".encode())
            digest.update(sample(one.double()))
        return digest.hexdigest()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """By name, what tensors of low precision are more than they can hold."""
        return {
            self.described[i].name: rest.clone() for i, rest in self._residual.items()
        }

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        index = {one.name: i for i, one in enumerate(self.described)}
        for name, rest in state.items():
            if name not in index or rest.shape != self._shapes[index[name]]:
                raise ValueError(f"the link's state is of another model: {name}")
        self._residual = {
            index[name]: rest.detach().clone().float() for name, rest in state.items()
        }

    @torch.no_grad()
    def is_no_step(self, optimizer: Any) -> bool:
        """Whether a fused optimizer was told of an infinity by a gradient scaler,
        so that its step has changed nothing. A GPU is not waited for: there it
        counts as a step, and late_skips counts it."""
        found = getattr(optimizer, "found_inf", None)
        if not isinstance(found, torch.Tensor):
            return bool(found)
        if found.device.type == "cpu":
            return bool(found.item())
        if self._infinite is None:
            self._infinite = torch.zeros((), dtype=torch.float32, device=found.device)
        self._infinite.add_(found.reshape(()).sign())
        return False

    def is_spoilt(self) -> bool:
        """Whether the optimizer's state holds NaN or infinity, of which the first
        step would make any parameters the same: its plain tensors, by their largest
        elements, which a GPU is asked for once."""
        if self._optimizer is None:
            return False
        largest: dict[torch.device, list[torch.Tensor]] = {}
        for value in _leaves(self._optimizer.state):
            if _has_largest(value):
                one = torch.linalg.vector_norm(value, torch.inf)
                largest.setdefault(one.device, []).append(one.float())
        return not all(
            bool(torch.stack(list_).isfinite().all()) for list_ in largest.values()
        )

    def late_skips(self) -> int:
        return 0 if self._infinite is None else int(self._infinite.item())

    def take_over(self, group: Any) -> None:
        """All ranks of a process group hold what the first of them holds."""
        import torch.distributed as dist

        with torch.no_grad(), self._unnoticed():
            tensors = self._tensors()
            dist._broadcast_coalesced(group, tensors, 1 << 26, 0)  # type: ignore[attr-defined]


def _no_loss(loss: torch.Tensor) -> Exception:
    if loss.is_meta:
        return ValueError("loss is a tensor on the meta device, which has no value")
    return TypeError(f"loss must be a real number, not a tensor of {loss.dtype}")


def _nothing_trains(models: Mapping[str, torch.nn.Module]) -> str:
    frozen = sum(1 for model in models.values() for _ in model.parameters())
    if frozen:
        return f"all {frozen} parameters of the model are frozen"
    return "the model has no parameters"


def _group_sizes(optimizer: torch.optim.Optimizer | None) -> list[int]:
    """Parameters in each group of an optimizer."""
    return (
        [] if optimizer is None else [len(g["params"]) for g in optimizer.param_groups]
    )


def _leaves(value: Any) -> Iterator[Any]:
    """What an optimizer keeps, in mappings and lists however deep: L-BFGS has lists
    of directions, Shampoo a mapping for each block."""
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple):
        yield value
        return
    for one in value:
        yield from _leaves(one)


def _has_largest(value: Any) -> bool:
    """Whether this is a tensor that torch finds the largest element of: subclasses,
    as of quantised states, do not say what they can."""
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout == torch.strided
        and value.dtype in WITH_LARGEST
        and not value.is_meta
        and value.numel() > 0
    )


def _forget_state(optimizer: torch.optim.Optimizer) -> None:
    """As it was made. Adagrad of older versions of torch makes its state then, and
    never again; others a parameter's at its first step."""
    if not isinstance(optimizer, torch.optim.Adagrad):
        optimizer.state.clear()
        return
    for group in optimizer.param_groups:
        first = group["initial_accumulator_value"]
        for one in filter(optimizer.state.get, group["params"]):
            state = optimizer.state[one]
            state["step"].zero_()
            state["sum"].fill_(complex(first, first) if one.is_complex() else first)


def _all_plain(tensors: Sequence[Any]) -> bool:
    """Whether these are what C reads and writes: float32 in the host's memory,
    row-major and without gaps."""
    return (
        PLAIN.issuperset(map(type, tensors))
        and FLOAT.issuperset(map(DTYPE, tensors))
        and all(map(ON_HOST, tensors))
        and all(map(torch.Tensor.is_contiguous, tensors))
    )


def _gather(addresses: Any, lengths: Any, to: int) -> None:
    library().star_gather(*in_pieces(addresses, lengths), cast(to, POINTER(c_float)))


def _scatter(
    keep: float, scale: float, values: int, addresses: Any, lengths: Any
) -> None:
    vector = cast(values, POINTER(c_float))
    library().star_scatter(keep, scale, vector, *in_pieces(addresses, lengths))


def _move(
    tensors: list[torch.Tensor], keep: float, scale: float, values: list[torch.Tensor]
) -> None:
    """x = keep x + scale v for each; what is not kept may be NaN."""
    if keep == 0:
        torch._foreach_copy_(tensors, values)
        if scale != 1:
            torch._foreach_mul_(tensors, scale)
        return
    if keep != 1:
        torch._foreach_mul_(tensors, keep)
    torch._foreach_add_(tensors, values, alpha=scale)


def _change_part(
    tensor: torch.Tensor, keep: float, scale: float, piece: torch.Tensor, first: int
) -> None:
    contiguous = tensor.is_contiguous()
    flat = (tensor if contiguous else tensor.contiguous()).view(-1)
    _move([flat[first : first + piece.numel()]], keep, scale, [piece])
    if not contiguous:
        tensor.copy_(flat.view(tensor.shape))


# ---- processes of one model ----


_groups: WeakSet[_Group] = WeakSet()


@atexit.register
def _let_groups_go() -> None:
    """gloo's threads must end before the interpreter does, or they end it with
    SIGABRT; they do when nobody has the process group any more."""
    for one in list(_groups):
        one._group = one._flags = None


class _Group:
    """The ranks that train one model together, as Link's Ranks."""

    def __init__(self, parameters: TorchParameters, group: Any) -> None:
        import torch.distributed as dist

        self._parameters = parameters
        self._group = group
        _groups.add(self)
        self.size: int = dist.get_world_size(group)
        self._first: int = dist.get_process_group_ranks(group)[0]
        self._flag = torch.zeros(1, dtype=torch.int64, device=HOST)
        # A flag on a GPU would have to be waited for.
        self._flags = group
        if "gloo" not in dist.get_backend(group):
            self._flags = dist.new_group(
                dist.get_process_group_ranks(group),
                backend="gloo",
                use_local_synchronization=True,
            )

    def share(self, verdict: int) -> int:
        import torch.distributed as dist

        self._flag.fill_(verdict)
        dist.broadcast(self._flag, self._first, group=self._flags)
        verdict = int(self._flag)
        if verdict != GO:
            self._parameters.take_over(self._group)
        return verdict

    def spread(self, values: Any | None) -> Any | None:
        import torch.distributed as dist

        self._flag.fill_(values is not None)
        dist.broadcast(self._flag, self._first, group=self._flags)
        if not self._flag:
            return None
        elements = self._parameters.elements
        if values is None:
            values = (c_float * elements)()
        vector = torch.frombuffer(values, dtype=torch.float32)[:elements]
        dist.broadcast(vector, self._first, group=self._flags)
        return values


def _ddp_group(model: Any) -> Any:
    """The process group of the DDP that a model is wrapped in, or None."""
    while model is not None:
        if isinstance(model, torch.nn.parallel.DistributedDataParallel):
            return model.process_group
        model = _held(getattr(model, "_modules", {}), "_orig_mod")
    return None


def _local_group(rank: int, size: int) -> Any:
    """The process group of this PC's ranks; None: there is none."""
    import torch.distributed as dist

    if not (dist.is_available() and dist.is_initialized()):
        if rank:
            logger.warning(
                "LOCAL_RANK is %d and there is no process group: this process "
                "trains alone; local rank 0 takes part",
                rank,
            )
        return None
    if dist.get_world_size() == 1:
        return None
    if size == dist.get_world_size():
        return dist.group.WORLD
    first = dist.get_rank() - rank
    return dist.new_group(
        list(range(first, first + size)), use_local_synchronization=True
    )


def _ranks(models: Sequence[Any], parameters: TorchParameters) -> tuple[int, Any]:
    """This process's rank among those that train the model with it, and what
    finds Link's Ranks at the first step; (0, None): it is the only one."""
    for model in models:
        group = _ddp_group(model)
        if group is not None:
            if group.size() == 1:
                return 0, None
            return group.rank(), partial(_Group, parameters, group)
    rank = int(os.environ.get("LOCAL_RANK") or 0)
    size = int(os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE") or 1)
    if rank == 0 and size <= 1:
        return 0, None

    def find() -> _Group | None:
        group = _local_group(rank, size)
        return None if group is None else _Group(parameters, group)

    return rank, find


# ---- the clock ----

_clocks: WeakKeyDictionary[Any, Link] = WeakKeyDictionary()


def _watch_scaler() -> None:
    """A gradient scaler that finds an infinity does not call the optimizer's
    step, and no hook: here the links of such optimizers hear of it."""
    scaler: Any = torch.amp.GradScaler
    original = scaler.step
    if hasattr(original, "_starswitch"):
        return

    @wraps(original)
    def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        link = _clocks.get(unwrap_optimizer(optimizer)) if _clocks else None
        if link is None:
            return original(self, optimizer, *args, **kwargs)
        before = link._iteration + link._skipped
        result = original(self, optimizer, *args, **kwargs)
        if before == link._iteration + link._skipped:
            link.skip()
        return result

    step._starswitch = True  # type: ignore[attr-defined]
    scaler.step = step


def _forget_clock(clock: Any) -> None:
    _clocks.pop(clock, None)


def _runs(frame: FrameType | None) -> bool:
    """Whether it is one of those that have called this."""
    one: FrameType | None = sys._getframe(1)
    while one is not None and one is not frame:
        one = one.f_back
    return one is not None


def _hook(link: Link, parameters: TorchParameters, clock: Any) -> None:
    begin, depth = 0.0, 0
    outer: FrameType | None = None

    # Where a class and its base are both hooked, super().step() comes here, too.
    def before(*_: Any) -> None:
        nonlocal begin, depth, outer
        if depth and not _runs(outer):  # it has raised, and never come to `after`
            depth = 0
        depth += 1
        if depth == 1:
            outer = sys._getframe(1)
            parameters.begin_step()
            begin = perf_counter()

    def after(optimizer: Any, *_: Any) -> None:
        nonlocal depth, outer
        depth = 0 if sys._getframe(1) is outer else max(0, depth - 1)
        if depth:
            return
        outer = None
        link._optimizing += perf_counter() - begin
        if getattr(optimizer, "found_inf", None) is not None and (
            parameters.is_no_step(optimizer)
        ):
            link.skip()
        else:
            link.step()
        parameters.end_step()

    # In a compiled step they are called as they are, and not traced.
    for function in (before, after):
        setattr(function, "_torchdynamo_disable", True)  # noqa: B010
    _watch_scaler()
    _clocks[clock] = link
    handle = clock.register_step_post_hook(after)
    hooks = clock._optimizer_step_post_hooks
    link._last_hook = lambda: next(reversed(hooks), None) in (None, handle.id)
    link._unhook += [
        clock.register_step_pre_hook(before).remove,
        handle.remove,
        partial(_forget_clock, clock),
    ]


def _clock(optimizer: Any) -> Any:
    """The optimizer whose step ends an iteration; None: link.step() does."""
    if optimizer is None:
        return None
    if isinstance(optimizer, torch.optim.lr_scheduler.LRScheduler):
        raise TypeError(
            f"optimizer must be an optimizer, not {type(optimizer).__name__}, whose "
            "step is not that of an iteration: give attach the optimizer"
        )
    clock = unwrap_optimizer(optimizer)
    if clock is None:
        raise TypeError(
            f"{type(optimizer).__name__} is no torch.optim.Optimizer: give attach the "
            "one whose step ends an iteration, or none and call link.step() there"
        )
    return clock


def _check_optimizer(clock: Any, models: Mapping[str, torch.nn.Module]) -> None:
    here = {id(one) for model in models.values() for one in model.parameters()}
    given = [one for group in clock.param_groups for one in group["params"]]
    strange = sum(id(one) not in here for one in given)
    if given and strange == len(given):
        raise StarswitchError(
            "the optimizer trains none of the model's parameters: was it made for "
            "another model, or before the model's were replaced?"
        )
    if strange:
        logger.warning(
            "the optimizer trains %d tensors that are not the model's: they stay on "
            "this node",
            strange,
        )


def _check_models(model: Any) -> None:
    """TypeError: attach knows no such thing as a model."""
    given = list(model.values()) if isinstance(model, Mapping) else [model]
    wrong = next((one for one in given if not isinstance(one, torch.nn.Module)), None)
    if wrong is not None or None in given:
        kind = type(wrong).__name__
        raise TypeError(
            "attach takes a torch.nn.Module, several by name in a dict such as "
            '{"g": g, "d": d}, or arrays of NumPy or JAX; not '
            + (f"a dict with {kind}" if isinstance(model, Mapping) else kind)
        )


def attach(
    model: Models,
    optimizer: Any | None,
    options: Options,
    params: str,
    buffers: str,
) -> Link:
    _check_models(model)
    idle = why_idle()
    if idle:
        return Link(None, options, idle)
    given = dict(model) if isinstance(model, Mapping) else {"": model}
    models = {name: unwrap(one) for name, one in given.items()}
    clock = _clock(optimizer)
    if clock is not None:
        _check_optimizer(clock, models)
    collects = gc.isenabled()
    gc.disable()  # lists of thousands of tensors would set it off again and again
    try:
        parameters = TorchParameters(models, clock, params, buffers)
        if parameters.kept:
            logger.warning(
                "each node keeps its own of what cannot be exchanged: %s",
                some(parameters.kept),
            )
        if parameters.averaged:
            logger.info(
                "averaged over nodes, as statistics are: %s; each node keeps its own "
                'with buffers="local"',
                some(parameters.averaged),
            )
        if parameters.local:
            logger.info(
                "each node keeps its own of these buffers, which must be seeded alike "
                "where they are drawn at random: %s",
                some(parameters.local),
            )
        rank, find = _ranks(list(given.values()), parameters)
        if rank:
            link = Link(parameters, options, f"rank {rank}: rank 0 has the link")
            link._owns = False
        else:
            link = Link(parameters, options)
    finally:
        if collects:
            gc.enable()
    link._find_ranks = find
    if clock is not None:
        _hook(link, parameters, clock)
    return link
