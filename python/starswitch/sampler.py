"""Which samples this node trains on.

    sampler = starswitch.Sampler(dataset, link, batch_size=64)
    loader = DataLoader(dataset, batch_size=64, sampler=sampler, num_workers=4)
    for epoch in range(10):
        for x, y in loader:
            ...
            optimizer.step()

A hub with --tasks cuts an epoch into parts and keeps a ledger of them. A part is
a node's until all of its samples have been stepped on, which is told before the
link's step of its last iteration, or until the node is lost, when another gets
it; a hub that was killed asks its nodes what they have. So each sample is merged
into the centre once per epoch, whatever dies; fast nodes do more parts. Progress
that the hub did not merge does not count: its samples are trained on again. That of
a lost node is such, and that of a node whose parameters are replaced, as by --init
tournament, or as it trained before it was in the run. Without such a hub each node
goes through a share of its own, one n-th of n nodes; alone, through all.

A loader with workers draws samples long before they are trained on, and so a
sample counts as trained on when the optimizer has stepped: samples are drawn and
trained on in the same order, and `batch_size` and `accumulate`, or
`link.report(samples=len(x))`, say how many of them a step is. What was drawn and
not trained on (a last batch that drop_last leaves out, a loop that was left) is
drawn again in the next pass, and that goes on with the part that was being drawn.
"""

from __future__ import annotations

import hashlib
import math
import operator
import sys
import time
from collections import deque
from collections.abc import Iterator, Sized
from ctypes import byref, sizeof
from dataclasses import dataclass
from typing import Any

from . import _library as c
from ._link import Link

LOOK_EVERY = 64  # draws between two looks at the link
IDLE = 0.005  # seconds between two looks for a task
FIRST_TASK = 5.0  # seconds within which a hub with tasks gives the first
MASK = (1 << 64) - 1


class Order:
    """A permutation of 0..n-1 that needs no memory: a Feistel network over the
    smallest rectangle that holds n (Black and Rogaway, Ciphers with arbitrary
    finite domains, 2002), walked until it is inside. The same on all machines."""

    def __init__(self, n: int, seed: int, epoch: int) -> None:
        self._n = n
        self._wide = math.isqrt(max(0, n - 1)) + 1
        self._high = max(1, -(-n // self._wide))
        digest = hashlib.blake2b(f"{seed}/{epoch}".encode(), digest_size=48).digest()
        keys = [int.from_bytes(digest[i : i + 8], "little") for i in range(0, 48, 8)]
        self._keys = list(zip(keys[::2], keys[1::2], strict=True))

    def __getitem__(self, i: int) -> int:
        wide, high = self._wide, self._high
        while True:
            high_part, low_part = divmod(i, wide)
            for one, other in self._keys:
                low_part = (low_part + _mix(high_part, one)) % wide
                high_part = (high_part + _mix(low_part, other)) % high
            i = low_part + wide * high_part
            if i < self._n:
                return i


def _in_a_group() -> bool:
    """Whether this process is one of a process group of torch."""
    dist = sys.modules.get("torch.distributed")
    return dist is not None and dist.is_available() and dist.is_initialized()


def _whole(name: str, value: Any) -> int:
    """As an int, of whatever type: an order is told by the seed as it is written."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None


def _mix(value: int, key: int) -> int:
    x = (value * 0x9E3779B97F4A7C15 + key) & MASK
    x ^= x >> 29
    return (x * 0xBF58476D1CE4E5B9 & MASK) >> 32


@dataclass(eq=False)
class Task:
    """A part of an epoch, as the hub gave it."""

    id: int
    epoch: int
    part: int
    parts: int
    left: int = 0  # samples not trained on yet
    drawn: int = 0  # samples, also those that are to be drawn again
    given: int = 1  # times, as the library counts
    lost: bool = False  # the hub gives it to another

    def places(self, n: int) -> range:
        """Where its samples are in the epoch's order."""
        return range(n * self.part // self.parts, n * (self.part + 1) // self.parts)


@dataclass
class _Drawn:
    """A sample that was drawn and perhaps not trained on."""

    index: int
    task: Task | None
    behind: tuple[int, int] = (0, 0)  # epoch and position to go on from after it


class Sampler:
    """Numbers of samples, for a DataLoader's `sampler`; torch is not needed.

    data: a dataset, or anything that has a length, or the length.
    link: of `starswitch.attach`; None: this node is alone. ValueError: several
        processes train one model, as with DDP; a DistributedSampler is for these.
    batch_size, accumulate: samples of a batch, and batches of a step. Without
        batch_size a step is what `link.report(samples=...)` says, and without
        that all that was drawn so far: right for loaders that draw no sample
        ahead (num_workers=0).
        Where drop_last leaves samples out and the last step of a pass may be of
        fewer batches than `accumulate`, report, and give no batch_size.
    shuffle, seed: each epoch has an order of its own, told by seed and epoch and
        by nothing else; the seed must be the same on all nodes.
    fill: while the hub has no task to give, as at the end of an epoch until the
        others' progress has been merged, train on nothing (None, False) or on
        samples of the node's own share (True): then nothing waits, and these
        samples are trained on more than once. None: while the hub is away, the
        node trains on its own share. False: it waits then, too. A hub with tasks
        that has just taken the node in has 5 s to give the first one.

    With tasks a pass is an epoch of the hub's, as much of it as this node does. It
    may be a part of that, as where the tasks of a node that was lost come later,
    so count no passes: `while not link.over: for x, y in loader: ...`. When the
    run's last epoch is done, `over` is true, that of the link, too, and passes are
    empty.
    """

    def __init__(
        self,
        data: Sized | int,
        link: Link | None = None,
        *,
        batch_size: int | None = None,
        accumulate: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        fill: bool | None = None,
    ) -> None:
        self._n = data if isinstance(data, int) else len(data)
        if self._n < 1:
            raise ValueError("there are no samples")
        if link is not None and not hasattr(link, "_watchers"):
            raise TypeError(f"link must be what attach returned, not {link!r}")
        if link is not None and (link._crew or (link._find_ranks and _in_a_group())):
            raise ValueError(
                "link is of several processes that train one model, and a Sampler "
                "knows one: give each its part by a DistributedSampler, with another "
                "seed on each PC"
            )
        batch_size = None if batch_size is None else _whole("batch_size", batch_size)
        accumulate, seed = _whole("accumulate", accumulate), _whole("seed", seed)
        if (batch_size is not None and batch_size < 1) or accumulate < 1:
            raise ValueError("batch_size and accumulate must be at least 1")
        self._link = link
        self._step = None if batch_size is None else batch_size * accumulate
        self._shuffle, self._seed, self._fill = shuffle, seed, fill
        self._epoch = 0  # of the next pass
        self._pass = 0
        self._shard, self._shards = 0, 1
        self._resume = 0  # a position in the node's own share
        self._at = (0, 0)  # epoch and position: all before was trained on
        self._drawn: deque[_Drawn] = deque()
        self._tasks: dict[int, Task] = {}
        self._again: deque[_Drawn] = deque()  # drawn in a pass that was left
        self._open: Task | None = None  # being drawn, also by a pass that was left
        self._hand: Task | None = None  # of the next epoch
        self._trained_count = 0
        self._told = 0  # samples reported for the next step, counted already
        self._reports: bool | None = None  # whether the loop reports samples
        self._deferred = 0  # samples of the first step, until that is known
        self._attached = False
        self._gives = False  # the hub that is there gives out tasks
        self._since: float | None = None  # the hub is there and has given none
        self._tasks_over = False
        self._given_any = False
        if link is not None:
            for former in link._watchers:
                former._before_detach()  # a notebook's cell that ran before
            link._watchers[:] = [self]
        self._look()

    # ---- what torch asks ----

    def __len__(self) -> int:
        """Samples of a pass, as far as that is known: the node's share."""
        return max(0, -(-(self._n - self._shard) // self._shards))

    def set_epoch(self, epoch: int) -> None:
        """The next pass has this epoch's order; without it, the next one's. The
        order of tasks is by the hub's epochs."""
        epoch = _whole("epoch", epoch)
        if epoch != self._epoch:
            self._epoch, self._resume = epoch, 0

    def __iter__(self) -> Iterator[int]:
        self._pass += 1
        return self._draw(self._pass)

    @property
    def over(self) -> bool:
        """The run has ended: the hub's last epoch is done, or it was told to."""
        if self._link is not None and self._link._advice == c.star_advice.STAR_STOP:
            return True
        return self._tasks_over

    # ---- drawing ----

    def _draw(self, number: int) -> Iterator[int]:
        own = self._own_share(self._epoch, self._resume)
        self._at = (self._epoch, self._resume)
        self._epoch, self._resume = self._epoch + 1, 0
        self._settle()
        self._again.extendleft(one for one in reversed(self._drawn) if one.task)
        self._drawn.clear()
        again = any(one.task and not one.task.lost for one in self._again)
        stuck = again and self._trained_count == 0
        self._trained_count = 0
        while self._again:
            one = self._again.popleft()
            if one.task is None or one.task.lost:
                continue
            self._drawn.append(one)
            yield one.index
            if number != self._pass:
                return
        epoch: int | None = None
        empty = not again
        while number == self._pass:
            self._look()
            task = self._next_task()
            if task is not None and epoch is not None and task.epoch > epoch:
                self._hand = task
                break
            if task is not None:
                epoch, empty = task.epoch, False
                yield from self._draw_task(task, number)
            elif self.over and self._given_any:
                if empty and self._link is not None:
                    self._link._hear()
                break
            elif stuck or not self._waits():
                place = next(own, None)
                if place is None:
                    break
                empty = False
                yield place
                stuck = stuck and any(one.task for one in self._drawn)
            elif self._drawn:
                return  # so that the loader hands out what it holds
            else:
                self._idle()

    def _draw_task(self, task: Task, number: int) -> Iterator[int]:
        order = Order(self._n, self._seed, task.epoch) if self._shuffle else None
        places = task.places(self._n)
        self._open = task
        while task.drawn < len(places):
            if task.lost or number != self._pass:
                return
            place = places[task.drawn]
            task.drawn += 1
            index = place if order is None else order[place]
            self._drawn.append(_Drawn(index, task))
            yield index
            if place % LOOK_EVERY == 0:
                self._look()
        self._open = None

    def _own_share(self, epoch: int, position: int) -> Iterator[int]:
        """Every n-th of the epoch's order, for n nodes; from where they are when
        their number changes."""
        order = Order(self._n, self._seed, epoch) if self._shuffle else None
        while True:
            position += (self._shard - position) % self._shards
            if position >= self._n:
                return
            index = position if order is None else order[position]
            position += 1
            behind = (epoch, position)
            if position + (self._shard - position) % self._shards >= self._n:
                behind = (epoch + 1, 0)
            if self._is_live():
                self._drawn.append(_Drawn(index, None, behind))
            else:
                self._at = behind
            yield index

    def _idle(self) -> None:
        assert self._link is not None
        time.sleep(IDLE)
        if self._given_any or self._gives:
            self._link.idle()

    # ---- tasks ----

    def _is_live(self) -> bool:
        return self._link is not None and self._link._handle is not None

    def _waits(self) -> bool:
        """Whether to train on nothing now, as there is no task: not while the hub
        is away, and one that may have none at all must not cut a pass short."""
        if self._fill:
            return False
        if self._fill is None and (
            not self._attached or (self._drawn and not self._given_any)
        ):
            return False
        return self._expects_tasks()

    def _expects_tasks(self) -> bool:
        """Whether to wait for a task: the hub has given some, or is new."""
        if not self._is_live():
            return False
        if self._given_any:
            return True
        if not self._attached or not self._gives:
            return False
        if self._since is None:
            self._since = time.monotonic()
        return time.monotonic() - self._since < FIRST_TASK

    def _next_task(self) -> Task | None:
        open, self._open = self._open, None
        if open is not None and not open.lost:
            return open
        if self._hand is not None:
            task, self._hand = self._hand, None
            if not task.lost:
                return task
        if not self._is_live():
            return None
        assert self._link is not None
        raw = c.star_task(size=sizeof(c.star_task))
        answer = self._link._lib.star_task_next(self._link._handle, byref(raw))
        if answer == c.star_next.STAR_TASKS_OVER:
            self._tasks_over = True
            return None
        if answer != c.star_next.STAR_TASK:
            return None
        self._given_any = True
        known = self._tasks.get(raw.id)
        if known is not None:  # the hub has forgotten that it is ours, and again is
            known.given += 1
            return self._next_task()
        task = Task(raw.id, raw.epoch, raw.part, raw.parts)
        task.left = len(task.places(self._n))
        self._tasks[task.id] = task
        if not task.left:  # more parts than samples
            self._end(task, True)
            return self._next_task()
        return task

    def _end(self, task: Task, ok: bool) -> None:
        self._tasks.pop(task.id, None)
        task.lost = not ok
        if self._link is None or self._link._handle is None:
            return
        for _ in range(task.given):
            self._link._lib.star_task_done(self._link._handle, task.id, int(ok))

    def _look(self) -> None:
        """Whose share is what, and whether the hub is there. Tasks stay in hand
        while it is not: the node tells it of them when it is back."""
        if not self._is_live():
            return
        assert self._link is not None
        state = self._link.state()
        if state.shards and state.shard < state.shards:
            self._shard, self._shards = state.shard, state.shards
        self._attached = state.attached
        self._gives = state.tasks > 0

    # ---- what the link tells ----

    def _before_step(self, reported: int | None) -> None:
        """The samples of an iteration have been trained on. `reported`: how many
        of them, if the loop said so."""
        if self._step is not None:
            self._trained(self._step)
        elif reported is not None:
            self._reports = True
            self._trained(reported - self._told)
            self._told = self._deferred = 0
        elif self._reports is None and not self._deferred:
            self._deferred = len(self._drawn)  # a report may come behind the step
        elif not self._reports:
            self._reports = False
            self._trained(len(self._drawn))

    def _settle(self) -> None:
        """Counts what was reported behind the last step."""
        if self._step is not None or self._link is None:
            return
        reported = self._link._samples
        if reported:
            self._trained(reported - self._told)
            self._told = reported
        elif self._reports is None:
            self._trained(self._deferred)
        self._deferred = 0

    def _trained(self, samples: int) -> None:
        for _ in range(min(samples, len(self._drawn))):
            one = self._drawn.popleft()
            self._trained_count += 1
            task = one.task
            if task is None:
                self._at = one.behind
                continue
            task.left -= 1
            if not task.left and not task.lost:
                self._end(task, True)

    def _before_detach(self) -> None:
        self._settle()
        for task in list(self._tasks.values()):
            self._end(task, False)

    # ---- saving ----

    def state_dict(self) -> dict[str, int]:
        """Where this node is in its own share of the epoch: what was trained on,
        not what was drawn. Tasks are in the hub's ledger."""
        return {
            "format": 1,
            "epoch": self._at[0],
            "position": self._at[1],
            "seed": self._seed,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next pass goes on where that one was."""
        if not isinstance(state, dict) or state.get("format") != 1:
            raise ValueError("this is no state of a starswitch Sampler")
        if state["seed"] != self._seed:
            raise ValueError(f"the seed was {state['seed']} and is {self._seed}")
        if not 0 <= state["position"] <= self._n:
            raise ValueError(
                f"the state is of other data: its position is {state['position']}, of "
                f"{self._n} samples"
            )
        self._epoch, self._resume = int(state["epoch"]), int(state["position"])
        self._at = (self._epoch, self._resume)
