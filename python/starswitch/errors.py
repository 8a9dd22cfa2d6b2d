"""What can go wrong. Each says what was tried, where the setting came from, and
what to do next."""

from __future__ import annotations

from collections.abc import Sequence


def some(names: Sequence[str]) -> str:
    """The first three, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")


class StarswitchError(Exception):
    """Of all that starswitch raises."""


class ConnectError(StarswitchError):
    """No hub can be reached: its name is not found, it refuses the connection,
    does not answer, is no hub, or has another key."""


class KeyRefused(StarswitchError):
    """The hub does not let this node's key in."""


class SchemaMismatch(StarswitchError):
    """The run trains another model: the first tensor that differs is named."""


class VersionMismatch(StarswitchError):
    """Library and hub, or library and this package, are of releases that do not
    work together."""


class Closed(StarswitchError):
    """The run is over, or the link was detached."""


class GroupChanged(StarswitchError):
    """A collective was not done, as a member was lost, came, or gave up: nothing
    has been changed by it, and the next one is among those who are there then."""
