"""Copies between the memory of a device and that of the host, none waited for.

A device's work is in streams. What is read from it is copied on a stream of its
own, beside the training, and an event says when it is complete: the host asks,
and never waits. The training's stream waits for the copy before the parameters
change again, which on the device costs nothing when the copy takes less than an
iteration.

On the CPU a copy is complete at once. The tests have a device of their own that
takes its time, and asserts the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

# Said of each tensor that is made, as its kind is: a script may have another
# default device (torch.set_default_device) and another default dtype.
HOST = torch.device("cpu")


class Copy(Protocol):
    """A copy from a device to the host."""

    def complete(self) -> bool:
        """Whether it has arrived. Never waits."""

    def protect(self) -> None:
        """What the training's stream is given from now on comes after it."""


class Device(Protocol):
    """Where the parameters are."""

    def host(self, count: int) -> torch.Tensor:
        """A vector of float32 on the host that copies come to and go from."""

    def fetch(self, to: Sequence[torch.Tensor], of: Sequence[torch.Tensor]) -> Copy:
        """Begins to copy tensors, as the training's stream leaves them, to
        tensors of the same shapes on the host."""

    def send(self, values: torch.Tensor, device: torch.device) -> torch.Tensor:
        """Values of the host as the training's stream may read them; they may
        change as soon as this returns."""


class Done:
    """A copy that is complete."""

    def complete(self) -> bool:
        return True

    def protect(self) -> None:
        pass


class Cpu:
    """The host itself."""

    def host(self, count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.float32, device=HOST)

    def fetch(self, to: Sequence[torch.Tensor], of: Sequence[torch.Tensor]) -> Copy:
        torch._foreach_copy_(list(to), list(of))
        return Done()

    def send(self, values: torch.Tensor, device: torch.device) -> torch.Tensor:
        return values.to(device)


class _CudaCopy:
    def __init__(self, events: Sequence[tuple[torch.device, torch.cuda.Event]]) -> None:
        self._events = events

    def complete(self) -> bool:
        return all(
            event.query()  # type: ignore[no-untyped-call]
            for _, event in self._events
        )

    def protect(self) -> None:
        for device, event in self._events:
            torch.cuda.current_stream(device).wait_event(event)


class Cuda:
    """One GPU or several, CUDA's or ROCm's."""

    def __init__(self) -> None:
        self._streams: dict[tuple[torch.device, str], torch.cuda.Stream] = {}

    def _stream(self, device: torch.device, way: str) -> torch.cuda.Stream:
        """One for each way, so that a result does not wait for an offer."""
        if (device, way) not in self._streams:
            self._streams[device, way] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        return self._streams[device, way]

    def host(self, count: int) -> torch.Tensor:
        return torch.zeros(count, dtype=torch.float32, device=HOST, pin_memory=True)

    def fetch(self, to: Sequence[torch.Tensor], of: Sequence[torch.Tensor]) -> Copy:
        events = []
        for device in {one.device for one in of}:
            here = [i for i, one in enumerate(of) if one.device == device]
            targets, sources = [to[i] for i in here], [of[i] for i in here]
            if device.type != "cuda":
                torch._foreach_copy_(targets, sources)
                continue
            stream = self._stream(device, "out")
            stream.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(stream):
                for target, source in zip(targets, sources, strict=True):
                    if source.dtype != target.dtype or not source.is_contiguous():
                        # Converted on the device: the copy is then a plain one.
                        changed = torch.empty(
                            source.shape, dtype=target.dtype, device=device
                        )
                        source.record_stream(stream)
                        source = changed.copy_(source)
                    else:
                        source.record_stream(stream)
                    target.copy_(source, non_blocking=True)
                event = torch.cuda.Event()  # type: ignore[no-untyped-call]
                event.record(stream)
            events.append((device, event))
        return _CudaCopy(events)

    def send(self, values: torch.Tensor, device: torch.device) -> torch.Tensor:
        if device.type != "cuda":
            return values
        # The allocator of pinned memory gives it out again once this is copied.
        pinned = torch.empty(
            values.shape, dtype=values.dtype, device=HOST, pin_memory=True
        )
        pinned.copy_(values)
        stream = self._stream(device, "in")
        training = torch.cuda.current_stream(device)
        with torch.cuda.stream(stream):
            moved = pinned.to(device, non_blocking=True)
        training.wait_stream(stream)
        moved.record_stream(training)
        return moved


def device_of(tensors: Sequence[torch.Tensor]) -> Device:
    """What serves these tensors."""
    if any(one.is_cuda for one in tensors):
        return Cuda()
    return Cpu()
