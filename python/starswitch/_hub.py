"""What links and groups say of a hub, and hear from it, alike."""

from __future__ import annotations

import logging
import os
from types import NoneType

from . import _library as c

LEVELS = {
    c.star_level.STAR_DEBUG: logging.DEBUG,
    c.star_level.STAR_INFO: logging.INFO,
    c.star_level.STAR_WARNING: logging.WARNING,
    c.star_level.STAR_ERROR: logging.ERROR,
}


def encoded(value: str | None) -> bytes | None:
    """A string as C takes it; None: not said. ValueError: it holds a NUL."""
    if value is None:
        return None
    if "\0" in os.fsdecode(value):
        raise ValueError(f"{value!r} holds a NUL character: leave it out")
    return os.fsencode(value)


def check_hub(hub: str | None) -> None:
    """TypeError, ValueError: it was given and names none."""
    if not isinstance(hub, (str, NoneType)):
        raise TypeError(f"hub must be a string, not {hub!r}")
    if hub is not None and not hub.strip(" ,"):
        raise ValueError(
            f'hub={hub!r} names no hub: give "HOST" or "HOST:PORT", or leave it out '
            "for $STARSWITCH_HUB, and without that 127.0.0.1:7541"
        )


def where(hub: str | None, spelling: str) -> str:
    """The hub's address and where it came from: `spelling`, if it was given."""
    if hub is not None:
        return f"hub {hub}, from {spelling}"
    if os.environ.get("STARSWITCH_HUB"):
        return f"hub {os.environ['STARSWITCH_HUB']}, from $STARSWITCH_HUB"
    return "hub 127.0.0.1:7541, as neither hub= nor $STARSWITCH_HUB is set"
