"""`starswitch check train.py [-- ARGUMENTS]`: what attach would attach to in a
script, the lines to add, and what will not work.

The script's text is read, then the script is run in a process of its own until
its optimizers have made a few steps, and ended. No hub is asked for. What the
script writes before its third step, it writes; what it would do at its end, such
as saving a model, it does not.

Exit codes: 0 it works, or will with the lines named; 1 it will not, or could not
be seen to; 2 the script fails by itself: it raises, or it has made a step and exits
with an error; 64 the command is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from . import _check_report, _check_static, _check_words
from ._check_static import Text
from ._command import Parser, ending

WORKS, NOT, FAILS = 0, 1, 2
CODES = {"works": WORKS, "fails": FAILS}

GRACE = 10.0  # seconds that a report may take after the time limit
OTHERS = 1.0  # seconds that other processes of the script have to report, too
LAST_WORDS = 5.0  # seconds that a script that ends by itself has to print why
TAIL = 12  # lines of the script's output that are shown when it fails


@dataclass
class Run:
    """How running the script went. `reports`: of each process that had
    something to say (_check_run.py), that which made most steps first."""

    reports: list[dict[str, Any]]
    status: int | None  # of the script's process where it ended by itself
    tail: list[str]
    one_rank: bool

    @property
    def best(self) -> dict[str, Any]:
        return self.reports[0] if self.reports else {}


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = Parser(
        prog="starswitch check",
        description="Says what attach would attach to in a training script, which "
        "lines to add where, and what will not work: runs the script until its "
        "third optimizer step, without a hub.",
        usage="%(prog)s [OPTIONS] SCRIPT [-- ARGUMENT...]",
        epilog="Exit codes: 0 it works, or will with the lines named; 1 it will "
        "not, or could not be seen to; 2 the script fails by itself; 64 the command is "
        "wrong.",
    )
    parser.add_argument("script", metavar="SCRIPT", help="a Python file that trains")
    parser.add_argument(
        "--steps", type=int, default=3, help="optimizer steps to wait for (default 3)"
    )
    parser.add_argument(
        "--time",
        type=float,
        default=60,
        metavar="SECONDS",
        help="how long the script may take to get there (default 60)",
    )
    parser.add_argument(
        "--static", action="store_true", help="read the script, do not run it"
    )
    parser.add_argument(
        "--nodes", type=int, default=4, help="PCs that would train (default 4)"
    )
    parser.add_argument(
        "--mbit",
        type=float,
        default=1000,
        help="the hub's network, Mbit/s (default 1000)",
    )
    parser.add_argument("--json", action="store_true", help="say it as one JSON object")
    if "--" in argv:
        cut = argv.index("--")
        argv, rest = argv[:cut], argv[cut + 1 :]
    else:
        rest = []
    options = parser.parse_args(argv)
    if options.steps < 2:
        parser.error("--steps must be at least 2, to tell how long one takes")
    if options.time <= 0 or options.nodes < 1 or options.mbit <= 0:
        parser.error("--time, --nodes and --mbit must be above 0")
    if options.script.endswith(".ipynb"):
        parser.error("a notebook cannot be checked: export it as a script first")
    if not os.path.isfile(options.script):
        parser.error(f"{options.script} is no file")
    return options, rest


# ---- running the script ----


def environment(text: Text) -> tuple[dict[str, str], bool]:
    """Of the script's process; a script that waits for torchrun becomes the only
    one of its ranks."""
    env = dict(os.environ)
    env["STARSWITCH_CHECK_PARENT"] = str(os.getpid())
    package = str(Path(__file__).resolve().parent.parent)
    paths = [one for one in env.get("PYTHONPATH", "").split(os.pathsep) if one]
    if package not in paths:
        env["PYTHONPATH"] = os.pathsep.join([*paths, package])
    marks = text.marks
    one_rank = "group" in marks and "spawn" not in marks and "RANK" not in env
    if one_rank:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        env.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", LOCAL_WORLD_SIZE="1")
        env.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    return env, one_rank


def read_reports(folder: str) -> list[dict[str, Any]]:
    found = [json.loads(one.read_bytes()) for one in Path(folder).glob("*.json")]

    def steps(report: dict[str, Any]) -> int:
        return sum(one["steps"] for one in report.get("optimizers", []))

    return sorted(found, key=lambda one: (-steps(one), not one["main"], one["pid"]))


def await_reports(
    process: subprocess.Popen[bytes], folder: str, seconds: float
) -> list[dict[str, Any]]:
    """Until a process has made its steps, or the script has come to an end."""
    until = time.monotonic() + seconds + GRACE
    while time.monotonic() < until:
        ended = process.poll() is not None
        reports = read_reports(folder)
        if any(one["reason"] == "steps" for one in reports):
            time.sleep(OTHERS if reports[0]["processes"] or len(reports) > 1 else 0)
            if not all(one["main"] for one in reports):
                time.sleep(OTHERS)
            return read_reports(folder)
        if any(one["main"] for one in reports) or ended:
            return reports
        time.sleep(0.05)
    return []


def end(process: subprocess.Popen[bytes]) -> None:
    """The script's process and all that it has started, at once."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def last_lines(output: IO[bytes]) -> list[str]:
    output.seek(0)
    lines = output.read().decode(errors="replace").splitlines()
    return lines[-TAIL:]


def run(options: argparse.Namespace, args: list[str], text: Text) -> Run:
    """Runs the script until it has shown enough."""
    env, one_rank = environment(text)
    with (
        ending(),
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryFile() as output,
    ):
        command = [sys.executable, "-m", "starswitch._check_run", folder]
        command += [str(options.steps), str(options.time), options.script, *args]
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL
            if sys.stdin is None or sys.stdin.isatty()
            else None,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            reports = await_reports(process, folder, options.time)
            main = [one["reason"] for one in reports if one["main"]]
            if "raised" in main or "exit" in main:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LAST_WORDS)
            status = process.poll()
        finally:
            end(process)
        return Run(reports, status, last_lines(output), one_rank)


def main(argv: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    try:
        options, args = parse(sys.argv[1:] if argv is None else argv)
    except SystemExit as wrong:
        return int(wrong.code or 0)
    source = Path(options.script).read_text(encoding="utf-8", errors="replace")
    text = _check_static.read(source, options.script)
    ran = None
    if not options.static and not text.error:
        ran = run(options, args, text)
    result = _check_words.judge(options, source, text, ran)
    if options.json:
        said = json.dumps(asdict(result), indent=2)
    else:
        said = "\n".join(_check_report.write(result))
    try:
        print(said, flush=True)
    except BrokenPipeError:  # who reads has read enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CODES.get(result.verdict, NOT)


if __name__ == "__main__":
    sys.exit(main())
