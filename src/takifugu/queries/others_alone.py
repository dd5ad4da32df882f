"""The priors that a publication asks for: of one's own rows, of others' tables beside them, or of those alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from takifugu.errors import InputError
from takifugu.queries.fitting import fit_priors
from takifugu.queries.others import checked_names, fit_another, named_alone, same_domain
from takifugu.queries.priors import Beliefs


def priors_asked_for(
    table: Any, asked: dict[str, Any], *, beliefs: Mapping[str, Any] | None, own: bool, per_cell: Sequence[str]
) -> Any:
    """The priors; `asked` are the other arguments of `fit_priors`, and `per_cell` columns that are published as is."""
    if per_cell:
        if beliefs or not own:
            raise InputError("per_cell and beliefs do not go together: publish without one of them")
        if left := [one for one in asked["known"] or () if one not in per_cell]:
            raise InputError(
                f"with per_cell what is known is published too, and {str(left[0])!r} is not: keep it as well"
            )
        return fit_priors(table, **(asked | {"known": list(per_cell)}), per_cell=True)
    return fit_priors(table, **asked, beliefs=beliefs) if own else _of_others(beliefs, asked)


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
