"""Where the library and the programs are."""

from __future__ import annotations

import os
from ctypes import CDLL
from functools import cache
from pathlib import Path
from sysconfig import get_config_var

from . import _library
from .errors import StarswitchError, VersionMismatch

HERE = Path(__file__).resolve().parent


def _places(setting: str, folder: str) -> list[Path]:
    """Where to look, in order: what the environment says; inside the package, as
    in a wheel; the build folder of the source tree."""
    places = []
    if os.environ.get(setting):
        places.append(Path(os.environ[setting]))
    places.append(HERE / folder)
    tree = HERE.parent.parent
    if (tree / "include" / "starswitch.h").exists():
        places.append(tree / os.environ.get("STAR_BUILD", "build"))
    return places


def _find(name: str, setting: str, folder: str, system: list[Path]) -> str:
    tried = []
    for place in _places(setting, folder):
        file = place if place.is_file() else place / name
        if file.is_file():
            return str(file)
        tried.append(str(file))
    for file in system:
        if file.is_file():
            return str(file)
        tried.append(str(file))
    raise StarswitchError(
        f"{name} is in none of {', '.join(tried)}: build it (make), install the "
        f"wheel, or say where it is in {setting}"
    )


def library_path() -> str:
    """The file of libstarswitch. StarswitchError: there is none."""
    # What programs run with; the name without a number is for building them.
    name = f"libstarswitch.so.{_library.STAR_ABI}"
    debian = f"/usr/lib/{get_config_var('MULTIARCH')}"
    system = [Path(each, name) for each in ("/usr/local/lib", "/usr/lib", debian)]
    return _find("libstarswitch.so", "STARSWITCH_LIBRARY", "lib", system)


def program_path(name: str) -> str:
    """The file of `starswitch-hub`, `-node` or `-sim`. StarswitchError: there is
    none."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    system = [Path(each, name) for each in folders]
    return _find(name, "STARSWITCH_PROGRAMS", "bin", system)


def program_environment() -> dict[str, str]:
    """The environment without what is this package's: a program takes each
    STARSWITCH_* for one of its options."""
    ours = ("STARSWITCH_LIBRARY", "STARSWITCH_PROGRAMS", "STARSWITCH_DISABLE")
    return {name: text for name, text in os.environ.items() if name not in ours}


@cache
def library() -> CDLL:
    """The library, loaded when first asked for. VersionMismatch: it is older
    than this package."""
    path = library_path()
    try:
        return _library.load(path)
    except AttributeError as error:
        raise VersionMismatch(
            f"{path} is older than this package ({_library.STAR_VERSION}): {error}"
        ) from None
    except OSError as error:
        raise StarswitchError(f"{path} cannot be loaded: {error}") from None
