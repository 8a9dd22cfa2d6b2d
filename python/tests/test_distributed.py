"""The backend "starswitch" of torch.distributed: real hubs, ranks in processes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Hub, Script, free_port

Hubs = Callable[..., Hub]
Scripts = Callable[..., Script]

LIMIT = 240.0  # seconds; four processes import torch on a loaded machine

BEGIN = """
import os, sys, time
import torch, torch.distributed as dist
torch.set_num_threads(1)
backend = os.environ.get("BACKEND", "starswitch")
if backend == "starswitch":
    import starswitch.distributed
"""


def ranks(script: Scripts, source: str, count: int, **environment: str) -> list[Script]:
    """So many processes, as torchrun starts them."""
    port = str(free_port())
    return [
        script(
            BEGIN + source,
            RANK=str(rank),
            WORLD_SIZE=str(count),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=port,
            **environment,
        )
        for rank in range(count)
    ]


def end(scripts: list[Script]) -> None:
    for one in scripts:
        assert one.wait(LIMIT) == 0, one.text


# A DDP script that knows nothing of starswitch but its name.
DDP = """
dist.init_process_group(backend)
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)  # DDP gives all the parameters of rank 0
model = torch.nn.Sequential(
    torch.nn.Linear(16, 64), torch.nn.BatchNorm1d(64), torch.nn.Tanh(),
    torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4),
)
model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.01)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
steps = int(os.environ.get("STEPS", 200))
began = time.monotonic()
for step in range(steps):
    draw = torch.Generator().manual_seed(step * world + rank)
    x = torch.randn(32, 16, generator=draw)
    y = x[:, :4].argmax(1)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    if os.environ.get("NOTES"):
        print("step", step, flush=True)
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.9f}", flush=True)
    time.sleep(float(os.environ.get("PAUSE", 0)))
print("checksum", sum(p.double().sum().item() for p in model.parameters()))
print(f"took {time.monotonic() - began:.2f} s")
dist.destroy_process_group()
"""


def losses(script: Script) -> list[float]:
    return [float(one) for one in re.findall(r"loss (\S+)", script.text)]


def checksums(scripts: list[Script]) -> set[str]:
    return {re.findall(r"checksum (\S+)", one.text)[0] for one in scripts}


# After it, in the same processes: parameters without gradients, which differ by rank
# and step; accumulation; float64 in a static graph; a sharded optimizer; a hook that
# compresses; ranks with more data than others.
MORE = """
from contextlib import nullcontext
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.optim import ZeroRedundancyOptimizer
Wrapped, nn = torch.nn.parallel.DistributedDataParallel, torch.nn

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4)
        self.last, self.unused = nn.Linear(56, 4), nn.Linear(3, 3)
        self.sometimes = nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.count += 1 + rank
        out = self.last(self.norm(self.conv(x[:, None])).flatten(1))
        return self.sometimes(out) if (self.count + rank) % 3 else out

def train(model, optimizer, steps=6, parts=1):
    for step in range(steps):
        optimizer.zero_grad()
        for part in range(parts):
            draw = torch.Generator().manual_seed((parts * step + part) * world + rank)
            x = torch.randn(8, 16, generator=draw, dtype=dtype)
            with model.no_sync() if part < parts - 1 else nullcontext():
                loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
                loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.9f}", flush=True)

def plain():
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)).to(dtype)

dtype = torch.float32
model = Wrapped(Odd(), find_unused_parameters=True)
train(model, torch.optim.SGD(model.parameters(), lr=0.05))
model = Wrapped(plain())
train(model, torch.optim.SGD(model.parameters(), lr=0.05), parts=3)
model = Wrapped(plain())
train(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=1e-3))
model = Wrapped(plain())
with model.join():
    train(model, torch.optim.SGD(model.parameters(), lr=0.05), steps=3 + 2 * rank)
dtype = torch.float64
model = Wrapped(plain(), static_graph=True, gradient_as_bucket_view=True)
train(model, torch.optim.SGD(model.parameters(), lr=0.05))
"""


def test_ddp_unchanged_has_the_losses_of_gloo(hub: Hubs, script: Scripts) -> None:
    hub()
    source = DDP.replace("dist.destroy", MORE + "dist.destroy")
    ours = ranks(script, source, 4)
    end(ours)
    gloo = ranks(script, source, 4, BACKEND="gloo")
    end(gloo)
    worst = 0.0
    for rank, (one, other) in enumerate(zip(ours, gloo, strict=True)):
        assert len(losses(one)) == len(losses(other)) == 227 + 2 * rank
        worst = max(
            worst,
            *(abs(a - b) for a, b in zip(losses(one), losses(other), strict=True)),
        )
    took = [re.findall(r"took (\S+)", one[0].text)[0] for one in (ours, gloo)]
    print(f"largest difference {worst:.2e}; {took[0]} s, gloo {took[1]} s")
    assert worst < 1e-6
    assert losses(ours[0])[199] < losses(ours[0])[0] / 2
    assert len(checksums(ours)) == 1


@pytest.mark.parametrize("victim", [2, 0])
def test_elastic_ranks_go_on_when_one_is_killed(
    hub: Hubs, script: Scripts, victim: int
) -> None:
    hub()
    running = ranks(script, DDP, 4, STARSWITCH_ELASTIC="1", STEPS="120", PAUSE="0.02")
    for one in running:
        one.wait_for("loss", LIMIT)
    running[victim].kill()
    killed = time.monotonic()
    left = [one for rank, one in enumerate(running) if rank != victim]
    marks = [len(one.lines) for one in left]
    for one, mark in zip(left, marks, strict=True):
        one.wait_for(f"rank {victim} lost", 10)
        until_more(one, mark + 3)
    print(f"went on after {time.monotonic() - killed:.2f} s")
    end(left)
    assert all(len(losses(one)) == 120 for one in left)
    assert all("the other 3 go on" in one.text for one in left)
    assert len(checksums(left)) == 1
    assert losses(left[0])[-1] < losses(left[0])[0]


def until_more(script: Script, lines: int) -> None:
    from conftest import until

    until(lambda: len(script.lines) >= lines, 10, f"more: {script.text}")


def test_without_elastic_a_killed_rank_is_an_error_at_once(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    running = ranks(script, DDP, 4, STEPS="2000", PAUSE="0.02")
    for one in running:
        one.wait_for("loss", LIMIT)
    running[2].kill()
    killed = time.monotonic()
    left = [*running[:2], running[3]]
    for one in left:
        one.wait_for("rank 2 lost", 10)
    took = time.monotonic() - killed
    print(f"an error after {took:.2f} s")
    assert took < 10
    for one in left:
        assert "STARSWITCH_ELASTIC=1" in one.text
        assert one.wait(LIMIT) == 1, one.text


def test_a_rank_that_was_lost_cannot_come_back(
    hub: Hubs, script: Scripts, tmp_path: Path
) -> None:
    hub()
    port = str(free_port())
    places = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment = {**places, "STARSWITCH_ELASTIC": "1", "PAUSE": "0.05", "STEPS": "500"}
    # It may hear that the run has begun later than the others' silence is long. To
    # import torch may take as long as the run: that is done before.
    hasty = (
        BEGIN
        + "starswitch.distributed.SILENCE = starswitch.distributed.BEAT = 0\n"
        + 'print("imported", flush=True)\n'
        + 'while not os.path.exists(os.environ["LOST"]):\n    time.sleep(0.01)\n'
        + DDP
    )
    lost = tmp_path / "lost"
    again = script(hasty, RANK="2", LOST=str(lost), **environment)
    again.wait_for("imported", LIMIT)
    running = [script(BEGIN + DDP, RANK=str(i), **environment) for i in range(3)]
    for one in running:
        one.wait_for("loss", LIMIT)
    running[2].kill()
    lost.touch()
    assert again.wait(LIMIT) == 1, again.text
    assert "a rank that was lost cannot come back" in again.text
    end(running[:2])
    assert all(len(losses(one)) == 500 for one in running[:2])
    assert len(checksums(running[:2])) == 1


EVERYTHING = """
dist.init_process_group("starswitch")
rank, world = dist.get_rank(), dist.get_world_size()
assert dist.get_backend() == "starswitch"
O = dist.ReduceOp

def reduced(tensor, op=O.SUM):
    dist.all_reduce(tensor, op)
    return tensor

one = rank + 1
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int8,
              torch.uint8, torch.int16, torch.int32, torch.int64):
    for op, expected in [(O.SUM, 6), (O.MAX, 3), (O.MIN, 1), (O.PRODUCT, 6)]:
        assert (reduced(torch.full((3, 2), one, dtype=dtype), op) == expected).all()
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
    assert (reduced(torch.full((3,), one, dtype=dtype), O.AVG) == 2).all()
assert reduced(torch.tensor([1 << rank]), O.BOR).item() == 7
assert reduced(torch.tensor([15 - (1 << rank)]), O.BAND).item() == 8
assert reduced(torch.tensor([one]), O.BXOR).item() == 0
assert reduced(torch.tensor([rank == 0, False])).tolist() == [True, False]
assert reduced(torch.tensor([rank == 0, True]), O.MIN).tolist() == [False, True]
assert reduced(torch.tensor(float(one))).item() == 6
assert reduced(torch.empty(0)).numel() == 0
assert reduced(torch.tensor([1 + 2j]) * one).tolist() == [6 + 12j]
gaps = torch.zeros(4, 6)
gaps[:, ::2] = one
reduced(gaps[:, ::2])
assert gaps.sum() == 6 * 12 and gaps.stride() == (6, 1)
needs = torch.nn.Parameter(torch.ones(3))
reduced(needs.data)
assert needs.tolist() == [3, 3, 3]
try:
    reduced(torch.tensor([1]), O.AVG)
    raise SystemExit("integers have no mean")
except RuntimeError as error:
    assert "no mean" in str(error)

# many at once, in order
fills = [torch.full((1000,), float(i)) for i in range(9)]
works = [dist.all_reduce(fill, async_op=True) for fill in fills]
sums = [work.result()[0][0].item() for work in works if work.wait()]
assert sums == [3.0 * i for i in range(9)]
assert works[0].is_completed() and works[0].is_success()
future = dist.all_reduce(torch.ones(2), async_op=True).get_future()
assert future.then(lambda f: f.value()[0] / world).wait().tolist() == [1, 1]

x = torch.full((2,), rank)
dist.broadcast(x, 1)
assert x.tolist() == [1, 1]
out = [torch.empty(2, dtype=torch.bfloat16) for _ in range(world)]
dist.all_gather(out, torch.full((2,), rank, dtype=torch.bfloat16))
assert [o[0].item() for o in out] == [0, 1, 2]
flat = torch.empty(world * 2, dtype=torch.bool)
dist.all_gather_into_tensor(flat, torch.tensor([rank == 1, True]))
assert flat.tolist() == [False, True, True, True, False, True]
x = torch.full((2,), float(one))
dist.reduce(x, 2)
assert x.tolist() == ([6, 6] if rank == 2 else [one, one])
out = [torch.empty(2) for _ in range(world)] if rank == 1 else None
dist.gather(torch.full((2,), float(rank)), out, dst=1)
assert out is None or [o[0].item() for o in out] == [0, 1, 2]
x = torch.empty(2)
parts = [torch.full((2,), float(i)) for i in range(world)] if rank == 0 else None
dist.scatter(x, parts, src=0)
assert x.tolist() == [rank, rank]
x = torch.empty(2)
dist.reduce_scatter(x, [torch.full((2,), float(i + rank)) for i in range(world)])
assert x.tolist() == [3 * rank + 3] * 2
x = torch.empty(2)
dist.reduce_scatter_tensor(x, torch.arange(6.0))
assert x.tolist() == [3 * 2 * rank, 3 * (2 * rank + 1)]
out = [torch.empty(i + 1) for i in range(world)]
for_each = [torch.full((rank + 1,), float(10 * rank + i)) for i in range(world)]
dist.all_to_all(out, for_each)
assert [o[0].item() for o in out] == [rank, 10 + rank, 20 + rank]
x = torch.empty(3)
dist.all_to_all_single(x, torch.arange(3.0) + 10 * rank)
assert x.tolist() == [rank, 10 + rank, 20 + rank]
said = [None] * world
dist.all_gather_object(said, {"rank": rank})
assert said == [{"rank": i} for i in range(world)]
said = [f"from {rank}"]
dist.broadcast_object_list(said, src=2)
assert said == ["from 2"]
dist.barrier()

# messages, around a ring, with a collective between
to, source = (rank + 1) % world, (rank - 1) % world
place = torch.empty(5, 2).t()
first = dist.irecv(place, source, tag=3)
reduced(torch.ones(1))
second = dist.isend(torch.full((2, 5), float(rank)), to, tag=3)
first.wait(), second.wait()
assert (place == source).all()
if rank == 0:
    dist.send(torch.tensor([7]), 1)
elif rank == 1:
    x = torch.zeros(1, dtype=torch.int64)
    assert dist.recv(x) == 0 and x.item() == 7
pair = [dist.P2POp(dist.isend, torch.full((3,), float(rank)), to),
        dist.P2POp(dist.irecv, (x := torch.empty(3)), source)]
for work in dist.batch_isend_irecv(pair):
    work.wait()
assert x.tolist() == [source] * 3

# groups
whole = dist.new_group()
x = torch.ones(1)
dist.all_reduce(x, group=whole)
assert x.item() == 3
try:
    dist.new_group([0, 1])
    assert rank == 2
except RuntimeError as error:
    assert "one group, of all ranks" in str(error)
dist.barrier()
print("all is well", flush=True)
dist.destroy_process_group()
"""


def test_every_collective_of_every_kind(hub: Hubs, script: Scripts) -> None:
    hub()
    running = ranks(script, EVERYTHING, 3)
    end(running)
    assert all("all is well" in one.text for one in running)


def test_ranks_come_from_the_hub_where_none_are_said(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    source = (
        BEGIN
        + """
dist.init_process_group("starswitch")
x = torch.tensor([float(dist.get_rank())])
dist.all_reduce(x)
store = dist.distributed_c10d._get_default_store()
store.set(f"key{dist.get_rank()}", "value")
assert store.get(f"key{(dist.get_rank() + 1) % 3}") == b"value"
dist.barrier()
print("rank", dist.get_rank(), "of", dist.get_world_size(), x.item(), flush=True)
dist.destroy_process_group()
"""
    )
    running = [script(source, WORLD_SIZE="3") for _ in range(3)]
    end(running)
    said = sorted(re.findall(r"rank \d of 3 3.0", "".join(r.text for r in running)))
    assert said == [f"rank {rank} of 3 3.0" for rank in range(3)]


def test_without_a_hub_the_error_says_what_to_do(script: Scripts) -> None:
    source = """
options = starswitch.distributed.Options(wait=1)
dist.init_process_group("starswitch", pg_options=options)
"""
    (one,) = ranks(script, source, 1)
    assert one.wait(LIMIT) == 1, one.text
    for words in ("nothing listens", "$STARSWITCH_HUB", "start starswitch-hub"):
        assert words in one.text


def test_a_rank_killed_while_the_others_are_waited_for(
    hub: Hubs, script: Scripts
) -> None:
    """The hub waits for all three, of whom the last never comes."""
    hub()
    port = str(free_port())
    environment = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    begin = """
import starswitch.distributed as ours
hear = ours._hear_all
def said(*arguments):
    print("waits", flush=True)
    hear(*arguments)
ours._hear_all = said
dist.init_process_group("starswitch")
"""
    # It is there for torch, and not for the hub.
    absent = "dist.TCPStore('127.0.0.1', int(os.environ['MASTER_PORT']), 3)"
    script(f"{BEGIN}\n{absent}\ntime.sleep(100)", **environment)
    running = [script(BEGIN + begin, RANK=str(i), **environment) for i in range(2)]
    for one in running:
        one.wait_for("waits", LIMIT)
    time.sleep(2)
    running[1].kill()
    running[0].wait_for("rank 1 was lost while the run began", 10)
    assert running[0].wait(LIMIT) == 1, running[0].text


AGAIN = """
for turn in range(6):
    dist.init_process_group("starswitch")
    try:
        dist.init_process_group("starswitch")
    except ValueError as error:
        assert "twice" in str(error)
    world = dist.get_world_size()
    one, other = dist.new_group(), dist.new_group(list(range(world)))
    if turn == 0:  # gloo's addresses of the first run stay in torchrun's store
        beside = dist.new_group(backend="gloo")
    x, y = torch.ones(1), torch.ones(1)
    works = [dist.all_reduce(x, group=one, async_op=True),
             dist.all_reduce(y, group=other, async_op=True)]
    for work in reversed(works):
        work.wait()
    dist.destroy_process_group(one)
    dist.all_reduce(x, group=other)
    dist.all_reduce(y, group=other if turn else beside)
    assert x.item() == y.item() == world**2
    dist.destroy_process_group()
dist.init_process_group("starswitch")
dist.barrier()
print("not destroyed", flush=True)
"""


def test_torchrun_groups_and_a_second_run(
    hub: Hubs, script: Scripts, tmp_path: Path
) -> None:
    hub()
    program = tmp_path / "train.py"
    program.write_text(BEGIN + AGAIN)
    run = "from torch.distributed.run import main; main()"
    words = ("--nproc-per-node", 2, "--master-port", free_port(), program)
    one = script(run, *words)
    assert one.wait(LIMIT) == 0, one.text
    assert one.text.count("not destroyed") == 2


def test_ctrl_c_ends_a_rank_that_waits(hub: Hubs, script: Scripts) -> None:
    import signal

    hub()
    source = """
dist.init_process_group("starswitch")
try:
    if dist.get_rank() == 0:
        print("waits", flush=True)
        dist.barrier()
    else:
        time.sleep(100)
except KeyboardInterrupt:
    print("interrupted", flush=True)
dist.destroy_process_group()
print("ended", flush=True)
"""
    running = ranks(script, source, 2)
    running[0].wait_for("waits", LIMIT)
    pressed = time.monotonic()
    running[0].kill(signal.SIGINT)
    running[0].wait_for("interrupted", 5)
    assert time.monotonic() - pressed < 2
    running[0].wait_for("ended", 20)
    assert running[0].wait(LIMIT) == 0
    running[1].kill()


def test_a_message_from_a_lost_rank_is_not_waited_for(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    source = """
dist.init_process_group("starswitch")
print("begun", flush=True)
if dist.get_rank() == 0:
    try:
        dist.recv(torch.empty(1), src=1)
    except RuntimeError as error:
        print("error", error, flush=True)
    if os.fork() == 0:
        try:
            dist.barrier()
        except RuntimeError as error:
            print("child", error, flush=True)
        os._exit(0)
    os.wait()
else:
    time.sleep(100)
"""
    running = ranks(script, source, 3)
    for one in running:
        one.wait_for("begun", LIMIT)
    running[1].kill()
    running[0].wait_for("error starswitch: 2 of 3 ranks are left", 10)
    running[0].wait_for("child starswitch:", 10)
    assert running[0].wait(LIMIT) == 0, running[0].text
    running[2].kill()


def test_a_hub_that_is_gone_is_an_error(hub: Hubs, script: Scripts) -> None:
    one_hub = hub()
    running = ranks(script, DDP, 2, STEPS="4000", PAUSE="0.02")
    for one in running:
        one.wait_for("loss", LIMIT)
    one_hub.kill()
    killed = time.monotonic()
    for one in running:
        assert one.wait(LIMIT) == 1, one.text
    took = time.monotonic() - killed
    assert took < 40  # 10 s that a hub may be away, and a loaded machine
    for one in running:
        # What is said depends on where in a step it was, and who was first.
        assert re.search(
            r"connection to the hub was lost|waited 10\.0 s for the hub"
            r"|nothing listens|rank \d lost",
            one.text,
        ), one.text
