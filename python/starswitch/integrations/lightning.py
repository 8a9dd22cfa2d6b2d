"""Lightning, as `lightning` or `pytorch_lightning`.

from starswitch.integrations.lightning import StarswitchCallback

trainer = Trainer(callbacks=[StarswitchCallback()])
trainer.fit(module, data)
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from .. import attach
from .._faces import is_over
from .._link import Link
from ..torch import unwrap, unwrap_optimizer

# The one of the two that the script uses, where both are installed.
if TYPE_CHECKING:
    from lightning.pytorch.callbacks import Callback
else:
    try:
        if "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:
            from pytorch_lightning.callbacks import Callback
        else:
            try:
                from lightning.pytorch.callbacks import Callback
            except ImportError:
                from pytorch_lightning.callbacks import Callback
    except ImportError as error:
        raise ImportError(
            "starswitch.integrations.lightning needs lightning or pytorch_lightning: "
            "pip install lightning"
        ) from error

logger = logging.getLogger("starswitch")

__all__ = ["StarswitchCallback"]


def _samples(batch: Any) -> int:
    """Of a batch: the first dimension of the first tensor in it; 0: none found."""
    if isinstance(batch, torch.Tensor):
        return int(batch.shape[0]) if batch.ndim else 1
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        for one in batch:
            found = _samples(one)
            if found:
                return found
    return 0


class StarswitchCallback(Callback):
    """Attaches when fit begins and leaves when it ends, or fails.

        Trainer(callbacks=[StarswitchCallback(hub="192.168.1.10")])

    clock: which optimizer's step ends an iteration, where there are several, as
        with a GAN: its place in configure_optimizers.
    options: of `starswitch.attach`: hub, name, key, params, buffers and so on.

    What is reported: the samples of each batch, and what training_step returns
    as its loss. Validation during fit sees what the hub holds instead of this
    node's replica (Link.center). When the run ends, so does fit. A checkpoint
    holds the replica and the node's name, so that who resumes is the same node.
    `link` is the link, from the beginning of fit on.
    """

    def __init__(self, clock: int = 0, **options: Any) -> None:
        super().__init__()
        self.link: Link | None = None
        self._clock = clock
        self._options = options
        self._inside = ExitStack()
        self._saved: dict[str, Any] | None = None
        self._gathered = 0  # samples of the iteration that is under way

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        optimizers = trainer.optimizers
        if not optimizers:
            raise ValueError("the module has no optimizer: nothing would be exchanged")
        if not 0 <= self._clock < len(optimizers):
            raise ValueError(
                f"clock is {self._clock}, and there are {len(optimizers)} optimizers"
            )
        if len(optimizers) > 1:
            logger.info(
                "of %d optimizers number %d, %s, ends an iteration with its step",
                len(optimizers),
                self._clock,
                type(optimizers[self._clock]).__name__,
            )
        options = dict(self._options)
        if self._saved is not None and options.get("name") is None:
            options["name"] = self._saved["name"] or None
        # As the strategy has wrapped it: DDP says who else trains this model.
        wrapped = trainer.model
        model = wrapped if unwrap(wrapped) is pl_module else pl_module
        self.link = attach(model, optimizers[self._clock], **options)
        if self._saved is not None:
            self.link.load_state_dict(self._saved)

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        self._gathered += _samples(batch)

    def on_before_optimizer_step(
        self, trainer: Any, pl_module: Any, optimizer: Any
    ) -> None:
        clock = unwrap_optimizer(trainer.optimizers[self._clock])
        if self.link is None or unwrap_optimizer(optimizer) is not clock:
            return
        if self._gathered:
            self.link.report(samples=self._gathered)
        self._gathered = 0

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.link is None:
            return
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if isinstance(loss, (torch.Tensor, float)):
            self.link.report(loss=loss)
        if is_over(self.link) and not trainer.should_stop:
            logger.info("fit stops, as the run is over")
            trainer.should_stop = True

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        fits = trainer.state.fn == "fit"
        if self.link is not None and fits and not trainer.sanity_checking:
            self._inside.enter_context(self.link.center(all_ranks=True))

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._inside.close()

    def on_exception(
        self, trainer: Any, pl_module: Any, exception: BaseException
    ) -> None:
        self._leave()

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside.close()
        if self.link is not None:
            self.link.detach()

    def state_dict(self) -> dict[str, Any]:
        if self.link is None:
            return {} if self._saved is None else dict(self._saved)
        return self.link.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._saved = dict(state_dict) if state_dict else None
