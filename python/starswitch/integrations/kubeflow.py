"""Kubeflow Trainer: how far a TrainJob is (its v2.2 and later, KEP-2779).

The engine gives each pod an https address, the certificate to know it by and a
token. Where they are there, `starswitch auto` of rank 0 runs the hub as a process
of its own, and this one tells the engine what the hub says of itself: `kubectl get
trainjob` then has the part of the run that is done, the time left, the loss.

This process is the parent, as a container ends with its first process: only so can
the last post still be made when the hub has ended. Whoever ends one of them ends
both, signals go on to the hub, and the exit code is the hub's. Nothing that fails
here reaches the run: it is said once, and tried again.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from ctypes import CDLL
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .._programs import program_environment, program_path
from ..errors import StarswitchError

__all__ = ["auto", "payload"]

URL = "KUBEFLOW_TRAINER_SERVER_URL"
CA_CERT = "KUBEFLOW_TRAINER_SERVER_CA_CERT"
TOKEN = "KUBEFLOW_TRAINER_SERVER_TOKEN"

INTERVAL = 5.0  # seconds between two posts, at least: the engine asks for it
PATIENCE = 5.0  # seconds that hub or server may take for an answer
FIRST = 0.1  # part of the interval between questions to a hub that starts
MOST = 2**31 - 1  # seconds: the engine's number has 32 bits

PASSED_ON = {
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
}
SI_KERNEL = 0x80  # a terminal's signals, which the hub has got itself
PR_SET_PDEATHSIG = 1


def auto(words: list[str], interval: float = INTERVAL) -> int | None:
    """`starswitch-node WORDS`, which are auto and its arguments, as a process of
    its own, and the engine is told how its run goes; its exit code. None: nothing
    was started, as this is no TrainJob that wants to know, or no hub."""
    if not all(os.environ.get(name) for name in (URL, CA_CERT, TOKEN)):
        return None
    command = [program_path("starswitch-node"), *words]
    if not _is_hub(command):
        return None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON | {signal.SIGCHLD})
    hub = _start(command, before)
    reporter = _Reporter(hub.pid, interval)
    reporter.start()
    code, asked = _follow(hub)
    reporter.end(code == 0 and not asked)
    return code if code >= 0 else 128 - code


def payload(status: Mapping[str, Any], done: bool = False) -> dict[str, Any]:
    """What is posted of a hub's status; what that does not know is left out."""
    trainer: dict[str, Any] = {}
    values = {"loss": status.get("loss"), "accuracy": status.get("accuracy")}
    eta, ran = status.get("eta"), status.get("run_time")
    if done:
        trainer = {"progressPercentage": 100, "estimatedRemainingSeconds": 0}
    elif eta and ran:
        part = int(100 * ran / (ran + eta["seconds"]))
        trainer["progressPercentage"] = min(part, 99)
        trainer["estimatedRemainingSeconds"] = min(round(eta["seconds"]), MOST)
        values["remaining_spread_seconds"] = eta["spread"]
    if "more_nodes" not in status:
        here = [node for node in status.get("nodes", []) if not node["gone"]]
        values["nodes"] = len(here)
        values["iterations_per_second"] = sum(node["rate"] or 0 for node in here)
    trainer["lastUpdatedTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    trainer["metrics"] = [
        {"name": name, "value": f"{value:.6g}"}
        for name, value in values.items()
        if value is not None
    ]
    return {"trainerStatus": trainer}


# ---- the hub ----


def _is_hub(command: list[str]) -> bool:
    """Whether auto says so; what it would complain of, it complains of later."""
    dry = [*command[:2], "--dry-run", *command[2:]]
    said = subprocess.run(
        dry, env=program_environment(), capture_output=True, text=True, errors="replace"
    )
    return said.returncode == 0 and said.stderr.endswith(": the hub\n")


def _start(command: list[str], before: set[Any]) -> subprocess.Popen[bytes]:
    """The process that becomes the hub. It saves and ends when this one is gone."""
    prctl, parent = CDLL(None).prctl, os.getpid()

    def begin() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    sys.stdout.flush()
    try:
        return subprocess.Popen(command, env=program_environment(), preexec_fn=begin)
    except OSError as error:
        raise StarswitchError(f"{command[0]} cannot be started: {error}") from None


def _follow(hub: subprocess.Popen[bytes]) -> tuple[int, bool]:
    """Until it has ended, signals go on to it: its exit code (negative: the signal
    that ended it), and whether it was asked to stop."""
    asked = False
    while True:
        code = hub.poll()
        if code is not None:
            return code, asked
        info = signal.sigwaitinfo(PASSED_ON | {signal.SIGCHLD})
        if info.si_signo == signal.SIGCHLD:
            continue
        asked |= info.si_signo in (signal.SIGTERM, signal.SIGINT)
        if info.si_code != SI_KERNEL:
            hub.send_signal(info.si_signo)


# ---- what is told ----


class _Reporter(threading.Thread):
    """A thread, as names and servers may hang for longer than a hub may wait with
    its signals, and its end."""

    def __init__(self, hub: int, interval: float) -> None:
        super().__init__(daemon=True)
        self._hub, self._interval = hub, interval
        self._over = threading.Event()
        self._done = False
        self._status: dict[str, Any] | None = None
        self._posted = -interval
        self._complained = False

    def run(self) -> None:
        pause = self._interval * FIRST
        while not self._over.wait(pause):
            status = self._ask()
            if status is not None:
                self._status = status
                self._post(payload(status))
                pause = self._interval
        if self._done and self._status is not None:
            time.sleep(max(0.0, self._posted + self._interval - time.monotonic()))
            self._post(payload(self._status, done=True))

    def end(self, done: bool) -> None:
        """The hub has ended; done: its run has. Returns once that is told, or could
        not be."""
        self._done = done
        self._over.set()
        if done:
            self.join(self._interval + 2 * PATIENCE)

    def _ask(self) -> dict[str, Any] | None:
        """The hub's status; None: it does not say (yet)."""
        try:
            said = subprocess.run(
                [
                    program_path("starswitch-hub"),
                    *("ctl", "status", "--json", *_directory(self._hub)),
                ],
                env=program_environment(),
                capture_output=True,
                timeout=PATIENCE,
                check=True,
            )
            status: dict[str, Any] = json.loads(said.stdout)
            return status
        except (OSError, ValueError, subprocess.SubprocessError):
            return None

    def _post(self, what: dict[str, Any]) -> None:
        self._posted = time.monotonic()
        try:
            _post(what)
        except (OSError, ValueError, HTTPException) as error:
            if not self._complained:
                self._complained = True
                line = (
                    "starswitch auto: Kubeflow Trainer is not told how the run goes: "
                    f"{error or type(error).__name__}; the run goes on, and this is "
                    "tried again\n"
                )
                # Not by sys.stderr: the end of Python would not take its lock away
                # from a thread.
                os.write(2, line.encode())


def _directory(hub: int) -> list[str]:
    """What ctl needs to find this hub beside what both find by themselves; as auto
    has completed it."""
    words = Path(f"/proc/{hub}/cmdline").read_text().split("\0")
    found = []
    for i, word in enumerate(words):
        if word in ("--directory", "--config"):
            found += words[i : i + 2]
        elif word.startswith(("--directory=", "--config=")):
            found.append(word)
    return found


def _post(what: dict[str, Any]) -> None:
    """By no proxy, and to nobody else, as a redirection would get the token. OSError,
    ValueError, HTTPException: why it is not done, without the token."""
    to = urlsplit(os.environ[URL])
    if to.scheme != "https" or not to.hostname:
        raise ValueError(f"{URL} is no https address")
    token = Path(os.environ[TOKEN]).read_text("ascii").strip()  # it changes
    if not token or not token.isprintable():
        raise ValueError(f"the file of {TOKEN} holds no token")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # who checks, by this CA alone
    context.load_verify_locations(cadata=Path(os.environ[CA_CERT]).read_text("ascii"))
    link = HTTPSConnection(to.hostname, to.port, timeout=PATIENCE, context=context)
    try:
        link.request(
            "POST",
            to._replace(scheme="", netloc="", fragment="").geturl(),
            json.dumps(what),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        code = link.getresponse().status
    finally:
        link.close()
    if code // 100 != 2:
        raise HTTPException(f"it answers {code}")
