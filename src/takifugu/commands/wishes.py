"""What several commands ask for in the same words: lists of values, and what the adversary knows."""

import json
from typing import Any

from takifugu.commands.options import names_in
from takifugu.errors import InputError


def known_of(texts: "tuple[str, ...] | list[str]") -> list[str] | None:
    """The columns that --known names; None where it names none.

    >>> known_of(["sex,ward", "age:30:45"])
    ['sex', 'ward', 'age:30:45']
    """
    return names_in(texts) or None


def domain_of(path: str) -> dict[str, list[Any]]:
    """The lists in the file that --domain names."""
    from takifugu.documents import strict_json

    content = strict_json.read(path)
    if not isinstance(content, dict) or not all(isinstance(values, list) for values in content.values()):
        raise InputError(
            f"--domain {path!r} must hold a list for each column, such as {json.dumps({'ward': ['A', 'B']})}"
        )
    return content
