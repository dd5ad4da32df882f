"""The front of a package: the names that others may import, each loaded with its module when it is first asked for."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# One name a line, as type checkers read it: `from takifugu.laws.mixture import Mixture as Mixture`.
_LINE = re.compile(r"^from ([\w.]+) import (\w+) as (\w+)$", re.MULTILINE)


def front(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package, read from the stub beside its `__init__.py`.

    The stub is the one list of what the package exports. Importing the package loads none of its modules, so that
    `import takifugu` stays light and two Gaussians do not load what tables need.

    Args:
        package: the package's `__name__`.
        file: its `__file__`.
    """
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    homes = {name: (module, inside) for module, inside, name in _LINE.findall(stub)}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, inside = homes[name]
        value = import_module(f"{module}.{inside}") if module == package else getattr(import_module(module), inside)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)
