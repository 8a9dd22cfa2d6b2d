"""torch.distributed's process group, whose calls go through the hub.

A call returns a Work at once; collectives are made one after the other, in the order
of the calls, by a thread of the crew, and messages by another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from ctypes import byref, c_size_t
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from . import _library as c
from ._crew import Crew, start
from ._memory import place
from .errors import StarswitchError
from .group import SLICE, Request

ReduceOp = dist.ReduceOp
BaseWork: Any = dist._Work  # type: ignore[attr-defined]
BaseGroup: Any = dist.ProcessGroup
REDUCTIONS = [
    (ReduceOp.SUM, c.star_op.STAR_SUM),
    (ReduceOp.AVG, c.star_op.STAR_MEAN),
    (ReduceOp.MAX, c.star_op.STAR_MAX),
    (ReduceOp.MIN, c.star_op.STAR_MIN),
]
# What the hub does not do itself: all gather, and each does it, in the same order.
FOLDS: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (ReduceOp.PRODUCT, torch.mul),
    (ReduceOp.BAND, torch.bitwise_and),
    (ReduceOp.BOR, torch.bitwise_or),
    (ReduceOp.BXOR, torch.bitwise_xor),
]
BOOLEAN = [
    (ReduceOp.SUM, c.star_op.STAR_MAX),
    (ReduceOp.BOR, c.star_op.STAR_MAX),
    (ReduceOp.MAX, c.star_op.STAR_MAX),
    (ReduceOp.PRODUCT, c.star_op.STAR_MIN),
    (ReduceOp.BAND, c.star_op.STAR_MIN),
    (ReduceOp.MIN, c.star_op.STAR_MIN),
]


def _find(table: Sequence[tuple[Any, Any]], op: Any) -> Any:
    return next((one for each, one in table if op == each), None)


# ---- works ----


class Work(BaseWork):  # type: ignore[misc]
    """A call under way: done when its future is. What calls back is called on the
    thread for collectives, for a message on one of its own."""

    def __init__(
        self, crew: Crew, tensors: list[torch.Tensor], message: bool = False
    ) -> None:
        super().__init__()
        self._crew = crew
        self._tensors = tensors
        self._message = message
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._source = -1
        self._asked = threading.Lock()
        self._begun: torch.futures.Future[Any] | None = None
        self._future: Any = None

    def _value(self, _: Any) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._tensors

    def _end(self, error: BaseException | None) -> None:
        if self._done.is_set():
            return
        if error is not None and not isinstance(error, RuntimeError):
            error = as_runtime_error(error)
        self._error = error
        with self._asked:
            self._done.set()
        if self._begun is None:
            return
        if self._message:
            start(self._begun.set_result, None)
        else:
            self._crew.call_back(self._begun)

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        if not (self._message or self._done.is_set()):
            self._crew.make_way()
        until = time.monotonic() + timeout.total_seconds() if timeout else None
        try:
            while not self._done.wait(SLICE):
                if until is not None and time.monotonic() > until:
                    raise RuntimeError(f"starswitch: not done within {timeout}")
        except KeyboardInterrupt:
            self._crew.hurry()
            raise
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        return self._done.is_set()

    def is_done_within(self, seconds: float) -> bool:
        return self._done.wait(seconds)

    def is_success(self) -> bool:
        return self._done.is_set() and self._error is None

    def exception(self) -> Any:
        return self._error

    def get_future(self) -> Any:
        with self._asked:
            if self._future is None:
                begun: torch.futures.Future[Any] = torch.futures.Future()
                # C++, such as DDP's reducer, sees an error only if a callback
                # raises it.
                self._future = begun.then(self._value)
                if self._done.is_set():
                    begun.set_result(None)
                else:
                    self._begun = begun
        return self._future

    def result(self) -> list[torch.Tensor]:
        return self._tensors

    def source_rank(self) -> int:
        return self._source

    _source_rank = source_rank


def as_runtime_error(error: BaseException) -> RuntimeError:
    """torch's errors are RuntimeErrors; the cause is ours."""
    made = RuntimeError(f"starswitch: {error}")
    made.__cause__ = error
    return made


# ---- the process group ----


def _on_cpu(tensors: Sequence[torch.Tensor]) -> None:
    for tensor in tensors:
        if tensor.device.type != "cpu":
            raise RuntimeError(
                f"starswitch: a tensor is on {tensor.device}: this backend moves "
                "tensors on the CPU; for a GPU use starswitch.attach, which hides "
                "the network, or tensor.cpu()"
            )
        if tensor.is_sparse or tensor.layout != torch.strided:
            raise RuntimeError("starswitch: a sparse tensor: use tensor.to_dense()")


def _as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, flat and contiguous, as bytes."""
    return tensor.detach().contiguous().view(-1).view(torch.uint8)


def _of_bytes(raw: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return raw.clone().view(like.dtype).view(like.shape)


class ProcessGroup(BaseGroup):  # type: ignore[misc]
    """The hub's group as torch.distributed sees it. Collectives are made one after
    the other, in the order of the calls, by a thread; messages by another."""

    def __init__(self, crew: Crew) -> None:
        super().__init__(crew.rank, crew.world)
        self._crew = crew
        crew.users += 1
        self._left = False
        self._name = ""

    # ---- who ----

    def getBackendName(self) -> str:
        return "starswitch"

    # torch keeps a group's name in its backends, of which this one has none.

    def _set_group_name(self, name: str) -> None:
        self._name = name

    def getGroupName(self) -> str:
        return self._name

    @property
    def group_name(self) -> str:
        return self._name

    def rank(self) -> int:
        return self._crew.rank

    def size(self) -> int:
        return self._crew.world

    @property
    def members(self) -> list[int]:
        """The ranks that are there, as of the last collective."""
        return sorted(self._crew.ranks)

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu")]

    def shutdown(self) -> None:
        """Leaves the group once the calls so far are done."""
        if not self._left:
            self._left = True
            self._crew.users -= 1
            if self._crew.users == 0:
                self._crew.leave()

    def abort(self) -> None:
        """Leaves; the calls under way fail."""
        self._crew.hurry()
        self.shutdown()

    # ---- calls ----

    def _submit(self, result: list[torch.Tensor], act: Callable[[], None]) -> Work:
        work = Work(self._crew, result)

        def task() -> None:
            try:
                act()
            except BaseException as error:
                work._end(error)
            else:
                work._end(None)

        self._crew.submit(task)
        return work

    def _reduce_now(self, tensor: torch.Tensor, op: Any) -> None:
        """Reduces in place; on the thread for collectives."""
        crew = self._crew
        if tensor.is_complex():
            if op not in (ReduceOp.SUM, ReduceOp.AVG):
                raise RuntimeError("starswitch: complex numbers have a sum and a mean")
            tensor = torch.view_as_real(tensor)
        native = _find(BOOLEAN if tensor.dtype == torch.bool else REDUCTIONS, op)
        if native is None:
            self._fold_now(tensor, op)
            return
        if native == c.star_op.STAR_MEAN and not tensor.is_floating_point():
            raise RuntimeError(f"starswitch: integers ({tensor.dtype}) have no mean")
        memory = place(tensor, numbers=True)
        crew.together(
            lambda handle: crew.lib.star_group_allreduce(
                handle,
                memory.address,
                memory.count,
                memory.dtype,
                native,
                NO_PREPARE,
                None,
            )
        )
        left = len(crew.ranks)
        if op == ReduceOp.SUM and left < crew.world and tensor.is_floating_point():
            memory.keep.mul_(crew.world / left)
        memory.store()

    def _fold_now(self, tensor: torch.Tensor, op: Any) -> None:
        fold = _find(FOLDS, op)
        if fold is None:
            raise RuntimeError(f"starswitch: no reduction {op} for {tensor.dtype}")
        everybody = self._gather_now(tensor)
        total = everybody[min(self._crew.ranks)]
        for rank in sorted(self._crew.ranks)[1:]:
            total = fold(total, everybody[rank])
        tensor.copy_(total)

    def _gather_bytes_now(
        self, own: torch.Tensor, sizes: Callable[[], list[int]]
    ) -> dict[int, torch.Tensor]:
        """Bytes of each rank, by rank; `sizes`: how many each place gives."""
        crew = self._crew
        rooms: list[Any] = []
        gone: list[Any] = []

        def act(handle: Any) -> int:
            total = sum(sizes())
            room = torch.empty(max(1, total), dtype=torch.uint8, device="cpu")
            received = c_size_t(0)
            status: int = crew.lib.star_group_allgather(
                handle,
                own.data_ptr() or None,
                own.numel(),
                room.data_ptr(),
                total,
                byref(received),
            )
            if status == c.star_group_status.STAR_GROUP_SUCCESS:
                gone.append(received.value)
                rooms.append(room[:total])
            return status

        if not crew.together(act):
            return {crew.rank: own}
        if gone[-1] != rooms[-1].numel():
            raise StarswitchError("the ranks gave tensors of different sizes")
        parts = rooms[-1].split(sizes())
        return dict(zip(crew.ranks, parts, strict=True))

    def _gather_now(self, tensor: torch.Tensor) -> dict[int, torch.Tensor]:
        """The tensor of each rank that is there, by rank."""
        own = _as_bytes(tensor)
        parts = self._gather_bytes_now(
            own, lambda: [own.numel()] * len(self._crew.ranks)
        )
        return {rank: _of_bytes(part, tensor) for rank, part in parts.items()}

    def _gather_all_now(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """Of each rank, in order; of a lost one, what the lowest that is left gives,
        on all ranks, so that sizes and objects are such as can be used."""
        parts = self._gather_now(tensor)
        instead = parts[min(parts)]
        return [parts.get(rank, instead) for rank in range(self.size())]

    def _broadcast_now(self, tensor: torch.Tensor, root: int) -> None:
        crew = self._crew
        memory = place(tensor)

        def act(handle: Any) -> int:
            source = root
            if crew.elastic and root not in crew.ranks:
                source = min(crew.ranks)
            status: int = crew.lib.star_group_broadcast(
                handle, memory.address, memory.nbytes, crew.place_of(source)
            )
            return status

        crew.together(act)
        memory.store()

    # ---- torch's names ----

    def allreduce(self, tensors: Any, opts: Any = None, *more: Any) -> Work:
        tensors, op = _tensors(tensors), _op(opts)
        _on_cpu(tensors)

        def act() -> None:
            for tensor in tensors:
                self._reduce_now(tensor, op)

        return self._submit(tensors, act)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Work:
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = 0, *more: Any) -> Work:
        tensors = _tensors(tensors)
        _on_cpu(tensors)
        root = opts if isinstance(opts, int) else opts.rootRank

        def act() -> None:
            for tensor in tensors:
                self._broadcast_now(tensor, root)

        return self._submit(tensors, act)

    def barrier(self, opts: Any = None) -> Work:
        crew = self._crew

        def act() -> None:
            crew.together(crew.lib.star_group_barrier)

        return self._submit([], act)

    def reduce(self, tensors: Any, opts: Any, *more: Any) -> Work:
        (tensor,) = _tensors(tensors)
        _on_cpu([tensor])
        root = opts if isinstance(opts, int) else opts.rootRank
        op = _op(more[0] if more else opts)

        def act() -> None:
            total = tensor if self.rank() == root else tensor.clone()
            self._reduce_now(total, op)

        return self._submit([tensor], act)

    def _spread(self, out: Sequence[torch.Tensor], own: torch.Tensor) -> None:
        for one, given in zip(out, self._gather_all_now(own), strict=True):
            one.copy_(given.view(one.shape))

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        if isinstance(inputs, torch.Tensor):
            outputs, inputs = [outputs], [inputs]
        for out in outputs:
            _on_cpu(out)
        _on_cpu(inputs)

        def act() -> None:
            for out, own in zip(outputs, inputs, strict=True):
                self._spread(out, own)

        return self._submit([one for out in outputs for one in out], act)

    def allgather_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        by_input = list(zip(*outputs, strict=True))
        return self.allgather(by_input, inputs, opts)

    def all_gather_single(self, output: Any, own: Any, opts: Any = None) -> Work:
        return self.all_gather_single_coalesced([output], [own], opts)

    def all_gather_single_coalesced(
        self, outputs: Any, inputs: Any, opts: Any = None
    ) -> Work:
        _on_cpu([*outputs, *inputs])
        world = self.size()

        def act() -> None:
            for output, own in zip(outputs, inputs, strict=True):
                flat = torch.empty((world, *own.shape), dtype=own.dtype, device="cpu")
                self._spread(list(flat), own)
                output.copy_(flat.view(output.shape))

        return self._submit(list(outputs), act)

    def gather(self, outputs: Any, inputs: Any, opts: Any, *more: Any) -> Work:
        own = _tensors(inputs)[0]
        _on_cpu([own])
        root = opts if isinstance(opts, int) else opts.rootRank
        out = outputs[0] if outputs and not _is_tensor(outputs[0]) else outputs

        def act() -> None:
            everybody = self._gather_all_now(own)
            if self.rank() == root:
                for one, given in zip(out, everybody, strict=True):
                    one.copy_(given)

        return self._submit(list(out), act)

    def scatter(self, outputs: Any, inputs: Any, opts: Any, *more: Any) -> Work:
        out = _tensors(outputs)[0]
        _on_cpu([out])
        root = opts if isinstance(opts, int) else opts.rootRank
        parts = inputs[0] if inputs and not _is_tensor(inputs[0]) else inputs

        def act() -> None:
            shape = (self.size(), *out.shape)
            whole = torch.empty(shape, dtype=out.dtype, device="cpu")
            if self.rank() == root:
                torch.stack([part.view(out.shape) for part in parts], out=whole)
            self._broadcast_now(whole, root)
            out.copy_(whole[self.rank()])

        return self._submit([out], act)

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any, *more: Any) -> Work:
        out = _tensors(outputs)[0]
        parts = inputs if _is_tensor(inputs[0]) else inputs[0]
        _on_cpu([out, *parts])
        op = _op(opts)

        def act() -> None:
            whole = torch.cat([part.reshape(-1) for part in parts])
            self._reduce_now(whole, op)
            first = sum(part.numel() for part in parts[: self.rank()])
            out.copy_(whole[first : first + out.numel()].view(out.shape))

        return self._submit([out], act)

    def reduce_scatter_single(self, output: Any, own: Any, opts: Any = None) -> Work:
        return self.reduce_scatter_single_coalesced([output], [own], opts)

    def reduce_scatter_single_coalesced(
        self, outputs: Any, inputs: Any, opts: Any = None
    ) -> Work:
        _on_cpu([*outputs, *inputs])
        op = _op(opts)

        def act() -> None:
            for output, own in zip(outputs, inputs, strict=True):
                whole = own.clone().reshape(self.size(), -1)
                self._reduce_now(whole, op)
                output.copy_(whole[self.rank()].view(output.shape))

        return self._submit(list(outputs), act)

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        _on_cpu([*outputs, *inputs])
        return self._submit(list(outputs), lambda: self._exchange(outputs, inputs))

    def all_to_all_single(
        self, output: Any, own: Any, out_sizes: Any, in_sizes: Any, opts: Any = None
    ) -> Work:
        _on_cpu([output, own])
        world = self.size()
        out_sizes = list(out_sizes) or [output.shape[0] // world] * world
        in_sizes = list(in_sizes) or [own.shape[0] // world] * world

        def act() -> None:
            self._exchange(output.split(out_sizes), own.split(in_sizes))

        return self._submit([output], act)

    def _exchange(
        self, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]
    ) -> None:
        """All that anybody gives goes to all, and each takes what is for it."""
        parts = [_as_bytes(one) for one in inputs]
        lengths = [part.numel() for part in parts]
        sizes = torch.tensor(lengths, dtype=torch.int64, device="cpu")
        tables = self._gather_now(sizes)

        def totals() -> list[int]:
            return [int(tables[rank].sum()) for rank in self._crew.ranks]

        whole = self._gather_bytes_now(torch.cat(parts), totals)
        for rank, out in enumerate(outputs):
            if rank in whole:
                raw: Any = whole[rank]
                part = raw.split(tables[rank].tolist())[self.rank()]
                out.copy_(_of_bytes(part, out))
            else:
                out.zero_()

    # ---- from one rank to another ----

    def send(self, tensors: Any, to: int, tag: int = 0) -> Work:
        (tensor,) = _tensors(tensors)
        _on_cpu([tensor])
        crew, work = self._crew, Work(self._crew, [tensor], message=True)
        memory = place(tensor)

        def begin() -> Request:
            handle = crew.lib.star_group_isend(
                crew.group._handle,
                memory.address,
                memory.nbytes,
                crew.place_of(to),
                tag,
            )
            return Request(crew.group, handle, memory, False)

        crew.post(begin, work._end)
        return work

    def recv(self, tensors: Any, source: int | None, tag: int = 0) -> Work:
        (tensor,) = _tensors(tensors)
        _on_cpu([tensor])
        crew, work = self._crew, Work(self._crew, [tensor], message=True)
        memory = place(tensor)

        def begin() -> Request | None:
            message = crew.probe(source, tag)
            if message is None:
                return None
            work._source = crew.ranks[message.source]
            return crew.receive(message, memory)

        crew.post(begin, work._end)
        return work

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        return self.recv(tensors, None, tag)

    # Names of torch before 2.13.
    _allgather_base = all_gather_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced
    alltoall_base = all_to_all_single


NO_PREPARE = c.FUNCTIONS["star_group_allreduce"][1][5]()


def _is_tensor(one: Any) -> bool:
    return isinstance(one, torch.Tensor)


def _tensors(given: Any) -> list[torch.Tensor]:
    return [given] if _is_tensor(given) else list(given)


def _op(opts: Any) -> Any:
    """The reduction of options, or itself."""
    if opts is None:
        return ReduceOp.SUM
    return getattr(opts, "reduceOp", opts)
