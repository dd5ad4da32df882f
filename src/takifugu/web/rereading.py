"""How a file is to be read, as the page asks for it; and what is told about it in the words of the page."""

import re
from collections.abc import Mapping
from typing import Any

from takifugu.errors import InputError
from takifugu.tables.reading import Reading
from takifugu.web.choices import MOST_TEXT, text

_FIELDS = ("sep", "decimal", "encoding", "na", "sentinels")
_HERE = "“How the file is read”"


def read_reading(data: Any) -> tuple[str, Reading]:
    """The table to read again, and what is known of its form; an empty text leaves a decision to the reader."""
    if not isinstance(data, Mapping) or set(data) != {"table", *_FIELDS}:
        raise InputError(f"the question must be a JSON object with 'table', {', '.join(map(repr, _FIELDS))}")
    given: dict[str, Any] = {}
    for name in _FIELDS:
        value = data[name]
        if not isinstance(value, str) or len(value) > MOST_TEXT:
            raise InputError(f"'{name}' must be a text of at most {MOST_TEXT} characters")
        if name in ("na", "sentinels"):
            parts = tuple(part.strip() for part in value.split(",") if part.strip())
            given |= {name: parts} if parts else {}
        elif value:
            given[name] = value
    return text(data["table"], "'table'"), Reading(**given)


def on_page(sentence: str) -> str:
    """A sentence that names arguments of Python, in the words of the page.

    >>> on_page("column 'ward' says 'NA' in 3 rows, read as missing: give reading=Reading(na=[...]) to change that")
    "column 'ward' says 'NA' in 3 rows, read as missing: “How the file is read” can change that"
    """
    sentence = re.sub(r"give reading=Reading\(sentinels=\[.*?\]\)", f"say so under {_HERE}", sentence)
    sentence = re.sub(r"give reading=Reading\(decimal=.*?\) to be sure", f"name it under {_HERE} to be sure", sentence)
    sentence = re.sub(r"give reading=Reading\(.*?\) to change that", f"{_HERE} can change that", sentence)
    for python, shown in _PHRASES.items():
        sentence = sentence.replace(python, shown)
    return sentence


_PHRASES = {
    "or name another separator (sep=)": "or open it with takifugu explore FILE --sep",
    "Give a list that is public, with domain=, to avoid that": "The command and the Python below take public lists "
    "(--domain, domain=), which avoid that",
    "with confidence=0.95 it would be for the population too": "“The promise holds” can make it for the population too "
    "(for one person's value, with the belief “counts with a pseudo-row”)",
    "ask for confidence=0.95, merge it with another secret, or take the risk with fit_priors(..., few='allow')": "hide "
    "another pair, merge it with another secret in the table, or publish a table for the population",
}
