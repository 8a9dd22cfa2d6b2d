"""The held-out loss of each snapshot of a run, after the run.

python -m racing.judge FOLDER    # one JSON line a snapshot
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch.nn.utils import vector_to_parameters

from racing.task import held_out_loss, new_model


def main(folder: Path) -> None:
    """Reads snapshots.jsonl, prints the same rows with their losses."""
    model = new_model()
    for line in (folder / "snapshots.jsonl").read_text().splitlines():
        row = json.loads(line)
        file = folder / row.pop("file")
        vector_to_parameters(torch.load(file), model.parameters())
        row["loss"] = held_out_loss(model)
        print(json.dumps(row))
        file.unlink()


if __name__ == "__main__":
    torch.set_num_threads(2)
    main(Path(sys.argv[1]))
