"""What a script's text says of how it trains; nothing is run or imported."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# Optimizers that torch and the usual packages name so.
OPTIMIZERS = {
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "AdamW8bit",
    "Adamax",
    "FusedAdam",
    "LBFGS",
    "Lion",
    "Muon",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
}

# A name that is called or imported, and what it tells.
MARKS = {
    "DataLoader": "loader",
    "DistributedDataParallel": "ddp",
    "DDP": "ddp",
    "FullyShardedDataParallel": "fsdp",
    "FSDP": "fsdp",
    "fully_shard": "fsdp",
    "DTensor": "fsdp",
    "parallelize_module": "fsdp",
    "GradScaler": "scaler",
    "init_process_group": "group",
    "register_post_accumulate_grad_hook": "in_backward",
    "manual_seed": "seed",
    "seed_everything": "seed",
    "set_seed": "seed",
    "input": "stdin",
    "compile": "compile",
    "get_peft_model": "peft",
}

FRAMEWORKS = {
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "flax": "jax",
    "jax": "jax",
    "keras": "keras",
    "lightning": "lightning",
    "mxnet": "mxnet",
    "optax": "jax",
    "pytorch_lightning": "lightning",
    "sklearn": "sklearn",
    "starswitch": "starswitch",
    "tensorflow": "keras",
    "torch": "torch",
    "transformers": "transformers",
}


@dataclass
class Statement:
    """A statement of interest. Lines count from 1."""

    line: int
    end: int
    name: str  # what it is about: a variable, or the text of an expression
    scope: str  # of the function that it stands in; "": the module
    kind: str = ""


@dataclass
class Text:
    """What the text of a script shows."""

    error: str = ""
    frameworks: set[str] = field(default_factory=set)
    marks: dict[str, list[int]] = field(default_factory=dict)
    optimizers: list[Statement] = field(default_factory=list)
    steps: list[Statement] = field(default_factory=list)
    losses: list[Statement] = field(default_factory=list)
    attached: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)
    loads: list[Statement] = field(default_factory=list)
    thaws: list[int] = field(default_factory=list)  # once it trains
    everything: bool = False  # it attaches with params="all"
    models: list[str] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    imports_end: int = 0
    main_guard: bool = False

    def end_of(self, line: int) -> int:
        """The last line of the innermost statement that this line is in."""
        return self.ends.get(line, line)


def _words(node: ast.expr) -> list[str]:
    """The words of `a.b.c`, else of what can be read of it."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [*_words(node.value), node.attr]
    if isinstance(node, ast.Call):
        return _words(node.func)
    if isinstance(node, ast.Subscript):
        return _words(node.value)
    return []


def _plain(node: ast.expr) -> str:
    """A loss as it is best reported: without the division by the number of
    batches that are accumulated."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _plain(node.left)
    return ast.unparse(node)


class _Reader(ast.NodeVisitor):
    def __init__(self, text: Text) -> None:
        self.text = text
        self.scope: list[str] = []

    def _here(self, node: ast.AST, name: str, kind: str = "") -> Statement:
        line = getattr(node, "lineno", 0)
        end = self.text.end_of(line)
        return Statement(line, end, name, ".".join(self.scope), kind)

    def _mark(self, name: str, line: int) -> None:
        mark = "lazy" if name.startswith("Lazy") and name[4:5].isupper() else None
        mark = mark or MARKS.get(name)
        if mark:
            self.text.marks.setdefault(mark, []).append(line)

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    visit_FunctionDef = _enter
    visit_AsyncFunctionDef = _enter

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def visit_Import(self, node: ast.Import) -> None:
        for one in node.names:
            self._import(one.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and not node.level:
            self._import(node.module, node)
            for one in node.names:
                if one.name.startswith(("Fully", "fully", "FSDP", "DTensor")):
                    self._mark(one.name, node.lineno)

    def _import(self, name: str, node: ast.stmt) -> None:
        framework = FRAMEWORKS.get(name.split(".")[0])
        if framework:
            self.text.frameworks.add(framework)
        if not self.scope:
            end = node.end_lineno or node.lineno
            self.text.imports_end = max(self.text.imports_end, end)

    def visit_If(self, node: ast.If) -> None:
        if "__name__" in ast.unparse(node.test):
            self.text.main_guard = True
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = node.value
        if isinstance(value, ast.Call) and len(node.targets) == 1:
            words = _words(value.func)
            if words and words[-1] in OPTIMIZERS:
                name = ast.unparse(node.targets[0])
                self.text.optimizers.append(self._here(node, name, words[-1]))
                self._models(value)
        self.generic_visit(node)

    def _models(self, call: ast.Call) -> None:
        for node in ast.walk(call):
            if isinstance(node, ast.Attribute) and node.attr in (
                "parameters",
                "named_parameters",
            ):
                name = ast.unparse(node.value)
                if name not in self.text.models:
                    self.text.models.append(name)

    def visit_Call(self, node: ast.Call) -> None:
        words = _words(node.func)
        if words:
            self._call(node, words)
        self.generic_visit(node)

    def _call(self, node: ast.Call, words: list[str]) -> None:
        last, owner = words[-1], words[-2] if len(words) > 1 else ""
        text = self.text
        if last != "compile" or owner in ("torch", "model", ""):
            self._mark(last, node.lineno)
        if last == "step" and isinstance(node.func, ast.Attribute):
            self._step(node, node.func.value)
        elif last == "backward" or last == "manual_backward":
            self._backward(node)
        elif last == "attach" and owner in ("", "starswitch"):
            text.attached.append(node.lineno)
            text.everything |= any(
                one.arg == "params"
                and isinstance(one.value, ast.Constant)
                and one.value.value == "all"
                for one in node.keywords
            )
        elif last == "report" and "link" in owner:
            text.reported.append(node.lineno)
        elif last in ("load_state_dict", "prepare", "add_param_group"):
            text.loads.append(self._here(node, ast.unparse(node.func)))
        elif owner == "sys" and last == "exit":
            text.marks.setdefault("exit", []).append(node.lineno)
        elif (words[0] == "mp" and last == "spawn") or words[-2:] == ["Process"]:
            text.marks.setdefault("spawn", []).append(node.lineno)
        if last in ("Trainer", "SFTTrainer", "Seq2SeqTrainer"):
            text.marks.setdefault("trainer", []).append(node.lineno)

    def _step(self, node: ast.Call, owner: ast.expr) -> None:
        name = ast.unparse(owner)
        if "scaler" in name.lower() and node.args:
            self.text.marks.setdefault("scaler", []).append(node.lineno)
            name = ast.unparse(node.args[0])
        elif "opt" not in name.lower() and name not in [
            one.name for one in self.text.optimizers
        ]:
            return
        self.text.steps.append(self._here(node, name))

    def _backward(self, node: ast.Call) -> None:
        assert isinstance(node.func, ast.Attribute | ast.Name)
        value: ast.expr | None = None
        if node.args:
            value = node.args[0]  # accelerator.backward(loss)
        elif isinstance(node.func, ast.Attribute):
            value = node.func.value
            if (
                isinstance(value, ast.Call)
                and value.args
                and isinstance(value.func, ast.Attribute)
                and value.func.attr == "scale"
            ):
                value = value.args[0]  # scaler.scale(loss).backward()
        if value is not None:
            name = _plain(value)
            # A loss that has no name would be computed again to report it.
            named = all(part.isidentifier() for part in name.split("."))
            self.text.losses.append(self._here(node, name if named else ""))


def returned_lines(source: str) -> set[int]:
    """The lines of all return statements."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Return)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def _thaws(node: ast.AST) -> bool:
    """Whether it lets a parameter train that did not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "add_param_group":
            return True
        if node.func.attr != "requires_grad_":
            return False
        given = [*node.args, *(one.value for one in node.keywords)]
        return not any(isinstance(v, ast.Constant) and not v.value for v in given)
    return (
        isinstance(node, ast.Assign)
        and any(
            isinstance(one, ast.Attribute) and one.attr == "requires_grad"
            for one in node.targets
        )
        and not (isinstance(node.value, ast.Constant) and not node.value.value)
    )


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when it does: not what is in functions that it defines."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _inside(child)


class _Acts:
    """Which of a script's functions do something, by themselves or by what they
    call; functions are known by their last word."""

    def __init__(self, scopes: list[Scope], does: Callable[[ast.AST], bool]) -> None:
        self._does = does
        self._names: set[str] = set()
        functions = [one for one in scopes if not isinstance(one, ast.Module)]
        while True:
            known = len(self._names)
            for one in functions:
                if any(self.acts(node) for node in _inside(one)):
                    self._names.add(one.name)
            if len(self._names) == known:
                return

    def acts(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            words = _words(node.func)
            if words and words[-1] in self._names:
                return True
        return self._does(node)


def late_thaws(tree: ast.Module, steps: set[int]) -> list[int]:
    """Lines that let parameters train once the script has begun to: in a loop
    that steps, or behind a step in the same function. steps: lines of steps."""
    scopes: list[Scope] = [tree]
    scopes += [
        one
        for one in ast.walk(tree)
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]

    def does_step(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and node.lineno in steps

    stepping, thawing = _Acts(scopes, does_step), _Acts(scopes, _thaws)
    found: set[int] = set()
    for scope in scopes:
        nodes = list(_inside(scope))
        at = [one.lineno for one in nodes if stepping.acts(one)]  # type: ignore[attr-defined]
        loops = [
            (one.lineno, one.end_lineno or one.lineno)
            for one in nodes
            if isinstance(one, (ast.For, ast.While))
            and any(stepping.acts(inner) for inner in _inside(one))
        ]
        for one in nodes:
            if not thawing.acts(one) or not at:
                continue
            line = one.lineno  # type: ignore[attr-defined]
            if line > min(at) or any(a <= line <= b for a, b in loops):
                found.add(line)
    return sorted(found)


def _simple(tree: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node


def read(source: str, name: str) -> Text:
    """Reads a script's text; `error` says where it is no Python."""
    text = Text()
    try:
        tree = ast.parse(source, name)
    except (SyntaxError, ValueError) as error:
        text.error = f"{name} is no Python: {error}"
        return text
    for node in _simple(tree):
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            text.ends[line] = max(text.ends.get(line, 0), node.end_lineno or line)
    _Reader(text).visit(tree)
    steps = {one.line for one in text.steps}
    text.thaws = late_thaws(tree, steps) if steps else []
    return text
