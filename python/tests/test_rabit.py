"""Rabit's criteria in Python: real hubs, workers in processes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import Hub, Script
from starswitch import ConnectError, StarswitchError
from starswitch.compat import rabit

Hubs = Callable[..., Hub]
Scripts = Callable[..., Script]

# A program as Rabit's are written, and what kills it: DIE is "version,sequence".
PROGRAM = """
import os, sys, hashlib, numpy as np
from starswitch.compat import rabit
lazy, versions = os.environ.get("LAZY"), int(os.environ.get("VERSIONS", 3))
die = os.environ.get("DIE", "")
rabit.init(timeout=60)
rank, world = rabit.get_rank(), rabit.get_world_size()
print("rank", rank, "of", world, flush=True)
version, model = rabit.load_checkpoint()
print("loaded", version, flush=True)
if version == 0:
    assert model is None
    model = {"x": np.zeros(1000, "float32"), "seen": []}
prepared = 0

def may_die(sequence):
    if die == f"{version},{sequence}":
        os.kill(os.getpid(), 9)

for version in range(version, versions):
    part = np.empty(1000, "float32")

    def prepare(data):
        global prepared
        prepared += 1
        data[:] = np.sin(np.arange(1000) * (rank + 1) + version)

    may_die(0)
    top = rabit.allreduce(np.array([rank * 10 + version]), rabit.MAX)
    may_die(1)
    word = rabit.broadcast({"from": rank, "version": version}, version % world)
    may_die(2)
    total = rabit.allreduce(part, rabit.SUM, prepare_fun=prepare)
    may_die(3)
    rabit.allreduce(np.zeros(1), rabit.MIN)
    may_die(4)
    model["x"] = model["x"] * 0.75 + total
    model["seen"].append((int(top[0]), word["from"]))
    (rabit.lazy_checkpoint if lazy else rabit.checkpoint)(model)
    assert rabit.version_number() == version + 1
print("prepared", prepared)
print("model", hashlib.sha256(model["x"].tobytes()).hexdigest(), model["seen"])
rabit.tracker_print(f"{rabit.get_processor_name()} is done")
rabit.finalize()
"""


def arguments(name: str, world: int) -> list[str]:
    return [f"rabit_task_id={name}", f"rabit_world_size={world}", "rabit_debug=1"]


def run(script: Scripts, world: int, dies: dict[int, str], **more: str) -> list[Script]:
    """World workers; those of `dies` are started again when they were killed."""
    running = [
        script(PROGRAM, *arguments(f"w{i}", world), DIE=dies.get(i, ""), **more)
        for i in range(world)
    ]
    for i in dies:
        assert running[i].wait() == -9
        running[i] = script(PROGRAM, *arguments(f"w{i}", world), **more)
    for one in running:
        assert one.wait() == 0, one.text
    return running


def models(running: list[Script]) -> set[str]:
    return {re.findall(r"model .*", one.text)[0] for one in running}


def test_rb_01_a_program_of_rabits_shape_runs(hub: Hubs, script: Scripts) -> None:
    one_hub = hub()
    running = run(script, 3, {})
    assert len(models(running)) == 1
    assert "[(20, 0), (21, 1), (22, 2)]" in models(running).pop()
    assert {re.findall(r"rank \d of 3", one.text)[0] for one in running} == {
        f"rank {rank} of 3" for rank in range(3)
    }
    said = [one["text"] for one in one_hub.told("member_said")]
    assert sum("is done" in text for text in said) == 3


def test_rb_02_load_gives_0_and_none_where_there_is_nothing(hub: Hubs) -> None:
    hub()
    rabit.init(arguments("alone", 1))
    try:
        assert rabit.load_checkpoint() == (0, None)
        assert not rabit.is_distributed()
        assert rabit.get_processor_name() == "alone"
    finally:
        rabit.finalize()


def test_rb_05_the_version_counts_checkpoints_of_one_alone(hub: Hubs) -> None:
    hub()
    rabit.init(arguments("alone", 1))
    try:
        for version in range(3):
            assert rabit.version_number() == version
            rabit.checkpoint({"version": version})
        rabit.lazy_checkpoint([1, 2, 3])
        assert rabit.version_number() == 4
    finally:
        rabit.finalize()


@pytest.mark.parametrize("lazy", ["", "1"])
def test_rb_06_who_is_killed_gets_the_results_again(
    hub: Hubs, script: Scripts, lazy: str
) -> None:
    hub()
    calm = models(run(script, 3, {}, LAZY=lazy))
    running = run(script, 3, {0: "1,2", 2: "1,4"}, LAZY=lazy)
    assert models(running) == calm
    assert "loaded 1" in running[0].text


def test_rb_07_what_does_not_fit_is_named(hub: Hubs, script: Scripts) -> None:
    hub()
    program = """
import sys, numpy as np
from starswitch.compat import rabit
rabit.init(timeout=20)
try:
    rabit.allreduce(np.ones(3 + rabit.get_rank()), rabit.SUM)
except Exception as error:
    print("error:", error, flush=True)
try:
    rabit.checkpoint(None, local_model=1)
except NotImplementedError as error:
    print("local:", error, flush=True)
rabit.finalize()
"""
    running = [script(program, *arguments(f"w{i}", 2)) for i in range(2)]
    for one in running:
        assert one.wait() == 0, one.text
        assert "no neighbours" in one.text
    text = running[0].text + running[1].text
    assert re.search(r"error: call 0: allreduce sum of \d\d bytes f64 here", text)


def test_rb_08_prepare_runs_only_for_what_is_not_there(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    running = run(script, 2, {1: "1,3"}, VERSIONS="2")
    assert "prepared 2" in running[0].text
    # The sum of version 1 was there before it died: that is given again.
    assert "loaded 1" in running[1].text and "prepared 0" in running[1].text


def test_rb_11_who_does_not_come_back_is_given_up(hub: Hubs, script: Scripts) -> None:
    hub()
    given_up = [
        script(PROGRAM, *arguments(f"w{i}", 2), "rabit_timeout_sec=1", DIE=die)
        for i, die in enumerate(["", "0,1"])
    ]
    assert given_up[1].wait() == -9
    assert given_up[0].wait() != 0
    assert "not back within 1 s" in given_up[0].text


def test_rb_12_operations_types_and_arguments(hub: Hubs) -> None:
    hub()
    with pytest.raises(StarswitchError, match="init"):
        rabit.get_rank()
    rabit.init([b"rabit_task_id=bytes", b"rabit_world_size=1", "a=1", "plain"])
    try:
        for dtype in "int8 uint8 int32 uint32 int64 uint64 float32 float64".split():
            data: Any = np.arange(3).astype(dtype)
            for op in (rabit.MAX, rabit.MIN, rabit.SUM):
                total = rabit.allreduce(data, op)
                assert total.dtype == dtype and total.tolist() == [0, 1, 2]
                assert total is not data
        assert rabit.allreduce(np.array([5]), rabit.BITOR).tolist() == [5]
        with pytest.raises(TypeError, match="NumPy"):
            rabit.allreduce([1, 2], rabit.SUM)
        assert rabit.broadcast({"any": object}, 0) == {"any": object}
        assert (rabit.MAX, rabit.MIN, rabit.SUM, rabit.BITOR) == (0, 1, 2, 3)
    finally:
        rabit.finalize()
    with pytest.raises(ConnectError, match="nothing listens"):
        rabit.init(["rabit_tracker_uri=127.0.0.1", "rabit_tracker_port=9"], wait=1)


def test_rb_14_several_die_at_once_and_the_bytes_are_the_same(
    hub: Hubs, script: Scripts
) -> None:
    hub()
    calm = models(run(script, 4, {}))
    assert models(run(script, 4, {0: "0,1", 1: "1,1", 3: "1,1"})) == calm
