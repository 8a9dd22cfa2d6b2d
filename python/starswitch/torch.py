"""PyTorch's parameters, as a link moves them."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ctypes import c_float
from typing import Any

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from ._device import Copy, Device, Done, device_of
from ._link import Described, Link, Options
from .errors import StarswitchError

Models = torch.nn.Module | Mapping[str, torch.nn.Module]

LOW_PRECISION = (torch.float16, torch.bfloat16)


def unwrap(thing: Any) -> Any:
    """The model or optimizer inside DDP, torch.compile, accelerate, Lightning."""
    for name in ("_orig_mod", "module", "_optimizer", "optimizer"):
        inner = thing.__dict__.get(name) if hasattr(thing, "__dict__") else None
        if inner is None and name == "module":
            inner = getattr(thing, "_modules", {}).get(name) if _wraps(thing) else None
        if inner is None and name == "_orig_mod":
            inner = getattr(thing, "_modules", {}).get(name)
        if isinstance(inner, (torch.nn.Module, torch.optim.Optimizer)):
            return unwrap(inner)
    return thing


def _wraps(thing: Any) -> bool:
    return isinstance(
        thing,
        (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel),
    )


class TorchParameters:
    """Tensors of a model in the order of its modules: parameters, then floating
    buffers. The list is made once; values, places and devices of the tensors may
    change at any time, so that each use asks the module for its tensor."""

    def __init__(
        self,
        models: Mapping[str, torch.nn.Module],
        optimizer: torch.optim.Optimizer | None,
        params: str,
        buffers: str,
        device: Device | None = None,
    ) -> None:
        self._optimizer = optimizer
        self._places: list[tuple[torch.nn.Module, str]] = []
        described: list[Described] = []
        frozen: list[tuple[str, torch.Tensor]] = []
        seen: set[int] = set()
        for prefix, model in models.items():
            for path, module in model.named_modules(prefix=prefix):
                for name, one in module._parameters.items():
                    if one is None or id(one) in seen:
                        continue
                    seen.add(id(one))
                    full = f"{path}.{name}" if path else name
                    _check_plain(full, one)
                    if params == "all" or one.requires_grad:
                        if one.is_floating_point() and one.numel():
                            self._places.append((module, name))
                            described.append(Described(full, tuple(one.shape)))
                            continue
                    frozen.append((full, one))
        if not described:
            raise StarswitchError(
                "the model has no parameter that trains: nothing would be exchanged"
            )
        if frozen:
            self._frozen_name = f"frozen.{_fingerprint(frozen)}"
        self._tensors_of = [one.elements for one in described]
        self.described: Sequence[Described] = described
        self._first = [0]
        for one in described:
            self._first.append(self._first[-1] + one.elements)
        total = self._first[-1]
        self._device = device or device_of(self._tensors())
        self._staging = self._device.host(total)
        self.staging = self._staging.data_ptr()
        self._views = [
            self._staging[a:b].view(one.shape)
            for one, a, b in zip(described, self._first, self._first[1:], strict=False)
        ]
        self._residual: dict[int, torch.Tensor] = {}
        self._loss_sum: torch.Tensor | None = None
        self._loss_weight = 0
        self._loss_here = self._device.host(1)
        self._loss_copy: Copy | None = None
        self._copy: Copy = Done()

    def _tensors(self, begin: int = 0, end: int | None = None) -> list[torch.Tensor]:
        return [
            module.__dict__["_parameters"].get(name, None)
            if name in module.__dict__["_parameters"]
            else module.__dict__["_buffers"][name]
            for module, name in self._places[begin:end]
        ]

    # ---- Parameters ----

    @torch.no_grad()
    def begin_copy(self) -> Callable[[], bool]:
        tensors = self._tensors()
        for i, rest in self._residual.items():
            tensors[i] = tensors[i].float() + rest
        self._copy = self._device.fetch(self._views, tensors)
        return self._copy.complete

    def before_change(self) -> None:
        """The parameters are about to change: a copy that is under way is of
        what they were."""
        self._copy.protect()

    @torch.no_grad()
    def change(
        self, keep: float, scale: float, values: int, first: int, count: int
    ) -> None:
        vector = torch.frombuffer(
            (c_float * count).from_address(values), dtype=torch.float32
        )
        moved: dict[torch.device, torch.Tensor] = {}
        self.before_change()
        begin = bisect_right(self._first, first) - 1
        end = bisect_right(self._first, first + count - 1)
        whole: list[torch.Tensor] = []
        pieces: list[torch.Tensor] = []
        for i, tensor in enumerate(self._tensors(begin, end), begin):
            a, b = self._first[i], self._first[i + 1]
            low, high = max(a, first), min(b, first + count)
            if tensor.device not in moved:
                moved[tensor.device] = self._device.send(vector, tensor.device)
            piece = moved[tensor.device][low - first : high - first]
            if tensor.dtype in LOW_PRECISION:
                self._change_low(i, tensor, keep, scale, piece, low - a)
            elif (low, high) == (a, b):
                whole.append(tensor)
                pieces.append(piece.view(tensor.shape))
            else:
                _change_part(tensor, keep, scale, piece, low - a)
        if not whole:
            return
        if keep != 1:
            torch._foreach_mul_(whole, keep)
        torch._foreach_add_(whole, pieces, alpha=scale)

    def _change_low(
        self,
        i: int,
        tensor: torch.Tensor,
        keep: float,
        scale: float,
        piece: torch.Tensor,
        first: int,
    ) -> None:
        """The parameter is tensor + rest, of which it holds what its precision
        can; the rest keeps small changes until they add up."""
        rest = self._residual.get(i)
        if rest is None:
            rest = torch.zeros(tensor.shape, device=tensor.device)
            self._residual[i] = rest
        value = (tensor.float() + rest).reshape(-1)
        part = value[first : first + piece.numel()]
        part.mul_(keep).add_(piece, alpha=scale)
        value = value.view(tensor.shape)
        tensor.copy_(value)
        torch.sub(value, tensor.float(), out=rest)

    def replaced(self, reset: bool) -> None:
        if reset and self._optimizer is not None:
            self._optimizer.state.clear()

    @torch.no_grad()
    def read_loss(self, loss: Any, samples: int) -> None:
        if not isinstance(loss, torch.Tensor):
            loss = torch.tensor(float(loss))
        value = loss.detach().float().mean() * samples
        self._loss_sum = value if self._loss_sum is None else self._loss_sum + value
        self._loss_weight += samples

    @torch.no_grad()
    def take_loss(self) -> float:
        """On a GPU, that of an iteration before this one."""
        if self._loss_sum is not None and self._loss_copy is None:
            mean = (self._loss_sum / self._loss_weight).reshape(1)
            self._loss_copy = self._device.fetch([self._loss_here], [mean])
        self._loss_sum, self._loss_weight = None, 0
        if self._loss_copy is None or not self._loss_copy.complete():
            return float("nan")
        self._loss_copy = None
        return c_float.from_address(self._loss_here.data_ptr()).value

    @contextmanager
    def swapped(self, values: int) -> Iterator[None]:
        vector = torch.frombuffer(
            (c_float * self._first[-1]).from_address(values), dtype=torch.float32
        )
        with torch.no_grad():
            tensors = self._tensors()
            own = [one.detach().clone() for one in tensors]
            for one, a, b in zip(tensors, self._first, self._first[1:], strict=False):
                one.copy_(vector[a:b].view(one.shape))
        try:
            yield
        finally:
            with torch.no_grad():
                for one, saved in zip(self._tensors(), own, strict=False):
                    one.copy_(saved)


def _change_part(
    tensor: torch.Tensor, keep: float, scale: float, piece: torch.Tensor, first: int
) -> None:
    contiguous = tensor.is_contiguous()
    flat = (tensor if contiguous else tensor.contiguous()).view(-1)
    part = flat[first : first + piece.numel()]
    if keep != 1:
        part.mul_(keep)
    part.add_(piece, alpha=scale)
    if not contiguous:
        tensor.copy_(flat.view(tensor.shape))


def _check_plain(name: str, tensor: torch.Tensor) -> None:
    if isinstance(tensor, (UninitializedParameter, UninitializedBuffer)):
        raise StarswitchError(
            f"{name} has no shape yet (a lazy module): run one batch through the "
            "model before attach"
        )
    if type(tensor).__name__ == "DTensor":
        raise StarswitchError(
            f"{name} is a DTensor (FSDP, tensor parallel): each process holds a part "
            "of it only; attach before the model is sharded, or use DDP inside a PC"
        )


def _fingerprint(tensors: Iterable[tuple[str, torch.Tensor]]) -> str:
    """What nodes must share though it is not exchanged: names, shapes and a
    sample of the values of the frozen part."""
    digest = hashlib.blake2b(digest_size=8)
    for name, one in tensors:
        digest.update(f"{name} {one.dtype} {tuple(one.shape)}\n".encode())
        flat = one.detach().reshape(-1)
        sample = flat[:: max(1, flat.numel() // 4096)].contiguous().cpu()
        digest.update(bytes(sample.view(torch.uint8).tolist()))
    return digest.hexdigest()


def attach(
    model: Models,
    optimizer: Any | None,
    options: Options,
    params: str,
    buffers: str,
) -> Link:
    models = model if isinstance(model, Mapping) else {"": unwrap(model)}
    clock = None if optimizer is None else unwrap(optimizer)
    parameters = TorchParameters(models, clock, params, buffers)
    from ._ranks import make_link

    link = make_link(parameters, options)
    if clock is not None and link.listens:
        before = clock.register_step_pre_hook(lambda *_: parameters.before_change())
        after = clock.register_step_post_hook(lambda *_: link.step())
        link._unhook += [before.remove, after.remove]
    return link
