"""accelerate's spelling of LocalSGD.

    from starswitch.integrations.accelerate import LocalSGD

    with LocalSGD(accelerator=accelerator, model=model, local_sgd_steps=8) as s:
        for x, y in batches:
            with accelerator.accumulate(model):
                loss = loss_of(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
                s.step()

A script changes its import. The processes that accelerate starts on one PC are one
node, whose gradients are averaged at each step as without LocalSGD; what is
exchanged less often is between PCs. So it works with one process, too.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from .. import attach
from .._faces import Asked, Check, is_over
from .._link import Link

try:
    from accelerate import Accelerator, DistributedType
except ImportError as error:
    raise ImportError(
        "starswitch.integrations.accelerate needs accelerate: pip install accelerate"
    ) from error

__all__ = ["LocalSGD"]

PLAIN = ("NO", "MULTI_CPU", "MULTI_GPU", "MULTI_XPU", "MULTI_NPU", "MULTI_HPU")


class LocalSGD:
    """Parameters of all nodes are averaged every `local_sgd_steps` steps.

        with LocalSGD(accelerator=accelerator, model=model, local_sgd_steps=8) as s:
            ...
            s.step()

    model: as accelerator.prepare returned it, or as it was before.
    local_sgd_steps: what the script asks for; how often nodes exchange is the
        hub's choice, and where the two differ the log says so. The hub that does
        this: starswitch-hub --every 8 --delay 0 --policy mean.
    enabled: False: nothing is done.
    options: of `starswitch.attach`: hub, name, key and so on.

    The clock is the optimizer that accelerate has prepared, where it is one: with
    gradient accumulation an iteration is a step of that, not a batch. Else
    step() is the clock. `link` is the link.
    NotImplementedError: the model lies in parts (DeepSpeed, FSDP, Megatron).
    """

    def __init__(
        self,
        accelerator: Accelerator,
        model: Any,
        local_sgd_steps: int,
        enabled: bool = True,
        **options: Any,
    ) -> None:
        if local_sgd_steps < 1:
            raise ValueError(f"local_sgd_steps must be at least 1: {local_sgd_steps}")
        kind = DistributedType(accelerator.distributed_type).name
        if enabled and kind not in PLAIN:
            raise NotImplementedError(
                f"LocalSGD needs the whole model in each process, and with {kind} "
                "each has a part"
            )
        self.enabled = enabled
        self.num_steps = 0
        self.link: Link | None = None
        self._accelerator = accelerator
        self._model = model
        self._options = options
        self._check: Check | None = None
        self._by_hand = False
        self._asked = Asked(
            face="LocalSGD",
            every=local_sgd_steps,
            delay=0,
            options={"--policy": "mean"},
            pull=0.0,
        )

    def __enter__(self) -> LocalSGD:
        if not self.enabled:
            return self
        prepared = list(self._accelerator._optimizers)
        self._by_hand = len(prepared) != 1
        optimizer = None if self._by_hand else prepared[0]
        self.link = attach(self._model, optimizer, **self._options)
        self._check = Check(self._asked)
        self._check.begin(self.link)
        return self

    def step(self) -> None:
        """After each optimizer.step(), as in accelerate. Where gradients are only
        gathered, or the step was skipped for an infinity, it ends no
        iteration."""
        self.num_steps += 1
        if self.link is None or self._check is None:
            return
        if self._by_hand and self._accelerator.sync_gradients:
            if self._accelerator.optimizer_step_was_skipped:
                self.link.skip()
            else:
                self.link.step()
        self._check.step()

    def report(self, **measured: Any) -> None:
        """As Link.report: loss, samples, accuracy."""
        if self.link is not None:
            self.link.report(**measured)

    @property
    def over(self) -> bool:
        """The run has ended: leave the loop."""
        return is_over(self.link)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.link is not None:
            self.link.detach()
