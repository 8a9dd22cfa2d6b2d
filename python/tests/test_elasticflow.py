"""ElasticFlow's criteria (docs/ancestors.md), with model() and forward()."""

from __future__ import annotations

import functools
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import starswitch
from conftest import until

torch = pytest.importorskip("torch")

from starswitch.compat.elasticflow import Result, run  # noqa: E402

HERE = Path(__file__).resolve().parent
NOBODY = "127.0.0.1:1"
MEAN = ("--policy", "mean", "--every", 5, "--delay", 2, "--init", "hub")


def samples(n: int = 200) -> tuple[Any, Any]:
    random = torch.Generator().manual_seed(7)
    x = torch.randn(n, 5, generator=random)
    return x, (x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0])).unsqueeze(1) + 0.25


def model() -> dict[str, Any]:
    random = torch.Generator().manual_seed(1)
    return {
        "w": torch.randn(5, 1, generator=random),
        "head.b": torch.zeros(1),
        "optimizer": functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9),
    }


def forward(x: Any, y: Any, params: Any) -> Any:
    return ((x @ params["w"] + params["head.b"] - y) ** 2).mean()


class Net(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.line = torch.nn.Linear(5, 1)

    def forward(self, x: Any) -> Any:
        return self.line(x)

    def loss(self, output: Any, y: Any) -> Any:
        return torch.nn.functional.mse_loss(output, y)

    def optimizer(self) -> Any:
        return torch.optim.Adam(self.parameters(), lr=0.05)


NODE = f"""
    import sys, time
    sys.path.insert(0, {str(HERE)!r})
    from test_elasticflow import forward, model, run, samples
    name, epochs, pause = sys.argv[1:]
    def on_step(i, cost):
        time.sleep(float(pause))
        if i % 20 == 1:
            print("step", i, cost, flush=True)
    result = run(model, forward, samples(480), epochs=int(epochs) or None,
                 batch_size=8, name=name, on_step=on_step)
    print("pending", result.pending, "training", result.training)
    print("samples", result.samples, "loss", result.loss, "text", result.text)
"""


def test_ef_01_a_user_writes_model_and_forward_and_nothing_else() -> None:
    result = run(model, forward, samples(), epochs=10, hub=NOBODY)
    assert result.loss < 0.1
    assert sorted(result.params) == ["head.b", "w"]
    assert result.iterations == 10 * 7
    assert result.samples == 10 * 200
    made = run(Net, data=samples(), epochs=20, hub=NOBODY)
    assert made.loss < 1
    assert sorted(made.params) == ["line.bias", "line.weight"]


def test_ef_01_what_is_wrong_is_said() -> None:
    def bad(text: str, *what: Any) -> None:
        with pytest.raises(starswitch.StarswitchError, match=text):
            run(*what, hub=NOBODY)

    bad("optimizer", lambda: {"w": torch.zeros(1)}, forward, samples())
    bad("params", model, lambda x, y: x, samples())
    bad("run needs data", model, forward)
    bad("not a tensor", lambda: {**model(), "w": 3}, forward, samples())
    bad("no method loss", lambda: torch.nn.Linear(1, 1), None, samples())
    bad("200 x and 3 y", model, forward, (samples()[0], torch.zeros(3)))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("as_dataset", [False, True])
def test_ef_02_one_node_equals_a_loop_written_by_hand(
    shuffle: bool, as_dataset: bool
) -> None:
    x, y = samples(90)
    w = model()["w"].clone().requires_grad_()
    b = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([b, w], lr=0.05, momentum=0.9)
    order: Any = starswitch.Sampler(90, seed=4) if shuffle else range(90)
    for _ in range(3):
        places = list(order)
        for first in range(0, 90, 32):
            batch = places[first : first + 32]
            optimizer.zero_grad()
            loss = ((x[batch] @ w + b - y[batch]) ** 2).mean()
            loss.backward()
            optimizer.step()
    data = torch.utils.data.TensorDataset(x, y) if as_dataset else (x, y)
    result = run(model, forward, data, epochs=3, shuffle=shuffle, seed=4, hub=NOBODY)
    assert torch.equal(result.params["w"], w)
    assert torch.equal(result.params["head.b"], b)


def test_ef_02_an_optimizer_of_ones_own_tensors_is_the_same() -> None:
    def built() -> dict[str, Any]:
        given = model()
        tensors = [given["head.b"].requires_grad_(), given["w"].requires_grad_()]
        return {**given, "optimizer": given["optimizer"](tensors)}

    one = run(built, forward, samples(), hub=NOBODY)
    other = run(model, forward, samples(), hub=NOBODY)
    assert all(torch.equal(one.params[k], other.params[k]) for k in one.params)


def test_an_optimizers_state_goes_with_its_tensors() -> None:
    """Adagrad's, which older versions of torch do not make again."""
    w = torch.zeros(5, 1, requires_grad=True)
    made = torch.optim.Adagrad([w])
    sums = made.state[w]["sum"]
    run(
        lambda: {"w": w, "optimizer": made},
        lambda x, y, params: ((x @ params["w"] - y) ** 2).mean(),
        samples(),
        hub=NOBODY,
    )
    (state,) = made.state.values()
    assert state["sum"] is sums and sums.any()


def test_ef_03_parameters_are_matched_by_name_and_the_hub_sets_m(
    hub: Any, script: Any
) -> None:
    hub("--policy", "mean", "--every", 1, "--delay", 3, "--init", "hub")
    other = script(NODE, "other", 40, 0.004)

    def reversed_() -> dict[str, Any]:
        return dict(reversed(model().items()))

    seen: list[Result] = []
    other.wait_for("step 21")
    seen.append(run(reversed_, forward, samples(480), epochs=4, batch_size=8))
    other.kill(signal.SIGKILL)
    assert seen[0].joined is not None
    assert seen[0].loss < 0.5


def test_ef_04_whatever_starts_programs_can_start_it() -> None:
    from starswitch.launch import launch_local

    done = launch_local(
        2,
        HERE / "elasticflow_node.py",
        hub_options=[*MEAN, "--nodes", 2, "--tasks", 10, "--epochs", 2],
        show=False,
        timeout=100,
    ).check()
    assert done.hub == 0
    assert all("loss" in done.text[name] for name in ("n1", "n2"))


def test_ef_05_who_dies_costs_the_others_nothing(hub: Any, script: Any) -> None:
    one = hub(*MEAN, "--tasks", 24, "--epochs", 3, "--task-time", "10s")
    nodes = [script(NODE, name, 0, 0.01) for name in ("a", "b")]
    for node in nodes:
        node.wait_for("step 21")
    nodes[0].kill(signal.SIGKILL)
    assert nodes[1].wait() == 0
    assert "3 epochs done" in nodes[1].text
    one.wait_for("run_ended")


def test_ef_06_with_fewer_than_asked_for_training_starts_and_it_grows(
    hub: Any, script: Any
) -> None:
    one = hub(*MEAN, "--nodes", 3)
    first = script(NODE, "first", 0, 0.005)
    first.wait_for("step 41")  # of three that were asked for there is one
    others = [script(NODE, name, 0, 0.005) for name in ("second", "third")]
    until(lambda: one.status().get("rounds", 0) > 3, 60, "rounds of three")
    for node in (first, *others):
        node.kill(signal.SIGKILL)


def test_ef_07_time_pending_and_in_training_are_both_told() -> None:
    result = run(model, forward, samples(), hub=NOBODY)
    assert 0 <= result.pending < 5
    assert 0 < result.training < 20
    assert result.joined is None


def check_gate(hub: Any, *gate: object) -> None:
    hub("--policy", "mean", "--every", 2, "--delay", 2, "--gate", *gate)

    def on_step(i: int, cost: float) -> None:
        time.sleep(0.002)

    data = samples(480)
    result = run(model, forward, data, epochs=4, batch_size=8, on_step=on_step)
    assert result.joined is not None
    assert result.loss < 0.5


def test_ef_09_a_synchronous_hub_with_a_tolerance_is_trained_with(hub: Any) -> None:
    check_gate(hub, "sync", "--staleness", 1)


def test_ef_10_an_asynchronous_hub_that_damps_is_trained_with(hub: Any) -> None:
    check_gate(hub, "async", "--damping", "inverse")


def test_ef_11_the_first_worker_gives_the_parameters_again_to_a_hub_without_any(
    hub: Any, script: Any
) -> None:
    one = hub(*MEAN)
    node = script(NODE, "a", 0, 0.005)
    node.wait_for("step 41")
    until(lambda: one.status().get("rounds", 0) > 1, 60, "rounds")
    one.kill()
    shutil.rmtree(one.directory)
    one.start()
    until(lambda: one.status().get("rounds", 0) > 1, 60, "rounds of the new one")
    assert node.process.poll() is None
    node.kill()


def test_ef_12_another_number_of_nodes_goes_on_with_a_checkpoint(
    hub: Any, script: Any
) -> None:
    one = hub(*MEAN, "--save", "200ms")
    nodes = [script(NODE, name, 0, 0.005) for name in ("a", "b")]
    until(lambda: one.status().get("version", 0) > 4, 60, "a centre")
    one.ctl("checkpoint")
    for node in nodes:
        node.kill(signal.SIGKILL)
        node.wait()
    version = one.status()["version"]
    one.stop()
    one.start()
    alone = script(NODE, "c", 0, 0.005)
    until(lambda: one.status()["version"] > version, 60, "it goes on")
    alone.kill(signal.SIGKILL)


def test_ef_13_a_change_of_members_is_told_and_changes_the_shares(
    hub: Any, script: Any
) -> None:
    hub(*MEAN)
    net = torch.nn.Linear(2, 1)
    link = starswitch.attach(net, torch.optim.SGD(net.parameters(), 0.1), name="me")
    link.wait_ready(20)
    until(lambda: link.state().shards == 1)
    sampler = starswitch.Sampler(100, link)
    assert len(sampler) == 100
    other = starswitch.attach(
        {"weight": net.weight.detach().numpy().copy(), "bias": torch.zeros(1).numpy()},
        name="other",
    )
    other.wait_ready(20)
    until(lambda: link.state().shards == 2)
    sampler._look()
    assert len(sampler) == 50
    other.detach()
    link.detach()
