"""The wheel: what is in it, and that it works where nothing else is.

Apart: pytest -m wheel, or -m "not wheel" without. STARSWITCH_WHEEL is a wheel
that is tested instead of one that is built from the tree.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
import starswitch_build

pytestmark = pytest.mark.wheel

PYTHON = Path(__file__).resolve().parent.parent
TREE = PYTHON.parent
MOST_BYTES = 5_000_000
OLDEST = 34  # the wheel runs with glibc 2.34: RHEL 9, Ubuntu 22.04, Debian 12
PATIENCE = 800  # seconds that building may take on two cores that do more


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel is tested, not the tree."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(each) for each in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        **options,
    )
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
    return done


def plain() -> dict[str, str]:
    """An environment in which make has ideas of its own alone."""
    own = ("CC", "CFLAGS", "BUILD", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
    return {k: v for k, v in os.environ.items() if k not in own}


def build(tree: Path, folder: Path) -> Path:
    """A wheel of this tree, as a frontend of PEP 517 builds it."""
    folder.mkdir(exist_ok=True)
    program = (
        "import sys; sys.path.insert(0, '.'); import starswitch_build as build; "
        "build.build_wheel(sys.argv[1])"
    )
    run(sys.executable, "-c", program, folder, cwd=tree / "python", env=plain())
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("STARSWITCH_WHEEL"):
        return Path(os.environ["STARSWITCH_WHEEL"]).resolve()
    return build(TREE, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    for program in (folder / "starswitch/bin").iterdir():
        program.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that holds the wheel and nothing else."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(place, symlinks=True)
    if not importlib.util.find_spec("pip"):
        pytest.skip("needs pip to install the wheel")
    pip = [sys.executable, "-m", "pip", "--python", place / "bin/python"]
    run(*pip, "install", "-q", "--no-index", "--no-deps", wheel)
    return place


# ---- what is in it ----


def test_it_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES


def test_its_record_is_right(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (record,) = [name for name in file.namelist() if name.endswith("/RECORD")]
        rows = [line.split(",") for line in file.read(record).decode().splitlines()]
        assert sorted(row[0] for row in rows) == sorted(file.namelist())
        for name, digest, size in rows:
            if name == record:
                continue
            data = file.read(name)
            made = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
            assert digest == f"sha256={made.rstrip('=')}" and int(size) == len(data)


def test_it_holds_the_licences_of_all_that_is_linked_in(wheel: Path) -> None:
    wanted = {
        "LICENSE": "MIT License",
        "libsodium.txt": "ISC",
        "msgpack-c.txt": "Boost Software License",
        "xxhash.txt": "BSD",
        "zlib.txt": "Jean-loup Gailly",
        "json-c.txt": "Permission is hereby granted",
        "libmicrohttpd.txt": "LGPL-2.1+",
    }
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if "/licenses/" in name]
        texts = {name.rsplit("/", 1)[1]: file.read(name).decode() for name in names}
        (described,) = [n for n in file.namelist() if n.endswith("/METADATA")]
        head = file.read(described).decode().split("\n\n")[0]
    assert set(texts) == set(wanted)
    for name, words in wanted.items():
        assert words in texts[name], name
        assert f"\nLicense-File: {name}" in head
    assert "License-Expression: MIT AND BSD-2-Clause AND BSL-1.0 AND ISC" in head


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs binutils")
def test_it_needs_an_old_c_library_alone(unpacked: Path, wheel: Path) -> None:
    files = [*unpacked.glob("starswitch/bin/*"), *unpacked.glob("starswitch/lib/*")]
    assert len(files) == 4
    newest = 0
    for file in files:
        needed = re.findall(r"NEEDED +(\S+)", run("objdump", "-p", file).stdout)
        assert needed and all(
            re.fullmatch(r"lib[cm]\.so\.6|ld-linux.*", one) for one in needed
        ), f"{file.name}: {needed}"
        symbols = run("objdump", "-T", file).stdout
        found = re.findall(r"GLIBC_2\.(\d+)", symbols)
        newest = max([newest, *map(int, found)])
        assert str(TREE).encode() not in file.read_bytes(), "a path of this machine"
    assert newest <= OLDEST
    expected = f"-py3-none-manylinux_2_{newest}_{platform.machine()}.whl"
    assert wheel.name.endswith(expected)


@pytest.mark.skipif(not shutil.which("nm"), reason="needs binutils")
def test_its_library_shows_star_alone(unpacked: Path) -> None:
    """So that no other libsodium or libzmq of a process meets it."""
    library = unpacked / "starswitch/lib/libstarswitch.so"
    shown = run("nm", "-D", "--defined-only", library).stdout.split("\n")
    names = [line.split()[-1] for line in shown if line]
    assert any(name.startswith("star_attach") for name in names)
    assert all(name.startswith(("star_", "STARSWITCH_")) for name in names), names


@pytest.mark.skipif(
    bool(os.environ.get("STARSWITCH_WHEEL")), reason="another wheel is tested"
)
def test_made_again_it_has_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = build(TREE, tmp_path)
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


@pytest.mark.skipif(
    bool(os.environ.get("STARSWITCH_WHEEL")), reason="another wheel is tested"
)
def test_built_elsewhere_its_library_has_the_same_bytes(
    wheel: Path, tmp_path: Path
) -> None:
    """Programs are made of the same objects; to make them all takes minutes."""
    out_of_place = shutil.ignore_patterns(".git", "build", "demo", "__pycache__")
    shutil.copytree(TREE, tmp_path / "tree", ignore=out_of_place, symlinks=True)
    name = f"{starswitch_build.BUILD}/libstarswitch.so"
    options = [f"BUILD={starswitch_build.BUILD}", "PORTABLE=1", "HUSH=1"]
    run("make", "-j2", *options, name, cwd=tmp_path / "tree", env=plain())
    run("strip", "-o", tmp_path / "library", tmp_path / "tree" / name)
    with zipfile.ZipFile(wheel) as file:
        packed = file.read("starswitch/lib/libstarswitch.so")
    assert (tmp_path / "library").read_bytes() == packed


# ---- that it works ----

# In a clean environment: a hub with keys, and two nodes that train for two
# seconds; one of them finds nothing but its key. Prints what it saw.
TOGETHER = """
    import json, os, shutil, socket, subprocess, sys, time
    import starswitch
    from starswitch import _programs

    assert not any(name in sys.modules for name in ("torch", "numpy", "jax"))
    assert _programs.library().star_version().decode() == starswitch.__version__
    for other in ("gcc", "cc", "make", "starswitch-hub"):
        found = shutil.which(other)
        assert not found or found.startswith(sys.prefix), f"{found} is here"

    command = os.path.join(sys.prefix, "bin", "starswitch")
    said = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert said.returncode == 0 and starswitch.__version__ in said.stdout, said
    said = subprocess.run([command, "sim", "--version"], capture_output=True, text=True)
    assert said.returncode == 0 and starswitch.__version__ in said.stdout, said

    here = os.path.abspath(sys.argv[1])
    with open(f"{here}/data.csv", "w") as data:
        for i in range(2000):
            print(i % 97 / 97, i % 89 / 89, int(i % 97 / 97 > i % 89 / 89),
                  sep=",", file=data)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % free.getsockname()[1]
    keys = [command, "hub", "keygen", f"{here}/run", "--listen", address]
    subprocess.run(keys, check=True, capture_output=True)
    what = ["--model", "mlp:2-16-2", "--data", f"{here}/data.csv"]
    hub = subprocess.Popen(
        [command, "hub", "--listen", address, "--directory", f"{here}/run",
         "--nodes", "2", "--keys", f"{here}/run/keys",
         "--every", "10", "--time", "2s", "--json", *what],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    nodes = [subprocess.Popen(
        [command, "node", "--hub", address, "--name", name, "--step-time", "5ms",
         "--key-file", f"{here}/run/keys/invitation", *what],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "XDG_CONFIG_HOME": f"{here}/{name}"}) for name in "ab"]
    try:
        said = hub.communicate(timeout=60)[0]
        codes = [hub.returncode, *(node.wait(20) for node in nodes)]
    finally:
        for each in (hub, *nodes):
            each.kill()
    assert codes == [0, 0, 0], (codes, said, [node.stdout.read() for node in nodes])
    enrolled = [line for line in said.splitlines() if "node_enrolled" in line]
    assert len(enrolled) == 2, said
    print("version", starswitch.__version__, "trained")
"""


def test_in_a_clean_environment(installed: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    clean = {"PATH": str(installed / "bin"), "HOME": str(here), "LC_ALL": "C"}
    program = textwrap.dedent(TOGETHER)
    said = run(installed / "bin/python", "-I", "-c", program, here, cwd=here, env=clean)
    assert said.stdout.endswith("trained\n"), said.stdout


def _libraries(file: Path) -> set[Path]:
    """What the loader maps for this file."""
    done = subprocess.run(["ldd", str(file)], capture_output=True, text=True)
    return {Path(each) for each in re.findall(r"(/\S+) \(0x", done.stdout)}


def _bare_root(root: Path, environment: Path) -> list[tuple[Path, Path]]:
    """Fills a root with Python and the libraries that Python needs; returns what
    is to be bound there: (from, to)."""
    base = Path(sys.executable).resolve()
    bases = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    paths = sysconfig.get_paths(vars=bases)
    stdlib = {Path(paths["stdlib"]).resolve(), Path(paths["platstdlib"]).resolve()}
    stdlib = {place for place in stdlib if place.is_dir()}
    files = {base, *_libraries(base)}
    for place in stdlib:
        for extension in place.glob("lib-dynload/*.so"):
            files |= _libraries(extension)
    for file in files:
        target = root / file.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    bound = [(place, root / place.relative_to("/")) for place in stdlib]
    bound += [
        (environment, root / environment.relative_to("/")),
        (Path("/proc"), root / "proc"),
    ]
    bound += [(Path("/dev"), root / "dev"), (root.parent / "here", root / "here")]
    for _, target in bound:
        target.mkdir(parents=True, exist_ok=True)
    # The interpreter is called by the name that the environment knows.
    link = environment / "bin/python"
    while link.is_symlink():
        link = link.parent / os.readlink(link)
        target = root / os.path.abspath(link)[1:]
        if not str(link).startswith(str(environment)) and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(base, target)
    return bound


def test_where_nothing_else_is(installed: Path, tmp_path: Path) -> None:
    """In a root with Python and the libraries that Python itself needs."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("needs a mount namespace")
    root = tmp_path / "root"
    (tmp_path / "here").mkdir()
    mounts = [
        f"mount --rbind '{source}' '{target}'"
        for source, target in _bare_root(root, installed)
    ]
    (root / "program.py").write_text(textwrap.dedent(TOGETHER))
    (root / "tmp").mkdir(exist_ok=True)
    assert not [each for each in root.rglob("lib*") if "sodium" in each.name]
    script = "set -e\n" + "\n".join(mounts) + '\nexec chroot "$@"'
    clean = {"PATH": f"{installed}/bin:{os.environ['PATH']}", "HOME": "/here"}
    inside = [installed / "bin/python", "-I", "/program.py", "/here"]
    said = run(*unshare, "sh", "-c", script, "sh", root, *inside, env=clean)
    assert said.stdout.endswith("trained\n"), said.stdout


# ---- beside another libzmq and libsodium ----

BESIDE = """
    import sys, time
    FIRST, hub, key = sys.argv[1:4]
    if FIRST == "pyzmq":
        import zmq
        zmq.Context.instance()
        import starswitch.numpy
    else:
        import starswitch.numpy
        from starswitch._programs import library
        library()
        import zmq
    import numpy

    assert zmq.has("curve"), "this pyzmq has no CURVE"
    arrays = {"w": numpy.zeros(100, numpy.float32)}
    link = starswitch.numpy.attach(
        arrays, hub=hub, key=key, name="beside", identity=sys.argv[4])

    public, secret = zmq.curve_keypair()
    mine, mine_secret = zmq.curve_keypair()
    server = zmq.Context.instance().socket(zmq.REP)
    server.curve_server, server.curve_secretkey = True, secret
    port = server.bind_to_random_port("tcp://127.0.0.1")
    client = zmq.Context.instance().socket(zmq.REQ)
    client.curve_serverkey = public
    client.curve_publickey, client.curve_secretkey = mine, mine_secret
    client.connect(f"tcp://127.0.0.1:{port}")
    for each in (client, server):
        each.rcvtimeo = 20000

    link.wait_ready(20)
    end = time.monotonic() + 20
    for i in range(10**9):
        client.send_string(f"{i}")
        server.send_string(server.recv_string())
        assert client.recv_string() == f"{i}"
        arrays["w"] += 0.001
        link.report(loss=1.0, samples=1)
        link.step()
        if i >= 200 and link.state().applied >= 3:
            break
        assert time.monotonic() < end, link.state()
        time.sleep(0.002)
    link.detach()
    client.close(), server.close()
    zmq.Context.instance().term()
    print("both")
"""


@pytest.mark.parametrize("first", ["pyzmq", "starswitch"])
def test_beside_pyzmq_with_keys(
    unpacked: Path, tmp_path: Path, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zmq")
    pytest.importorskip("numpy")
    from conftest import Hub

    monkeypatch.setenv("STARSWITCH_PROGRAMS", str(unpacked / "starswitch/bin"))
    keys = tmp_path / "hub/keys"
    hub = Hub(tmp_path / "hub", "--every", 5, "--init", "hub", "--keys", keys)
    keygen = unpacked / "starswitch/bin/starswitch-hub"
    run(keygen, "keygen", hub.directory, "--listen", hub.address)
    hub.start()
    try:
        environment = {**os.environ, "PYTHONPATH": str(unpacked)}
        environment.pop("STARSWITCH_PROGRAMS")
        key = (keys / "invitation").read_text().strip()
        arguments = [first, hub.address, key, tmp_path / "identity"]
        program = textwrap.dedent(BESIDE)
        said = run(
            sys.executable, "-c", program, *arguments, env=environment, cwd=tmp_path
        )
    finally:
        hub.kill()
    assert said.stdout.endswith("both\n"), said.stdout
