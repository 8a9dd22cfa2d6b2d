"""torchft's and accelerate's spellings against real hubs."""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from conftest import batch, offers, small_model, train, wait_offers
from starswitch.local_sgd import DiLoCo, LocalSGD, Manager

torch.set_num_threads(1)


def said(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= level]


def nodes(*trains: Callable[[], None]) -> None:
    """Runs these at once, each on a thread of its own."""
    errors: list[BaseException] = []

    def guard(one: Callable[[], None]) -> None:
        try:
            one()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guard, args=(one,)) for one in trains]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
        assert not one.is_alive()
    if errors:
        raise errors[0]


# ---- torchft ----


def test_local_sgd_averages_parameters_every_so_many_steps(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "starswitch")
    hub(
        *("--every", 5, "--delay", 0, "--policy", "mean", "--nodes", 2),
        *("--init", "hub", "--codec-up", "raw", "--codec-down", "raw"),
    )
    models = [small_model(1) for _ in range(2)]
    links: list[Any] = []
    both: list[bool] = []
    barrier = threading.Barrier(
        2, lambda: both.append(all(offers(link) for link in links))
    )

    def one(i: int) -> None:
        optimizer = torch.optim.SGD(models[i].parameters(), lr=0.05)
        face = LocalSGD(None, models[i], optimizer, 5, name=f"n{i}")
        with face:
            assert face.link is not None
            face.link.wait_ready(20)
            links.append(face.link)
            # Step by step together, until both may offer: one that went on alone
            # would wait, at its exchange, for the other.
            for _ in range(2000):
                barrier.wait(20)
                if both[-1]:
                    break
                train(models[i], optimizer, 1, pause=0.01)
            train(models[i], optimizer, 60, first=1000 * i)
            while face.link.state().iteration % 5:
                train(models[i], optimizer, 1)
            assert face.link.state().applied > 5

    nodes(lambda: one(0), lambda: one(1))
    # Not the last ones, which are those of a node that has left.
    lines = said(caplog, logging.INFO)
    assert any("--every 5 --delay 0 --policy mean" in line for line in lines)
    assert any("as asked" in line for line in lines)
    assert not said(caplog)
    losses = [
        torch.nn.functional.cross_entropy(one(batch(7)[0]), batch(7)[1]).item()
        for one in models
    ]
    assert max(losses) < 1.0


def test_a_hub_that_exchanges_otherwise_is_said_with_the_command(
    hub: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "starswitch")
    hub("--every", 4, "--delay", 2)
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with LocalSGD(None, model, optimizer, sync_every=20) as face:
        assert face.link is not None
        face.link.wait_ready(20)
        # A tournament of 50 iterations has a k of its own, which is not said.
        train(model, optimizer, 4000, pause=0.005, stop=lambda: said(caplog))
        train(model, optimizer, 40, pause=0.005)
        assert len(said(caplog)) == 1
    lines = said(caplog)
    assert len(lines) == 1
    assert "every 4 iterations, with a delay of 2" in lines[0]
    assert "starswitch-hub --every 20 --delay 0 --policy mean" in lines[0]


@pytest.mark.parametrize("spelling", range(5))
def test_the_manager_may_be_there_or_not(spelling: int) -> None:
    model = small_model()
    inner = torch.optim.AdamW(model.parameters(), lr=1e-3)
    outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9, nesterov=True)
    one, other = [
        lambda: (
            LocalSGD(Manager(), model, inner, 10),
            DiLoCo(Manager(), [model], inner, outer, 10),
        ),
        lambda: (
            LocalSGD(None, model, inner, sync_every=10),
            DiLoCo(None, model, inner, outer, sync_every=10),
        ),
        lambda: (LocalSGD(model, inner, 10), DiLoCo([model], inner, outer, 10)),
        lambda: (
            LocalSGD(model, inner, sync_every=10),
            DiLoCo(model, inner, outer, sync_every=10, backup_device="cpu"),
        ),
        lambda: (
            LocalSGD(model=model, optimizer=inner, sync_every=10),
            DiLoCo(
                model_fragments=[model],
                inner_optimizer=inner,
                outer_optimizer=[outer],
                sync_every=10,
            ),
        ),
    ][spelling]()
    assert one._asked.command == "starswitch-hub --every 10 --delay 0 --policy mean"
    assert other._asked.command == (
        "starswitch-hub --every 10 --delay 0 --policy diloco "
        "--outer-lr 0.7 --outer-momentum 0.9"
    )
    for face in one, other:  # without a hub the loop is as it was
        with face:
            assert len(train(model, inner, 3)) == 3
            assert face.link is not None
            assert face.link.state().iteration == 3


def test_what_a_hub_has_nothing_for_is_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "starswitch")
    model = small_model()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    for outer, word in [
        (torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9), "Nesterov"),
        (torch.optim.AdamW(model.parameters(), lr=0.1), "AdamW"),
        (torch.optim.Adam(model.parameters(), lr=0.1), "beta2"),
    ]:
        caplog.clear()
        with DiLoCo(object(), [model], inner, outer, 10):
            pass
        lines = said(caplog)
        assert any(word in line for line in lines), lines
        assert any("manager is not used" in line for line in lines)
    caplog.clear()
    Manager("group", state_dict=dict, min_replica_size=2)
    DiLoCo(model, inner, outer, 10, should_quantize=True)
    lines = said(caplog, logging.INFO)
    assert any("state_dict" in line for line in lines)
    assert any("should_quantize" in line for line in lines)


def test_fragments_delay_and_alpha_are_options_of_the_hub() -> None:
    model = small_model()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    outer = [torch.optim.SGD(one.parameters(), lr=0.4) for one in (model[0], model[2])]
    face = DiLoCo(
        Manager(min_replica_size=3),
        [model[0], model[2]],
        inner,
        outer,
        sync_every=20,
        fragment_sync_delay=5,
        fragment_update_alpha=0.25,
    )
    assert face._asked.command == (
        "starswitch-hub --every 20 --delay 5 --policy streaming --outer-lr 0.4 "
        "--outer-momentum 0 --nodes 3 --fragments 2 --pull 0.75"
    )
    for bad in (
        {"sync_every": 0},
        {"sync_every": 5, "fragment_sync_delay": 5},
        {"sync_every": 5, "fragment_update_alpha": 1.5},
    ):
        with pytest.raises(ValueError, match=list(bad)[-1]):
            DiLoCo(None, [model], inner, outer, **bad)
    with pytest.raises(TypeError, match="outer_optimizer"):
        DiLoCo(None, [model], inner, sync_every=5)


def test_diloco_trains_fragments_and_its_manager_counts(hub: Any) -> None:
    hub("--every", 4, "--delay", 1, "--fragments", 2, "--init", "hub")
    model = small_model()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9, nesterov=True)
    manager = Manager()
    assert (manager.current_step(), manager.num_participants()) == (0, 1)
    with DiLoCo(
        manager, [model[0], model[2]], inner, outer, 4, fragment_sync_delay=1
    ) as face:
        assert face.link is not None
        face.link.wait_ready(20)
        for i in range(400):
            train(model, inner, 1, first=i, pause=0.005)
            if manager.current_step() >= 5:
                break
        assert manager.current_step() >= 5
        assert manager.num_participants() == 1
        assert not face.over
    assert face.link.attached is False
    manager.shutdown()


def test_the_end_of_a_run_is_told(hub: Any) -> None:
    hub("--every", 2, "--delay", 0, "--iterations", 6, "--policy", "mean")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with LocalSGD(None, model, optimizer, 2) as face:
        assert face.link is not None
        face.link.wait_ready(20)
        behind: list[int] = []  # a hook of the script's own, behind the link's
        optimizer.register_step_post_hook(lambda *_: behind.append(1))
        losses = train(model, optimizer, 500, pause=0.01, stop=lambda: face.over)
        assert face.over
        assert len(behind) == len(losses)
    assert len(optimizer._optimizer_step_post_hooks) == 1
    assert len(optimizer._optimizer_step_pre_hooks) == 0


# ---- accelerate ----


@pytest.fixture
def accelerator() -> Any:
    accelerate = pytest.importorskip("accelerate")
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state(True)
    return accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)


def test_accelerate_counts_optimizer_steps_and_not_batches(
    hub: Any, accelerator: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from starswitch.integrations.accelerate import LocalSGD as Spelled

    hub("--every", 5, "--delay", 0, "--policy", "mean", "--init", "hub")
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    first = last = 0.0
    with Spelled(
        accelerator=accelerator, model=model, local_sgd_steps=8, enabled=True
    ) as s:
        wait_offers(s.link)
        for i in range(80):
            x, y = batch(i)
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
                s.report(loss=loss, samples=len(x))
                s.step()
            first, last = first or loss.item(), loss.item()
        assert s.num_steps == 80
        state = s.link.state()
        assert state.iteration == 40
        assert state.offered == 8
    assert last < first
    lines = said(caplog)
    assert len(lines) == 1
    assert "starswitch-hub --every 8 --delay 0 --policy mean" in lines[0]


def test_accelerate_without_a_prepared_optimizer_steps_by_hand(
    accelerator: Any,
) -> None:
    from starswitch.integrations.accelerate import LocalSGD as Spelled

    model = accelerator.prepare(small_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Spelled(accelerator, model, 8) as s:
        for _ in range(5):
            optimizer.step()
            s.step()
        assert s.link.state().iteration == 5
    with Spelled(accelerator, model, 8, enabled=False) as s:
        s.step()
        assert s.link is None
    with pytest.raises(ValueError, match="local_sgd_steps"):
        Spelled(accelerator, model, 0)


def test_attach_takes_what_accelerate_has_prepared(hub: Any, accelerator: Any) -> None:
    import starswitch

    hub("--every", 2, "--delay", 0, "--policy", "mean", "--init", "hub")
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    prepared = accelerator.prepare(model, optimizer)
    with starswitch.attach(*prepared) as link:
        wait_offers(link)
        train(prepared[0], prepared[1], 10)
        assert link.state().iteration == 10
        assert link.state().offered == 5


# ---- without the frameworks ----


@pytest.mark.parametrize(
    ("module", "needs"),
    [
        ("accelerate", ["accelerate"]),
        ("huggingface", ["transformers"]),
        ("lightning", ["lightning", "pytorch_lightning"]),
    ],
)
def test_without_the_framework_the_import_says_what_to_install(
    module: str, needs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] in needs:
            monkeypatch.delitem(sys.modules, name)
    for name in needs:
        monkeypatch.setitem(sys.modules, name, None)
    name = f"starswitch.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=rf"{name} needs .*pip install {needs[0]}"):
        importlib.import_module(name)
