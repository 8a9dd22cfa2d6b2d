"""What Python imports first in the programs that tests start: it keeps torch from
importing torch.compile's half.

The first optimizer of a process imports torch._dynamo, which takes longer than
torch itself and is asked only to leave a function as it is. So it is imported
when anything else is asked of it. Tests themselves and the programs of
test_launch_command.py and test_wheel.py do without this.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAME = "torch._dynamo"


class Later(ModuleType):
    """torch._dynamo until something is compiled."""

    complete = False

    @staticmethod
    def graph_break(*_: object, **__: object) -> None:
        """Nothing is traced yet."""

    @staticmethod
    def disable(fn: Callable[..., Any] | None = None, *_: object, **__: object) -> Any:
        """The function as it is, also as a decorator with arguments."""
        return fn or (lambda one: one)

    def __getattr__(self, name: str) -> Any:
        # Who asks for __path__ imports a module of it; importlib does so before.
        if name.startswith("__") and (name != "__path__" or not self.complete):
            raise AttributeError(name)
        return getattr(real(), name)


class Finder(MetaPathFinder, Loader):
    """Finds Later by the name of what it stands for."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: object = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == NAME else None

    def create_module(self, spec: ModuleSpec) -> Later:
        return Later(spec.name)

    def exec_module(self, module: Later) -> None:
        module.complete = True


FINDER = Finder()
sys.meta_path.insert(0, FINDER)


def real() -> ModuleType:
    """The true torch._dynamo, which takes this one's place."""
    if FINDER in sys.meta_path:
        sys.meta_path.remove(FINDER)
        sys.modules.pop(NAME, None)
    return importlib.import_module(NAME)
