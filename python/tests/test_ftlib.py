"""FTLib's and ElasticDL's criteria in Python: real hubs, workers on threads and in
processes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Hub, Script, free_port, small_model, until
from starswitch.compat.elasticdl import FAILED, SUCCEEDED, CollectiveCommunicator
from starswitch.compat.ftlib import (
    BasicFTLib,
    CommLibStatus,
    ConsensusMode,
    ConsensusStatus,
    FTAllReduceStatus,
    FTRebuildStatus,
)
from starswitch.group import Group

Hubs = Callable[..., Hub]
Scripts = Callable[..., Script]
Status = FTAllReduceStatus


def workers(count: int, work: Callable[[BasicFTLib], Any], **kwargs: Any) -> list[Any]:
    """What `work` returns for each of so many workers, on threads, by rank."""
    results: dict[int, Any] = {}
    failures: list[BaseException] = []

    def run(place: int) -> None:
        try:
            given = {"name": f"w{place}", "members": count, **kwargs}
            with BasicFTLib("gossip", "pytorch", given, {"timeout": 30}) as lib:
                rank = lib.rank
                results[rank] = work(lib)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=[i]) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]
    return [results[rank] for rank in sorted(results)]


def test_ft_01_the_statuses_are_ftlibs_numbers() -> None:
    assert [(one.name, int(one)) for one in FTAllReduceStatus] == [
        ("NO_NEED", -1),
        ("SUCCESS", 0),
        ("FAIL", 1),
        ("ABORT", 2),
    ]
    assert [(one.name, int(one)) for one in FTRebuildStatus] == [
        ("SKIP_ALLREDUCE", -1),
        ("SUCCESS", 0),
        ("FAIL", 1),
        ("ABORT", 2),
    ]
    assert [(one.name, int(one)) for one in ConsensusStatus] == [
        ("SKIP_ALLREDUCE", -1),
        ("SUCCESS", 0),
        ("FAIL", 1),
    ]
    assert [(one.name, int(one)) for one in CommLibStatus] == [
        ("SUCCESS", 0),
        ("FAIL", 1),
    ]
    assert [(one.name, int(one)) for one in ConsensusMode] == [
        ("PASSIVE", 0),
        ("ACTIVE", 1),
    ]


def test_ft_02_names_choose_and_others_are_refused(hub: Hubs) -> None:
    hub()
    with pytest.raises(AssertionError, match="no consensus raft"):
        BasicFTLib("raft", "NCCL")
    with pytest.raises(AssertionError, match="no library MPI"):
        BasicFTLib("shared_storage", "MPI")
    with pytest.raises(AssertionError, match="gossip wants"):
        BasicFTLib("gossip", "pytorch")
    for consensus, commlib in [
        ("gossip", "pytorch"),
        ("gossip", "dummy_NCCL"),
        ("shared_storage", "NCCL"),
    ]:
        addresses: dict[str, Any] = {"known_addr_list": []}
        with BasicFTLib(consensus, commlib, addresses) as lib:
            assert (lib.rank, lib.size) == (0, 1)
    lib = BasicFTLib()
    assert lib.init("shared_storage", "pytorch") == FTRebuildStatus.SKIP_ALLREDUCE
    lib.finalize()


def test_ft_02_a_consensus_that_cannot_be_built_is_an_error(hub: Hubs) -> None:
    nowhere = {"hub": f"127.0.0.1:{free_port()}", "wait_time": 0.5}
    with pytest.raises(RuntimeError, match=r"building consensus failed.*listens"):
        BasicFTLib("gossip", "NCCL", nowhere)
    hub()
    with pytest.raises(RuntimeError, match=r"building consensus failed.*waited 0.5 s"):
        BasicFTLib("gossip", "NCCL", {"members": 2}, {"timeout": 0.5})


def test_ft_03_passive_knows_the_flag_active_asks(hub: Hubs) -> None:
    hub()
    for mode, knows in [(ConsensusMode.PASSIVE, True), (ConsensusMode.ACTIVE, False)]:
        given = {"name": "stays", "members": 2, "mode": mode}
        other = Group(name="leaves", members=2)
        building = threading.Thread(target=other.build)
        building.start()
        with BasicFTLib("gossip", "pytorch", given) as lib:
            building.join(20)
            assert lib.initialized()
            other.leave()
            if knows:  # as far as it knows
                assert lib.initialized()
                assert lib.barrier() == Status.FAIL
                assert not lib.initialized()
            else:
                until(lambda lib=lib: not lib.initialized())
                assert lib.barrier() == Status.NO_NEED


def test_ft_04_skip_allreduce_is_true_of_the_only_member(hub: Hubs) -> None:
    hub()
    assert workers(1, BasicFTLib.skip_allreduce) == [True]
    assert workers(2, BasicFTLib.skip_allreduce) == [False, False]


def test_ft_05_alone_there_is_no_need_and_nothing_is_touched(hub: Hubs) -> None:
    hub()

    def work(lib: BasicFTLib) -> None:
        values = np.arange(4, dtype="float32")
        assert lib.allreduce_average(values) == Status.NO_NEED
        assert lib.broadcast(values) == lib.barrier() == Status.NO_NEED
        assert values.tolist() == [0, 1, 2, 3]

    workers(1, work)


def test_ft_06_gradients_of_torch_and_numpy_are_averaged(hub: Hubs) -> None:
    hub()

    def work(lib: BasicFTLib) -> Any:
        model = small_model()
        assert lib.wait_gradients_ready() == Status.FAIL
        for p in model.parameters():
            p.grad = torch.full_like(p, lib.rank + 1.0)
        assert lib.wait_gradients_ready(model=model) == Status.SUCCESS
        assert all((p.grad == 2).all() for p in model.parameters())
        for p in model.parameters():
            p.grad = torch.full_like(p, 10.0 * lib.rank)
        assert lib.wait_weights_ready(params=model.parameters()) == Status.SUCCESS
        assert all((p.grad == 10).all() for p in model.parameters())
        arrays = [
            np.full((2, 3), lib.rank, "float32"),
            np.full(5, lib.rank, "float64")[::2],
        ]
        assert lib.wait_gradients_ready(params=arrays) == Status.SUCCESS
        return [array.tolist() for array in arrays]

    assert workers(3, work) == [[[[1] * 3] * 2, [1] * 3]] * 3


def test_ft_08_broadcast_barrier_and_allreduce(hub: Hubs) -> None:
    hub()

    def work(lib: BasicFTLib) -> Any:
        model = small_model(seed=lib.rank)
        assert lib.broadcast(model, root_rank=1) == Status.SUCCESS
        values = np.full(3, lib.rank, "float32")
        assert lib.allreduce(values) == Status.SUCCESS
        total = torch.tensor([lib.rank])
        assert lib.allreduce(total, "SUM") == Status.SUCCESS
        with pytest.raises(ValueError, match="MEDIAN"):
            lib.allreduce(values, "MEDIAN")
        assert lib.barrier() == Status.SUCCESS
        weights = sum(p.sum().item() for p in model.parameters())
        return values.tolist(), total.tolist(), weights

    expected = sum(p.sum().item() for p in small_model(seed=1).parameters())
    assert workers(3, work) == [([1, 1, 1], [3], expected)] * 3


def test_ft_09_execute_manual_join_and_consensus_joined(hub: Hubs) -> None:
    hub()

    def work(lib: BasicFTLib) -> Any:
        assert lib.manual_join([], wait_time=15)
        assert lib.consensus_joined()
        assert lib.execute(lambda a, b: a + b, 2, b=3) == 5
        assert lib.initialized()

        def breaks() -> None:
            raise OSError("a broken pipe")

        assert lib.execute(breaks) is None
        assert not lib.initialized()
        assert lib.execute(lib.barrier) == Status.SUCCESS
        return lib.initialized()

    assert workers(2, work) == [True, True]


# A worker as FTLib's users write it; "new" ones are given the parameters.
WORKER = """
import sys, time, numpy as np
from starswitch.compat.ftlib import BasicFTLib, FTAllReduceStatus as Status
name, members, batches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lib = BasicFTLib("gossip", "pytorch", {"name": name, "members": members})
print("built", lib.rank, "of", lib.size, flush=True)
x, epoch, dropped, done = np.full(4, float(sys.argv[4]), "float32"), None, 0, 0
while done < batches:
    if not lib.initialized() and not lib.skip_allreduce():
        lib._rebuild()
    if lib.epoch != epoch and lib.initialized():
        if lib.broadcast(x, 0) != Status.SUCCESS:
            continue
        epoch = lib.epoch
    gradient = x - 1
    status = lib.wait_gradients_ready(params=[gradient])
    if status in (Status.SUCCESS, Status.NO_NEED):
        x -= 0.01 * gradient
        done += 1
        print(done, status.name, lib.size, flush=True)
        if status == Status.SUCCESS:
            print(f"x {x[0]!r} after {lib._member.look().averages}", flush=True)
    else:
        dropped += 1
    time.sleep(0.02)
print("dropped", dropped, "ends with", x.tolist(), lib.size, flush=True)
lib.finalize()
"""


def test_ft_15_a_crash_costs_one_batch_and_the_others_go_on(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    running = [script(WORKER, name, 3, 200, 9) for name in "abc"]
    for one in running:
        one.wait_for("SUCCESS 3")
    running[0].kill()
    for one in running[1:]:
        one.wait_for("SUCCESS 2", 20)
    for one in running[1:]:
        assert one.wait() == 0
        assert "dropped 1 ends" in one.text or "dropped 2 ends" in one.text
    ends = [one.text.split("ends with")[1] for one in running[1:]]
    assert ends[0].split("]")[0] == ends[1].split("]")[0]


def test_ft_18_training_goes_on_whoever_joins_and_dies(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    first = script(WORKER, "first", 1, 100_000, 9)
    first.wait_for("1 NO_NEED 1")
    second = script(WORKER, "second", 1, 100_000, 9)
    first.wait_for("SUCCESS 2")
    first.kill()
    second.wait_for("NO_NEED 1")
    third = script(WORKER, "third", 1, 100_000, 9)
    third.wait_for("SUCCESS 2")
    second.wait_for("SUCCESS 2")
    second.kill()
    third.wait_for("NO_NEED 1")
    third.kill()


def communicators(
    count: int, work: Callable[[CollectiveCommunicator], Any]
) -> list[Any]:
    results: list[Any] = []

    def run(place: int) -> None:
        one = CollectiveCommunicator(name=f"c{place}", members=count, timeout=30)
        try:
            results.append(work(one))
        finally:
            one.close()

    threads = [threading.Thread(target=run, args=[i]) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(results) == count
    return results


def test_ed_01_three_calls_with_a_status_each(hub: Hubs) -> None:
    hub()

    def work(one: CollectiveCommunicator) -> Any:
        gradients = [np.full(3, one.rank, "float32"), np.full(2, 4.0, "float32")]
        status, averaged = one.allreduce(gradients, op="MEAN")
        assert status == SUCCEEDED and averaged is gradients
        status, values = one.broadcast(np.full(2, one.rank), root=2)
        assert status == SUCCEEDED
        assert one.barrier() == SUCCEEDED
        return [array.tolist() for array in averaged], values.tolist()

    assert communicators(3, work) == [([[1, 1, 1], [4, 4]], [2, 2])] * 3


def test_ed_02_who_comes_later_is_like_the_others_after_the_next_exchange(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    running = [script(WORKER, name, 2, 400, 9) for name in "ab"]
    for one in running:
        one.wait_for("SUCCESS 2")
    running[0].kill()
    running[1].wait_for("NO_NEED 1")
    late = script(WORKER, "late", 2, 400, -100)
    late.wait_for("SUCCESS 2")
    for one in (late, running[1]):
        assert one.wait() == 0
    trails = [
        {count: x for x, count in re.findall(r"x (\S+) after (\d+)", one.text)}
        for one in (late, running[1])
    ]
    both = trails[0].keys() & trails[1].keys()
    assert len(both) > 9
    assert all(trails[0][count] == trails[1][count] for count in both)


def test_ed_03_at_the_end_of_the_data_a_last_average(hub: Hubs) -> None:
    hub()

    def work(one: CollectiveCommunicator) -> float:
        values = np.full(1, float(one.rank), "float32")
        if one.rank != 1:  # the others still have data, and go on alone
            while one.allreduce(np.ones(1, "float32"))[0] != SUCCEEDED:
                pass
        assert one.stop() == SUCCEEDED
        status = FAILED
        while status != SUCCEEDED:
            status, _ = one.allreduce(values)
        return float(values[0])

    assert communicators(3, work) == [1, 1, 1]


def test_ed_05_what_is_lost_never_blocks_the_others(hub: Hubs) -> None:
    hub()
    lost = CollectiveCommunicator.__new__(CollectiveCommunicator)
    began = time.monotonic()

    def work(one: CollectiveCommunicator) -> int:
        if one.rank == 0:
            lost._lib = one._lib
            one.close()  # in the middle of the run
            return 0
        status = FAILED
        while status != SUCCEEDED:
            status, _ = one.allreduce(np.ones(2, "float32"))
        return one.size

    assert sorted(communicators(3, work)) == [0, 2, 2]
    assert time.monotonic() - began < 20
