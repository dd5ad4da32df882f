"""What several commands ask for in the same words: lists of values, and what the adversary knows."""

import json
from typing import TYPE_CHECKING, Any

from takifugu.commands.options import names_in
from takifugu.errors import InputError

if TYPE_CHECKING:
    from takifugu.queries.binned import Binned


def known_of(texts: "tuple[str, ...] | list[str]") -> "list[str | Binned] | None":
    """The columns that --known names; None where it names none.

    >>> known_of(["sex,ward", "age:30:45"])
    ['sex', 'ward', Binned(column='age', edges=(30.0, 45.0))]
    """
    return [_known(name) for name in names_in(texts)] or None


def _known(text: str) -> "str | Binned":
    """A column, or one cut at the edges behind its name; what follows a colon and is no number belongs to the name."""
    from takifugu.queries.binned import binned

    column, *tail = text.split(":")
    try:
        edges = [float(edge) for edge in tail]
    except ValueError:
        return text
    return binned(column, edges) if column and edges else text


def domain_of(path: str) -> dict[str, list[Any]]:
    """The lists in the file that --domain names."""
    from takifugu.documents import strict_json

    content = strict_json.read(path)
    if not isinstance(content, dict) or not all(isinstance(values, list) for values in content.values()):
        raise InputError(
            f"--domain {path!r} must hold a list for each column, such as {json.dumps({'ward': ['A', 'B']})}"
        )
    return content
