"""What `starswitch check` says of a script, and its form as text."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Line:
    """A line to add, behind line `after` of a file (0: as its first)."""

    file: str
    after: int
    text: str


@dataclass
class Result:
    """What is said of a script. verdict: "works", "will not", "fails" (by itself,
    without starswitch) or "not known"."""

    script: str
    verdict: str = "not known"
    why: list[str] = field(default_factory=list)
    seen: str = ""  # how far it was run
    attached: list[int] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    optimizers: list[dict[str, Any]] = field(default_factory=list)
    travels: dict[str, Any] = field(default_factory=dict)
    step_seconds: float = 0.0
    every: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    mbit: float = 0.0
    output: list[str] = field(default_factory=list)


def size(count: float) -> str:
    """Bytes, for people."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def duration(seconds: float) -> str:
    """Seconds, for people."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def steps(count: int) -> str:
    return "step" if count == 1 else f"{count:,} steps"


def rows(result: Result) -> list[tuple[str, str]]:
    """What was found: a word, and what there is."""
    found = []
    for one in result.models:
        name = one["name"] or one["class"]
        text = f"{name} ({one['class']}): {one['parameters']:,} parameters in "
        text += f"{one['tensors']} tensors, on {', '.join(one['devices'])}"
        if one["wrapper"]:
            text += f", in {one['wrapper']}"
        found.append(("model", text))
    for one in result.optimizers[:4]:
        at = f", line {one['line']}" if one["line"] else ""
        text = f"{one['name'] or '-'} ({one['class']}{at})"
        if one["lines"]:
            text += f", steps at line {one['lines'][0][1]}"
        found.append(("optimizer", text))
    if result.optimizers[4:]:
        found.append(("", f"and {len(result.optimizers) - 4} more"))
    moved = result.travels
    if moved:
        text = f"{moved['elements']:,} numbers in {moved['tensors']} tensors; an "
        text += f"exchange sends {size(moved['int8_bytes'])} as int8, "
        text += f"{size(moved['float32_bytes'])} as raw float32, and gets as much"
        found.append(("travels", text))
    if result.every:
        text = f"{duration(result.step_seconds)}; {result.nodes} nodes on "
        text += (
            f"{result.mbit:g} Mbit/s can exchange every {steps(result.every['int8'])} "
        )
        text += f"as int8, every {steps(result.every['float32'])} as raw float32"
        found.append(("step", text))
    return found


def write(result: Result) -> list[str]:
    """The report, in lines of at most 80 columns."""
    out = [result.script + (f", {result.seen}" if result.seen else "")]
    for word, text in rows(result):
        out += wrapped(f"  {word:<10} ", text)
    verdict = result.verdict
    if verdict == "works" and result.attached:
        at = ", ".join(str(one) for one in result.attached if one)
        tail = f"attached at line {at}" if at else "it attaches"
    elif verdict == "works":
        tail = "add these lines" if result.lines else "see the notes"
    elif verdict == "fails":
        tail = "the script, by itself; mend that first"
    else:
        tail = ""
    out.append("")
    out.append(verdict + (f": {tail}" if tail else ""))
    for one in result.why:
        out += wrapped("  - ", one)
    if result.lines:
        if verdict != "works":
            shows = "its text" if not result.models else "its run"
            out.append(f"  as far as {shows} shows, it would take these lines:")
        for add in result.lines:
            where = f"{add.file}, behind line {add.after}"
            if not add.after:
                where = f"{add.file}"
            out.append(f"  {where}:")
            out += [f"      {text}" for text in add.text.splitlines()]
    if result.notes:
        out.append("")
        out.append("notes")
        for one in result.notes:
            out += wrapped("  - ", one)
    if result.output and verdict != "works":
        out.append("")
        out.append("the last that it said")
        out += [f"  | {one}" for one in result.output]
    return out


def wrapped(first: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        80,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
