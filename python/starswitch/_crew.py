"""The ranks of a torch.distributed run as members of the hub's group: who they are
after each change, one thread that makes their collectives in order, and one for
messages.

What is called back when a collective is done (`then` of its future) is called on the
thread for collectives, and its own collectives are made there and then: all ranks
make them in the same order, whenever `then` was said, and it can wait for them. What
waits for anything else there makes way: another thread goes on with collectives.

A rank is a number of torch; a place is the hub's rank of a member, which is another
one and changes when members are lost. After each change of the membership all tell
each other who they are (the hello), so that places and ranks can be matched, and so
that a process of another run, or one that was started again, is noticed: it cannot
take part, as it lacks what the others have done, and leaves.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import queue
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable
from ctypes import addressof, byref, c_size_t, create_string_buffer
from typing import Any

from . import _library as c
from ._memory import Place
from .errors import Closed, StarswitchError
from .group import CLOSING, SLICE, Group, Message, Request

logger = logging.getLogger("starswitch")
Status = c.star_group_status

HELLO = struct.Struct("=16sqq")  # the run, the rank, collectives done so far
HUB_PATIENCE = 10.0  # seconds that a hub may be away
MOMENT = 0.05  # seconds between looks at who is there
LOOK_EVERY = 1.0  # seconds between looks for lost ranks while messages are waited for
CALLING = 2.0  # seconds that collectives wait for what is called back
DEEP = 200  # frames: callbacks in callbacks must not fill the stack
MAIL_SLICE = 0.001  # seconds between looks at messages that are waited for


class RankLost(StarswitchError):
    """A rank was lost, and the run is not elastic."""


class Crew:
    """This process as a rank of `world`. run: 16 bytes that all ranks of a run have
    alike. elastic: those who are left go on when one is lost. timeout: seconds that
    a collective waits for the others."""

    def __init__(
        self,
        group: Group,
        run: bytes,
        rank: int,
        world: int,
        elastic: bool,
        timeout: float,
    ) -> None:
        self.group = group
        self.lib = group._lib
        self.run, self.rank, self.world = run, rank, world
        self.elastic = elastic
        self.timeout = timeout
        self.ranks: list[int] = []  # by place
        self.users = 0  # process groups
        self._done = 0  # collectives
        self._reason = ""
        self._failure: BaseException | None = None
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._posts: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._mails = False
        self.over = False
        self._hurries = False
        self._mail = threading.Lock()  # held while messages are looked after
        self._looked = 0.0
        self._turn = threading.Lock()  # held while another thread takes over
        self._worker = start(self._work)
        self._called = math.inf  # when what is called back began
        self._ended = threading.Event()
        start(self._watch)
        _crews.add(self)

    # ---- who is there ----

    def place_of(self, rank: int) -> int:
        """RankLost: it is not there any more."""
        if rank not in self.ranks:
            raise RankLost(f"rank {rank} is lost")
        return self.ranks.index(rank)

    def settle(self) -> None:
        """Makes `ranks` those of the group as it is built; on the thread for
        collectives. RankLost, ConnectError, Closed: that cannot be."""
        until = time.monotonic() + self.timeout
        handle = self.group._handle
        while not (self.ranks and self.lib.star_group_initialized(handle)):
            self._check()
            if not self.lib.star_group_wait_joined(handle, HUB_PATIENCE):
                raise self._fail(self.group._not_joined(self.group.look().text))
            status = self.lib.star_group_build(handle)
            self.group._say_events()
            if status == Status.STAR_GROUP_NO_NEED and self._may_be(1):
                self._now_are([self.rank])
                return
            if status == Status.STAR_GROUP_SUCCESS and self._meet():
                return
            if status == Status.STAR_GROUP_ABORT:
                self._give_up(status)
            if time.monotonic() > until:
                raise self._fail(
                    StarswitchError("the ranks did not find each other in time")
                )
            time.sleep(MOMENT)

    def _meet(self) -> bool:
        """The hello; False: to be done again."""
        size = self.group.size
        room = create_string_buffer(HELLO.size * size)
        own = HELLO.pack(self.run, self.rank, self._done)
        mine = create_string_buffer(own, len(own))
        received = c_size_t(0)
        status = self.lib.star_group_allgather(
            self.group._handle,
            addressof(mine),
            len(own),
            addressof(room),
            len(room),
            byref(received),
        )
        if status == Status.STAR_GROUP_ABORT:
            self._give_up(status)
        if status != Status.STAR_GROUP_SUCCESS or received.value != len(room):
            return False
        hellos = [HELLO.unpack_from(room, HELLO.size * i) for i in range(size)]
        ours = [one for one in hellos if one[0] == self.run]
        if max(one[2] for one in ours) > self._done or len(ours) < len(
            {one[1] for one in ours}
        ):
            raise self._fail(
                Closed(
                    f"rank {self.rank} comes to a run that has begun: a rank that "
                    "was lost cannot come back, as it lacks what the others have "
                    "done; start all ranks again"
                )
            )
        if any(one[0] != self.run or one[2] != self._done for one in hellos):
            return False  # a stranger, who leaves
        if not self._may_be(size):
            return False
        self._now_are([one[1] for one in hellos])
        return True

    def _may_be(self, size: int) -> bool:
        """A run begins with all its ranks: members of another may still have been
        there when the first came."""
        return self._done > 0 or size == self.world

    def _now_are(self, ranks: list[int]) -> None:
        lost = sorted(set(self.ranks or range(self.world)) - set(ranks))
        self.ranks = ranks
        if not lost:
            return
        words = f"rank {', '.join(map(str, lost))} lost"
        if self._reason:
            words += f" ({self._reason})"
        if not self.elastic:
            raise self._fail(
                RankLost(
                    f"{words}: {len(ranks)} of {self.world} ranks are left; set "
                    "STARSWITCH_ELASTIC=1 for a run that goes on without those who "
                    "are lost"
                )
            )
        logger.warning("%s: the other %d go on", words, len(ranks))

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self.over or self.group._handle is None:
            raise Closed("this process group is destroyed")

    def _fail(self, error: BaseException) -> BaseException:
        """This, from now on: a run that is not whole cannot go on. The group is
        left, so that the others need not wait. On the thread for collectives."""
        self._failure = error
        self.ranks = []
        with self._mail:
            self.group.leave(2.0)
        return error

    def _give_up(self, status: int) -> None:
        try:
            self.group.check(status)
        except BaseException as error:
            raise self._fail(error) from None

    # ---- collectives ----

    def submit(self, task: Callable[[], None]) -> None:
        """Has it called on the thread for collectives, after those before it; where
        that thread is not any more, as in the child of a fork, now. What is called
        back on that thread has it called now, too."""
        if self.over:
            task()
        elif not _is_deep() and self._goes_on():
            task()
            self._called = time.monotonic()
        else:
            self._tasks.put(task)

    def call_back(self, future: Any) -> None:
        """Completes it, which calls what waits for that; on the thread for
        collectives."""
        self._called = time.monotonic()
        future.set_result(None)

    def make_way(self) -> None:
        """What is called back waits for what comes later: another thread goes on."""
        with self._turn:
            if threading.current_thread() is self._worker:
                self._take_over()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task
            if not self._goes_on():
                return

    def _goes_on(self) -> bool:
        """Whether this is the thread for collectives, which, if so, no other takes
        over until it calls back."""
        with self._turn:
            if threading.current_thread() is not self._worker:
                return False
            self._called = math.inf
            return True

    def _take_over(self) -> None:
        """With the turn held."""
        self._called = math.inf
        self._worker = start(self._work)

    def _watch(self) -> None:
        """It cannot be seen what a callback waits for: after a while another thread
        goes on."""
        while not self._ended.wait(CALLING / 4):
            with self._turn:
                late = time.monotonic() - self._called > CALLING
                if late and not self._tasks.empty():
                    self._take_over()

    def together(self, act: Callable[[Any], int]) -> bool:
        """Makes a collective, again if members are lost meanwhile and the run is
        elastic: `act` gets the group's handle and returns a status; what it changes
        is as before unless that is SUCCESS. False: this is the only rank."""
        self._check()
        attempts = 0
        while True:
            self.settle()
            if len(self.ranks) == 1:
                return False
            status = act(self.group._handle)
            self.group._say_events()
            if status == Status.STAR_GROUP_SUCCESS:
                self._done += 1
                return True
            self._reason = self.group.look().text
            attempts += 1
            if status == Status.STAR_GROUP_ABORT or self._reason.startswith("waited"):
                self._give_up(Status.STAR_GROUP_ABORT)
            if attempts > 10 * self.world:
                raise self._fail(StarswitchError(self._reason))

    # ---- messages ----

    def post(self, begin: Callable[[], Request | None], end: Any) -> None:
        """Has `begin` called on the thread for messages until it returns a request,
        then waits for that; `end(error or None)` is called in the end."""
        if self.over:
            end(Closed("this process group is destroyed"))
            return
        if not self._mails:
            self._mails = True
            start(self._carry)
        self._posts.put((begin, end))

    def _carry(self) -> None:
        pending: list[list[Any]] = []
        while not self.over:
            try:
                one = self._posts.get(timeout=MAIL_SLICE if pending else 1.0)
                now = time.monotonic()
                pending.append([*one, None, now + self.timeout])
                self._looked = now
            except queue.Empty:
                pass
            with self._mail:
                pending = [one for one in pending if not self._carry_on(one)]
            if pending and time.monotonic() - self._looked > LOOK_EVERY:
                self._looked = time.monotonic()
                self._tasks.put(self._look_around)
        for one in pending:
            one[1](Closed("this process group is destroyed"))

    def _look_around(self) -> None:
        """Notices that a rank was lost while messages are waited for; on the thread
        for collectives."""
        if self._failure is not None or not self.ranks or self.over:
            return
        before = self.group.look()
        status = self.lib.star_group_build(self.group._handle)
        now = self.group.look()
        if status > 0 or now.epoch == before.epoch:
            return
        if now.size < len(self.ranks) and not self.elastic:
            words = f"{now.size} of {self.world} ranks are left"
            self._fail(RankLost(f"{words}: the others were lost"))
        self.ranks = []  # a hello comes before the next collective

    def _carry_on(self, one: list[Any]) -> bool:
        """Whether this message is over."""
        begin, end, request, until = one
        try:
            self._check()
            if request is None:
                request = one[2] = begin()
            if request is not None and request.test():
                end(None)
                return True
            if time.monotonic() > until:
                raise TimeoutError(f"no message within {self.timeout:g} s")
        except BaseException as error:
            end(error)
            return True
        return False

    def probe(self, rank: int | None, tag: int) -> Message | None:
        """A message of this rank (None: of any) that is there."""
        source = c.STAR_ANY if rank is None else self.place_of(rank)
        return self.group.improbe(source, tag)

    def receive(self, message: Message, memory: Place) -> Request:
        """Begins to receive it; its size must be the place's."""
        if message.bytes != memory.nbytes:
            raise StarswitchError(
                f"a message of {message.bytes} bytes came for {memory.nbytes}"
            )
        handle = self.lib.star_group_imrecv(
            self.group._handle, byref(message), memory.address, memory.nbytes
        )
        return Request(self.group, handle, memory, True)

    # ---- the end ----

    def hurry(self) -> None:
        """The program was interrupted: `leave` does not wait for what is asked."""
        self._hurries = True

    def leave(self) -> None:
        """Says goodbye when what was asked is done, or after a moment."""
        if self.over:
            return
        self.make_way()
        idle = threading.Event()
        self._tasks.put(idle.set)
        self._tasks.put(None)
        until = time.monotonic() + (0.0 if self._hurries else HUB_PATIENCE)
        while not idle.is_set() and time.monotonic() < until:
            idle.wait(SLICE)
        self.over = True
        self._ended.set()
        for _ in range(100):
            if idle.wait(0.02):
                break
            self.group.interrupt()
        if idle.is_set():
            with self._mail:
                self.group.leave(CLOSING)
        else:
            self.group._forget()

    def _leave_now(self) -> None:
        self.hurry()
        self.leave()

    def _forget(self) -> None:
        """After a fork, in the child: all is the parent's."""
        self.over = True
        self._mail = threading.Lock()
        self._turn = threading.Lock()


_crews: weakref.WeakSet[Crew] = weakref.WeakSet()


def start(run: Callable[..., None], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=run, args=arguments, daemon=True)
    thread.start()
    return thread


def _is_deep() -> bool:
    try:
        return sys._getframe(DEEP) is not None
    except ValueError:
        return False


def _leave_all() -> None:
    for crew in list(_crews):
        crew._leave_now()


def _after_fork() -> None:
    for crew in list(_crews):
        crew._forget()


atexit.register(_leave_all)
os.register_at_fork(after_in_child=_after_fork)
