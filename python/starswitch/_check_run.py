"""Runs a script until its optimizers have made a few steps, and notes what they
move. The process of `starswitch check` starts this one and ends it:

    python -m starswitch._check_run FOLDER STEPS SECONDS SCRIPT [ARGUMENT]...

Each process of the script that makes a step writes FOLDER/PID.json, and then
stands still: nothing of the script runs after that, no `finally` and no save.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

# Of the optimizer that makes most steps, until the others are not waited for.
UNEVEN = 4

SNAPSHOTS = 8  # optimizers at whose birth all modules are looked at

LATE = 30.0  # seconds behind the time limit at which a process ends itself
LOOK = 0.25  # seconds between two looks at whether its parent is there

SETTING = "STARSWITCH_CHECK"  # for processes that the script starts

_exit = os._exit


class Birth:
    """An optimizer, and the script's lines that made it, innermost first. The
    frames are kept: their variables tell its name, and that of its model."""

    def __init__(self, optimizer: Any, frames: list[tuple[FrameType, int]]) -> None:
        self.optimizer = optimizer
        self.frames = frames
        self.steps = 0
        self.times: list[float] = []
        # Of the first step, innermost first: file, line, function, where that
        # begins, and id() of its `self`.
        self.lines: list[tuple[str, int, str, int, int]] = []
        self.in_backward = False
        self.scaler = False
        self.framework = ""
        self.lazy = ""
        self.groups = 0


def is_library(file: str) -> bool:
    """Whether a file is of Python, of an installed package, or of ours."""
    if file.startswith("<") or not file.endswith((".py", ".ipynb")):
        return True
    if "site-packages" in file or "dist-packages" in file:
        return True
    here = os.path.dirname(os.path.abspath(__file__))
    return file.startswith((here, os.path.dirname(os.__file__)))


def one_line(error: BaseException) -> str:
    """An error without what torch says below its first line, which may be pages."""
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}".rstrip(": ")


def frames_from(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def framework_of(frame: FrameType) -> str:
    """Whose loop a step was called by: "transformers", "lightning", or ""."""
    for one in frames_from(frame):
        module = str(one.f_globals.get("__name__", ""))
        if module == "transformers.trainer":
            return "transformers"
        if module.startswith(("lightning.pytorch.loops", "pytorch_lightning.loops")):
            return "lightning"
    return ""


class Watch:
    """What this process has shown so far."""

    def __init__(self, folder: str, steps: int, seconds: float, script: str) -> None:
        self.folder = Path(folder)
        self.steps = steps
        self.seconds = seconds
        self.script = script
        self.births: dict[int, Birth] = {}
        self.loaders: list[dict[str, Any]] = []
        self.seeds: list[int] = []
        self.attached: list[dict[str, Any]] = []
        self.processes: list[str] = []
        # Each parameter as the newest optimizer's birth found it: it trains.
        self.trains: dict[int, tuple[weakref.ref[Any], bool]] = {}
        self.begun = time.monotonic()
        self.reported = False
        self.looking = False
        self.lock = threading.Lock()

    # ---- hooks ----

    def install(self) -> None:
        """Puts the hooks in place, as far as there is something to hook."""
        self._watch_processes()
        self._watch_exit()
        try:
            import torch
            from torch.utils.data import DataLoader
        except ImportError:
            return
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(lambda one, *_: self.stepped(one))
        self._wrap(torch.optim.Optimizer, "__init__", self._born)
        self._wrap(DataLoader, "__init__", self._loader)
        self._wrap(torch, "manual_seed", self._seed)
        from . import _link

        self._wrap(_link.Link, "__init__", self._linked)

    def _wrap(self, owner: Any, name: str, after: Callable[..., None]) -> None:
        former = getattr(owner, name)

        def wrapped(*args: Any, **options: Any) -> Any:
            result = former(*args, **options)
            with contextlib.suppress(Exception):
                after(*args, **options)
            return result

        wrapped.__name__, wrapped.__doc__ = name, former.__doc__
        wrapped.__dict__["__wrapped__"] = former
        setattr(owner, name, wrapped)

    def _of_script(self, depth: int = 2) -> list[tuple[FrameType, int]]:
        return [
            (one, one.f_lineno)
            for one in frames_from(sys._getframe(depth))
            if not is_library(one.f_code.co_filename)
        ]

    def _born(self, optimizer: Any, *_: Any, **__: Any) -> None:
        from torch.nn.parameter import is_lazy

        birth = self.births.get(id(optimizer))
        if birth is None:
            birth = Birth(optimizer, self._of_script(3))
            self.births[id(optimizer)] = birth
        birth.groups = len(optimizer.param_groups)
        if len(self.births) <= SNAPSHOTS:
            self.note_frozen()
        if any(is_lazy(p) for group in optimizer.param_groups for p in group["params"]):
            birth.lazy = type(optimizer).__name__

    def note_frozen(self) -> None:
        """Which parameters of all modules train now."""
        import torch

        self.trains.clear()
        for one in gc.get_objects():
            if issubclass(type(one), torch.nn.Module):
                for p in one.__dict__.get("_parameters", {}).values():
                    if p is not None:
                        self.trains[id(p)] = (weakref.ref(p), p.requires_grad)

    def _trained(self, p: Any) -> bool | None:
        """Whether a parameter was trained when the newest optimizer was made."""
        ref, trained = self.trains.get(id(p), (None, None))
        return trained if ref is not None and ref() is p else None

    def thawed(self, model: Any) -> list[str]:
        """Parameters that were frozen then and train now."""
        return [
            name
            for name, p in model.named_parameters()
            if p.requires_grad and self._trained(p) is False
        ]

    def as_at_birth(self, model: Any) -> None:
        """What trains is as it was then, which is as attach finds it."""
        for p in model.parameters():
            trained = self._trained(p)
            if trained is not None and p.is_leaf and p.requires_grad != trained:
                p.requires_grad_(trained)

    def _line(self) -> int:
        for frame, line in self._of_script(4):
            if frame.f_code.co_filename == self.script:
                return line
        return 0

    def _loader(self, loader: Any, *_: Any, **__: Any) -> None:
        sampler = type(loader.sampler)
        self.loaders.append(
            {
                "line": self._line(),
                "dataset": type(loader.dataset).__name__,
                "sampler": sampler.__name__,
                "shard": "istributed" in sampler.__name__
                or sampler.__module__.startswith("starswitch"),
                "batch": loader.batch_size,
                "workers": loader.num_workers,
            }
        )

    def _seed(self, *_: Any, **__: Any) -> None:
        self.seeds.append(self._line())

    def _linked(self, *_: Any, **__: Any) -> None:
        if not self.looking:
            self.attached.append({"line": self._line()})

    def _watch_processes(self) -> None:
        """A process that the script starts is watched, too: by fork, as it has
        these hooks; by spawn, as its target brings them."""
        from multiprocessing import process

        watch = self

        def after(one: Any, *_: Any, **__: Any) -> None:
            target = one._target
            module = getattr(target, "__module__", None) or ""
            if target is None or module.startswith(
                ("torch.utils.data", "multiprocessing", "concurrent")
            ):
                return
            watch.processes.append(getattr(target, "__name__", "?"))
            one._target = Watched(target)

        self._wrap(process.BaseProcess, "__init__", after)

    def _watch_exit(self) -> None:
        """os._exit comes back to nobody who could report."""
        here = os.getpid()

        def leave(status: int) -> None:
            if os.getpid() == here:  # and not in a fork, as of a DataLoader
                self.report("exit", status=status)
            _exit(status)

        setattr(os, "_exit", leave)  # noqa: B010

    # ---- a step ----

    def stepped(self, optimizer: Any) -> None:
        if self.reported:
            return
        birth = self.births.get(id(optimizer))
        if birth is None:
            birth = self.births[id(optimizer)] = Birth(optimizer, [])
        birth.steps += 1
        birth.times.append(time.monotonic())
        if birth.steps == 1:
            self._first(birth)
        counts = [one.steps for one in self.births.values() if one.steps]
        some = len(counts) < len(self.births)
        if counts and (
            (min(counts) >= self.steps and not some)
            or max(counts) >= self.steps * UNEVEN
        ):
            self.report("steps")
            stand_still()

    def _first(self, birth: Birth) -> None:
        here = sys._getframe(2)
        birth.framework = framework_of(here)
        for one in frames_from(here):
            name = one.f_code.co_name
            module = str(one.f_globals.get("__name__", ""))
            if name == "_engine_run_backward":
                birth.in_backward = True
            if module.endswith("grad_scaler"):
                birth.scaler = True
            if not is_library(one.f_code.co_filename):
                own = one.f_locals.get("self")
                begins, mine = one.f_code.co_firstlineno, 0 if own is None else id(own)
                birth.lines.append(
                    (one.f_code.co_filename, one.f_lineno, name, begins, mine)
                )
        if not birth.lines:
            birth.in_backward = True  # on the thread of a GPU's backward

    # ---- the report ----

    def report(self, reason: str, **more: Any) -> None:
        """Writes what was seen, once. reason: steps, ended, raised, exit, time."""
        with self.lock:
            if self.reported:
                return
            self.reported = True
        seen: dict[str, Any] = {
            "reason": reason,
            "pid": os.getpid(),
            "main": os.environ.get(SETTING + "_MAIN") == str(os.getpid()),
            "seconds": time.monotonic() - self.begun,
            "torch": "torch" in sys.modules,
            "loaders": self.loaders,
            "seeds": self.seeds,
            "attached": self.attached,
            "processes": self.processes,
            **more,
        }
        if "torch" in sys.modules:
            from . import _check_model

            self.looking = True
            try:
                seen.update(_check_model.describe(self))
            except Exception:
                seen["failure"] = traceback.format_exc()
        part = self.folder / f"{os.getpid()}.part"
        part.write_text(json.dumps(seen), encoding="utf-8")
        part.rename(part.with_suffix(".json"))

    def watch_time(self) -> None:
        """On a thread of its own: says where the script is after the time limit,
        and ends it when nobody reads that, or who started it is gone."""
        limit = self.begun + self.seconds
        if self._stay(limit) and not self.reported:
            frame = sys._current_frames().get(threading.main_thread().ident or 0)
            at = [
                [one.f_code.co_filename, one.f_lineno, one.f_code.co_name]
                for one in frames_from(frame)
            ]
            own = [one for one in at if not is_library(str(one[0]))]
            self.report("time", at=(own or at)[:1])
        self._stay(limit + LATE)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # with all that the script has started
        _exit(1)

    def _stay(self, until: float) -> bool:
        """Waits until then; False: who started this process is gone."""
        parent = int(os.environ.get(SETTING + "_PARENT") or os.getppid())
        while os.getppid() == parent:
            rest = until - time.monotonic()
            if rest <= 0:
                return True
            time.sleep(min(rest, LOOK))
        return False


_watch: Watch | None = None


class Watched:
    """What a process is to run, with the hooks before it."""

    def __init__(self, target: Callable[..., Any]) -> None:
        self.target = target
        self.__name__ = getattr(target, "__name__", "?")

    def __call__(self, *args: Any, **options: Any) -> Any:
        begin_child()
        assert _watch is not None
        return reporting(_watch, lambda: self.target(*args, **options))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "target":
            raise AttributeError(name)
        return getattr(self.target, name)


def begin_child() -> None:
    """In a process that the script has started."""
    global _watch
    settings = json.loads(os.environ[SETTING])
    if _watch is None:  # spawned; one that is forked has the hooks
        _watch = Watch(**settings)
        _watch.install()
    for birth in _watch.births.values():
        birth.steps = 0
    _watch.reported = False


def stand_still() -> None:
    """For good: what started this process ends it."""
    sys.stdout.flush()
    while True:
        time.sleep(3600)


def reporting(watch: Watch, act: Callable[[], Any]) -> Any:
    """Does it; where it raises or exits, that is reported and goes on its way."""
    try:
        return act()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        watch.report("exit", status=status)
        raise
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [one for one in frames if not is_library(one.filename)]
        watch.report(
            "raised",
            error=one_line(error),
            kind=type(error).__name__,
            at=[[one.filename, one.lineno, one.name] for one in own[-1:]],
        )
        raise


def run_script(watch: Watch, script: str, code: CodeType) -> None:
    """Runs it as Python would; reports why it ended."""
    module = ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        reporting(watch, lambda: exec(code, module.__dict__))
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(end.code + "\n")
    except BaseException as error:
        sys.stderr.write("".join(traceback.format_exception(error)))
    else:
        watch.report("ended")


def main(argv: list[str]) -> None:
    global _watch
    folder, steps, seconds, script, *args = argv
    settings: dict[str, Any] = {
        "folder": folder,
        "steps": int(steps),
        "seconds": float(seconds),
        "script": os.path.abspath(script),
    }
    os.environ[SETTING] = json.dumps(settings)
    os.environ[SETTING + "_MAIN"] = str(os.getpid())
    os.environ["STARSWITCH_DISABLE"] = "1"
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    if package not in sys.path:
        sys.path.append(package)
    sys.argv = [script, *args]
    gc.collect()
    _watch = Watch(**settings)
    _watch.install()
    _watch.begun = time.monotonic()
    # Where the script holds the interpreter's lock, the thread cannot end it.
    signal.setitimer(signal.ITIMER_REAL, _watch.seconds + LATE + 1)
    threading.Thread(target=_watch.watch_time, daemon=True).start()
    code = compile(Path(script).read_bytes(), os.path.abspath(script), "exec")
    run_script(_watch, os.path.abspath(script), code)
    stand_still()


if __name__ == "__main__":
    from starswitch import _check_run

    _check_run.main(sys.argv[1:])
