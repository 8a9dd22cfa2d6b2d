"""Collectives in Python: real hubs, members in processes and threads."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Hub, Script, free_port
from starswitch import ConnectError, KeyRefused
from starswitch.errors import Closed, GroupChanged, StarswitchError
from starswitch.group import Group

Hubs = Callable[..., Hub]
Scripts = Callable[..., Script]


def together(count: int, work: Callable[[Group], Any], **options: Any) -> list[Any]:
    """What `work` returns for each of so many members, by rank, each on a thread
    of its own."""
    results: dict[int, Any] = {}
    failures: list[BaseException] = []

    def run(place: int) -> None:
        try:
            with Group(name=f"m{place}", members=count, **options) as group:
                group.build()
                rank = group.rank
                results[rank] = work(group)
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


def test_numbers_of_all_kinds_are_reduced_in_place(hub: Hubs) -> None:
    hub()

    def work(group: Group) -> list[Any]:
        one = group.rank + 1
        arrays = [
            np.full((2, 3), one, dtype)
            for dtype in "int8 uint8 int16 int32 int64 float16 float32 float64".split()
        ]
        tensors = [
            torch.full((2, 3), one, dtype=dtype)
            for dtype in (torch.bfloat16, torch.float16, torch.int16, torch.int64)
        ]
        gaps = torch.zeros(4, 6)
        gaps.t()[::2] = one  # every other column
        odd = [
            np.asfortranarray(np.full((2, 3), one, "float32")),
            gaps.t()[::2],
            np.array(one, "float64"),
            torch.tensor(one, dtype=torch.float32),
            bytearray([one] * 3),
        ]
        before = [getattr(array, "strides", None) for array in odd]
        for array in [*arrays, *tensors, *odd]:
            assert group.allreduce(array)
        assert [getattr(array, "strides", None) for array in odd] == before
        assert not gaps.t()[1::2].any()
        empty = torch.empty(0)
        assert group.allreduce(empty)
        flags = torch.tensor([group.rank == 0, False])
        group.allreduce(flags, "max")
        assert flags.tolist() == [True, False]
        mean = np.array([one], "float32")
        group.allreduce(mean, "mean")
        assert mean[0] == 2
        bits = np.array([1 << group.rank], "uint32")
        group.allreduce(bits, "bitor")
        assert bits[0] == 7
        return [
            np.asarray(x.float() if hasattr(x, "float") else x) for x in tensors
        ] + [np.asarray(array) for array in arrays]

    for results in together(3, work):
        assert all((array == 6).all() for array in results)


def test_what_prepare_fills_is_reduced_also_where_a_copy_travels(hub: Hubs) -> None:
    hub()

    def work(group: Group) -> list[Any]:
        given: list[Any] = [
            np.zeros((2, 3), "float32"),
            np.zeros((2, 3), "float16"),
            np.zeros((2, 3), ">i4"),
            np.zeros((3, 4), "float32")[:, ::2],
            torch.zeros(2, 3, dtype=torch.bfloat16),
            torch.zeros(3, 2).t(),
        ]
        for each in given:

            def prepare(each: Any = each) -> None:
                each[:] = group.rank + 1

            assert group.allreduce(each, prepare=prepare)
        return given

    for given in together(2, work):
        for each in given:
            assert (each == 3).all(), each


def test_broadcast_allgather_and_objects(hub: Hubs) -> None:
    hub()

    def work(group: Group) -> Any:
        values = np.arange(5.0) * (group.rank + 1)
        group.broadcast(values, root=1)
        texts = group.allgather_bytes(b"x" * group.rank)
        said = group.broadcast_object({"from": group.rank}, root=2)
        group.barrier()
        return values.tolist(), texts, said, group.allgather_object(group.rank)

    for result in together(3, work):
        assert result == (
            [0, 2, 4, 6, 8],
            [b"", b"x", b"xx"],
            {"from": 2},
            [0, 1, 2],
        )


def test_alone_all_is_as_it_was(hub: Hubs) -> None:
    hub()
    with Group(name="alone") as group:
        values = np.ones(3, "float32")
        assert not group.allreduce(values)
        assert not group.barrier()
        assert group.allgather_object("me") == ["me"]
        assert group.broadcast_object("me") == "me"
        assert values.tolist() == [1, 1, 1]
        assert (group.rank, group.size) == (0, 1)
    with pytest.raises(Closed):
        group.barrier()


def test_messages_go_from_one_to_another(hub: Hubs) -> None:
    hub()

    def work(group: Group) -> Any:
        to = (group.rank + 1) % group.size
        out = group.isend(np.full(100_000, group.rank, "int32"), to, tag=7)
        message = group.mprobe(tag=7, timeout=20)
        assert message is not None
        place = np.empty(message.bytes // 4, "int32")
        group.imrecv(message, place).wait(20)
        out.wait(20)
        assert group.improbe() is None
        return message.source, int(place[0]), int(place.sum())

    assert together(3, work) == [(2, 2, 200_000), (0, 0, 0), (1, 1, 100_000)]


def test_a_checkpoint_is_loaded_by_who_comes_back(hub: Hubs) -> None:
    hub()

    def work(group: Group) -> Any:
        assert group.load_checkpoint() == (0, None)
        group.checkpoint(b"model one")
        return group.version

    options = {"patient": True, "patience": 5, "timeout": 10}
    assert together(2, work, **options) == [1, 1]


MEMBER = """
import sys, time, numpy as np
from starswitch.group import Group
from starswitch.errors import GroupChanged
group = Group(name=sys.argv[1], members=int(sys.argv[2]), timeout=30)
group.build()
print("built", group.rank, flush=True)
values = np.ones(4, "float32")
began = time.monotonic()
try:
    print("waits", flush=True)
    group.allreduce(values)
    print("done", values[0])
except GroupChanged as error:
    print("changed", error, flush=True)
    print("after", time.monotonic() - began)
    group.build()
    group.allreduce(values)
    print("then", values[0], group.size, flush=True)
except KeyboardInterrupt:
    print("interrupted after", time.monotonic() - began, flush=True)
group.leave()
"""


def test_a_member_that_is_killed_fails_one_call_of_the_others(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    lazy = MEMBER.replace("began =", "time.sleep(60); began =")
    victim = script(lazy, "victim", 3)
    others = [script(MEMBER, name, 3) for name in "ab"]
    for one in [victim, *others]:
        one.wait_for("built")
    victim.kill()
    killed = time.monotonic()
    for one in others:
        one.wait_for("then 2.0 2")
        assert "lost" in one.text
    assert time.monotonic() - killed < 5
    assert [one.wait() for one in others] == [0, 0]


def test_ctrl_c_ends_a_call_and_says_goodbye(hub: Hubs, script: Scripts) -> None:
    one_hub = hub()
    waits = script(MEMBER, "waits", 2)
    lazy = MEMBER.replace("began =", "time.sleep(60); began =")
    other = script(lazy, "other", 2)
    for one in (waits, other):
        one.wait_for("built")
    waits.wait_for("waits")
    pressed = time.monotonic()
    waits.kill(signal.SIGINT)
    waits.wait_for("interrupted after")
    assert time.monotonic() - pressed < 2
    assert waits.wait() == 0
    one_hub.wait_for("node_left")
    other.kill()


def test_a_child_of_a_fork_has_no_group(hub: Hubs) -> None:
    one_hub = hub()
    with Group(name="parent") as group:
        group.build()
        child = os.fork()
        if child == 0:
            try:
                group.barrier()
            except Closed:
                group.leave()
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert not group.barrier()
        assert not one_hub.told("node_left") and not one_hub.told("node_lost")


def test_a_hub_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    with pytest.raises(ConnectError, match=f"127.0.0.1:{port}.*nothing listens.*hub="):
        Group(f"127.0.0.1:{port}", wait=0.5)
    monkeypatch.setenv("STARSWITCH_HUB", f"127.0.0.1:{port}")
    with pytest.raises(ConnectError, match=r"from \$STARSWITCH_HUB"):
        Group(wait=0.5)
    with pytest.raises(StarswitchError, match="port"):
        Group("127.0.0.1:no", wait=0.5)


def test_a_hub_with_keys_wants_one(hub: Hubs, tmp_path: Any) -> None:
    import subprocess

    from starswitch._programs import program_path

    keys = tmp_path / "keys-of-hub"
    subprocess.run(
        [program_path("starswitch-hub"), "keygen", str(keys)],
        check=True,
        capture_output=True,
    )
    hub("--keys", keys / "keys")
    with pytest.raises(KeyRefused):
        Group(name="stranger", wait=3)
    invitation = (keys / "keys" / "invitation").read_text().split()[-1]
    with Group(name="friend", key=invitation) as group:
        assert not group.build()


def test_what_happens_is_logged(hub: Hubs, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "starswitch"), pytest.raises(ConnectError):
        Group(wait=0.5)
    assert any("nothing listens" in one.message for one in caplog.records)
    hub()

    def work(group: Group) -> None:
        with pytest.raises(StarswitchError, match="not defined"):
            group.allreduce(np.ones(2, "float32"), "bitor")

    together(1, work)
    with pytest.raises(TypeError, match="complex64"), Group(name="c") as group:
        group.allreduce(np.ones(2, "complex64"))


def test_an_interrupt_is_told_to_the_others(hub: Hubs) -> None:
    hub()
    texts = []

    def work(group: Group) -> None:
        if group.rank == 2:
            return
        if group.rank == 0:
            timer = threading.Timer(0.3, group.interrupt)
            timer.start()
        try:
            group.barrier()
        except GroupChanged as error:
            texts.append(str(error))

    together(3, work, timeout=20)
    assert len(texts) == 2


def test_who_waits_for_a_message_can_be_interrupted(hub: Hubs) -> None:
    hub()
    over = threading.Event()
    with Group(name="alone") as group:
        group.build()

        def interrupt() -> None:
            while not over.wait(0.001):
                group.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(GroupChanged, match="interrupted"):
                group.mprobe(timeout=10)
            out = group.isend(b"to myself", 0)
            with pytest.raises(GroupChanged, match="interrupted"):
                out.wait(10)
        finally:
            over.set()
            thread.join()
        assert group.recv(timeout=10) == (b"to myself", 0)
        out.wait(10)
