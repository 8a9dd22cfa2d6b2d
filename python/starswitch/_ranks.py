"""Several processes on one PC that train one model, as DDP's do with a GPU each:
together they are one node.

The process of local rank 0 has the link. At the end of each step it tells the
others what the link has done to the parameters, through a gloo group of their
own, and they do the same: all replicas stay equal, at the same step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from ctypes import c_float
from typing import Any

import torch
import torch.distributed as dist

from ._link import Link, Options, State, logger
from .errors import StarswitchError
from .torch import TorchParameters

# Of what rank 0 tells at each step.
HEADER = 4  # operations, elements in them, optimizer reset, link gone


def local_rank() -> int | None:
    """This process's number among those of its PC that train one model; None:
    it is the only one. StarswitchError: such processes are on other PCs, too."""
    if not (dist.is_available() and dist.is_initialized()):
        return None
    world = dist.get_world_size()
    if world == 1:
        return None
    here = int(os.environ.get("LOCAL_WORLD_SIZE", world))
    if here != world:
        raise StarswitchError(
            f"{world} processes train one model on {world // max(1, here)} PCs: what "
            "the hub gives one PC the others would not have. Start torchrun on each "
            "PC by itself (--nnodes 1), so that each is a node of its own"
        )
    return dist.get_rank()


class Told:
    """The parameters of rank 0, which notes what is done to them."""

    def __init__(self, parameters: TorchParameters, group: Any) -> None:
        self._inner = parameters
        self._group = group
        self._rows: list[list[float]] = []
        self._values: list[torch.Tensor] = []
        self._reset = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        vector = torch.frombuffer(
            (c_float * count).from_address(values), dtype=torch.float32
        )
        self._rows.append([keep, scale, float(first), float(count)])
        self._values.append(vector.clone())
        self._inner.change(keep, scale, values, first, count)

    def replaced(self, reset: bool) -> None:
        self._reset |= reset
        self._inner.replaced(reset)

    def swapped(self, values: int) -> AbstractContextManager[None]:
        return self._inner.swapped(values)

    def publish(self, gone: bool) -> None:
        """Tells the others what was done since the last time."""
        elements = sum(one.numel() for one in self._values)
        header = torch.tensor([len(self._rows), elements, self._reset, gone])
        dist.broadcast(header, 0, group=self._group)
        if self._rows:
            rows = torch.tensor(self._rows, dtype=torch.float64)
            dist.broadcast(rows, 0, group=self._group)
            dist.broadcast(torch.cat(self._values), 0, group=self._group)
        self._rows, self._values, self._reset = [], [], False


class Owner(Link):
    """The link of rank 0."""

    def __init__(self, parameters: Told, options: Options) -> None:
        super().__init__(parameters, options)
        self._told = parameters
        self._listened_to = True

    def step(self) -> None:
        if not self._listened_to:
            return
        try:
            super().step()
        finally:
            self._listened_to = self._handle is not None
            self._told.publish(gone=not self._listened_to)

    def _center_values(self) -> Any:
        values = super()._center_values()
        there = torch.tensor([values is not None])
        dist.broadcast(there, 0, group=self._told._group)
        if values is not None:
            vector = torch.frombuffer(values, dtype=torch.float32)
            dist.broadcast(vector, 0, group=self._told._group)
        return values


class Follower(Link):
    """The link of another rank: what rank 0's does, without a hub."""

    def __init__(self, parameters: TorchParameters, group: Any) -> None:
        self._group = group
        self._follows = True
        super().__init__(parameters, Options())

    def _open(self) -> None:
        self._last = State(text="local rank 0 has the link")

    @property
    def listens(self) -> bool:
        return self._follows

    def report(self, **_: Any) -> None:
        pass

    def detach(self, within: float | None = None) -> None:
        for unhook in self._unhook:
            unhook()
        self._unhook.clear()
        self._follows = False

    def step(self) -> None:
        if not self._follows:
            return
        header = torch.zeros(HEADER, dtype=torch.int64)
        dist.broadcast(header, 0, group=self._group)
        count, elements, reset, gone = header.tolist()
        self._iteration += 1
        if count:
            rows = torch.zeros(count, 4, dtype=torch.float64)
            values = torch.zeros(elements, dtype=torch.float32)
            dist.broadcast(rows, 0, group=self._group)
            dist.broadcast(values, 0, group=self._group)
            place = values.data_ptr()
            for keep, scale, first, size in rows.tolist():
                self._parameters.change(keep, scale, place, int(first), int(size))
                place += 4 * int(size)
        if reset:
            self._parameters.replaced(True)
        if gone:
            self._follows = False

    @contextmanager
    def center(self) -> Iterator[None]:
        there = torch.tensor([False])
        dist.broadcast(there, 0, group=self._group)
        if not there.item():
            yield
            return
        elements = sum(one.elements for one in self._parameters.described)
        values = torch.zeros(elements, dtype=torch.float32)
        dist.broadcast(values, 0, group=self._group)
        with self._parameters.swapped(values.data_ptr()):
            yield


def make_link(parameters: TorchParameters, options: Options) -> Link:
    """The link of this process: its own, or its part of the PC's."""
    rank = local_rank()
    if rank is None:
        return Link(parameters, options)
    group = dist.new_group(backend="gloo")
    logger.info("local rank %d of %d: one node", rank, dist.get_world_size())
    if rank == 0:
        return Owner(Told(parameters, group), options)
    return Follower(parameters, group)
