"""Builds the wheel (PEP 517): make builds the C part, this packs it. Nothing is
fetched; the same tree gives the same bytes.

The wheel holds the package, in lib/ the library and in bin/ hub, node and sim,
built with PORTABLE=1, so that they need the C library alone. Its tag says which
one, as objdump tells. An editable install runs from the tree and its build/.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
BUILD = "build/wheel"
PROGRAMS = ["starswitch-hub", "starswitch-node", "starswitch-sim"]
# What every Linux that has the C library has.
EVERYWHERE = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux\S*\.so\.\d+")
# Archives that are linked in: Debian's packages, either of two names, and licences.
LINKED = {
    "libsodium": (["libsodium-dev"], "ISC"),
    "msgpack-c": (["libmsgpack-c-dev", "libmsgpack-dev"], "BSL-1.0"),
    "xxhash": (["libxxhash-dev"], "BSD-2-Clause"),
    "zlib": (["zlib1g-dev"], "Zlib"),
    "json-c": (["libjson-c-dev"], "MIT"),
    "libmicrohttpd": (["libmicrohttpd-dev"], "LGPL-2.1-or-later"),
}


# ---- what it is ----


def project(section: str = "project") -> dict[str, Any]:
    """A table of pyproject.toml, whose values are Python's literals, too."""
    values = {}
    here = ""
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif here == section and " = " in line:
            key, value = line.split(" = ", 1)
            values[key] = ast.literal_eval(value)
    return values


def version() -> str:
    text = (TREE / "include/starswitch.h").read_text()
    found = re.search(r'^#define STAR_VERSION "(.*)"', text, re.M)
    if not found:
        raise RuntimeError("include/starswitch.h has no STAR_VERSION")
    return found.group(1)


def metadata(licences: Iterable[str]) -> str:
    known = project()
    together = sorted({licence for _, licence in LINKED.values()} - {"MIT"})
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {known['name']}",
        f"Version: {version()}",
        f"Summary: {known['description']}",
        f"Requires-Python: {known['requires-python']}",
        f"License-Expression: {' AND '.join([known['license'], *together])}",
        f"Keywords: {','.join(known['keywords'])}",
    ]
    lines += [f"Classifier: {each}" for each in known["classifiers"]]
    lines += [f"License-File: {each}" for each in licences]
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (TREE / "README.md").read_text()


# ---- the C part ----


def make(*arguments: str) -> None:
    """Runs make in the tree. RuntimeError: what to do."""
    jobs = len(os.sched_getaffinity(0))
    # A make that runs us has its own ideas of what is to be made, and where.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    if not shutil.which("make") or not (TREE / "Makefile").is_file():
        raise RuntimeError("starswitch is built by make, from its source tree")
    command = ["make", "--no-print-directory", f"-j{jobs}", *arguments, "all"]
    sys.stdout.flush()
    if subprocess.run(command, cwd=TREE, env=kept).returncode != 0:
        raise RuntimeError(
            "the C part of starswitch was not built, see above; "
            "`make deps` installs the Debian packages that it needs"
        )


def said_by(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def glibc_floor(files: Iterable[Path]) -> int:
    """The x of the newest GLIBC_2.x that these files ask for; 0: of another C
    library. RuntimeError: they need more than a C library."""
    newest = 0
    for file in files:
        for needed in re.findall(r"NEEDED +(\S+)", said_by("objdump", "-p", str(file))):
            if not EVERYWHERE.fullmatch(needed):
                raise RuntimeError(f"{file.name} needs {needed}: not portable")
        symbols = said_by("objdump", "-T", str(file))
        found = re.findall(r"\bGLIBC_2\.(\d+)", symbols)
        newest = max([newest, *map(int, found)])
    return newest


def native(folder: Path) -> dict[str, bytes]:
    """Builds the C part; what goes into the package, by name. `folder` is for
    files on the way."""
    make(f"BUILD={BUILD}", "PORTABLE=1")
    packed = {}
    for name in ["libstarswitch.so", *PROGRAMS]:
        subprocess.run(
            ["strip", "-o", str(folder / name), str(TREE / BUILD / name)], check=True
        )
        place = "bin" if name in PROGRAMS else "lib"
        packed[f"starswitch/{place}/{name}"] = (folder / name).read_bytes()
    return packed


def licences() -> dict[str, bytes]:
    """Texts by name: ours, and of what is linked in."""
    texts = {"LICENSE": (TREE / "LICENSE").read_bytes()}
    for name, (packages, _) in LINKED.items():
        places = [Path("/usr/share/doc", each, "copyright") for each in packages]
        for place in places:
            if place.is_file():
                texts[f"{name}.txt"] = place.read_bytes()
                break
        else:
            print(f"starswitch: no {places[0]}: this wheel is not to be passed on")
    return dict(sorted(texts.items()))


# ---- wheels ----


def package() -> dict[str, bytes]:
    files = [*HERE.glob("starswitch/**/*.py"), HERE / "starswitch/py.typed"]
    return {str(file.relative_to(HERE)): file.read_bytes() for file in files}


def write_wheel(folder: str, tag: str, content: dict[str, bytes]) -> str:
    """Writes a wheel of these files and what describes them; its name."""
    texts = licences()
    info = f"starswitch-{version()}.dist-info"
    scripts = [f"{k} = {v}\n" for k, v in project("project.scripts").items()]
    described = {
        f"{info}/METADATA": metadata(texts).encode(),
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: starswitch_build\n"
            f"Root-Is-Purelib: false\nTag: {tag}\n"
        ).encode(),
        f"{info}/entry_points.txt": ("[console_scripts]\n" + "".join(scripts)).encode(),
        **{f"{info}/licenses/{name}": text for name, text in texts.items()},
    }
    entries = {**dict(sorted(content.items())), **described}
    record = ""
    for name, data in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        record += f"{name},sha256={digest.decode().rstrip('=')},{len(data)}\n"
    entries[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    # No date but one that is asked for: those of files are of this machine.
    seconds = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)
    wheel = f"starswitch-{version()}-{tag}.whl"
    with zipfile.ZipFile(Path(folder, wheel), "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            mode = 0o755 if re.search(r"/(bin|lib)/", name) else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3
            file.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return wheel


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    with tempfile.TemporaryDirectory() as name:
        content = native(Path(name))
        floor = glibc_floor(Path(name).iterdir())
    system = f"manylinux_2_{max(floor, 17)}" if floor else "linux"
    tag = f"py3-none-{system}_{platform.machine()}"
    return write_wheel(wheel_directory, tag, {**content, **package()})


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    make("BUILD=build")
    path = {"starswitch-tree.pth": f"{HERE}\n".encode()}
    return write_wheel(wheel_directory, f"py3-none-linux_{platform.machine()}", path)


# ---- the source distribution: the tree that git knows ----


def build_sdist(
    sdist_directory: str, config_settings: dict[str, Any] | None = None
) -> str:
    listed = said_by("git", "-C", str(TREE), "ls-files", "-z").split("\0")
    base = f"starswitch-{version()}"
    content = {name: TREE / name for name in sorted(listed) if (TREE / name).is_file()}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        entries = [("PKG-INFO", metadata([]).encode(), 0o644)]
        for name, file in content.items():
            mode = 0o755 if os.access(file, os.X_OK) else 0o644
            entries.append((name, file.read_bytes(), mode))
        for name, data, mode in entries:
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(data), mode
            tar.addfile(entry, io.BytesIO(data))
    packed = gzip.compress(out.getvalue(), mtime=0)
    Path(sdist_directory, f"{base}.tar.gz").write_bytes(packed)
    return f"{base}.tar.gz"
