"""What the study of the defaults runs and claims, without running it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from untuned import arms, report, runner
from untuned.work import RATES, WORKS


def test_a_node_of_data_parallelism_has_all_samples_and_no_partner() -> None:
    said = arms.pooled(WORKS["gpt"], 4, 2.0, 7).split()
    assert said[said.index("--nodes") + 1] == "1"
    assert "batch=32,lr=0.004" in said[said.index("--model") + 1]
    assert said[said.index("--seed") + 1] == "7"


def test_by_hand_each_k_and_d_is_tried_once() -> None:
    star = arms.Network(WORKS["gpt"], 4, 10)
    names = [name for name, _ in star.by_hand()]
    assert len(names) == len(set(names)) == 3 * 3 * 3
    assert "diloco 0.5, k = 20, d = 10" in names
    assert all("--time" not in options for _, options in star.by_hand())


def test_what_another_program_said_does_not_count(tmp_path: Path) -> None:
    program, results = tmp_path / "sim", tmp_path / "results.jsonl"
    program.write_text("one")
    results.write_text(json.dumps({"arm": "a", "program": "other", "loss": 1}) + "\n")
    assert not runner.Runner(program, results, 1).known
    assert runner.Runner(program, results, 1, trust=True).loss("a") == 1


def test_the_worst_rise_and_the_worst_delay_are_judged(tmp_path: Path) -> None:
    (tmp_path / "sim").write_text("")
    told = report.Report(
        runner.Runner(tmp_path / "sim", tmp_path / "none", 1), range(1, 3)
    )
    found = {(k, d): 2.0 for k in arms.INTERVALS for d in arms.delays(1)}
    report.claim_monotony(told, found)
    assert (told.held, told.failed) == (2, 0)
    found[5, "k"] = 2.1  # above k = 10 and above d = 0
    report.claim_monotony(told, found)
    assert (told.held, told.failed) == (2, 2)
    assert "k = 5 over 10: 1.050, **does not hold**" in told.text[-2]


def test_bytes_are_those_of_one_node_and_not_divided_among_all(tmp_path: Path) -> None:
    (tmp_path / "sim").write_text("")
    told = report.Report(
        runner.Runner(tmp_path / "sim", tmp_path / "none", 1), range(1, 2)
    )
    work = WORKS["gpt"]
    each = 4.0 * 118_000 * work.iterations  # of an all-reduce, one way
    row = {"loss": 2.0, "up_bytes": each / 100, "down_bytes": each / 300}
    lines = [arms.pooled(work, 4, rate, 1) for rate in RATES]
    lines += [
        arms.line(work, 4, options, 1, rate=RATES[0]) for _, options in report.FEWER
    ]
    told.runner.known = {one: dict(row, took=0.0) for one in lines}
    report.fewer_bytes(told)
    assert "| 1/150 | 2.000 (2.000) | 1.000, holds |" in told.text[-1]
