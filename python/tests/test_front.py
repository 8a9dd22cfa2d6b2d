"""`starswitch plan` and the like are commands of the programs."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("name", "program"),
    [("doctor", "node"), ("plan", "hub"), ("top", "hub"), ("logs", "hub")],
)
def test_a_command_alone_is_the_programs(name: str, program: str) -> None:
    def said(*words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "starswitch", *words, "--nonsense"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    ours = said(name)
    assert ours == said(program, name)
    assert ours[0] == 64
