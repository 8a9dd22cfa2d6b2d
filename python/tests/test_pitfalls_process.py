"""Pitfalls of processes: forks, spawns, notebooks, ends, other libraries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
import starswitch
import torch
from conftest import free_port, small_model, train, until

EVERY = ("--every", 5, "--delay", 2)


class Samples(torch.utils.data.Dataset):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 16

    def __getitem__(self, i: int) -> Any:
        return torch.full((8,), float(i)), i % 3


def test_p15_workers_forked_while_exchanges_run(hub: Any) -> None:
    """4 workers, started 100 times; the hub hears of no goodbye."""
    one = hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    train(model, optimizer, 10**4, link, pause=1e-3, stop=lambda: link.attached)
    loader = torch.utils.data.DataLoader(
        Samples(), batch_size=4, num_workers=4, multiprocessing_context="fork"
    )
    begun = time.monotonic()
    for epoch in range(100):
        seen = 0
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            seen += len(x)
        assert seen == 16
        # As many restarts as time allows on a machine that others use, too.
        if epoch >= 30 and time.monotonic() - begun > 30:
            break
    print(f"{epoch + 1} restarts")
    state = link.state()
    assert state.attached and state.applied > 5
    assert not one.told("node_left") and not one.told("node_lost")
    assert len(one.told("node_joined")) == 1
    link.detach()
    one.wait_for("node_left")
    assert len(one.told("node_left")) == 1


def test_p15_link_is_inert_in_a_child(hub: Any) -> None:
    one = hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    train(model, optimizer, 10**4, link, pause=1e-3, stop=lambda: link.attached)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(model, optimizer, 3, link)
            link.report(loss=1.0)
            link.step()
            with link.center():
                pass
            link.detach()
            assert not link.attached and "child" in link.state().text
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    train(model, optimizer, 50, link, pause=1e-3)
    assert link.attached and not one.told("node_left")


SPAWNS = """
import multiprocessing, sys
import torch, starswitch
from conftest import small_model, train
model = small_model()
optimizer = torch.optim.SGD(model.parameters(), 0.01)
link = starswitch.attach(model, optimizer, name="spawner")

def work(queue):
    queue.put((link._handle is None, link.state().text))

if __name__ == "__main__":
    train(model, optimizer, 10**4, link, pause=1e-3, stop=lambda: link.attached)
    for kind in ("spawn", "forkserver"):
        context = multiprocessing.get_context(kind)
        queue = context.Queue()
        child = context.Process(target=work, args=[queue])
        child.start()
        inert, text = queue.get(timeout=200)
        child.join()
        assert inert, text
        print(kind, text, flush=True)
    train(model, optimizer, 50, link, pause=1e-3)
    assert link.attached
"""


def test_p15_spawned_processes_attach_nothing(
    hub: Any, script: Any, tmp_path: Any
) -> None:
    one = hub(*EVERY)
    file = tmp_path / "spawns.py"
    file.write_text(SPAWNS)
    done = subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "reads the script again" in done.stdout
    assert len(one.told("node_joined")) == 1


ENDS = """
    import os, sys, time, torch, starswitch
    from conftest import small_model, train
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer, name="ends" + sys.argv[1])
    train(model, optimizer, 10**5, link, pause=1e-3,
          stop=lambda: link.state().applied > 2)
    print("ready", flush=True)
    if sys.argv[1] == "raises":
        raise RuntimeError("the script's own")
    train(model, optimizer, 10**7, link, pause=1e-3)
"""


@pytest.mark.parametrize("how", ["ctrl-c", "raises", "kill"])
def test_p24_goodbye(hub: Any, script: Any, how: str) -> None:
    """Ctrl-C and an exception end with a goodbye; nobody can after SIGKILL."""
    one = hub(*EVERY)
    node = script(ENDS, how)
    node.wait_for("ready")
    if how == "ctrl-c":
        node.kill(signal.SIGINT)
    elif how == "kill":
        node.kill(signal.SIGKILL)
    code = node.wait(30)
    assert code != 0
    if how == "kill":
        one.wait_for("node_lost")
        assert not one.told("node_left")
        return
    one.wait_for("node_left")
    assert ("KeyboardInterrupt" if how == "ctrl-c" else "script's own") in node.text
    assert not one.told("node_lost")


def test_p24_ctrl_c_while_it_waits_for_a_result(hub: Any, script: Any) -> None:
    """With --delay 0 a step waits, here for a node that does not come: Ctrl-C is
    heard at once."""
    hub("--every", 5, "--delay", 0, "--nodes", 1, "--gate", "sync", "--wait", "60s")
    node = script(ENDS, "waits")
    other = script(ENDS, "stops")
    node.wait_for("ready")
    other.wait_for("ready")
    other.kill(signal.SIGSTOP)
    time.sleep(1)
    node.kill(signal.SIGINT)
    begin = time.monotonic()
    node.wait(30)
    assert time.monotonic() - begin < 15
    assert "KeyboardInterrupt" in node.text
    other.kill(signal.SIGKILL)


@pytest.mark.parametrize("when", ["never", "gone"])
def test_exit_without_a_hub_is_quick(hub: Any, script: Any, when: str) -> None:
    if when == "gone":
        one = hub(*EVERY)
    node = script(
        """
        import time, torch, starswitch
        from conftest import small_model, train
        model = small_model()
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        link = starswitch.attach(model, optimizer, name="ends")
        import sys
        if sys.argv[1] == "gone":
            link.wait_ready(30)
            train(model, optimizer, 100, link, pause=1e-3)
            print("ready", flush=True)
            time.sleep(1)
        train(model, optimizer, 20, link, pause=1e-3)
        begin = time.monotonic()
        link.detach()
        print("took", time.monotonic() - begin)
        """,
        when,
    )
    if when == "gone":
        node.wait_for("ready")
        one.kill()
    assert node.wait() == 0, node.text
    took = float(node.text.split("took")[1].split()[0])
    assert took < 3, took
    print(took)


def joined(link: Any, model: Any, optimizer: Any) -> None:
    train(model, optimizer, 10**4, link, pause=1e-3, stop=lambda: link.attached)


def test_p25_a_cell_run_three_times(hub: Any) -> None:
    one = hub(*EVERY)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for i in range(3):
        if i == 2:  # a cell that makes the model anew
            model = small_model()
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
        link = starswitch.attach(model, optimizer)
        joined(link, model, optimizer)
        steps = link.state().iteration
        train(model, optimizer, 5, link)
        assert link.state().iteration == steps + 5
    assert len(optimizer._optimizer_step_post_hooks) == 1
    here = [node for node in one.status()["nodes"] if not node["gone"]]
    assert len(here) == 1, here
    assert len({node["name"] for node in one.status()["nodes"]}) == 1
    link.detach()
    assert not optimizer._optimizer_step_post_hooks


ZMQ = """
    import sys, threading
    order, key = sys.argv[1:]
    if order == "zmq first":
        import zmq, zmq.auth
    import torch, starswitch
    from conftest import small_model, train
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer, key=key)
    if order != "zmq first":
        import zmq, zmq.auth
    link.wait_ready(30)
    context = zmq.Context()
    public, secret = zmq.curve_keypair()
    server, client = context.socket(zmq.REP), context.socket(zmq.REQ)
    server.curve_server, server.curve_secretkey = True, secret
    port = server.bind_to_random_port("tcp://127.0.0.1")
    client.curve_serverkey = public
    client.curve_publickey, client.curve_secretkey = zmq.curve_keypair()
    client.connect(f"tcp://127.0.0.1:{port}")
    for i in range(50):
        train(model, optimizer, 5, link, pause=1e-3)
        client.send(b"%d" % i)
        assert server.poll(10000)
        server.send(server.recv())
        assert client.recv() == b"%d" % i
    assert link.attached and link.state().applied > 3, link.state()
    link.detach()
    client.close(), server.close(), context.term()
    print("well", zmq.zmq_version())
"""


@pytest.mark.parametrize("order", ["zmq first", "starswitch first"])
def test_p31_pyzmq_in_the_same_process(
    hub: Any, script: Any, order: str, tmp_path: Any
) -> None:
    pytest.importorskip("zmq")
    keys = tmp_path / "keys"
    hub(*EVERY, "--keys", keys)
    key = (keys / "invitation").read_text().strip()
    node = script(ZMQ, order, key)
    assert node.wait() == 0, node.text
    assert "well" in node.text


def test_import_is_quick_and_alone() -> None:
    """Below 50 ms in a new process, the best of ten; none of the frameworks."""
    source = (
        "import time; t = time.perf_counter(); import starswitch; "
        "t = time.perf_counter() - t; import sys; "
        "print(t, *{'torch', 'numpy', 'jax'} & set(sys.modules))"
    )
    times = []
    for _ in range(10):
        out = subprocess.run(
            [sys.executable, "-c", source],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert len(out) == 1, out
        times.append(float(out[0]))
    print(f"import: {min(times) * 1e3:.1f} ms")
    assert min(times) < 0.05
    # And so is the link's own module, which attach imports.
    source = source.replace("import starswitch;", "import starswitch._link;")
    out = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(out) == 1, out


RANKS = """
    import os, sys, time
    rank = int(os.environ["LOCAL_RANK"])
    import torch, torch.distributed as dist, starswitch
    from conftest import batch, small_model
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = small_model(rank)
    wraps = sys.argv[1] == "ddp"
    if wraps:
        train_model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        for p in model.parameters():
            dist.broadcast(p.data, 0)
        train_model = model
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    link = starswitch.attach(train_model if wraps else model, optimizer)
    checks = 0
    for i in range(10**4):
        x, y = batch(2 * i + rank)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(train_model(x), y)
        loss.backward()
        if not wraps:
            for p in model.parameters():
                dist.all_reduce(p.grad)
                p.grad /= 2
        link.report(loss=loss, samples=len(x))
        optimizer.step()
        mine = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        both = [torch.zeros_like(mine) for _ in range(2)]
        dist.all_gather(both, mine)
        assert torch.equal(*both), (i, (both[0] - both[1]).abs().max())
        enough = torch.tensor(float(link.state().applied >= 10))
        dist.all_reduce(enough)
        if enough:
            break
    print("rank", rank, "steps", i, "applied", link.state().applied, flush=True)
    link.detach()
    dist.destroy_process_group()
"""


@pytest.mark.parametrize("how", ["ddp", "by hand"])
def test_local_rank(hub: Any, script: Any, how: str) -> None:
    """Two processes of one model are one node, and step by step the same."""
    one = hub(*EVERY)
    environment = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
    }
    ranks = [
        script(RANKS, how, RANK=str(i), LOCAL_RANK=str(i), **environment)
        for i in range(2)
    ]
    for rank in ranks:
        assert rank.wait() == 0, rank.text
    assert "applied 0" in ranks[1].text
    assert len(one.told("node_joined")) == 1
    until(lambda: one.told("node_left"))


def test_local_rank_without_a_group(monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    link = starswitch.attach(model, optimizer)
    link.wait_ready(1)
    train(model, optimizer, 3, link)
    assert "LOCAL_RANK is 1" in caplog.text
    assert not link.attached and link._handle is None
