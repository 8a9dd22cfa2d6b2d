"""`starswitch launch`: a hub here, and nodes on this PC or by ssh on others."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ._command import Parser, ending
from ._hub import encoded
from ._programs import program_environment, program_path
from .errors import StarswitchError
from .launch import _Star, free_port, node_settings

PORT = 7541

# On the other PC: the key comes by standard input and goes to a file of its own;
# when ssh ends, or whoever has started it, the command hears it as Ctrl-C.
REMOTE = """
umask 077
folder=$(mktemp -d)
IFS= read -r key
[ -z "$key" ] || {{
    printf '%s\\n' "$key" >"$folder/key"
    export STARSWITCH_KEY_FILE="$folder/key"
}}
cd {folder} 2>/dev/null || :
export {settings}
exec 3<&0 </dev/null
{{
    cat <&3 >/dev/null
    kill -INT $$ 2>/dev/null
    for each in $(seq 100); do
        kill -0 $$ 2>/dev/null || break
        sleep 0.1
    done
    rm -rf "$folder"
}} >/dev/null 2>&1 &
exec {command} 3<&-
"""


@dataclass
class Plan:
    """Where the nodes run, and what."""

    local: int
    hosts: list[str]
    hub: list[str]
    command: list[str]
    listen: str
    directory: str
    logs: str | None
    ssh: list[str]
    dry_run: bool

    @property
    def names(self) -> list[str]:
        if not self.hosts:
            return [f"n{i + 1}" for i in range(self.local)]
        plain = [host.rsplit("@", 1)[-1] for host in self.hosts]
        return [
            f"{one}.{number}" if (number := plain[: i + 1].count(one)) > 1 else one
            for i, one in enumerate(plain)
        ]


def parse(argv: list[str]) -> Plan:
    parser = Parser(
        prog="starswitch launch",
        usage="%(prog)s (--local N | --hosts PC,PC...) [OPTION]... [HUB OPTION]... "
        "-- COMMAND...",
        description="Runs a hub on this PC and COMMAND as its nodes, here or by ssh "
        "on other PCs. What all of them print comes out here, behind their names. "
        "Ctrl-C asks all to end, nodes first, so that they give what they have "
        "learnt. All other options are the hub's (starswitch hub --help).",
        epilog="The exit code is that of the first node that failed, else the hub's. "
        "COMMAND must be there on the other PCs, in the folder of this name if there "
        "is one, else in the home; ssh must log in without asking. Keys are made, and "
        "travel inside ssh.",
        allow_abbrev=False,
    )
    parser.add_argument("--local", type=int, default=0, metavar="N")
    parser.add_argument("--hosts", default="", metavar="PC,PC...")
    parser.add_argument(
        "--listen",
        default="",
        metavar="HOST[:PORT]",
        help="where the hub listens; if none: this PC's address towards the first of "
        "the hosts, port 7541",
    )
    parser.add_argument(
        "--directory",
        default=os.environ.get("STARSWITCH_DIRECTORY", "starswitch-run"),
        metavar="DIR",
        help="the hub's, with its keys (default starswitch-run)",
    )
    parser.add_argument("--logs", metavar="DIR", help="files instead of this terminal")
    parser.add_argument(
        "--ssh", default="ssh", metavar="COMMAND", help='such as "ssh -p 2222"'
    )
    parser.add_argument("--dry-run", action="store_true", help="print what it would do")
    cut = argv.index("--") if "--" in argv else len(argv)
    given, hub = parser.parse_known_args(argv[:cut])
    command = argv[cut + 1 :]
    hosts = [one.strip() for one in given.hosts.split(",") if one.strip()]
    if bool(hosts) == bool(given.local):
        parser.error("give either --local N or --hosts PC,PC...")
    if given.local < 0:
        parser.error(f"--local must be at least 1, not {given.local}")
    if any(one.startswith("-") for one in hosts):
        parser.error(f"--hosts: no host begins with -: {given.hosts}")
    if not command:
        parser.error("the command of the nodes is missing: -- python train.py")
    return Plan(
        local=given.local,
        hosts=hosts,
        hub=hub,
        command=command,
        listen=given.listen,
        directory=given.directory,
        logs=given.logs,
        ssh=shlex.split(given.ssh),
        dry_run=given.dry_run,
    )


def address_towards(host: str) -> str:
    """This PC's address on the way there; StarswitchError: there is none."""
    plain = host.rsplit("@", 1)[-1]
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            plain, 9, type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind) as probe:
            probe.connect(place)  # sends nothing
            return str(probe.getsockname()[0])
    except OSError as error:
        raise StarswitchError(
            f"no way to {plain}: {error.strerror}; with a name that only ssh knows, "
            "say where the hub is to listen, --listen ADDRESS"
        ) from None


def _listen(plan: Plan) -> tuple[str, int]:
    """The hub's host and port."""
    host, colon, port = plan.listen.rpartition(":")
    if not colon or not port.isdigit():
        host, port = plan.listen, ""
    if not host:
        host = address_towards(plan.hosts[0]) if plan.hosts else "127.0.0.1"
    if port:
        return host, int(port)
    return host, PORT if plan.hosts else free_port()


def _hub_command(plan: Plan, host: str, port: int) -> list[str]:
    words = [program_path("starswitch-hub"), *plan.hub, "--listen", f"{host}:{port}"]
    open_hub = host.startswith("127.") or host == "localhost"
    if not open_hub and "--insecure" not in plan.hub and "--keys" not in plan.hub:
        words += ["--lan", "--no-beacon"]
    return [*words, "--directory", plan.directory]


def _node(plan: Plan, number: int, hub: str) -> tuple[list[str], dict[str, str]]:
    """The command here, and what its environment has beside."""
    settings = node_settings(plan.names[number], number, hub)
    if not plan.hosts:
        return plan.command, settings
    script = REMOTE.format(
        folder=shlex.quote(os.getcwd()),
        settings=" ".join(f"{k}={shlex.quote(v)}" for k, v in settings.items()),
        command=shlex.join(plan.command),
    )
    return [*plan.ssh, plan.hosts[number], f"sh -c {shlex.quote(script)}"], {}


def _key(plan: Plan, command: Sequence[str]) -> str:
    """What the hub lets its nodes in by; "": it has no keys."""
    if "--lan" not in command:
        return ""
    return (Path(plan.directory) / "keys" / "invitation").read_text().strip()


def _follow(star: _Star, names: Sequence[str]) -> int:
    """Until all nodes have ended, or the hub and its run; the exit code."""
    failed = 0
    told: set[str] = set()
    while True:
        running = star.running(names)
        for name in names:
            code = star.programs[name].poll()
            if code is not None and name not in told:
                told.add(name)
                failed = failed or code
        if not running:
            break
        time.sleep(0.05)
    star.wait(["hub"], 1.0)
    star.end(["hub"], signal.SIGTERM)
    hub = star.programs["hub"].poll()
    code = failed or hub or 0
    return code if code >= 0 else 128 - code


def launch(plan: Plan) -> int:
    host, port = _listen(plan)
    bracket = f"[{host}]" if ":" in host else host
    hub = f"{bracket}:{port}"
    command = _hub_command(plan, bracket, port)
    if plan.dry_run:
        print(shlex.join(command))
        for i, name in enumerate(plan.names):
            where = [*plan.ssh, plan.hosts[i], ":"] if plan.hosts else []
            settings = node_settings(name, i, hub)
            print(*where, *(f"{k}={v}" for k, v in settings.items()), end=" ")
            print(shlex.join(plan.command))
        return 0
    logs = None if plan.logs is None else Path(plan.logs)
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    star = _Star(logs, show=True)
    try:
        star.start("hub", command, program_environment(), own=False)
        if not star.hub_listens(port):
            raise StarswitchError("the hub does not start; its lines are above")
        key = _key(plan, command)
        for i, name in enumerate(plan.names):
            words, settings = _node(plan, i, hub)
            said = f"{key}\n" if plan.hosts else None
            env = {**os.environ, **settings}
            star.start(name, words, env, own=False, said=encoded(said))
        return _follow(star, plan.names)
    except KeyboardInterrupt as asked:  # by Ctrl-C, which says no number
        return int(asked.args[0]) if asked.args else 128 + signal.SIGINT
    finally:
        star.close()


def main(argv: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    try:
        plan = parse(sys.argv[1:] if argv is None else argv)
    except SystemExit as wrong:
        return int(wrong.code or 0)
    try:
        with ending(KeyboardInterrupt):
            return launch(plan)
    except OSError as error:
        print(f"starswitch launch: {error}", file=sys.stderr)
        return 1
