"""`starswitch launch`: here, and by ssh, which a script stands for."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PYTHON, until
from starswitch._launch import parse

TRAIN = [sys.executable, str(Path(__file__).resolve().parent / "launched.py")]
HUB = ["--every", "5", "--delay", "2", "--init", "hub", "--no-page"]


def start(where: Path, *words: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(PYTHON)}
    env |= {"XDG_CONFIG_HOME": str(where), "XDG_STATE_HOME": str(where)}
    return subprocess.Popen(
        [sys.executable, "-m", "starswitch", "launch", *words],
        cwd=where,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(where: Path, *words: str) -> tuple[int, str]:
    process = start(where, *words)
    try:
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out


@pytest.fixture
def ssh(tmp_path: Path) -> str:
    """A program that does what ssh would, on this PC, and keeps what it is told."""
    program = tmp_path / "ssh"
    program.write_text(
        "#!/bin/sh\n"
        f'printf "%s\\n" "$*" >>{tmp_path}/told\n'
        'shift\ncd / && exec env -i PATH="$PATH" HOME=/nowhere '
        f"XDG_CONFIG_HOME={tmp_path}/config PYTHONPATH={PYTHON} "
        f"TMPDIR={tmp_path}/left "
        f'STAR_BUILD={os.environ.get("STAR_BUILD", "build")} sh -c "$1"\n'
    )
    (tmp_path / "left").mkdir()
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


def test_nodes_of_this_pc(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--local", "2", *HUB, "--", *TRAIN, "60")
    assert code == 0, out
    for name in ("n1", "n2"):
        assert f"{name}  | here is {name}\n" in out, out
        assert f"{name}  | {name} says goodbye\n" in out, out
    assert "hub | " in out


def test_the_first_that_fails_gives_the_exit_code(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--local", "2", *HUB, "--", *TRAIN, "30", "n2")
    assert code == 3, out
    assert "n1 says goodbye" in out, out


def test_ssh_brings_the_key_and_no_command_line_has_it(
    tmp_path: Path, ssh: str
) -> None:
    """Hosts are an address of this PC that is not loopback's, if there is one."""
    code, out = run(
        tmp_path,
        *("--hosts", "me@localhost,localhost", "--ssh", ssh),
        *("--listen", "0.0.0.0:7541", *HUB),
        *("--", *TRAIN, "60"),
    )
    left, told = tmp_path / "left", (tmp_path / "told").read_text()
    assert left.is_dir()
    key = (tmp_path / "starswitch-run" / "keys" / "invitation").read_text().strip()
    assert len(key) > 20 and key not in told and key not in out
    assert code == 0, out
    assert "localhost   | here is localhost\n" in out, out
    assert "localhost.2 | localhost.2 says goodbye\n" in out, out
    assert f"cd {tmp_path}" in told
    until(lambda: not [one for one in left.glob("*/key") if one.exists()])


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_its_end_is_heard_by_all(tmp_path: Path, ssh: str, sign: int) -> None:
    process = start(
        tmp_path,
        *("--hosts", "localhost", "--ssh", ssh, "--listen", "127.0.0.1:7541"),
        *(*HUB, "--logs", "logs", "--", *TRAIN, "1000000"),
    )
    log = tmp_path / "logs" / "localhost.log"
    try:
        until(lambda: log.exists() and "here is" in log.read_text(), 60)
        os.kill(process.pid, sign)
        process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + sign
    assert "KeyboardInterrupt" in log.read_text()
    hub = (tmp_path / "logs" / "hub.log").read_text()
    assert "node_left localhost" in hub, hub


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "x"], "give either --local N or --hosts"),
        (["--local", "2", "--hosts", "a", "--", "x"], "give either"),
        (["--local", "2"], "the command of the nodes is missing"),
        (["--local", "-1", "--", "x"], "must be at least 1, not -1"),
        (["--hosts=-oProxyCommand=x", "--", "x"], "no host begins with -"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as wrong:
        parse(words)
    assert wrong.value.code == 64
    assert said in capsys.readouterr().err


def test_a_dry_run_says_what_it_would_do(tmp_path: Path) -> None:
    code, out = run(
        tmp_path,
        *("--hosts", "pc1,me@pc1", "--listen", "10.0.0.1", "--goal", "0.3"),
        *("--dry-run", "--", "python", "train me.py"),
    )
    assert code == 0, out
    assert "--goal 0.3 --listen 10.0.0.1:7541 --lan --no-beacon" in out
    assert "ssh me@pc1 : STARSWITCH_HUB=10.0.0.1:7541 STARSWITCH_NAME=pc1.2" in out
    assert not (tmp_path / "starswitch-run").exists()


def test_a_host_that_nobody_knows_is_said(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--hosts", "no.such.pc.invalid", "--", "x")
    assert code == 1
    assert "no way to no.such.pc.invalid" in out and "--listen ADDRESS" in out
