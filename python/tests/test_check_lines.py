"""The lines that `starswitch check` says, added to scripts of many shapes: these
run, attach and train with a hub."""

from __future__ import annotations

import contextlib
import os
import signal
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Hub, Script, until
from test_check import Checker, with_lines

RUN = "import os, sys; os.execv(sys.executable, [sys.executable, sys.argv[1]])"

STEP = """\
import time

import torch
from torch import nn

x = torch.randn(16, 4)


def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.005)
"""

SCRIPTS = {
    "a dict of models": """\
        models = {"g": nn.Linear(4, 8), "d": nn.Linear(8, 1)}
        optimizers = {k: torch.optim.Adam(m.parameters()) for k, m in models.items()}
        for m in models.values():
            m.train()
        for turn in range(10_000):
            step(optimizers["d"], models["d"](models["g"](x).detach()).mean())
            step(optimizers["g"], -models["d"](models["g"](x)).mean())
    """,
    "optimizers made in a loop": """\
        models, optimizers = {"g": nn.Linear(4, 8), "d": nn.Linear(8, 1)}, {}
        other = nn.Linear(1, 1)
        for name, m in models.items():
            optimizers[name] = torch.optim.Adam(
                m.parameters()
            )
        for turn in range(10_000):
            step(optimizers["g"], -models["d"](models["g"](x)).mean())
            step(optimizers["d"], models["d"](models["g"](x).detach()).mean())
    """,
    "a list of models": """\
        def main():
            nets = [nn.Linear(4, 8), nn.Linear(8, 1)]
            optimizer = torch.optim.Adam([p for n in nets for p in n.parameters()])
            for turn in range(10_000):
                step(optimizer, nets[1](nets[0](x)).square().mean())

        main()
    """,
    "attributes": """\
        class Trainer:
            def __init__(self):
                self.nets = {"gen": nn.Linear(4, 8), "dis": nn.Linear(8, 1)}
                self.model = nn.ModuleList(self.nets.values())
                self.optimizer = torch.optim.Adam(self.model.parameters())

            def train(self):
                for turn in range(10_000):
                    out = self.nets["dis"](self.nets["gen"](x))
                    step(self.optimizer, out.square().mean())

        Trainer().train()
    """,
    "attributes of something": """\
        class State:
            pass

        def main():
            state = State()
            state.model = nn.Linear(4, 1)
            state.optimizer = torch.optim.Adam(state.model.parameters())
            for turn in range(10_000):
                step(state.optimizer, state.model(x).square().mean())

        main()
    """,
    "locals of a function": """\
        def build():
            net = nn.Linear(4, 1)
            return net, torch.optim.Adam(net.parameters())

        def main():
            model, optimizer = build()
            for turn in range(10_000):
                step(optimizer, model(x).square().mean())

        if __name__ == "__main__":
            main()
    """,
    "two models, one optimizer": """\
        def main():
            enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
            optimizer = torch.optim.Adam([*enc.parameters(), *dec.parameters()])
            for turn in range(10_000):
                step(optimizer, (dec(enc(x)) - x).square().mean())

        main()
    """,
    "a GAN that freezes": """\
        g, d = nn.Linear(4, 8), nn.Linear(8, 1)
        d_opt = torch.optim.Adam(d.parameters())
        g_opt = torch.optim.Adam(g.parameters())
        for turn in range(10_000):
            d.requires_grad_(True)
            step(d_opt, d(g(x).detach()).mean())
            d.requires_grad_(False)
            step(g_opt, -d(g(x)).mean())
    """,
    "a ModuleDict": """\
        nets = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(2, 4)})
        optimizer = torch.optim.Adam(nets.parameters())
        for turn in range(10_000):
            step(optimizer, (nets["b"](nets["a"](x)) - x).square().mean())
    """,
    "one of two branches": """\
        model = nn.Linear(4, 1)
        if len(x) > 20:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        elif len(x) > 10:
            optimizer = torch.optim.Adam(model.parameters())
        else:
            optimizer = torch.optim.AdamW(model.parameters())
        best = model.state_dict()
        for turn in range(10_000):
            step(optimizer, model(x).square().mean())
        model.load_state_dict(best)
    """,
    "layers that train later": """\
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        model[0].requires_grad_(False)
        optimizer = torch.optim.SGD(model[2].parameters(), lr=0.01)

        def unfreeze():
            for p in model[0].parameters():
                p.requires_grad = True
            optimizer.add_param_group({"params": model[0].parameters()})

        for turn in range(10_000):
            if turn == 60:
                unfreeze()
            step(optimizer, model(x).square().mean())
    """,
    "a second phase": """\
        def main():
            model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
            model[0].requires_grad_(False)
            optimizer = torch.optim.SGD(model[2].parameters(), lr=0.01)
            for turn in range(60):
                step(optimizer, model(x).square().mean())
            model.requires_grad_(True)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for turn in range(10_000):
                step(optimizer, model(x).square().mean())

        main()
    """,
    "an attribute that its caller sets": """\
        class State:
            def __init__(self, model):
                self.model = model
                self.optimizer = self.configure()

            def configure(self):
                made = torch.optim.Adam(self.model.parameters())
                return made

        def main():
            state = State(nn.Linear(4, 1))
            for turn in range(10_000):
                step(state.optimizer, state.model(x).square().mean())

        main()
    """,
    "a wrapper of the script's own": """\
        class Wrapped:
            def __init__(self, inner):
                self.inner = inner

            def step(self):
                self.inner.step()

        def measure(model):
            other = model(x).abs().mean()
            other.backward()
            return other.item()

        def main():
            model = nn.Linear(4, 1)
            optimizer = Wrapped(torch.optim.SGD(model.parameters(), lr=0.01))
            for turn in range(10_000):
                model.zero_grad()
                error = model(x).square().mean()
                error.backward()
                optimizer.step()
                time.sleep(0.005)

        main()
    """,
    "a loss of another function": """\
        def learn(model):
            error = model(x).square().mean()
            error.backward()

        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for turn in range(10_000):
            optimizer.zero_grad()
            learn(model)
            optimizer.step()
            time.sleep(0.005)
    """,
    "models of several processes": """\
        import torch.multiprocessing as mp

        def train(rank, width):
            model = nn.Linear(4, width)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for turn in range(10_000):
                step(optimizer, model(x).square().mean())

        if __name__ == "__main__":
            mp.spawn(train, args=(3,), nprocs=2)
    """,
    "one model of several processes": """\
        import torch.multiprocessing as mp

        def train(rank, model):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            for turn in range(10_000):
                step(optimizer, model(x).square().mean())

        if __name__ == "__main__":
            model = nn.Linear(4, 1).share_memory()
            mp.spawn(train, args=(model,), nprocs=2)
    """,
}
NODES = {"models of several processes": 2}
REPORTS = {
    "a wrapper of the script's own": ["link.report(loss=error)"],
    "a loss of another function": [],
}
LATER = {
    "layers that train later": 60,
    "a second phase": 60,
}  # what attach has to outlive


@pytest.mark.parametrize("shape", SCRIPTS)
def test_a_script_attaches_with_the_lines_that_check_says(
    check: Checker,
    hub: Callable[..., Hub],
    script: Callable[..., Script],
    tmp_path: Path,
    shape: str,
) -> None:
    text = STEP + textwrap.dedent(SCRIPTS[shape])
    done = check.run(text)
    assert (done.code, done.verdict) == (0, "works")
    assert "starswitch.attach(" in done.out
    if shape in REPORTS:
        added = [one["text"].strip() for one in done.said["lines"]]
        assert [one for one in added if ".report(" in one] == REPORTS[shape]
    file = tmp_path / "added.py"
    file.write_text(with_lines(text, done.said["lines"]))
    star = hub("--every", 5, "--delay", 2)
    node = script(RUN, file)
    try:
        until(
            lambda: (
                node.process.poll() is not None
                or star.status()["version"] > 3 + LATER.get(shape, 0) // 5
            ),
            90.0,
        )
        assert node.process.poll() is None, node.text
        until(lambda: len(star.status()["nodes"]) >= NODES.get(shape, 1))
        assert len(star.status()["nodes"]) == NODES.get(shape, 1)
        assert "alone from now on" not in node.text
    finally:
        children = f"/proc/{node.process.pid}/task/{node.process.pid}/children"
        ids = Path(children).read_text().split() if Path(children).exists() else []
        node.kill()
        for one in ids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(one), signal.SIGKILL)


@pytest.fixture
def check(tmp_path: Path) -> Checker:
    return Checker(tmp_path)
