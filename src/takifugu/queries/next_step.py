"""What to run next: the command, and the same in Python."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.queries.exemplary import ODDS
from takifugu.tables.reading import Reading

_FLAGS = ("sep", "decimal", "thousands", "encoding", "sheet", "skip")


@dataclass(frozen=True)
class Asked:
    """What is to be published, and the sentinels to declare beside those of the reading.

    `alone` are secrets of one row each, which are refused unless they are left out.
    """

    secret: str
    columns: tuple[str, ...]
    sentinels: tuple[str, ...]
    reading: Reading
    alone: tuple[Any, ...] = ()


def publish_command(source: str, asked: Asked) -> str:
    """`takifugu publish` for a file, with the options that it was read with.

    >>> publish_command("a b.csv", Asked("diagnosis", ("days",), ("days=999",), Reading()))
    "takifugu publish 'a b.csv' published.csv --secret diagnosis --columns days --odds 3 --sentinel days=999"
    """
    words = ["takifugu", "publish", source, "published.csv", "--secret", asked.secret]
    words += ["--columns", with_commas(asked.columns), "--odds", str(ODDS)]
    for secret in asked.alone:
        words += ["--leave-out", str(secret)]
    return shlex.join([*words, *_reading_words(asked.reading, asked.sentinels)])


def with_commas(names: Sequence[str]) -> str:
    """Names as the command line takes several: one that holds a comma or a quotation mark stands in such marks.

    >>> with_commas(["ward", "stay, days"])
    'ward,"stay, days"'
    """
    return ",".join(f'"{name.replace(chr(34), 2 * chr(34))}"' if set(name) & set(',"') else name for name in names)


def publish_call(asked: Asked) -> str:
    """`tk.publish` for a table that Python holds.

    >>> publish_call(Asked("diagnosis", ("days",), (), Reading()))
    "tk.publish(table, secret='diagnosis', columns=['days'], odds=3)"
    """
    every = [*asked.reading.sentinels, *asked.sentinels]
    without = f", leave_out={list(asked.alone)!r}" if asked.alone else ""
    how = f", reading=Reading(sentinels={every!r})" if every else ""
    return f"tk.publish(table, secret={asked.secret!r}, columns={list(asked.columns)!r}, odds={ODDS}{without}{how})"


def inspect_command(source: str, *, secret: str, reading: Reading) -> str:
    """`takifugu inspect` for a file, with a secret."""
    return shlex.join(["takifugu", "inspect", source, "--secret", secret, *_reading_words(reading, ())])


def _reading_words(reading: Reading, sentinels: Sequence[str]) -> list[str]:
    words: list[str] = []
    for name in _FLAGS:
        if (given := getattr(reading, name)) is not None:
            words += [f"--{name}", "tab" if given == "\t" else str(given)]
    if reading.header is not None:
        words.append("--header" if reading.header else "--no-header")
    for text in reading.na or ():
        words += ["--na", text]
    for one in (*reading.sentinels, *sentinels):
        words += ["--sentinel", str(one)]
    return words + (["--missing", "refuse"] if reading.missing == "refuse" else [])
