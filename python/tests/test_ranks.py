"""Several processes of one PC are one node."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import starswitch
import torch
from conftest import Hub, Script, free_port, small_model, train, until
from starswitch import _library as c
from starswitch import _link

RANK = """
import sys, torch, torch.distributed as dist, starswitch
from torch.nn.parallel import DistributedDataParallel
sys.path.insert(0, sys.argv[3])
from conftest import batch, small_model
rank = int(sys.argv[1])
torch.set_num_threads(1)
dist.init_process_group("gloo", f"tcp://127.0.0.1:{sys.argv[2]}", rank=rank,
                        world_size=2)
model = DistributedDataParallel(small_model(rank))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
link = starswitch.attach(model, optimizer)
resets = []  # (step, momenta that are left)
replaced = link._parameters.replaced
def count(reset):
    replaced(reset)
    if reset:
        resets.append((steps, len(optimizer.state)))
link._parameters.replaced = count
applied, steps = torch.zeros(1), 0
while applied.item() < 6:
    x, y = batch(2 * steps + rank)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    link.report(loss=loss, samples=len(x))
    optimizer.step()
    steps += 1
    if rank == 0:
        applied.fill_(link.state().applied)
    dist.broadcast(applied, 0)
def flat():
    return torch.cat([one.detach().reshape(-1) for one in model.parameters()])
def same():
    own = flat()
    both = [torch.empty_like(own), torch.empty_like(own)]
    dist.all_gather(both, own)
    return torch.equal(*both)
equal, own = same(), flat()
with link.center(all_ranks=True):
    equal = equal and same()
    held = flat()
equal = equal and torch.equal(own, flat()) and not torch.equal(own, held)
with link.center():
    equal = equal and torch.equal(flat(), held if rank == 0 else own)
link.detach()
with link.center(all_ranks=True):
    equal = equal and same() and not torch.equal(own, flat())
print("equal" if equal else "not equal", link.state().name or "-",
      *(f"{step}:{left}" for step, left in resets), flush=True)
dist.barrier()
dist.destroy_process_group()
"""


def test_local_ranks_are_one_node_and_stay_equal(
    hub: Callable[..., Hub], script: Callable[..., Script]
) -> None:
    star = hub("--every", 4, "--delay", 2)
    port = free_port()
    here = __file__.rpartition("/")[0]
    ranks = [script(RANK, rank, port, here) for rank in range(2)]
    for one in ranks:
        assert one.wait() == 0, one.text
        assert one.lines[-1].startswith("equal"), one.text
    assert ranks[1].lines[-1].split()[1] == "-"
    assert len(star.told("node_joined")) == 1


@pytest.mark.parametrize("optimizer", ["reset", "keep"])
def test_all_ranks_forget_their_optimizers_state(
    hub: Callable[..., Hub], script: Callable[..., Script], optimizer: str
) -> None:
    """They come to a run that has parameters, which they take over."""
    hub("--every", 4, "--delay", 2, "--init", "hub", "--optimizer", optimizer)
    model = small_model(7)
    first = torch.optim.SGD(model.parameters(), lr=0.05)
    with starswitch.attach(model, first, name="first") as link:
        link.wait_ready(20)
        train(
            model,
            first,
            10**4,
            link,
            pause=1e-3,
            stop=lambda: link.state().applied > 2,
        )
    port = free_port()
    here = __file__.rpartition("/")[0]
    ranks = [script(RANK, rank, port, here) for rank in range(2)]
    told = []
    for one in ranks:
        assert one.wait() == 0, one.text
        assert one.lines[-1].startswith("equal"), one.text
        told.append(one.lines[-1].split()[2:])
    assert told[0] == told[1]
    assert bool(told[0]) == (optimizer == "reset")
    assert all(one.endswith(":0") for one in told[0])


class Told:
    """Ranks of one process: what the owner says, the next one is told."""

    size = 2

    def __init__(self) -> None:
        self.verdict = -1

    def share(self, verdict: int) -> int:
        if self.verdict < 0:
            self.verdict = verdict
        return self.verdict

    def spread(self, values: object) -> object:
        return values


def test_all_ranks_hear_at_the_same_step_that_it_is_over(
    hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who left the loop before the others would leave them in a backward."""
    hub("--every", 2, "--delay", 1)
    owner = starswitch.attach(small_model(), name="same")
    owner.wait_ready(20)
    owner._find_ranks = Told
    monkeypatch.setenv("LOCAL_RANK", "1")
    other = starswitch.attach(small_model())
    _link._links.clear()  # as if the newer one were of another process
    monkeypatch.delenv("LOCAL_RANK")
    newer = starswitch.attach(small_model(), name="same")
    closed = c.star_status.STAR_CLOSED
    until(lambda: owner._lib.star_wait(owner._handle, 0.0) == closed)
    assert not owner.over and not owner.over
    owner.step()
    assert owner.over
    other._find_ranks = lambda: owner._crew
    other.step()
    assert other.over
    newer.detach()
