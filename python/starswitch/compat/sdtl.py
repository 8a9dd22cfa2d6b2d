"""SDTL's spelling: one optimizer around the user's, chosen by name.

    from starswitch.compat.sdtl import CommOptimizer

    optimizer = CommOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1),
        dist_optim_name="EASGD",
        world_size=4,
        comm_period=10,
        dist_pulling_strength=0.43,
        local_pulling_strength=0.1,
    )
    for x, y in batches:
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()

and once, anywhere in the network:

    starswitch-hub --every 10 --delay 0 --policy easgd --elastic 0.43 --anchor 0.1
        --nodes 4

Exchanges are the hub's, and so are their settings, for all workers at once. What
the script asks for is compared with what the hub does and said in the log
("starswitch").
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch

from .._faces import Asked, attach_as, is_over, number
from .._link import Link
from ..torch import unwrap_optimizer

logger = logging.getLogger("starswitch")

__all__ = ["CommOptimizer"]

NAMES = ("EASGD", "LSGD", "DataParallel")
ONE_CODE_BASE = (
    "only one code base has this variant, and starswitch's policies are rules that "
    "others have published and measured (docs/ancestors.md, SD-20 and SD-21)"
)


def _groups(optimizer: torch.optim.Optimizer) -> dict[str, torch.nn.Module]:
    """The optimizer's parameters as modules, one for each of its groups: each is
    one vector, "group0" with "0", "1" and so on."""
    modules: dict[str, torch.nn.Module] = {}
    for i, group in enumerate(optimizer.param_groups):
        module = torch.nn.Module()
        for j, one in enumerate(group["params"]):
            module.register_parameter(
                str(j),
                one
                if isinstance(one, torch.nn.Parameter)
                else torch.nn.Parameter(one, one.requires_grad),
            )
        modules[f"group{i}"] = module
    return modules


def _passed_on(name: str) -> Any:
    """An attribute that is the local optimizer's, also where it is set."""
    return property(
        lambda self: getattr(self.optimizer, name),
        lambda self, value: setattr(self.optimizer, name, value),
        lambda self: delattr(self.optimizer, name),
    )


class CommOptimizer:
    """A step is the local optimizer's step and then, every `comm_period` steps, an
    exchange with the other workers, which the step waits for.

        optimizer = CommOptimizer(local, "LSGD", 4, 10, 0.1, 0.1)
        loss = optimizer.step(closure)

    optimizer: the local one; of torch, unwrapped or prepared by accelerate.
    dist_optim_name: "EASGD", "LSGD", or "DataParallel": no exchange of its own,
        as gradients are averaged by DistributedDataParallel around the model.
    world_size: the workers that must be there before the first exchange
        (--nodes).
    comm_period: tau, steps; exactly every tau steps there is an exchange, and no
        traffic at any other time. (--every, with --delay 0)
    dist_pulling_strength: EASGD: beta, how far the centre goes to the workers'
        mean, and each of N workers beta / N to the centre (--elastic). LSGD: how
        far workers go to the leader (--pull).
    local_pulling_strength: p; after each step workers are pulled by p / tau to
        the centre of the last exchange (--anchor), which is what that pulled
        them to; before the first, to the first parameters. 0: not at all.
    model: gives parameters their names; without it they are named by their
        places in the optimizer's groups.
    options: of `starswitch.attach`: hub, name, key and so on.

    isinstance(optimizer, torch.optim.Optimizer) holds, so that torch's schedulers and
    GradScaler take it as they take the local one.

    LSGD's leader is the worker with the lowest training loss: a closure's loss is
    reported by itself, others by report(loss=loss). Who reports none never leads.
    ValueError: an unknown name, or a number that cannot be.
    """

    def __init__(
        self,
        optimizer: Any,
        dist_optim_name: str = "EASGD",
        world_size: int = 1,
        comm_period: int = 1,
        dist_pulling_strength: float = 0.1,
        local_pulling_strength: float = 0.0,
        *,
        model: torch.nn.Module | None = None,
        **options: Any,
    ) -> None:
        if dist_optim_name in ("LSGD+", "EASGD+"):
            raise ValueError(f"there is no {dist_optim_name}: {ONE_CODE_BASE}")
        if dist_optim_name not in NAMES:
            raise ValueError(
                f"there is no {dist_optim_name!r}: dist_optim_name is one of "
                + ", ".join(NAMES)
            )
        if world_size < 1:
            raise ValueError(f"world_size must be at least 1, not {world_size}")
        if comm_period < 1:
            raise ValueError(f"comm_period must be at least 1, not {comm_period}")
        for name, value in (
            ("dist_pulling_strength", dist_pulling_strength),
            ("local_pulling_strength", local_pulling_strength),
        ):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be from 0 to 1, not {value}")
        self.optimizer = optimizer
        self.dist_optim_name = dist_optim_name
        self.link: Link | None = None
        self._reported = False
        self._warned = False
        if dist_optim_name == "DataParallel":
            _check_data_parallel(world_size)
            return
        local = unwrap_optimizer(optimizer)
        if local is None:
            raise TypeError(f"{type(optimizer).__name__} is no torch.optim.Optimizer")
        self.link = attach_as(
            _asked(
                dist_optim_name,
                world_size,
                comm_period,
                dist_pulling_strength,
                local_pulling_strength,
            ),
            _groups(local) if model is None else model,
            local,
            options,
        )

    # What a GradScaler tells a fused optimizer's step.
    grad_scale = _passed_on("grad_scale")
    found_inf = _passed_on("found_inf")

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What isinstance sees: everything but step is the local optimizer's."""
        local = self.__dict__.get("optimizer")
        return CommOptimizer if local is None else type(local)

    def _warn_of_no_loss(self) -> None:
        """Once, after the first exchange."""
        if self.dist_optim_name != "LSGD" or self._reported or self._warned:
            return
        if self.link is not None and self.link._offered_at > 0:
            self._warned = True
            logger.warning(
                "LSGD: this worker has reported no loss, and so never leads: "
                "optimizer.report(loss=loss), or step(closure)"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """The local optimizer's step, the pull to the centre, and the exchange if
        it is due; returns what the local step does. Raises nothing because of the
        network, unless attached with strict=True."""
        if closure is None:
            result = self.optimizer.step()
            self._warn_of_no_loss()
            return result
        given = closure

        def measured() -> Any:
            loss = given()
            if loss is not None:
                self.report(loss=loss)
            return loss

        return self.optimizer.step(measured)

    def report(self, **measured: Any) -> None:
        """As Link.report: loss, samples, accuracy."""
        self._reported |= measured.get("loss") is not None
        if self.link is not None:
            self.link.report(**measured)

    def zero_grad(self, *args: Any, **kwargs: Any) -> None:
        """The local optimizer's."""
        self.optimizer.zero_grad(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Everything else (param_groups, state_dict and so on) is the local
        optimizer's."""
        if name == "optimizer":
            raise AttributeError(name)
        return getattr(self.optimizer, name)

    @property
    def over(self) -> bool:
        """The run has ended: leave the loop."""
        return is_over(self.link)

    def detach(self, within: float | None = None) -> None:
        """Leaves the run; the local optimizer goes on. So does the end of the
        process by itself."""
        if self.link is not None:
            self.link.detach(within)

    def __enter__(self) -> CommOptimizer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.detach()


def _asked(
    name: str, world_size: int, period: int, strength: float, local: float
) -> Asked:
    if name == "EASGD":
        options = {"--policy": "easgd", "--elastic": number(strength)}
    else:
        options = {"--policy": "lsgd", "--pull": number(strength)}
    if local > 0:
        options["--anchor"] = number(local)
    if world_size > 1:
        options["--nodes"] = str(world_size)
    return Asked(
        face=name,
        every=period,
        delay=0,
        options=options,
        anchor=local,
        pull=0.0 if name == "EASGD" else strength,
    )


def _check_data_parallel(world_size: int) -> None:
    """Gradients are averaged by DistributedDataParallel, or by nobody."""
    import torch.distributed as distributed

    ready = distributed.is_available() and distributed.is_initialized()
    there = distributed.get_world_size() if ready else 1
    if there != world_size:
        logger.warning(
            "DataParallel: torch.distributed has %s, and this script asks for "
            "%d; gradients are averaged by DistributedDataParallel around the model "
            '(init_process_group("starswitch") for a hub)',
            f"{there} processes" if ready else "not been initialised",
            world_size,
        )
