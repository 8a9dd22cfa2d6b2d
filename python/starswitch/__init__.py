"""starswitch: several PCs train one model, and none waits for the network.

    import starswitch
    link = starswitch.attach(model, optimizer)      # hub, key, name: environment

Each PC trains as if it were alone. Every k iterations it offers its progress to
the hub, a program in the middle; what comes back is added to the parameters d
iterations later, and this delay hides the network.
"""

from __future__ import annotations

# As typing would have it; importing that takes longer than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._link import Link, Options, State
    from .errors import (
        Closed,
        ConnectError,
        KeyRefused,
        SchemaMismatch,
        StarswitchError,
        VersionMismatch,
    )
    from .launch import launch_local
    from .sampler import Sampler
    from .torch import Models

__version__ = "0.1.0"
__all__ = [
    "Closed",
    "ConnectError",
    "KeyRefused",
    "Link",
    "Sampler",
    "SchemaMismatch",
    "StarswitchError",
    "State",
    "VersionMismatch",
    "attach",
    "launch_local",
]

# Where names come from, which are imported when first used.
_HOMES = {
    "Closed": "errors",
    "ConnectError": "errors",
    "KeyRefused": "errors",
    "Link": "_link",
    "Sampler": "sampler",
    "SchemaMismatch": "errors",
    "StarswitchError": "errors",
    "State": "_link",
    "VersionMismatch": "errors",
    "launch_local": "launch",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def attach(
    model: Models | Any,
    optimizer: Any | None = None,
    *,
    hub: str | None = None,
    name: str | None = None,
    key: str | None = None,
    identity: str | None = None,
    params: str = "trainable",
    buffers: str = "average",
    strict: bool = False,
    up: int = 0,
    down: int = 0,
    cores: str | None = None,
    record: str | None = None,
    evaluate: Callable[[], float] | None = None,
    leave_within: float = 10.0,
) -> Link:
    """Lets a PyTorch model take part in a run; returns at once, hub or not.

    model: a Module, or several by name, {"g": g, "d": d}; or NumPy's arrays by
        name, or JAX's (starswitch.numpy, starswitch.jax).
    optimizer: its step is the clock: each one ends an iteration. Of several,
        as a GAN has, the one that steps last. None: call link.step() by hand.
    hub: "host" or "host:port", up to 8 with commas between; $STARSWITCH_HUB, or
        127.0.0.1:7541.
    name: of this node; who comes back under its name is the same node.
        $STARSWITCH_NAME, or the host's.
    key, identity: as the hub printed it for nodes, and the file of this node's
        own key; $STARSWITCH_KEY, $STARSWITCH_KEY_FILE, $STARSWITCH_IDENTITY.
    params: "trainable" (requires_grad; what is frozen must be the same on all
        nodes), or "all".
    buffers: "average" (floating buffers, such as BatchNorm's, by samples) or
        "local".
    strict: the optimizer's step raises when the hub refuses this node.
    up, down: bytes per second that may be sent and received at most; 0: any.
    cores: the cores of the link's own thread, such as "6-7".
    record: a file for all that the link does, for `starswitch-sim import`.
    evaluate: the model's mean loss on held-out data, for hubs whose nodes judge
        each other.
    leave_within: seconds that detach and the end of the process may take to offer
        the last progress.

    StarswitchError: the model or an option cannot be right. A hub that is not
    there is no error: see Link.wait_ready.
    """
    if params not in ("trainable", "all"):
        raise ValueError(f'params must be "trainable" or "all", not {params!r}')
    if buffers not in ("average", "local"):
        raise ValueError(f'buffers must be "average" or "local", not {buffers!r}')
    import os

    from ._link import Options

    options = Options(
        hub=hub,
        name=name or os.environ.get("STARSWITCH_NAME"),
        key=key,
        identity=identity,
        strict=strict,
        up=up,
        down=down,
        cores=cores,
        record=None if record is None else os.fspath(record),
        evaluate=evaluate,
        leave_within=leave_within,
    )
    from ._frameworks import framework

    owner = framework(model)
    if owner == "torch":
        from . import torch as backend

        return backend.attach(model, optimizer, options, params, buffers)
    if optimizer is not None:
        raise ValueError(
            f"with {owner} there is no optimizer to hook: call link.step()"
        )
    return _attach_arrays(owner, model, options)


def _attach_arrays(owner: str, arrays: Any, options: Options) -> Link:
    from ._link import Link

    if owner == "numpy":
        from .numpy import NumpyParameters

        return Link(NumpyParameters(arrays), options)
    from .jax import JaxLink, JaxParameters

    return JaxLink(JaxParameters(arrays), options)
