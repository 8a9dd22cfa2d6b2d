"""Whose parameters something is, told without importing anybody's framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import StarswitchError

OWNERS = {"numpy": "numpy", "jax": "jax", "jaxlib": "jax", "torch": "torch"}


def _leaf(thing: Any) -> Any:
    """The first of what dicts, lists and tuples hold."""
    while True:
        if isinstance(thing, Mapping):
            inner = list(thing.values())
        elif isinstance(thing, (list, tuple)):
            inner = list(thing)
        else:
            return thing
        if not inner:
            raise StarswitchError("there is nothing in it to exchange")
        thing = inner[0]


def framework(model: Any) -> str:
    """ "numpy" for a dict or list of arrays, "jax" for a pytree of JAX's, else
    "torch": modules are of classes of their users'."""
    leaf = _leaf(model)
    owner = OWNERS.get(type(leaf).__module__.partition(".")[0], "torch")
    if owner == "numpy" and not _is_flat(model):
        return "jax"  # a tree, as it is before its first update
    return owner


def _is_flat(model: Any) -> bool:
    values = model.values() if isinstance(model, Mapping) else model
    return not any(isinstance(one, (Mapping, list, tuple)) for one in values)
