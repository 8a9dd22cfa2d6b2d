"""The arms: each peer with each sync interval of its sweep, and how it is started.

An arm is written PEER or PEER@STEPS: localsgd@20 averages every 20 steps.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """One way to train together."""

    name: str
    title: str
    package: str  # whose version is printed
    venv: str
    sweep: tuple[int, ...]  # sync intervals in local steps; 0: none to choose
    how: str  # for docs/race.md: the configuration and where it is from
    judged: str


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            "ddp",
            "DDP (gloo)",
            "torch",
            "torch",
            (0,),
            "`DistributedDataParallel(model)` over gloo with its defaults: gradients "
            "are averaged at every step, every node waits.",
            "rank 0's replica, which equals all others",
        ),
        Peer(
            "hivemind",
            "hivemind",
            "hivemind",
            "hivemind",
            (80, 312),
            "`hivemind.Optimizer` as in its quick start: `use_local_updates=True`, "
            "`matchmaking_time=3.0`, `averaging_timeout=10.0`; parameters are averaged "
            "in the background. `target_batch_size` is the interval times 8 samples "
            "times 4 nodes: 312 is the quick start's 10,000 samples.",
            "rank 0's replica in the step that took up an average",
        ),
        Peer(
            "localsgd",
            "torchft LocalSGD",
            "torchft",
            "torchft",
            (5, 20, 100),
            "`LocalSGD(manager, model, optimizer, sync_every)`; a replica group a "
            "node, `ProcessGroupGloo`, the wheel's `torchft_lighthouse` at the "
            "hub's place, `init_sync=False` as its docs say for equal first "
            "parameters.",
            "rank 0's replica in the step that averaged",
        ),
        Peer(
            "diloco",
            "torchft DiLoCo",
            "torchft",
            "torchft",
            (20, 100),
            "`DiLoCo(manager, [model], inner, outer, sync_every)` with the outer "
            "optimizer of its example, SGD with rate 0.7, momentum 0.9, Nesterov; "
            "its example's `sync_every` is 20. The manager is as for LocalSGD.",
            "rank 0's replica in the step that took the outer step",
        ),
        Peer(
            "flwr",
            "flwr FedAvg",
            "flwr",
            "flwr",
            (100, 400),
            "`FedAvg(fraction_evaluate=0)` with the deployment engine, `--insecure`: a "
            "SuperLink at the hub's place, a SuperNode a node. A client makes its "
            "optimizer anew each round, as in its PyTorch quick start.",
            "what the server aggregated, each round",
        ),
        Peer(
            "starswitch",
            "starswitch",
            "starswitch",
            "torch",
            (0,),
            "`link = starswitch.attach(model, optimizer)` and "
            "`link.report(loss=loss)`, no option; the hub with none but its address.",
            "the hub's centre, `link.center()` at rank 0",
        ),
        Peer(
            "byhand",
            "starswitch, k by hand",
            "starswitch",
            "torch",
            (5, 20, 80),
            "The same with the hub's `--every` as the interval and a quarter of it as "
            "`--delay`: what a user who sweeps would find.",
            "the hub's centre",
        ),
        Peer(
            "alone",
            "one node alone",
            "torch",
            "torch",
            (0,),
            "No peer: four nodes train beside each other, each on its own shard.",
            "rank 0's replica",
        ),
    )
}


@dataclass(frozen=True)
class Arm:
    """A peer with a sync interval."""

    peer: Peer
    every: int

    def __str__(self) -> str:
        return f"{self.peer.name}@{self.every}" if self.every else self.peer.name


def arms_of(words: str) -> list[Arm]:
    """The arms that --peers names; PEER alone is its whole sweep."""
    arms = []
    for word in words.split(","):
        name, _, every = word.partition("@")
        if name not in PEERS:
            raise ValueError(f"no peer is called {name}: {', '.join(PEERS)}")
        peer = PEERS[name]
        for each in (int(every),) if every else peer.sweep:
            arms.append(Arm(peer, each))
    return arms
