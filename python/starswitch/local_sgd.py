"""torchft's spelling: LocalSGD and DiLoCo as context managers.

    from starswitch.local_sgd import DiLoCo, Manager

    with DiLoCo(Manager(), [model], inner, outer, sync_every=20):
        ...                                     # the loop as it was

A script for torchft changes its import. What torchft's manager, lighthouse and
process group do is the hub's work here, so no manager is needed: the first
argument may be None or left out. How often nodes exchange and how their progress
is merged is the hub's choice, for all nodes at once; what the script asks for is
compared with that and said in the log ("starswitch").
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

import torch

from ._faces import Asked, attach_as, is_over, number
from ._link import Link

logger = logging.getLogger("starswitch")

__all__ = ["DiLoCo", "LocalSGD", "Manager"]

Self = TypeVar("Self", bound="_Face")


class Manager:
    """Stands where torchft's Manager stood, for scripts that ask it something.

        manager = Manager(min_replica_size=2)

    min_replica_size: the nodes that the hub should wait for at first (--nodes).
    Whatever else torchft's takes (process group, transport, state_dict and so on)
    is the hub's work and not used.
    """

    def __init__(self, *args: Any, min_replica_size: int = 1, **others: Any) -> None:
        self.min_replica_size = min_replica_size
        self._link: Link | None = None
        if args or others:
            names = [type(one).__name__ for one in args] + sorted(others)
            logger.info("Manager: not used, as it is the hub's: %s", ", ".join(names))

    def current_step(self) -> int:
        """How many results of the hub were applied."""
        return 0 if self._link is None else self._link.state().applied

    def num_participants(self) -> int:
        """The nodes in the run, this one included, as far as it knows."""
        return 1 if self._link is None else max(1, self._link.state().members)

    def shutdown(self, wait: bool = True) -> None:
        """Leaves the run, if the context manager has not yet."""
        if self._link is not None:
            self._link.detach()


class _Face:
    """Inside `with`, a link; `link` is None outside."""

    def __init__(
        self,
        manager: Any,
        models: torch.nn.Module | dict[str, torch.nn.Module],
        optimizer: torch.optim.Optimizer,
        asked: Asked,
        options: dict[str, Any],
    ) -> None:
        self.link: Link | None = None
        self._manager = manager
        self._models = models
        self._optimizer = optimizer
        self._asked = asked
        self._options = options

    def __enter__(self: Self) -> Self:
        link = attach_as(self._asked, self._models, self._optimizer, self._options)
        if isinstance(self._manager, Manager):
            self._manager._link = link
        self.link = link
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.link is not None:
            self.link.detach()

    @property
    def over(self) -> bool:
        """The run has ended (--goal, --iterations, --time of the hub): leave the
        loop."""
        return is_over(self.link)


def _is_model(thing: Any) -> bool:
    return isinstance(thing, torch.nn.Module) or (
        isinstance(thing, Sequence)
        and not isinstance(thing, str)
        and len(thing) > 0
        and all(isinstance(one, torch.nn.Module) for one in thing)
    )


def _without_manager(values: list[Any]) -> list[Any]:
    """Arguments whose first is the manager, where that was left out: those behind
    it go one place on, up to one that was given by name."""
    if not _is_model(values[0]):
        return values
    end = values.index(None) if None in values else len(values)
    return [None, *values[:end], *values[end + 1 :]]


def _need(face: str, **values: Any) -> None:
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise TypeError(f"{face} is given no {', '.join(missing)}")


def _about_manager(manager: Any) -> tuple[dict[str, str], list[str]]:
    """Options of the hub and remarks."""
    if isinstance(manager, Manager):
        if manager.min_replica_size > 1:
            return {"--nodes": str(manager.min_replica_size)}, []
        return {}, []
    if manager is None:
        return {}, []
    return {}, [
        f"{type(manager).__name__} as the manager is not used; what it is asked, "
        "such as current_step(), does not advance (starswitch.local_sgd.Manager "
        "does)"
    ]


def _at_least_one(sync_every: Any) -> int:
    if not sync_every >= 1 or sync_every % 1:
        raise ValueError(f"sync_every must be a whole number from 1, not {sync_every}")
    return int(sync_every)


class LocalSGD(_Face):
    """Parameters of all nodes are averaged every `sync_every` steps.

        with LocalSGD(None, model, optimizer, sync_every=20):
            for x, y in batches:
                optimizer.zero_grad()
                loss_of(model(x), y).backward()
                optimizer.step()

    LocalSGD(manager, model, optimizer, sync_every, **options): `manager` may be
    None or left out; `options` are those of `starswitch.attach` (hub, name, key
    and so on). The hub that does this: starswitch-hub --every 20 --delay 0
    --policy mean. With a delay above 0 no node waits for the network.
    ValueError: sync_every is no whole number from 1.
    """

    def __init__(
        self,
        manager: Any = None,
        model: Any = None,
        optimizer: Any = None,
        sync_every: Any = None,
        **options: Any,
    ) -> None:
        manager, model, optimizer, sync_every = _without_manager(
            [manager, model, optimizer, sync_every]
        )[:4]
        _need("LocalSGD", model=model, optimizer=optimizer, sync_every=sync_every)
        nodes, remarks = _about_manager(manager)
        asked = Asked(
            face="LocalSGD",
            every=_at_least_one(sync_every),
            delay=0,
            options={"--policy": "mean", **nodes},
            pull=0.0,
            remarks=remarks,
        )
        super().__init__(manager, model, optimizer, asked, options)


def _outer(optimizers: Sequence[Any]) -> tuple[dict[str, str], list[str]]:
    """The hub's options for torch's outer optimizers, and what differs."""
    first = optimizers[0]
    group = first.param_groups[0]
    remarks = []
    if isinstance(first, torch.optim.SGD):
        options = {
            "--outer-lr": number(group["lr"]),
            "--outer-momentum": number(group["momentum"]),
        }
        if group["momentum"] and not group["nesterov"]:
            remarks.append("the hub's momentum is Nesterov's (nesterov=True)")
        if group["dampening"] or group["weight_decay"]:
            remarks.append("the hub's outer step has no dampening or weight_decay")
    elif type(first) is torch.optim.Adam:
        options = {
            "--merge": "adam",
            "--outer-lr": number(group["lr"]),
            "--outer-momentum": number(group["betas"][0]),
        }
        remarks.append("the hub's Adam has beta2 = 0.99 and eps = 0.001")
    else:
        options = {}
        remarks.append(
            f"the hub has no {type(first).__name__} as the outer optimizer, but "
            "SGD with Nesterov's momentum, and Adam"
        )
    settings = ("lr", "momentum", "nesterov", "betas", "dampening", "weight_decay")
    for one in optimizers:
        for other in one.param_groups:
            if type(one) is not type(first) or any(
                other.get(name) != group.get(name) for name in settings
            ):
                remarks.append(
                    "the outer optimizers' groups differ, and the hub has one for "
                    "all: the first is meant"
                )
                return options, remarks
    return options, remarks


class DiLoCo(_Face):
    """Every `sync_every` steps the mean progress of all nodes goes through an
    outer optimizer, which is the hub's.

        outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9,
                                nesterov=True)
        with DiLoCo(None, [model], inner, outer, sync_every=20):
            ...

    DiLoCo(manager, model_fragments, inner_optimizer, outer_optimizer, sync_every,
    ..., fragment_sync_delay=0, fragment_update_alpha=0.0, **options): `manager`
    may be None or left out; model_fragments is a Module or several, which
    together are the model; outer_optimizer is one or several, of which the
    settings are read and step() is not called; `options` are those of
    `starswitch.attach`.
    The hub that does this: starswitch-hub --every 20 --delay fragment_sync_delay
    --policy diloco --outer-lr 0.7 --outer-momentum 0.9, and with several
    fragments --fragments F, which the hub cuts by size and not by module; with
    fragment_update_alpha above 0 --policy streaming --pull (1 - alpha).
    backup_device, pin_memory, use_bucketization, bucket_cap_mb and should_quantize
    are about memory and traffic, which a hub arranges: --codec-up and
    --codec-down say how values travel (int8 unless said).
    ValueError: sync_every below 1, a delay that is not below it, an alpha
    outside 0 to 1, no outer optimizer.
    """

    def __init__(
        self,
        manager: Any = None,
        model_fragments: Any = None,
        inner_optimizer: Any = None,
        outer_optimizer: Any = None,
        sync_every: Any = None,
        backup_device: Any = None,
        pin_memory: bool = True,
        use_bucketization: bool = False,
        bucket_cap_mb: int | None = None,
        should_quantize: bool = False,
        fragment_sync_delay: int = 0,
        fragment_update_alpha: float = 0.0,
        **options: Any,
    ) -> None:
        given = [manager, model_fragments, inner_optimizer, outer_optimizer, sync_every]
        manager, fragments, inner, outer, sync_every, *rest = _without_manager(given)
        if rest:
            backup_device = rest[0]
        _need(
            "DiLoCo",
            model_fragments=fragments,
            inner_optimizer=inner,
            outer_optimizer=outer,
            sync_every=sync_every,
        )
        every = _at_least_one(sync_every)
        if not 0 <= fragment_sync_delay < every or fragment_sync_delay % 1:
            raise ValueError(
                "fragment_sync_delay must be a whole number below sync_every "
                f"({every}), not {fragment_sync_delay}"
            )
        if not 0 <= fragment_update_alpha <= 1:
            raise ValueError(
                f"fragment_update_alpha must be from 0 to 1, not "
                f"{fragment_update_alpha}"
            )
        outers = list(outer) if isinstance(outer, (list, tuple)) else [outer]
        if not outers:
            raise ValueError("DiLoCo needs an outer optimizer")
        models: torch.nn.Module | dict[str, torch.nn.Module]
        if isinstance(fragments, torch.nn.Module):
            models, count = fragments, 1
        elif len(fragments) == 1:
            models, count = fragments[0], 1
        else:
            models = {str(i): one for i, one in enumerate(fragments)}
            count = len(fragments)
        nodes, remarks = _about_manager(manager)
        numbers, differs = _outer(outers)
        hub = {"--policy": "diloco", **numbers, **nodes}
        if count > 1:
            hub["--fragments"] = str(count)
        if fragment_update_alpha > 0:
            hub["--policy"] = "streaming"
            hub["--pull"] = number(1 - fragment_update_alpha)
        unused = {
            "backup_device": backup_device is not None,
            "pin_memory": not pin_memory,
            "use_bucketization": use_bucketization,
            "bucket_cap_mb": bucket_cap_mb is not None,
            "should_quantize": should_quantize,
        }
        names = [name for name, is_given in unused.items() if is_given]
        if names:
            logger.info(
                "DiLoCo: not used, as the hub arranges it: %s", ", ".join(names)
            )
        asked = Asked(
            face="DiLoCo",
            every=every,
            delay=int(fragment_sync_delay),
            options=hub,
            pull=1 - fragment_update_alpha if fragment_update_alpha > 0 else 0.0,
            remarks=[*remarks, *differs],
        )
        super().__init__(manager, models, inner, asked, options)
