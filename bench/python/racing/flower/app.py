"""The race's Flower app: FedAvg over all nodes, `every` local steps a round.

As flwr's PyTorch quick start has it, a client makes model and optimizer anew each
round and trains what the server sent; the optimizer's state does not outlive it.
The clock starts when all nodes are connected, before round 1 is sent out.
"""

from __future__ import annotations

import os
import time

import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from racing.faces import where_am_i
from racing.record import Recorder
from racing.task import BATCH, Shard, loss_of, new_model, new_optimizer

client = ClientApp()
server = ServerApp()
ROUNDS = 1_000_000  # the runner ends it


@client.train()  # type: ignore[untyped-decorator]
def train(message: Message, context: Context) -> Message:
    """A round at a node: `every` steps from the server's parameters."""
    torch.set_num_threads(1)
    where = where_am_i()
    shard = Shard(where.rank, where.nodes)
    first = where.every * (message.content["config"]["server-round"] - 1)
    model = new_model()
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    optimizer = new_optimizer(model)
    total = 0.0
    for iteration in range(first, first + where.every):
        optimizer.zero_grad()
        loss = loss_of(model, shard.batch(iteration))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.item()
    metrics = {
        "num-examples": where.every * BATCH,
        "train_loss": total / where.every,
    }
    content = RecordDict(
        {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord(metrics)}
    )
    return Message(content=content, reply_to=message)


@server.main()  # type: ignore[untyped-decorator]
def serve(grid: Grid, context: Context) -> None:
    """The server: what is judged is what each round aggregates."""
    where = where_am_i()
    recorder = Recorder(where.folder, 0, where.nodes, float(os.environ["RACE_SECONDS"]))
    model = new_model()
    while len(list(grid.get_node_ids())) < where.nodes:
        time.sleep(0.1)

    def evaluate(server_round: int, arrays: ArrayRecord) -> None:
        model.load_state_dict(arrays.to_torch_state_dict())
        recorder.snapshot(model, where.every * server_round)
        recorder.progress(where.every * server_round)
        if recorder.elapsed() > recorder.seconds:
            recorder.over()

    strategy = FedAvg(
        fraction_evaluate=0.0,
        min_train_nodes=where.nodes,
        min_available_nodes=where.nodes,
    )
    recorder.start()
    strategy.start(
        grid=grid,
        initial_arrays=ArrayRecord(model.state_dict()),
        num_rounds=ROUNDS,
        evaluate_fn=evaluate,
    )
