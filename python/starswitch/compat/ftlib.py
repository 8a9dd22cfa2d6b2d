"""FTLib's interface: averages that survive lost and new workers.

    from starswitch.compat.ftlib import BasicFTLib, FTAllReduceStatus

    lib = BasicFTLib("gossip", "pytorch", {"known_addr_list": []})
    for x, y in data:
        ... gradients ...
        status = lib.wait_gradients_ready(model=model)
        if status in (FTAllReduceStatus.SUCCESS, FTAllReduceStatus.NO_NEED):
            optimizer.step()              # averaged, or, alone, one's own
        # FAIL, ABORT: drop this batch

Consensus and communication library are chosen by FTLib's names, and all are the
hub, $STARSWITCH_HUB. Collectives return a status and raise nothing when a member
is lost. Tensors of torch and arrays of NumPy are changed in place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from ctypes import byref, c_int, memmove, string_at
from enum import IntEnum
from typing import Any

from .. import _library as c
from .._memory import Place, place
from ..errors import ConnectError, StarswitchError
from ..group import OPS, Group

logger = logging.getLogger("starswitch")


class FTAllReduceStatus(IntEnum):
    """How a collective ended."""

    NO_NEED = -1
    SUCCESS = 0
    FAIL = 1
    ABORT = 2


class FTRebuildStatus(IntEnum):
    """How building the group ended."""

    SKIP_ALLREDUCE = -1
    SUCCESS = 0
    FAIL = 1
    ABORT = 2


class ConsensusStatus(IntEnum):
    SKIP_ALLREDUCE = -1
    SUCCESS = 0
    FAIL = 1


class CommLibStatus(IntEnum):
    SUCCESS = 0
    FAIL = 1


class ConsensusMode(IntEnum):
    """Whether a member asks who is there before each collective."""

    PASSIVE = 0
    ACTIVE = 1


CONSENSUS = ("hub", "shared_storage", "gossip")
COMMLIBS = ("hub", "NCCL", "dummy_NCCL", "pytorch")


class BasicFTLib:
    """A worker. With names, the group is built at once; without, by `init`.

    consensus: "shared_storage", "gossip" or "hub"; commlib: "NCCL", "dummy_NCCL",
    "pytorch" or "hub". AssertionError: another name.
    consensus_init_kwargs: hub, name, key, identity (as of starswitch.group.Group),
        mode (ConsensusMode), members (before the first call, 1). What else FTLib's
        consensus took (known_addr_list, ...) means nothing to a hub; "gossip" wants
        the dict all the same.
    commlib_init_kwargs: timeout, seconds a collective waits at most.

    RuntimeError: "building consensus failed".
    """

    def __init__(
        self,
        consensus: str | None = None,
        commlib: str | None = None,
        consensus_init_kwargs: dict[str, Any] | None = None,
        commlib_init_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self._group: Group | None = None
        self._names = ("hub", "hub")
        if consensus is not None or commlib is not None:
            self.init(consensus, commlib, consensus_init_kwargs, commlib_init_kwargs)

    def init(
        self,
        consensus: str | None = None,
        commlib: str | None = None,
        consensus_init_kwargs: dict[str, Any] | None = None,
        commlib_init_kwargs: dict[str, Any] | None = None,
    ) -> FTRebuildStatus:
        """Joins, and learns who is there. SKIP_ALLREDUCE: this is the only member,
        rank 0 of 1."""
        consensus, commlib = consensus or "hub", commlib or "hub"
        if consensus not in CONSENSUS:
            raise AssertionError(f"there is no consensus {consensus}: {CONSENSUS}")
        if commlib not in COMMLIBS:
            raise AssertionError(f"there is no library {commlib}: {COMMLIBS}")
        if consensus == "gossip" and consensus_init_kwargs is None:
            raise AssertionError("gossip wants its consensus_init_kwargs")
        given = dict(consensus_init_kwargs or {})
        self._names = (consensus, commlib)
        self.finalize()
        try:
            self._group = Group(
                given.get("hub"),
                given.get("name"),
                members=given.get("members", 1),
                active=given.get("mode", 0) == ConsensusMode.ACTIVE,
                key=given.get("key"),
                identity=given.get("identity"),
                timeout=(commlib_init_kwargs or {}).get("timeout"),
                wait=given.get("wait_time", 15.0),
            )
            status = self._rebuild()
        except ConnectError as error:
            raise RuntimeError(f"building consensus failed: {error}") from error
        if status == FTRebuildStatus.ABORT:
            text = self._member.look().text
            self.finalize()
            raise RuntimeError(f"building consensus failed: {text}")
        return status

    def finalize(self) -> None:
        """Says goodbye."""
        group, self._group = self._group, None
        if group is not None:
            group.leave()

    def __enter__(self) -> BasicFTLib:
        return self

    def __exit__(self, *_: object) -> None:
        self.finalize()

    @property
    def _member(self) -> Group:
        if self._group is None:
            raise StarswitchError("call init() first")
        return self._group

    def _rebuild(self) -> FTRebuildStatus:
        group = self._member
        consensus, commlib = (name.encode() for name in self._names)
        return FTRebuildStatus(
            group.call(group._lib.star_group_init, consensus, commlib)
        )

    # ---- who is there ----

    @property
    def rank(self) -> int:
        """0 is never a newcomer."""
        return self._member.rank

    @property
    def size(self) -> int:
        return self._member.size

    @property
    def epoch(self) -> int:
        """Grows when the membership changes: then newcomers want the parameters,
        broadcast(parameters, 0)."""
        return self._member.look().epoch

    def initialized(self) -> bool:
        """Whether the members are those that the group was built of, as far as this
        one knows; in ACTIVE mode it asks."""
        group = self._member
        return bool(group.call(group._lib.star_group_initialized))

    def skip_allreduce(self) -> bool:
        """Whether this is the only member."""
        group = self._member
        return bool(group.call(group._lib.star_group_skip_allreduce))

    def manual_join(
        self, known_addr_list: Iterable[str] | None = None, wait_time: float = 15.0
    ) -> bool:
        """Waits until the hub has taken this worker in; whether that has
        happened. A star needs no addresses of others."""
        group = self._member
        return bool(group.call(group._lib.star_group_manual_join, float(wait_time)))

    def consensus_joined(self) -> bool:
        """Whether the hub has taken this worker in."""
        group = self._member
        return bool(group.call(group._lib.star_group_consensus_joined))

    # ---- collectives ----

    def _status(self, status: int) -> FTAllReduceStatus:
        status = FTAllReduceStatus(status)
        if status > 0:
            logger.warning("%s: %s", status.name, self._member.look().text)
        return status

    def _average(self, arrays: list[Any]) -> FTAllReduceStatus:
        return self._status(self._member.average_status(arrays))

    def allreduce_average(
        self, *data: Any, model: Any = None, params: Any = None
    ) -> FTAllReduceStatus:
        """The mean of all members' in place: of these arrays (or lists of them), or
        of what wait_gradients_ready takes."""
        if data:
            arrays: list[Any] = []
            for one in data:
                arrays.extend(one if isinstance(one, (list, tuple)) else [one])
            return self._average(arrays)
        if model is not None:
            params = model.parameters()
        if params is None:
            logger.warning("FAIL: neither model= nor params= was given")
            return FTAllReduceStatus.FAIL
        return self._average(_gradients(params))

    def wait_gradients_ready(
        self, *data: Any, model: Any = None, params: Any = None
    ) -> FTAllReduceStatus:
        """Averages gradients over the members of this very call, in place: those of
        a torch model, or of parameters; of NumPy, or of tensors that have no
        gradient, `params` are the gradients themselves."""
        return self.allreduce_average(*data, model=model, params=params)

    # Its name in FTLib of 2019.
    wait_weights_ready = wait_gradients_ready

    def allreduce(self, data: Any, op: str = "MEAN") -> FTAllReduceStatus:
        """MEAN, SUM, MAX or MIN, in place. ValueError: another."""
        if op.lower() not in OPS:
            raise ValueError(f"there is no reduction {op}")
        if op.upper() == "MEAN":
            return self._average([data])
        group, memory = self._member, place(data, numbers=True)
        kind = c.FUNCTIONS["star_group_allreduce"][1][5]
        status = self._status(
            group.call(
                group._lib.star_group_allreduce,
                memory.address,
                memory.count,
                memory.dtype,
                OPS[op.lower()],
                kind(),
                None,
            )
        )
        if status == FTAllReduceStatus.SUCCESS:
            memory.store()
        return status

    def broadcast(self, data: Any, root_rank: int = 0) -> FTAllReduceStatus:
        """The root's to all, in place: an array, or the parameters and buffers of a
        torch model, or a list."""
        if hasattr(data, "state_dict"):
            data = list(data.state_dict().values())
        arrays = list(data) if isinstance(data, (list, tuple)) else [data]
        if not arrays:
            return FTAllReduceStatus.SUCCESS
        group, places = self._member, [place(one) for one in arrays]
        whole = bytearray().join(_bytes_of(one) for one in places)
        memory = place(whole)
        status = self._status(
            group.call(
                group._lib.star_group_broadcast,
                memory.address,
                memory.nbytes,
                root_rank,
            )
        )
        if status == FTAllReduceStatus.SUCCESS and group.rank != root_rank:
            _fill(places, whole)
        return status

    def barrier(self) -> FTAllReduceStatus:
        group = self._member
        return self._status(group.call(group._lib.star_group_barrier))

    def stop(self) -> FTAllReduceStatus:
        """This worker has no more data: all finish alone; waits until everybody has
        come here. Then collectives work again, for a last average."""
        group = self._member
        return self._status(group.call(group._lib.star_group_stop))

    def execute(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What func returns, called in a group that is built. None: it has raised
        an exception, and the group is built anew before the next collective.
        RuntimeError: the group cannot be built."""
        group = self._member
        if not self.skip_allreduce() and not self.initialized():
            status = self._rebuild()
            if status in (FTRebuildStatus.FAIL, FTRebuildStatus.ABORT):
                raise RuntimeError(f"building consensus failed: {group.look().text}")
        values: list[Any] = []
        ends: list[BaseException] = []

        def act(_: Any) -> int:
            try:
                values.append(func(*args, **kwargs))
            except Exception as error:
                logger.warning("what was executed has failed: %s", error)
                return 1
            except BaseException as error:
                ends.append(error)
                return 1
            return 0

        result = c_int(0)
        kind = c.FUNCTIONS["star_group_execute"][1][1]
        status = group._lib.star_group_execute(
            group._handle, kind(act), None, byref(result)
        )
        if ends:
            raise ends[0]
        if status == c.star_group_status.STAR_GROUP_ABORT:
            raise RuntimeError(f"building consensus failed: {group.look().text}")
        return values[0] if values else None


def _gradients(params: Iterable[Any]) -> list[Any]:
    """What is averaged: gradients of torch's parameters, other arrays as they are."""
    found: list[Any] = []
    for one in params:
        if getattr(one, "requires_grad", False):
            if one.grad is not None:
                found.append(one.grad)
        else:
            found.append(one)
    return found


def _bytes_of(one: Place) -> bytes:
    return string_at(one.address, one.nbytes) if one.nbytes else b""


def _fill(places: list[Place], whole: bytearray) -> None:
    at = 0
    for one in places:
        if one.nbytes:
            memmove(one.address, bytes(whole[at : at + one.nbytes]), one.nbytes)
            one.store()
        at += one.nbytes
