"""The memory of arrays, as the C library reads and writes it: NumPy, torch, or
anything with the buffer protocol."""

from __future__ import annotations

import sys
from collections.abc import Callable
from ctypes import addressof, c_char, create_string_buffer
from dataclasses import dataclass
from typing import Any

from . import _library as c

BYTES = {
    c.star_dtype.STAR_I8: 1,
    c.star_dtype.STAR_U8: 1,
    c.star_dtype.STAR_I32: 4,
    c.star_dtype.STAR_U32: 4,
    c.star_dtype.STAR_I64: 8,
    c.star_dtype.STAR_U64: 8,
    c.star_dtype.STAR_F32: 4,
    c.star_dtype.STAR_F64: 8,
}
DTYPES = {
    "int8": c.star_dtype.STAR_I8,
    "uint8": c.star_dtype.STAR_U8,
    "int32": c.star_dtype.STAR_I32,
    "uint32": c.star_dtype.STAR_U32,
    "int64": c.star_dtype.STAR_I64,
    "uint64": c.star_dtype.STAR_U64,
    "float32": c.star_dtype.STAR_F32,
    "float64": c.star_dtype.STAR_F64,
}
# What the hub does not add travels as what holds it.
WIDER = {
    "bool": "uint8",
    "int16": "int32",
    "uint16": "int32",
    "float16": "float32",
    "bfloat16": "float32",
}


# ---- memory ----


@dataclass
class Place:
    """Where the numbers of an array are, row-major and without gaps, while a call
    reads and writes them."""

    address: int
    nbytes: int
    dtype: c.star_dtype | None  # None: bytes that are no numbers
    keep: Any  # owns the memory
    store: Callable[[], None]  # copies what is there back to where it came from
    load: Callable[[], object]  # copies what is there now once more

    @property
    def count(self) -> int:
        assert self.dtype is not None
        return self.nbytes // BYTES[self.dtype]


def _nothing() -> None:
    pass


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]  # torch.float32, float32


def _place_tensor(tensor: Any, numbers: bool) -> Place:
    """Of a torch tensor; one that has gaps, lies on a device, or holds what the
    hub does not add goes by way of a copy."""
    name = _name(tensor.dtype)
    flat = tensor.detach()
    if numbers and name in WIDER:
        import torch

        flat = flat.to(getattr(torch, WIDER[name]))
    elif numbers and name not in DTYPES:
        raise TypeError(f"a hub does not reduce tensors of {name}")
    flat = flat.cpu().contiguous()
    nbytes = flat.numel() * flat.element_size()
    same = flat.numel() > 0 and flat.data_ptr() == tensor.data_ptr()
    return Place(
        flat.data_ptr() if nbytes else 0,
        nbytes,
        DTYPES.get(_name(flat.dtype)),
        flat,
        _nothing if same or not nbytes else lambda: _copy_tensor(tensor, flat),
        _nothing if same or not nbytes else lambda: flat.copy_(tensor.detach()),
    )


def _copy_tensor(to: Any, flat: Any) -> None:
    to.detach().copy_(flat.view(to.shape))


def _place_array(array: Any, numbers: bool) -> Place:
    """Of a NumPy array, in the same way."""
    import numpy

    name = str(array.dtype.name)
    flat = array
    if numbers and name in WIDER:
        flat = array.astype(WIDER[name])
    elif numbers and name not in DTYPES:
        raise TypeError(f"a hub does not reduce arrays of {name}")
    if not array.dtype.isnative:
        flat = flat.astype(flat.dtype.newbyteorder("="))
    flat = numpy.ascontiguousarray(flat).reshape(array.shape)
    same = flat.ctypes.data == array.ctypes.data

    def store() -> None:
        array[...] = flat

    def load() -> None:
        flat[...] = array

    return Place(
        flat.ctypes.data if flat.nbytes else 0,
        flat.nbytes,
        DTYPES.get(str(flat.dtype.name)),
        flat,
        _nothing if same or not flat.nbytes else store,
        _nothing if same or not flat.nbytes else load,
    )


FORMATS = {"b": "int", "h": "int", "i": "int", "l": "int", "q": "int", "n": "int"}
FORMATS |= {letter.upper(): "uint" for letter in "bhilqn"}
FORMATS |= {"f": "float", "d": "float"}


def _place_buffer(data: Any, numbers: bool) -> Place:
    """Of anything else with the buffer protocol: bytearray, array.array, ..."""
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("this memory has gaps: copy it to an array without")
    kind = f"{FORMATS.get(view.format, '?')}{8 * view.itemsize}"
    if numbers and kind not in DTYPES:
        raise TypeError(f'a hub does not reduce numbers of format "{view.format}"')
    dtype = DTYPES.get(kind)
    if view.nbytes == 0:
        return Place(0, 0, dtype, view, _nothing, _nothing)
    if view.readonly:
        copy = create_string_buffer(view.tobytes(), view.nbytes)
        return Place(addressof(copy), view.nbytes, dtype, copy, _read_only, _nothing)
    memory = (c_char * view.nbytes).from_buffer(view)
    return Place(addressof(memory), view.nbytes, dtype, memory, _nothing, _nothing)


def _read_only() -> None:
    raise TypeError("this memory is read-only, and the result goes there")


def place(data: Any, numbers: bool = False) -> Place:
    """The memory of an array; `numbers`: it is to be reduced. TypeError: it cannot
    be had, or cannot be reduced."""
    if hasattr(data, "data_ptr"):
        return _place_tensor(data, numbers)
    if hasattr(data, "__array_interface__") and "numpy" in sys.modules:
        return _place_array(data, numbers)
    return _place_buffer(data, numbers)


def as_float32(data: Any) -> Place:
    memory = place(data, numbers=True)
    if memory.dtype == c.star_dtype.STAR_F32:
        return memory
    if memory.dtype == c.star_dtype.STAR_F64 and hasattr(data, "data_ptr"):
        flat = data.detach().float().cpu().contiguous()
        one = _place_tensor(flat, True)
        one.store = lambda: _copy_tensor(data, flat)
        return one
    if memory.dtype == c.star_dtype.STAR_F64 and hasattr(data, "__array_interface__"):
        array = data.astype("float32")
        one = _place_array(array, True)

        def store() -> None:
            data[...] = array

        one.store = store
        return one
    raise TypeError("what is averaged are floats, in NumPy arrays or torch tensors")
