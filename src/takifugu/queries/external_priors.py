"""Other people's priors: those of another table, another year or a colleague, by name and beside one's own.

All beliefs must be about the same answer, so another table is counted on the lattice or the lists of the first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from takifugu.errors import InputError
from takifugu.laws import Finite, Lattice
from takifugu.problems import Answer, Diagnostic, named_belief
from takifugu.queries.fitting import fit_priors
from takifugu.queries.priors import Beliefs, Priors
from takifugu.queries.raw import Raw
from takifugu.queries.row import Row
from takifugu.tables import Reading, Table, reading_beside


def checked_names(beliefs: Any) -> dict[str, Any]:
    """Beliefs by name, as they were given."""
    if not isinstance(beliefs, Mapping) or not beliefs:
        raise InputError(
            f"beliefs must give a name to each table or set of priors, such as {{'last year': priors}}; got "
            f"{type(beliefs).__name__}"
        )
    for name in beliefs:
        if not isinstance(name, str) or not name.strip() or len(name) > 100 or "'" in name:
            raise InputError(
                f"the name of a belief must be a text of 1 to 100 characters without quotes, such as 'last year'; got "
                f"{repr(name)[:60]}"
            )
    return dict(beliefs)


def fit_beside(table: Any, beliefs: Any, query: Any, asked: dict[str, Any]) -> Beliefs:
    """One's own priors, and those of other tables on the same lattice or lists, for the same secrets."""
    given = checked_names(beliefs)
    asked = asked | {"reading": table.reading if isinstance(table, Table) else asked["reading"]}
    own = fit_priors(table, query=query, **asked)
    first = own if isinstance(own, Priors) else own[0]
    for name, source in given.items():
        if isinstance(source, Mapping | Beliefs):
            continue
        try:
            again = asked if not isinstance(asked["secret"], str) else asked | {"secrets": list(first)}
            given[name] = fit_another(source, query=same_domain(query, first.answer), **again)
        except InputError as error:
            raise InputError(f"the belief {name!r} cannot be used: {error}") from None
    return beside(own, given)


def fit_another(table: Any, *, reading: Reading | None, **asked: Any) -> Any:
    """The priors of another table, read as one's own is: a code that means a missing value there means it here too.

    It may be a file of another kind, and lack columns that nothing is asked about.
    """
    query, known = asked["query"], asked.get("known") or ()
    columns = getattr(query, "columns", None) or getattr(query, "column", None)
    if reading is not None and columns is not None:
        named = [asked["secret"], columns, known]
        every = [one for part in named for one in ([part] if isinstance(part, str) else part)]
        reading = reading.about({str(getattr(one, "column", one)) for one in every})
    return fit_priors(table, reading=reading_beside(table, reading), **asked)


def beside(own: Any, beliefs: Any) -> Beliefs:
    """One's own priors, and others by name, as one list of beliefs; laws on finite lists all on the same rows."""
    parts: list[Priors] = list(_priors(own, "", name=None))
    findings: list[Diagnostic] = list(getattr(own, "findings", ()))
    for name, given in checked_names(beliefs).items():
        found = _priors(given, "priors", name=name)
        _require_same_answer(parts[0].answer, found[0].answer, name)
        if any(one.answer is not None and one.answer.private for one in (parts[0], found[0])):
            raise InputError(
                f"private counts stand alone, since what is drawn from them undoes a noise that other priors do not "
                f"have: leave the belief {name!r} out, or give counts without noise"
            )
        findings.extend(one.within(name) for one in getattr(given, "findings", ()))
        parts.extend(found)
    return Beliefs(_on_the_same_rows(parts), findings=findings)


def named_alone(name: str, fitted: Any, beliefs: Mapping[str, Any]) -> Beliefs:
    """A belief with a name in the place of one's own, and others beside it."""
    named = Beliefs(
        [_copy(one, label=named_belief(name, one.label)) for one in _priors(fitted, "priors", name=None)],
        findings=[one.within(name) for one in getattr(fitted, "findings", ())],
    )
    return beside(named, beliefs) if beliefs else named


def same_domain(query: Any, answer: Answer | None) -> Any:
    """The query on the lattice, or on the lists, that an answer has: what another table is to be counted on."""
    domain = None if answer is None else answer.domain
    if isinstance(query, Raw) and isinstance(domain, Lattice) and domain.transform is None:
        return replace(query, bounds=(domain.low, domain.high), step=domain.step)
    if isinstance(query, Row) and isinstance(domain, tuple):
        made = Row(*query.columns, loss=query.loss)
        made.domain = dict(zip(query.columns, domain, strict=True))
        return made
    return query


def _priors(given: Any, what: str, *, name: str | None) -> list[Priors]:
    """The priors of each belief in what was given, labelled with its name where it has one."""
    if isinstance(given, Mapping):
        parts: Iterable[Any] = [given]
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
        parts = given
    else:
        raise InputError(f"the belief {name!r} must be {what} that were fitted or made, got {type(given).__name__}")
    found = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise InputError(f"each belief must be a mapping from secret to law, got {type(part).__name__}")
        one = part if isinstance(part, Priors) else Priors(part)
        found.append(one if name is None else _copy(one, label=named_belief(name, one.label)))
    if not found:
        raise InputError("a belief is empty: give at least two secrets with a law each")
    return found


def _copy(one: Priors, **changes: Any) -> Priors:
    kept = {key: getattr(one, key) for key in ("answer", "findings", "rows", "subsets", "lattice", "counts", "pseudo")}
    laws = changes.pop("laws", one)
    made = Priors(laws, **(kept | {"label": one.label} | changes))
    made.scarce, made.drawn, made.loss, made.pairs = one.scarce, one.drawn, one.loss, one.pairs
    return made


def _require_same_answer(own: Answer | None, other: Answer | None, name: str) -> None:
    """Refuse a belief about something else; what was made by hand names no answer and is taken at its word."""
    if own is None or other is None:
        return
    mine, theirs = ((one.query, one.columns, one.secret, _values(one.domain)) for one in (own, other))
    if mine != theirs:
        raise InputError(
            f"the belief {name!r} is about {other}, and not about {own} on the same values: fit it with the same query "
            f"and the same bounds and step, or the same domain"
        )


def _values(domain: Any) -> Any:
    return tuple(one.values for one in domain) if isinstance(domain, tuple) else domain


def _on_the_same_rows(parts: list[Priors]) -> list[Priors]:
    """Counts and laws of every belief over the rows that any of them knows; those of numbers share a lattice already.

    The first belief keeps its counts as weights: what is lost is weighed by its rows, and not by another table's.
    """
    if not all(isinstance(law, Finite) for part in parts for law in part.values()):
        return parts
    rows = list(dict.fromkeys(value for part in parts for law in part.values() for value in law.values))
    place = {value: k for k, value in enumerate(rows)}
    found = []
    for number, part in enumerate(parts):
        laws, counts, pseudo = {}, {}, {}
        for secret, law in part.items():
            if not isinstance(law, Finite):
                continue
            where = [place[value] for value in law.values]

            def spread(held: Any, where: list[int] = where) -> Any:
                wide = np.zeros(len(rows))
                wide[where] = held
                return wide

            laws[secret] = Finite(rows, spread(law.probabilities if number else law.weights))
            if secret in part.counts:
                counts[secret], pseudo[secret] = spread(part.counts[secret]), spread(part.pseudo[secret])
        found.append(_copy(part, laws=laws, counts=counts, pseudo=pseudo))
    return found


# The priors that a publication asks for: of one's own rows, of others' tables beside them, or of those alone.


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
