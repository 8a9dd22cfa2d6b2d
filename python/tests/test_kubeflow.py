"""The progress of a TrainJob: what an https server in the engine's place gets of real
runs, each a hub and two nodes by `starswitch auto`."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE, until
from starswitch._programs import program_path
from starswitch.integrations.kubeflow import auto, payload
from starswitch.launch import free_port

PATH = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/a/trainjobs/b/status"
FRONT = [sys.executable, "-m", "starswitch", "auto"]
MODEL = "mlp:6-16-3"
OFTEN = 0.2  # seconds between two posts, where a test is not to last for long
SOON = 1.0  # seconds that a loaded machine may take more


def front(interval: float) -> list[str]:
    """The same with another interval."""
    source = (
        "import sys; from starswitch.integrations import kubeflow; "
        f"sys.exit(kubeflow.auto(['auto', *sys.argv[1:]], {interval}))"
    )
    return [sys.executable, "-c", source]


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """One of a server at 127.0.0.1, which is its own CA, and its key."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-days", "1", "-subj", f"/CN={name}"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-nodes", "-out", str(cert), "-keyout", str(key)),
        ],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return cert, key


class Engine:
    """An https server that notes what is posted; `code`: what it answers, 0: nothing,
    until it is closed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca, key = certificate(folder, "engine")
        self.token = folder / "token"
        self.token.write_text("first-token\n")
        self.code = 200
        self.posts: list[dict[str, Any]] = []
        self.closing = threading.Event()
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                engine.take(self)

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.ca, key)
        self.server.socket = context.wrap_socket(
            self.server.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers.get("Content-Length", 0))
        self.posts.append(
            {
                "at": time.monotonic(),
                "method": request.command,
                "path": request.path,
                "token": request.headers["Authorization"],
                "type": request.headers["Content-Type"],
                "body": json.loads(request.rfile.read(size) or b"null"),
                "shown": [each for each in command_lines() if b"-token" in each],
            }
        )
        if not self.code:
            self.closing.wait(6 * PATIENCE)
            return
        request.send_response(self.code)
        if self.code == 307:
            request.send_header("Location", "/elsewhere")
        request.send_header("Content-Length", "0")
        request.end_headers()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "KUBEFLOW_TRAINER_SERVER_URL": f"https://127.0.0.1:{self.server.server_port}"
            + PATH,
            "KUBEFLOW_TRAINER_SERVER_CA_CERT": str(self.ca),
            "KUBEFLOW_TRAINER_SERVER_TOKEN": str(self.token),
        }

    @property
    def statuses(self) -> list[dict[str, Any]]:
        return [each["body"]["trainerStatus"] for each in self.posts]

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


def command_lines() -> list[bytes]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(each.read_bytes())
        except OSError:
            pass  # it has ended
    return found


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    one = Engine(tmp_path)
    yield one
    one.close()


class Star:
    """Three pods of a TrainJob as processes: `ranks[0]` becomes the hub."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder, self.engine = folder, engine
        self.directory = folder / "a run"
        self.data = folder / "blobs.csv"
        blobs = random.Random(7)
        with self.data.open("w") as file:
            for kind in (i % 3 for i in range(600)):
                values = [
                    (j % 3 == kind) * 1.5 + blobs.uniform(-1, 1) for j in range(6)
                ]
                print(*(f"{one:.4f}" for one in values), kind, sep=",", file=file)
        self.ranks: list[subprocess.Popen[bytes]] = []
        self.hub = 0  # its process, where a test has ended the parent
        self.port = free_port()

    def start(
        self,
        *options: str,
        first: list[str] = FRONT,
        nodes: int = 2,
        step: str = "10ms",
    ) -> Star:
        hub = ["--listen", f"127.0.0.1:{self.port}", "--directory", self.directory.name]
        hub += ["--model", MODEL, "--data", str(self.data), "--policy", "mean"]
        hub += ["--every", "20", "--no-page", "--json", *options]
        node = [program_path("starswitch-node"), "--model", MODEL]
        node += ["--data", str(self.data), "--step-time", step, "--json"]
        for rank in range(1 + nodes):
            environment = {**os.environ, **self.engine.environment}
            environment["JOB_COMPLETION_INDEX"] = str(rank)
            del environment["STARSWITCH_HUB"]
            with (
                self.out(rank).open("wb") as out,
                self.err(rank).open("wb") as err,
            ):
                self.ranks.append(
                    subprocess.Popen(
                        [*(FRONT if rank else first), *hub, "--", *node],
                        cwd=self.folder,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=err,
                    )
                )
        return self

    def out(self, rank: int) -> Path:
        return self.folder / f"{rank}.out"

    def err(self, rank: int) -> Path:
        return self.folder / f"{rank}.err"

    def said(self, rank: int) -> str:
        return self.out(rank).read_text() + self.err(rank).read_text()

    @property
    def lines(self) -> list[str]:
        """What is said of the progress."""
        lines = self.err(0).read_text().splitlines()
        return [line for line in lines if line.startswith("starswitch auto: ")]

    def wait(self, timeout: float = 3 * PATIENCE) -> int:
        """Until all have ended; nodes do so with 0, and none has said the token."""
        codes = [each.wait(timeout) for each in self.ranks]
        said = [self.said(i) for i in range(len(codes))]
        assert not any("-token" in each for each in said), said
        assert codes[1:] == [0, 0], said
        return codes[0]

    def kill(self) -> None:
        for each in self.ranks:
            each.kill()
            each.wait()
        if self.hub:
            with suppress(ProcessLookupError):
                os.kill(self.hub, signal.SIGKILL)


@pytest.fixture
def star(tmp_path: Path, engine: Engine) -> Iterator[Star]:
    one = Star(tmp_path, engine)
    yield one
    one.kill()


def check(post: dict[str, Any]) -> dict[str, str]:
    """It is what the engine's schema allows; its metrics."""
    assert (post["method"], post["path"]) == ("POST", PATH)
    assert post["type"] == "application/json" and not post["shown"]
    assert list(post["body"]) == ["trainerStatus"]
    status = post["body"]["trainerStatus"]
    assert status.keys() <= {
        *("progressPercentage", "estimatedRemainingSeconds"),
        *("metrics", "lastUpdatedTime"),
    }
    for name, most in (
        ("progressPercentage", 100),
        ("estimatedRemainingSeconds", 2**31 - 1),
    ):
        assert type(status.get(name, 0)) is int and 0 <= status.get(name, 0) <= most
    said = status["lastUpdatedTime"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", said)
    told = datetime.fromisoformat(said.replace("Z", "+00:00"))
    assert abs((datetime.now(timezone.utc) - told).total_seconds()) < 6 * PATIENCE
    for each in status["metrics"]:
        assert set(each) == {"name", "value"}
        assert 1 <= len(each["name"]) <= 64 and 1 <= len(each["value"]) <= 64
        float(each["value"])
    return {each["name"]: each["value"] for each in status["metrics"]}


def is_told(star: Star) -> Callable[[], bool]:
    return lambda: any("progressPercentage" in each for each in star.engine.statuses)


def test_a_run_is_told_until_its_goal(star: Star, engine: Engine) -> None:
    options = ("--goal", "0.08", "--time", "10min")
    star.start(*options, first=front(OFTEN), step="20ms")
    until(is_told(star), what=f"a percentage: {engine.posts}")
    engine.token.write_text("second-token\n")
    assert star.wait() == 0, star.said(0)
    metrics = [check(post) for post in engine.posts]
    *course, last = engine.statuses
    assert [each.get("progressPercentage") for each in course].count(100) == 0
    assert last["progressPercentage"] == 100
    assert last["estimatedRemainingSeconds"] == 0
    assert metrics[-1].keys() == {
        *("loss", "accuracy", "nodes", "iterations_per_second")
    }
    assert metrics[-1]["nodes"] == "2" and 0 < float(metrics[-1]["loss"]) < 1.5
    assert float(metrics[-1]["iterations_per_second"]) > 0
    assert any("remaining_spread_seconds" in each for each in metrics)
    tokens = [each["token"] for each in engine.posts]
    assert tokens[0] == "Bearer first-token" and tokens[-1] == "Bearer second-token"
    times = [each["at"] for each in engine.posts]
    assert OFTEN * (len(times) - 1) < times[-1] - times[0] + SOON
    assert star.lines == []


def test_it_is_told_every_five_seconds_at_most(star: Star, engine: Engine) -> None:
    star.start("--time", "8s")
    assert star.wait() == 0, star.said(0)
    told = [each.get("progressPercentage") for each in engine.statuses]
    assert len(told) >= 3 and told[-1] == 100 and star.lines == []
    course = [each for each in engine.statuses if "progressPercentage" in each][:-1]
    assert course, engine.statuses
    for each in course:  # both are of the same moment
        part = 100 * (1 - each["estimatedRemainingSeconds"] / 8)
        assert each["progressPercentage"] == pytest.approx(part, abs=7)
    times = [each["at"] for each in engine.posts]
    assert min(b - a for a, b in pairwise(times)) > 5 - SOON


def test_what_a_server_refuses_is_said_once(star: Star, engine: Engine) -> None:
    engine.code = 307
    star.start("--time", "4s", first=front(OFTEN))
    assert star.wait() == 0
    assert len(engine.posts) > 3
    assert {each["path"] for each in engine.posts} == {PATH}
    assert len(star.lines) == 1 and "it answers 307" in star.lines[0]


def test_a_server_of_another_ca_gets_nothing(star: Star, engine: Engine) -> None:
    engine.ca, _ = certificate(star.folder, "other")
    star.start("--time", "4s", first=front(OFTEN))
    assert star.wait() == 0
    assert engine.posts == []
    assert len(star.lines) == 1 and "certificate verify failed" in star.lines[0]


def test_a_run_ends_beside_a_server_that_hangs(star: Star, engine: Engine) -> None:
    engine.code = 0
    star.start("--time", "3s", first=front(OFTEN))
    until(lambda: engine.posts)
    begun = time.monotonic()
    assert star.wait() == 0
    assert time.monotonic() - begun < 3 + 15 + 5 * SOON
    assert len(star.lines) == 1 and "timed out" in star.lines[0]


def test_who_is_asked_to_stop_does_so_and_is_not_done(
    star: Star, engine: Engine
) -> None:
    """The server hangs, which holds no signal up."""
    star.start("--time", "10min", first=front(OFTEN))
    until(is_told(star))
    engine.code, told = 0, len(engine.posts)
    until(lambda: len(engine.posts) > told)
    star.ranks[0].send_signal(signal.SIGTERM)
    assert star.ranks[0].wait(PATIENCE) == 0
    assert "hub_stopped" in star.said(0)  # the run is not over
    assert (star.directory / "current" / "centre.safetensors").exists()
    assert all(each.get("progressPercentage", 0) < 100 for each in engine.statuses)
    assert "-token" not in star.said(0)


def test_signals_go_on_to_the_hub_which_ends_with_its_parent(
    star: Star, engine: Engine
) -> None:
    star.start("--time", "10min", first=front(OFTEN), nodes=0)
    until(is_told(star))
    star.hub = until(lambda: child_of(star.ranks[0]))
    star.ranks[0].send_signal(signal.SIGHUP)
    until(lambda: "keys read again" in star.said(0))
    star.ranks[0].kill()
    until(lambda: not Path(f"/proc/{star.hub}").exists(), what="the hub ends")
    assert "hub_stopped" in star.said(0)


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The hub: what else this one starts is gone in a moment."""
    pid = process.pid
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(found[0]) if len(found) == 1 else 0


def test_what_is_not_known_is_left_out() -> None:
    nodes = [{"gone": False, "rate": 3.0}, {"gone": True, "rate": 4.0}]
    status: dict[str, Any] = {"run_time": 30.0, "loss": None, "accuracy": None}
    status |= {"eta": None, "nodes": nodes}
    told = payload(status)["trainerStatus"]
    assert told.keys() == {"lastUpdatedTime", "metrics"}
    assert told["metrics"] == [
        {"name": "nodes", "value": "1"},
        {"name": "iterations_per_second", "value": "3"},
    ]
    status["eta"] = {"by": "goal", "seconds": 1e12, "spread": 5.0}
    told = payload({**status, "more_nodes": 3})["trainerStatus"]
    assert told["progressPercentage"] == 0
    assert told["estimatedRemainingSeconds"] == 2**31 - 1
    assert told["metrics"] == [{"name": "remaining_spread_seconds", "value": "5"}]
    status["eta"]["seconds"] = 0.0
    assert payload(status)["trainerStatus"]["progressPercentage"] == 99


@pytest.mark.parametrize("missing", ["URL", "CA_CERT", "TOKEN"])
def test_without_its_variables_nothing_is_started(
    missing: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in engine.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "0")
    monkeypatch.delenv("STARSWITCH_HUB")
    monkeypatch.setenv(f"KUBEFLOW_TRAINER_SERVER_{missing}", "")
    assert auto(["auto", "--", "true"]) is None
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    monkeypatch.setenv(f"KUBEFLOW_TRAINER_SERVER_{missing}", "/dev/null")
    assert auto(["auto", "--listen", "127.0.0.1:1", "--", "true"]) is None
