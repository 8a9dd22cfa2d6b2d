"""The peers' packages: a virtual environment each, pinned, under build/race/venv.

torch is installed once, in the environment of that name; the others read it there
through a .pth file, for their own pins of torch would fetch another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from racing.network import TREE

TORCH = "torch==2.13.0"
# What pip is asked for, in order; a list that opens with --no-deps takes no
# dependencies, and its own are in the list after it.
PINS: dict[str, list[list[str]]] = {
    "torch": [[TORCH], ["numpy==2.3.5", "matplotlib==3.10.7"]],
    "hivemind": [
        ["--no-deps", "hivemind==1.1.12"],
        ["PyYAML", "scipy", "prefetch_generator", "msgpack", "sortedcontainers"],
        ["uvloop", "grpcio-tools>=1.33.2", "protobuf>=5.29.0", "configargparse"],
        ["py-multihash>=0.2.3", "cryptography>=3.4.6", "pydantic>=2.0.0"],
        ["packaging>=20.9", "varint", "base58", "netaddr>=1.3.0", "idna>=3.10"],
        ["py-cid>=0.3.0"],
    ],
    "torchft": [
        ["--no-deps", "torchft==0.2.0"],
        [
            "opentelemetry-api>=1.39.0",
            "opentelemetry-sdk>=1.39.0",
            "opentelemetry-exporter-otlp-proto-http>=1.39.0",
        ],
    ],
    "flwr": [["flwr==1.41.0"]],
}


def folder_of(name: str, build: Path) -> Path:
    """Where an environment is."""
    return build / "race/venv" / name


def program(name: str, build: Path, command: str = "python") -> str:
    """A program of an environment; $RACE_TORCH is a Python that has torch."""
    if name == "torch" and "RACE_TORCH" in os.environ:
        return str(Path(os.environ["RACE_TORCH"]).parent / command)
    return str(folder_of(name, build) / "bin" / command)


def make(name: str, build: Path) -> None:
    """Makes an environment, and torch's before it, unless they are there."""
    if name == "torch" and "RACE_TORCH" in os.environ:
        return
    home = folder_of(name, build)
    done = home / "race-made"
    pins = repr([TORCH, PINS[name]])
    if done.exists() and done.read_text() == pins:
        return
    if name != "torch":
        make("torch", build)
    print(f"race: installing {name} under {home.relative_to(TREE)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    if name != "torch":
        site = next(folder_of("torch", build).glob("lib/*/site-packages"))
        own = next(home.glob("lib/*/site-packages"))
        (own / "race-torch.pth").write_text(f"{site}\n")
    for wanted in PINS[name]:
        pip = [program(name, build), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", *wanted], check=True)
    done.write_text(pins)


def version(name: str, package: str, build: Path) -> str:
    """The version of a package in an environment."""
    ask = f"from importlib.metadata import version as v; print(v({package!r}))"
    said = subprocess.run(
        [program(name, build), "-c", ask], capture_output=True, text=True, check=True
    )
    return said.stdout.strip()
