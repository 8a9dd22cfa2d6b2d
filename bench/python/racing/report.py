"""docs/race.md, from the rows of a race.

What somebody wrote there below NOTES stays as it is.
"""

from __future__ import annotations

import os
import platform
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

from racing import venvs
from racing.arms import PEERS, Peer
from racing.network import TREE

Row = dict[str, Any]
NOTES = "## What stands in the way"
HEAD = """# The race

The same PyTorch script, the same data, the same networks: what is the held-out loss
after so many seconds, and how many bytes did it take? `make race` makes this page, the
plot and the raw data (build/race/results.jsonl); `bench/python/race --help` has
the options. The notes at the end are by hand.

A GPT of 834,304 parameters (4 layers, 128 wide, 4 heads, 64 bytes of context, tied
head), AdamW 1e-3, batches of 8, on the bytes of Debian's common licences: the last
tenth of each is held out, the rest is cut into {nodes} contiguous shards, one a node.
All peers start from the same parameters and give the same batch to the same iteration
of a node. {nodes} processes, one thread each, share {cores} cores; each is in a network
namespace, and all are on a switch whose ports are token buckets, full duplex, of the
rates below; servers have a port of their own. The clock starts when all nodes have
joined, at the first step. Parameters are saved 25 times in a run, and judged after
it. Each arm ran once, for {seconds:g} s.

![Held-out loss over time](race.svg)
"""

COLUMNS = (
    "| | version | interval | sweep | iterations | loss | MB moved | busiest port "
    "| to DDP's loss | CPU: own, others |"
)
LEGEND = """`interval`: local steps between exchanges, the best of the sweep by the last
loss; `sweep`: the last loss of each. `MB moved`: sent by all, as the switch counts,
headers included. `busiest port`: its fuller direction, of what its rate allows. `to
DDP's loss`: until the held-out loss is DDP's at the end. `CPU`: cores busy, with the
arm's processes and with others' on this machine while it ran."""


def version_of(peer: Peer, build: Path) -> str:
    """As a table shows it: of the package, or of this tree."""
    if peer.package != "starswitch":
        return venvs.version(peer.venv, peer.package, build)
    said = subprocess.run(
        ["git", "-C", str(TREE), "describe", "--always"],
        check=False,
        capture_output=True,
        text=True,
    )
    return said.stdout.strip() or "this tree"


def curve(rows: list[Row], summary: Row) -> list[tuple[float, float]]:
    """(seconds, loss) of an arm, within its time."""
    key = [summary[name] for name in ("peer", "every", "mbit")]
    return [
        (row["seconds"], row["loss"])
        for row in rows
        if [row["peer"], row["every"], row["mbit"]] == key
        and "seconds" in row
        and row["seconds"] <= summary["duration"] + 0.5
    ]


def time_to(loss: float, points: list[tuple[float, float]]) -> float | None:
    """Seconds until a curve first reaches a loss, between its points by a line."""
    for (begin, high), (end, low) in pairwise(points):
        if low <= loss:
            share = (high - loss) / (high - low) if high > low else 1.0
            return begin + max(0.0, min(1.0, share)) * (end - begin)
    return None


def best_of(summaries: list[Row]) -> list[Row]:
    """Each peer's best interval, by its last loss; in the order of the losses."""
    best: dict[str, Row] = {}
    for row in summaries:
        name = row["peer"]
        if name not in best or row["loss"] < best[name]["loss"]:
            best[name] = row
    return sorted(best.values(), key=lambda row: float(row["loss"]))


def table(rows: list[Row], mbit: int) -> list[str]:
    """One network's: each peer with its best interval."""
    summaries = [row for row in rows if row["mbit"] == mbit and "summary" in row]
    failed = [row for row in rows if row["mbit"] == mbit and "failed" in row]
    baseline = next((row for row in summaries if row["peer"] == "ddp"), None)
    lines = [
        f"## {mbit} Mbit/s",
        "",
        COLUMNS,
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in best_of(summaries):
        sweep = [each for each in summaries if each["peer"] == row["peer"]]
        sweep.sort(key=lambda each: int(each["every"]))
        said = [f"{each['every']}: {each['loss']:.3f}" for each in sweep]
        seconds = None
        if baseline is not None:
            seconds = time_to(baseline["loss"], curve(rows, row))
        bucket = row["mbit"] * 1e6 / 8 * row["duration"]
        cells = [
            PEERS[row["peer"]].title,
            row["version"],
            str(row["every"] or "-"),
            ", ".join(said) if len(said) > 1 else "-",
            f"{row['iterations']:,}",
            f"{row['loss']:.3f}",
            f"{row['bytes'] / 1e6:,.0f}",
            f"{100 * row['busiest_port_bytes'] / bucket:.0f} %",
            "never" if seconds is None else f"{seconds:.1f} s",
            f"{row['cpu']:.2f}, {row['cpu_others']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        f"\n{PEERS[row['peer']].title}, interval {row['every'] or '-'}: no figures, "
        f"{row['failed']}"
        for row in failed
    ]
    return [*lines, ""]


def verdict(rows: list[Row], mbit: int) -> str:
    """Who is first, and by how much; where starswitch is."""
    order = best_of([row for row in rows if row["mbit"] == mbit and "summary" in row])
    order = [row for row in order if row["peer"] != "byhand"]
    names = [row["peer"] for row in order]
    if "starswitch" not in names or len(order) < 2:
        return ""
    place = names.index("starswitch")
    ours = order[place]
    other = order[1 if place == 0 else 0]
    title = PEERS[other["peer"]].title
    said = f"starswitch is first; {title} is next, with a loss {{}} % higher."
    ratio = other["loss"] / ours["loss"]
    if place:
        said = f"starswitch is number {place + 1}, {{}} % above {title}."
        ratio = ours["loss"] / other["loss"]
    return said.format(f"{100 * (ratio - 1):.1f}") + "\n"


def machine() -> str:
    """The processor and the versions that are not in the tables."""
    model = next(
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    return (
        f"{model}, {os.cpu_count()} cores; Linux {platform.release()}, "
        f"Python {platform.python_version()}, {venvs.TORCH}."
    )


def write(rows: list[Row], docs: Path, build: Path) -> None:
    """The page, from all rows."""
    summaries = [row for row in rows if "summary" in row]
    if not summaries:
        return
    head = HEAD.format(
        nodes=summaries[0]["nodes"],
        cores=os.cpu_count(),
        seconds=max(row["duration"] for row in summaries),
    )
    lines = [head]
    for mbit in sorted({row["mbit"] for row in rows}):
        lines += table(rows, mbit)
        lines.append(verdict(rows, mbit))
    lines += [
        LEGEND,
        "",
        "## How each was configured, and what is judged",
        "",
    ]
    present = {row["peer"] for row in rows}
    for name, peer in PEERS.items():
        if name in present:
            lines.append(f"- **{peer.title}**: {peer.how} Judged: {peer.judged}.")
    when = sorted(row["at"] for row in summaries)
    lines += ["", machine(), f"Measured {when[0]} to {when[-1]}.", ""]
    page = docs / "race.md"
    old = page.read_text() if page.exists() else ""
    _, _, notes = old.partition(NOTES)
    docs.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join([*lines, NOTES]) + (notes or "\n"))
