"""SDTL's CommOptimizer against real hubs; the criteria are those of
docs/ancestors.md, SD-1 to SD-22, as far as Python has a part in them."""

from __future__ import annotations

import logging
import math
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from conftest import small_model, until, wait_offers
from starswitch.compat.sdtl import CommOptimizer

torch.set_num_threads(1)

GOLDEN = (1.0, 2.0, 4.0, -3.0)


class Worker:
    """One element x, whose gradient is what the test says, with its own link."""

    def __init__(
        self, x: float, name: str, rule: str = "EASGD", lr: float = 0.0, **asked: Any
    ) -> None:
        self.p = torch.nn.Parameter(torch.tensor([float(x)]))
        self.p.grad = torch.zeros(1)
        self.optimizer = CommOptimizer(
            torch.optim.SGD([self.p], lr=lr), rule, name=name, **asked
        )
        assert self.optimizer.link is not None
        self.link = self.optimizer.link
        self.link.wait_ready(20)

    @property
    def x(self) -> float:
        return self.p.item()


def together(
    workers: Sequence[Worker], losses: Sequence[float] = (), wait: bool = True
) -> list[float]:
    """One step of all, each on a thread of its own; their parameters then."""

    def step(worker: Worker, loss: float | None) -> None:
        if loss is not None:
            worker.optimizer.report(loss=loss, samples=1)
        worker.optimizer.step()

    for one in workers if wait else ():
        wait_offers(one.link)
    threads = [
        threading.Thread(target=step, args=(one, losses[i] if losses else None))
        for i, one in enumerate(workers)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
        assert not one.is_alive()
    return [one.x for one in workers]


def centred(hub: Any, x: float, rule: str = "EASGD") -> None:
    """Gives a new hub its centre: a worker comes, exchanges once and leaves."""
    first = Worker(x, "first", rule)
    if rule == "LSGD":
        first.optimizer.report(loss=1.0)
    together([first])
    until(lambda: hub.status()["version"] >= 1, what="the first version")
    first.optimizer.detach()
    until(lambda: all(one["gone"] for one in hub.status()["nodes"]), what="it left")


def said(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= level]


# ---- SD-1 ----


def test_sd_01_one_optimizer_around_the_users_chosen_by_name(hub: Any) -> None:
    for rule, policy in (("EASGD", "easgd"), ("LSGD", "lsgd")):
        hub("--every", 2, "--delay", 0, "--policy", policy)
        model = torch.nn.Linear(3, 1)
        local = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = CommOptimizer(local, rule, 1, 2, 0.1, 0.0)
        x, y = torch.randn(64, 3), torch.zeros(64, 1)

        def closure(
            optimizer: CommOptimizer = optimizer,
            model: torch.nn.Module = model,
            x: torch.Tensor = x,
            y: torch.Tensor = y,
        ) -> torch.Tensor:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        assert optimizer.link is not None
        wait_offers(optimizer.link)
        losses = [optimizer.step(closure).item() for _ in range(40)]
        assert losses[-1] < losses[0] / 4
        assert optimizer.link.state().iteration == 40
        assert optimizer.link.state().offered == 20
        # Who leads is pulled to nobody, and who is alone leads.
        assert optimizer.link.state().applied == (20 if rule == "EASGD" else 0)
        optimizer.zero_grad(set_to_none=False)
        assert all(not one.grad.any() for one in model.parameters())
        assert optimizer.param_groups is local.param_groups
        optimizer.detach()


def test_sd_01_a_step_is_the_local_step_and_then_the_exchange(hub: Any) -> None:
    hub("--every", 1, "--delay", 0, "--policy", "easgd", "--elastic", 1)
    worker = Worker(5, "n", lr=1.0)
    worker.p.grad = torch.ones(1)
    # One worker and a full spring: x and centre swap after each local step.
    assert together([worker]) == [4] or worker.x == 5
    before = worker.x
    centre = 4 if before == 5 else 5
    for _ in range(4):
        together([worker])
        assert worker.x == centre
        before, centre = worker.x, before - 1


def test_sd_01_names_that_sdtl_does_not_know_are_refused() -> None:
    local = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    with pytest.raises(ValueError, match="EASGD, LSGD, DataParallel"):
        CommOptimizer(local, "easgd2")
    for bad in (
        {"world_size": 0},
        {"comm_period": 0},
        {"dist_pulling_strength": 1.5},
        {"local_pulling_strength": -0.1},
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            CommOptimizer(local, "EASGD", **bad)


def test_sd_01_without_a_hub_it_is_the_local_optimizer() -> None:
    results = []
    for wrap in (False, True):
        torch.manual_seed(1)
        model = torch.nn.Linear(4, 2)
        optimizer: Any = torch.optim.Adam(model.parameters(), lr=0.01)
        if wrap:
            optimizer = CommOptimizer(optimizer, "EASGD", 4, 3, 0.4, 0.1)
        for i in range(20):
            x = torch.full((2, 4), float(i))
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        results.append([one.detach().clone() for one in model.parameters()])
        if wrap:
            optimizer.detach(0)
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


# ---- SD-2 ----


@pytest.mark.parametrize("tau", [1, 2, 3, 5])
def test_sd_02_exactly_every_tau_steps_and_at_no_other_time(hub: Any, tau: int) -> None:
    hub("--every", tau, "--delay", 0, "--policy", "easgd")
    worker = Worker(1, "n", comm_period=tau, lr=0.1)
    worker.p.grad = torch.ones(1)
    wait_offers(worker.link)
    at, before = [], worker.link.state()
    for i in range(1, 8 * tau + 1):
        together([worker])
        state = worker.link.state()
        if state.offered > before.offered:
            at.append(i)
        elif before.applied == before.offered:
            assert state.bytes_up == before.bytes_up
            assert state.bytes_down == before.bytes_down
        before = state
    assert at == [tau * (i + 1) for i in range(8)]


def test_sd_02_a_hub_with_other_settings_is_said_once(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "starswitch")
    hub("--every", 3, "--delay", 1, "--policy", "easgd")
    worker = Worker(1, "n", comm_period=10, dist_pulling_strength=0.43)
    for _ in range(60):
        together([worker])
    lines = [one for one in said(caplog) if "every 3 iterations" in one]
    assert len(lines) == 1
    assert "starswitch-hub --every 10 --delay 0 --policy easgd" in lines[0]
    assert "--elastic 0.43" in lines[0]


def test_sd_02_a_hub_with_these_settings_is_said_too(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "starswitch")
    hub("--every", 3, "--delay", 0, "--policy", "easgd")
    worker = Worker(1, "n", comm_period=3, lr=0.1)
    for _ in range(12):
        together([worker])
    assert not said(caplog)
    assert [one for one in said(caplog, logging.INFO) if "as asked" in one]


# ---- SD-3 ----


@pytest.mark.parametrize(("tau", "p"), [(4, 0.2), (2, 0.0), (3, 1.0)])
def test_sd_03_after_each_local_step_a_pull_to_the_centre_of_the_last_exchange(
    hub: Any, tau: int, p: float
) -> None:
    beta, lr, x = 0.5, 0.25, 3.0
    hub(
        *("--every", tau, "--delay", 0, "--policy", "easgd"),
        *("--elastic", beta, "--anchor", p),
    )
    worker = Worker(
        x,
        "n",
        lr=lr,
        comm_period=tau,
        dist_pulling_strength=beta,
        local_pulling_strength=p,
    )
    worker.p.grad = torch.ones(1)
    seen = []
    for _ in range(4 * tau):
        together([worker])
        seen.append(worker.x)
    assert seen == pytest.approx(foreseen(x, beta, lr, tau, p), abs=1e-5)


def foreseen(x: float, beta: float, lr: float, tau: int, p: float) -> list[float]:
    """Four periods of a worker that is alone (alpha = beta). The centre of an
    exchange is that which it pulls to: before the first, the first parameters."""
    out, centre, remembered = [], x, x
    for i in range(4 * tau):
        x -= lr
        x = (1 - p / tau) * x + p / tau * remembered
        if (i + 1) % tau == 0:
            remembered = centre
            x, centre = (
                (1 - beta) * x + beta * centre,
                (1 - beta) * centre + beta * x,
            )
        out.append(x)
    return out


def test_sd_03_another_local_pull_than_asked_for_is_said(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    hub("--every", 4, "--delay", 0, "--policy", "easgd", "--anchor", 0.2)
    same = Worker(1, "a", comm_period=4, local_pulling_strength=0.2)
    for _ in range(12):
        together([same])
    assert not said(caplog)
    same.optimizer.detach()
    other = Worker(1, "b", comm_period=4, local_pulling_strength=0.5)
    for _ in range(16):
        together([other])
    lines = said(caplog)
    assert len(lines) == 1
    assert "by 0.2" in lines[0]
    assert "--anchor 0.5" in lines[0]


# ---- SD-4, SD-5 ----


def test_sd_04_all_workers_start_equal_where_the_run_says_so(hub: Any) -> None:
    hub(
        *("--every", 1, "--delay", 0, "--policy", "easgd"),
        *("--init", "hub", "--nodes", 3),
    )
    workers = [Worker(x, f"n{x}") for x in (1, 2, 4)]
    for _ in range(200):
        together(workers, wait=False)
        if len({one.x for one in workers}) == 1:
            break
        time.sleep(0.01)
    assert len({one.x for one in workers}) == 1
    assert workers[0].x in (1, 2, 4)


def test_sd_05_groups_are_each_one_vector_with_a_centre_of_its_own(hub: Any) -> None:
    running = hub("--every", 1, "--delay", 0, "--policy", "easgd", "--elastic", 0.5)
    groups = [[torch.nn.Parameter(torch.full((2, 3), float(i)))] for i in (1, 2)]
    groups[1].append(torch.nn.Parameter(torch.full((5,), 7.0)))
    local = torch.optim.SGD([{"params": one} for one in groups], lr=1.0)
    optimizer = CommOptimizer(local, "EASGD", 1, 1, 0.5)
    assert optimizer.link is not None
    wait_offers(optimizer.link)
    for one in groups[0]:
        one.grad = torch.ones_like(one)
    for _ in range(3):
        optimizer.step()
    centre = running.export()
    assert {name: tuple(one.shape) for name, one in centre.items()} == {
        "group0.0": (2, 3),
        "group1.0": (2, 3),
        "group1.1": (5,),
    }
    assert (centre["group0.0"] < 1).all()
    assert (centre["group1.0"] == 2).all()
    assert (centre["group1.1"] == 7).all()


# ---- EASGD: SD-6 to SD-9 ----


def easgd(hub: Any, starts: Sequence[float], c: float, beta: float) -> Any:
    running = hub(*("--every", 1, "--delay", 0, "--policy", "easgd", "--elastic", beta))
    centred(running, c)
    workers = [
        Worker(x, f"n{i}", dist_pulling_strength=beta) for i, x in enumerate(starts)
    ]
    all_here = f" of {len(workers)} node"  # "0 of 2 nodes have offered"
    until(lambda: all_here in running.status()["state"], what="both connections")
    return running, workers


def test_sd_06_golden_vectors_of_two_exchanges(hub: Any) -> None:
    running, workers = easgd(hub, GOLDEN, 0.5, 0.43)
    assert together(workers) == pytest.approx(
        [0.94625, 1.83875, 3.62375, -2.62375], abs=1e-6
    )
    assert running.export()["group0.0"].item() == pytest.approx(0.715, abs=1e-6)
    assert together(workers) == pytest.approx(
        [0.921390625, 1.717946875, 3.311059375, -2.264834375], abs=1e-6
    )
    assert running.export()["group0.0"].item() == pytest.approx(0.8144375, abs=1e-6)


def test_sd_07_the_sum_of_workers_and_centre_stays(hub: Any) -> None:
    running, workers = easgd(hub, GOLDEN, 0.5, 0.9)
    for _ in range(5):
        together(workers)
        centre = running.export()["group0.0"].item()
        assert sum(one.x for one in workers) + centre == pytest.approx(4.5, abs=1e-5)


def test_sd_07_equal_workers_and_centre_stay(hub: Any) -> None:
    _, workers = easgd(hub, [2.5, 2.5], 2.5, 0.43)
    for _ in range(3):
        assert together(workers) == [2.5, 2.5]


def test_sd_07_one_worker_and_a_full_spring_swap(hub: Any) -> None:
    running, workers = easgd(hub, [8], 0.5, 1.0)
    assert together(workers) == [0.5]
    assert running.export()["group0.0"].item() == 8
    assert together(workers) == [8]


def test_sd_08_the_asynchronous_form_keeps_worker_and_centre(hub: Any) -> None:
    running = hub(
        *("--every", 1, "--delay", 0, "--policy", "easgd-async", "--elastic", 0.8)
    )
    centred(running, 0.5)
    workers = [Worker(x, f"n{x}") for x in (1, 5)]
    own = [1.0, 5.0]
    centre = 0.5
    for i in (0, 1, 1, 0):  # one at a time, and nobody waits for the other
        (x,) = together([workers[i]])
        d = 0.4 * (own[i] - centre)
        own[i], centre = own[i] - d, centre + d
        assert x == pytest.approx(own[i], abs=1e-5)
        assert running.export()["group0.0"].item() == pytest.approx(centre, abs=1e-5)


# ---- LSGD: SD-10 to SD-19 ----


def lsgd(hub: Any, *options: Any, starts: Sequence[float] = GOLDEN) -> Any:
    running = hub(
        *("--every", 1, "--delay", 0, "--policy", "lsgd"),
        *("--nodes", len(starts)),
        *options,
    )
    return running, [
        Worker(x, f"n{i}", "LSGD", world_size=len(starts)) for i, x in enumerate(starts)
    ]


def test_sd_10_who_reports_no_loss_never_leads_and_is_told(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    _, workers = lsgd(hub, starts=[1, 2])
    for _ in range(3):
        workers[1].optimizer.report(loss=9.0)
        together(workers)
    assert workers[1].x == 2
    assert workers[0].x == pytest.approx(2 - 0.9**3, abs=1e-6)
    lines = [one for one in said(caplog) if "never leads" in one]
    assert len(lines) == 1


def test_sd_11_the_lowest_loss_leads_ties_go_to_the_first_and_nan_never_leads(
    hub: Any,
) -> None:
    _, workers = lsgd(hub, starts=[1, 2, 4])
    assert together(workers, [math.nan, 0.5, 0.5]) == pytest.approx([1.1, 2, 3.8])


def test_sd_12_golden_vector_of_a_local_and_a_global_pull(hub: Any) -> None:
    _, workers = lsgd(hub, "--group", 2, "--global-every", 2)
    losses = (0.9, 0.7, 0.3, 0.5)
    assert together(workers, losses) == pytest.approx([1.1, 2, 4, -2.3], abs=1e-6)
    assert together(workers, losses) == pytest.approx([1.39, 2.2, 4, -1.67], abs=1e-6)


def test_sd_13_a_proximal_pull_to_the_remembered_leader_at_each_step(hub: Any) -> None:
    _, workers = lsgd(hub, "--anchor", 0.4, "--pull", 0.5, starts=[1, 3])
    assert together(workers, [2, 1])[0] == pytest.approx(0.5 * 1 + 0.5 * 3, abs=1e-6)
    # The remembered leader's x is 3, and so is that of today.
    pulled = 0.6 * 2 + 0.4 * 3
    assert together(workers, [2, 1])[0] == pytest.approx(
        0.5 * pulled + 0.5 * workers[1].x, abs=1e-6
    )


def test_sd_15_each_worker_has_a_learning_rate_of_its_own(hub: Any) -> None:
    running = hub("--every", 1, "--delay", 0, "--policy", "lsgd", "--nodes", 3)
    workers = [
        Worker(8, f"n{i}", "LSGD", lr=0.05 * 2**i, world_size=3) for i in range(3)
    ]
    for _ in range(10):
        losses = [one.x**2 / 2 for one in workers]
        for one in workers:
            one.p.grad = one.p.detach().clone()
        together(workers, losses)
    assert workers[2].x < workers[1].x < workers[0].x
    assert running.status()["version"] >= 9


def test_sd_16_only_the_leaders_parameters_are_sent(hub: Any) -> None:
    _, workers = lsgd(hub)
    for one in workers:
        wait_offers(one.link)
    before = [one.link.state().bytes_up for one in workers]
    for _ in range(5):
        together(workers, [0.9, 0.7, 0.3, 0.5])
    sent = [
        one.link.state().bytes_up - old
        for one, old in zip(workers, before, strict=True)
    ]
    assert sent[2] > 0
    assert max(sent[0], sent[1], sent[3]) == 0, sent


def test_sd_19_the_centre_is_the_leaders_parameters(hub: Any) -> None:
    running, workers = lsgd(hub)
    together(workers, [0.9, 0.7, 0.3, 0.5])
    assert running.export()["group0.0"].item() == 4


# ---- SD-20 to SD-22 ----


@pytest.mark.parametrize("name", ["LSGD+", "EASGD+"])
def test_sd_20_variants_of_one_code_base_are_refused_with_the_reason(
    name: str,
) -> None:
    local = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    with pytest.raises(ValueError, match="only one code base"):
        CommOptimizer(local, name)


def test_sd_22_data_parallel_is_the_local_optimizer_and_ddp_is_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    p = torch.nn.Parameter(torch.ones(1))
    p.grad = torch.ones(1)
    optimizer = CommOptimizer(torch.optim.SGD([p], lr=0.5), "DataParallel", 4)
    assert optimizer.link is None
    optimizer.step()
    optimizer.zero_grad()
    assert p.item() == 0.5
    assert p.grad is None
    lines = said(caplog)
    assert len(lines) == 1
    assert "DistributedDataParallel" in lines[0]
    CommOptimizer(torch.optim.SGD([p], lr=0.5), "DataParallel", 1)
    assert len(said(caplog)) == 1


def test_another_policy_than_asked_for_is_said(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    hub("--every", 2, "--delay", 0, "--policy", "lsgd", "--pull", 0.25, "--nodes", 2)
    workers = [Worker(x, f"n{x}", "EASGD", world_size=2, comm_period=2) for x in (1, 2)]
    for _ in range(12):
        together(workers, [2, 1])
    lines = said(caplog)
    assert [one for one in lines if "by 0.25" in one and "another policy" in one]


def test_sd_schedulers_and_scalers_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARSWITCH_DISABLE", "1")
    model = small_model()
    local = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    optimizer = CommOptimizer(local, "EASGD", 1, 4, 0.4)
    assert isinstance(optimizer, torch.optim.Optimizer)
    assert isinstance(optimizer, torch.optim.SGD)
    assert isinstance(optimizer, CommOptimizer)
    schedulers = torch.optim.lr_scheduler
    half = schedulers.LambdaLR(optimizer, lambda i: 0.5**i)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    before = model[0].weight.detach().clone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as a scheduler that misses a step
        for _ in range(3):
            optimizer.zero_grad()
            scaler.scale(model(torch.ones(2, 8)).square().mean()).backward()
            scaler.step(optimizer)
            scaler.update()
            half.step()
    assert local.param_groups[0]["lr"] == 0.125
    assert not torch.equal(before, model[0].weight)
    schedulers.OneCycleLR(optimizer, 0.1, total_steps=10)
    schedulers.ReduceLROnPlateau(optimizer).step(1.0)


def test_sd_a_fused_step_hears_what_a_scaler_has_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STARSWITCH_DISABLE", "1")
    model, plain = small_model(), small_model()
    made = torch.optim.SGD(plain.parameters(), lr=0.1)
    local = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
    optimizer = CommOptimizer(local, "EASGD", 1, 4, 0.4)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for factor in (1.0, torch.inf):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 8)).square().mean()
        scaler.scale(loss * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    plain(torch.ones(2, 8)).square().mean().backward()
    made.step()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(ours, theirs)
    assert not hasattr(local, "found_inf") and not hasattr(optimizer, "grad_scale")
