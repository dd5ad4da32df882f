"""`fit_priors`, and the mapping it returns."""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, Protocol, runtime_checkable

from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture
from takifugu.problems.answer import Answer
from takifugu.problems.findings import FewRows, Finding, NoSecret, NoValue
from takifugu.tables.count import Overview, Subset
from takifugu.tables.table import Secret, Table, listed

FEW = 100  # rows below which a secret's prior is called uncertain


class Priors(dict[Secret, Mixture]):
    """One prior per secret, with what there is to say about the data behind them.

    A plain dictionary wherever one is expected. `answer` says what they are the priors of; a calibration made from
    them publishes that and nothing else. `label` tells this belief from others. `rows` tells how many rows each prior
    rests on; `subsets` holds the values and counts behind each where they were counted, for a picture of the data
    beside its prior.
    """

    answer: Answer | None
    label: str
    findings: tuple[Finding, ...]
    rows: dict[Secret, int]
    subsets: dict[Secret, Subset]

    def __init__(
        self,
        priors: Mapping[Secret, Mixture],
        *,
        answer: Answer | None = None,
        label: str = "",
        findings: Iterable[Finding] = (),
        rows: Mapping[Secret, int] | None = None,
        subsets: Mapping[Secret, Subset] | None = None,
    ) -> None:
        """Keep the priors, the findings and what each prior rests on."""
        super().__init__(priors)
        self.answer = answer
        self.label = label
        self.findings = tuple(findings)
        self.rows = dict(rows or {})
        self.subsets = dict(subsets or {})

    def __missing__(self, key: Any) -> NoReturn:
        """Tell which secrets there are."""
        raise UnknownSecretError(f"there is no prior for secret {key!r}: those there are, are {listed(self)}")


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


def fit_priors(table: Any, *, secret: str, query: Query, secrets: Iterable[Any] | None = None) -> Priors:
    """What an adversary who knows the table would expect of the answer, for each secret.

    Args:
        table: a path (CSV or Parquet, globs too), a pandas, Polars or PyArrow table, a DuckDB relation, an
            ibis table or a PySpark dataframe. It is read where it lives: only counts, or a bounded
            number of rows to train a model on, leave its engine.
        secret: the column to hide.
        query: what is published: `Raw`, `Mean`, `GP` or `BNN`.
        secrets: the values of the secret to fit, by default all. Text matches numbers: '1' stands for 1.

    Returns:
        A dictionary from each secret to its prior. Its `findings` tell what to know about the data.

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
        raise InputError(f"query must be a Raw, Mean, GP or BNN, such as Raw('age'); got {query!r}")
    return query.priors(Table(table), secret, secrets)


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


def check_roles(secret: str, answer: str) -> None:
    """The secret itself cannot be the answer."""
    if secret == answer:
        raise InputError(f"column {answer!r} is both the secret and the answer: publishing it tells the secret")
