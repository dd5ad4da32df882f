"""`fit_priors`: from a table and a query to the priors of every belief."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from takifugu._validation import no_cells
from takifugu.errors import InputError
from takifugu.laws import Finite
from takifugu.problems import SCARCE, Answer, Diagnostic, about, named_belief, tidy, warn
from takifugu.queries.priors import FEW, Beliefs, CellQuery, Priors, Query, read_alike
from takifugu.queries.private_counts import PrivateCounts
from takifugu.tables import AS_READ, Reading, Table, reading_beside, with_secrets

if TYPE_CHECKING:
    from takifugu.dependence import Count
    from takifugu.queries.share import Share


@overload
def fit_priors(table: PrivateCounts, *, secret: str | None = None, query: Query | None = None) -> PrivateCounts: ...
@overload
def fit_priors(table: object, *, secret: "Share", query: "Query | Count", reading: Reading | None = None) -> Priors: ...
@overload
def fit_priors(
    table: object,
    *,
    secret: str | Sequence[str],
    query: Query,
    secrets: Iterable[Hashable] | None = None,
    known: None = None,
    few: None = None,
    reading: Reading | None = None,
) -> Priors: ...
@overload
def fit_priors(
    table: object,
    *,
    secret: str | Sequence[str],
    query: Query,
    secrets: Iterable[Hashable] | None = None,
    known: Sequence[str] | None = None,
    few: str | None = None,
    reading: Reading | None = None,
    beliefs: Mapping[str, object] | None = None,
) -> Priors | Beliefs: ...
def fit_priors(
    table: object,
    *,
    secret: "str | Sequence[str] | Share | None" = None,
    query: "Query | Count | None" = None,
    secrets: Iterable[Hashable] | None = None,
    known: Sequence[str] | None = None,
    few: str | None = None,
    reading: Reading | None = None,
    beliefs: Mapping[str, object] | None = None,
) -> Priors | Beliefs:
    """What an adversary who knows the table would expect of the answer, for each secret.

    Args:
        table: a path (CSV or Parquet, globs too), a pandas, Polars or PyArrow table, a DuckDB relation, an
            ibis table or a PySpark dataframe. It is read where it lives: only counts, or a bounded
            number of rows to train a model on, leave its engine. Or private counts, which are the priors already.
        secret: the column to hide; or several, each of which is hidden under its own laws; or a `Share`, a secret of
            the whole table.
        query: what is published: `Row`, `Raw`, `Mean`, `GP` or `BNN`; of a `Share` a `Mean` or a `Count`.
        secrets: the values of the secret to fit, by default all. Text matches numbers: '1' stands for 1.
        known: columns that the adversary may know of the person, or `binned` ones. There is then one belief for
            every combination of their values, and of the values of each of their subsets, down to nothing known.
        reading: what is known of a file's form (separators, decimals, missing values), as the reader takes it.
        few: "allow" lets secrets with fewer than 5 rows be used without confidence.
        beliefs: what others may believe, by name, such as {"last year": table}: each a table in which the same query is
            answered on the same lattice or lists, or priors that were fitted or made before.

    Returns:
        A dictionary from each secret to its prior, with `findings` that tell what to know about the data; with
        `known` or `beliefs`, the list of all beliefs, each such a dictionary with a `label`.

    Raises:
        InputError: where a column is missing, a secret is not in the table, or the query cannot be answered about it.

    >>> import takifugu as tk
    >>> heart = tk.datasets.load("heart")
    >>> priors = fit_priors(heart, secret="slope", query=tk.Mean("oldpeak"), secrets=[1, 3])
    >>> priors[1]
    Mixture.gaussian(mean=0.408451, std=0.057427)
    >>> for finding in priors.findings:
    ...     print(finding)
    secret 3 has 21 rows: its prior is uncertain
    """
    if isinstance(table, PrivateCounts):
        return _of_counts(table, secret, query, {"secrets": secrets, "known": known, "beliefs": beliefs})
    if secret is None:
        raise InputError("secret= is missing: only private counts know what they are the counts of")
    found = _fit(table, secret, query, secrets, known, few, reading, beliefs)
    warn(found.findings)
    return found


def _of_counts(counts: PrivateCounts, secret: object, query: object, asked: Mapping[str, object]) -> PrivateCounts:
    """Private counts as priors: of nothing but what was counted."""
    if given := [name for name, value in asked.items() if value is not None]:
        raise InputError(f"{given[0]} needs rows, and private counts hold none: leave it out")
    found = counts.about(secret, query)
    warn(found.findings)
    return found


def _fit(
    table: Any,
    secret: "str | Sequence[str] | Share",
    query: "Query | Count | None",
    secrets: Iterable[object] | None,
    known: Sequence[str] | None,
    few: str | None,
    reading: Reading | None,
    beliefs: Mapping[str, Any] | None,
) -> Priors | Beliefs:
    if hasattr(secret, "shares"):
        of_rows = {"secrets": secrets, "known": known, "few": few, "beliefs": beliefs}
        return _of_table(table, cast("Share", secret), query, reading, of_rows)
    if isinstance(query, type) or not isinstance(query, Query):
        if hasattr(query, "state"):
            raise InputError("a Count is about all rows of a table, and hides a secret of all rows alone: give a Share")
        raise InputError(f"query must be a Raw, Row, Mean, GP or BNN, such as Raw('age'); got {query!r}")
    if few not in (None, "allow"):
        raise InputError(f"few must be None or 'allow', got {few!r}")
    no_cells("secret", secret)
    no_cells("known", known)
    if beliefs is not None:
        asked = {"secret": secret, "secrets": secrets, "known": known, "few": few, "reading": reading}
        return fit_beside(table, beliefs, query, asked)
    source = Table(table, reading)
    if not isinstance(secret, str):
        return _several(source, secret, query, secrets, known, few)
    found = query.priors(source, secret, secrets) if known is None else _cells(source, secret, query, secrets, known)
    every = [found] if isinstance(found, Priors) else list(found)
    read = about(source.findings, _used(source, secret, query, known))
    found.findings = (*read, *_merged(source, secret), *read_alike(secret, every[0].rows), *found.findings)
    for priors in every:
        _note(priors, source, few)
    return found


def _of_table(
    table: object, secret: "Share", query: object, reading: Reading | None, asked: Mapping[str, object]
) -> Priors:
    """The priors of a secret of the whole table, which takes nothing that is about single rows."""
    if given := [name for name, value in asked.items() if value is not None]:
        raise InputError(
            f"{given[0]} is about the secrets of rows, and a Share is a secret of the whole table: leave it out"
        )
    source = Table(table, reading)
    found = secret.priors(source, query)
    of = () if found.answer is None else found.answer.columns
    found.findings = (*about(source.findings, [secret.column, *of]), *found.findings)
    _note(found, source, None)
    return found


def _merged(source: Table, secret: str) -> Iterable[Diagnostic]:
    """Which labels of the secret several others became, with their rows: those are not hidden from one another."""
    import narwhals as nw

    into = [one for one, _ in source.reading.merges]
    before = secret + AS_READ
    if not into or before not in source.frame.collect_schema().names():
        return
    now = nw.col(secret)
    held = source.frame.filter(now.is_in(into)).select(now=now, before=nw.col(before))
    answer = source.collect(held.group_by("now", "before").agg(rows=nw.len()))
    groups: dict[str, dict[str, int]] = {}
    for label, read, rows in zip(*(answer[name] for name in ("now", "before", "rows")), strict=True):
        group = groups.setdefault(label, {})
        group[tidy(str(read))] = group.get(tidy(str(read)), 0) + int(rows)
    for label in into:
        group = groups.get(label, {})
        if len(group) > 1:
            large = tuple((read, rows) for read, rows in sorted(group.items()) if rows >= FEW and read != tidy(label))
            yield Diagnostic("secret-merged", column=secret, into=label, rows=sum(group.values()), large=large)


def _used(table: Table, secret: str, query: Query, known: Sequence[str] | None) -> list[str]:
    """The columns that a question is about; all of them where the query does not say."""
    named = getattr(query, "columns", None) or getattr(query, "column", None)
    if named is None:
        return table.columns
    columns = [named] if isinstance(named, str) else list(named)
    return [secret, *columns, *(one if isinstance(one, str) else one.column for one in known or ())]


def _cells(table: Table, secret: str, query: Query, secrets: Any, known: object) -> Beliefs:
    if not isinstance(query, CellQuery):
        raise InputError("what the adversary knows can be given for Raw and Row: leave `known` out")
    if isinstance(known, str) or not isinstance(known, Sequence):
        raise InputError(f"known must be a list of columns, such as ['sex']; got {known!r}")
    return query.beliefs(table, secret, secrets, known)


def _note(priors: Priors, source: Table, few: str | None) -> None:
    """Write down how the table was read, and which secrets have too few rows to be used without confidence."""
    if priors.answer is not None:
        priors.answer = replace(priors.answer, spelling=source.read_as.spelling)
    if few is None and not priors.label:
        priors.scarce = tuple(name for name, rows in priors.rows.items() if rows < SCARCE)


def _several(
    table: Table,
    columns: Sequence[str],
    query: Query,
    secrets: Iterable[object] | None,
    known: Sequence[str] | None,
    few: str | None,
) -> Priors | Beliefs:
    from takifugu.queries.side_information import about_lacking, joined

    names = list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"secret must be a column, or a list of columns, got {columns!r}")
    if secrets is not None:
        raise InputError("with several columns of secrets all their values are hidden: leave secrets out")
    # A row is published where it has all of its secrets, so the laws of each are those of such rows alone.
    held = with_secrets(table, names)
    without = table.row_count() - held.row_count()
    told = [finding for name in names for finding in about_lacking(table, held, name)] if without else []
    fitted = [fit_priors(held, secret=name, query=query, known=known, few=few) for name in names]
    found = fitted[0] if len(names) == 1 else joined(names, fitted)
    if without:
        found.findings = (Diagnostic("no-value", columns=tuple(names), rows=without), *told, *found.findings)
    return found


# Other people's priors: those of another table, another year or a colleague, by name and beside one's own.
#
# All beliefs must be about the same answer, so another table is counted on the lattice or the lists of the first.


def checked_names(beliefs: object) -> dict[str, object]:
    """Beliefs by name, as they were given.

    Args:
        beliefs: the argument of the same name.

    Returns:
        A dictionary whose keys are names.

    Raises:
        InputError: for what is no mapping, or is empty, and for keys that are no names.
    """
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


def fit_beside(table: object, beliefs: object, query: Any, asked: dict[str, Any]) -> Beliefs:
    """One's own priors, and those of other tables on the same lattice or lists, for the same secrets.

    Args:
        table: one's own.
        beliefs: other tables or priors, by name.
        query: what is published.
        asked: the other arguments of `fit_priors`.

    Returns:
        All of them as beliefs that one adversary or another may hold. A channel must keep its guarantee under each.
    """
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


def fit_another(table: object, *, reading: Reading | None, **asked: Any) -> object:
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


def beside(own: object, beliefs: object) -> Beliefs:
    """One's own priors, and others by name, as one list of beliefs; laws on finite lists all on the same rows.

    Args:
        own: the priors of one's own table.
        beliefs: others, by name.

    Returns:
        The beliefs, one's own first.

    Raises:
        InputError: where they are about other secrets or another answer.
    """
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


def named_alone(name: str, fitted: object, beliefs: Mapping[str, object]) -> Beliefs:
    """A belief with a name in the place of one's own, and others beside it."""
    named = Beliefs(
        [_copy(one, label=named_belief(name, one.label)) for one in _priors(fitted, "priors", name=None)],
        findings=[one.within(name) for one in getattr(fitted, "findings", ())],
    )
    return beside(named, beliefs) if beliefs else named


def same_domain(query: object, answer: Answer | None) -> object:
    """The query on the lattice, or on the lists, that an answer has: what another table is to be counted on."""
    again = getattr(query, "counted_on", None)
    return query if answer is None or answer.domain is None or again is None else again(answer)


def _priors(given: object, what: str, *, name: str | None) -> list[Priors]:
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
    kept = {key: getattr(one, key) for key in ("answer", "findings", "rows", "subsets", "counts", "pseudo")}
    laws = changes.pop("laws", one)
    made = Priors(laws, **(kept | {"label": one.label} | changes))
    made.scarce, made.drawn, made.loss, made.pairs = one.scarce, one.drawn, one.loss, one.pairs
    made.lattice = one.lattice
    return made


def _require_same_answer(own: Answer | None, other: Answer | None, name: str) -> None:
    """Refuse a belief about something else; what was made by hand names no answer and is taken at its word."""
    if own is None or other is None:
        return
    mine, theirs = ((one.query, one.columns, one.secret, _values(one)) for one in (own, other))
    if mine != theirs:
        raise InputError(
            f"the belief {name!r} is about {other}, and not about {own} on the same values: fit it with the same query "
            f"and the same bounds and step, or the same domain"
        )


def _values(answer: Answer) -> object:
    return answer.lattice, [one.values for one in answer.lists]


def _on_the_same_rows(parts: list[Priors]) -> list[Priors]:
    """Counts and laws of every belief over the rows that any of them knows; those of numbers share a lattice already.

    The first belief keeps its counts as weights: what is lost is weighed by its rows, and not by another table's.
    """
    if not all(law.space == "values" for part in parts for law in part.values()):
        return parts
    rows = list(dict.fromkeys(value for part in parts for law in part.values() for value in law.values))
    place = {value: k for k, value in enumerate(rows)}
    found = []
    for number, part in enumerate(parts):
        laws, counts, pseudo = {}, {}, {}
        for secret, law in part.items():
            if law.space != "values":
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


def priors_asked_for(table: object, asked: dict[str, Any], *, beliefs: Mapping[str, object] | None, own: bool) -> Any:
    """The priors; `asked` are the other arguments of `fit_priors`."""
    if own:
        return fit_priors(table, **asked, beliefs=beliefs)
    return _of_others(beliefs, asked | {"reading": table.reading if isinstance(table, Table) else asked["reading"]})


def _of_others(beliefs: Mapping[str, object] | None, asked: dict[str, Any]) -> object:
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


def _secrets(fitted: Any, asked: dict[str, object]) -> list[object] | None:
    if not isinstance(asked["secret"], str):
        return None
    return list(fitted if isinstance(fitted, Mapping) else fitted[0])
