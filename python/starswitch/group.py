"""Collectives through the hub: barrier, broadcast, allreduce, allgather, messages
and checkpoints, as in starswitch_group.h. Nobody connects to anybody but the hub.

    from starswitch.group import Group

    with Group(members=4) as group:             # hub: $STARSWITCH_HUB
        group.allreduce(gradients, "mean")      # NumPy, torch, array.array: in place
        everybody = group.allgather_object({"rank": group.rank})

What happens when a member is lost is the group's manner. Elastic: the collective
under way raises GroupChanged, has changed nothing, and the next one is among those
who are left. Patient: the others wait until it is back under its name, and it is
given again what it missed.

Call a group from one thread at a time; messages (isend ... recv) may be another's
than collectives. A call that waits hears Ctrl-C at once. After a fork the group is
the parent's: in the child all calls raise Closed.
"""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import queue
import struct
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from ctypes import (
    POINTER,
    addressof,
    byref,
    c_float,
    c_size_t,
    c_void_p,
    cast,
    create_string_buffer,
    sizeof,
    string_at,
)
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from . import _library as c
from ._hub import LEVELS, check_hub, encoded, where
from ._memory import Place, as_float32, place
from ._programs import library
from .errors import (
    Closed,
    ConnectError,
    GroupChanged,
    KeyRefused,
    StarswitchError,
    VersionMismatch,
)

logger = logging.getLogger("starswitch")

Status = c.star_group_status
ANY = c.STAR_ANY  # source or tag
SLICE = 0.1  # seconds; Ctrl-C is heard that often
CLOSING = 4.0  # seconds that the end of a process waits for a goodbye

OPS = {
    "sum": c.star_op.STAR_SUM,
    "mean": c.star_op.STAR_MEAN,
    "max": c.star_op.STAR_MAX,
    "min": c.star_op.STAR_MIN,
    "bitor": c.star_op.STAR_BITOR,
}

# ---- waiting ----


class _Worker:
    """A thread that makes the calls of the main thread, which so can hear Ctrl-C
    while C waits."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        thread = threading.Thread(target=self._run, name="starswitch group")
        thread.daemon = True
        thread.start()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
            del job

    def do(self, act: Callable[[], Any], watch: Callable[[], None]) -> Any:
        """What act returns; `watch` is called every now and then meanwhile. An
        exception of `watch`, or Ctrl-C, ends the waiting."""
        done = threading.Lock()
        done.acquire()
        result: list[Any] = []
        failure: list[BaseException] = []

        def job() -> None:
            try:
                result.append(act())
            except BaseException as error:
                failure.append(error)
            finally:
                done.release()

        self._jobs.put(job)
        while not done.acquire(timeout=SLICE):
            watch()
        if failure:
            raise failure[0]
        return result[0]

    def end(self) -> None:
        self._jobs.put(None)


# ---- messages ----


Message = c.star_message  # one that was found: source (a rank), tag, bytes


class Request:
    """A send or receive under way."""

    def __init__(self, group: Group, handle: Any, memory: Place, receives: bool):
        if not handle:
            raise MemoryError("no memory for a message")
        self._group = group
        self._handle = handle
        self._memory = memory
        self._receives = receives
        group._requests.add(self)

    def test(self) -> bool:
        """Whether it is done. GroupChanged: it has failed."""
        return self._finish(0.0)

    def wait(self, timeout: float | None = None) -> None:
        """Waits until it is done. TimeoutError: it is not within so many seconds,
        and goes on. GroupChanged: it has failed."""
        until = None if timeout is None else time.monotonic() + timeout
        interrupts = self._group._interrupts
        while not self._finish(SLICE if until is None else until - time.monotonic()):
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"a message has not gone within {timeout:g} s")
            self._group._check_interrupts(interrupts)

    def _finish(self, seconds: float) -> bool:
        if not self._handle:
            return True
        group = self._group
        group._check()
        status = group._lib.star_group_wait(
            group._handle, byref(self._handle), max(0.0, min(SLICE, seconds))
        )
        group._say_events()
        if self._handle:
            return False
        group._requests.discard(self)
        if status != Status.STAR_GROUP_SUCCESS:
            raise GroupChanged(group.look().text)
        if self._receives:
            self._memory.store()
        return True


# ---- groups ----


@dataclass(frozen=True)
class GroupState:
    """Where a member stands."""

    rank: int
    size: int
    epoch: int  # grows when the membership changes
    averages: int  # collectives done
    version: int  # checkpoints done
    joined: bool
    exit_code: int
    text: str  # why the last call did not succeed


_groups: weakref.WeakSet[Group] = weakref.WeakSet()


class Group:
    """A member of the hub's group for collectives, from here until `leave`.

    hub, key, identity: as in starswitch.attach.
    name: who comes back under its name is the same member; None: the host's, with
        -2, -3 ... where members run under it on this PC.
    members: how many begin; all must say the same. Later there may be more or less.
    patient: the manner; see above.
    active: elastic members ask who is there before each collective, which costs a
        round trip and saves the one that would fail.
    timeout: seconds that a call waits at most; None: 60, patient 60 more than
        patience.
    patience: seconds that a patient group waits for one who was lost; None: 1800.
    wait: seconds to wait for the hub now; 0: it is waited for in the first call.

    ConnectError: no hub took it in; KeyRefused: the hub does not let its key in.
    """

    def __init__(
        self,
        hub: str | None = None,
        name: str | None = None,
        *,
        members: int = 1,
        patient: bool = False,
        active: bool = False,
        timeout: float | None = None,
        patience: float | None = None,
        key: str | None = None,
        identity: str | None = None,
        wait: float = 15.0,
    ) -> None:
        self._handle: Any = None
        check_hub(hub)
        self._lib = library()
        self._hub = hub
        self._problem = ""
        self._gone = ""
        self._turn = threading.Lock()
        self._worker: _Worker | None = None
        self._requests: set[Request] = set()
        self._interrupts = 0
        self._lazy: Place | None = None
        self._loaded: Any = None
        options = c.star_group_options(size=sizeof(c.star_group_options), quiet=1)
        options.manner = c.star_manner.STAR_PATIENT if patient else 0
        options.mode = c.star_consensus_mode.STAR_ACTIVE if active else 0
        options.members = members
        options.timeout = timeout or 0.0
        options.patience = patience or 0.0
        options.key = encoded(key)
        options.identity = encoded(identity)
        self._join(options, name)
        if wait:
            try:
                self.wait_joined(wait)
            except BaseException:
                self.leave()
                raise

    def _join(self, options: c.star_group_options, name: str | None) -> None:
        handle = POINTER(c.star_group)()
        error = create_string_buffer(256)
        status = self._lib.star_group_join(
            encoded(self._hub),
            encoded(name),
            byref(options),
            byref(handle),
            error,
            len(error),
        )
        if status != c.star_status.STAR_OK:
            raise StarswitchError(error.value.decode(errors="replace"))
        self._handle = handle
        _groups.add(self)

    # ---- calls ----

    def _check(self) -> None:
        if self._handle is None:
            raise Closed(self._gone or "this member has left the group")

    def call(self, function: Callable[..., int], *arguments: Any) -> Any:
        """What this function of the library returns for the group; hears Ctrl-C,
        and then the call is not done."""
        self._check()
        if threading.current_thread() is not threading.main_thread():
            with self._turn:
                self._check()
                result = function(self._handle, *arguments)
            self._say_events()
            return result
        with self._turn:
            if self._worker is None:
                self._worker = _Worker()
            handle = self._handle
            over = threading.Event()

            def act() -> Any:
                try:
                    return function(handle, *arguments)
                finally:
                    over.set()

            try:
                result = self._worker.do(act, self._say_events)
            except BaseException:
                self._interrupt_until(over)
                raise
        self._say_events()
        return result

    def _interrupt_until(self, over: threading.Event) -> None:
        for _ in range(100):
            if over.is_set():
                return
            self._lib.star_group_interrupt(self._handle)
            over.wait(0.02)

    def interrupt(self) -> None:
        """Each call that waits in another thread fails at once: GroupChanged there
        and, of a collective, with a sentence that says why, at the other members."""
        self._interrupts += 1
        if self._handle is not None:
            self._lib.star_group_interrupt(self._handle)

    def _check_interrupts(self, before: int) -> None:
        if self._interrupts != before:
            raise GroupChanged("the program interrupted the call")

    def check(self, status: int) -> bool:
        """Whether a call was done together with others; False: this is the only
        member. GroupChanged: not done; otherwise it cannot be done."""
        if status == Status.STAR_GROUP_SUCCESS:
            return True
        if status == Status.STAR_GROUP_NO_NEED:
            return False
        state = self.look()
        if status == Status.STAR_GROUP_FAIL:
            raise GroupChanged(state.text)
        self._say_events()
        if not state.joined:
            raise self._not_joined(state.text)
        if state.exit_code:
            raise Closed(state.text)
        raise StarswitchError(state.text)

    def _not_joined(self, text: str) -> StarswitchError:
        words = self._problem if text.startswith("waited") else text
        words = words or text or "no hub has taken this member in"
        words = f"{words} ({self._where()})"
        if "protocol" in words:
            return VersionMismatch(words)
        if " key" in words:
            return KeyRefused(words)
        return ConnectError(words)

    def _where(self) -> str:
        """The hub's address and where it came from."""
        return where(self._hub, "hub=")

    def _say_events(self) -> None:
        event = c.star_event(size=sizeof(c.star_event))
        while self._handle is not None and self._lib.star_group_poll(
            self._handle, byref(event)
        ):
            text = event.text.decode(errors="replace")
            level = LEVELS.get(c.star_level(event.level), logging.INFO)
            if level >= logging.WARNING:
                self._problem = text
            logger.log(level, "%s", text, extra={"event": event.event.decode()})

    # ---- coming and going ----

    def wait_joined(self, timeout: float = 15.0) -> None:
        """Waits until the hub has taken this member in. ConnectError, KeyRefused,
        VersionMismatch: it has not within so many seconds."""
        if not self.call(self._lib.star_group_wait_joined, timeout):
            raise self._not_joined(self.look().text)

    def build(self) -> bool:
        """Learns who is there; a collective does so by itself when it is needed.
        False: this is the only member."""
        return self.check(self.call(self._lib.star_group_build))

    def look(self) -> GroupState:
        """Where this member stands; never waits."""
        self._check()
        state = c.star_group_state(size=sizeof(c.star_group_state))
        self._lib.star_group_look(self._handle, byref(state))
        return GroupState(
            rank=state.rank,
            size=state.members,
            epoch=state.epoch,
            averages=state.averages,
            version=state.version,
            joined=bool(state.joined),
            exit_code=state.exit_code,
            text=state.text.decode(errors="replace"),
        )

    @property
    def rank(self) -> int:
        """0 is never a newcomer."""
        return self.look().rank

    @property
    def size(self) -> int:
        """Members, as of the last call."""
        return self.look().size

    @property
    def version(self) -> int:
        """Checkpoints so far."""
        return self.look().version

    def leave(self, within: float | None = None) -> None:
        """Says goodbye; after a lazy checkpoint, waits before until all have come
        to leave, as one who was lost may still need the model: so many seconds at
        most, None: the group's timeout. A second call does nothing."""
        handle, self._handle = self._handle, None
        worker, self._worker = self._worker, None
        if handle is None:
            return
        _groups.discard(self)
        until = None if within is None else time.monotonic() + within
        if worker is None:
            self._lib.star_group_leave(byref(handle))
            return

        def watch() -> None:
            if until is not None and time.monotonic() > until:
                raise TimeoutError

        try:
            worker.do(lambda: self._lib.star_group_leave(byref(handle)), watch)
        except TimeoutError:
            logger.warning("left the group without a goodbye")
        finally:
            worker.end()
            self._requests.clear()

    def _forget(self) -> None:
        """After a fork, in the child: the group is the parent's."""
        self._handle = self._worker = None
        self._gone = "this is a child of the process that joined the group"
        self._turn = threading.Lock()

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave(None if kind is None else CLOSING)

    def __reduce__(self) -> Any:
        raise TypeError("a Group belongs to its process and cannot be pickled")

    # ---- collectives; all members call the same one ----

    def barrier(self) -> bool:
        """Waits until all have come here. As of all collectives: False if this is
        the only member; GroupChanged if it was not done."""
        return self.check(self.call(self._lib.star_group_barrier))

    def allreduce(
        self,
        data: Any,
        op: str | c.star_op = "sum",
        *,
        prepare: Callable[[], None] | None = None,
    ) -> bool:
        """Each number becomes the sum (mean, max, min, bitor) of all members', in
        place: the same bits on all. `prepare` fills the data just before they are
        needed, and is not called when the result is there already."""
        memory = place(data, numbers=True)
        failure: list[BaseException] = []

        def guarded(_: Any) -> None:
            try:
                assert prepare is not None
                prepare()
                memory.load()
            except BaseException as error:
                failure.append(error)

        kind = c.FUNCTIONS["star_group_allreduce"][1][5]
        done = self.check(
            self.call(
                self._lib.star_group_allreduce,
                memory.address,
                memory.count,
                memory.dtype,
                OPS[op] if isinstance(op, str) else op,
                kind(guarded) if prepare else kind(),
                None,
            )
        )
        if failure:
            raise failure[0]
        memory.store()
        return done

    def average(self, arrays: Sequence[Any]) -> bool:
        """Each number of these becomes the mean of all members', in place; all
        travel as one, as float32."""
        return self.check(self.average_status(arrays))

    def average_status(self, arrays: Sequence[Any]) -> int:
        """The same, and how it ended."""
        places = [as_float32(one) for one in arrays]
        tensors = (c.star_group_tensor * len(places))()
        for tensor, one in zip(tensors, places, strict=True):
            tensor.size = sizeof(c.star_group_tensor)
            tensor.values = cast(c_void_p(one.address), POINTER(c_float))
            tensor.count = one.count
        status: int = self.call(
            self._lib.star_group_allreduce_average, tensors, len(places)
        )
        if status == Status.STAR_GROUP_SUCCESS:
            for one in places:
                one.store()
        return status

    def broadcast(self, data: Any, root: int = 0) -> bool:
        """The root's data to all, in place."""
        memory = place(data)
        done = self.check(
            self.call(
                self._lib.star_group_broadcast, memory.address, memory.nbytes, root
            )
        )
        if done and self.rank != root:
            memory.store()
        return done

    def broadcast_object(self, value: Any, root: int = 0) -> Any:
        """What the root has, to all; pickled."""
        if not self.build():
            return value
        packed = pickle.dumps(value) if self.rank == root else b""
        size = bytearray(struct.pack("=q", len(packed)))
        self.broadcast(size, root)
        room = bytearray(packed or struct.unpack("=q", size)[0])
        self.broadcast(room, root)
        return value if self.rank == root else pickle.loads(room)

    def allgather_bytes(self, own: bytes | bytearray | memoryview) -> list[bytes]:
        """What each member has, in rank order; sizes may differ."""
        if not self.build():
            return [bytes(own)]
        count = self.size
        sizes = struct.unpack(
            f"={count}q", self._gather(struct.pack("=q", len(own)), 8 * count)
        )
        whole = self._gather(own, sum(sizes))
        ends = [sum(sizes[: i + 1]) for i in range(count)]
        return [whole[end - one : end] for one, end in zip(sizes, ends, strict=True)]

    def _gather(self, own: bytes | bytearray | memoryview, total: int) -> bytes:
        memory = place(own)
        room = create_string_buffer(max(1, total))
        received = c_size_t(0)
        self.check(
            self.call(
                self._lib.star_group_allgather,
                memory.address,
                memory.nbytes,
                addressof(room),
                total,
                byref(received),
            )
        )
        if received.value != total:
            raise GroupChanged("the members' data differ from what they announced")
        return room.raw[:total]

    def allgather_object(self, value: Any) -> list[Any]:
        """What each member has, in rank order; pickled."""
        own = pickle.dumps(value)
        return [pickle.loads(one) for one in self.allgather_bytes(own)]

    def stop(self) -> bool:
        """Elastic: this member has no more data. The others' collectives return
        False from now on; waits until all have come here. Then they work again, for
        a last average of the parameters."""
        return self.check(self.call(self._lib.star_group_stop))

    # ---- from one member to another, through the hub ----

    def isend(self, data: Any, to: int, tag: int = 0) -> Request:
        """Begins to send; the data must stay as they are until it is done."""
        self._check()
        memory = place(data)
        handle = self._lib.star_group_isend(
            self._handle, memory.address, memory.nbytes, to, tag
        )
        return Request(self, handle, memory, False)

    def improbe(self, source: int = ANY, tag: int = ANY) -> Message | None:
        """The oldest message of this source and tag, if one is there: it is then
        the caller's. Never waits."""
        return self.mprobe(source, tag, 0.0)

    def mprobe(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None
    ) -> Message | None:
        """The same, waiting for so many seconds. None: there is none."""
        until = None if timeout is None else time.monotonic() + timeout
        message = c.star_message(size=sizeof(c.star_message))
        interrupts = self._interrupts
        while True:
            self._check()
            left = SLICE if until is None else max(0.0, until - time.monotonic())
            if self._lib.star_group_mprobe(
                self._handle, source, tag, min(SLICE, left), byref(message)
            ):
                return message
            self._say_events()
            if until is not None and time.monotonic() >= until:
                return None
            self._check_interrupts(interrupts)

    def imrecv(self, message: Message, data: Any) -> Request:
        """Begins to receive what was found, to this memory."""
        self._check()
        memory = place(data)
        handle = self._lib.star_group_imrecv(
            self._handle, byref(message), memory.address, memory.nbytes
        )
        return Request(self, handle, memory, True)

    def send(self, data: Any, to: int, tag: int = 0) -> None:
        """Sends, and waits until it has gone."""
        self.isend(data, to, tag).wait()

    def recv(
        self, source: int = ANY, tag: int = ANY, timeout: float | None = None
    ) -> tuple[bytes, int]:
        """The oldest message of this source and tag, and its source. TimeoutError:
        none came within so many seconds."""
        message = self.mprobe(source, tag, timeout)
        if message is None:
            raise TimeoutError(f"no message within {timeout:g} s")
        room = bytearray(message.bytes)
        self.imrecv(message, room).wait(timeout)
        return bytes(room), message.source

    # ---- checkpoints of a patient group ----

    def load_checkpoint(self) -> tuple[int, bytes | None]:
        """The version of the newest checkpoint and its model; (0, None): there is
        none."""
        model, size = c_void_p(), c_size_t()
        version = self.call(
            self._lib.star_group_load_checkpoint, byref(model), byref(size)
        )
        if version < 0:
            self.check(Status.STAR_GROUP_ABORT)
        if version <= 0 or not model.value:
            return max(0, version), None
        return version, string_at(model.value, size.value)

    def checkpoint(self, model: Any) -> None:
        """Ends a version: results since the last checkpoint are forgotten. The
        model must be the same on all members; the hub keeps a copy."""
        memory = place(model)
        self.check(
            self.call(self._lib.star_group_checkpoint, memory.address, memory.nbytes)
        )

    def lazy_checkpoint(self, model: Any) -> None:
        """The same, but only the address is kept, and read in a later collective if
        somebody needs it. The model may be changed only between the last
        collective of a version and the next checkpoint."""
        memory = place(model)
        self.check(
            self.call(
                self._lib.star_group_lazy_checkpoint, memory.address, memory.nbytes
            )
        )
        self._lazy = memory


def _leave_all() -> None:
    for group in list(_groups):
        group.leave(CLOSING)


def _after_fork() -> None:
    for group in list(_groups):
        group._forget()
    _groups.clear()


atexit.register(_leave_all)
os.register_at_fork(after_in_child=_after_fork)
