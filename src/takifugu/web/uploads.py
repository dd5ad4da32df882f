"""Files that are dropped on the page: in a folder that only its owner can read, gone when the explorer ends."""

import os
from pathlib import Path

from takifugu.errors import InputError
from takifugu.tables.engine import private_folder
from takifugu.tables.formats import ENDINGS

MOST_FILES = 4  # dropped files that are kept; the oldest makes room for the next
_LONGEST = 120  # characters of a file's name


class Uploads:
    """A private folder for what was dropped."""

    def __init__(self) -> None:
        """Make the folder."""
        folder, self._end = private_folder(self, "takifugu-dropped-")
        self.folder, self._count = Path(folder), 0

    def new(self, title: str) -> Path:
        """An empty file for one that is called `title` where it comes from; its ending alone is kept."""
        ending = next((one for one in sorted(ENDINGS, key=len, reverse=True) if title.lower().endswith(one)), None)
        if ending is None:
            raise InputError(f"this is no table that can be read here: its name must end in {', '.join(ENDINGS)}")
        self._count += 1
        path = self.folder / f"{self._count}{ending}"
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return path

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._end()


def title_of(name: str) -> str:
    """The name of a file without folders, fit to be shown and to name a ledger after.

    >>> title_of("C:\\\\data\\\\people.csv"), title_of("../../etc/people.csv")
    ('people.csv', 'people.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    if not last.strip(".") or len(last) > _LONGEST or any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in last):
        raise InputError(f"a file's name must be one line of at most {_LONGEST} characters: rename it")
    return last
