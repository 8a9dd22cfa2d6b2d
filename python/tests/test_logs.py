"""What a script logs reaches the hub, where `starswitch-hub logs` shows it."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Callable

import pytest
import starswitch
import torch
from conftest import Hub, until
from starswitch._programs import program_path

logger = logging.getLogger("starswitch")


def lines_of(star: Hub, name: str) -> list[str]:
    out = subprocess.run(
        [
            program_path("starswitch-hub"),
            "logs",
            name,
            *("-n", "128", "--directory", str(star.directory)),
        ],
        capture_output=True,
        text=True,
        timeout=30,
    )
    return out.stdout.splitlines()


def test_lines_of_the_logger_reach_the_hub(
    hub: Callable[..., Hub], caplog: pytest.LogCaptureFixture
) -> None:
    star = hub()
    caplog.set_level(logging.INFO, "starswitch")
    model = torch.nn.Linear(2, 2)
    logger.warning("nobody is attached yet")
    link = starswitch.attach(model, hub=star.address, name="pc1")
    link.wait_ready(30)
    logger.info("epoch %d: %s", 3, "grün")
    logger.error("x" * 1000)
    logger.debug("not enabled")
    logger.critical("the last one")
    until(lambda: any("the last one" in line for line in lines_of(star, "pc1")))
    link.detach()
    logger.warning("nobody is attached any more")
    said = [line.split(" ", 1)[1] for line in lines_of(star, "pc1")]
    own = [line for line in said if " script: " in line]
    assert own[0] == "INFO script: epoch 3: grün"
    assert own[1].startswith("ERROR script: xxx") and 200 < len(own[1]) < 300
    assert own[2:] == ["ERROR script: the last one"]
    # What the library has said it has said once, though Python logs it, too.
    events = [line for line in said if " script: " not in line]
    assert events and len(events) == len(set(events))


def test_a_line_that_cannot_be_formatted_is_the_logger_s_matter(
    hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    star = hub()
    monkeypatch.setattr(logging, "raiseExceptions", False)
    link = starswitch.attach(torch.nn.Linear(2, 2), hub=star.address, name="pc1")
    link.wait_ready(30)
    logger.warning("%d", "no number")
    logger.warning("%d of %d", 1)
    logger.warning("after it")
    until(lambda: any("after it" in line for line in lines_of(star, "pc1")))
    link.detach()
