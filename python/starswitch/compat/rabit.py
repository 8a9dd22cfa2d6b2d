"""Rabit's interface: collectives and checkpoints that a worker survives.

    from starswitch.compat import rabit

    rabit.init()                     # hub: rabit_tracker_uri=..., or $STARSWITCH_HUB
    version, model = rabit.load_checkpoint()
    if version == 0:
        model = ...
    for version in range(version, 100):
        total = rabit.allreduce(part, rabit.SUM)
        ... model ...
        rabit.checkpoint(model)
    rabit.finalize()

A worker that was lost is started again under its name (rabit_task_id), loads the
newest checkpoint, and is given the results since then again, bit for bit; the others
wait for it. Models and what is broadcast are pickled; what is reduced are arrays of
NumPy.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .. import _library as c
from ..errors import StarswitchError
from ..group import Group

MAX = 0
MIN = 1
SUM = 2
BITOR = 3

OPS = {
    MAX: c.star_op.STAR_MAX,
    MIN: c.star_op.STAR_MIN,
    SUM: c.star_op.STAR_SUM,
    BITOR: c.star_op.STAR_BITOR,
}
LINE = 119  # bytes of a line in the hub's log

_group: Group | None = None


def _member() -> Group:
    if _group is None:
        raise StarswitchError("call rabit.init() first")
    return _group


def init(args: Sequence[str | bytes] | None = None, **options: Any) -> None:
    """Joins, and waits until all workers are there. args: "name=value", None those
    of the program: rabit_tracker_uri, rabit_tracker_port, rabit_task_id (this
    worker's name), rabit_world_size, rabit_timeout_sec (how long a lost worker is
    waited for). Others, and those about buffers and rings, mean nothing to a hub.
    options: key, identity, timeout of starswitch.group.Group. A second call does
    nothing. ConnectError: there is no hub."""
    global _group
    if _group is not None:
        return
    said: dict[str, str] = {}
    for one in sys.argv[1:] if args is None else args:
        name, _, value = os.fsdecode(one).partition("=")
        said[name] = value
    hub = said.get("rabit_tracker_uri")
    if hub and "rabit_tracker_port" in said:
        hub = f"{hub}:{said['rabit_tracker_port']}"
    group = Group(
        hub,
        said.get("rabit_task_id"),
        members=int(said.get("rabit_world_size", 1)),
        patient=True,
        patience=float(said.get("rabit_timeout_sec", 0)) or None,
        **options,
    )
    try:
        group.build()
    except BaseException:
        group.leave(1.0)
        raise
    _group = group


def finalize() -> None:
    """Says goodbye; after a lazy checkpoint, when all have come here."""
    global _group
    group, _group = _group, None
    if group is not None:
        group.leave()


def get_rank() -> int:
    return _member().rank


def get_world_size() -> int:
    return _member().size


def is_distributed() -> bool:
    return _member().size > 1


def get_processor_name() -> str:
    """This worker's name."""
    group = _member()
    name: bytes = group._lib.star_group_processor_name(group._handle)
    return name.decode(errors="replace")


def tracker_print(msg: Any) -> None:
    """Lines in the hub's log, of at most 119 bytes each."""
    group = _member()
    for line in str(msg).splitlines():
        text = line.encode()
        for at in range(0, max(1, len(text)), LINE):
            group._lib.star_group_tracker_print(group._handle, text[at : at + LINE])


def allreduce(
    data: Any, op: int, prepare_fun: Callable[[Any], None] | None = None
) -> Any:
    """The maximum, minimum, sum or bitwise or of all workers' arrays, as a new
    array. prepare_fun(data) fills them just before they are needed, and is not
    called when the result is there already. TypeError: no array, or not of numbers
    that a hub reduces."""
    import numpy

    if not isinstance(data, numpy.ndarray):
        raise TypeError("allreduce takes arrays of NumPy")
    total = numpy.array(data, order="C")

    def prepare() -> None:
        assert prepare_fun is not None
        prepare_fun(data)
        total[...] = data

    _member().allreduce(total, OPS[op], prepare=prepare if prepare_fun else None)
    return total


def broadcast(data: Any, root: int) -> Any:
    """What the root has, any object that can be pickled; the others' is ignored."""
    return _member().broadcast_object(data, root)


def load_checkpoint(with_local: bool = False) -> tuple[int, Any]:
    """The version of the newest checkpoint and its model; (0, None): there is
    none."""
    if with_local:
        raise NotImplementedError(LOCAL)
    version, model = _member().load_checkpoint()
    return version, None if model is None else pickle.loads(model)


def checkpoint(global_model: Any, local_model: Any = None) -> None:
    """Ends a version. The model must be the same on all workers; the hub keeps
    it."""
    if local_model is not None:
        raise NotImplementedError(LOCAL)
    _member().checkpoint(pickle.dumps(global_model))


def lazy_checkpoint(global_model: Any) -> None:
    """The same, but the model stays in this worker's memory, and goes to the hub
    only if somebody recovers. It is pickled now, so it may be changed at once."""
    group = _member()
    packed = bytearray(pickle.dumps(global_model))
    group.lazy_checkpoint(packed)


LOCAL = (
    "a star has no neighbours to keep a local model: what only one worker has is its "
    "own to keep"
)


def version_number() -> int:
    """Checkpoints so far."""
    return _member().version
