"""The priors that a publication asks for: of one's own rows, of others' tables beside them, or of those alone."""

from collections.abc import Mapping
from typing import Any

from takifugu.errors import InputError
from takifugu.queries.fitting import fit_priors
from takifugu.queries.others import checked_names, fit_another, named_alone, same_domain
from takifugu.queries.priors import Beliefs
from takifugu.tables.table import Table


def priors_asked_for(table: Any, asked: dict[str, Any], *, beliefs: Mapping[str, Any] | None, own: bool) -> Any:
    """The priors; `asked` are the other arguments of `fit_priors`."""
    if own:
        return fit_priors(table, **asked, beliefs=beliefs)
    return _of_others(beliefs, asked | {"reading": table.reading if isinstance(table, Table) else asked["reading"]})


def _of_others(beliefs: Mapping[str, Any] | None, asked: dict[str, Any]) -> Any:
    """The priors of other tables alone: nothing that follows from them tells anything about one's own rows."""
    if not beliefs:
        raise InputError("own=False leaves no priors: give those of another table, beliefs={'last year': table}")
    (name, first), *rest = checked_names(beliefs).items()
    try:
        fitted = first if isinstance(first, Mapping | Beliefs) else fit_another(first, **asked)
    except InputError as error:
        raise InputError(f"the belief {name!r} cannot be used: {error}") from None
    answer = getattr(fitted, "answer", None)
    if answer is None:
        raise InputError(
            f"the belief {name!r} does not say what it is about: fit the priors of rows, or take your own beside it"
        )
    others = {
        other: given if isinstance(given, Mapping | Beliefs) else fit_another(given, **again)
        for again in [asked | {"query": same_domain(asked["query"], answer), "secrets": _secrets(fitted, asked)}]
        for other, given in rest
    }
    return named_alone(name, fitted, others)


def _secrets(fitted: Any, asked: dict[str, Any]) -> list[Any] | None:
    if not isinstance(asked["secret"], str):
        return None
    return list(fitted if isinstance(fitted, Mapping) else fitted[0])
