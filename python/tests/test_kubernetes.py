"""The manifests of packaging/kubernetes are what Kubernetes' own schemas allow,
and their commands are options that the programs have."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from starswitch._programs import program_path

HERE = Path(__file__).resolve().parent
FACTS = json.loads((HERE / "kubernetes-1.37.0.json").read_text())
TEXT = (HERE.parents[1] / "packaging/kubernetes/starswitch.yaml").read_text()
OBJECTS = {each["kind"]: each for each in yaml.safe_load_all(TEXT)}


def complaints(thing: dict[str, Any]) -> list[str]:
    schema = {
        "$defs": FACTS["$defs"],
        "$ref": f"#/$defs/{FACTS['kinds'][thing['kind']]}",
    }
    found = jsonschema.Draft202012Validator(schema).iter_errors(thing)
    return [f"{each.json_path}: {each.message}" for each in found]


@pytest.mark.parametrize("kind", ["Service", "StatefulSet", "Job"])
def test_it_is_valid(kind: str) -> None:
    assert complaints(OBJECTS[kind]) == []
    wrong = json.loads(json.dumps(OBJECTS[kind]))
    wrong["spec"]["replica"] = 1
    assert complaints(wrong), "a wrong name is not seen"


@pytest.mark.parametrize("kind", ["StatefulSet", "Job"])
def test_the_programs_have_its_options(kind: str) -> None:
    container = OBJECTS[kind]["spec"]["template"]["spec"]["containers"][0]
    command, *arguments = container["args"]
    program = program_path(f"starswitch-{command}")
    helped = subprocess.run([program, "--help"], capture_output=True, text=True)
    for option in (each for each in arguments if each.startswith("--")):
        assert f"{option} " in helped.stdout or f"{option}\n" in helped.stdout
