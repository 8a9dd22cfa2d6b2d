"""`starswitch launch`: here, and by ssh, which a script stands for."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PYTHON, until
from starswitch import _launch
from starswitch._launch import parse
from starswitch._programs import program_path
from starswitch.launch import _listens, _visible

TRAIN = [sys.executable, str(Path(__file__).resolve().parent / "launched.py")]
HUB_PROGRAM = program_path("starswitch-hub")
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


@pytest.mark.parametrize("keys", ["--keys mine", "--keys=mine"])
@pytest.mark.parametrize("local", [False, True])
def test_keys_of_another_folder_let_nodes_in(
    tmp_path: Path, ssh: str, keys: str, local: bool
) -> None:
    far = ["--hosts", "localhost", "--ssh", ssh, "--listen", "0.0.0.0:7541"]
    made = [HUB_PROGRAM, "keygen", str(tmp_path / "mine")]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    code, out = run(
        tmp_path,
        *(["--local", "1"] if local else far),
        *(*keys.split(), *HUB, "--time", "40s", "--", *TRAIN, "60"),
    )
    assert code == 0, out
    assert f"node_joined {'n1' if local else 'localhost'}" in out, out


def test_nodes_of_this_pc_have_the_key_of_a_hub_with_lan(tmp_path: Path) -> None:
    code, out = run(
        tmp_path,
        *("--local", "1", "--listen", "0.0.0.0:7541"),
        *(*HUB, "--time", "40s", "--", *TRAIN, "60"),
    )
    assert code == 0, out
    assert "node_joined n1" in out, out


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


@pytest.mark.parametrize(
    ("listen", "hub", "nodes"),
    [
        ("0.0.0.0", "0.0.0.0:7541", "127.0.0.1:7541"),
        ("[fd00::5]:7600", "[fd00::5]:7600", "[fd00::5]:7600"),
        ("[fd00::5]", "[fd00::5]:7541", "[fd00::5]:7541"),
    ],
)
def test_nodes_are_told_an_address_that_leads_to_the_hub(
    tmp_path: Path, listen: str, hub: str, nodes: str
) -> None:
    code, out = run(
        tmp_path,
        *("--hosts", "127.0.0.1", "--listen", listen, "--dry-run", "--", "x"),
    )
    assert code == 0, out
    assert f"--listen {shlex.quote(hub)} --lan" in out
    assert f"STARSWITCH_HUB={nodes} " in out


def test_the_address_is_that_towards_another_pc(monkeypatch: Any) -> None:
    ways = {"here": "127.0.1.1", "me@pc2": "10.0.0.1", "pc3": "10.9.0.1"}
    monkeypatch.setattr(_launch, "address_towards", lambda host, *_: ways[host])
    plan = parse(["--hosts", "here,me@pc2,pc3", "--", "x"])
    assert _launch._listen(plan) == ("10.0.0.1", 7541)
    assert _launch._reached(plan, "0.0.0.0") == "10.0.0.1"


def test_no_node_has_the_name_of_the_hub() -> None:
    plan = parse(["--hosts", "hub,pc1,me@hub", "--", "x"])
    assert plan.names == ["hub.2", "pc1", "hub.3"]


def test_who_listens_by_ipv6_alone_listens() -> None:
    with socket.socket(socket.AF_INET6) as server:
        try:
            server.bind(("::1", 0))
        except OSError:
            pytest.skip("this PC has no IPv6")
        server.listen()
        assert _listens(server.getsockname()[1])


def test_a_host_that_nobody_knows_is_said(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--hosts", "no.such.pc.invalid", "--", "x")
    assert code == 69
    assert "no way to no.such.pc.invalid" in out and "--listen ADDRESS" in out


def train_sh(where: Path, *lines: str) -> list[str]:
    """A script that has no exec, and writes its number and those of its jobs."""
    script = where / "train.sh"
    script.write_text("\n".join([f"cd {where}", "echo $$ >>pids", *lines, ""]))
    return ["bash", str(script)]


def pids(where: Path) -> list[int]:
    file = where / "pids"
    return [int(one) for one in file.read_text().split()] if file.exists() else []


def alive(where: Path) -> list[int]:
    found = []
    for pid in pids(where):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        if stat.rsplit(") ", 1)[1][0] not in "ZX":
            found.append(pid)
    return found


def kill_left(where: Path) -> None:
    for pid in alive(where):
        os.kill(pid, signal.SIGKILL)


def end(
    process: subprocess.Popen[str], where: Path, act: Callable[[], object]
) -> tuple[str, list[int]]:
    """What it has printed, and what of its script still lives, after `act`."""
    try:
        act()
        out, _ = process.communicate(timeout=60)
        return out, alive(where)
    finally:
        process.kill()
        kill_left(where)


@pytest.mark.parametrize("by_ssh", [False, True])
def test_ctrl_c_reaches_what_a_script_has_started(
    tmp_path: Path, ssh: str, by_ssh: bool
) -> None:
    trainer = f"{TRAIN[0]} {TRAIN[1]} 1000000"
    command = train_sh(
        tmp_path,
        "(trap '' INT; exec sleep 300) & echo $! >>pids",
        "setsid sleep 300 & echo $! >>pids" if not by_ssh else "",
        trainer,
        "echo the script goes on",
    )
    where = ["--hosts", "localhost", "--ssh", ssh] if by_ssh else ["--local", "1"]
    listen = ["--listen", "127.0.0.1:7541"] if by_ssh else []
    process = start(tmp_path, *where, *listen, *HUB, "--logs", "logs", "--", *command)
    log = tmp_path / "logs" / ("localhost.log" if by_ssh else "n1.log")

    def act() -> None:
        until(lambda: log.exists() and "here is" in log.read_text(), 60)
        assert len(alive(tmp_path)) == (2 if by_ssh else 3)
        os.kill(process.pid, signal.SIGINT)

    out, left = end(process, tmp_path, act)
    assert process.returncode == 130, out
    assert "KeyboardInterrupt" in log.read_text()
    assert not left
    assert not list((tmp_path / "left").glob("*"))
    assert "node_left" in (tmp_path / "logs" / "hub.log").read_text()


@pytest.mark.parametrize("by_ssh", [False, True])
def test_a_second_signal_hurries_the_end(
    tmp_path: Path, ssh: str, by_ssh: bool
) -> None:
    command = train_sh(
        tmp_path,
        "trap '' INT TERM",
        "sleep 300 & echo $! >>pids",
        "echo here",
        "sleep 300; sleep 300",
    )
    where = ["--hosts", "localhost", "--ssh", ssh] if by_ssh else ["--local", "1"]
    listen = ["--listen", "127.0.0.1:7541"] if by_ssh else []
    process = start(tmp_path, *where, *listen, *HUB, "--logs", "logs", "--", *command)
    begun = time.monotonic()

    def act() -> None:
        nonlocal begun
        until(lambda: len(pids(tmp_path)) == 2, 60)
        begun = time.monotonic()
        for sign in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            os.kill(process.pid, sign)
            time.sleep(0.1)

    out, left = end(process, tmp_path, act)
    took = time.monotonic() - begun
    assert process.returncode == 128 + signal.SIGHUP, out
    assert "Traceback" not in out
    assert not left
    assert took < 9, "an end that is not hurried takes 10 s"
    assert "stopped" in (tmp_path / "logs" / "hub.log").read_text()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--no-such-option", "--", "true"], 64, "no-such-option"),
        (["--policy", "none-such", "--", "true"], 64, "none-such"),
        (["--directory", "/proc/none", "--", "true"], 74, "/proc/none"),
        (["--logs", "/proc/none", "--", "true"], 74, "/proc/none"),
        (["--", "no-such-command"], 69, "no-such-command cannot be started: No such"),
        (["--", "/etc/passwd"], 69, "/etc/passwd cannot be started: Permission"),
    ],
)
def test_what_cannot_start_has_the_code_of_its_reason(
    tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    got, out = run(tmp_path, "--local", "1", "--no-page", *words)
    assert got == code, out
    assert said in out and "Traceback" not in out and "Errno" not in out


def test_a_hub_that_is_killed_is_told(tmp_path: Path) -> None:
    command = train_sh(
        tmp_path,
        "hub=$(pgrep -P $PPID starswitch-hub)",
        "kill -KILL $hub",
        "for i in $(seq 100); do kill -0 $hub || break; sleep 0.05; done",
    )
    code, out = run(tmp_path, "--local", "1", *HUB, "--", *command)
    assert "the hub ended with code 137; nodes train alone" in out, out
    assert code == 137


def test_a_line_without_an_end_takes_no_other_along(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--local", "2", *HUB, "--", "printf", "no end")
    assert code == 0, out
    assert "n1  | no end\n" in out and "n2  | no end\n" in out


def test_who_reads_no_more_ends_all(tmp_path: Path) -> None:
    command = train_sh(tmp_path, "while :; do echo line; sleep 0.05; done")
    process = start(tmp_path, "--local", "2", *HUB, "--", *command)
    assert process.stdout is not None
    try:
        until(lambda: len(pids(tmp_path)) == 2, 60)
        process.stdout.readline()
        process.stdout.close()
        process.wait(60)
        left = alive(tmp_path)
    finally:
        process.kill()
        kill_left(tmp_path)
    assert process.returncode == 128 + signal.SIGPIPE
    assert not left


def test_a_terminal_is_shown_no_escapes() -> None:
    assert _visible("a\tb\x1b[2J\x07\x9b1m\u202ec\r\n") == "a\tb?[2J??1m?c"


@pytest.mark.parametrize("file", ["starswitch.bash", "_starswitch"])
def test_each_of_its_options_is_completed(capsys: Any, file: str) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    _, _, own = capsys.readouterr().out.partition("options:")
    known = (PYTHON.parent / "packaging" / "completion" / file).read_text()
    names = re.findall(r"^  (?:-h, )?(--[a-z-]+)", own, re.MULTILINE)
    assert len(names) > 6
    for name in names:
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", known), name


@pytest.mark.parametrize("after", [0.02, 0.1, 0.2, 0.3, 0.5, 0.8])
def test_ctrl_c_while_it_begins_ends_it_quietly(tmp_path: Path, after: float) -> None:
    """By the front, as it is installed. Moments are many; each is right."""
    front = PYTHON.parent / "packaging" / "starswitch"
    command = train_sh(tmp_path, "sleep 300; true")
    process = subprocess.Popen(
        ["sh", str(front), "launch", "--local", "1", "--no-page", "--", *command],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )

    def act() -> None:
        time.sleep(after)
        os.killpg(process.pid, signal.SIGINT)

    out, left = end(process, tmp_path, act)
    assert process.returncode in (-signal.SIGINT, 130), out
    assert "Traceback" not in out
    assert not left
