"""torch.distributed through the hub: a DDP script runs unchanged.

    import starswitch.distributed            # registers the backend
    torch.distributed.init_process_group("starswitch")

The hub is $STARSWITCH_HUB. Ranks and the world's size are torch's own (RANK,
WORLD_SIZE, as torchrun sets them); with WORLD_SIZE and without RANK the hub gives
the ranks, and neither MASTER_ADDR nor MASTER_PORT is needed.

When a rank is lost the others' next collective raises RuntimeError, at once. An
elastic run (STARSWITCH_ELASTIC=1, or pg_options=Options(elastic=True)) goes on
without it: means are those of the ranks that are left; sums of floats are scaled to
the world's size, so that DDP, which divides by that, averages over those who are
left; sums of integers are not scaled; what a lost rank would give in an allgather,
gather or broadcast is what the lowest that is left gives; in an all_to_all it is 0.
A lost rank cannot come back. A rank that is lost while init_process_group waits for
the others is an error in any run: start all again.

Tensors are on the CPU. One group of all ranks; new_group() of all ranks is the same
one, and of some is refused: new_group(ranks, backend="gloo") makes one beside it.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlparse

import torch.distributed as dist

from ._crew import Crew, RankLost
from ._process_group import ProcessGroup, Work, as_runtime_error
from .errors import ConnectError, StarswitchError
from .group import Group

logger = logging.getLogger("starswitch")

BEAT = 1.0  # seconds between signs of life while the ranks are waited for
SILENCE = 6.0  # seconds without one, and a rank is lost

__all__ = ["Options", "ProcessGroup", "RankLost"]

# torch.distributed.rendezvous is a function, too, and hides the module.
torch_rendezvous: Any = importlib.import_module("torch.distributed.rendezvous")
TCPStore: Any = dist.TCPStore  # type: ignore[attr-defined]


@dataclass
class Options:
    """pg_options of init_process_group("starswitch"); None: the environment.

    hub, key, identity: as in starswitch.attach.
    elastic: those who are left go on when a rank is lost; $STARSWITCH_ELASTIC.
    wait: seconds that the hub is waited for at the start.
    """

    hub: str | None = None
    key: str | None = None
    identity: str | None = None
    elastic: bool | None = None
    wait: float = 15.0

    @property
    def is_elastic(self) -> bool:
        if self.elastic is not None:
            return self.elastic
        return os.environ.get("STARSWITCH_ELASTIC", "0") not in ("", "0")


# ---- beginning ----

_crew: Crew | None = None
_runs = 0  # that have begun in this process
_joined: tuple[Group, bytes] | None = None


def _join(options: Options, name: str | None, world: int, timeout: float) -> Group:
    try:
        return Group(
            options.hub,
            name,
            members=world,
            timeout=timeout,
            key=options.key,
            identity=options.identity,
            wait=options.wait,
        )
    except ConnectError as error:
        raise RuntimeError(
            f'starswitch: {error}. init_process_group("starswitch") needs a hub: start '
            "starswitch-hub on one PC (starswitch-hub --lan for others), and set "
            "STARSWITCH_HUB to its HOST:PORT for every rank"
        ) from error
    except StarswitchError as error:
        raise as_runtime_error(error) from error


def _create(given: Any, pg_options: Any) -> ProcessGroup:
    """What register_backend calls."""
    global _crew, _joined, _runs
    options = pg_options if isinstance(pg_options, Options) else Options()
    rank, world = given.group_rank, given.group_size
    ranks = list(given.global_ranks_in_group)
    if _crew is not None and _crew.over:
        _crew = None
    if _crew is not None and _crew.world == world:
        return ProcessGroup(_crew)
    if _crew is not None or (ranks and ranks != list(range(world))):
        raise RuntimeError(
            f"starswitch: a group of ranks {ranks}: the hub has one group, of all "
            'ranks; for this one use new_group(ranks, backend="gloo")'
        )
    timeout = given.timeout.total_seconds()
    if _joined is not None:
        (group, run), _joined = _joined, None
    else:
        run = _run_of(given.store, rank, world)
        name = f"rank{rank}-{run.hex()[:8]}"
        group = _join(options, name, world, timeout)
    crew = Crew(group, run, rank, world, options.is_elastic, timeout)
    made = ProcessGroup(crew)
    try:
        _meet_all(made.barrier(), given.store, run, rank, world)
    except BaseException:
        made.abort()
        raise
    _crew = crew
    _runs += 1
    return made


def _run_of(store: Any, rank: int, world: int) -> bytes:
    """The 16 bytes of this run, which rank 0 makes. A store may outlive a run, as
    torchrun's does, so that runs are numbered: as a process counts them, for one
    that was started again comes to the run that is there. The next run begins when
    all ranks have left the one before: at the hub they meet in the same group."""
    key = f"starswitch/{_runs}"
    if _runs:
        store.set(f"{key}/{rank}", "")
        store.wait([f"{key}/{one}" for one in range(world)])
    if rank == 0:
        store.set(key, uuid.uuid4().hex)
    run = uuid.UUID(store.get(key).decode()).bytes
    store.add(_beats(run, rank), 1)
    return run


def _beats(run: bytes, rank: int) -> str:
    """Where a rank's signs of life are counted while the ranks are waited for."""
    return f"starswitch/{run.hex()}/{rank}"


def _begun(run: bytes) -> str:
    """What is in the store as soon as all ranks have met."""
    return f"starswitch/{run.hex()}/begun"


def _meet_all(work: Work, store: Any, run: bytes, rank: int, world: int) -> None:
    """Waits until all ranks are there. A rank that waits says so in torch's store
    every second, so that its end is noticed: the hub waits for all to come. Those
    of a run that has begun do not say it any more."""
    try:
        _hear_all(work, store, run, rank, world)
        if work.is_success():
            store.set(_begun(run), "")
    except dist.DistError as error:
        if not work.is_done_within(BEAT):
            raise RuntimeError(
                "starswitch: torch's store, which rank 0 or torchrun holds, was lost "
                "while the run began: start all ranks again"
            ) from error
    work.wait()


def _hear_all(work: Work, store: Any, run: bytes, rank: int, world: int) -> None:
    others = [one for one in range(world) if one != rank]
    beats = dict.fromkeys(others, 0)
    began = time.monotonic()
    heard = dict.fromkeys(others, began)
    told = False
    while not work.is_done_within(BEAT):
        store.add(_beats(run, rank), 1)
        now = time.monotonic()
        for one in others:
            count = store.add(_beats(run, one), 0)
            if count != beats[one]:
                beats[one], heard[one] = count, now
            elif (
                count
                and now - heard[one] > SILENCE
                and not (work.is_completed() or store.check([_begun(run)]))
            ):
                raise RuntimeError(
                    f"starswitch: rank {one} was lost while the run began: start all "
                    "ranks again"
                )
        missing = [one for one in others if not beats[one]]
        if missing and not told and now - began > SILENCE:
            told = True
            ranks = ", ".join(map(str, missing))
            logger.warning("rank %d waits for rank %s", rank, ranks)


def _own_address(hub: str) -> str:
    """Of this PC, as the hub's network sees it."""
    first = hub.split(",")[0].rsplit(":", 1)[0].strip("[]") or "127.0.0.1"
    family, _, _, _, address = socket.getaddrinfo(first, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


def _rendezvous(
    url: str, timeout: timedelta = timedelta(minutes=30), **more: Any
) -> Iterator[tuple[Any, int, int]]:
    """starswitch://: the hub gives the ranks; the world's size is said in the URL,
    to init_process_group, or in WORLD_SIZE. torch's store is on rank 0."""
    global _joined
    query = dict(parse_qsl(urlparse(url).query))
    world = int(query.get("world_size", os.environ.get("WORLD_SIZE", 0)))
    if world < 1:
        raise ValueError(
            "starswitch: how many ranks? Set WORLD_SIZE, or say world_size="
        )
    group = _join(Options(), None, world, timeout.total_seconds())
    try:
        group.build()
        run = group.broadcast_object(uuid.uuid4().bytes)
        rank = group.rank
        store = None
        where: Any = None
        if rank == 0:
            host = _own_address(os.environ.get("STARSWITCH_HUB", ""))
            store = TCPStore(
                host, 0, world, True, timeout=timeout, wait_for_workers=False
            )
            where = (host, store.port)
        host, port = group.broadcast_object(where)
        store = store or TCPStore(host, port, world, False, timeout=timeout)
    except BaseException:
        group.leave(2.0)
        raise
    _joined = (group, run)
    yield store, rank, world
    raise RuntimeError("starswitch: a rendezvous cannot be had twice")


def _register() -> None:
    """The backend, and two ways to the ranks."""
    dist.Backend.register_backend(
        "starswitch", _create, extended_api=True, devices=["cpu"]
    )
    torch_rendezvous.register_rendezvous_handler("starswitch", _rendezvous)
    handlers = getattr(torch_rendezvous, "_rendezvous_handlers", {})
    from_environment: Any = handlers.get("env")

    def env(url: str, **more: Any) -> Any:
        """torch's, but where RANK is not said and WORLD_SIZE is."""
        query = dict(parse_qsl(urlparse(url).query))
        said = "RANK" in os.environ or "rank" in query
        if said or "WORLD_SIZE" not in os.environ:
            return from_environment(url, **more)
        return _rendezvous(url, **more)

    if from_environment is not None:
        handlers["env"] = env


if not hasattr(dist.Backend, "STARSWITCH"):
    _register()
