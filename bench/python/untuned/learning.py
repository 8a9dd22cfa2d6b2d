"""What k, d and more nodes cost or save in iterations: measured, beside what
`starswitch-sim tune` takes for granted (sim/study/plan.h, equations 11 to 13)."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from untuned import arms
from untuned.arms import fixed, line
from untuned.report import Report
from untuned.runner import Curve, Outcome
from untuned.work import WORKS, Work

TREE = Path(__file__).resolve().parents[3]
LOOK = 2  # seconds between two losses of a curve
LONGER = 1.5  # how much further the curve goes that others are held against
WIDE = ("gpt",)  # works whose cells are those of the table over k and d
FEW_INTERVALS, FEW_DELAYS = (5, 20, 100), ("0", "k")  # of the others
CHOICES = (10, 100)  # Mbit/s, for each of which tune chooses


def watched(work: Work, nodes: int, options: str, seed: int, seconds: float) -> str:
    """A run whose loss is looked at all the time."""
    end = f"--iterations {round(seconds / float(arms.STEP))}"
    arm = line(work, nodes, options, seed, end=end)
    return arm.replace(arms.SELDOM, f"--evaluate {LOOK}s")


def reference(work: Work, nodes: int, seed: int) -> str:
    """Nodes that exchange at every iteration, or one that need not."""
    options = fixed("auto", 1, 0) if nodes > 1 else fixed("mean", 10, 0)
    span = work.iterations * float(arms.STEP) * LONGER
    return watched(work, nodes, options, seed, span)


SECONDS, ITERATIONS = 0, 1  # what a curve can be read over


def reached(curve: Curve, loss: float, over: int = ITERATIONS) -> float:
    """When the least loss until then comes to this one, between two looks in
    proportion; infinite: never. One above all is reached at the first look."""
    before, least = 0.0, math.inf
    for point in curve:
        if point[2] >= least:
            continue
        if point[2] <= loss:
            if math.isinf(least):
                return point[over]
            share = (least - loss) / (least - point[2])
            return before + share * (point[over] - before)
        before, least = point[over], point[2]
    return math.inf


# ---- k and d ----


def foreseen(k: float, d: float, k_half: float, psi: float) -> float:
    """Equations 12 and 13 for a policy that moves nodes less where results are
    late."""
    return (1 + k / k_half) * (1 + psi * d / (k + d))


Cell = tuple[int, int, float]  # k, d, and iterations over those with k = 1, d = 0


def fit(cells: Sequence[Cell]) -> tuple[float, float]:
    """k_half and psi of the least squared error of the factors' logarithms, by
    a grid that is refined."""
    best = (200.0, 0.3)

    def error(k_half: float, psi: float) -> float:
        return sum(
            (math.log(found) - math.log(foreseen(k, d, k_half, psi))) ** 2
            for k, d, found in cells
        )

    for width in (2.0, 1.2, 1.05, 1.01):
        for _ in range(40):
            near = [
                (best[0] * width**i, best[1] * width**j)
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
            ]
            best = min(near, key=lambda at: error(*at))
    return best


def shown(work: Work) -> list[tuple[int, str, int]]:
    """k, d by its name, and d, of the cells of a work."""
    wide = work.name in WIDE
    return [
        (every, name, delay)
        for every in (arms.INTERVALS if wide else FEW_INTERVALS)
        for name, delay in arms.delays(every).items()
        if wide or name in FEW_DELAYS
    ]


def cell_line(work: Work, every: int, delay: int) -> Callable[[int], str]:
    """The run of a cell, which for the wide one is that of the section before."""
    return partial(line, work, 4, fixed("auto", every, delay))


def factor(losses: Iterable[float], curves: Iterable[Curve], iterations: int) -> float:
    """How many times the iterations of a curve a loss has taken: the median of
    the seeds."""
    return statistics.median(
        iterations / reached(curve, loss)
        for loss, curve in zip(losses, curves, strict=True)
    )


# ---- what tune chooses ----


def tuned(work: Work, mbit: int, goal: float, seed: int) -> str:
    """What asks for a setting for four nodes on such a star, and when they come
    to a loss with it, from the hub's first parameters as all other runs: others
    change W2's losses by 0.1."""
    return (
        f"tune --model {work.spec(work.batch, work.rate)} --data {work.data} "
        f"--nodes 4 --init hub --step-time {arms.STEP}s "
        f"--rate {mbit}Mbit --port {mbit}Mbit "
        f"--goal {goal:.4f} --evaluate {LOOK}s --seed {seed} --seeds 1 --workers 1 "
        f"--time {4 * work.iterations * float(arms.STEP):g}s"
    )


# ---- what is written ----


def constants() -> dict[str, float]:
    """What tune takes for granted: k-half, noise-scale and psi."""
    options = (TREE / "core/options.def").read_text()
    plan = (TREE / "sim/study/plan.h").read_text()
    found = re.findall(r'"(k-half|noise-scale)", NUMBER, \w+, "([0-9.]+)"', options)
    found += re.findall(r"#define PLAN_(PSI) ([0-9.]+)", plan)
    return {name.lower(): float(value) for name, value in found}


def cells_of(report: Report, work: Work) -> dict[tuple[int, str], Cell]:
    """Each cell of a work, measured."""
    report.runner.run(
        cell_line(work, every, delay)(seed)
        for seed in report.seeds
        for every, _, delay in shown(work)
    )
    curves = [report.runner.curve(reference(work, 4, seed)) for seed in report.seeds]
    return {
        (every, name): (
            every,
            delay,
            factor(
                report.losses(cell_line(work, every, delay)), curves, work.iterations
            ),
        )
        for every, name, delay in shown(work)
    }


def rarity(report: Report) -> None:
    """k and d."""
    taken = constants()
    k_half, psi = taken["k-half"], taken["psi"]
    for work in WORKS.values():
        cells = cells_of(report, work)
        names = list(dict.fromkeys(name for _, name in cells))
        report.table(
            [f"{work.name}, k", *(f"d = {name}" for name in names)],
            [
                [
                    str(every),
                    *(
                        f"{cells[every, name][2]:.2f} / "
                        f"{foreseen(*cells[every, name][:2], k_half, psi):.2f}"
                        for name in names
                    ),
                ]
                for every in dict.fromkeys(every for every, _ in cells)
            ],
        )
        finite = [cell for cell in cells.values() if math.isfinite(cell[2])]
        best = fit(finite)
        report.say(
            f"A fit of {work.name} alone: k_half = {best[0]:.0f}, psi = {best[1]:.2f}."
        )


def worth(report: Report) -> None:
    """How many iterations of one PC an iteration of N of them is worth."""
    scale = constants()["noise-scale"]
    rows = []
    for work in WORKS.values():
        alone = [report.runner.curve(reference(work, 1, s)) for s in report.seeds]
        ends = [end_of(curve, work.iterations) for curve in alone]
        for nodes in (4, 8):
            curves = [
                report.runner.curve(reference(work, nodes, s)) for s in report.seeds
            ]
            rows.append(
                [
                    f"{work.name}, {nodes} nodes",
                    f"{factor(ends, curves, work.iterations):.2f}",
                    f"{(1 + scale) / (1 + scale / nodes):.2f}",
                ]
            )
    report.table(["", "measured", "foreseen"], rows)


def choices(report: Report) -> None:
    """What tune promises of its choice, and what comes of it."""
    rows = []
    for work in WORKS.values():
        asked = {}
        for seed in report.seeds:
            curve = report.runner.curve(reference(work, 1, seed))
            goal = end_of(curve, work.iterations)
            for mbit in CHOICES:
                asked[mbit, seed] = tuned(work, mbit, goal, seed)
        report.runner.run(asked.values())
        span = work.iterations * float(arms.STEP)
        for mbit in CHOICES:
            said = [report.runner.known[asked[mbit, s]] for s in report.seeds]
            words = said[0]["command"].split()
            rows.append(
                [
                    f"{work.name}, {mbit} Mbit/s",
                    promised(said),
                    f"{statistics.median(came(span, row) for row in said):.2f}",
                    f"`{' '.join(words[words.index('--policy') :])}`",
                ]
            )
    report.table(["", "promised", "came", "the first seed's choice"], rows)


def promised(said: Sequence[Outcome]) -> str:
    """A choice's speed-up, and its range; medians."""
    names = ("speed_up", "speed_up_least", "speed_up_most")
    figures = (statistics.median(row[name] for row in said) for name in names)
    return "{:.2f} ({:.2f} to {:.2f})".format(*figures)


def came(span: float, row: Outcome) -> float:
    """The speed-up that a goal was reached with; 0: it was not, in four times what
    one PC needs."""
    return span / float(row["goal_s"] or math.inf)


def end_of(curve: Curve, iterations: int) -> float:
    """The least loss within so many iterations."""
    return min(loss for _, at, loss in curve if at <= iterations)


def learning(report: Report) -> None:
    """tune's model of learning beside what is learnt."""
    report.runner.run(
        reference(work, nodes, seed)
        for work in WORKS.values()
        for nodes in (1, 4, 8)
        for seed in report.seeds
    )
    report.say(
        "## What tune takes for granted",
        "How many iterations `auto` takes at k and d over those that k = 1 and d = 0 "
        "take to the same loss, 4 nodes on a gigabit: measured / foreseen by "
        "`starswitch-sim tune` ([its equations](simulation.md#tuning)).",
    )
    rarity(report)
    report.say(
        "How many iterations one PC takes to the loss that it has at the end, over "
        "those of N nodes at k = 1 and d = 0."
    )
    worth(report)
    report.say(
        "What tune promises of its choice for 4 nodes, as the speed-up over one PC, "
        "and what came: the time in which one PC comes to a loss, over that of the "
        "4 with these options."
    )
    choices(report)
