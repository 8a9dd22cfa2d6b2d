"""Which tensors of a model can be exchanged: those that torch copies to float32, in
rows, and back. Of others one that is trained is refused, by name; what is not trained
stays on its node."""

from __future__ import annotations

from ctypes import string_at

import torch

from .errors import StarswitchError

SAMPLE = 4096  # values of a frozen tensor that its fingerprint is made of
FSDP = "_flat_param"  # the end of the names of its parameters
PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})
INSTEAD = (
    ("layout", "make it dense (to_dense())"),
    ("nested", "make each of its tensors a parameter"),
    ("view", "give it memory of its own (resolve_conj(), resolve_neg())"),
)
WIDE = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64})


def is_usual(one: torch.Tensor) -> bool:
    """Whether it can be exchanged, and no more need be asked: there are thousands."""
    return (
        type(one) in PLAIN
        and one.dtype in WIDE
        and one.layout is torch.strided
        and not (one.is_meta or one.is_nested or one.is_neg())
    )


def check_whole(name: str, one: torch.Tensor) -> None:
    """StarswitchError: it is of a lazy module, or a part of what is sharded."""
    kind = type(one).__name__
    if kind in ("UninitializedParameter", "UninitializedBuffer"):
        raise StarswitchError(
            f"{name} has no shape yet (a lazy module): run one batch through the "
            "model before attach"
        )
    if kind == "DTensor" or name.endswith(FSDP):
        raise StarswitchError(
            f"{name} is a {kind} of FSDP or tensor parallelism, of which each process "
            "holds a part: attach before the model is sharded, or use DDP inside a PC"
        )


def why_not(one: torch.Tensor) -> str:
    """What it is, that it cannot be exchanged; "": it can, if its numbers are real
    or complex."""
    if one.is_meta:
        return "on the meta device"
    if type(one).__name__ == "FakeTensor":
        return "a FakeTensor"
    if one.is_nested:
        return "nested"
    if one.layout is not torch.strided:
        return f"of layout {one.layout}"
    if one.is_conj() or one.is_neg():
        return "a conjugated or negated view"
    if not (one.is_floating_point() or one.is_complex()):
        return ""
    try:
        real = torch.view_as_real(one) if one.is_complex() else one
        real.detach().reshape(-1)[:1].float()
    except Exception:  # of a class of its own anything
        return f"of {one.dtype}" if type(one) in PLAIN else f"a {type(one).__name__}"
    return ""


def refusal(name: str, one: torch.Tensor, why: str) -> StarswitchError:
    """Of a tensor that is trained."""
    if one.is_meta or why == "a FakeTensor":
        where = "meta device" if one.is_meta else why
        return StarswitchError(
            f"{name} has no values yet ({where}): attach once they are loaded"
        )
    instead = next((what for kind, what in INSTEAD if kind in why), "train float32")
    return StarswitchError(
        f"{name} is trained and {why}, which cannot be exchanged: {instead}, or freeze "
        "it (requires_grad_(False))"
    )


def form(one: torch.Tensor) -> str:
    """Its type and shape, the same on all nodes: nested tensors have no other."""
    shape = (one.numel(),) if one.is_nested else tuple(one.shape)
    return f"{one.dtype} {shape}"


def sample(one: torch.Tensor) -> bytes:
    """Some values of a frozen tensor; none of those that are not there, or not in
    rows, nor of quantised ones, which may differ by the device that made them."""
    if (
        not one.is_floating_point()
        or one.is_meta
        or one.is_nested
        or one.layout is not torch.strided
        or not one.numel()
    ):
        return b""
    try:
        flat = one.reshape(-1)
        some = flat[:: max(1, flat.numel() // SAMPLE)].contiguous().cpu()
        return string_at(some.data_ptr(), some.nbytes) if some.data_ptr() else b""
    except Exception:
        if type(one) in PLAIN:
            raise
        return b""  # of a class of its own, which knows no such thing


def is_drawn(one: torch.Tensor) -> bool:
    """Whether it is a permutation, as flows draw at random: neither 0, 1, 2 ... nor
    that backwards, which are the same everywhere."""
    if one.is_floating_point() or one.is_complex() or one.dim() != 1 or one.is_meta:
        return False
    if one.dtype not in (torch.int32, torch.int64) or why_not(one):
        return False
    n = one.numel()
    if n < 3 or int(one.min()) != 0 or int(one.max()) != n - 1:
        return False
    order = torch.arange(n, dtype=one.dtype, device=one.device)
    known = torch.equal(one, order) or torch.equal(one.flip(0), order)
    return not known and torch.equal(one.sort().values, order)
