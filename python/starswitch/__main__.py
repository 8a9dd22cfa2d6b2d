"""The command `starswitch`: the programs, and what helps with a script."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn

from . import __version__
from ._programs import library_path, program_environment, program_path
from .errors import StarswitchError

PROGRAMS = {
    "hub": "the program in the middle, and commands to it (hub ctl status)",
    "node": "trains a built-in model, or a trainer of yours",
    "sim": "finds out beforehand what it will bring, in virtual time",
}
# Commands of a program that need not be known to be its.
SHORT = {
    "auto": ("node", "under SLURM, MPI, torchrun, Kubernetes: the hub, or a node"),
    "doctor": ("node", "looks for what is wrong between this PC and a hub"),
    "plan": ("hub", "says which k, d and codec a network allows, before a run"),
    "top": ("hub", "shows a running hub's nodes in this terminal"),
    "logs": ("hub", "shows a node's last lines, from a running hub"),
}
# Each a module with main(arguments) -> exit code, and its line of help.
COMMANDS = {
    "launch": ("._launch", "a hub here, and nodes on this PC or by ssh on others"),
    "demo": ("._demo", "a hub and four nodes learn something small, here"),
    "check": (".check", "what of a training script will work, and what not"),
}


def _usage() -> str:
    lines = ["usage: starswitch COMMAND ...", ""]
    lines += [f"  {name:<7} {text}" for name, text in PROGRAMS.items()]
    lines += [f"  {name:<7} {text}" for name, (_, text) in SHORT.items()]
    lines += [f"  {name:<7} {text}" for name, (_, text) in _commands().items()]
    lines += ["", "`starswitch COMMAND --help` lists the options of each."]
    return "\n".join([*lines, "`starswitch --version` says which library it uses."])


def _commands() -> dict[str, tuple[str, str]]:
    return {
        name: (module, text)
        for name, (module, text) in COMMANDS.items()
        if find_spec(module, __package__)
    }


def _become(name: str, arguments: list[str]) -> NoReturn:
    """This process is the program from now on: signals and exit code are its."""
    program = program_path(f"starswitch-{name}")
    sys.stdout.flush()
    try:
        os.execve(program, [program, *arguments], program_environment())
    except OSError as error:
        raise StarswitchError(f"{program} cannot be started: {error}") from None


def _version() -> int:
    try:
        library = library_path()
    except StarswitchError as error:
        library = f"no library: {error}"
    print(f"starswitch {__version__} ({library})")
    return 0


def run(arguments: list[str]) -> int:
    """`starswitch ARGUMENTS`; the exit code, if it comes back at all."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_usage(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 64
    if arguments[0] in ("-V", "--version"):
        return _version()
    name, *rest = arguments
    try:
        if name in PROGRAMS:
            _become(name, rest)
        if name == "auto":
            from .integrations import kubeflow  # ssl takes its time

            told = kubeflow.auto(arguments)
            if told is not None:
                return told
        if name in SHORT:
            _become(SHORT[name][0], arguments)
        if name == "launch":  # from which the front has kept Ctrl-C until here
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        if name in _commands():
            code: int = import_module(COMMANDS[name][0], __package__).main(rest)
            return code
    except StarswitchError as error:
        print(f"starswitch {name}: {error}", file=sys.stderr)
        return 1
    print(f"starswitch: there is no command {name!r}\n{_usage()}", file=sys.stderr)
    return 64


def main() -> int:
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # who reads has read enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:  # while it still begins
        return 130


def hub() -> int:
    """starswitch-hub, as a command of its own."""
    return run(["hub", *sys.argv[1:]])


def node() -> int:
    return run(["node", *sys.argv[1:]])


def sim() -> int:
    return run(["sim", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
