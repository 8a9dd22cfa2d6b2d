"""A hub and several nodes on this PC, as programs of their own.

    import starswitch
    result = starswitch.launch_local(nodes=4, script="train.py",
                                     hub_options={"policy": "diloco"})
    print(result.codes)

The script is one that trains, with starswitch's two lines or without; it finds
the hub in its environment. In a notebook or a test, a function of a module does
as well: launch_local(nodes=2, script=train, args=[0.1]).
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from ._programs import program_path
from .errors import StarswitchError

START = 20.0  # that a hub has until it listens; a longer start is told of
OFFER = 30.0  # seconds that a node has for its last offer, once it is asked to end
SAVE = 120.0  # that a hub has to save
GRACE = 5.0  # between further signals; a wait so long is told of
TURNS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HubOptions = Mapping[str, Any] | Sequence[Any]
_environment = threading.Lock()  # held while a process is spawned


@dataclass
class Launched:
    """What became of the programs."""

    codes: dict[str, int | None]
    """Exit code by node (negative: the signal that ended it), None: not known."""
    hub: int | None
    """The hub's exit code; 1: its run ended without reaching its --goal."""
    address: str
    """Where the hub listened, "127.0.0.1:7541"."""
    seconds: float
    """From the start of the hub to the end of all."""
    timed_out: bool = False
    text: dict[str, str] = field(default_factory=dict, repr=False)
    """By name, what each wrote; with `logs` the files have it."""

    @property
    def ok(self) -> bool:
        """All nodes ended with 0, in time."""
        return not self.timed_out and all(code == 0 for code in self.codes.values())

    def check(self) -> Launched:
        """Itself; StarswitchError: it is not ok."""
        if self.timed_out:
            raise StarswitchError(f"not done within the time given: {self.codes}")
        for name, code in self.codes.items():
            if code != 0:
                tail = "\n".join(self.text.get(name, "").splitlines()[-5:])
                raise StarswitchError(f"{name} ended with code {code}\n{tail}")
        return self


@dataclass(frozen=True)
class _Process:
    """One of this PC's, as /proc says."""

    pid: int
    parent: int = field(compare=False)
    group: int = field(compare=False)
    session: int = field(compare=False)
    start: int
    """When, in ticks since the PC's: a later one of the same number is another."""


def _processes() -> list[_Process]:
    """All that live."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with suppress(OSError):  # it has ended
            stat = Path("/proc", name, "stat").read_bytes()
            words = stat[stat.rindex(b")") + 2 :].split()
            if words[0] not in (b"Z", b"X"):
                ids = [int(words[i]) for i in (1, 2, 3, 19)]
                found.append(_Process(int(name), *ids))
    return found


class _Program(Protocol):
    """A process, started either way, which leads a group of its own."""

    @property
    def pid(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def tell(self, sign: int) -> bool: ...


class _Child:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def tell(self, sign: int) -> bool:
        """Says it by words, to one that reads them, as ssh; False: it does not."""
        said = self._process.stdin
        if said is None:
            return False
        words: dict[int, bytes] = {signal.SIGINT: b"end\n", signal.SIGKILL: b"now\n"}
        with suppress(OSError):  # it has ended
            os.write(said.fileno(), words.get(sign, b""))
        return True


class _Spawned:
    def __init__(self, process: Any) -> None:
        self._process = process

    @property
    def pid(self) -> int | None:
        pid: int | None = self._process.pid
        return pid

    def poll(self) -> int | None:
        code: int | None = self._process.exitcode
        return code

    def tell(self, sign: int) -> bool:
        return False


class _Signals:
    """Those that ask this process to end, kept instead of raised."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.former: dict[int, Any] = {}

    def take(self) -> bool:
        """Python lets only its main thread do so; False: nothing is changed."""
        if self.former or threading.current_thread() is not threading.main_thread():
            return False
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(sign)
            if before is None or (sign == signal.SIGHUP and before == signal.SIG_IGN):
                continue  # C's, or nohup's
            self.former[sign] = signal.signal(sign, self._keep)
        return True

    def _keep(self, sign: int, _: object) -> None:
        self.got.append(sign)

    def ignore(self) -> None:
        """While Python ends, which takes its handlers away, these would end it."""
        for sign in self.former:
            signal.signal(sign, signal.SIG_IGN)

    def give_back(self) -> None:
        for sign, handler in self.former.items():
            signal.signal(sign, handler)
        self.former.clear()
        if self.got:
            signal.raise_signal(self.got[0])


def _visible(line: str) -> str:
    """Without what moves a terminal's cursor, or turns its writing."""
    return "".join(
        "?" if c != "\t" and (unicodedata.category(c) == "Cc" or c in TURNS) else c
        for c in line.rstrip("\r\n")
    )


def _first_given() -> int:
    """The first port that Linux gives to connections that ask for none."""
    try:
        words = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
        return int(words[0])
    except (OSError, ValueError, IndexError):
        return 32768


def free_port() -> int:
    """The first of two ports of loopback, side by side, that nobody uses now.

    No connection is given one of them while their hub is away, where there are
    ports below those.
    """
    given = _first_given()
    for attempt in range(200):
        below = given > 12000 and attempt < 100
        number = int.from_bytes(os.urandom(4), "big")
        wanted = 10000 + number % (given - 10001) if below else 0
        with socket.socket() as one, socket.socket() as two:
            try:
                one.bind(("127.0.0.1", wanted))
                port = int(one.getsockname()[1])
                two.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port
    raise StarswitchError("no two ports side by side of 127.0.0.1 are free")


def _words(options: HubOptions) -> list[str]:
    """{"every": 20, "dylu": True} as --every 20 --dylu, False as --no-dylu."""
    if not isinstance(options, Mapping):
        return [str(one) for one in options]
    words = []
    for name, value in options.items():
        if value is None:
            continue
        words.append(("--no-" if value is False else "--") + name.replace("_", "-"))
        if not isinstance(value, bool):
            words.append(str(value))
    return words


def _call(sink: Any, function: Callable[..., Any], args: Sequence[Any]) -> None:
    """In a process that was spawned for a function: what it writes goes to who
    launched it. Ctrl-C is theirs to pass on."""
    os.setpgid(0, 0)
    os.dup2(sink.fileno(), 1)
    os.dup2(sink.fileno(), 2)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    function(*args)


class _Star:
    """The programs of one launch, and the threads that read what they write."""

    def __init__(self, logs: Path | None, show: bool) -> None:
        self._logs, self._show = logs, show
        self._lines: dict[str, list[str]] = {}
        self._readers: list[threading.Thread] = []
        self.programs: dict[str, _Program] = {}
        self.signals = _Signals()
        self.unread = False  # nobody reads this process's output any more
        self._patience = 1  # so many signals ask; one more, and all are killed
        self._kin: dict[str, set[_Process]] = {}
        self._gone: set[str] = set()
        self._writes = threading.Lock()
        self._width = 0

    def start(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        own: bool,
        said: bytes | None = None,
    ) -> None:
        """`own`: its output is this process's, as a table on a terminal is. What is
        `said` to its standard input stays open behind it."""
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if said is None else subprocess.PIPE,
            stdout=None if own else subprocess.PIPE,
            stderr=None if own else subprocess.STDOUT,
            env=dict(env),
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        self.programs[name] = _Child(process)
        if process.stdout is not None:
            self._read(name, process.stdout)
        if process.stdin is not None and said is not None:
            with suppress(BrokenPipeError):  # it has ended, which is told
                process.stdin.write(said)
                process.stdin.flush()

    def spawn(
        self,
        name: str,
        function: Callable[..., Any],
        args: Sequence[Any],
        env: Mapping[str, str],
    ) -> None:
        context = multiprocessing.get_context("spawn")
        source, sink = context.Pipe(duplex=False)
        process = context.Process(
            target=_call, args=(sink, function, args), name=name, daemon=False
        )
        # What is imported before `function` is called must see it already.
        with _environment:
            before = dict(os.environ)
            os.environ.update(env)
            try:
                process.start()
            finally:
                os.environ.clear()
                os.environ.update(before)
        sink.close()
        self.programs[name] = _Spawned(process)
        self._read(name, os.fdopen(os.dup(source.fileno()), "rb"))
        source.close()

    def _read(self, name: str, stream: IO[bytes]) -> None:
        self._lines[name] = []
        self._width = max(self._width, len(name))
        reader = threading.Thread(
            target=self._pump, args=(name, stream), name=f"log of {name}", daemon=True
        )
        self._readers.append(reader)
        reader.start()

    def _pump(self, name: str, stream: IO[bytes]) -> None:
        file = None if self._logs is None else open(self._logs / f"{name}.log", "wb")
        with stream:
            for raw in stream:
                line = raw.decode(errors="replace")
                self._lines[name].append(line)
                if file is not None:
                    file.write(raw)
                    file.flush()
                elif self._show and not self.unread:
                    self._print(name, line)
        if file is not None:
            file.close()

    def _print(self, name: str, line: str) -> None:
        body = _visible(line) if sys.stdout.isatty() else line.removesuffix("\n")
        try:
            with self._writes:
                print(f"{name:{self._width}} | {body}", flush=True)
        except BrokenPipeError:
            self.unread = True

    def text(self, name: str) -> str:
        return "".join(self._lines.get(name, []))

    def texts(self) -> dict[str, str]:
        return {name: self.text(name) for name in self._lines}

    def running(self, names: Iterable[str]) -> list[str]:
        running = []
        for name in names:
            if self.programs[name].poll() is None:
                running.append(name)
            elif name not in self._kin:  # as its number may be another's one day
                self._left([name])
        return running

    def wait(self, names: Sequence[str], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.running(names):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def _left(self, names: Iterable[str]) -> dict[str, list[_Process]]:
        """By name, what lives of it: its group, its session, and all children of
        those, also such as were seen to be before they left."""
        table = _processes()
        left = {}
        for name in names:
            leader = self.programs[name].pid
            if name in self._gone or leader is None:
                continue
            kin = self._kin.setdefault(name, set())
            alive = {
                one
                for one in table
                if one in kin or leader in (one.pid, one.group, one.session)
            }
            size = -1
            while size < len(alive):
                size = len(alive)
                parents = {one.pid for one in alive}
                alive |= {one for one in table if one.parent in parents}
            kin |= alive
            if alive:
                left[name] = list(alive)
            elif self.programs[name].poll() is not None:
                self._gone.add(name)
        return left

    def _hurried(self) -> bool:
        return len(self.signals.got) > self._patience

    def _ends(self, names: Sequence[str], seconds: float, hurry: bool) -> bool:
        """Waits for all that is theirs; False: some is left."""
        until = time.monotonic() + seconds
        while self._left(names) or self.running(names):
            if time.monotonic() > until or (hurry and self._hurried()):
                return False
            time.sleep(0.05)
        return True

    def end(self, names: Sequence[str], *signs: int) -> None:
        """Asks them to end, by one signal after the other, and kills what is left.
        The hub alone has its time to save also when there is a hurry."""
        hurry = "hub" not in names
        seconds = OFFER if hurry else SAVE
        for number, sign in enumerate(signs):
            if hurry and self._hurried():
                break
            for name, left in self._left(names).items():
                self._ask(name, left, sign)
            if self._ends(names, GRACE, hurry):
                return
            if number:
                continue
            self._tell_waits(names, hurry and not self._hurried())
            if self._ends(names, seconds - GRACE, hurry):
                return
        far = [n for n in self._left(names) if self.programs[n].tell(signal.SIGKILL)]
        self._ends(far, GRACE, hurry=False)
        until = time.monotonic() + GRACE
        while (rest := self._left(names)) and time.monotonic() < until:
            for left in rest.values():
                for one in left:
                    _kill(one.pid, signal.SIGKILL)
            time.sleep(0.02)
        self.wait(names, GRACE)

    def _tell_waits(self, names: Sequence[str], may_hurry: bool) -> None:
        if may_hurry and (left := list(self._left(names))):
            self.tell(f"waits for {', '.join(left)} to end; Ctrl-C again kills")

    def tell(self, text: str) -> None:
        if self._show:
            with suppress(BrokenPipeError):  # nobody reads any more
                print(f"starswitch launch: {text}", file=sys.stderr, flush=True)

    def _ask(self, name: str, left: Sequence[_Process], sign: int) -> None:
        """Ctrl-C is for a group, as a terminal's is: who has made another one, as
        `starswitch auto` does, passes it on. The hub does so with SIGTERM, too."""
        leader = self.programs[name].pid
        if self.programs[name].tell(sign):
            return
        group = leader if any(one.group == leader for one in left) else None
        if group is not None and sign == signal.SIGINT:
            # At once: a shell whose child has not died of it goes on.
            with suppress(ProcessLookupError):
                os.killpg(group, sign)
            return
        for one in left:
            if one.pid == leader or (sign != signal.SIGINT and name != "hub"):
                _kill(one.pid, sign)

    def hub_listens(self, port: int, limit: float = float("inf")) -> bool:
        """Waits until the hub does, which may have a large model to read; False:
        it has ended, a signal has come, or the time is up."""
        told = time.monotonic() + START
        while self.programs["hub"].poll() is None and not self.signals.got:
            if _listens(port):
                return True
            if time.monotonic() > limit:
                return False
            if time.monotonic() > told:
                told = float("inf")
                self.tell("the hub does not listen yet; waits as long as it runs")
            time.sleep(0.02)
        return False

    def close(self) -> None:
        """Ends what runs, nodes before their hub, and reads to the end. A signal
        meanwhile, a second one of `launch`, hurries it: nodes are killed."""
        taken = self.signals.take()
        if taken:
            self._patience = 0
        try:
            nodes = [name for name in self.programs if name != "hub"]
            self.end(nodes, signal.SIGINT, signal.SIGTERM)
            if "hub" in self.programs:
                self.end(["hub"], signal.SIGTERM)
            for reader in self._readers:
                reader.join(GRACE)  # a stranger may hold its end open
        finally:
            if taken:
                self.signals.give_back()


def _kill(pid: int, sign: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sign)


def node_settings(name: str, number: int, hub: str) -> dict[str, str]:
    """What a node's script finds in its environment."""
    return {
        "STARSWITCH_HUB": hub,
        "STARSWITCH_NAME": name,
        "STARSWITCH_NODE": str(number),
        "PYTHONUNBUFFERED": "1",
    }


def _listens(port: int) -> bool:
    """Somebody on this PC. Connecting would tell as well, and the hub would take
    it for a port scan."""
    rows = []
    for name in ("tcp", "tcp6"):
        with suppress(FileNotFoundError), open(f"/proc/net/{name}") as table:
            rows += [line.split() for line in table]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows)


def _start_hub(
    star: _Star,
    options: HubOptions,
    folder: str,
    table: bool,
    env: Mapping[str, str],
    limit: float,
) -> int:
    words = _words(options)
    if any(one.split("=")[0] == "--listen" for one in words):
        raise ValueError("hub_options: launch_local says where the hub listens itself")
    if "--directory" not in words:
        words += ["--directory", os.path.join(folder, "run")]
    for _ in range(5):
        port = free_port()
        address = f"127.0.0.1:{port}"
        command = [program_path("starswitch-hub"), "--listen", address, *words]
        star.start("hub", command, env, own=table)
        if star.hub_listens(port, limit):
            return port
        if time.monotonic() > limit:
            raise StarswitchError("the time was up before the hub listened")
        if star.programs["hub"].poll() != 69:  # a port was taken meanwhile
            break
    raise StarswitchError(f"the hub does not start: {star.text('hub').strip()}")


def _names(nodes: int | Sequence[str]) -> list[str]:
    wrong = (
        "nodes must be a number from 1, or a list of different names, none of them "
        f'"hub"; not {nodes!r}'
    )
    if isinstance(nodes, str) or not isinstance(nodes, (int, Iterable)):
        raise TypeError(wrong)
    names = (
        [f"n{i + 1}" for i in range(nodes)] if isinstance(nodes, int) else list(nodes)
    )
    if not names or len(set(names)) != len(names) or "hub" in names:
        raise ValueError(wrong)
    return names


def launch_local(
    nodes: int | Sequence[str] = 2,
    script: str | os.PathLike[str] | Callable[..., Any] = "train.py",
    args: Sequence[Any] = (),
    hub_options: HubOptions = (),
    *,
    env: Mapping[str, str] | None = None,
    node_args: Callable[[int], Sequence[Any]] | None = None,
    logs: str | os.PathLike[str] | None = None,
    table: bool = False,
    show: bool = True,
    timeout: float | None = None,
    threads: int | None = None,
) -> Launched:
    """Runs a hub and nodes on this PC until all nodes have ended; then the hub is
    ended. Ctrl-C, an exception or `timeout` ends all, with what they have started:
    asked by SIGINT, then by SIGTERM, then killed; one more Ctrl-C kills at once.

    nodes: how many, called n1, n2 ...; or their names.
    script: a Python program; or a function of a module (multiprocessing's spawn
        imports it: one of a notebook's cells cannot be had).
    args: its arguments. node_args: more of them, by the node's number from 0.
    hub_options: {"policy": "diloco", "every": 20}, or words as the hub's --help
        has them. Its directory is a temporary one unless --directory is there.
    env: more of the environment. Each node has STARSWITCH_HUB, STARSWITCH_NAME
        and, from 0, STARSWITCH_NODE, such as for a seed.
    logs: a folder for NAME.log and hub.log; else lines go to stdout, behind the
        name of who wrote them, unless show=False.
    table: the hub writes to this terminal itself, where it draws its live table.
    timeout: seconds for all of it, the hub's start included.
    threads: that a node may compute with, OMP_NUM_THREADS; this PC's cores shared
        among the nodes unless said.

        starswitch.launch_local(4, "train.py", ["--lr", 0.1]).check()

    A node that fails ends no other; `Launched.check` tells. FileNotFoundError:
    there is no such script. StarswitchError: the hub does not start, or not in time.
    """
    names = _names(nodes)
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout must be at least 0 seconds, or None, not {timeout}")
    program = "" if callable(script) else os.fspath(script)
    # -m and -c are Python's own.
    if program and not program.startswith("-") and not os.path.exists(program):
        raise FileNotFoundError(errno.ENOENT, "no script", program)
    if threads is None:
        threads = max(1, (os.cpu_count() or 1) // len(names))
    folder = tempfile.mkdtemp(prefix="starswitch-")
    directory = None if logs is None else Path(logs)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
    star = _Star(directory, show)
    begun = time.monotonic()
    timed_out = False
    try:
        # A hub's own options are in its words alone.
        plain = {k: v for k, v in os.environ.items() if k[:11] != "STARSWITCH_"}
        limit = begun + (float("inf") if timeout is None else timeout)
        port = _start_hub(star, hub_options, folder, table, plain, limit)
        for i, name in enumerate(names):
            common = {
                **node_settings(name, i, f"127.0.0.1:{port}"),
                "OMP_NUM_THREADS": str(threads),
                **(env or {}),
            }
            words = [*args, *(node_args(i) if node_args else ())]
            if callable(script):
                star.spawn(name, script, words, common)
            else:
                command = [sys.executable, os.fspath(script), *map(str, words)]
                star.start(name, command, {**os.environ, **common}, own=False)
        timed_out = not star.wait(names, float("inf") if timeout is None else timeout)
        # A hub whose run has ended saves and sums up by itself.
        if not timed_out and star.programs["hub"].poll() is None:
            star.wait(["hub"], 1.0)
    finally:
        try:
            star.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return Launched(
        codes={name: star.programs[name].poll() for name in names},
        hub=star.programs["hub"].poll(),
        address=f"127.0.0.1:{port}",
        seconds=time.monotonic() - begun,
        timed_out=timed_out,
        text=star.texts(),
    )
