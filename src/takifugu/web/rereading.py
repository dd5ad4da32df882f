"""How a file is to be read, as the page asks for it; and what is told about it in the words of the page."""

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from takifugu.errors import InputError
from takifugu.tables.reading import Reading
from takifugu.web.choices import MOST_TEXT, text

_HERE = "“How the file is read”"
_NOTHING = "none"  # between groups of digits; an empty text leaves it to the reader
_HEADERS = {"": None, "names": True, "record": False}
_CELLS = ("na", "sentinels")
_LINES = ("decimal", "thousands", "header", "skip")
FIELDS = {  # what can be said of a file of each kind
    "text": ("sep", "encoding", *_LINES, *_CELLS),
    "excel": ("sheet", *_LINES, *_CELLS),
    "parquet": _CELLS,
}
_EVERY = tuple(dict.fromkeys(name for names in FIELDS.values() for name in names))


def read_reading(data: Any) -> tuple[str, dict[str, str]]:
    """The table to read again, and what is said of its form; an empty text leaves a decision to the reader."""
    if not isinstance(data, Mapping) or "table" not in data or not set(data) <= {"table", *_EVERY}:
        raise InputError(f"the question must be a JSON object with 'table' and some of {', '.join(map(repr, _EVERY))}")
    asked = {name: data[name] for name in _EVERY if name in data}
    for name, value in asked.items():
        if not isinstance(value, str) or len(value) > MOST_TEXT:
            raise InputError(f"'{name}' must be a text of at most {MOST_TEXT} characters")
    as_asked(Reading(), asked)
    return text(data["table"], "'table'"), asked


def as_asked(before: Reading, asked: Mapping[str, str]) -> Reading:
    """The reading with what is asked for. A field that says what it said before keeps what was meant by it.

    >>> made = as_asked(Reading(sentinels=("9,9",), skip=2), {"sep": ";", "sentinels": '"9,9"', "skip": ""})
    >>> made.sep, made.sentinels, made.skip
    (';', ('9,9',), None)
    >>> as_asked(Reading(), {"sentinels": '999, "stay, in days=-1"'}).sentinels
    ('999', 'stay, in days=-1')
    """
    said = _texts(before)
    return replace(before, **{name: _meant(name, value) for name, value in asked.items() if value != said[name]})


def shown(reading: Reading, kind: str) -> dict[str, str]:
    """What was said of a file's form, as the page's fields hold it: those that a file of this kind has.

    >>> shown(Reading(header=True, sentinels=(999, "age=-1")), "parquet")
    {'na': '', 'sentinels': '999, age=-1'}
    """
    said = _texts(reading)
    return {name: said[name] for name in FIELDS[kind]}


def _texts(reading: Reading) -> dict[str, str]:
    given: dict[str, Any] = {name: getattr(reading, name) for name in _EVERY}
    given["header"] = next(word for word, meant in _HEADERS.items() if meant is reading.header)
    given["thousands"] = _NOTHING if reading.thousands == "" else reading.thousands
    given |= {name: ", ".join(quoted(str(one)) for one in given[name] or ()) for name in _CELLS}
    return {name: "" if value is None else str(value) for name, value in given.items()}


def quoted(value: str) -> str:
    """A code or a text as a field of the page holds it among others."""
    doubled = value.replace('"', '""')
    return f'"{doubled}"' if "," in value or value.startswith('"') else value


def _meant(name: str, value: str) -> Any:
    if name in _CELLS:
        # As on the command line: what holds a comma stands in double quotes.
        (fields,) = csv.reader([" ".join(value.splitlines())], skipinitialspace=True)
        parts = tuple(part.strip() for part in fields if part.strip())
        return parts or (None if name == "na" else ())
    if name == "header":
        if value not in _HEADERS:
            raise InputError(f"'header' must be one of {', '.join(map(repr, _HEADERS))}")
        return _HEADERS[value]
    if not value:
        return None
    if name == "skip":
        if not value.isdecimal() or len(value) > 6:
            raise InputError("the lines above the header must be a whole number, 0 or more")
        return int(value)
    return "" if (name, value) == ("thousands", _NOTHING) else value


def on_page(sentence: str) -> str:
    """A sentence that names arguments of Python, in the words of the page.

    >>> on_page("column 'ward' says 'NA' in 3 rows, read as missing: give reading=Reading(na=[...]) to change that")
    "column 'ward' says 'NA' in 3 rows, read as missing: “How the file is read” can change that"
    """
    sentence = re.sub(r"give reading=Reading\(sentinels=\['([^']*)='\]\)", rf"write \1= under {_HERE}", sentence)
    sentence = re.sub(r"give reading=Reading\(sentinels=\[.*?\]\)", f"say so under {_HERE}", sentence)
    sentence = re.sub(r"give reading=Reading\(decimal=.*?\) to be sure", f"name it under {_HERE} to be sure", sentence)
    sentence = re.sub(r"give reading=Reading\(.*?\) to change that", f"{_HERE} can change that", sentence)
    sentence = re.sub(r"give sep=.*?, or leave sep out", f"name that one under {_HERE}, or none", sentence)
    sentence = re.sub(
        r"a joint channel, Row\(.*\), costs far less", "“A table”, one joint channel, costs far less", sentence
    )
    for python, shown in _PHRASES.items():
        sentence = sentence.replace(python, shown)
    return sentence


_PHRASES = {
    "or name another separator (sep=)": f"or name another separator under {_HERE}",
    "say how many lines stand above the header (skip=)": f"say under {_HERE} how many lines stand above the header",
    "say header=False if it is a record, header=True if these are the names": f"say which it is under {_HERE}",
    "say header=False if its first line is a record": f"say under {_HERE} that its first line is a record",
    "say how many lines to skip, with skip=, or name the separator, with sep=": "say how many lines to skip, or name "
    f"the separator, under {_HERE}",
    "name another encoding (encoding=)": f"name another encoding under {_HERE}",
    "or name its encoding if it is a text in UTF-16": f"or name its encoding under {_HERE} if it is a text in UTF-16",
    "Give a list that is public, with domain=, to avoid that": "The command and the Python below take public lists "
    "(--domain, domain=), which avoid that",
    "or ask for assurance='band', which needs no model and costs more": "or give the command or the Python below "
    "--assurance band (assurance='band'), which needs no model and costs more",
    "leave it out, with leave_out=[...] in publish or by naming the others in `secrets`": "hide a pair without it",
    "with confidence=0.95 it would be for the population too": "“The promise holds” can make it for the population too",
    "ask for confidence=0.95, merge it with another secret, or take the risk with fit_priors(..., few='allow')": "hide "
    "another pair, merge it with another secret in the table, or publish a table for the population",
}
