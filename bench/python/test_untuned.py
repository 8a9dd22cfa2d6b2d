"""What the study of the defaults runs and claims, without running it."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from untuned import arms, learning, report, runner
from untuned.work import WORKS


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
    each = 4.0 * 118_000 * arms.LONG  # of an all-reduce, one way
    row = {"loss": 2.0, "up_bytes": each / 100, "down_bytes": each / 300}
    end = f"--iterations {arms.LONG}"
    lines = [
        arms.pooled(work, 4, rate, 1, end) for rate in report.LONG_RATES["pool"]
    ] + [
        arms.line(work, 4, options, 1, end=end, rate=rate)
        for options in report.FEWER.values()
        for rate in report.LONG_RATES["own"]
    ]
    told.runner.known = {one: dict(row, took=0.0) for one in lines}
    report.fewer_bytes(told)
    assert "| 1/150 | 2.000 (2.000), x1 | 1.000, holds |" in told.text[-2]
    assert "int4 over int8 at k = 20: 1.000, holds" in told.text[-1]
    assert (told.held, told.failed) == (len(report.FEWER) + 1, 0)


def test_a_curve_is_read_where_its_least_loss_comes_by() -> None:
    curve = [(1.0, 10.0, 4.0), (2.0, 20.0, 3.0), (3.0, 30.0, 3.5), (4.0, 40.0, 2.0)]
    assert learning.reached(curve, 5.0) == 10
    assert learning.reached(curve, 3.5) == 15
    assert learning.reached(curve, 2.5) == 30
    assert learning.reached(curve, 2.5, learning.SECONDS) == 3
    assert learning.reached(curve, 1.9) == math.inf


def test_a_fit_finds_the_constants_that_cells_were_made_of() -> None:
    cells = [
        (k, d, learning.foreseen(k, d, 170, 0.4))
        for k in arms.INTERVALS
        for d in arms.delays(k).values()
    ]
    k_half, psi = learning.fit(cells)
    assert abs(k_half - 170) < 3
    assert abs(psi - 0.4) < 0.01


def test_the_constants_of_tune_are_found() -> None:
    assert set(learning.constants()) == {"k-half", "noise-scale", "psi"}


def test_a_course_is_a_curve_with_each_loss_once(tmp_path: Path) -> None:
    def status(seconds: float, iterations: int, loss: float | None) -> str:
        said = {
            "elapsed": seconds,
            "loss": loss,
            "nodes": [{"iterations": iterations}, {"iterations": iterations + 2}],
        }
        return f"{seconds} status {json.dumps(said)}"

    (tmp_path / "course").write_text(
        "\n".join(
            [
                "starswitch-course 1",
                status(0, 0, None),
                "0.1 note {}",
                status(1, 10, 2.0),
                status(2, 20, 2.0),
                status(3, 30, 1.5),
            ]
        )
    )
    assert runner.curve_of(tmp_path / "course") == [(1, 11, 2.0), (3, 31, 1.5)]
