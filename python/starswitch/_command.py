"""What the commands that are Python's own share."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

USAGE = 64
ENDS = (signal.SIGTERM, signal.SIGHUP)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in the way of the other programs, with their exit code."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        text = f"{self.prog}: {message}"
        if "unrecognized" in message:
            text += " (the script's own arguments stand behind --)"
        self.exit(USAGE, text + "\n")


@contextmanager
def ending() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP end what was started, too: they raise SystemExit.
    Python lets only its main thread say so."""

    def leave(sign: int, _: object) -> NoReturn:
        raise SystemExit(128 + sign)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {sign: signal.signal(sign, leave) for sign in ENDS}
    try:
        yield
    finally:
        for sign, handler in former.items():
            signal.signal(sign, handler)
