"""`starswitch check`: models with tensors that cannot be exchanged, and scripts that
end in their own way."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_check import HEAD, PLAIN, Checker

ODD = (
    HEAD
    + """\
model = nn.Linear(8, 3)
ODD
optimizer = torch.optim.SGD([model.weight, model.bias], lr=0.1)
for step in range(1000):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""
)


@pytest.fixture
def check(tmp_path: Path) -> Checker:
    return Checker(tmp_path)


def test_tensors_that_are_not_dense_are_no_riddle(check: Checker) -> None:
    odd = """\
model.odd = nn.ParameterList(
    [
        nn.Parameter(torch.eye(8).to_sparse(), requires_grad=False),
        nn.Parameter(torch.eye(8).to_mkldnn(), requires_grad=False),
    ]
)
model.register_buffer("graph", torch.eye(8).to_sparse())
"""
    done = check.run(ODD.replace("ODD", odd))
    assert (done.code, done.verdict) == (0, "works"), done.out
    assert done.said["travels"]["names"] == ["weight", "bias"]
    assert done.says("cannot be exchanged: graph (of layout torch.sparse_coo)")


def test_a_sparse_parameter_that_trains_is_named(check: Checker) -> None:
    odd = "model.odd = nn.Parameter(torch.eye(8).to_sparse())"
    done = check.run(ODD.replace("ODD", odd))
    assert (done.code, done.verdict) == (1, "will not")
    assert done.says("attach refuses it: odd is trained and of layout", "why")


def test_an_error_of_many_lines_is_told_by_its_first(check: Checker) -> None:
    """The others are in what the script said."""
    wrong = "torch.isfinite(torch.eye(2).to_sparse())"
    done = check.run(PLAIN.replace("model = ", f"{wrong}\nmodel = "))
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("NotImplementedError: Could not run", "why")
    assert not any("\n" in one for one in done.said["why"])


def test_a_script_that_leaves_by_os_exit_is_heard(check: Checker) -> None:
    done = check.run(PLAIN.replace("1000", "2") + "import os\nos._exit(3)\n")
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("exits with 3 by itself, behind 2 steps", "why")


def test_a_script_that_is_killed_behind_a_step_is_not_told_that_it_made_none(
    check: Checker,
) -> None:
    kill = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    done = check.run(PLAIN.replace("1000", "2") + kill)
    assert (done.code, done.verdict) == (1, "not known")
    assert done.says("ended before step 3 of its optimizer, by SIGKILL", "why")


def test_what_is_no_python_fails_by_itself(check: Checker) -> None:
    done = check.run("def f(:\n")
    assert (done.code, done.verdict) == (2, "fails")
    assert done.says("no Python", "why")
