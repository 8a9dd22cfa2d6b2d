"""A hub and nodes as programs of their own, begun and ended together."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import launched
import pytest
import starswitch
from conftest import until
from starswitch.errors import StarswitchError
from starswitch.launch import _words, launch_local

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "launched.py"
HUB = {"policy": "mean", "every": 5, "delay": 2, "init": "hub"}
LIMIT = 100.0


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("what", [PROGRAM, launched.train], ids=["script", "function"])
def test_nodes_are_programs_that_find_the_hub(what: Any, capfd: Any) -> None:
    done = launch_local(2, what, [100], HUB, timeout=LIMIT).check()
    assert done.ok
    assert done.codes == {"n1": 0, "n2": 0}
    assert done.hub == 0
    out = capfd.readouterr().out
    for name in ("n1", "n2"):
        assert f"{name}  | here is {name}\n" in out
        assert f"{name}  | {name} says goodbye\n" in out
        assert "mean" in done.text[name]
    assert "hub | " in out
    assert "STARSWITCH_NODE" not in os.environ


def test_one_that_fails_ends_no_other_and_is_told(tmp_path: Path) -> None:
    done = launch_local(
        ["good", "bad"], PROGRAM, [50, "bad"], HUB, timeout=LIMIT, logs=tmp_path
    )
    assert done.codes == {"good": 0, "bad": 3}
    assert not done.ok
    with pytest.raises(starswitch.StarswitchError, match="bad ended with code 3"):
        done.check()
    assert "here is good" in (tmp_path / "good.log").read_text()
    assert (tmp_path / "hub.log").exists()


def test_a_time_limit_ends_all() -> None:
    begun = time.monotonic()
    done = launch_local(2, PROGRAM, [10**6], HUB, timeout=3, show=False)
    assert done.timed_out
    assert time.monotonic() - begun < 3 + 40
    assert all(done.codes.values())
    with pytest.raises(starswitch.StarswitchError, match="time"):
        done.check()


def test_ctrl_c_ends_all(script: Any) -> None:
    one = script(
        f"""
        import starswitch
        starswitch.launch_local(2, {str(PROGRAM)!r}, [1000000])
        """
    )
    one.wait_for("here is n1")
    one.wait_for("here is n2")
    children = [
        int(word)
        for task in Path(f"/proc/{one.process.pid}/task").iterdir()
        for word in (task / "children").read_text().split()
    ]
    assert len(children) == 3
    one.kill(signal.SIGINT)
    assert one.wait() in (1, 130, -signal.SIGINT)
    assert "KeyboardInterrupt" in one.text
    until(lambda: not any(is_there(pid) for pid in children))


def test_a_hub_that_does_not_start_is_told() -> None:
    with pytest.raises(starswitch.StarswitchError, match="--policy"):
        launch_local(1, PROGRAM, [1], {"policy": "none-such"}, show=False)
    with pytest.raises(ValueError, match="names"):
        launch_local(["a", "a"], PROGRAM)


def test_a_hub_that_takes_long_to_start_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setattr(starswitch.launch, "START", -1.0)
    assert launch_local(1, PROGRAM, [10], HUB, timeout=LIMIT).ok
    assert "the hub does not listen yet" in capfd.readouterr().err


def test_a_hub_that_does_not_listen_has_no_longer_than_all() -> None:
    with pytest.raises(ValueError, match="listen"):
        launch_local(1, PROGRAM, hub_options={"listen": "127.0.0.1:9"}, timeout=LIMIT)
    with pytest.raises(StarswitchError, match="the time was up"):
        launch_local(1, PROGRAM, timeout=0)


def test_options_are_words_or_names_and_values() -> None:
    words = ["--every", "5", "--dylu", "--no-json", "--outer-lr", "0.7"]
    named = {"every": 5, "dylu": True, "json": False, "seed": None, "outer_lr": 0.7}
    assert _words(named) == words
    assert _words(["--every", 5]) == ["--every", "5"]


def test_cores_are_shared_among_the_nodes() -> None:
    code = "import os; print(os.environ['OMP_NUM_THREADS'], os.environ['MORE'])"
    done = launch_local(
        3, "-c", [code], show=False, timeout=LIMIT, env={"MORE": "yes"}
    ).check()
    threads = max(1, (os.cpu_count() or 1) // 3)
    assert done.text["n3"].split() == [str(threads), "yes"]
    assert sys.executable


def test_a_script_that_is_not_there_starts_no_hub(capfd: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.py"):
        launch_local(1, "no.py", timeout=LIMIT)
    assert "hub |" not in capfd.readouterr().out
