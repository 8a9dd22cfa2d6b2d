"""What a script that was watched (_check_run.py) trains: models, optimizers, and
what `attach` would move. Runs in the script's process, after its last step."""

from __future__ import annotations

import gc
import linecache
import sys
from types import FrameType
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy

from ._check_run import Birth, Watch, is_library
from ._check_static import returned_lines
from .errors import StarswitchError
from .torch import TorchParameters, unwrap

Module = torch.nn.Module

LOW_PRECISION = (torch.float16, torch.bfloat16)
SHARDED = ("DTensor", "FlatParameter")


def describe(watch: Watch) -> dict[str, Any]:
    """What is reported of models and optimizers, as JSON can hold it."""
    births = [one for one in watch.births.values() if one.steps or one.lazy]
    idle = [one for one in watch.births.values() if not (one.steps or one.lazy)]
    births = births or idle
    roots = [one for one in find_roots() if any(True for _ in one.parameters())]
    trained = trained_roots(roots, births)
    scope = best_scope(births, trained)
    clock = find_clock(births)
    found: dict[str, Any] = {
        "optimizers": [describe_optimizer(one, scope, watch) for one in births],
        "idle": len(idle) if births is not idle else 0,
        "clock": births.index(clock) if clock else -1,
        "models": [describe_model(one, births, scope) for one in trained],
        "others": [
            {"name": name_of(one, scope), "class": type(one).__name__}
            for one in roots
            if not any(one is other for other in trained)
        ],
        "loose": loose_parameters(births, trained),
        "place": place_of(births, scope),
        "distributed": describe_group(),
        "cuda": torch.cuda.is_available(),
        "step_seconds": step_seconds(clock),
    }
    if trained:
        found.update(try_attach(trained, clock, scope))
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


def names_in(frame: FrameType) -> dict[str, Any]:
    """Variables of a frame, and attributes of its `self`, by how they are
    written there."""
    variables = dict(frame.f_locals)
    own = variables.get("self")
    if own is not None and hasattr(own, "__dict__"):
        variables.update({f"self.{k}": v for k, v in vars(own).items()})
        for k, v in vars(own).get("_modules", {}).items():
            variables[f"self.{k}"] = v
    return variables


def same(value: Any, thing: Any) -> bool:
    if value is thing:
        return True
    kinds = (Module, torch.optim.Optimizer)
    if not issubclass(type(value), kinds):
        return False
    return unwrap(value) is unwrap(thing)


def name_in(frame: FrameType | None, thing: Any) -> str:
    """How a thing is written in a frame, rather than what is inside it, as a
    model in DDP; an attribute of `self` rather than a variable, as other
    functions know that, too. "": not at all."""
    if frame is None:
        return ""
    names = [
        (name, value)
        for name, value in names_in(frame).items()
        if not name.startswith("_") and same(value, thing)
    ]
    names.sort(key=lambda one: (one[1] is not thing, not one[0].startswith("self.")))
    return names[0][0] if names else ""


def frames_of(births: list[Birth]) -> list[tuple[FrameType, int]]:
    return [pair for one in births for pair in one.frames]


def best_scope(births: list[Birth], models: list[Module]) -> FrameType | None:
    """The innermost frame that made the optimizers and knows all by name; one
    that only returns them has no place for a further line."""
    things = [*models, *[one.optimizer for one in births[:4]]]
    best, most = None, -1
    returned: dict[str, set[int]] = {}
    for frame, line in frames_of(births):
        file = frame.f_code.co_filename
        if file not in returned:
            returned[file] = returned_lines("".join(linecache.getlines(file)))
        if line in returned[file]:
            continue
        known = sum(bool(name_in(frame, one)) for one in things)
        if known > most:
            best, most = frame, known
    return best


def name_of(thing: Any, scope: FrameType | None) -> str:
    name = name_in(scope, thing)
    if name:
        return name
    main = sys.modules["__main__"].__dict__
    for key, value in main.items():
        if same(value, thing) and not key.startswith("_"):
            return key
    return ""


def place_of(births: list[Birth], scope: FrameType | None) -> dict[str, Any]:
    """The last line that made an optimizer, in the scope that knows the names."""
    lines = [line for frame, line in frames_of(births) if frame is scope]
    if scope is None or not lines:
        return {}
    name = scope.f_code.co_name
    return {
        "file": scope.f_code.co_filename,
        "line": max(lines),
        "function": "" if name == "<module>" else name,
    }


# ---- descriptions ----


def describe_optimizer(
    birth: Birth, scope: FrameType | None, watch: Watch
) -> dict[str, Any]:
    one = birth.optimizer
    groups = one.param_groups
    made = [line for frame, line in birth.frames if frame is scope]
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


def describe_model(
    model: Module, births: list[Birth], scope: FrameType | None
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
    return {"backend": str(group.get_backend()), "size": group.get_world_size()}


def model_names(models: list[Module], scope: FrameType | None) -> list[str]:
    """A key for each model of a dict: a variable's last word, or its class."""
    names: list[str] = []
    for i, one in enumerate(models):
        name = name_of(one, scope).split(".")[-1] or type(one).__name__.lower()
        names.append(name if name not in names else f"{name}{i}")
    return names


def try_attach(
    models: list[Module], clock: Birth | None, scope: FrameType | None
) -> dict[str, Any]:
    """What attach would make of them: what would travel, or why nothing can. It
    is not called itself, as it would begin to look for a hub."""
    keys = model_names(models, scope)
    names = [""] if len(models) == 1 else keys
    plain = {key: unwrap(one) for key, one in zip(names, models, strict=True)}
    optimizer = None if clock is None else unwrap(clock.optimizer)
    try:
        parameters = TorchParameters(plain, optimizer, "trainable", "average")
    except (StarswitchError, ValueError, TypeError, RuntimeError) as error:
        return {"keys": keys, "refused": f"{type(error).__name__}: {error}"}
    moved = parameters.described
    matrices = sum(one.elements for one in moved if len(one.shape) > 1)
    elements = sum(one.elements for one in moved)
    return {
        "keys": keys,
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
