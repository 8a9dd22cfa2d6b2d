"""The manifests are what Kubernetes' own schemas and the engines' allow, and their
commands are options that the programs have."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from starswitch._programs import program_path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
FACTS = [
    json.loads((HERE / f"kubernetes-{of}.json").read_text())
    for of in ("1.37.0", "engines")
]
DEFINITIONS = {name: each for facts in FACTS for name, each in facts["$defs"].items()}
KINDS = {kind: name for facts in FACTS for kind, name in facts["kinds"].items()}
FILES = [TREE / "packaging/kubernetes/starswitch.yaml"]
FILES += sorted((TREE / "examples/launch").glob("*.yaml"))
OBJECTS = [each for file in FILES for each in yaml.safe_load_all(file.read_text())]


def complaints(thing: dict[str, Any]) -> list[str]:
    schema = {"$defs": DEFINITIONS, "$ref": f"#/$defs/{KINDS[thing['kind']]}"}
    found = jsonschema.Draft202012Validator(schema).iter_errors(thing)
    return [f"{each.json_path}: {each.message}" for each in found]


def objects_in(thing: Any) -> Iterator[dict[str, Any]]:
    inner = list(thing) if isinstance(thing, list) else []
    if isinstance(thing, dict):
        yield thing
        inner = list(thing.values())
    for each in inner:
        yield from objects_in(each)


def commands(thing: Any) -> Iterator[list[str]]:
    """Of all containers."""
    for each in objects_in(thing):
        if isinstance(each.get("args"), list):
            yield each["args"]


def options_of(program: str) -> str:
    found = [program_path(f"starswitch-{program}"), "--help"]
    return subprocess.run(found, capture_output=True, text=True).stdout


def test_every_engine_has_an_example() -> None:
    assert {each["kind"] for each in OBJECTS} == set(KINDS)


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda each: str(each["kind"]))
def test_it_is_valid(thing: dict[str, Any]) -> None:
    assert complaints(thing) == []
    # A name that is wrong is seen, as deep as it may be in what is ours.
    places = [at for at in objects_in(thing["spec"]) if at and "/" not in "".join(at)]
    free = ("matchLabels", "labels", "selector", "requests")
    named = [at[name] for at in places for name in free if name in at]
    for at in (at for at in places if at not in named):
        at["replica"] = 1
        seen = complaints(thing)
        del at["replica"]
        assert seen, f"a wrong name is not seen in {at}"


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda each: str(each["kind"]))
def test_the_programs_have_its_options(thing: dict[str, Any]) -> None:
    for command, *arguments in commands(thing):
        of = command
        if command == "auto":
            assert arguments[arguments.index("--") + 1] == "starswitch"
            of = "hub"
        for each in arguments:
            if each == "--":
                of = "node"
            elif each.startswith("--"):
                helped = options_of(of)
                assert f"{each} " in helped or f"{each}\n" in helped
