"""The script: a plain PyTorch loop, and the face of one peer around it.

python -m racing.train FACE      # the rest is in the environment: faces.py
"""

from __future__ import annotations

import os
import sys

import torch

from racing.faces import FACES, where_am_i
from racing.record import Recorder
from racing.task import Shard, loss_of, new_model, new_optimizer


def main(face_name: str) -> None:
    """Trains until the time is up at rank 0; the runner ends the others."""
    torch.set_num_threads(1)
    where = where_am_i()
    seconds = float(os.environ["RACE_SECONDS"])
    recorder = Recorder(where.folder, where.rank, where.nodes, seconds)
    shard = Shard(where.rank, where.nodes)
    model = new_model()
    loss_of(model, shard.batch(0)).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()  # torch's own first-time work is over
    optimizer = new_optimizer(model)

    with FACES[face_name](model, optimizer, where) as face:
        recorder.start_together()
        if where.rank == 0:
            recorder.snapshot(model, 0)
        iteration = 0
        while where.rank != 0 or recorder.elapsed() < seconds:
            face.optimizer.zero_grad()
            loss = loss_of(face.model, shard.batch(iteration))
            loss.backward()  # type: ignore[no-untyped-call]
            face.optimizer.step()
            face.report(loss)
            iteration += 1
            merged = face.merged()
            if where.rank == 0 and recorder.due(merged):
                with face.judged():
                    recorder.snapshot(model, iteration)
            if recorder.due(merged):
                recorder.progress(iteration)
        recorder.progress(iteration)
        recorder.over()
        sys.stdout.flush()
        os._exit(0)  # a peer that waits for the others would wait for ever


if __name__ == "__main__":
    main(sys.argv[1])
