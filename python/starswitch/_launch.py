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

from ._command import Parser
from ._hub import encoded
from ._programs import program_environment, program_path
from .errors import StarswitchError
from .launch import _Star, free_port, node_settings

PORT = 7541

# On the other PC, in a session of its own: the key comes by standard input and goes
# to a file. A watcher in another session ends all that the command has begun: when
# it is over, at a word, and when ssh is gone or whoever has started that. The word
# "now" hurries it. This shell outlives signals, and gives the command's exit code.
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
mkfifo "$folder/end"
exec 3<&0 4<>"$folder/end" </dev/null
setsid sh -c '
    folder=$1 main=$2
    left() {{
        sed -n "s/^\\([0-9]*\\) (.*) [^ZX] [0-9]* [0-9]* $main .*/\\1/p" \\
            /proc/[0-9]*/stat 2>/dev/null | grep -vx "$main"
    }}
    (
        while read -r word <&3; do
            [ "$word" != now ] || : >"$folder/now"
            echo >&4
        done
        echo >&4
    ) &
    read -r word <&4
    for sign in INT TERM KILL; do
        all=$(left)
        [ -n "$all" ] || break
        if [ $sign = INT ]; then kill -INT "-$main"; else kill -$sign $all; fi
        [ $sign = INT ] && most={offer} || most={tenths}
        for each in $(seq $most); do
            [ -n "$(left)" ] || break 2
            [ ! -e "$folder/now" ] || [ $sign = KILL ] || break
            sleep 0.1
        done
    done
    kill $!
    rm -rf "$folder"
' watcher "$folder" $$ >/dev/null 2>&1 &
asked=
trap asked=1 INT TERM HUP
[ -n "$asked" ] || {command} 3<&- 4<&-
code=$?
echo >&4
wait $!
exit $code
"""
# Tenths of a second between two signals there: less than here, as it is last.
TENTHS = 40
OFFER_TENTHS = 280


class Failed(StarswitchError):
    """What went wrong, with an exit code of operating.md."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass
class Plan:
    """Where the nodes run, and what."""

    local: int
    hosts: list[str]
    hub: list[str]
    command: list[str]
    listen: str
    directory: str
    keys: str
    logs: str | None
    ssh: list[str]
    dry_run: bool

    @property
    def names(self) -> list[str]:
        if not self.hosts:
            return [f"n{i + 1}" for i in range(self.local)]
        plain = ["hub"] + [host.rsplit("@", 1)[-1] for host in self.hosts]
        return [
            f"{one}.{number}" if (number := plain[: i + 1].count(one)) > 1 else one
            for i, one in enumerate(plain)
        ][1:]


def parse(argv: list[str]) -> Plan:
    parser = Parser(
        prog="starswitch launch",
        usage="%(prog)s (--local N | --hosts PC,PC...) [OPTION]... [HUB OPTION]... "
        "-- COMMAND...",
        description="Runs a hub on this PC and COMMAND as its nodes, here or by ssh "
        "on other PCs. What all of them print comes out here, behind their names. "
        "Ctrl-C asks all to end, nodes first, so that they give what they have "
        "learnt; a second one kills them. All other options are the hub's (starswitch "
        "hub --help).",
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
        help="where the hub listens; if none: this PC's address towards the first "
        "other one of the hosts, port 7541",
    )
    parser.add_argument(
        "--directory",
        default=os.environ.get("STARSWITCH_DIRECTORY", "starswitch-run"),
        metavar="DIR",
        help="the hub's, with its keys (default starswitch-run)",
    )
    parser.add_argument(
        "--keys",
        default=os.environ.get("STARSWITCH_KEYS", ""),
        metavar="DIR",
        help="the hub's keys; if none: keys/ in --directory",
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
        keys=given.keys,
        logs=given.logs,
        ssh=shlex.split(given.ssh),
        dry_run=given.dry_run,
    )


def address_towards(host: str, family: int = socket.AF_UNSPEC) -> str:
    """This PC's address on the way there; StarswitchError: there is none."""
    plain = host.rsplit("@", 1)[-1]
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            plain, 9, family=family, type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind) as probe:
            probe.connect(place)  # sends nothing
            return str(probe.getsockname()[0])
    except OSError as error:
        raise StarswitchError(
            f"no way to {plain}: {error.strerror}; with a name that only ssh knows, "
            "say where the hub is to listen, --listen ADDRESS"
        ) from None


def _is_loopback(host: str) -> bool:
    return host.startswith("127.") or host in ("localhost", "::1")


def _towards(plan: Plan, family: int = socket.AF_UNSPEC) -> str:
    """This PC's address for all hosts: towards the first that is another PC."""
    address = ""
    for host in plan.hosts:
        address = address_towards(host, family)
        if not _is_loopback(address):
            break
    return address


def _listen(plan: Plan) -> tuple[str, int]:
    """The hub's host and port."""
    host, colon, port = plan.listen.rpartition(":")
    if not colon or not port.isdigit():
        host, port = plan.listen, ""
    host = host.strip("[]")
    if not host:
        host = _towards(plan) if plan.hosts else "127.0.0.1"
    if port:
        return host, int(port)
    return host, PORT if plan.hosts else free_port()


def _reached(plan: Plan, host: str) -> str:
    """Where nodes find the hub that listens there: "anywhere" is no place."""
    if host not in ("0.0.0.0", "::"):
        return host
    if not plan.hosts:
        return "127.0.0.1" if host == "0.0.0.0" else "::1"
    return _towards(plan, socket.AF_INET if host == "0.0.0.0" else socket.AF_UNSPEC)


def _at(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _hub_command(plan: Plan, host: str, port: int) -> list[str]:
    words = [program_path("starswitch-hub"), *plan.hub, "--listen", _at(host, port)]
    if not _is_loopback(host) and "--insecure" not in plan.hub:
        words += ["--lan", "--no-beacon"]
    if plan.keys:
        words += ["--keys", plan.keys]
    return [*words, "--directory", plan.directory]


def _invitation(plan: Plan, command: Sequence[str]) -> Path | None:
    """The key by which the hub lets its nodes in; None: it has no keys."""
    if not plan.keys and "--lan" not in command:
        return None
    return Path(plan.keys or Path(plan.directory) / "keys").absolute() / "invitation"


def _settings(
    plan: Plan, number: int, hub: str, invitation: Path | None
) -> dict[str, str]:
    """What a node's command finds. Those of other PCs are sent the key."""
    settings = node_settings(plan.names[number], number, hub)
    if invitation and not plan.hosts:
        settings["STARSWITCH_KEY_FILE"] = str(invitation)
    return settings


def _node(
    plan: Plan, number: int, settings: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command here, and what its environment has beside."""
    if not plan.hosts:
        return plan.command, settings
    script = REMOTE.format(
        folder=shlex.quote(os.getcwd()),
        settings=" ".join(f"{k}={shlex.quote(v)}" for k, v in settings.items()),
        command=shlex.join(plan.command),
        tenths=TENTHS,
        offer=OFFER_TENTHS,
    )
    return [*plan.ssh, plan.hosts[number], f"setsid -w sh -c {shlex.quote(script)}"], {}


def _code(program: int) -> int:
    """As shells say that a signal has ended it."""
    return program if program >= 0 else 128 - program


def _follow(star: _Star, names: Sequence[str]) -> int:
    """Until all nodes have ended; the exit code."""
    failed = 0
    told: set[str] = set()
    while not star.signals.got and not star.unread:
        running = star.running(names)
        for name in names:
            code = star.programs[name].poll()
            if code is not None and name not in told:
                told.add(name)
                failed = failed or code
        code = star.programs["hub"].poll()
        if code is not None and code not in (0, 1) and "hub" not in told:
            told.add("hub")
            star.tell(f"the hub ended with code {_code(code)}; nodes train alone")
        if not running:
            star.wait(["hub"], 1.0)
            star.end(["hub"], signal.SIGTERM)
            return _code(failed or star.programs["hub"].poll() or 0)
        time.sleep(0.05)
    return 128 + (star.signals.got[0] if star.signals.got else signal.SIGPIPE)


def _start_nodes(star: _Star, plan: Plan, hub: str, invitation: Path | None) -> None:
    """Failed: the command is not there."""
    key = invitation.read_text().strip() if invitation else ""
    for i, name in enumerate(plan.names):
        words, settings = _node(plan, i, _settings(plan, i, hub, invitation))
        said = f"{key}\n" if plan.hosts else None
        env = {**os.environ, **settings}
        if star.signals.got:
            return
        try:
            star.start(name, words, env, own=False, said=encoded(said))
        except OSError as error:
            text = f"{words[0]} cannot be started: {error.strerror}"
            raise Failed(69, text) from None


def launch(plan: Plan) -> int:
    host, port = _listen(plan)
    hub = _at(_reached(plan, host), port)
    command = _hub_command(plan, host, port)
    invitation = _invitation(plan, command)
    if plan.dry_run:
        print(shlex.join(command))
        for i in range(len(plan.names)):
            where = [*plan.ssh, plan.hosts[i], ":"] if plan.hosts else []
            settings = _settings(plan, i, hub, invitation)
            print(*where, *(f"{k}={v}" for k, v in settings.items()), end=" ")
            print(shlex.join(plan.command))
        return 0
    logs = None if plan.logs is None else Path(plan.logs)
    if logs is not None:
        logs.mkdir(parents=True, exist_ok=True)
    star = _Star(logs, show=True)
    star.signals.take()
    try:
        star.start("hub", command, program_environment(), own=False)
        if not star.hub_listens(port) and not star.signals.got:
            code = _code(star.programs["hub"].poll() or 69)
            raise Failed(code, "the hub does not start; its lines are above")
        if not star.signals.got:
            _start_nodes(star, plan, hub, invitation)
        return _follow(star, plan.names)
    finally:
        star.close()
        star.signals.ignore()
        if star.unread:  # nor what is still to be written
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    try:
        plan = parse(sys.argv[1:] if argv is None else argv)
    except SystemExit as wrong:
        return int(wrong.code or 0)
    try:
        return launch(plan)
    except Failed as error:
        code, text = error.code, str(error)
    except StarswitchError as error:
        code, text = 69, str(error)
    except OSError as error:
        code, text = 74, f"{error.filename}: {error.strerror}"
    print(f"starswitch launch: {text}", file=sys.stderr)
    return code
