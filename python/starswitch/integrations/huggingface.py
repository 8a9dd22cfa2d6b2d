"""Hugging Face's Trainer.

    from starswitch.integrations.huggingface import StarswitchCallback

    trainer = Trainer(model, args, train_dataset=data,
                      callbacks=[StarswitchCallback()])
    trainer.train()

or, for evaluations of what the hub holds instead of this node's replica,

    from starswitch.integrations.huggingface import patch

    patch(trainer)
    trainer.train()
"""

from __future__ import annotations

import functools
import logging
import math
from typing import Any

from .. import attach
from .._faces import is_over
from .._link import Link

try:
    from transformers import Trainer, TrainerCallback
except ImportError as error:
    raise ImportError(
        "starswitch.integrations.huggingface needs transformers: "
        "pip install transformers"
    ) from error

logger = logging.getLogger("starswitch")

__all__ = ["StarswitchCallback", "patch"]


class StarswitchCallback(TrainerCallback):
    """Attaches when training begins and leaves when it ends.

        Trainer(..., callbacks=[StarswitchCallback(hub="192.168.1.10")])

    options: of `starswitch.attach`: hub, name, key, params, buffers and so on.

    What is reported: samples of each step, batch size times accumulation steps
    (the link counts those of the PC's other processes), and the training loss as
    often as the Trainer logs it (logging_steps; policies that compare nodes want
    that to be at most the hub's --every). When the run ends (--goal, --iterations,
    --time), so does training. `link` is the link, from the beginning of training on.
    """

    def __init__(self, **options: Any) -> None:
        self.link: Link | None = None
        self._trains = False
        self._options = options
        self._samples = 1

    def on_train_begin(
        self, args: Any, state: Any, control: Any, **kwargs: Any
    ) -> None:
        model, optimizer = kwargs.get("model"), kwargs.get("optimizer")
        if model is None or optimizer is None:
            raise ValueError(
                "the Trainer has no model or no optimizer when training begins"
            )
        self._samples = args.train_batch_size * args.gradient_accumulation_steps
        self.link = attach(model, optimizer, **self._options)
        self._trains = True

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.link is not None:
            self.link.report(samples=self._samples)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if is_over(self.link) and not control.should_training_stop:
            logger.info("training stops, as the run is over")
            control.should_training_stop = True

    def on_log(
        self,
        args: Any,
        state: Any,
        control: Any,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        loss = (logs or {}).get("loss")
        if self.link is not None and loss is not None and math.isfinite(float(loss)):
            self.link.report(loss=float(loss))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._trains = False
        if self.link is not None:
            self.link.detach()


def patch(trainer: Trainer, **options: Any) -> StarswitchCallback:
    """Lets a Trainer take part: adds a StarswitchCallback, if it has none, and has
    its evaluate() see what the hub holds (Link.center) while it trains, as there is
    no callback before it. Returns the callback; a second call changes nothing.

        callback = patch(trainer, hub="192.168.1.10")
        trainer.train()

    ValueError: options, and the trainer has a callback with its own.
    """
    callbacks = trainer.callback_handler.callbacks
    found = [one for one in callbacks if isinstance(one, StarswitchCallback)]
    if found and options:
        raise ValueError("the trainer has a StarswitchCallback with its own options")
    callback = found[0] if found else StarswitchCallback(**options)
    if not found:
        trainer.add_callback(callback)
    evaluate = trainer.evaluate
    patched: object = getattr(evaluate, "_starswitch", None)
    if patched is callback:
        return callback

    @functools.wraps(evaluate)
    def evaluate_center(*args: Any, **kwargs: Any) -> Any:
        link = callback.link
        if link is None or not callback._trains:
            return evaluate(*args, **kwargs)
        with link.center(all_ranks=True):
            return evaluate(*args, **kwargs)

    evaluate_center._starswitch = callback  # type: ignore[attr-defined]
    trainer.evaluate = evaluate_center  # type: ignore[method-assign]
    return callback
