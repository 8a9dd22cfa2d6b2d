"""What the tests share: hubs, small models, loops, and a clean environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Small models gain nothing from threads, which on a busy machine wait for each
# other; children inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
import starswitch
from starswitch._programs import program_path
from starswitch.launch import free_port

PYTHON = Path(starswitch.__file__).resolve().parent.parent
TESTS = Path(__file__).resolve().parent
PATIENCE = 20.0  # seconds that a loaded machine may take for what takes one


def until(true: Callable[[], Any], timeout: float = PATIENCE, what: str = "") -> Any:
    """Waits until this is true and returns it; else the test fails."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = true()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"not within {timeout:g} s: {what or true}")


def offers(link: Any) -> bool:
    """Whether a step may offer: the run has first parameters, and this node has
    them."""
    text = link.state().text
    return "part of the run" in text or "late" in text


def wait_offers(link: Any) -> None:
    """Waits until the node may offer, which needs no step."""
    link.wait_ready(PATIENCE)
    until(lambda: offers(link), what=f"it offers: {link.state()}")


class Hub:
    """A hub, build/starswitch-hub, on loopback; its directory outlives it, so
    that start() goes on after kill() or stop()."""

    def __init__(self, directory: Path, *options: object) -> None:
        self.directory = directory
        self.options = [str(one) for one in options]
        self.port = free_port()
        self._served = False
        self.events: list[dict[str, Any]] = []
        self.process: subprocess.Popen[str] | None = None
        self._readers: list[threading.Thread] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> Hub:
        """Returns once it listens; a hub that is started again keeps its port."""
        for _ in range(5):
            told = len(self.events)
            self._begin()
            try:
                until(lambda told=told: self._says(told) or not self.runs())
            except AssertionError:
                pass
            if self._says(told):
                self._served = True
                return self
            self.kill()
            if not self._served:
                self.port = free_port()  # somebody else took it
        raise AssertionError(f"the hub does not start: {self.events}")

    def _says(self, told: int) -> bool:
        """Its state, which it tells once it listens, behind so many events."""
        return any(one["event"] == "status" for one in self.events[told:])

    def _begin(self) -> None:
        self.process = subprocess.Popen(
            [
                program_path("starswitch-hub"),
                "--json",
                "--directory",
                str(self.directory),
                "--listen",
                self.address,
                *self.options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for stream in (self.process.stdout, self.process.stderr):
            reader = threading.Thread(target=self._read, args=[stream], daemon=True)
            reader.start()
            self._readers.append(reader)

    def _read(self, stream: Any) -> None:
        for line in stream:
            try:
                self.events.append(json.loads(line))
            except ValueError:
                self.events.append({"event": "text", "text": line.rstrip()})

    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self, sign: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(sign)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            for reader in self._readers:
                reader.join(PATIENCE)
            self._readers.clear()
            self.process = None

    def stop(self) -> None:
        """Ends it as SIGTERM does: it saves first."""
        self.kill(signal.SIGTERM)

    def told(self, event: str) -> list[dict[str, Any]]:
        """Its events of this name so far, as {"event", "subject", "text", ...}."""
        return [one for one in self.events if one["event"] == event]

    def wait_for(self, event: str, count: int = 1, timeout: float = PATIENCE) -> Any:
        until(lambda: len(self.told(event)) >= count, timeout, f"hub: {event}")
        return self.told(event)[-1]

    def ctl(self, *words: str) -> Any:
        """`starswitch-hub ctl WORDS`, its answer."""
        out = subprocess.run(
            [
                program_path("starswitch-hub"),
                "ctl",
                *words,
                "--json",
                "--directory",
                str(self.directory),
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert out.returncode == 0, out.stdout + out.stderr
        return json.loads(out.stdout)

    def status(self) -> dict[str, Any]:
        """Its state: version, rounds, nodes (each with its name) and so on."""
        status: dict[str, Any] = self.ctl("status")
        return status

    def export(self) -> dict[str, Any]:
        """The centre's tensors by name, as torch tensors; needs safetensors."""
        from safetensors.torch import load_file

        self.ctl("checkpoint")
        file = self.directory / "export.safetensors"
        subprocess.run(
            [
                program_path("starswitch-hub"),
                "export",
                str(self.directory),
                str(file),
            ],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        )
        tensors: dict[str, Any] = load_file(file)
        return tensors


@pytest.fixture
def hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Hub]]:
    """hub("--every", 5, "--delay", 2): a hub that listens; $STARSWITCH_HUB is
    the newest one's address. All are killed at the end of the test."""
    hubs: list[Hub] = []

    def begin(*options: object) -> Hub:
        one = Hub(tmp_path / f"hub{len(hubs)}", *options)
        hubs.append(one)
        one.start()
        monkeypatch.setenv("STARSWITCH_HUB", one.address)
        return one

    yield begin
    for one in hubs:
        one.kill()


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting, key or name of who runs the tests; no link left over."""
    for name in list(os.environ):
        # The last two say which library and which programs are tested.
        if name.startswith("STARSWITCH_") and name not in (
            "STARSWITCH_LIBRARY",
            "STARSWITCH_PROGRAMS",
        ):
            monkeypatch.delenv(name)
    for name in ("LOCAL_RANK", "RANK", "WORLD_SIZE", "CREDENTIALS_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STARSWITCH_HUB", f"127.0.0.1:{free_port()}")  # nobody
    # Programs of a test import the package that is tested, and other tests.
    monkeypatch.setenv("PYTHONPATH", f"{PYTHON}{os.pathsep}{TESTS}")
    yield
    from starswitch import _link

    for link in list(_link._held):
        link.detach(within=0)


class Script:
    """A Python program of its own, as a user's script; its output so far is in
    `text`."""

    def __init__(self, source: str, *arguments: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(source),
                *map(str, arguments),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **environment},
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait_for(self, text: str, timeout: float = 3 * PATIENCE) -> None:
        until(
            lambda: text in self.text or self.process.poll() is not None,
            timeout,
            f"script: {text!r}; it said {self.text}",
        )
        until(lambda: text in self.text, 2.0, f"script: {text!r}; {self.text}")

    def wait(self, timeout: float = 6 * PATIENCE) -> int:
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the script does not end: {self.text}") from None
        self._reader.join(PATIENCE)
        return code

    def kill(self, sign: int = signal.SIGKILL) -> None:
        self.process.send_signal(sign)


@pytest.fixture
def script() -> Iterator[Callable[..., Script]]:
    """script(source, *sys.argv[1:], **environment): a Script that runs."""
    scripts: list[Script] = []

    def begin(source: str, *arguments: object, **environment: str) -> Script:
        scripts.append(Script(source, *arguments, **environment))
        return scripts[-1]

    yield begin
    for one in scripts:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()


_seeding = threading.Lock()


def small_model(seed: int = 0) -> Any:
    """A perceptron, 8 inputs, 3 classes."""
    import torch

    with _seeding:  # the random state is one for all threads
        torch.manual_seed(seed)
        return torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)
        )


def batch(seed: int, size: int = 32) -> tuple[Any, Any]:
    """Inputs (size, 8) and classes (size) that a line tells apart; drawn without
    the global random state."""
    import torch

    random = torch.Generator().manual_seed(seed)
    x = torch.randn(size, 8, generator=random)
    return x, (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()


def train(
    model: Any,
    optimizer: Any,
    steps: int,
    link: Any = None,
    *,
    first: int = 0,
    pause: float = 0.0,
    stop: Callable[[], Any] | None = None,
) -> list[float]:
    """A plain loop on `batch`; the losses. `pause`: seconds an iteration takes
    more, so that a hub can answer meanwhile; `stop`: ends it when true."""
    import torch

    losses = []
    for i in range(first, first + steps):
        x, y = batch(i)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if link is not None:
            link.report(loss=loss, samples=len(x))
        optimizer.step()
        losses.append(loss.item())
        if pause:
            time.sleep(pause)
        if stop is not None and stop():
            break
    return losses
