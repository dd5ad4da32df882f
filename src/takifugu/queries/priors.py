"""`fit_priors`, and the mapping it returns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol, overload, runtime_checkable

from takifugu._display import Plotted
from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import Law
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.draws import Counted
from takifugu.problems.answer import Answer
from takifugu.problems.findings import FewRows, Finding, NoSecret, NoValue, ScarceRows
from takifugu.problems.problem import Problem
from takifugu.queries.binned import Binned
from takifugu.tables.count import Overview, Subset
from takifugu.tables.reading import Reading
from takifugu.tables.table import Secret, Table, listed

FEW = 100  # rows below which a secret's prior is called uncertain
SCARCE = 5  # rows below which a prior is used only with confidence, or where the caller allows it


class ColumnWeights(tuple[float, ...]):
    """How much each column of a row counts in the loss, where a matrix over all rows would be too large."""

    __slots__ = ()


class Priors(Plotted, dict[Secret, Law]):
    """One prior per secret, with what there is to say about the data behind them.

    A plain dictionary wherever one is expected. `answer` says what they are the priors of; a calibration made from
    them publishes that and nothing else. `rows` tells how many rows each prior rests on; `subsets` holds the values
    and counts behind each where they were counted, for a picture of the data beside its prior.

    Where values are published on a lattice, `lattice` is it, and what is published must be snapped to it first;
    `counts` and `pseudo` are what was seen at each point and the pseudo-counts, from which confidence draws; for a
    model, `drawn` are the means and standard deviations that parameters drawn from its posterior gave. `label` says
    what the adversary knows, in words; it is empty where they know nothing. `scarce` are the secrets whose prior may be
    used only with confidence.
    """

    answer: Answer | None
    findings: tuple[Finding, ...]
    rows: dict[Secret, int]
    subsets: dict[Secret, Subset]
    lattice: Lattice | None
    counts: dict[Secret, Array]
    pseudo: dict[Secret, Array]
    label: str
    scarce: tuple[Secret, ...]

    def __init__(
        self,
        priors: Mapping[Secret, Law],
        *,
        answer: Answer | None = None,
        findings: Iterable[Finding] = (),
        rows: Mapping[Secret, int] | None = None,
        subsets: Mapping[Secret, Subset] | None = None,
        lattice: Lattice | None = None,
        counts: Mapping[Secret, Array] | None = None,
        pseudo: Mapping[Secret, Array] | None = None,
        label: str = "",
    ) -> None:
        """Keep the priors, the findings and what each prior rests on."""
        super().__init__(priors)
        self.answer = answer
        self.findings = tuple(findings)
        self.rows = dict(rows or {})
        self.subsets = dict(subsets or {})
        self.lattice = lattice
        self.counts = dict(counts or {})
        self.pseudo = dict(pseudo or {})
        self.label = label
        self.scarce = ()
        self.drawn: dict[Secret, tuple[Array, Array]] = {}
        self.loss: Any = None  # what a query says is to be lost least
        self.pairs: list[tuple[Any, Any]] | None = None  # those to hide, where not every pair is meant
        self.is_smoothed = False  # whether the laws hold rows that were added, which a finding tells of

    @property
    def counted(self) -> dict[Secret, Counted]:
        """What confidence draws from, for each secret; empty where the priors are on no lattice."""
        return {name: Counted(self.counts[name], self.pseudo[name]) for name in self if name in self.counts}

    def __missing__(self, key: Any) -> NoReturn:
        """Tell which secrets there are."""
        raise UnknownSecretError(f"there is no prior for secret {key!r}: those there are, are {listed(self)}")


class Beliefs(Plotted, Sequence[Priors]):
    """The priors of every belief that an adversary may hold, each with its `label`; the first knows nothing.

    `findings` are about all of them. Whatever takes a list of beliefs takes this.
    """

    def __init__(self, beliefs: Iterable[Priors], *, findings: Iterable[Finding] = ()) -> None:
        """Keep the beliefs and what there is to say about them."""
        self._beliefs = tuple(beliefs)
        self.findings = tuple(findings)
        self.per_cell = False  # whether each is that of who has read its cell, which is published too

    @overload
    def __getitem__(self, index: int) -> Priors: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Priors, ...]: ...
    def __getitem__(self, index: int | slice) -> Priors | tuple[Priors, ...]:
        """One belief, by its position."""
        return self._beliefs[index]

    def __len__(self) -> int:
        """The number of beliefs."""
        return len(self._beliefs)

    def __repr__(self) -> str:
        """The labels while they are few."""
        return f"<{len(self)} beliefs: {listed((b.label or 'nothing known' for b in self), most=6)}>"

    @property
    def answer(self) -> Answer | None:
        """What all of them are the priors of."""
        return self._beliefs[0].answer

    @property
    def pairs(self) -> list[tuple[Any, Any]] | None:
        """The pairs to hide, where not every pair is meant."""
        return self._beliefs[0].pairs

    @property
    def loss(self) -> Any:
        """What the query says is to be lost least."""
        return self._beliefs[0].loss

    @property
    def is_smoothed(self) -> bool:
        """Whether the laws hold rows that were added."""
        return self._beliefs[0].is_smoothed

    @property
    def labels(self) -> tuple[str, ...]:
        """What the adversary knows in each; empty for nothing."""
        return tuple(belief.label for belief in self)

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that all of them share."""
        return self._beliefs[0].lattice


class UnknownSecretError(InputError, KeyError):
    """A secret that the table does not hold."""

    def __str__(self) -> str:
        """The sentence itself: a KeyError would show it in quotes."""
        return str(self.args[0])


@runtime_checkable
class Query(Protocol):
    """An answer to be published: how its distribution follows from a table."""

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One prior per secret."""
        ...


@runtime_checkable
class CellQuery(Protocol):
    """A query that can also be answered for each cell of what the adversary knows."""

    def beliefs(
        self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str | Binned]
    ) -> Beliefs:
        """The priors of every cell."""
        ...


@overload
def fit_priors(
    table: Any,
    *,
    secret: str | Sequence[str],
    query: Query,
    secrets: Iterable[Any] | None = None,
    known: None = None,
    few: None = None,
    reading: Reading | None = None,
) -> Priors: ...
@overload
def fit_priors(
    table: Any,
    *,
    secret: str | Sequence[str],
    query: Query,
    secrets: Iterable[Any] | None = None,
    known: Sequence[str | Binned] | None = None,
    few: str | None = None,
    reading: Reading | None = None,
    beliefs: Mapping[str, Any] | None = None,
    per_cell: bool = False,
) -> Any: ...
def fit_priors(
    table: Any,
    *,
    secret: str | Sequence[str],
    query: Query,
    secrets: Iterable[Any] | None = None,
    known: Sequence[str | Binned] | None = None,
    few: str | None = None,
    reading: Reading | None = None,
    beliefs: Mapping[str, Any] | None = None,
    per_cell: bool = False,
) -> Any:
    """What an adversary who knows the table would expect of the answer, for each secret.

    Args:
        table: a path (CSV or Parquet, globs too), a pandas, Polars or PyArrow table, a DuckDB relation, an
            ibis table or a PySpark dataframe. It is read where it lives: only counts, or a bounded
            number of rows to train a model on, leave its engine.
        secret: the column to hide; or several, each of which is hidden under its own laws.
        query: what is published: `Row`, `Raw`, `Mean`, `GP` or `BNN`.
        secrets: the values of the secret to fit, by default all. Text matches numbers: '1' stands for 1.
        known: columns that the adversary may know of the person, or `binned` ones. There is then one belief for
            every combination of their values, and of the values of each of their subsets, down to nothing known.
        reading: what is known of a file's form (separators, decimals, missing values), as the reader takes it.
        few: "allow" lets secrets with fewer than 5 rows be used without confidence.
        beliefs: what others may believe, by name, such as {"last year": table}: each a table in which the same query is
            answered on the same lattice or lists, or priors that were fitted or made before.
        per_cell: for `Row`, where the known columns are published too, as they are: the promise is then to who has read
            them, one block of a channel for each cell, and what the cell itself tells is said in a finding.

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
    if isinstance(query, type) or not isinstance(query, Query):
        raise InputError(f"query must be a Raw, Row, Mean, GP or BNN, such as Raw('age'); got {query!r}")
    if few not in (None, "allow"):
        raise InputError(f"few must be None or 'allow', got {few!r}")
    if beliefs is not None:
        if per_cell:
            raise InputError("per_cell and beliefs do not go together: fit each table by itself")
        asked = {"secret": secret, "secrets": secrets, "known": known, "few": few, "reading": reading}
        from takifugu.queries.others import fit_beside

        return fit_beside(table, beliefs, query, asked)
    source = Table(table, reading)
    if per_cell:
        from takifugu.queries.row_cells import fit_per_cell

        return fit_per_cell(source, secret, query, secrets, known)
    if not isinstance(secret, str):
        return _several(source, secret, query, secrets, known, few)
    found = query.priors(source, secret, secrets) if known is None else _cells(source, secret, query, secrets, known)
    found.findings = (*source.findings, *found.findings)
    for priors in [found] if isinstance(found, Priors) else found:
        _note(priors, source, few)
    return found


def _cells(table: Table, secret: str, query: Query, secrets: Any, known: Any) -> Beliefs:
    if not isinstance(query, CellQuery):
        raise InputError("what the adversary knows can be given for Raw and Row: leave `known` out")
    if isinstance(known, str | Binned) or not isinstance(known, Sequence):
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
    known: Sequence[str | Binned] | None,
    few: str | None,
) -> Any:
    from takifugu.queries.several import joined

    names = list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"secret must be a column, or a list of columns, got {columns!r}")
    if secrets is not None:
        raise InputError("with several columns of secrets all their values are hidden: leave secrets out")
    fitted = [fit_priors(table, secret=name, query=query, known=known, few=few) for name in names]
    return fitted[0] if len(names) == 1 else joined(names, fitted)


def require_rows(priors: Any, *, confidence: float | None) -> None:
    """Refuse priors that rest on a handful of rows, unless draws from their posterior make up for it.

    `priors` is anything that `calibrate` takes; only what `fit_priors` made knows its rows.
    """
    if isinstance(priors, Problem):  # made from priors that were looked at before
        return
    beliefs: Iterable[Any] = [priors] if isinstance(priors, Mapping) else priors
    for belief in beliefs:
        scarce = getattr(belief, "scarce", ())
        if scarce and confidence is None:
            raise InputError(
                f"secret {scarce[0]!r} has only {belief.rows[scarce[0]]} rows, fewer than {SCARCE}: ask for confidence "
                f"(0.95, say), merge it with another secret, or take the risk in Python, fit_priors(..., few='allow')"
            )


def about_rows(secret: str, columns: tuple[str, ...], seen: Overview) -> list[Finding]:
    """What every query has to say about the rows it found."""
    found: list[Finding] = []
    if seen.without_secret:
        found.append(NoSecret(secret, seen.without_secret))
    missing = sum(extent.rows - extent.valid for extent in seen.extents.values())
    if missing:
        found.append(NoValue(columns, missing))
    found.extend(FewRows(name, e.valid) for name, e in seen.extents.items() if e.valid < FEW)
    return found


def about_scarce(name: Secret, counts: Array) -> Iterable[ScarceRows]:
    """What few rows cost: the distance of counts from the truth that chance alone makes, E|Δ| ≈ √(2p(1−p)/πn)."""
    rows = float(counts.sum())
    if rows < SCARCE:
        p = (counts + 0.5) / (rows + 0.5 * len(counts))
        distance = 0.5 * float((2 * p * (1 - p) / (math.pi * rows)).clip(min=0) ** 0.5 @ (p > 0))
        yield ScarceRows(name, int(rows), min(1.0, distance))


def check_roles(secret: str, answer: str) -> None:
    """The secret itself cannot be the answer."""
    if secret == answer:
        raise InputError(f"column {answer!r} is both the secret and the answer: publishing it tells the secret")
