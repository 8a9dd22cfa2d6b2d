"""Several processes of one PC are one node."""

from __future__ import annotations

from collections.abc import Callable

from conftest import Hub, Script, free_port

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
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
link = starswitch.attach(model, optimizer)
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
own = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
both = [torch.empty_like(own), torch.empty_like(own)]
dist.all_gather(both, own)
with link.center():
    pass
link.detach()
print("equal" if torch.equal(*both) else "not equal", link.state().name or "-",
      flush=True)
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
