"""What the faces share: a script that is spelled for another library asks for
things that a hub decides here, such as how often nodes exchange and how the hub
merges. What it asks for is compared with what the hub does, and said in the log,
with the command that starts a hub which does it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from . import _library as c
from . import attach
from ._link import Link, Parameters, State
from .torch import unwrap_optimizer

logger = logging.getLogger("starswitch")

LOOK_EVERY = 0.05  # seconds, while no hub is there
STAYS = 5  # exchanges with the same k; a tournament has fewer
PATIENCE = 10  # exchanges; a leader is sent no results to learn from
NEAR = 1e-6  # strengths that differ by less are the same


def is_over(link: Link | None) -> bool:
    """The run has ended. Who was refused trains on alone: for it nothing has."""
    return link is not None and link._advice == c.star_advice.STAR_STOP


def is_inert(link: Link) -> bool:
    """It will never attach: disabled, another rank's, or at its end."""
    return link._handle is None and link._name is None


def number(value: Any) -> str:
    """As an option of the hub: 0.7, and no 0.699999988."""
    return f"{float(value):g}"


@dataclass(frozen=True)
class Asked:
    """What a script asks of its hub.

    face: who asks, "DiLoCo".
    every, delay: k and d, iterations; None: it does not say.
    options: of the hub beside these, {"--policy": "easgd"}.
    anchor: the whole local pull of a period (--anchor); None: it does not say.
    pull: how far a result pulls (--pull), 0 where results are corrections that
        are added; None: it does not say.
    remarks: what of it a hub has nothing for, a sentence each.
    """

    face: str
    every: int | None
    delay: int | None
    options: Mapping[str, str] = field(default_factory=dict)
    anchor: float | None = None
    pull: float | None = None
    remarks: Sequence[str] = ()

    @property
    def command(self) -> str:
        """The command line of a hub that does what is asked for."""
        words = ["starswitch-hub"]
        if self.every is not None:
            words += ["--every", str(self.every)]
        if self.delay is not None:
            words += ["--delay", str(self.delay)]
        for name, value in self.options.items():
            words += [name, value]
        return " ".join(words)


class _Watched:
    """Parameters, whose changes are noted as they pass: (keep, scale)."""

    def __init__(self, inner: Parameters) -> None:
        self._inner = inner
        self.seen: list[float] = []

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        self.seen.append(keep)
        self._inner.change(keep, scale, values, first, count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Check:
    """Compares what a script asks for with what its hub does: `begin` with the
    link, then `step` for each iteration; once all is known that does nothing.

    A node is told k and d when a hub takes it in; k is another one during a
    tournament of first parameters, so that what differs is said only when it
    stays. A node is not told the hub's policy, but sees how its parameters are
    changed: by adding, or by being pulled, and how far."""

    def __init__(self, asked: Asked) -> None:
        self._link: Link | None = None
        self._asked = asked
        self._looked = 0.0
        self._known = False  # k and d have been compared
        self._every = 0  # that was seen last
        self._since = 0  # exchanges begun when it was first seen
        self._applied = 0
        self._anchor: bool | None = None  # whether the hub has one
        self._watched: _Watched | None = None
        self._owner: Link | None = None  # of what is watched
        for remark in asked.remarks:
            logger.warning("%s: %s", asked.face, remark)

    def begin(self, link: Link) -> None:
        if is_inert(link):
            return
        self._link = link
        logger.info(
            "%s: the hub decides how often nodes exchange and how it merges; "
            "one that does what this script asks for: %s",
            self._asked.face,
            self._asked.command,
        )
        if self._asked.anchor is not None or self._asked.pull is not None:
            self._owner = link
            self._watched = _Watched(link._parameters)
            link._parameters = cast(Parameters, self._watched)
        link._unhook.append(self._finish)

    def step(self, *_: Any) -> None:
        """Before or after an iteration of the link, at all in the same way."""
        link = self._link
        if link is None or link._handle is None:
            return
        now = time.monotonic()
        if not self._every and now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        state = link.state()
        if not self._every and not (state.attached and state.every):
            return
        if not self._known:
            self._compare_times(state)
        if self._watched is not None:
            seen, self._watched.seen = self._watched.seen, []
            self._compare_changes(seen, state.applied, state.every)
            if state.offered > PATIENCE:
                self._unwatch()
        if self._known and self._watched is None:
            self._link = None

    def _finish(self) -> None:
        """The link ends: says what would have been said later."""
        link, self._link = self._link, None
        self._unwatch()
        if link is not None and self._every and not self._known:
            state = link.state()
            self._say_times(state.every, state.delay)

    def _compare_times(self, state: State) -> None:
        asked = self._asked
        if asked.every in (None, state.every) and asked.delay in (None, state.delay):
            self._known, self._every = True, state.every
            logger.info(
                "%s: nodes exchange every %d iterations, with a delay of %d, as asked",
                asked.face,
                state.every,
                state.delay,
            )
        elif state.every != self._every:
            self._every, self._since = state.every, state.offered
        elif state.offered - self._since >= STAYS:
            self._say_times(state.every, state.delay)

    def _say_times(self, every: int, delay: int) -> None:
        self._known = True
        asked = self._asked
        wanted = []
        if asked.every is not None:
            wanted.append(f"every {asked.every}")
        if asked.delay is not None:
            wanted.append(f"a delay of {asked.delay}")
        logger.warning(
            "%s: the hub has nodes exchange every %d iterations, with a delay of "
            "%d; this script asks for %s. The hub's word holds; to have it as the "
            "script says, start it so: %s",
            asked.face,
            every,
            delay,
            " and ".join(wanted),
            asked.command,
        )

    def _differs(self, what: str) -> None:
        logger.warning("%s: %s: %s", self._asked.face, what, self._asked.command)

    def _compare_changes(self, seen: list[float], applied: int, every: int) -> None:
        """What one iteration has done to the parameters: without a result only
        the anchor moves them, else that and then the result."""
        assert self._watched is not None
        came = applied != self._applied
        self._applied = applied
        if every == 1:  # each iteration has a result: what moves cannot be told
            self._anchor = bool(self._asked.anchor)
        elif not came and applied and self._anchor is None:
            self._anchor = bool(seen)
            self._compare_anchor((1 - seen[0]) * every if seen else 0.0, every)
        if came and self._anchor is not None:
            if self._asked.pull is not None and seen[int(self._anchor) :]:
                self._compare_pull(seen[-1])
            self._unwatch()

    def _unwatch(self) -> None:
        if self._watched is not None and self._owner is not None:
            self._owner._parameters = self._watched._inner
        self._watched = None

    def _compare_anchor(self, found: float, every: int) -> None:
        wanted = self._asked.anchor
        if wanted is not None and abs(found - wanted) > NEAR * every:
            self._differs(
                f"the hub pulls nodes by {number(found)} to its last result in "
                f"each period, and this script asks for {number(wanted)}; a hub "
                "that does so"
            )

    def _compare_pull(self, keep: float) -> None:
        wanted = self._asked.pull
        found = 1 - keep
        # All of the way: other parameters were taken over, as at the start.
        if wanted is None or found == 1 or abs(found - wanted) <= NEAR:
            return
        if wanted == 0:
            text = (
                f"the hub pulls nodes by {number(found)}, which is another policy "
                "than this script asks for; a hub with that"
            )
        elif found == 0:
            text = (
                "the hub's results are added to the parameters, which is another "
                "policy than this script asks for; a hub with that"
            )
        else:
            text = (
                f"the hub pulls nodes by {number(found)}, and this script asks for "
                f"{number(wanted)}; a hub that does so"
            )
        self._differs(text)


def attach_as(
    asked: Asked, model: Any, optimizer: Any, options: dict[str, Any]
) -> Link:
    """A link whose hub is compared with what is asked for, at each step of the
    optimizer."""
    check = Check(asked)
    # Before the link's own hook, which at the end of a run takes hooks away: who
    # comes behind one that does would be missed by torch.
    clock = unwrap_optimizer(optimizer)
    if clock is None:
        raise TypeError(f"{type(optimizer).__name__} is no torch.optim.Optimizer")
    hook = clock.register_step_post_hook(check.step)
    try:
        link = attach(model, optimizer, **options)
    except BaseException:
        hook.remove()
        raise
    check.begin(link)
    if is_inert(link):
        hook.remove()
    else:
        link._unhook.append(hook.remove)
    return link
