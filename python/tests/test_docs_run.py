"""The pages' Python is run, block by block, with what stands around it in a script
given here."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pytest
import starswitch
import torch
from conftest import PATIENCE, Hub, batch, small_model, until
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TREE = Path(__file__).resolve().parents[2]
PAGES = ("docs/python.md", "docs/converting.md")

if not (TREE / "docs" / "python.md").exists():
    pytest.skip("the pages are in the source tree alone", allow_module_level=True)

Hubs = Callable[..., Hub]


def blocks() -> list[str]:
    """All that is indented by four and is Python."""
    found = []
    for page in PAGES:
        text = (TREE / page).read_text(encoding="utf-8")
        for block in re.findall(r"\n\n((?:    .*\n|\n)+)", text):
            code = "\n".join(line[4:] for line in block.splitlines()).strip("\n")
            try:
                ast.parse(code)
            except SyntaxError:
                continue
            found.append(code)
    return found


class Row(NamedTuple):
    """How a block is run: what it has instead of some of its words, as where a
    group of four becomes one of one; what is true at its end; and which module
    it needs. hub: its options."""

    instead: dict[str, str] | None = None
    true: str = "True"
    needs: str = ""
    hub: tuple[object, ...] = ()


FRAMEWORKS = ("transformers", "lightning", "accelerate")
LINK = "link = starswitch.attach(model, optimizer)"
# By how a block begins.
ROWS = {
    "import sys": Row(
        {"range(2000)": "steps(link)", "20_000": "500"},
        "link.state().applied > 0",
        hub=("--every", 5, "--delay", 2),
    ),
    "sampler = starswitch.Sampler": Row(
        {"num_workers=4": "num_workers=0"}, "len(next(iter(loader))[0]) == 64"
    ),
    "link.wait_ready()": Row(true="link.over", hub=("--iterations", 20)),
    "from starswitch.local_sgd": Row(true="trained == 1"),
    "from starswitch.integrations.huggingface": Row(needs="transformers"),
    "from starswitch.integrations.lightning": Row(needs="lightning"),
    "from starswitch.integrations.accelerate": Row(needs="accelerate"),
    "import starswitch.distributed": Row(
        true="torch.distributed.get_world_size() == 1"
    ),
    "from starswitch.compat.sdtl": Row({"world_size=4": "world_size=1"}),
    "from starswitch.compat.ftlib": Row(
        {'"members": 2': '"members": 1'}, "status == FTAllReduceStatus.NO_NEED"
    ),
    "from starswitch.compat import rabit": Row(
        {"world_size=2": "world_size=1"}, "(version, total.sum()) == (0, 3)"
    ),
    "import functools": Row({"epochs=3": "epochs=1"}, "math.isfinite(result.loss)"),
    "from starswitch.group": Row({"members=4": "members=1"}),
    "result = starswitch.launch_local": Row(
        {"nodes=4": "nodes=2"}, 'result.codes == {"n1": 0, "n2": 0}'
    ),
    "import starswitch.numpy": Row(true="params is not None", needs="jax"),
    "link = starswitch.attach(model": Row(true="not link.over"),
    "link.report(loss": Row(),
    "torch.save(": Row(true='link.state_dict()["name"] == saved["link"]["name"]'),
    "with link.center():": Row(true="os.path.exists('model.pt')"),
    "with link.center(), torch": Row(true="accuracy == 0.5"),
    "while not link.over": Row(hub=("--iterations", 20)),
}


def steps(link: starswitch.Link) -> Iterator[int]:
    """As many as it takes until a result is applied, on a slow machine too."""
    end = time.monotonic() + PATIENCE
    for step in itertools.count():
        if link.state().applied > 0 or time.monotonic() > end:
            return
        time.sleep(0.001)
        yield step


class World(dict[str, Any]):
    """What a script has around such a block."""

    def __init__(self) -> None:
        model = small_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        dataset = TensorDataset(torch.randn(256, 8), torch.zeros(256).long())
        x, y = batch(0)
        super().__init__(
            starswitch=starswitch, torch=torch, nn=nn, DataLoader=DataLoader,
            os=os, time=time, math=__import__("math"), threading=threading,
            model=model, optimizer=optimizer, dataset=dataset,
            loader=DataLoader(dataset, batch_size=64), x=x, y=y,
            loss=torch.tensor(1.0), batches=[batch(i) for i in range(3)], steps=steps,
            train=self.train, train_one_epoch=self.train, trained=0,
            loss_of=nn.functional.cross_entropy, evaluate=lambda model: 0.5,
            images=torch.rand(64, 784), labels=torch.randint(0, 10, (64,)),
            gradients=numpy.ones(3, numpy.float32), part=numpy.ones(3),
            w=numpy.zeros(8, numpy.float32), b=numpy.zeros(1, numpy.float32),
            rate=numpy.float32(0.1), gradient=lambda x, y: numpy.ones(8, "f"),
            params={"w": numpy.zeros(3, numpy.float32)}, state=None,
            update=lambda params, state, x, y: (params, state, 1.0),
        )  # fmt: skip

    def train(self) -> None:
        self["trained"] += 1
        for x, y in self["batches"]:
            self["optimizer"].zero_grad()
            nn.functional.cross_entropy(self["model"](x), y).backward()
            self["optimizer"].step()
            time.sleep(0.005)


def row_of(block: str) -> Row:
    begins = [one for one in ROWS if block.startswith(one)]
    assert begins, f"no row says how this is run:\n{block}"
    return ROWS[max(begins, key=len)]


def test_each_row_is_of_a_block() -> None:
    found = {max((b for b in ROWS if one.startswith(b)), key=len) for one in blocks()}
    assert found == set(ROWS)


@pytest.mark.parametrize("block", blocks(), ids=lambda one: one.split("\n")[0][:40])
def test_a_block_runs(
    hub: Hubs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block: str,
) -> None:
    row = row_of(block)
    if row.needs in FRAMEWORKS:
        pytest.skip("test_faces_frameworks plays the framework")
    if row.needs and importlib.util.find_spec(row.needs) is None:
        pytest.skip(f"{row.needs} is not installed")
    star = hub(*row.hub)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["train.py", "1"])
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", "0")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    (tmp_path / "train.py").write_text("import starswitch\n")
    world = World()
    if re.search(r"\blink\b", block) and not re.search(r"^link = ", block, re.M):
        exec(LINK, world)
    if block.startswith("torch.save"):
        exec(LINK, world)
    if row.hub[:1] == ("--iterations",):
        exec("loader = batches", world)
        if "..." in block:
            block = block.replace("...", "train()")
    for words, instead in (row.instead or {}).items():
        assert words in block, words
        block = block.replace(words, instead)
    try:
        exec(compile(block, "<block>", "exec"), world)
        until(lambda: eval(row.true, world), what=row.true)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        if "lib" in world:
            world["lib"].finalize()
    assert star.runs() or row.hub
