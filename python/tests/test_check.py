"""`starswitch check`: small scripts, and what is said of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import starswitch
from conftest import until

PACKAGE = Path(starswitch.__file__).resolve().parent.parent

HEAD = """\
import torch
from torch import nn

x, y = torch.randn(32, 8), torch.randint(0, 3, (32,))
criterion = nn.CrossEntropyLoss()
"""

PLAIN = (
    HEAD
    + """\
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(
    model.parameters(), lr=0.1
)
for step in range(1000):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
open("end", "w").close()
"""
)


class Checked:
    """What check said of a script: exit code, the JSON, its text on stderr."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.said: dict[str, Any] = json.loads(out) if out.startswith("{") else {}

    @property
    def verdict(self) -> str:
        return str(self.said["verdict"])

    @property
    def lines(self) -> dict[int, str]:
        return {one["after"]: one["text"].strip() for one in self.said["lines"]}

    def says(self, words: str, where: str = "notes") -> bool:
        return any(words in one for one in self.said[where])


class Checker:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, script: str, *options: str, stdin: str = "") -> Checked:
        (self.folder / "train.py").write_text(textwrap.dedent(script))
        return self.command(
            "--json", "--time", "100", "train.py", *options, stdin=stdin
        )

    def command(self, *words: str, stdin: str = "") -> Checked:
        done = subprocess.run(
            [sys.executable, "-m", "starswitch.check", *words],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=150,
        )
        return Checked(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def check(tmp_path: Path) -> Checker:
    return Checker(tmp_path)


def test_a_script_that_raises_behind_a_step_fails_by_itself(check: Checker) -> None:
    done = check.run(PLAIN.replace("zero_grad()", "zero_grad(*[1] * (step // 2) * 2)"))
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("behind 2 steps of its optimizer (train.py, line 11)", "why")
    assert done.says("TypeError", "why")
    assert done.lines[9] == "link = starswitch.attach(model, optimizer)"
    assert any("TypeError" in one for one in done.said["output"])
    (check.folder / "train.py").write_text(PLAIN.replace("1000", "2") + "exit(3)\n")
    text = check.command("train.py")
    assert text.code == 2
    assert "fails: the script, by itself" in text.out
    assert "exits with 3 by itself, behind 2 steps" in text.out
    assert "as far as its run shows" in text.out


def test_a_script_that_ends_after_a_step_works(check: Checker) -> None:
    for end in ("", "exit(0)\n"):
        done = check.run(PLAIN.replace("1000", "1") + end)
        assert (done.code, done.verdict) == (0, "works")


def test_a_new_model_in_each_pass_of_a_loop_is_said(check: Checker) -> None:
    done = check.run(
        """\
        import torch

        for fold in range(5):
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(100):
                loss = model(torch.randn(4, 2)).sum()
                loss.backward()
                optimizer.step()
        """
    )
    assert done.code == 0
    assert done.lines[5] == "link = starswitch.attach(model, optimizer)"
    assert done.says("in the loop of line 3")


def test_a_child_that_raises_is_heard(check: Checker) -> None:
    done = check.run(
        """\
        import torch
        import torch.multiprocessing as mp

        def train(rank):
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.randn(4, 2)).sum().backward()
            optimizer.step()
            raise KeyError(rank)

        if __name__ == "__main__":
            mp.spawn(train, nprocs=2)
        """
    )
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("behind a step of its optimizer", "why")


def with_lines(script: str, lines: list[dict[str, Any]]) -> str:
    """The script with the lines added where check says."""
    out = script.splitlines()
    for one in sorted(lines[::-1], key=lambda line: -int(line["after"])):
        out.insert(one["after"], one["text"])
    return "\n".join(out) + "\n"


def test_a_plain_loop_works_and_is_told_its_lines(check: Checker) -> None:
    done = check.run(PLAIN)
    assert (done.code, done.verdict) == (0, "works")
    assert done.lines == {
        2: "import starswitch",
        9: "link = starswitch.attach(model, optimizer)",
        14: "link.report(loss=loss)",
    }
    assert done.said["travels"]["float32_bytes"] == 4 * 27
    assert done.said["every"] == {"float32": 1, "int8": 1}
    assert not (check.folder / "end").exists(), "the script went on after its step"


def test_the_lines_it_tells_run_and_change_nothing(check: Checker) -> None:
    short = PLAIN.replace("1000", "5") + "print(float(loss.detach()))\n"
    short = short.replace("import nn\n", "import nn\ntorch.manual_seed(3)\n")
    done = check.run(short)
    added = with_lines(short, done.said["lines"])
    assert added.count("starswitch") == 2 and "report" in added
    said = []
    for text in (short, added):
        (check.folder / "alone.py").write_text(text)
        env = {**os.environ, "STARSWITCH_DISABLE": "1"}
        said.append(
            subprocess.run(
                [sys.executable, "alone.py"],
                cwd=check.folder,
                env=env,
                check=True,
                capture_output=True,
                timeout=300,
            ).stdout
        )
    assert said[0] == said[1] != b""


def test_a_script_that_has_the_lines_is_left_as_it_is(check: Checker) -> None:
    script = PLAIN.replace("import nn\n", "import nn\nimport starswitch\n").replace(
        "for step", "link = starswitch.attach(model, optimizer)\nfor step"
    )
    done = check.run(script)
    assert (done.code, done.said["attached"]) == (0, [11])
    assert not done.said["lines"]


def test_a_gradient_scaler_works(check: Checker) -> None:
    done = check.run(
        HEAD
        + """\
model = nn.Linear(8, 3)
optimizer = torch.optim.AdamW(model.parameters())
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
for step in range(1000):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = criterion(model(x), y)
    scaler.scale(loss / 2).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    )
    assert done.code == 0
    assert done.lines[14] == "link.report(loss=loss)"
    assert done.says("GradScaler")


def test_of_two_optimizers_the_clock_is_named(check: Checker) -> None:
    done = check.run(
        """\
        import torch
        from torch import nn

        def main():
            g, d = nn.Linear(4, 8), nn.Linear(8, 1)
            d_opt = torch.optim.Adam(d.parameters())
            g_opt = torch.optim.Adam(g.parameters())
            for step in range(1000):
                for _ in range(2):
                    d_opt.zero_grad()
                    d_loss = d(g(torch.randn(16, 4)).detach()).mean()
                    d_loss.backward()
                    d_opt.step()
                g_opt.zero_grad()
                g_loss = -d(g(torch.randn(16, 4))).mean()
                g_loss.backward()
                g_opt.step()

        main()
        """
    )
    assert done.code == 0
    assert done.lines[7] == 'link = starswitch.attach({"g": g, "d": d}, g_opt)'
    assert done.lines[17] == "link.report(loss=g_loss)"
    assert done.says("2 optimizers (steps: d_opt 6, g_opt 3)")


def test_a_loop_in_a_class_is_told_its_names(check: Checker) -> None:
    done = check.run(
        """\
        import torch

        class Trainer:
            def __init__(self, model):
                self.model = model
                self.optimizer = self.make_optimizer()

            def make_optimizer(self):
                return torch.optim.SGD(self.model.parameters(), lr=0.1)

            def training_step(self, batch):
                loss = self.model(batch).square().mean()
                loss.backward()
                self.optimizer.step()

            def train(self):
                for step in range(1000):
                    self.training_step(torch.randn(4, 2))

        if __name__ == "__main__":
            Trainer(torch.nn.Linear(2, 2)).train()
        """
    )
    assert done.code == 0
    assert done.lines == {
        1: "import starswitch",
        6: "self.link = starswitch.attach(self.model, self.optimizer)",
        14: "self.link.report(loss=loss)",
    }


def test_an_optimizer_of_an_object_has_its_link_there(check: Checker) -> None:
    script = HEAD + textwrap.dedent(
        """\

        class Trainer:
            def __init__(self, model):
                self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def fit(self, model):
                for step in range(1000):
                    loss = model(torch.randn(4, 2)).square().mean()
                    loss.backward()
                    self.optimizer.step()

        model = torch.nn.Linear(2, 2)
        Trainer(model).fit(model)
        """
    )
    for done in (check.run(script), check.run(script, "--static")):
        added = " ".join(done.lines.values())
        assert "self.link = starswitch.attach(" in added, done.lines
        assert "self.link.report(loss=loss)" in added, done.lines


def test_a_step_where_link_is_not_known_gets_no_line(check: Checker) -> None:
    done = check.run(
        """\
        import torch

        def one_epoch(model, optimizer):
            for step in range(1000):
                loss = model(torch.randn(4, 2)).square().mean()
                loss.backward()
                optimizer.step()

        def main():
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model.load_state_dict(model.state_dict())
            one_epoch(model, optimizer)

        main()
        """
    )
    assert done.lines == {
        1: "import starswitch",
        12: "link = starswitch.attach(model, optimizer)",
    }
    assert done.says("give link to one_epoch() for it")


def test_an_optimizer_in_backward_is_stepped_by_hand(check: Checker) -> None:
    done = check.run(
        HEAD
        + """\
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 3))
optimizers = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}
def move(p):
    optimizers[p].step()
    optimizers[p].zero_grad()
for p in model.parameters():
    p.register_post_accumulate_grad_hook(move)
for step in range(1000):
    loss = criterion(model(x), y)
    loss.backward()
"""
    )
    assert done.code == 0
    assert done.lines[7] == "link = starswitch.attach(model)"
    assert done.lines[15] == "link.report(loss=loss); link.step()"
    assert done.says("inside backward")


def test_what_is_frozen_tied_or_untrained_is_named(check: Checker) -> None:
    done = check.run(
        """\
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.base = nn.Linear(8, 8).requires_grad_(False)
                self.tokens = nn.Embedding(16, 8)
                self.lora_a = nn.Parameter(torch.randn(8, 2))
                self.lora_b = nn.Parameter(torch.zeros(2, 8))
                self.extra = nn.Parameter(torch.zeros(5))
                self.norm = nn.BatchNorm1d(8)
                self.head = nn.Linear(8, 16, bias=False)
                self.head.weight = self.tokens.weight

            def forward(self, x):
                h = self.tokens(x)
                h = self.base(h) + h @ self.lora_a @ self.lora_b
                return self.head(self.norm(h))

        model = Net().to(torch.bfloat16)
        teacher = Net()
        moved = [
            p for n, p in model.named_parameters()
            if p.requires_grad and n != "extra"
        ]
        optimizer = torch.optim.SGD(moved, lr=0.1)
        for step in range(100):
            tokens = torch.randint(0, 16, (4,))
            loss = nn.functional.cross_entropy(model(tokens).float(), tokens)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    )
    assert done.code == 0
    assert done.says("72 parameters are frozen (bfloat16)")
    assert done.says("tokens.weight and head.weight are one tensor")
    assert done.says("extra travel though no optimizer moves them")
    assert done.says("bfloat16 parameters get float32 beside them")
    assert done.says("1 BatchNorm layers")
    assert done.says("teacher stays here")


def test_a_data_loader_without_shards_is_named(check: Checker) -> None:
    script = """\
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        {seed}
        loader = DataLoader(TensorDataset(torch.randn(64, 2)), shuffle=True)
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (x,) in loader:
            model(x).sum().backward()
            optimizer.step()
        """
    seeded = check.run(script.format(seed="torch.manual_seed(1)"))
    assert seeded.says("line 3 sets a seed")
    plain = check.run(script.format(seed=""))
    assert plain.says("line 4: each node draws from all of the data")


def test_lazy_modules_must_have_seen_a_batch(check: Checker) -> None:
    done = check.run(
        HEAD
        + """\
model = nn.LazyLinear(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""
    )
    assert done.code == 0
    assert done.says("run one batch through the model before attach")


def test_sharded_models_will_not(check: Checker) -> None:
    done = check.run(
        """\
        import torch
        import torch.distributed as dist
        from torch.distributed.fsdp import fully_shard

        dist.init_process_group("no such backend")
        model = fully_shard(torch.nn.Linear(2, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.step()
        """
    )
    assert (done.code, done.verdict) == (1, "will not")
    assert done.says("shards the model", "why")


def test_a_process_group_is_run_as_one_rank(check: Checker) -> None:
    done = check.run(
        """\
        import os
        import torch
        import torch.distributed as dist

        dist.init_process_group("gloo")
        torch.manual_seed(1)
        model = torch.nn.Linear(2, 2)
        ddp = torch.nn.parallel.DistributedDataParallel(model)
        optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
        for step in range(100):
            loss = ddp(torch.randn(4, 2)).sum()
            loss.backward()
            optimizer.step()
        """
    )
    assert done.code == 0
    assert done.says("the only one of its ranks")
    assert done.said["models"][0]["wrapper"] == "DistributedDataParallel"
    assert done.lines[9] == "link = starswitch.attach(ddp, optimizer)"
    assert done.says("a DistributedSampler, with another seed")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_the_script_starts_are_watched(
    check: Checker, method: str
) -> None:
    done = check.run(
        f"""\
        import os, time
        import torch
        import torch.multiprocessing as mp

        def train(rank):
            open(f"rank{{rank}}", "w").close()
            while not (os.path.exists("rank0") and os.path.exists("rank1")):
                time.sleep(0.01)  # until both are there
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(1000):
                loss = model(torch.randn(4, 2)).sum()
                loss.backward()
                optimizer.step()

        if __name__ == "__main__":
            mp.start_processes(train, nprocs=2, start_method="{method}")
        """
    )
    assert done.code == 0
    texts = [one["text"].strip() for one in done.said["lines"]]
    assert texts == [
        "import socket",
        "import starswitch",
        "link = starswitch.attach(model, optimizer, "
        'name=f"{socket.gethostname()}-{rank}")',
        "link.report(loss=loss)",
    ]
    assert done.says("2 processes step, each with a model of its own")


def test_arguments_and_standard_input_reach_the_script(check: Checker) -> None:
    script = (
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--lr", type=float, required=True)\n'
        "lr = parser.parse_args().lr * float(input())\n"
        + PLAIN.replace("lr=0.1", "lr=lr")
    )
    none = check.run(script)
    assert (none.code, none.verdict) == (1, "not known")
    assert none.says("exits with 2 before its first step", "why")
    assert none.says("behind --", "why")
    unasked = check.run(script, "--", "--lr", "0.1")
    assert unasked.says("line 4 asks on standard input", "why")
    assert check.run(script, "--", "--lr", "0.1", stdin="2\n").code == 0


def test_a_script_that_raises_is_read(check: Checker) -> None:
    done = check.run(PLAIN.replace("model = ", 'open("no.csv")\nmodel = '))
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("raises before its first step (train.py, line 6)", "why")
    assert done.says("no.csv", "why")
    assert done.lines[10] == "link = starswitch.attach(model, optimizer)"
    assert any("FileNotFoundError" in one for one in done.said["output"])


def test_a_script_that_never_steps_is_ended(check: Checker) -> None:
    script = HEAD + "while True:\n    pass\n"
    (check.folder / "train.py").write_text(script)
    done = check.command("--json", "--time", "2", "train.py")
    assert (done.code, done.verdict) == (1, "not known")
    assert done.says("no step within 2 s (train.py, line", "why")


def test_a_script_without_torch_is_told_what_there_is(check: Checker) -> None:
    done = check.run("import sys\nprint('nothing')\n")
    assert (done.code, done.verdict) == (1, "not known")
    jax = check.run("import jax.does_not_exist\n")
    assert (jax.code, jax.verdict) == (1, "will not")
    assert jax.says("link.exchange", "why")


def test_a_script_whose_process_dies_is_no_riddle(check: Checker) -> None:
    done = check.run("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert done.code == 1
    assert done.says("by SIGKILL", "why")


def test_no_python_and_no_run_are_read(check: Checker) -> None:
    assert check.run("def f(:\n").says("no Python", "why")
    done = check.run("import no_such_package\n" + PLAIN, "--static")
    assert (done.code, done.verdict) == (0, "works")
    assert done.lines[10] == "link = starswitch.attach(model, optimizer)"
    missing = check.run("import no_such_package\n" + PLAIN)
    assert missing.says("install it", "why")


def test_wrong_commands_exit_with_64(check: Checker) -> None:
    assert check.command().code == 64
    assert check.command("no.py").code == 64
    (check.folder / "train.py").write_text(PLAIN)
    wrong = check.command("train.py", "--lr", "3")
    assert (wrong.code, "behind --" in wrong.err) == (64, True)
    assert check.command("train.py", "--steps", "1").code == 64
    assert check.command("--help").code == 0


def test_the_report_fits_80_columns(check: Checker) -> None:
    (check.folder / "train.py").write_text(PLAIN)
    done = check.command("train.py")
    assert done.code == 0
    assert "works: add these lines" in done.out
    assert max(len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_the_script_ends_with_who_checks_it(check: Checker, sign: int) -> None:
    (check.folder / "train.py").write_text(
        "import os\nopen('new', 'w').write(str(os.getpid()))\n"
        "os.rename('new', 'pid')\nwhile True:\n    pass\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "starswitch.check", "train.py"],
        cwd=check.folder,
        stdout=subprocess.DEVNULL,
    )
    until((check.folder / "pid").exists)
    child = int((check.folder / "pid").read_text())
    process.send_signal(sign)
    process.wait(20)

    def is_gone() -> bool:
        try:
            return ") Z " in Path(f"/proc/{child}/stat").read_text()
        except OSError:
            return True

    until(is_gone)


@pytest.mark.parametrize("form", [["--json"], []], ids=["json", "text"])
def test_who_reads_the_report_may_stop(check: Checker, form: list[str]) -> None:
    (check.folder / "train.py").write_text(PLAIN)
    process = subprocess.Popen(
        [sys.executable, "-m", "starswitch.check", "--static", *form, "train.py"],
        cwd=check.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 0


def test_a_loss_without_a_name_is_not_computed_again(check: Checker) -> None:
    done = check.run(
        """
        import torch
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(100):
            optimizer.zero_grad()
            model(torch.randn(4, 3)).square().mean().backward()
            optimizer.step()
        """
    )
    assert done.code == 0
    assert "starswitch.attach(model, optimizer)" in done.out
    assert "report(loss=model" not in done.out
    assert "has no name that link.report" in done.out
