"""What each peer adds to the script: a context around the loop, as its docs say.

A peer's package is imported in its own function, since each has an environment
of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from racing.task import BATCH


@dataclass
class Where:
    """This process among the others; a sync interval in steps, 0 if there is none."""

    rank: int
    nodes: int
    every: int
    folder: Path
    hub: str  # the hub's address
    own: str  # this node's address
    first: str  # rank 0's address


@dataclass
class Face:
    """What the loop uses instead of the plain model and optimizer."""

    model: nn.Module
    optimizer: Any
    report: Callable[[Tensor], object] = lambda loss: None
    # Whether the parameters are everybody's now, asked once after each step.
    merged: Callable[[], bool] = lambda: True
    # Within it the plain model holds what is judged.
    judged: Callable[[], AbstractContextManager[object]] = nullcontext


Make = Callable[[nn.Module, torch.optim.Optimizer, Where], AbstractContextManager[Face]]


@contextmanager
def alone(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """Nobody: what a node learns from its own shard."""
    yield Face(model, optimizer)


@contextmanager
def ddp(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """DistributedDataParallel over gloo: gradients averaged at every step."""
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    distributed.init_process_group(
        "gloo",
        init_method=f"tcp://{where.first}:29500",
        rank=where.rank,
        world_size=where.nodes,
    )
    yield Face(DistributedDataParallel(model), optimizer)


@contextmanager
def hivemind(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """hivemind.Optimizer with local updates and averaging in the background.

    The quick start's settings; `every` local steps of all nodes are an epoch.
    """
    import hivemind as peer

    meeting = where.folder / "first-peer"
    listen = [f"/ip4/{where.own}/tcp/29600"]
    if where.rank == 0:
        dht = peer.DHT(host_maddrs=listen, start=True)
        unready = meeting.with_suffix(".part")
        unready.write_text("\n".join(str(a) for a in dht.get_visible_maddrs()))
        unready.rename(meeting)
    else:
        while not meeting.exists():
            time.sleep(0.05)
        first = meeting.read_text().split()
        dht = peer.DHT(host_maddrs=listen, initial_peers=first, start=True)
    wrapped = peer.Optimizer(
        dht=dht,
        run_id="race",
        batch_size_per_step=BATCH,
        target_batch_size=where.every * BATCH * where.nodes,
        optimizer=optimizer,
        use_local_updates=True,
        matchmaking_time=3.0,
        averaging_timeout=10.0,
        averager_opts={"request_timeout": 1.0},  # its warning: below 3.0
        verbose=True,
    )
    fetched = wrapped.state_averager.finished_averaging_round
    was = [False]

    def merged() -> bool:  # a round was fetched before the step, not after it
        before, was[0] = was[0], fetched.is_set()
        return before and not was[0]

    yield Face(model, wrapped, merged=merged)


def every_steps(every: int) -> Callable[[], bool]:
    """True at each `every`-th time it is asked."""
    steps = [0]

    def merged() -> bool:
        steps[0] += 1
        return steps[0] % every == 0

    return merged


def torchft_manager(
    model: nn.Module, optimizers: dict[str, torch.optim.Optimizer], where: Where
) -> Any:
    """A torchft Manager: one replica group a node, gloo, the hub's lighthouse."""
    from torch.distributed import TCPStore  # type: ignore[attr-defined]
    from torchft import Manager, ProcessGroupGloo

    def load(state: dict[str, Any]) -> None:
        model.load_state_dict(state["model"])
        for name, optimizer in optimizers.items():
            optimizer.load_state_dict(state[name])

    def save() -> dict[str, Any]:
        state = {name: each.state_dict() for name, each in optimizers.items()}
        return {"model": model.state_dict(), **state}

    store = TCPStore(where.own, 29700, is_master=True, wait_for_workers=False)
    manager = Manager(
        pg=ProcessGroupGloo(timeout=timedelta(seconds=60)),
        load_state_dict=load,
        state_dict=save,
        min_replica_size=where.nodes,
        use_async_quorum=False,
        init_sync=False,  # as its docs say where the first parameters are equal
        timeout=timedelta(seconds=60),
        rank=0,
        world_size=1,
        store_addr=where.own,
        store_port=29700,
        lighthouse_addr=f"http://{where.hub}:29510",
        replica_id=f"race_{where.rank}",
        hostname=where.own,
    )
    manager.store_of_the_race = store  # lives as long as the manager
    return manager


@contextmanager
def localsgd(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """torchft's LocalSGD: parameters averaged every so many steps, waiting."""
    from torchft.local_sgd import LocalSGD

    manager = torchft_manager(model, {"optimizer": optimizer}, where)
    with LocalSGD(manager, model, optimizer, sync_every=where.every):
        yield Face(model, optimizer, merged=every_steps(where.every))


@contextmanager
def diloco(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """torchft's DiLoCo with the outer optimizer of its example."""
    from torchft.local_sgd import DiLoCo

    outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9, nesterov=True)
    manager = torchft_manager(model, {"inner": optimizer, "outer": outer}, where)
    with DiLoCo(manager, [model], optimizer, outer, sync_every=where.every):
        yield Face(model, optimizer, merged=every_steps(where.every))


@contextmanager
def starswitch(
    model: nn.Module, optimizer: torch.optim.Optimizer, where: Where
) -> Iterator[Face]:
    """starswitch as it comes: the two lines; the hub's address is in the
    environment."""
    import starswitch as ours

    link = ours.attach(model, optimizer)
    link.wait_ready(timeout=30)
    yield Face(
        model,
        optimizer,
        report=lambda loss: link.report(loss=loss),
        judged=link.center,
    )


FACES: dict[str, Make] = {
    "alone": alone,
    "ddp": ddp,
    "hivemind": hivemind,
    "localsgd": localsgd,
    "diloco": diloco,
    "starswitch": starswitch,
    "byhand": starswitch,
}


def where_am_i() -> Where:
    """From the environment that the runner sets."""
    take = os.environ.__getitem__
    return Where(
        rank=int(take("RACE_RANK")),
        nodes=int(take("RACE_NODES")),
        every=int(take("RACE_EVERY")),
        folder=Path(take("RACE_FOLDER")),
        hub=take("RACE_HUB"),
        own=take("RACE_OWN"),
        first=take("RACE_FIRST"),
    )
