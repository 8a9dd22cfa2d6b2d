"""What a collective of torch.distributed calls back, which may call others."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from conftest import Hub, Script
from test_distributed import LIMIT, end, losses, ranks

Hubs = Callable[..., Hub]
Scripts = Callable[..., Script]

# Several buckets, so that the next is reduced while a hook still calls for the last.
POWER = """
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
dist.init_process_group(backend)
rank = dist.get_rank()
torch.manual_seed(0)
layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]
model = torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))
model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=BUCKET)
state = power.PowerSGDState(None, 1, start_powerSGD_iter=3, min_compression_rate=1)
model.register_comm_hook(state, power.powerSGD_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
draw = torch.Generator().manual_seed(rank)
for step in range(12):
    x = torch.randn(16, WIDTH, generator=draw)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).square().mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.9f}", flush=True)
print("checksum", sum(p.double().sum().item() for p in model.parameters()))
dist.destroy_process_group()
"""


def power(width: int, layers: int, bucket: float) -> str:
    return f"WIDTH, LAYERS, BUCKET = {width}, {layers}, {bucket}\n{POWER}"


def test_ddp_with_powersgd_has_the_losses_of_gloo(hub: Hubs, script: Scripts) -> None:
    hub()
    ours = ranks(script, power(8, 2, 25), 2)
    end(ours)
    gloo = ranks(script, power(8, 2, 25), 2, BACKEND="gloo")
    for one in gloo:
        one.wait(LIMIT)  # which aborts now and then as it ends, after this hook
    for one, other in zip(ours, gloo, strict=True):
        assert len(losses(one)) == 12
        assert losses(one) == pytest.approx(losses(other), rel=0, abs=1e-6)


def test_hooks_of_several_buckets_keep_the_order(hub: Hubs, script: Scripts) -> None:
    """gloo aborts here: what a hook calls on one rank before the next bucket, it
    calls behind that on another."""
    hub()
    running = ranks(script, power(64, 8, 0.02), 3)
    end(running)
    assert len({re.findall(r"checksum (\S+)", one.text)[0] for one in running}) == 1
    assert len(losses(running[0])) == 12


CALLS = """
import threading
dist.init_process_group("starswitch")
rank = dist.get_rank()

def summed(value=1.0):
    return dist.all_reduce(torch.full((2,), value), async_op=True)

def first(future):
    return future.value()[0]

def waits(future):
    return summed(first(future)[0].item()).get_future().wait()[0]

# its own, nested and behind each other; many; one that waits as the program does
assert summed().get_future().then(waits).then(lambda f: f.value()).wait()[0] == 4
def inside(future):
    return summed().get_future().then(waits).wait() + waits(future)
assert summed().get_future().then(inside).wait()[0] == 8
def many(future):
    x = torch.ones(1)
    for _ in range(300):
        dist.all_reduce(x, dist.ReduceOp.MAX)
    return x
assert summed().get_future().then(many).wait().item() == 1

# what comes later in the program
one, later = summed(), summed(3.0)
future = one.get_future().then(lambda f: later.wait() and later.result()[0])
assert future.wait()[0] == 6
one, later = summed().get_future(), summed(3.0).get_future()
assert one.then(lambda f: later.wait()[0]).wait()[0] == 6

# before what the program calls later, on all ranks, whenever they are done
seen = []
for turn in range(50):
    future = summed().get_future()
    if (turn + rank) % 2:
        time.sleep(0.002)
    future = future.then(waits)
    x = torch.ones(1)
    work = dist.all_reduce(x, async_op=True)
    assert future.wait()[0] == 4
    work.wait()
    assert x.item() == 2

# each begins the next
left, over = 1000, threading.Event()
def again(future):
    global left
    left -= 1
    if left:
        summed().get_future().then(again)
    else:
        over.set()
summed().get_future().then(again)
assert over.wait(60)

# an error is the future's, and ends nothing
def wrong(future):
    raise ValueError("wrong")
try:
    summed().get_future().then(wrong).wait()
    raise SystemExit("no error")
except Exception as error:
    assert "wrong" in str(error)

# a message, in which another is waited for, and a collective
if rank == 0:
    x, y, z = torch.zeros(1), torch.zeros(1), torch.ones(1)
    def more(future):
        dist.recv(y, 1)
        dist.all_reduce(z)
        return x + y + z
    assert dist.irecv(x, 1).get_future().then(more).wait().item() == 5
else:
    dist.send(torch.ones(1), 0)
    dist.send(torch.full((1,), 2.0), 0)
    dist.all_reduce(torch.ones(1))

dist.barrier()
summed().get_future().then(lambda f: dist.destroy_process_group()).wait()
until = time.monotonic() + 10
while threading.active_count() > 1 and time.monotonic() < until:
    time.sleep(0.01)
assert threading.active_count() == 1, threading.enumerate()
print("all is well", flush=True)
"""


def test_what_is_called_back_calls_others(hub: Hubs, script: Scripts) -> None:
    hub()
    running = ranks(script, CALLS, 2)
    end(running)
    assert all("all is well" in one.text for one in running)


def test_what_is_called_back_and_cannot_be_ends_in_time(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    source = """
from datetime import timedelta
dist.init_process_group("starswitch", timeout=timedelta(seconds=4))
future = dist.all_reduce(torch.ones(1), async_op=True).get_future()
if dist.get_rank() == 0:
    def alone(_):
        return dist.all_reduce(torch.ones(1), async_op=True).get_future().wait()
    future = future.then(alone)
    try:
        future.wait()
    except RuntimeError as error:
        print("error", error, flush=True)
else:
    future.wait()
    time.sleep(100)
"""
    running = ranks(script, source, 2)
    running[0].wait_for("waited 4.0 s for the others", 60)
    assert running[0].wait(60) == 0, running[0].text
    running[1].kill()
