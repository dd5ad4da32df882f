"""`fit_priors`: from a table and a query to the priors of every belief."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, overload

from takifugu._validation import no_cells
from takifugu.errors import InputError
from takifugu.problems import SCARCE, Diagnostic, about, warn
from takifugu.queries.priors import Beliefs, CellQuery, Priors, Query
from takifugu.queries.private_counts import PrivateCounts
from takifugu.queries.remarks import read_alike
from takifugu.tables import Reading, Table, with_secrets

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
    if secret is None or query is None:
        raise InputError("secret and query are missing: only private counts know what they are the counts of")
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
    query: "Query | Count",
    secrets: Iterable[Any] | None,
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
        from takifugu.queries.external_priors import fit_beside

        return fit_beside(table, beliefs, query, asked)
    source = Table(table, reading)
    if not isinstance(secret, str):
        return _several(source, secret, query, secrets, known, few)
    found = query.priors(source, secret, secrets) if known is None else _cells(source, secret, query, secrets, known)
    every = [found] if isinstance(found, Priors) else list(found)
    read = about(source.findings, _used(source, secret, query, known))
    found.findings = (*read, *read_alike(secret, every[0].rows), *found.findings)
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


def _used(table: Table, secret: str, query: Query, known: Sequence[str] | None) -> list[str]:
    """The columns that a question is about; all of them where the query does not say."""
    named = getattr(query, "columns", None) or getattr(query, "column", None)
    if named is None:
        return table.columns
    columns = [named] if isinstance(named, str) else list(named)
    return [secret, *columns, *(one if isinstance(one, str) else one.column for one in known or ())]


def _cells(table: Table, secret: str, query: Query, secrets: Any, known: Any) -> Beliefs:
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
    secrets: Iterable[Any] | None,
    known: Sequence[str] | None,
    few: str | None,
) -> Priors | Beliefs:
    from takifugu.queries.several_secrets import about_lacking, joined

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
