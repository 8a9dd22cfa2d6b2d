"""The race: its arithmetic, and DDP and starswitch for some seconds.

python -m pytest bench/python          # -m "not slow": the arithmetic alone
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
BUILD = TREE / os.environ.get("STAR_BUILD", "build")
sys.path.insert(0, str(HERE))

from racing import arms, report, runner  # noqa: E402


def summary(peer: str, every: int, loss: float) -> dict[str, Any]:
    """A row as runner.run ends with."""
    return {
        **{"peer": peer, "every": every, "mbit": 10, "nodes": 4, "summary": True},
        **{"duration": 10.0, "iterations": 100, "loss": loss, "version": "1"},
        **{"bytes": 8e6, "busiest_port_bytes": 1e6, "cpu": 1.5, "cpu_others": 0.1},
        "at": "2026-01-01 00:00",
    }


def points(peer: str, every: int, *losses: float) -> list[dict[str, Any]]:
    """A snapshot each five seconds."""
    head = {"peer": peer, "every": every, "mbit": 10}
    return [{**head, "seconds": 5.0 * i, "loss": x} for i, x in enumerate(losses)]


def test_a_peer_alone_runs_its_sweep() -> None:
    named = [str(arm) for arm in arms.arms_of("ddp,localsgd,diloco@7")]
    assert named == ["ddp", "localsgd@5", "localsgd@20", "localsgd@100", "diloco@7"]
    with pytest.raises(ValueError, match="no peer is called x"):
        arms.arms_of("ddp,x")


def test_time_to_a_loss_is_between_its_points() -> None:
    curve = [(0.0, 5.0), (10.0, 3.0), (20.0, 2.0)]
    assert report.time_to(4.0, curve) == 5.0
    assert report.time_to(2.0, curve) == 20.0
    assert report.time_to(1.9, curve) is None


def test_bytes_are_what_all_sent_and_the_fuller_direction() -> None:
    before = {"hub": (10, 0), "0": (0, 10), "1": (0, 0)}
    after = {"hub": (110, 70), "0": (40, 60), "1": (30, 50)}
    assert runner.moved(before, after) == {"bytes": 170, "busiest_port_bytes": 100}


def test_the_page_shows_the_best_interval_and_keeps_the_notes(tmp_path: Path) -> None:
    rows = [
        *points("ddp", 0, 5.0, 4.0, 3.0),
        summary("ddp", 0, 3.0),
        *points("localsgd", 5, 5.0, 2.9, 2.5),
        summary("localsgd", 5, 2.5),
        summary("localsgd", 20, 2.75),
        *points("starswitch", 0, 5.0, 3.0, 2.0),
        summary("starswitch", 0, 2.0),
        {"peer": "flwr", "every": 100, "mbit": 10, "failed": "why"},
    ]
    (tmp_path / "race.md").write_text(f"old\n{report.NOTES}\n\nBy hand.\n")
    report.write(rows, tmp_path, BUILD)
    page = (tmp_path / "race.md").read_text()
    assert "old" not in page
    assert page.endswith(f"{report.NOTES}\n\nBy hand.\n")
    assert "| 5 | 5: 2.500, 20: 2.750 | 100 | 2.500 | 8 | 8 % | 4.8 s |" in page
    assert "starswitch is first; torchft LocalSGD is next, with a loss 25.0 %" in page
    assert "flwr FedAvg, interval 100: no figures, why" in page


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
@pytest.mark.skipif(
    not (BUILD / "starswitch-hub").exists(), reason="make all comes first"
)
def test_ddp_and_starswitch_race(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    results = tmp_path / "results.jsonl"
    command = [str(HERE / "race"), "--mbit", "100", "--seconds", "6"]
    command += ["--peers", "ddp,starswitch", "--nodes", "2"]
    command += ["--results", str(results), "--docs", str(tmp_path)]
    environment = {**os.environ, "RACE_TORCH": sys.executable, "PYTHON": sys.executable}
    with subprocess.Popen(command, env=environment) as racing:
        assert racing.wait(timeout=240) == 0
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    for peer in ("ddp", "starswitch"):
        mine = [row for row in rows if row["peer"] == peer]
        assert mine[-1]["summary"]
        assert mine[-1]["loss"] < mine[0]["loss"]
        assert mine[-1]["iterations"] > 0
        assert mine[-1]["bytes"] > 1e6
    assert "| starswitch |" in (tmp_path / "race.md").read_text()
    assert (tmp_path / "race.svg").stat().st_size > 10_000
    networks = subprocess.run(
        ["ip", "netns", "list"], capture_output=True, text=True, check=True
    )
    assert f"race-{racing.pid}-" not in networks.stdout
