#!/usr/bin/env python3
"""What an allreduce through the hub takes, beside gloo, both on loopback.

    python bench/python/allreduce.py [RANKS [CALLS]]

Starts a hub and so many ranks (4) for each backend, in turns, and prints the median
time of a call of float32 for each size, in milliseconds, and the ratio. On one PC all
share its cores; between PCs the hub's link decides, which carries every rank's bytes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = [4, 64 << 10, 1 << 20, 4 << 20, 25 << 20]  # bytes
TURNS = 3
sys.path.insert(0, str(ROOT / "python"))
from starswitch.launch import free_port  # noqa: E402


def rank_main(backend: str, calls: int) -> None:
    import torch
    import torch.distributed as dist

    if backend == "starswitch":
        import starswitch.distributed  # noqa: F401
    torch.set_num_threads(1)
    dist.init_process_group(backend)
    medians = []
    for size in SIZES:
        tensor = torch.ones(size // 4)
        times = []
        for _ in range(calls if size < 4 << 20 else max(3, calls // 4)):
            dist.barrier()
            began = time.perf_counter()
            dist.all_reduce(tensor, dist.ReduceOp.MAX)
            times.append(time.perf_counter() - began)
        medians.append(statistics.median(times))
    if dist.get_rank() == 0:
        print(json.dumps(medians), flush=True)
    dist.destroy_process_group()


def measure(backend: str, ranks: int, calls: int, hub: str) -> list[float]:
    port = str(free_port())
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--rank", backend, str(calls)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "python"),
                "STARSWITCH_HUB": hub,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
                "RANK": str(rank),
                "WORLD_SIZE": str(ranks),
            },
        )
        for rank in range(ranks)
    ]
    said = [process.communicate(timeout=600)[0] for process in processes]
    medians: list[float] = json.loads(said[0].splitlines()[-1])
    return medians


def main() -> None:
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    from starswitch._programs import program_path

    with tempfile.TemporaryDirectory() as directory:
        hub = f"127.0.0.1:{free_port()}"
        process = subprocess.Popen(
            [
                program_path("starswitch-hub"),
                "--directory",
                directory,
                "--listen",
                hub,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            rows: dict[str, list[list[float]]] = {"gloo": [], "starswitch": []}
            for _ in range(TURNS):
                for backend, row in rows.items():
                    row.append(measure(backend, ranks, calls, hub))
        finally:
            process.kill()
            process.wait()
    best = {
        name: [min(one) for one in zip(*row, strict=True)] for name, row in rows.items()
    }
    print(f"{ranks} ranks, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| bytes | gloo, ms | starswitch, ms | ratio |\n|--:|--:|--:|--:|")
    for i, size in enumerate(SIZES):
        gloo, ours = 1000 * best["gloo"][i], 1000 * best["starswitch"][i]
        print(f"| {size} | {gloo:.2f} | {ours:.2f} | {ours / gloo:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        rank_main(sys.argv[2], int(sys.argv[3]))
    else:
        main()
