"""What a script's text says of how it trains; nothing is run or imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
        elif last == "report" and "link" in owner:
            text.reported.append(node.lineno)
        elif last in ("load_state_dict", "prepare"):
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
    return text
