"""How the models and optimizers of a watched script (_check_run.py) are written
in it, and where a line can stand that says them."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import FrameType
from typing import Any, NamedTuple

import torch

from ._check_run import is_library
from .torch import unwrap

DEPTH = 2  # of containers and objects that a variable's parts are looked for in
WIDTH = 64  # parts of each that are looked at

# Code that Python runs in a frame of its own, where no statement can stand.
NO_PLACE = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>")

LOOPS = (ast.For, ast.AsyncFor, ast.While)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Expression(NamedTuple):
    """What is written so has this value in some frame. steps: its parts, each the
    text up to there, such as `a`, `a.nets`, `a.nets["g"]`."""

    text: str
    value: Any
    steps: tuple[str, ...]


def same(value: Any, thing: Any) -> bool:
    """Whether they are one thing, or one in the other, as a model in DDP."""
    if value is thing:
        return True
    kinds = (torch.nn.Module, torch.optim.Optimizer)
    if not issubclass(type(value), kinds):
        return False
    return unwrap(value) is unwrap(thing)


def _is_ours(value: Any) -> bool:
    """Whether it is an object of a class that the script has made."""
    kind = type(value)
    if issubclass(kind, (torch.nn.Module, torch.Tensor, type(os))):
        return False
    if kind.__name__ in ("SimpleNamespace", "Namespace"):
        return hasattr(value, "__dict__")
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None) or ""
    return hasattr(value, "__dict__") and bool(file) and not is_library(file)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """What is inside a container, or an object of the script: how it is written
    behind its name, and what it is."""
    if isinstance(value, dict):
        for key, part in list(value.items())[:WIDTH]:
            if type(key) is str and key.isprintable() and '"' not in key:
                yield f'["{key}"]', part
            elif type(key) is int:
                yield f"[{key}]", part
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value[:WIDTH]):
            yield f"[{i}]", part
        for name in getattr(value, "_fields", ()):
            yield f".{name}", getattr(value, name)
    elif _is_ours(value):
        for name, part in list(vars(value).items())[:WIDTH]:
            if name.isidentifier() and not name.startswith("__"):
                yield f".{name}", part


def expressions(variables: dict[str, Any]) -> list[Expression]:
    """Variables and their parts, from the outside in."""
    level = [
        Expression(name, value, (name,))
        for name, value in variables.items()
        if name.isidentifier() and not name.startswith("_")
    ]
    found: list[Expression] = []
    seen: set[int] = set()
    for depth in range(DEPTH + 1):
        found += level
        inner = []
        for text, value, steps in level:
            if depth == DEPTH or id(value) in seen:
                continue
            seen.add(id(value))
            for tail, part in _parts(value):
                inner.append(Expression(text + tail, part, (*steps, text + tail)))
        for text, value, steps in level:
            # A module that is an attribute of a `self` which is itself a module.
            if depth == 0 and text == "self" and isinstance(value, torch.nn.Module):
                own = {**vars(value), **value._modules}
                for name, part in own.items():
                    if not name.startswith("_"):
                        tail = f"self.{name}"
                        inner.append(Expression(tail, part, (*steps, tail)))
        level = inner
    return found


# ---- the text of a function ----


@dataclass
class Function:
    """A function's statements, or a module's, without those of inner ones."""

    bound: dict[str, list[int]] = field(default_factory=dict)
    loops: list[tuple[int, int, set[str]]] = field(default_factory=list)
    chains: list[list[ast.stmt]] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)


def _targets(node: ast.AST) -> Iterator[tuple[str, int]]:
    """What a node gives a value to, as it is written, and at which line."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        if isinstance(node.ctx, ast.Store):
            yield ast.unparse(node), node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name.split(".")[0]), node.lineno
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, node.lineno


def _walk(node: ast.AST, chain: list[ast.stmt], function: Function) -> None:
    if isinstance(node, (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
        return
    for text, line in _targets(node):
        function.bound.setdefault(text, []).append(line)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        function.globals.update(node.names)
    if isinstance(node, ast.stmt):
        chain = [*chain, node]
        function.chains.append(chain)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        names = {t for one in ast.walk(node.target) for t, _ in _targets(one)}
        function.loops.append((node.lineno, node.end_lineno or node.lineno, names))
    if isinstance(node, SCOPES):
        if not isinstance(node, ast.Lambda):
            function.bound.setdefault(node.name, []).append(node.lineno)
        return
    for child in ast.iter_child_nodes(node):
        _walk(child, chain, function)


@lru_cache(maxsize=64)
def function_at(file: str, first: int, name: str) -> Function:
    """That which begins at this line (co_firstlineno); "<module>": the file's."""
    function = Function()
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return function
    found: ast.AST | None = tree if name == "<module>" else None
    for node in ast.walk(tree) if found is None else ():
        if not isinstance(node, SCOPES) or isinstance(node, ast.Lambda):
            continue
        lines = [node.lineno, *(one.lineno for one in node.decorator_list)]
        if node.name == name and min(lines) == first:
            found = node
            break
    for child in ast.iter_child_nodes(found) if found is not None else ():
        _walk(child, [], function)
    return function


def function_of(frame: FrameType) -> Function:
    code = frame.f_code
    return function_at(code.co_filename, code.co_firstlineno, code.co_name)


# ---- names ----


@lru_cache(maxsize=4096)
def _as_unparsed(text: str) -> str:
    return ast.unparse(ast.parse(text, mode="eval").body)


def _worth(one: Expression, frame: FrameType, line: int) -> int | None:
    """How well an expression says behind this line of its frame what it says at
    the end: 0 best; None: it has no value yet. line 0: anywhere."""
    function, worst = function_of(frame), 0
    for step in one.steps:
        lines = function.bound.get(_as_unparsed(step), [])
        if not line or not lines:
            continue
        if min(lines) > line:
            return None
        around = [b for a, b, names in function.loops if step in names and a <= line]
        if around and max(around) < line:
            worst = max(worst, 2)  # the last that a loop has left there
        elif max(lines) > line and not around:
            worst = max(worst, 1)  # something else by then
    return worst


Calls = Sequence[tuple[FrameType, int]]


def _last_word(text: str) -> str:
    return text.rsplit(".", 1)[-1]


def not_yet(callers: Calls) -> set[str]:
    """Attributes, as `.optimizer`, and names of the module that those who call
    give a value to only with what the call returns, or later."""
    found: set[str] = set()
    for frame, line in callers:
        function = function_of(frame)
        begins = [
            chain[-1].lineno
            for chain in function.chains
            if chain[-1].lineno <= line <= (chain[-1].end_lineno or 0)
        ]
        is_module = frame.f_code.co_name == "<module>"
        for text, lines in function.bound.items():
            if min(lines) < max(begins, default=line):
                continue
            if "." in text and "[" not in text:
                found.add("." + _last_word(text))
            elif is_module or text in function.globals:
                found.add(text)
    return found


class Names:
    """How things are written in a frame, in a line behind `line` (0: anywhere),
    while these frames call it."""

    def __init__(self, frame: FrameType | None, line: int = 0, *calls: Calls) -> None:
        self._known: list[tuple[Expression, int]] = []
        if frame is None:
            return
        later = set().union(*(not_yet(one) for one in calls))

        def is_there(one: Expression) -> bool:
            return not any(
                "." in step and "." + _last_word(step) in later for step in one.steps
            )

        own = expressions(dict(frame.f_locals))
        given = [(one, _worth(one, frame, line)) for one in own if is_there(one)]
        if frame.f_locals is not frame.f_globals:
            hidden = {one.steps[0] for one in own}
            outer = expressions(dict(frame.f_globals))
            hidden |= later
            given += [
                (one, 4)
                for one in outer
                if one.steps[0] not in hidden and is_there(one)
            ]
        kinds = (torch.nn.Module, torch.optim.Optimizer, dict)
        self._known = [
            (one, worth)
            for one, worth in given
            if worth is not None
            and (issubclass(type(one.value), kinds) or hasattr(one.value, "optimizer"))
        ]

    def of(self, thing: Any) -> str:
        """Rather the thing than what is inside it, and rather an attribute of
        `self` than a variable, as other functions know that, too. "": not at all."""
        found = [
            ((w, len(one.steps) - one.text.startswith("self."), one.value is not thing,
              not one.text.startswith("self."), i), one.text)
            for i, (one, w) in enumerate(self._known)
            if same(one.value, thing)
        ]  # fmt: skip
        return min(found)[1] if found else ""

    def of_dict(self, things: list[Any]) -> str:
        """Of a dict whose values are these, and its keys names; "": none."""
        for one, worth in self._known:
            values = one.value
            if (
                worth < 3
                and type(values) is dict
                and len(values) == len(things)
                and all(type(key) is str and key for key in values)
                and all(any(v is t for t in things) for v in values.values())
            ):
                return one.text
        return ""


def key_of(text: str) -> str:
    """A short name of what is written so: `g` of `self.nets["g"]`, `nets0` of
    `nets[0]`."""
    tail = text.split(".")[-1]
    head, _, key = tail.rstrip("]").partition("[")
    return key.strip('"') if key.startswith('"') else head + key.replace("][", "")


# ---- places ----


def _stored(node: ast.AST) -> set[str]:
    return {text for one in ast.walk(node) for text, _ in _targets(one)}


def loop_around(frame: FrameType, line: int) -> int:
    """Where the innermost loop begins that this line of a frame is in; 0: none."""
    loops = [
        chain[-1].lineno
        for chain in function_of(frame).chains
        if isinstance(chain[-1], LOOPS)
        and chain[-1].lineno <= line <= (chain[-1].end_lineno or 0)
    ]
    return max(loops, default=0)


def place_behind(frame: FrameType, line: int, many: bool) -> tuple[int, int]:
    """Behind which line of its function what this line has made is there, and a
    line that is indented as the new one is to be. many: the line was run several
    times, so that all is there behind its loop only."""
    chains = [
        chain
        for chain in function_of(frame).chains
        if chain[-1].lineno <= line <= (chain[-1].end_lineno or 0)
    ]
    if not chains:
        return 0, line
    chain = max(chains, key=len)
    at = len(chain) - 1
    if many:
        outer = [i for i, one in enumerate(chain[:at]) if isinstance(one, LOOPS)]
        at = outer[-1] if outer else at
    names = _stored(chain[at])
    for i in range(at - 1, -1, -1):
        # Where another branch makes one, too, the line is for both.
        other = chain[i]
        if isinstance(other, ast.If) and other.orelse:
            inside = any(one is chain[i + 1] for one in other.body)
            branch: Iterable[ast.stmt] = other.orelse if inside else other.body
            if names & {text for one in branch for text in _stored(one)}:
                at = i
    return chain[at].end_lineno or line, chain[at].lineno
