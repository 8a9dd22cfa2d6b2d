"""Which samples a node trains on: each once an epoch, whatever dies."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import starswitch
from conftest import until
from starswitch import _library as c
from starswitch.sampler import Order, Sampler

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402


class Ledger:
    """A link whose hub gives out tasks; what is done is noted with what had been
    trained on by then."""

    def __init__(self, parts: int = 0, epochs: int = 1) -> None:
        self._handle: Any = object()
        self._lib = self
        self._watchers: list[Any] = []
        self._find_ranks = self._crew = None
        self._samples = 0
        self._advice = c.star_advice.STAR_GO
        self.attached = True
        self.shard, self.shards = 0, 1
        self.parts, self.epochs = parts, epochs
        self.epoch, self.todo = 0, list(range(parts))
        self.doing: set[int] = set()
        self.trained: list[int] = []  # samples, by step
        self.done: list[tuple[int, int, list[int]]] = []
        self.failed: list[int] = []
        self.heard = 0

    def _hear(self) -> None:
        self.heard += 1

    def state(self) -> starswitch.State:
        return starswitch.State(
            attached=self.attached,
            shard=self.shard,
            shards=self.shards,
            tasks=self.parts if self.attached else 0,
        )

    def star_task_next(self, _: Any, out: Any) -> int:
        if self.parts and self.epoch == self.epochs:
            return c.star_next.STAR_TASKS_OVER
        if not self.todo:
            return c.star_next.STAR_NO_TASK
        part = self.todo.pop(0)
        raw = out._obj
        raw.id = self.epoch * self.parts + part + 1
        raw.epoch, raw.part, raw.parts = self.epoch, part, self.parts
        self.doing.add(raw.id)
        return c.star_next.STAR_TASK

    def star_task_done(self, _: Any, number: int, ok: int) -> int:
        if not ok:
            self.failed.append(number)
            return 1
        epoch, part = divmod(number - 1, self.parts)
        self.done.append((epoch, part, list(self.trained)))
        self.doing.discard(number)
        if not self.todo and not self.doing:
            self.epoch += 1
            self.todo = list(range(self.parts)) if self.epoch < self.epochs else []
        return 1

    def step(self, samples: list[int] = [], report: bool = False) -> None:  # noqa: B006
        """The optimizer has stepped on these."""
        self.trained += samples
        for one in self._watchers:
            one._before_step(len(samples) if report else self._samples or None)
        self._samples = 0

    def check(self, n: int) -> None:
        """What is done was trained on, all of it, before it was told."""
        for epoch, part, trained in self.done:
            order = Order(n, 0, epoch)
            wanted = range(n * part // self.parts, n * (part + 1) // self.parts)
            times = Counter(trained)
            assert all(times[order[i]] > epoch for i in wanted), (epoch, part)


def sampler(n: int, link: Any, **more: Any) -> Sampler:
    return Sampler(n, link, **more)


# ---- orders and shares ----


@pytest.mark.parametrize("n", [1, 2, 3, 10, 97, 1000, 4097])
def test_an_order_is_a_permutation_told_by_seed_and_epoch(n: int) -> None:
    order = [Order(n, 5, 2)[i] for i in range(n)]
    assert sorted(order) == list(range(n))
    assert order == [Order(n, 5, 2)[i] for i in range(n)]
    if n > 90:
        assert order != [Order(n, 5, 3)[i] for i in range(n)]
        assert order != [Order(n, 6, 2)[i] for i in range(n)]
        # No order in it: neighbours are a third of the way apart in the mean.
        mean = sum(abs(a - b) for a, b in pairwise(order)) / n
        assert n / 4 < mean < n / 2.4


def test_alone_a_pass_is_all_samples_in_the_order_of_its_epoch() -> None:
    one, other = Sampler(100, seed=3), Sampler(100, seed=3)
    assert len(one) == 100
    first, second = list(one), list(one)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    other.set_epoch(1)
    assert list(other) == second
    assert list(Sampler(5, shuffle=False)) == [0, 1, 2, 3, 4]
    assert list(Sampler([7, 8, 9], shuffle=False)) == [0, 1, 2]


def test_ranks_of_one_model_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but rank 0 would go through the same samples, in passes of another
    length."""
    model = torch.nn.Linear(4, 2)
    for rank in range(2):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
        link = starswitch.attach(model)
        assert sorted(Sampler(10, link)) == list(range(10))  # there is no group
        with monkeypatch.context() as group:
            group.setattr(torch.distributed, "is_initialized", lambda: True)
            with pytest.raises(ValueError, match="DistributedSampler"):
                Sampler(10, link)
        link.detach()
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    monkeypatch.setenv("WORLD_SIZE", "1")
    with starswitch.attach(model) as link:
        assert sorted(Sampler(10, link)) == list(range(10))


def test_nodes_without_tasks_have_shares_of_their_own() -> None:
    links = [Ledger() for _ in range(3)]
    for i, link in enumerate(links):
        link.shard, link.shards = i, 3
    shares = [sampler(100, link) for link in links]
    assert [len(one) for one in shares] == [34, 33, 33]
    drawn = [list(one) for one in shares]
    assert [len(one) for one in drawn] == [34, 33, 33]
    assert sorted(chain(*drawn)) == list(range(100))


def test_the_share_changes_with_the_members() -> None:
    link = Ledger()
    ours = iter(sampler(1000, link))
    alone = [next(ours) for _ in range(500)]
    link.shard, link.shards = 1, 2
    both = list(ours)
    assert not set(alone) & set(both)
    assert len(both) == pytest.approx(250, abs=64)  # it looks now and then


def test_a_pass_is_taken_up_where_it_was_trained_not_drawn() -> None:
    link = Ledger()
    ours = sampler(100, link, batch_size=10)
    plain = list(Sampler(100))
    drawing = iter(ours)
    for _ in range(60):
        next(drawing)
    for _ in range(3):
        link.step()
    state = ours.state_dict()
    later = sampler(100, Ledger(), batch_size=10)
    later.load_state_dict(state)
    later.set_epoch(0)
    assert list(later) == plain[30:]
    assert sorted(later) == list(range(100))  # the next epoch is whole
    for _ in range(7):
        link.step()
        list(drawing)
    assert ours.state_dict() == {"format": 1, "epoch": 1, "position": 0, "seed": 0}
    with pytest.raises(ValueError, match="seed"):
        Sampler(100, seed=1).load_state_dict(state)


# ---- tasks, and steps ----


def batches(loader: Any) -> Iterator[list[int]]:
    for (x,) in loader:
        yield x.tolist()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("told", ["batch_size", "before", "behind"])
def test_a_task_is_done_when_its_samples_have_been_stepped_on(
    workers: int, drop_last: bool, accumulate: int, told: str
) -> None:
    n = 103
    link = Ledger(parts=9, epochs=3)  # parts of 11 and 12, batches of 8
    size = 8 if told == "batch_size" else None
    ours = sampler(n, link, batch_size=size, accumulate=accumulate)
    loader = DataLoader(
        TensorDataset(torch.arange(n)),
        batch_size=8,
        sampler=ours,
        num_workers=workers,
        drop_last=drop_last,
    )
    passes = 0
    while not ours.over and passes < 20:
        passes += 1
        held: list[list[int]] = []
        for x in batches(loader):
            held.append(x)
            if told == "before":
                link._samples += len(x)
            if len(held) == accumulate:
                link.step(list(chain(*held)))
                held = []
            if told == "behind":
                link._samples += len(x)
        # A shorter step cannot be told from batch_size where samples are left out.
        if held and not (drop_last and told == "batch_size"):
            link.step(list(chain(*held)))
    link.check(n)
    assert ours.over
    assert Counter((e, p) for e, p, _ in link.done) == Counter(
        (e, p) for e in range(3) for p in range(9)
    )
    assert not link.failed
    # More: what is drawn again or fills at the end of an epoch, as many as workers
    # have in flight.
    assert 3 * n <= len(link.trained) < 3 * n + passes * 60 * accumulate


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("told", ["batch_size", "before"])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_pass_that_is_left_is_gone_on_with(
    workers: int, told: str, most: int
) -> None:
    """As where a script trains on so many batches an epoch."""
    n = 103
    link = Ledger(parts=9, epochs=2)  # parts of 11 and 12, batches of 4
    ours = sampler(n, link, batch_size=4 if told == "batch_size" else None, fill=False)
    loader = DataLoader(
        TensorDataset(torch.arange(n)), batch_size=4, sampler=ours, num_workers=workers
    )
    passes = 0
    while not ours.over and passes < 200:
        passes += 1
        for at, x in enumerate(batches(loader)):
            if told == "before":
                link._samples += len(x)
            link.step(x)
            if at + 1 == most:
                break
    link.check(n)
    assert ours.over and passes < 200
    assert len(link.done) == 18 and not link.failed
    assert Counter(link.trained) == dict.fromkeys(range(n), 2)


def test_without_a_word_on_samples_all_that_was_drawn_counts() -> None:
    link = Ledger(parts=4)
    ours = sampler(40, link)
    loader = DataLoader(TensorDataset(torch.arange(40)), batch_size=7, sampler=ours)
    while not ours.over:
        for x in batches(loader):
            link.step(x)
    link.check(40)
    assert len(link.done) == 4


def test_with_nothing_to_do_it_fills_or_does_not() -> None:
    for fill in (True, False, None):
        link = Ledger(parts=4)
        link.todo = [0, 1]  # the others' are the rest
        link.doing = {3, 4}
        ours = sampler(40, link, batch_size=5, fill=fill)
        drawing = iter(ours)
        drawn = []
        for _ in range(20):
            drawn.append(next(drawing))
        assert len(set(drawn)) == 20
        if fill:
            assert len(list(drawing)) == 40  # its own share: it is alone
        else:
            assert not list(drawing)  # so that the loader hands out what it has
        for _ in range(4):
            link.step()
        assert [part for _, part, _ in link.done] == [0, 1]


def test_a_hub_without_tasks_is_not_waited_for_and_cuts_no_pass() -> None:
    link = Ledger()
    ours = sampler(40, link, batch_size=5)
    assert len(list(ours)) == 40
    assert len(list(ours)) == 40
    assert link.heard == 0 and ours._since is None
    link.attached = False
    late = sampler(4000, link, batch_size=5)
    drawing = iter(late)
    for _ in range(10):
        next(drawing)
    link.attached = True  # within a pass
    assert len(list(drawing)) == 3990


def test_an_empty_pass_lets_the_link_hear_that_the_run_is_over() -> None:
    link = Ledger(parts=1)
    ours = sampler(10, link, batch_size=5)
    assert len(list(ours)) == 10
    link.step()
    link.step()
    assert not link.heard
    assert list(ours) == []
    assert ours.over and link.heard == 1


def test_who_waits_is_idle_until_there_is_a_task() -> None:
    link = Ledger(parts=2)
    link.todo, link.doing = [0], {2}
    ours = sampler(10, link, batch_size=5, fill=False)
    assert len(list(ours)) == 5
    link.step()
    times = 0

    def idle() -> None:
        nonlocal times
        times += 1
        if times == 3:
            link.todo = [1]  # another was lost

    link.idle = idle  # type: ignore[method-assign]
    assert len(list(ours)) == 5
    assert times == 3


def test_who_waits_for_a_task_counts_no_iteration_and_no_sample(hub: Any) -> None:
    """A hundred samples in two parts; each is offered and merged while its node
    has nothing to train on, with k far beyond its iterations."""
    n = 100
    one = hub("--every", 40, "--delay", 10, "--tasks", 2, "--epochs", 3)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    link = starswitch.attach(model, optimizer, name="one")
    link.wait_ready(20)
    ours = Sampler(n, link, batch_size=10)
    steps = samples = 0
    end = time.monotonic() + 60
    while not link.over:
        assert time.monotonic() < end, link.state()
        for x in DataLoader(torch.arange(n), batch_size=10, sampler=ours):
            optimizer.zero_grad()
            model(torch.ones(len(x), 4)).mean().backward()
            link.report(samples=len(x))
            optimizer.step()
            steps, samples = steps + 1, samples + len(x)
    state = link.state()
    assert state.iteration == steps
    assert samples >= 3 * n
    assert state.global_samples <= samples
    one.wait_for("run_ended")


def test_a_hub_that_is_lost_leaves_a_node_its_tasks() -> None:
    link = Ledger(parts=4)
    ours = sampler(400, link, batch_size=10)
    drawing = iter(ours)
    first = [next(drawing) for _ in range(50)]
    link.attached = False
    link.todo, link.doing = [], {1, 2}  # others have the rest
    first += [next(drawing) for _ in range(50)]  # of the task in hand
    assert len(set(first)) == 100
    for _ in range(10):
        link.step()
    assert [part for _, part, _ in link.done] == [0] and not link.failed
    assert len(list(drawing)) == 400  # its own share from there on


def test_a_task_that_is_given_again_goes_on() -> None:
    link = Ledger(parts=2)
    ours = sampler(20, link, batch_size=5)
    drawing = iter(ours)
    for _ in range(5):
        next(drawing)
    link.todo.insert(0, 0)  # the hub was away, so shortly that nobody has seen it
    drawn = [next(drawing) for _ in range(15)]
    for _ in range(4):
        link.step()
    assert len(set(drawn)) == 15
    assert [part for _, part, _ in link.done] == [0, 0, 1]


def test_leaving_gives_back_what_was_not_trained_on() -> None:
    link = Ledger(parts=2)
    ours = sampler(20, link, batch_size=5)
    drawing = iter(ours)
    for _ in range(12):
        next(drawing)
    link.step()
    ours._before_detach()
    assert link.failed == [1, 2]
    with pytest.raises(ValueError, match="batch_size"):
        Sampler(5, batch_size=0)
    with pytest.raises(ValueError, match="no samples"):
        Sampler(0)


# ---- hubs ----

WORKER = """
    import os, sys, time, torch, starswitch
    from torch.utils.data import DataLoader, TensorDataset

    name, log, n, pause, workers = sys.argv[1:]
    n, pause = int(n), float(pause)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    link = starswitch.attach(model, optimizer, name=name)
    link.wait_ready(60)
    while link.state().members < int(os.environ.get("NODES", 1)):
        time.sleep(0.01)  # a hub that waits for --nodes gives no task
    sampler = starswitch.Sampler(n, link, batch_size=16, fill=False)
    loader = DataLoader(TensorDataset(torch.arange(n)), batch_size=16,
                        sampler=sampler, num_workers=int(workers))
    out = open(log, "a", buffering=1)
    print("begins", flush=True)
    while not sampler.over:
        for x, in loader:
            optimizer.zero_grad()
            model(torch.ones(len(x), 4)).mean().backward()
            optimizer.step()
            print(*x.tolist(), file=out)
            time.sleep(pause)
    print("over", link.state().text, flush=True)
"""
OPTIONS = ("--policy", "mean", "--every", 5, "--delay", 2, "--init", "hub")


def counted(*files: Path) -> Counter[int]:
    return Counter(
        int(word)
        for file in files
        if file.exists()
        for word in file.read_text().split()
    )


def test_ef_08_fast_and_slow_nodes_train_on_each_sample_once_an_epoch(
    hub: Any, script: Any, tmp_path: Path
) -> None:
    n = 640
    one = hub(*OPTIONS, "--nodes", 2, "--tasks", 20, "--epochs", 2)
    files = [tmp_path / "fast", tmp_path / "slow"]
    nodes = [
        script(WORKER, "fast", files[0], n, 0.005, 2, NODES="2"),
        script(WORKER, "slow", files[1], n, 0.05, 0, NODES="2"),
    ]
    assert [node.wait() for node in nodes] == [0, 0], nodes[0].text
    times = counted(*files)
    assert set(times) == set(range(n)) and min(times.values()) == 2
    # A node that a busy machine keeps from the network is lost: another one
    # does again what it had not offered, at most its last tasks.
    assert sum(times.values()) <= 2 * n + 5 * 32 * len(one.told("node_lost"))
    fast, slow = (sum(counted(one).values()) for one in files)
    assert fast > slow > 0


def test_a_loop_until_the_link_is_over_ends_when_the_epochs_are_done(hub: Any) -> None:
    n = 1000
    one = hub(*OPTIONS, "--tasks", 20, "--epochs", 2)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    link = starswitch.attach(model, optimizer, name="one")
    link.wait_ready(20)
    ours = Sampler(n, link, batch_size=16)
    loader = DataLoader(TensorDataset(torch.arange(n)), batch_size=16, sampler=ours)
    times: Counter[int] = Counter()
    end = time.monotonic() + 60
    while not link.over:
        assert time.monotonic() < end, link.state()
        for (x,) in loader:
            optimizer.zero_grad()
            model(torch.ones(len(x), 4)).mean().backward()
            optimizer.step()
            link.report(samples=len(x))
            times.update(x.tolist())
    assert set(times) == set(range(n)) and set(times.values()) == {2}
    assert list(ours) == [] and not link.attached
    one.wait_for("run_ended")


def test_ef_08_a_killed_worker_costs_no_sample(
    hub: Any, script: Any, tmp_path: Path
) -> None:
    n = 960
    one = hub(*OPTIONS, "--nodes", 3, "--tasks", 30, "--epochs", 1)
    files = [tmp_path / name for name in "abc"]
    nodes = [script(WORKER, file.name, file, n, 0.03, 0) for file in files]
    until(lambda: len(counted(files[2])) > 60, 60, "the third trains")
    nodes[2].kill(signal.SIGKILL)
    nodes[2].wait()
    assert [node.wait() for node in nodes[:2]] == [0, 0]
    times = counted(*files)
    assert set(times) == set(range(n))
    others, killed = counted(*files[:2]), counted(files[2])
    # Of the others each sample is one's; twice is what the third had begun and
    # what it had not yet offered: its last tasks, of 32 samples each.
    assert set(others.values()) == {1}
    assert sum((others & killed).values()) <= 5 * 32
    one.wait_for("run_ended")


def test_ef_08_a_hub_that_is_killed_has_each_sample_trained_on_once(
    hub: Any, script: Any, tmp_path: Path
) -> None:
    n = 1920
    one = hub(*OPTIONS, "--nodes", 2, "--tasks", 60, "--epochs", 2, "--save", "1h")
    files = [tmp_path / name for name in "ab"]
    nodes = [script(WORKER, file.name, file, n, 0.02, 0, NODES="2") for file in files]
    for samples in (500, 1500):  # the second time in another epoch
        until(lambda s=samples: sum(counted(*files).values()) > s, 60, "both train")
        one.kill()
        one.start()
    assert [node.wait() for node in nodes] == [0, 0]
    times = counted(*files)
    assert set(times) == set(range(n))
    assert set(times.values()) == {2}
