"""docs/race.md, from the rows of a race."""
from __future__ import annotations
from pathlib import Path
from typing import Any
from racing import venvs
from racing.arms import Peer
from racing.network import TREE
def version_of(peer: Peer, build: Path) -> str:
    if peer.name == "starswitch":
        return "?"
    return venvs.version(peer.venv, peer.package, build)
def write(rows: list[dict[str, Any]], docs: Path, build: Path) -> None:
    pass
