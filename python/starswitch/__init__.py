"""starswitch: several PCs train one model, and none waits for the network.

    import starswitch
    link = starswitch.attach(model, optimizer)      # hub, key, name: environment

Each PC trains as if it were alone. Every k iterations it offers its progress to
the hub, a program in the middle; what comes back is added to the parameters d
iterations later, and this delay hides the network.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._frameworks import framework
from ._link import Link, Options, State
from .errors import (
    Closed,
    ConnectError,
    KeyRefused,
    SchemaMismatch,
    StarswitchError,
    VersionMismatch,
)
from .sampler import Sampler

if TYPE_CHECKING:
    from .launch import launch_local as launch_local
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
    optimizer: its step is the clock: each one ends an iteration. None: call
        link.step() by hand.
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
    if owner == "numpy":
        from .numpy import NumpyParameters

        return Link(NumpyParameters(arrays), options)
    from .jax import JaxLink, JaxParameters

    return JaxLink(JaxParameters(arrays), options)


def __getattr__(name: str) -> Any:
    """What few programs need is imported when it is asked for."""
    if name == "launch_local":
        from .launch import launch_local

        return launch_local
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
