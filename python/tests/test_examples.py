"""examples/python: each runs as it stands, alone and with a hub."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PYTHON

torch = pytest.importorskip("torch")

TREE = PYTHON.parent
EXAMPLES = TREE / "examples" / "python"
if not EXAMPLES.exists():
    pytest.skip("the examples are in the source tree alone", allow_module_level=True)

# Seconds each alone; with a hub they train until it ends the run.
ALONE = {
    "fashion.py": "--data synthetic --epochs 1 --samples 2000 --batch 32",
    "gpt.py": "--steps 41 --batch 4",
    "lora.py": "--steps 41 --batch 4 --base BASE",
    "jax_mlp.py": "--steps 801",
}
STARRED = {
    "fashion.py": (400, "--data synthetic --epochs 1000 --samples 1000 --batch 8"),
    "gpt.py": (60, "--steps 100000 --batch 2"),
    "lora.py": (60, "--steps 100000 --batch 2 --base BASE"),
    "jax_mlp.py": (800, "--steps 10000000"),
}
LIMIT = 150.0


def run(*command: object, cwd: Path = EXAMPLES, **environment: str) -> str:
    """What it says; it must end with 0."""
    done = subprocess.run(
        [str(one) for one in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What gpt.py --save leaves, of parameters that have learnt nothing."""
    file = tmp_path_factory.mktemp("base") / "base.pt"
    space = runpy.run_path(str(EXAMPLES / "gpt.py"))
    torch.save(space["GPT"]().state_dict(), file)
    return file


def example(name: str, words: str, base: Path, **environment: str) -> str:
    if name == "jax_mlp.py":
        pytest.importorskip("jax")
    arguments = words.replace("BASE", str(base)).split()
    return run(sys.executable, EXAMPLES / name, *arguments, **environment)


def losses(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"loss ([\d.]+)", text)]


@pytest.mark.parametrize("name", ALONE)
def test_alone(name: str, base: Path) -> None:
    text = example(name, ALONE[name], base)
    said = losses(text)
    assert len(said) > 2
    assert said[-1] < said[0]
    assert " 0 results of a hub applied" in text


@pytest.mark.parametrize("name", STARRED)
def test_with_a_hub_until_it_ends_the_run(name: str, base: Path, hub: Any) -> None:
    iterations, words = STARRED[name]
    one = hub("--every", 5, "--delay", 2, "--iterations", iterations)
    text = example(name, words, base)
    applied = re.search(r"(\d+) results of a hub applied", text)
    assert applied is not None
    assert int(applied[1]) > 0, text
    one.wait_for("run_ended")


def test_lora_by_peft(base: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("peft")  # in this process: its import takes long
    monkeypatch.syspath_prepend(str(EXAMPLES))
    words = f"lora.py --steps 21 --batch 2 --base {base} --peft"
    monkeypatch.setattr(sys, "argv", words.split())
    runpy.run_path(str(EXAMPLES / "lora.py"), run_name="__main__")
    assert len(losses(capsys.readouterr().out)) == 2


@pytest.mark.parametrize("name", sorted(one.name for one in EXAMPLES.glob("*.py")))
def test_help_says_how_alone_and_with_a_hub(
    name: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "jax_mlp.py":
        pytest.importorskip("jax")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert not ended.value.code
    text = capsys.readouterr().out
    assert f"python {name}" in text
    assert "starswitch hub" in text or name == "star.py"
    assert len((EXAMPLES / name).read_text().splitlines()) < 150


def test_pictures_that_are_not_there_are_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "fashion.py", "--data", tmp_path / "none"],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 1
    assert "--data synthetic" in done.stderr


def test_pictures_are_read_from_idx_files(tmp_path: Path) -> None:
    import gzip

    pixels = bytes(range(256)) * 49 * 4  # 64 pictures
    (tmp_path / "train-images-idx3-ubyte").write_bytes(bytes(16) + pixels)
    labels = bytes(8) + bytes(i % 10 for i in range(64))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    space = runpy.run_path(str(EXAMPLES / "fashion.py"))
    x, y = space["read"](tmp_path, "train").tensors
    assert x.shape == (64, 1, 28, 28)
    assert torch.equal(x.flatten()[:256] * 255, torch.arange(256.0))
    assert y.tolist() == [i % 10 for i in range(64)]


def test_the_notebooks_cells_run_in_order(tmp_path: Path) -> None:
    file = EXAMPLES / "starswitch.ipynb"
    book = json.loads(file.read_text())
    try:
        import nbformat
    except ImportError:
        pass
    else:
        nbformat.validate(nbformat.from_dict(book))
    cells = [one for one in book["cells"] if one["cell_type"] == "code"]
    assert not any(one["outputs"] or one["execution_count"] for one in cells)
    source = "\n".join("".join(one["source"]) for one in cells)
    assert source.count("starswitch.attach(model, optimizer") == 3
    program = tmp_path / "cells.py"
    program.write_text(
        "import json\nspace = {}\n"
        f"for cell in json.load(open({str(file)!r}))['cells']:\n"
        "    if cell['cell_type'] == 'code':\n"
        "        exec(compile(''.join(cell['source']), 'cell', 'exec'), space)\n"
    )
    text = run(sys.executable, program, cwd=tmp_path, TMPDIR=str(tmp_path))
    told = re.search(r"2 nodes, (\d+) results applied", text)
    assert told is not None, text
    assert int(told[1]) > 0


def test_make_demo_python_is_a_star_on_this_pc(tmp_path: Path) -> None:
    words = "--goal 2.0 --time 2min --data synthetic --samples 1000 --batch 16"
    out = tmp_path / "demo"
    text = run(
        TREE / "tools" / "demo-python",
        *words.split(),
        "--out",
        out,
        PYTHON=sys.executable,
        TMPDIR=str(tmp_path),
    )
    assert "goal reached" in text
    told = dict(
        re.findall(r"^(n\d): loss ([\d.]+) -> [\d.]+, the centre's", text, re.M)
    )
    assert len(told) == 4
    assert len(set(told.values())) > 1  # their first parameters differ
    assert "<svg" in (out / "report.html").read_text()
    assert (out / "run" / "current").exists()
    # A folder with other files than a demo's is left alone.
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(AssertionError, match="other files"):
        run(TREE / "tools" / "demo-python", "--out", tmp_path, PYTHON=sys.executable)
    assert (tmp_path / "mine").exists()
