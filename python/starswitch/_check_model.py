"""What a script that was watched (_check_run.py) trains: models, optimizers, and
what `attach` would move. Runs in the script's process, after its last step."""

from __future__ import annotations

import gc
import linecache
import os
import sys
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy

from ._check_names import NO_PLACE, Names, key_of, loop_around, place_behind
from ._check_run import Birth, Watch, is_library, one_line
from ._check_static import returned_lines
from .errors import StarswitchError
from .torch import TorchParameters, unwrap

Module = torch.nn.Module


def describe(watch: Watch) -> dict[str, Any]:
    """What is reported of models and optimizers, as JSON can hold it."""
    births = [one for one in watch.births.values() if one.steps or one.lazy]
    idle = [one for one in watch.births.values() if not (one.steps or one.lazy)]
    births = births or idle
    roots = [one for one in find_roots() if any(True for _ in one.parameters())]
    trained = trained_roots(roots, births)
    scope = best_scope(births, trained)
    clock = find_clock(births)
    thawed = {id(one): watch.thawed(one) for one in trained}
    for one in trained:
        watch.as_at_birth(one)
    found: dict[str, Any] = {
        "optimizers": [describe_optimizer(one, scope, watch) for one in births],
        "idle": len(idle) if births is not idle else 0,
        "clock": births.index(clock) if clock else -1,
        "models": [
            {**describe_model(one, births, scope), "thawed": thawed[id(one)][:20]}
            for one in trained
        ],
        "others": [
            {"name": name_of(one, scope), "class": type(one).__name__}
            for one in roots
            if not any(one is other for other in trained)
        ],
        "loose": loose_parameters(births, trained),
        "what": what_to_attach(trained, scope),
        "place": {} if scope is None else scope.describe(),
        "distributed": describe_group(),
        "cuda": torch.cuda.is_available(),
        "step_seconds": step_seconds(clock),
    }
    if trained:
        found.update(try_attach(trained, clock, scope, any(thawed.values())))
    return found


# ---- what there is ----


def find_roots() -> list[Module]:
    """All modules that are in no other module."""
    modules = [one for one in gc.get_objects() if issubclass(type(one), Module)]
    inner = {
        id(child)
        for one in modules
        for child in one.__dict__.get("_modules", {}).values()
    }
    return [
        one for one in modules if id(one) not in inner and "_parameters" in one.__dict__
    ]


def ids_of(birth: Birth) -> set[int]:
    return {id(p) for group in birth.optimizer.param_groups for p in group["params"]}


def trained_roots(roots: list[Module], births: list[Birth]) -> list[Module]:
    """The fewest roots that hold what the optimizers move, largest share first."""
    left: set[int] = set().union(*(ids_of(one) for one in births)) if births else set()
    held = [(one, {id(p) for p in one.parameters()}) for one in roots]
    found: list[Module] = []
    while left and held:
        best = max(held, key=lambda pair: (len(pair[1] & left), -len(pair[1])))
        if not best[1] & left:
            break
        found.append(best[0])
        left -= best[1]
    order = {id(one): i for i, one in enumerate(roots)}
    return sorted(found, key=lambda one: order[id(one)])


def find_clock(births: list[Birth]) -> Birth | None:
    """Of several optimizers the one whose step ends a turn: that which stepped
    least often, then last."""
    stepped = [one for one in births if one.steps]
    if not stepped:
        return births[0] if births else None
    return min(stepped, key=lambda one: (one.steps, -one.times[-1]))


def step_seconds(clock: Birth | None) -> float:
    """Between steps, the first left out, as it warms up; 0: not known."""
    if clock is None or len(clock.times) < 2:
        return 0.0
    gaps = sorted(b - a for a, b in zip(clock.times, clock.times[1:], strict=False))
    return gaps[0] if len(gaps) < 3 else gaps[len(gaps) // 2]


# ---- names and places ----


def frames_of(births: list[Birth]) -> list[tuple[FrameType, int]]:
    return [pair for one in births for pair in one.frames]


class Scope:
    """The function that the lines are added to, and where."""

    def __init__(self, frame: FrameType, births: list[Birth]) -> None:
        self.frame = frame
        lines = [line for one, line in frames_of(births) if one is frame]
        self.line = max(lines)
        many = lines.count(self.line) > 1
        self.behind, self.indent = place_behind(frame, self.line, many)
        self.behind = max(self.behind, self.line)
        calls = [
            one.frames[i + 1 :]
            for one in births
            for i, (other, _) in enumerate(one.frames)
            if other is frame
        ]
        self.names = Names(frame, self.behind, *calls[:8])

    def describe(self) -> dict[str, Any]:
        code = self.frame.f_code
        own = self.frame.f_locals.get("self")
        return {
            "file": code.co_filename,
            "line": self.behind,
            "indent": self.indent,
            "function": "" if code.co_name == "<module>" else code.co_name,
            "first": code.co_firstlineno,
            "self": 0 if own is None else id(own),
            "numbers": numbers_of(self.frame),
            "loop": loop_around(self.frame, self.indent),
        }


def numbers_of(frame: FrameType) -> dict[str, int]:
    """A function's arguments that are whole numbers, such as a rank."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    found = {name: frame.f_locals.get(name) for name in names}
    return {name: n for name, n in found.items() if type(n) is int}


def best_scope(births: list[Birth], models: list[Module]) -> Scope | None:
    """The innermost frame that made the optimizers and knows all by name; one
    that only returns them has no place for a further line."""
    things = [*models, *[one.optimizer for one in births[:4]]]
    best, most = None, -1
    returned: dict[str, set[int]] = {}
    looked: set[int] = set()
    for frame, line in frames_of(births):
        file = frame.f_code.co_filename
        if file not in returned:
            returned[file] = returned_lines("".join(linecache.getlines(file)))
        if line in returned[file] or frame.f_code.co_name in NO_PLACE:
            continue
        if id(frame) in looked:
            continue
        looked.add(id(frame))
        scope = Scope(frame, births)
        known = sum(bool(scope.names.of(one)) for one in things)
        if known > most:
            best, most = scope, known
    return best


def name_of(thing: Any, scope: Scope | None) -> str:
    return "" if scope is None else scope.names.of(thing)


# ---- descriptions ----


def describe_optimizer(
    birth: Birth, scope: Scope | None, watch: Watch
) -> dict[str, Any]:
    one = birth.optimizer
    groups = one.param_groups
    made = [line for frame, line in birth.frames if scope and frame is scope.frame]
    return {
        "name": name_of(one, scope),
        "class": type(one).__name__,
        "line": made[0] if made else 0,
        "steps": birth.steps,
        "lines": birth.lines,
        "in_backward": birth.in_backward,
        "scaler": birth.scaler,
        "framework": birth.framework,
        "lazy": bool(birth.lazy),
        "fused": any(bool(group.get("fused")) for group in groups),
        "grew": birth.groups and len(groups) != birth.groups,
        "tensors": sum(len(group["params"]) for group in groups),
    }


def is_shared(tensor: Any) -> bool:
    try:
        return bool(tensor.is_shared())
    except RuntimeError:  # a sparse one, which has no memory of its own
        return False


def describe_model(
    model: Module, births: list[Birth], scope: Scope | None
) -> dict[str, Any]:
    moved: set[int] = set().union(*(ids_of(one) for one in births))
    every = list(model.named_parameters(remove_duplicate=False))
    names: dict[int, list[str]] = {}
    for name, p in every:
        names.setdefault(id(p), []).append(name)
    single = {id(p): p for _, p in every if not is_lazy(p)}.values()
    still = [p for p in single if not p.requires_grad]
    return {
        "name": name_of(model, scope) or name_of(unwrap(model), scope),
        "class": type(unwrap(model)).__name__,
        "wrapper": type(model).__name__ if unwrap(model) is not model else "",
        "library": is_library(sys.modules[type(model).__module__].__file__ or "")
        if getattr(sys.modules.get(type(model).__module__), "__file__", None)
        else False,
        "parameters": sum(p.numel() for p in single),
        "tensors": len(single),
        "frozen": sum(p.numel() for p in still),
        "frozen_kinds": sorted({str(p.dtype)[6:] for p in still}),
        "untrained": [
            names[id(p)][0] for p in single if p.requires_grad and id(p) not in moved
        ][:20],
        "tied": [many for many in names.values() if len(many) > 1][:20],
        "low": sorted(
            {
                str(p.dtype)[6:]
                for p in single
                if p.dtype in (torch.float16, torch.bfloat16)
            }
        ),
        "batch_norm": sum(isinstance(m, _BatchNorm) for m in model.modules()),
        "buffers": sum(b.numel() for b in model.buffers() if b.is_floating_point()),
        "lazy": [name for name, p in every if is_lazy(p)][:20],
        "sharded": [
            name
            for name, p in every
            if type(p).__name__ in ("DTensor", "FlatParameter")
        ][:3],
        "shared": any(p.device.type == "cpu" and is_shared(p) for p in single),
        "compiled": hasattr(model, "_orig_mod"),
        "devices": sorted({str(p.device) for p in single}),
    }


def loose_parameters(births: list[Birth], models: list[Module]) -> int:
    """Tensors that an optimizer moves, and no model holds."""
    held = {id(p) for one in models for p in one.parameters()}
    return len({i for one in births for i in ids_of(one)} - held)


def describe_group() -> dict[str, Any]:
    import torch.distributed as group

    if not (group.is_available() and group.is_initialized()):
        return {}
    return {
        "backend": str(group.get_backend()),
        "size": group.get_world_size(),
        "local": "LOCAL_RANK" in os.environ,
    }


def model_names(models: list[Module], scope: Scope | None) -> list[str]:
    """A key for each model of a dict: a variable's last word, or its class."""
    names: list[str] = []
    for i, one in enumerate(models):
        name = key_of(name_of(one, scope)) or type(one).__name__.lower()
        names.append(name if name not in names else f"{name}{i}")
    return names


def what_to_attach(models: list[Module], scope: Scope | None) -> str:
    """How attach's first argument is written; "": one of them has no name there."""
    names = [name_of(one, scope) or name_of(unwrap(one), scope) for one in models]
    if len(models) < 2 or scope is None:
        return names[0] if names else ""
    whole = scope.names.of_dict(models)
    if whole or not all(names):
        return whole
    pairs = zip(model_names(models, scope), names, strict=True)
    return "{" + ", ".join(f'"{key}": {name}' for key, name in pairs) + "}"


def try_attach(
    models: list[Module], clock: Birth | None, scope: Scope | None, everything: bool
) -> dict[str, Any]:
    """What attach would make of them: what would travel, or why nothing can. It
    is not called itself, as it would begin to look for a hub."""
    keys = model_names(models, scope)
    names = [""] if len(models) == 1 else keys
    plain = {key: unwrap(one) for key, one in zip(names, models, strict=True)}
    optimizer = None if clock is None else unwrap(clock.optimizer)
    kind = "all" if everything else "trainable"
    try:
        parameters = TorchParameters(plain, optimizer, kind, "average")
    except (StarswitchError, ValueError, TypeError, RuntimeError) as error:
        return {"keys": keys, "refused": one_line(error)}
    moved = parameters.described
    matrices = sum(one.elements for one in moved if len(one.shape) > 1)
    elements = sum(one.elements for one in moved)
    return {
        "keys": keys,
        "kept": list(parameters.kept),
        "travels": {
            "tensors": len(moved),
            "elements": elements,
            "float32_bytes": 4 * elements,
            # Blocks of 256 have a step of 4 bytes; vectors stay float32.
            "int8_bytes": matrices
            + 4 * -(-matrices // 256)
            + 4 * (elements - matrices),
            "names": [one.name for one in moved][:200],
        },
    }
