"""A link: the part of a training loop that takes part in a run.

What is here knows no framework. A framework's parameters are a `Parameters`
(torch.py, numpy.py, jax.py): they are copied to one float32 vector in host
memory, the staging vector, when the link offers progress, and moved by
x = keep x + scale v when a result has come. So the C library never sees the
memory of a tensor, and a GPU is served in the same way as a CPU.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import math
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from ctypes import (
    POINTER,
    PyDLL,
    addressof,
    byref,
    c_float,
    c_uint64,
    cast,
    create_string_buffer,
    sizeof,
)
from types import NoneType, TracebackType
from typing import Any, NamedTuple, Protocol

from . import _library as c
from ._hub import LEVELS, check_hub, encoded, where
from ._programs import library
from .errors import (
    Closed,
    ConnectError,
    KeyRefused,
    SchemaMismatch,
    StarswitchError,
    VersionMismatch,
)

logger = logging.getLogger("starswitch")

# What the hub's refusals mean, by the exit code that a program would have.
REFUSALS: dict[int, type[StarswitchError]] = {
    76: VersionMismatch,
    77: KeyRefused,
    78: SchemaMismatch,
}

NAME_BYTES = 63  # of a tensor, in a schema
TENSORS_MAX = 4096
SAMPLES_MAX = 1 << 53  # of one report
TEXT_MAX = 60 * 1024 - 256
KIND_WORDS = ("", " averaged", " largest")
STEPLESS = 1000  # reports without a step, of which the script is told
WAIT_SLICE = 0.1  # seconds; Ctrl-C is heard that often
NAME_AGAIN = 5.0  # seconds between two looks for a hub's name
GONE = 0.2  # seconds that a goodbye may take when no hub is there

FROZEN = "frozen."
FROZEN_DIFFERS = (
    ": the part of the model that is not trained differs from that of the run's "
    "other nodes; load the same base model, revision and precision on all, or "
    'exchange that part, too, with params="all"; permutations in buffers must be '
    'drawn from the same seed, or be left alone with buffers="local"'
)
SECOND_PORT = "the hub's second port"
NO_GRADIENTS = (
    ": a Python node offers what its own optimizer has done; start the hub with "
    "--exchange delta or another policy"
)
# The programs' options, as attach calls them.
OWN_NAME = "give attach(name=...) or $STARSWITCH_NAME to each script"
SPELLINGS = (
    ("give it --key-file", "give attach its key, or set $STARSWITCH_KEY_FILE"),
    ("is --hub spelt", "is hub= spelt"),
    ("--hub takes", "hub= takes"),
    ("another --name", f"another name: {OWN_NAME}"),
)


class Described(NamedTuple):
    """A tensor of a model, as the hub is told of it."""

    name: str
    shape: tuple[int, ...]
    kind: int = 0  # of star_kind

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


class Parameters(Protocol):
    """What a link moves: float tensors in the memory of a framework, which end
    to end (each row-major, in the order of `described`) are one flat vector."""

    @property
    def described(self) -> Sequence[Described]:
        """The tensors, in order."""

    @property
    def staging(self) -> int:
        """Address of the staging vector: as many float32 as there are elements."""

    def begin_copy(self) -> Callable[[], bool]:
        """Begins to copy the parameters to the staging vector as they are now.
        What it returns says whether the copy is complete; never waits."""

    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        """x = keep x + scale v for elements [first, first + count); `values` is
        the address of v, float32, valid during the call."""

    def replaced(self, reset: bool) -> None:
        """All parameters were replaced by others; `reset`: the optimizer's state
        is to be forgotten."""

    def read_loss(self, loss: Any, samples: int) -> None:
        """Notes the mean loss of so many samples, without waiting for a device."""

    def take_loss(self) -> float:
        """The mean of what was noted, as far as it is here; NaN: nothing is."""

    def swapped(self, values: int) -> AbstractContextManager[None]:
        """Inside, the parameters are the flat vector at this address."""


def _extra(parameters: Parameters | None, name: str, without: Any) -> Any:
    """What Parameters may have beyond the protocol: fingerprint(), the hash of
    what is not exchanged and must be the same on all nodes; pieces(), addresses
    and lengths of the tensors, in order, while C may read them as they lie, else
    None; state_dict() and load_state_dict(), what they hold beyond the tensors;
    late_skips(), the steps that turned out to be none; is_changed_outside(), whether
    they are no longer what the last step left; is_spoilt(), whether what the
    optimizer has gathered would spoil other parameters, too; first(), a tensor that
    tells one model from another. Where tensors are of the
    kind STAR_LARGEST they have raise_to(values, first, count), too: as change, but
    x = max(x, v)."""
    function = getattr(parameters, name, None)
    return without if function is None else function()


class Ranks(Protocol):
    """Processes that train one model together, such as DDP's: the first of them
    owns the link, the others follow what it does."""

    @property
    def size(self) -> int:
        """How many they are."""

    def share(self, verdict: int) -> int:
        """Called by all at the end of a step. The owner's verdict, GO, CHANGED
        (then the others have taken over its parameters), OVER, ENDED, with the
        run, or REFUSED; and RESET with it, where all forget their optimizer's
        state."""

    def spread(self, values: Any | None) -> Any | None:
        """Called by all. The owner's flat vector, or None: it has none."""


GO, CHANGED, OVER, ENDED, REFUSED = range(5)
RESET = 8  # a bit beside them
ADVICE = {ENDED: c.star_advice.STAR_STOP, REFUSED: c.star_advice.STAR_REFUSED}


class Options(NamedTuple):
    """How a link is made; see `starswitch.attach`."""

    hub: str | None = None
    name: str | None = None
    key: str | None = None
    identity: str | None = None
    strict: bool = False
    up: int = 0
    down: int = 0
    cores: str | None = None
    record: str | None = None
    evaluate: Callable[[], float] | None = None
    leave_within: float = 10.0


def check_options(given: Options) -> Options:
    """Themselves; TypeError, ValueError: one of them can never be right."""
    for name in ("name", "key", "identity", "cores", "record"):
        value = getattr(given, name)
        if not isinstance(value, (str, bytes, os.PathLike, NoneType)):
            raise TypeError(f"{name} must be a string, not {value!r}")
    check_hub(given.hub)
    for name in ("up", "down"):
        value = getattr(given, name)
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name} must be whole bytes per second, not {value!r}")
        if not 0 <= value < 2**63:
            raise ValueError(f"{name} must be bytes per second, 0: any; not {value}")
    if given.evaluate is not None and not callable(given.evaluate):
        raise TypeError(f"evaluate must be a function, not {given.evaluate!r}")
    check_seconds("leave_within", given.leave_within)
    return given


def check_seconds(name: str, value: Any) -> None:
    """TypeError, ValueError: it can be no time to wait."""
    if not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number of seconds, not {value!r}")
    if not float(value) >= 0:
        raise ValueError(f"{name} must be at least 0 seconds, not {value!r}")


class State(NamedTuple):
    """Where a link stands. Times in seconds, sizes in bytes."""

    attached: bool = False
    iteration: int = 0
    offered: int = 0
    applied: int = 0
    missed: int = 0
    skipped: int = 0
    every: int = 0
    delay: int = 0
    shard: int = 0
    shards: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    inside: float = 0.0
    waited: float = 0.0
    members: int = 0
    version: int = 0
    tasks: int = 0
    global_samples: int = 0
    name: str = ""
    text: str = ""


class _Pending(NamedTuple):
    """A copy under way, of the parameters as they were after an iteration."""

    iteration: int
    complete: Callable[[], bool]


_links: weakref.WeakValueDictionary[str | None, Link] = weakref.WeakValueDictionary()
# Of names at hubs under which this process was in a run: a tensor of the model.
_trained: dict[tuple[Any, ...], weakref.ref[Any]] = {}
_held: set[Link] = set()


def in_pieces(addresses: Any, lengths: Any) -> tuple[Any, Any, int]:
    """Arrays of addresses and of lengths, as starswitch_pieces.h takes them."""
    return (
        cast(addresses.buffer_info()[0], POINTER(POINTER(c_float))),
        cast(lengths.buffer_info()[0], POINTER(c_uint64)),
        len(addresses),
    )


def _short(name: str) -> str:
    """A tensor's name as a schema can hold it: its end, behind a hash."""
    fits = name.isascii() and name.isprintable() and " " not in name
    if fits and 0 < len(name) <= NAME_BYTES:
        return name
    plain = "".join(ch if "!" <= ch <= "~" else "_" for ch in name)
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{digest}~{plain[-(NAME_BYTES - 9) :]}"


def _rows(tensors: Sequence[Described]) -> tuple[list[str], list[str]]:
    """Their names and their lines in a schema; there may be thousands, of few
    shapes."""
    names = [name for name, _, _ in tensors]
    together = "".join(names)
    if not (
        together.isascii()
        and together.isprintable()
        and " " not in together
        and min(map(len, names)) > 0
        and max(map(len, names)) <= NAME_BYTES
    ):
        names = [_short(name) for name in names]
    forms: dict[tuple[tuple[int, ...], int], str] = {}
    rows = []
    for name, (_, shape, kind) in zip(names, tensors, strict=True):
        form = forms.get((shape, kind))
        if form is None:
            sizes = shape if len(shape) <= c.STAR_RANK_MAX else (1, math.prod(shape))
            text = ",".join(map(str, sizes)) or "-"
            form = forms[shape, kind] = f" f32 {text}{KIND_WORDS[kind]}\n"
        rows.append(name + form)
    return names, rows


def pack(tensors: Sequence[Described]) -> list[Described]:
    """Tensors as a schema can hold them: where they are too many or their names
    too long, neighbours of a kind become one matrix of one row."""
    names, rows = _rows(tensors)
    if (
        len(names) <= TENSORS_MAX
        and sum(map(len, rows)) + 8 * len(rows) <= TEXT_MAX
        and len(set(names)) == len(names)
    ):
        return [
            Described(name, shape, kind)
            if len(shape) <= c.STAR_RANK_MAX
            else Described(name, (1, math.prod(shape)), kind)
            for name, (_, shape, kind) in zip(names, tensors, strict=True)
        ]
    packed: list[Described] = []
    sizes = [math.prod(shape) for _, shape, _ in tensors]
    target = math.ceil(sum(sizes) / 256)
    first = elements = 0
    last = len(tensors) - 1
    for i, (_, shape, kind) in enumerate(tensors):
        elements += sizes[i]
        # Vectors travel as float32 whatever codec there is; they stay apart.
        if i < last and elements < target:
            _, following, its_kind = tensors[i + 1]
            if its_kind == kind and (
                (len(following) < 2) == (len(shape) < 2)
                or len(packed) >= TENSORS_MAX // 2
            ):
                continue
        text = "".join(rows[first : i + 1])
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        name = f"packed.{len(packed)}.{i + 1 - first}.{digest}"
        packed.append(Described(name, (1, elements), kind))
        first, elements = i + 1, 0
    return packed


def _spelt(said: bytes) -> str:
    """What the library says, in the words of this face."""
    text = said.decode(errors="replace")
    for spelt, here in SPELLINGS:
        text = text.replace(spelt, here)
    return text


def _count(samples: Any) -> int:
    """A number of samples, said as a number or a tensor of no dimension."""
    try:
        dimensions: int = getattr(samples, "ndim", 0)
        if isinstance(samples, (str, bytes)) or dimensions:
            raise TypeError
        whole = int(samples)
        same = bool(whole == samples)
    except (ValueError, OverflowError):  # NaN, an infinity
        whole, same = -1, False
    except (TypeError, RuntimeError):
        raise TypeError(
            f"samples must be a number, not {type(samples).__name__}"
        ) from None
    if not same or not 0 <= whole <= SAMPLES_MAX:
        raise ValueError(f"samples must be a whole number from 0, not {samples}")
    return whole


def _share(accuracy: Any) -> float:
    """An accuracy as C takes it: NaN is none."""
    value = float(accuracy)
    if math.isnan(value):
        return -1.0
    if not 0 <= value <= 1:
        raise ValueError(f"accuracy must be from 0 to 1, not {accuracy}")
    return value


def _is_reimport() -> bool:
    """Whether this is a spawned process that reads the main script again."""
    module = sys.modules.get("multiprocessing.process")
    current = None if module is None else module.current_process()
    return bool(getattr(current, "_inheriting", False))


def why_idle() -> str:
    """Why links of this process do nothing at all; "": they do."""
    if os.environ.get("STARSWITCH_DISABLE", "0") not in ("", "0"):
        return "disabled by $STARSWITCH_DISABLE"
    if _is_reimport():
        return "a spawned process reads the script again"
    return ""


class _Name:
    """Looks the names of hubs up until one is known, on a thread of its own."""

    def __init__(self, hubs: str) -> None:
        self.known = False
        self.over = False
        self._hosts = [one.strip().rsplit(":", 1)[0] for one in hubs.split(",")]
        threading.Thread(target=self._look, name="starswitch", daemon=True).start()

    def _look(self) -> None:
        while not (self.known or self.over):
            time.sleep(NAME_AGAIN)
            for host in self._hosts:
                try:
                    socket.getaddrinfo(os.fsencode(host.strip("[]")), None)
                    self.known = True
                except OSError:
                    pass


class Link:
    """A link to a hub, made by `starswitch.attach`.

    Its functions are for one thread, that which trains; none but `wait_ready`
    and `detach` waits for the network. Without a hub it does nothing, keeps
    looking for one, and joins when it is there.
    """

    def __init__(
        self, parameters: Parameters | None, options: Options, idle: str = ""
    ) -> None:
        """`idle`: why the link is to do nothing, as where another process has
        it; "": it takes part. See why_idle. Only idle links need no parameters."""
        self._parameters: Any = parameters
        self._options = check_options(options)
        self._handle: Any = None
        self._unhook: list[Callable[[], None]] = []
        self._optimizing = 0.0  # seconds of this iteration in the optimizer
        self._watchers: list[Any] = []  # a Sampler: hears of steps, and of detach
        self._pending: _Pending | None = None
        self._samples = 0
        self._reports = 0  # since the last step
        self._accuracy = -1.0
        self._iteration = 0
        self._offered_at = -1
        self._asked_at = -1  # the iteration at which `over` was asked last
        self._skipped = 0
        self._swapped = False
        self._inside = False  # of the library, where the evaluation is, too
        self._changed = False
        self._reset = False
        self._failure: BaseException | None = None
        self._interrupt: BaseException | None = None
        self._advice = c.star_advice.STAR_GO
        self._exit_code = 0
        self._problem = ""
        self._lib: Any = None
        self._stepping = False
        # Within a step: whether no hook comes behind that which called.
        self._last_hook: Callable[[], bool] = lambda: True
        self._owns = True  # or another rank does
        self._left: Any = None  # what the hub held at detach
        self._centerless = ""  # why that is not known
        self._name: _Name | None = None  # looked up, as it is not known yet
        # Until the first step nobody knows whether there is a process group.
        self._find_ranks: Callable[[], Ranks | None] | None = None
        self._ranks: Ranks | None = None
        self._crew: Ranks | None = None  # the same, also when the link is over
        idle = idle or why_idle()
        self._last = State(text=idle)
        if not idle:
            self._open()

    # ---- opening and closing ----

    def _open(self) -> None:
        former = _links.get(self._options.name)
        if former is not None:
            if former.attached and not former._is_of(self._parameters):
                logger.warning(
                    "the link that this process had under the same name was of other "
                    "parameters, and ends: a model that was attached there is trained "
                    'alone from now on. Several are one link, attach({"g": g, "d": d}, '
                    "optimizer)"
                )
            former.detach(within=1.0)
        trained = _trained.get(self._run())
        if trained and trained() is not _extra(self._parameters, "first", None):
            logger.warning(
                "this process was in a run at this hub with another model, which will "
                "replace this one if the run goes on: where it is to be trained from "
                "the beginning, as for another fold, start a hub with a --directory "
                "of its own"
            )
        self._lib = library()
        # Calls that never wait keep the interpreter's lock: giving it away
        # would let another thread of the script have it for 5 ms.
        quick = PyDLL(self._lib._name, handle=self._lib._handle)
        self._due, self._poll = quick.star_due, quick.star_poll
        self._say_to_hub = quick.star_say
        for function in (self._due, self._poll, self._say_to_hub):
            function.restype, function.argtypes = c.FUNCTIONS[function.__name__]
        tensors = self._tensors()
        complete = self._parameters.begin_copy()
        while not complete():
            time.sleep(0.001)
        handle = POINTER(c.star_link)()
        error = create_string_buffer(256)
        options = self._star_options()
        status = self._lib.star_attach(
            byref(options), tensors, len(tensors), byref(handle), error, len(error)
        )
        if status != c.star_status.STAR_OK:
            self._not_open(status, error.value.decode(errors="replace"))
            return
        self._name = None
        self._handle = handle
        self._progress = c.star_progress(size=sizeof(c.star_progress))
        self._event = c.star_event(size=sizeof(c.star_event))
        self._progress_here = byref(self._progress)
        self._event_here = byref(self._event)
        _links[self._options.name] = self
        _held.add(self)

    def _hubs(self) -> str:
        return self._options.hub or os.environ.get("STARSWITCH_HUB", "")

    def _run(self) -> tuple[Any, ...]:
        return self._options.name, self._hubs()

    def _is_of(self, parameters: Any) -> bool:
        """Whether its tensors have the names and shapes of these."""
        return list(self._parameters.described) == list(parameters.described)

    def _not_open(self, status: int, text: str) -> None:
        """A hub's name that is not known now may be known later, as when that PC
        is on again; all else is the script's mistake."""
        if status != c.star_status.STAR_NO_NETWORK:
            raise StarswitchError(text)
        text = f"{text} ({self._where()})"
        if self._options.strict:
            raise ConnectError(text)
        if self._name is None:
            logger.warning("%s", text, extra={"event": "hub_unreached"})
        self._problem = text
        self._last = self._last._replace(text=f"training alone; {text}")
        self._name = _Name(self._hubs())

    def _tensors(self) -> Any:
        """The tensors as C describes them; sets `_elements`, those of the
        staging vector, and `_told`, those that the hub hears of. What is not
        exchanged and yet must be the same on all nodes is the name of one more,
        of one element that never changes."""
        packed = pack(self._parameters.described)
        self._elements = sum(one.elements for one in packed)
        fingerprint = _extra(self._parameters, "fingerprint", "")
        if fingerprint:
            packed.append(Described(FROZEN + fingerprint, (1,)))
        self._told = sum(one.elements for one in packed)
        tensors = (c.star_tensor * len(packed))()
        address = self._parameters.staging
        for tensor, one in zip(tensors, packed, strict=True):
            tensor.size = sizeof(c.star_tensor)
            tensor.name = one.name.encode()
            tensor.rank = len(one.shape)
            tensor.shape[: len(one.shape)] = one.shape
            tensor.value = cast(address, POINTER(c_float))
            tensor.kind = one.kind
            address += 4 * one.elements
        if fingerprint:
            self._constant = c_float()
            tensors[len(packed) - 1].value = cast(
                addressof(self._constant), POINTER(c_float)
            )
        return tensors

    def _star_options(self) -> c.star_options:
        given = self._options
        options = c.star_options(size=sizeof(c.star_options), quiet=1)
        options.hub = encoded(given.hub)
        options.name = encoded(given.name)
        options.key = encoded(given.key)
        options.identity = encoded(given.identity)
        options.cores = encoded(given.cores)
        options.record = encoded(given.record)
        options.up, options.down = given.up, given.down
        types: dict[str, Any] = {one[0]: one[1] for one in c.star_options._fields_}
        # Kept here, as C calls them for as long as the link lives.
        self._callbacks = {
            "change": types["change"](self._change),
            "raise_to": types["raise_to"](self._raise_to),
            "replaced": types["replaced"](self._replaced),
            "hurry": types["hurry"](self._hurry),
        }
        if given.evaluate is not None:
            self._callbacks["evaluate"] = types["evaluate"](self._evaluate)
        for name, function in self._callbacks.items():
            setattr(options, name, function)
        return options

    def detach(self, within: float | None = None, *, exiting: bool = False) -> None:
        """Offers the last progress, says goodbye and takes the hooks away; waits
        so many seconds at most (`leave_within` of attach), and not for a hub
        that is gone. The script's own parameters stay as they are; those of the
        hub can still be had from `center`, unless the process is `exiting`. A
        second call does nothing."""
        if within is not None:
            check_seconds("within", within)
        if self._inside:
            raise StarswitchError("detach() while the link evaluates: do it behind it")
        # While torch goes through its hooks, it would trip over one that is gone.
        if not self._stepping or self._last_hook():
            for unhook in self._unhook:
                unhook()
            self._unhook.clear()
        self._ranks = self._find_ranks = None
        if self._name is not None:
            self._name.over, self._name = True, None
        if self._handle is None:
            return
        for watcher in self._watchers:
            watcher._before_detach()
        limit = self._options.leave_within if within is None else within
        until = time.monotonic() + limit
        self._look()
        first = _extra(self._parameters, "first", None)
        if self._last.applied and first is not None:
            _trained[self._run()] = weakref.ref(first)
        if not self._last.attached:
            until = time.monotonic() + min(limit, GONE)
        elif limit > 0:
            self._guard(lambda: self._offer_last(until))
        if not exiting:
            self._left = self._center_values()
        handle, self._handle = self._handle, None
        _held.discard(self)
        self._say_events(handle)
        self._lib.star_detach_within(byref(handle), max(0.0, until - time.monotonic()))
        self._last = self._last._replace(attached=False)
        if self._failure is not None:
            error, self._failure = self._failure, None
            if not isinstance(error, Exception):
                raise error
            logger.warning("the last progress could not be offered: %s", error)

    def _offer_last(self, until: float) -> None:
        if _extra(self._parameters, "is_changed_outside", False):
            logger.warning(
                "the parameters have changed behind the last step, as where the best "
                "ones or a mean are put in their place: what was learnt since the "
                "last offer is not offered. Detach first, to offer it"
            )
            return
        complete = self._parameters.begin_copy()
        while not complete():
            if time.monotonic() > until:
                return
            time.sleep(0.001)
        self._enter(self._lib.star_offer, self._iteration)

    def _forget(self) -> None:
        """After a fork, in the child: the link is the parent's."""
        self._handle = None
        self._unhook.clear()
        self._ranks = self._crew = self._find_ranks = self._name = None
        self._last = self._last._replace(
            attached=False, text="a child of the process that attached"
        )

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.detach()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Link belongs to the process that attached and cannot be pickled: "
            "save link.state_dict(), or the model alone"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Link:
        return self

    def __copy__(self) -> Link:
        return self

    def __repr__(self) -> str:
        state = self.state()
        return f"<starswitch.Link {state.name or '-'}: {state.text or 'not attached'}>"

    # ---- what C calls, on the thread that trains ----

    def _guard(self, act: Callable[[], None]) -> bool:
        """Exceptions cannot pass through C: the first is kept for `step`."""
        try:
            act()
            return True
        except BaseException as error:
            if self._failure is None:
                self._failure = error
            return False

    def _enter(self, function: Callable[..., int], *arguments: Any) -> int:
        """Calls what may call back, or wait."""
        former, sys.unraisablehook = sys.unraisablehook, self._unraised
        self._inside = True
        try:
            return function(self._handle, *arguments)
        finally:
            self._inside = False
            sys.unraisablehook = former

    def _unraised(self, what: Any) -> None:
        """Ctrl-C may come as a function begins that C calls, before any `try`:
        then ctypes has nobody to raise it to."""
        if getattr(what.object, "__self__", None) is not self:
            sys.__unraisablehook__(what)
        elif what.object.__name__ == "_hurry":
            self._interrupt = what.exc_value
        elif self._failure is None:  # something was not done that C believes in
            self._failure = what.exc_value

    def _change(
        self, _: Any, keep: float, scale: float, values: Any, first: int, count: int
    ) -> None:
        count = min(count, self._elements - first)
        if self._failure is None and count > 0:
            self._changed = True
            address = addressof(values.contents)
            self._guard(
                lambda: self._parameters.change(keep, scale, address, first, count)
            )

    def _raise_to(self, _: Any, values: Any, first: int, count: int) -> None:
        if self._failure is None:
            self._changed = True
            parameters: Any = self._parameters
            address = addressof(values.contents)
            self._guard(lambda: parameters.raise_to(address, first, count))

    def _replaced(self, _: Any, reset: int) -> None:
        def act() -> None:
            forgets = bool(reset) or _extra(self._parameters, "is_spoilt", False)
            self._reset |= forgets
            self._parameters.replaced(forgets)

        self._guard(act)

    def _hurry(self, _: Any) -> int:
        """Asked while C waits, as with --delay 0. Ctrl-C is raised in Python
        code only, so here: the wait ends, and `step` raises it."""
        try:
            time.sleep(0)
            return int(self._interrupt is not None)
        except BaseException as error:
            self._interrupt = error
            return 1

    def _evaluate(self, _: Any, values: Any, loss: Any, error: Any) -> int:
        evaluate = self._options.evaluate
        assert evaluate is not None

        def act() -> None:
            with self._parameters.swapped(addressof(values.contents)):
                loss[0] = float(evaluate())
            error[0] = 0.0

        return 0 if self._guard(act) else 1

    # ---- the training loop's side ----

    def report(
        self,
        *,
        loss: Any = None,
        samples: Any = None,
        accuracy: float | None = None,
    ) -> None:
        """What the iteration measured, in any order with the optimizer's step:
        its mean training loss (a number or a tensor, which is not waited for),
        its number of samples (1 unless said; a whole number, of whatever type:
        else ValueError or TypeError), an accuracy on held-out data, 0 to
        1. Called several times in an iteration, losses are averaged by
        samples."""
        if self._handle is None:
            return
        self._reports += 1
        if self._reports == STEPLESS:
            logger.warning(
                "%d reports and no step of the optimizer that attach was given, so "
                "nothing is exchanged: give attach the one whose step() is called "
                "(of SAM, optimizer.base_optimizer), or none, and call link.step() "
                "behind each step",
                STEPLESS,
            )
        count = None if samples is None else _count(samples)
        if loss is not None:
            self._parameters.read_loss(loss, 1 if count is None else count)
        if count is not None:
            self._samples += count
        if accuracy is not None:
            self._accuracy = _share(accuracy)

    def step(self) -> None:
        """Ends an iteration, after the optimizer's step. Called by the hook on
        the optimizer that `attach` was given; by hand without one. Raises
        nothing because of the network, unless attached with strict=True."""
        self._turn(self._step)

    def idle(self) -> None:
        """Instead of `step`, many times a second, while there is nothing to train
        on, as where the hub has no task now: offers have their turn and results
        are applied, but no iteration is counted, nor a sample. Where several
        processes train one model, all of them call it, or none."""
        self._turn(self._pass)

    def _turn(self, act: Callable[[], None]) -> None:
        self._find()
        if self._name is not None and self._name.known:
            self._open()
        if self._handle is not None:
            self._stepping = True
            try:
                act()
            finally:
                self._stepping = False
                if self._ranks is not None:
                    self._share()
        elif self._ranks is not None:
            self._share()

    def _find(self) -> None:
        if self._find_ranks is not None:
            find, self._find_ranks = self._find_ranks, None
            self._ranks = self._crew = find()

    def _step(self) -> None:
        if self._swapped:
            raise StarswitchError("a step inside `with link.center()`: leave it first")
        for watcher in self._watchers:
            watcher._before_step(self._samples or None)
        progress = self._progress
        progress.loss = self._parameters.take_loss()
        progress.samples = self._samples or 1
        if self._ranks is not None:
            progress.samples *= self._ranks.size
        progress.accuracy = self._accuracy
        progress.optimizer, self._optimizing = self._optimizing, 0.0
        self._samples, self._accuracy = 0, -1.0
        self._reports = 0
        self._iteration += 1
        self._exchange(self._lib.star_step, self._progress_here)

    def _pass(self) -> None:
        """Time passes without an iteration."""
        self._exchange(self._lib.star_idle)

    def _exchange(self, function: Callable[..., int], *arguments: Any) -> None:
        if self._swapped:
            raise StarswitchError("a step inside `with link.center()`: leave it first")
        try:
            try:
                self._end_copy()  # as no other offer begins before that
            finally:
                advice = self._enter(function, *arguments)
            self._begin_copy()
        except Exception as error:
            self._failure = self._failure or error
        if self._poll(self._handle, self._event_here):
            self._say(self._event)
            self._say_events(self._handle)
        if self._interrupt is not None:
            interrupt, self._interrupt = self._interrupt, None
            raise interrupt
        if self._failure is not None:
            self._fail()
        elif advice:
            self._end(c.star_advice(advice))

    def _share(self) -> None:
        """What the owner of the link has done in this step, all ranks do."""
        ranks = self._ranks
        assert ranks is not None
        changed, self._changed = self._changed, False
        verdict = CHANGED if changed else GO
        if self._owns and self._handle is None and self._name is None:
            verdict = next((k for k, v in ADVICE.items() if v == self._advice), OVER)
        reset, self._reset = self._reset, False
        verdict = ranks.share(verdict | (RESET if reset else 0))
        if verdict & RESET and not self._owns:
            self._parameters.replaced(True)
        verdict &= ~RESET
        if verdict >= OVER:
            self._ranks = None
        self._advice = ADVICE.get(verdict, self._advice)

    def skip(self) -> None:
        """An iteration that changed nothing, as when a gradient scaler has found
        an infinity: it is counted, and offers nothing."""
        if self._handle is not None:
            self._skipped += 1
            self._reports = 0

    def _end_copy(self) -> None:
        """An offer begins with a copy of the parameters and ends, perhaps some
        iterations later, when the copy is complete."""
        pending = self._pending
        if pending is not None and pending.complete():
            self._pending = None
            self._enter(self._lib.star_offer, pending.iteration)
            self._offered_at = pending.iteration

    def _begin_copy(self) -> None:
        if self._pending is None and (
            self._due(self._handle) & c.star_due.STAR_DUE_COPY
        ):
            pieces = _extra(self._parameters, "pieces", None)
            if pieces is not None:
                offer = self._lib.star_offer_pieces
                self._enter(offer, self._iteration, *in_pieces(*pieces))
                self._offered_at = self._iteration
                return
            complete = self._parameters.begin_copy()
            if complete():
                self._enter(self._lib.star_offer, self._iteration)
                self._offered_at = self._iteration
            else:
                self._pending = _Pending(self._iteration, complete)

    def _fail(self) -> None:
        """The parameters could not be moved: what the hub believes of this node
        would be wrong from here on, so it leaves and trains on alone."""
        error, self._failure = self._failure, None
        self._leave(0)
        self._last = self._last._replace(text=f"training alone: {error}")
        if not isinstance(error, Exception) or self._options.strict:
            raise error if error is not None else StarswitchError("internal error")
        logger.error("training alone from now on: %s", error)

    def _leave(self, within: float | None = None) -> None:
        """Detaches within a step, of which the other ranks must hear."""
        ranks = self._ranks
        self.detach(within)
        self._ranks = ranks

    def _end(self, advice: c.star_advice) -> None:
        self._look()
        self._advice = advice
        if advice == c.star_advice.STAR_REFUSED:
            error = self._refusal(StarswitchError)
            self._leave(0)
            self._last = self._last._replace(text=f"training alone: {error}")
            if self._options.strict:
                raise error
            logger.error("training alone from now on: %s", error)
        else:
            logger.info("the run is over: %s", self._last.text)
            self._leave()

    def _refusal(self, other: type[StarswitchError]) -> StarswitchError:
        """Why the hub will not have this node, as what would be raised."""
        kind, text = REFUSALS.get(self._exit_code, other), self._last.text
        if SECOND_PORT in text:
            return ConnectError(f"no hub can be joined there: {text} ({self._where()})")
        if kind is SchemaMismatch:
            if FROZEN in text:
                text += FROZEN_DIFFERS
            elif "gradient" in text:
                text += NO_GRADIENTS
        return kind(f"{text} ({self._where()})")

    @property
    def over(self) -> bool:
        """The run has ended, or will not have this node: what is trained from
        now on is trained alone. Known without a step, too, as where the hub has
        no samples any more and passes are empty; but not of several processes that
        train one model, as all of them must hear of it at the same step."""
        if self._advice != c.star_advice.STAR_GO:
            return True
        if any(watcher._tasks_over for watcher in self._watchers):
            return True
        shared = self._ranks is not None or self._find_ranks is not None
        if self._handle is None or shared or self._asked_at != self._iteration:
            self._asked_at = self._iteration
            return False
        closed = c.star_status.STAR_CLOSED
        return bool(self._lib.star_wait(self._handle, 0.0) == closed)

    def _hear(self) -> None:
        """What the hub has said, where no step of the optimizer comes that would:
        once it has ended the run nothing is offered by this one."""
        if self._handle is not None:
            self._pass()

    # ---- looking ----

    def _look(self) -> None:
        # C holds the link's lock while it evaluates: what is known stands.
        if self._handle is None or self._inside:
            return
        state = c.star_state(size=sizeof(c.star_state))
        self._lib.star_look(self._handle, byref(state))
        self._exit_code = int(state.exit_code)
        told = {
            name: getattr(state, name) for name in State._fields if hasattr(state, name)
        }
        told["attached"] = bool(state.attached)
        told["name"] = state.name.decode(errors="replace")
        told["text"] = _spelt(state.text)
        told["skipped"] = self._skipped + _extra(self._parameters, "late_skips", 0)
        self._last = self._last._replace(**told)

    def state(self) -> State:
        """Where the link stands now; after `detach`, where it stood."""
        self._look()
        return self._last

    @property
    def attached(self) -> bool:
        """Whether a hub has taken this node in and is there."""
        return self.state().attached

    @property
    def global_samples(self) -> int:
        """Training samples of all nodes in the run, as far as this one knows."""
        return self.state().global_samples

    def wait_ready(self, timeout: float | None = None) -> None:
        """Waits until a hub has taken this node in. ConnectError: not within so
        many seconds; KeyRefused, SchemaMismatch, VersionMismatch: it will not, which
        is raised as soon as it is known. The link goes on: who mends that may wait
        again. Where attach does nothing, as by $STARSWITCH_DISABLE, so does this."""
        if timeout is not None and math.isnan(timeout):
            raise ValueError("timeout must be seconds or None, not nan")
        until = math.inf if timeout is None else time.monotonic() + timeout
        while self._name is not None:
            if self._name.known:
                self._open()
            elif time.monotonic() >= until:
                raise ConnectError(self._problem)
            else:
                time.sleep(WAIT_SLICE)
        if self._handle is None:
            if not self._owns or why_idle():
                return
            text = self._last.text
            if self._advice == c.star_advice.STAR_GO:
                text = f"the link was detached; attach again (it was {text})"
            raise Closed(text)
        while True:
            slice_ = max(0.0, min(WAIT_SLICE, until - time.monotonic()))
            status = self._lib.star_wait(self._handle, slice_)
            self._say_events(self._handle)
            self._look()
            if status == c.star_status.STAR_OK:
                return
            if status == c.star_status.STAR_CLOSED:
                raise self._refusal(Closed)
            if self._key_is_refused():
                time.sleep(2 * WAIT_SLICE)  # then its event says what to do
                self._say_events(self._handle)
                text = self._problem if " key" in self._problem else self._last.text
                raise KeyRefused(f"{text} ({self._where()})")
            if time.monotonic() >= until:
                text = self._problem or self._last.text
                kind = KeyRefused if " key" in text else ConnectError
                raise kind(f"{text} ({self._where()}; waited {timeout:g} s)")

    def _key_is_refused(self) -> bool:
        """Whether the only hub there is has other keys than this node's. Of several
        the next may have the right ones."""
        hubs = self._hubs()
        return "," not in os.fsdecode(hubs) and " key" in self._last.text

    def _where(self) -> str:
        """The hub's address and where it came from."""
        return where(self._options.hub, "attach(hub=...)")

    def _say(self, event: c.star_event) -> None:
        text = _spelt(event.text)
        level = LEVELS.get(c.star_level(event.level), logging.INFO)
        if level >= logging.WARNING:
            self._problem = text
        name = event.event.decode()
        if name == "hub_unreached":
            text = f"{text} ({self._where()})"
        logger.log(level, "%s", text, extra={"event": name})

    def _say_events(self, handle: Any) -> None:
        while self._poll(handle, self._event_here):
            self._say(self._event)

    # ---- the hub's parameters ----

    @contextmanager
    def center(self, *, all_ranks: bool = False) -> Iterator[None]:
        """Inside, the model holds what the hub holds, as of the newest result:
        `with link.center(): evaluate(model)`. After `detach`, as of then; if it
        never sent its parameters, the model's own.

        all_ranks: where several processes train one model, all of them are here,
        and the model of each holds it; else that of rank 0 does, and the others
        their own."""
        values = self._center_values()
        if values is None and self._centerless:
            logger.info(
                "the model's own parameters stand for the hub's: %s", self._centerless
            )
        if all_ranks:
            self._find()
            if self._crew is not None:
                values = self._crew.spread(values)
        if values is None:
            yield
            return
        self._swapped = True
        try:
            with self._parameters.swapped(addressof(values)):
                yield
        finally:
            self._swapped = False

    def _center_values(self) -> Any | None:
        """The flat vector that the hub holds, or None: none is here yet."""
        if self._inside:
            raise StarswitchError("center() while the link evaluates: it is there")
        if self._handle is None:
            return self._left
        values = (c_float * self._told)()
        error = create_string_buffer(256)
        status = self._lib.star_centre(
            self._handle, values, self._told, None, error, len(error)
        )
        if status == c.star_status.STAR_OK:
            return values
        self._centerless = error.value.decode(errors="replace")
        return None

    # ---- saving ----

    def state_dict(self) -> dict[str, Any]:
        """What a script saves beside the model so that a later process goes on
        as this one would: its name, to be given to attach, and what parameters
        of low precision hold beyond it."""
        state = self.state()
        return {
            "format": 1,
            "name": state.name,
            "iteration": self._iteration,
            "parameters": _extra(self._parameters, "state_dict", {}),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes up what state_dict of a former process returned, once the model
        has its parameters of then."""
        if not isinstance(state, dict) or state.get("format") != 1:
            raise ValueError(
                f"no state of a starswitch Link, but {state!r:.60}: give what its "
                "state_dict() returned"
            )
        if state["parameters"] and self._parameters is not None:
            self._parameters.load_state_dict(state["parameters"])


def _pass_on(record: logging.LogRecord) -> bool:
    """Lets all lines of the logger be, and says them to the hubs, too, where
    `starswitch-hub logs` shows them. Events are the library's own: it has said
    them."""
    if hasattr(record, "event") or not _held:
        return True
    level = max(
        (one for one, name in LEVELS.items() if name <= record.levelno),
        default=c.star_level.STAR_DEBUG,
    )
    try:
        text = record.getMessage().encode(errors="replace")
    except (TypeError, ValueError, KeyError):
        return True  # the handlers say what is wrong with it
    for link in list(_held):
        handle = link._handle
        if handle is not None:
            link._say_to_hub(handle, level, b"script", text)
    return True


# A filter, as with a handler Python would not print warnings by itself any more.
logger.addFilter(_pass_on)


def _leave_all() -> None:
    for link in list(_held):
        link.detach(exiting=True)


def _after_fork() -> None:
    for link in list(_held):
        link._forget()
    _held.clear()
    _links.clear()


atexit.register(_leave_all)
os.register_at_fork(after_in_child=_after_fork)
