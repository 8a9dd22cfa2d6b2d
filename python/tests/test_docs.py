"""docs/python.md and docs/converting.md say what the code is, and no more."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
import starswitch
from starswitch import errors

TREE = Path(__file__).resolve().parents[2]
PAGES = ["docs/python.md", "docs/converting.md", "README.md", "AGENTS.md"]

if not (TREE / "docs" / "python.md").exists():
    pytest.skip("the pages are in the source tree alone", allow_module_level=True)


def rows(title: str) -> set[str]:
    """The words in code of the first columns of tables in a part of the page."""
    page = (TREE / "docs" / "python.md").read_text(encoding="utf-8")
    part = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    firsts = [line.split("|")[1] for line in part.splitlines() if line[:2] == "| "]
    return {word for one in firsts for word in re.findall(r"`(\w+)[`(]", one)}


def public(thing: type) -> set[str]:
    names = set(vars(thing)) | set(getattr(thing, "__annotations__", {}))
    return {one for one in names if not one.startswith("_")}


def test_the_table_of_attach_names_all_options() -> None:
    assert rows("attach") == set(inspect.signature(starswitch.attach).parameters)


def test_the_tables_of_link_name_all_members() -> None:
    state = set(starswitch.State.__annotations__)
    assert rows("Link") == public(starswitch.Link) | state


def test_the_table_of_errors_names_all() -> None:
    classes = {n: one for n, one in vars(errors).items() if inspect.isclass(one)}
    all_ = {n for n, one in classes.items() if issubclass(one, Exception)}
    assert rows("When something is wrong") == all_


def imports(page: str) -> list[tuple[str, str]]:
    """Modules of ours that the page's examples import, and a name of each."""
    text = (TREE / page).read_text(encoding="utf-8")
    found = [
        (module, name)
        for module, names in re.findall(r"from (starswitch\S*) import (.+)", text)
        for name in names.split(", ")
    ]
    return found + [(one, "") for one in re.findall(r"import (starswitch\.\w+)", text)]


@pytest.mark.parametrize("page", PAGES)
def test_what_examples_import_is_there(page: str) -> None:
    for module, name in imports(page):
        path = TREE / "python" / Path(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path.is_dir() and (path / f"{name}.py").exists():
            continue
        assert file.exists(), f"{page}: there is no {module}"
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = {getattr(one, "name", "") for one in tree.body}
        assert name in defined | {""}, f"{page}: {module} has no {name}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (TREE / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert ((TREE / page).parent / target).exists(), f"{page}: {target}"


def test_examples_are_python() -> None:
    for page in ("docs/python.md", "docs/converting.md"):
        text = (TREE / page).read_text(encoding="utf-8")
        for block in re.findall(r"\n\n((?:    .*\n|\n)+)", text):
            lines = [line[4:] for line in block.splitlines()]
            if lines[0].startswith(("import ", "from ")) and "..." not in block:
                ast.parse("\n".join(lines))
