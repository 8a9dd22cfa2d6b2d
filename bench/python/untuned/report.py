"""docs/untuned.md: tables of losses, and what is claimed of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from untuned import arms
from untuned.arms import Network, fixed, line, pooled, told_nothing
from untuned.runner import Runner
from untuned.work import RATES, WORKS, Work

Line = Callable[[int], str]  # the run of a seed


@dataclass
class Report:
    """What is written, and how many claims hold."""

    runner: Runner
    seeds: range
    text: list[str] = field(default_factory=list)
    held: int = 0
    failed: int = 0

    def losses(self, run: Line) -> list[float]:
        """Each seed's, run if need be."""
        lines = [run(seed) for seed in self.seeds]
        self.runner.run(lines)
        return [self.runner.loss(one) for one in lines]

    def say(self, *paragraphs: str) -> None:
        """Adds paragraphs."""
        self.text += [paragraph + "\n" for paragraph in paragraphs]

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Adds a table, whose first column is words."""
        rule = ["---"] + ["--:"] * (len(head) - 1)
        self.text.append(
            "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
            + "\n"
        )

    def verdict(self, ratio: float, most: float) -> str:
        """A ratio of losses with its claim, counted."""
        if ratio <= most:
            self.held += 1
            return f"{ratio:.3f}, holds"
        self.failed += 1
        return f"{ratio:.3f}, **does not hold**"


def each(losses: Sequence[float]) -> str:
    """The median, and each seed's."""
    middle = statistics.median(losses)
    return f"{middle:.3f} ({', '.join(f'{loss:.3f}' for loss in losses)})"


# ---- a better network is never worse ----


def monotony(report: Report) -> None:
    """Loss over k and d, at equal iterations on a fast link."""
    work = WORKS["gpt"]
    report.say(
        "## A better network is never worse",
        f"`gpt`, 4 nodes, {work.iterations} iterations each, on a gigabit: median "
        "loss of the seeds, for each k (down) and d (across). With `auto` it is not "
        "to rise by more than 1 % as k falls, nor by more than 3 % from d = 0 to "
        "d = k.",
    )
    policies = ("auto", "mean", "diloco")
    cells = [
        (policy, every, name, delay)
        for policy in policies
        for every in arms.INTERVALS
        for name, delay in arms.delays(every).items()
    ]
    report.runner.run(
        line(work, 4, fixed(policy, every, delay), seed)
        for seed in report.seeds
        for policy, every, _, delay in cells
    )
    for policy in policies:
        found = {
            (every, name): statistics.median(
                report.losses(partial(line, work, 4, fixed(policy, every, delay)))
            )
            for one, every, name, delay in cells
            if one == policy
        }
        report.table(
            [f"`{policy}`, k", *arms.delays(1)],
            [
                [str(every), *(f"{found[every, d]:.3f}" for d in arms.delays(1))]
                for every in arms.INTERVALS
            ],
        )
        if policy == "auto":
            claim_monotony(report, found)


def claim_monotony(report: Report, found: dict[tuple[int, str], float]) -> None:
    """The largest steps in the wrong direction."""
    pairs = list(zip(arms.INTERVALS, arms.INTERVALS[1:], strict=False))
    rises = {
        (small, large, d): found[small, d] / found[large, d]
        for small, large in pairs
        for d in arms.delays(1)
    }
    small, large, d = max(rises, key=lambda at: rises[at])
    ratio = report.verdict(rises[small, large, d], 1.01)
    report.say(f"Largest rise as k falls: d = {d}, k = {small} over {large}: {ratio}.")
    costs = {every: found[every, "k"] / found[every, "0"] for every in arms.INTERVALS}
    worst = max(costs, key=lambda every: costs[every])
    ratio = report.verdict(costs[worst], 1.03)
    report.say(f"Largest cost of d = k over d = 0: k = {worst}: {ratio}.")


# ---- against data parallelism ----


def best_rate(
    report: Report, run: Callable[[float, int], str]
) -> tuple[float, list[float]]:
    """The best learning rate, as a multiple of the work's own, and its losses."""
    report.runner.run(run(rate, seed) for rate in RATES for seed in report.seeds)
    tried = {rate: report.losses(partial(run, rate)) for rate in RATES}
    rate = min(tried, key=lambda rate: statistics.median(tried[rate]))
    return rate, tried[rate]


def best_pooled(report: Report, work: Work, nodes: int) -> tuple[float, list[float]]:
    """Data parallelism's."""
    return best_rate(report, partial(pooled, work, nodes))


def fast(report: Report) -> None:
    """auto, told nothing, at equal iterations."""
    rates = ", ".join(f"{rate:g}" for rate in RATES)
    report.say(
        "## At equal iterations on a fast link",
        "`auto`, told nothing, on a gigabit, beside data parallelism: the mean "
        "gradient of all nodes at every iteration, and the nodes' own optimizer. Each "
        f"at the best of {rates} times the learning rate that is best for one node "
        "(x1). The ratio of the best ones is to be 1.03 at most.",
    )
    rows = []
    for work in WORKS.values():
        for nodes in (4, 8):
            pool_rate, pool = best_pooled(report, work, nodes)
            rate, own = best_rate(report, partial(told_nothing, work, nodes))
            untuned = report.losses(partial(told_nothing, work, nodes, 1.0))
            ratio = statistics.median(own) / statistics.median(pool)
            rows.append(
                [
                    f"{work.name}, {nodes} nodes",
                    each(untuned),
                    f"{each(own)}, x{rate:g}",
                    f"{each(pool)}, x{pool_rate:g}",
                    report.verdict(ratio, 1.03),
                ]
            )
    report.table(["", "auto, x1", "auto", "data parallelism", "ratio"], rows)


# ---- at equal time ----


def best_by_hand(report: Report, star: Network) -> tuple[str, list[float]]:
    """All settings with the first seed, the best three with all of them."""
    tried = dict(star.by_hand())
    first = report.seeds[0]
    report.runner.run(star.line(options, first) for options in tried.values())
    ranked = sorted(
        tried, key=lambda name: report.runner.loss(star.line(tried[name], first))
    )
    finals = {
        name: report.losses(partial(star.line, tried[name])) for name in ranked[:3]
    }
    best = min(finals, key=lambda name: statistics.median(finals[name]))
    return best, finals[best]


def wall(report: Report) -> None:
    """auto, told nothing, beside sweeps by hand on each network."""
    intervals = ", ".join(map(str, arms.HAND_INTERVALS))
    report.say(
        "## At equal time",
        f"{arms.WALL} s on a star whose links and port have that rate. By hand: mean, "
        "and DiLoCo with outer momentum 0.5 and 0.9, each with k = "
        f"{intervals} and d = 0, 4, k / 2, all with the first seed, and the best "
        "three with all. `auto` is told nothing; its loss is to be 1.02 times the "
        "best one's at most ([what stands in the way]"
        "(decisions/the-outer-step-of-auto.md)).",
    )
    stars = arms.networks()
    report.runner.run(
        star.line(options, report.seeds[0])
        for star in stars
        for _, options in [("auto", ""), *star.by_hand()]
    )
    rows = []
    for star in stars:
        name, hand = best_by_hand(report, star)
        own = report.losses(partial(star.line, ""))
        ratio = statistics.median(own) / statistics.median(hand)
        rows.append(
            [
                f"{star.work.name}, {star.nodes} nodes, {star.mbit} Mbit/s",
                each(own),
                f"{each(hand)}: {name}",
                report.verdict(ratio, 1.02),
            ]
        )
    report.table(["", "auto", "the best by hand", "ratio"], rows)


# ---- unequal PCs, and one alone ----


def unequal(report: Report) -> None:
    """Speeds 1, 1, 2, 4 beside as many samples of equal PCs."""
    work = WORKS["gpt"]
    end = f"--time {work.iterations // 20}s"  # at a mean speed of 2
    report.say(
        "## Unequal PCs, and one alone",
        "`gpt`; PCs of speeds 1, 1, 2, 4 and data of their own, beside four of speed "
        "2, which take as many samples in the same time (1.05 at most); and one PC "
        "with `auto` beside one without a hub's step (1 at most).",
    )

    def on(speeds: str, policy: str) -> Line:
        return lambda seed: line(work, 4, f"--speeds {speeds} {policy}", seed, end=end)

    equal = report.losses(on("2", ""))
    mixed = report.losses(on("1,1,2,4", ""))
    level = report.losses(on("1,1,2,4", "--no-dylu"))
    other = report.losses(on("1,1,2,4", "--policy async --outer-momentum 0.9"))
    alone = report.losses(partial(line, work, 1, ""))
    plain = report.losses(partial(line, work, 1, "--policy mean"))

    def ratio(one: list[float], beside: list[float], most: float) -> str:
        return report.verdict(statistics.median(one) / statistics.median(beside), most)

    report.table(
        ["", "loss", "ratio"],
        [
            ["speed 2 each, auto", each(equal), ""],
            ["speeds 1, 1, 2, 4, auto", each(mixed), ratio(mixed, equal, 1.05)],
            [
                "speeds 1, 1, 2, 4, auto with one k (`--no-dylu`)",
                each(level),
                ratio(level, equal, 1.05),
            ],
            ["speeds 1, 1, 2, 4, asynchronous, momentum 0.9", each(other), ""],
            ["auto over asynchronous", "", ratio(mixed, other, 1)],
            ["one PC, `--policy mean`", each(plain), ""],
            ["one PC, auto", each(alone), ratio(alone, plain, 1.001)],
        ],
    )


# ---- bytes ----

FEWER = {
    "k = 20": "--every 20 --delay 4",
    "k = 20, int4 both ways": "--every 20 --delay 4 --codec-up int4 --codec-down int4",
    "k = 50": "--every 50 --delay 4",
    "`lean`, k = 6": "--policy lean --every 6 --delay 1",
    "`lean`, k = 20": "--policy lean --every 20 --delay 4",
    "`sparse`, k = 20": "--policy sparse --every 20 --delay 4",
}
LONG_RATES = {"pool": (0.25, 0.5, 1.0, 2.0), "own": (1.0, 2.0)}  # of the work's


def long_rate(
    report: Report, run: Callable[[float, int], str], rates: Sequence[float]
) -> tuple[float, list[float]]:
    """The best learning rate with the first seed, and all seeds' losses with it."""
    first = report.seeds[0]
    rate = min(rates, key=lambda rate: report.runner.loss(run(rate, first)))
    return rate, report.losses(partial(run, rate))


def fewer_bytes(report: Report) -> None:
    """auto with a large k beside an all-reduce of float32."""
    work, end = WORKS["gpt"], f"--iterations {arms.LONG}"
    floats = 118_000  # of the model, within a percent

    def pool(rate: float, seed: int) -> str:
        return pooled(work, 4, rate, seed, end)

    def own(options: str, rate: float, seed: int) -> str:
        return line(work, 4, options, seed, end=end, rate=rate)

    first = report.seeds[0]
    tried = [pool(rate, first) for rate in LONG_RATES["pool"]]
    tried += [own(o, r, first) for o in FEWER.values() for r in LONG_RATES["own"]]
    report.runner.run(tried)
    rate, base = long_rate(report, pool, LONG_RATES["pool"])
    rates = {name: " or ".join(map(str, found)) for name, found in LONG_RATES.items()}
    report.say(
        "## Bytes",
        f"`gpt`, 4 nodes, {arms.LONG} iterations each, `auto` if nothing else is "
        "said, with a k that is set. Bytes are a node's, both ways, with the first "
        "parameters and the last offer, which are float32. Float32 all-reduce at the "
        "hub sends and receives all parameters at every iteration. The learning rate "
        f"is {rates['own']} times the work's own, and the all-reduce's {rates['pool']} "
        "times, whichever is best with the first seed (all-reduce: "
        f"{each(base)}, x{rate:g}). At 1/100 of its bytes the loss is to be 1.05 "
        "times its own at most, at 1/400 1.1 times; int4 1.01 times int8's.",
    )
    rows = []
    losses = {}
    for name, options in FEWER.items():
        rate, losses[name] = long_rate(report, partial(own, options), LONG_RATES["own"])
        row = report.runner.known[own(options, rate, first)]
        sent = row["up_bytes"] + row["down_bytes"]  # of a node, the mean of all
        times = 8.0 * floats * arms.LONG / sent
        ratio = statistics.median(losses[name]) / statistics.median(base)
        most = 1.1 if times >= 400 else 1.05
        said = report.verdict(ratio, most) if times >= 100 else f"{ratio:.3f}"
        rows.append([name, f"1/{times:.0f}", f"{each(losses[name])}, x{rate:g}", said])
    report.table(["", "bytes", "loss", "over all-reduce"], rows)
    eight, four = list(FEWER)[:2]
    ratio = statistics.median(losses[four]) / statistics.median(losses[eight])
    report.say(f"int4 over int8 at k = 20: {report.verdict(ratio, 1.01)}.")
