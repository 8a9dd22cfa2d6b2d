"""ElasticDL's communicator: three calls, each with a status, no list of addresses.

from starswitch.compat.elasticdl import CollectiveCommunicator, SUCCEEDED

communicator = CollectiveCommunicator()            # hub: $STARSWITCH_HUB
status, gradients = communicator.allreduce(gradients)
if status == SUCCEEDED:
    ... step ...                                   # else go on with the next batch
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from .ftlib import BasicFTLib, FTAllReduceStatus


class CollectiveCommunicatorStatus(Enum):
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


SUCCEEDED = CollectiveCommunicatorStatus.SUCCEEDED
FAILED = CollectiveCommunicatorStatus.FAILED


def _verdict(status: FTAllReduceStatus) -> CollectiveCommunicatorStatus:
    return SUCCEEDED if status <= FTAllReduceStatus.SUCCESS else FAILED


class CollectiveCommunicator:
    """A worker's; the arguments are those of starswitch.group.Group."""

    def __init__(
        self,
        hub: str | None = None,
        name: str | None = None,
        *,
        members: int = 1,
        timeout: float | None = None,
    ) -> None:
        self._lib = BasicFTLib(
            "hub",
            "hub",
            {"hub": hub, "name": name, "members": members},
            {"timeout": timeout},
        )

    @property
    def rank(self) -> int:
        """0 is never a newcomer."""
        return self._lib.rank

    @property
    def size(self) -> int:
        return self._lib.size

    @property
    def epoch(self) -> int:
        """Grows when workers come or go: then broadcast the parameters from 0."""
        return self._lib.epoch

    def build(self) -> bool:
        """Learns who is there."""
        return self._lib._rebuild() <= 0

    def allreduce(
        self, data: Any, op: str = "MEAN"
    ) -> tuple[CollectiveCommunicatorStatus, Any]:
        """The mean, sum, maximum or minimum of all workers' data, an array, or for
        MEAN a list of arrays, too; in place. FAILED: unchanged."""
        if isinstance(data, Sequence) and op == "MEAN":
            return _verdict(self._lib.allreduce_average(list(data))), data
        return _verdict(self._lib.allreduce(data, op)), data

    def broadcast(
        self, data: Any, root: int = 0
    ) -> tuple[CollectiveCommunicatorStatus, Any]:
        """The root's to all; in place."""
        return _verdict(self._lib.broadcast(data, root)), data

    def barrier(self) -> CollectiveCommunicatorStatus:
        return _verdict(self._lib.barrier())

    def stop(self) -> CollectiveCommunicatorStatus:
        """This worker has no more tasks: the others' collectives do nothing from now
        on; waits until all have come here. Then there may be a last average."""
        return _verdict(self._lib.stop())

    def close(self) -> None:
        """Says goodbye."""
        self._lib.finalize()
