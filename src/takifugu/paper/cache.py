"""Results kept by what they follow from: a file for each, named by a hash of its inputs.

A file is written whole or not at all, so an interrupted run leaves only finished results, and the next one
goes on from there. A file that cannot be read is computed again.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "python-flint", "jax", "numpyro", "narwhals", "pandas", "duckdb")


def default_folder() -> Path:
    """TAKIFUGU_CACHE where it is set, else the folder this system keeps caches in."""
    if named := os.environ.get("TAKIFUGU_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "takifugu"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "takifugu" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "takifugu"


@cache
def versions() -> dict[str, str]:
    """The versions of everything a number here may hang on; "missing" for what is not installed."""
    found = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


@cache
def code_digest(*parts: str) -> str:
    """A hash of Takifugu's own source, by folder or file: a number does not outlive the code that made it."""
    home = Path(__file__).parent.parent
    seen = hashlib.sha256()
    for part in parts:
        for path in sorted((home / part).rglob("*.py")) if (home / part).is_dir() else [home / part]:
            seen.update(os.path.relpath(path, home).encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()


class Cache:
    """A folder of JSON files, each named by a hash of what it follows from."""

    def __init__(self, folder: Path | None) -> None:
        """Keep results in `folder`; None keeps nothing."""
        self.folder = folder
        self.computed = 0
        self.found = 0

    def get(self, inputs: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """What `compute` returns, from the file if these inputs were seen before."""
        text = json.dumps({**inputs, "versions": versions()}, sort_keys=True, ensure_ascii=False)
        if self.folder is None:
            self.computed += 1
            return compute()
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        kept = _read(path)
        if isinstance(kept, dict) and kept.get("inputs") == text and "result" in kept:
            self.found += 1
            return kept["result"]
        result = compute()
        self.computed += 1
        _write(path, {"inputs": text, "result": result})
        # Through JSON even the first time, so that both runs see the same types.
        return json.loads(json.dumps(result))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
