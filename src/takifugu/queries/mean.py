"""Answers that are vectors: several columns' means, or a person's values of several columns."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu._work import one_thread
from takifugu.channels import MOST_AXES
from takifugu.divergences import projected_loss
from takifugu.errors import InputError
from takifugu.laws import Mixture, VectorMixture
from takifugu.problems import MEAN_BY, Answer, Diagnostic
from takifugu.queries.priors import Priors, about_codes, about_rows, check_roles, together
from takifugu.tables import (
    DISTINCT,
    USUAL,
    Overview,
    Secret,
    Table,
    chosen_secrets,
    count,
    joint_counts,
    joint_moments,
    joint_overview,
    listed,
    moments,
    overview,
    plain,
    tally,
)

_FIT_ROWS = 20_000  # rows that a mixture in several dimensions is fitted to, at most
_LEAST = (
    0.05  # standard deviations of a column below which no fitted component is narrow: rounding makes points of rows
)


class VectorPriors(Priors):
    """Priors of vectors; `empirical` holds the rows behind them as point masses, where these were counted."""

    empirical: dict[Secret, VectorMixture]

    def __init__(
        self,
        priors: Mapping[Secret, Any],
        *,
        answer: Answer,
        findings: Iterable[Diagnostic],
        rows: Mapping[Secret, int],
        empirical: Mapping[Secret, VectorMixture] | None = None,
    ) -> None:
        """Keep the priors, what they are the priors of, the findings and the rows."""
        super().__init__(priors, answer=answer, findings=findings, rows=rows)
        self.empirical = dict(empirical or {})


def one_or_several(column: object) -> str | tuple[str, ...]:
    """A column's name as it is, a list of names as a tuple."""
    if isinstance(column, str):
        return column
    if not isinstance(column, Iterable) or not (names := tuple(column)) or not all(isinstance(n, str) for n in names):
        raise InputError(
            f"a column must be named by text, several by a list of texts such as ['a', 'b']; got {column!r}"
        )
    return names


def mean_vectors(columns: Sequence[str], table: Table, secret: str, secrets: Iterable[object] | None) -> VectorPriors:
    """The joint law of the columns' means for each secret: normal, with the rows' covariance over their number.

    Args:
        columns: whose means are published together.
        table: the rows.
        secret: the column of secrets.
        secrets: those that are to be hidden from one another; all where left out.

    Returns:
        A Gaussian vector for each secret, by the central limit theorem.
    """
    seen = joint_overview(table, secret, columns, secrets)
    findings = _about(secret, columns, seen)
    moments = joint_moments(table, secret, columns, seen)
    priors = {name: VectorMixture.gaussian(m.mean, m.covariance / m.rows) for name, m in moments.items()}
    rows = {name: m.rows for name, m in moments.items()}
    return VectorPriors(priors, answer=Answer("mean", tuple(columns), (secret,)), findings=findings, rows=rows)


def row_vectors(
    columns: Sequence[str],
    table: Table,
    secret: str,
    secrets: Iterable[object] | None,
    *,
    prior: str,
    seed: int,
    most: int,
) -> VectorPriors:
    """The law of a person's values of the columns, for each secret.

    `prior` is as for one column. A finding says that a joint channel costs far less than noise; the rows themselves are
    kept, where they can be counted, so that `check_rows` can tell whether the fitted priors describe them.

    Args:
        columns: that are published together.
        table: the rows.
        secret: the column of secrets.
        secrets: those that are to be hidden from one another; all where left out.
        prior: "gaussian", "mixture" or "empirical".
        seed: of the fits.
        most: the most components of a mixture.

    Returns:
        A law of vectors for each secret.
    """
    seen = joint_overview(table, secret, columns, secrets)
    findings = [*_about(secret, columns, seen), Diagnostic("vector-of-rows", columns=tuple(columns))]
    counts = joint_counts(table, secret, columns, seen)
    rows = {name: extent.valid for name, extent in seen[columns[0]].extents.items()}
    if counts is None and prior != "gaussian":
        raise InputError(
            f"there are more than {DISTINCT:,} distinct rows of these columns: use prior='gaussian', or publish them "
            f"through a joint channel with coarser values"
        )
    empirical = {name: VectorMixture.empirical(*lines) for name, lines in (counts or {}).items()}
    priors: dict[Secret, VectorMixture]
    if prior == "empirical":
        priors = empirical
    elif prior == "gaussian":
        moments = joint_moments(table, secret, columns, seen)
        priors = {
            name: VectorMixture.gaussian(m.mean, m.covariance * ((m.rows - 1) / m.rows)) for name, m in moments.items()
        }
    else:
        priors = {
            name: _fitted(name, *lines, most=most, seed=seed, findings=findings)
            for name, lines in (counts or {}).items()
        }
    answer = Answer("raw", tuple(columns), (secret,))
    return VectorPriors(priors, answer=answer, findings=findings, rows=rows, empirical=empirical)


def check_rows(
    priors: VectorPriors,
    *,
    alpha: float,
    epsilon: float,
    covariance: npt.ArrayLike,
    pairs: Iterable[tuple[Secret, Secret]] | None = None,
) -> list[Diagnostic]:
    """Whether noise that is enough for the priors is enough for the rows: each pair of secrets that is not.

    `pairs` are (secret, other), by default every two both ways. What is compared with epsilon is a lower bound on the
    loss (`projected_loss`), evaluated in float64: a finding is strong evidence, no finding is no proof.

    Args:
        priors: as `row_vectors` made them.
        alpha: the order of the guarantee.
        epsilon: its budget.
        covariance: of the noise.
        pairs: which secrets are compared with which.

    Returns:
        A remark for each pair whose own rows lose more.
    """
    found = []
    for name, other in permutations(priors.empirical, 2) if pairs is None else pairs:
        law, against = priors.empirical[name], priors.empirical[other]
        loss = projected_loss(law, against, alpha=alpha, covariance=covariance)
        if loss > epsilon:
            found.append(Diagnostic("unsafe-prior", secret=name, other=other, loss=loss, epsilon=epsilon))
    return found


def _about(secret: str, columns: Sequence[str], seen: dict[str, Overview]) -> list[Diagnostic]:
    findings = about_rows(secret, tuple(columns), seen[columns[0]])
    for column in columns:
        for name, extent in seen[column].extents.items():
            if extent.low == extent.high:
                findings.append(Diagnostic("constant", secret=name, column=column, value=extent.low))
    return findings


def _fitted(
    name: Secret, points: Array, counts: Array, *, most: int, seed: int, findings: list[Diagnostic]
) -> VectorMixture:
    """A mixture of normals by EM, its number of components the one with the least BIC."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    rows = np.repeat(points, counts.astype(np.int64), axis=0)
    if len(rows) > _FIT_ROWS:
        rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), _FIT_ROWS, replace=False))]
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    best: Any = None
    limit = max(1, min(most, len(points), len(rows) // (2 * rows.shape[1])))
    least = math.inf
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for components in range(1, limit + 1):
            model = GaussianMixture(components, reg_covar=_LEAST**2, random_state=seed, n_init=2)
            bic = model.fit((rows - centre) / spread).bic((rows - centre) / spread)
            if bic < least:
                best, least = model, bic
            elif components >= best.n_components + 2:
                break
    if not best.converged_:
        findings.append(
            Diagnostic(
                "not-converged", secret=name, model="mixture", detail="the fit was still improving when it stopped"
            )
        )
    if best.n_components == most:
        findings.append(Diagnostic("component-limit", secret=name, limit=most))
    scale = np.outer(spread, spread)
    covariances = np.array([0.5 * (c + c.T) * scale for c in best.covariances_])
    return VectorMixture(best.weights_ / best.weights_.sum(), best.means_ * spread + centre, covariances)


# One mean for each group of rows, such as each department, as one vector: the secret is whose departments they are.


def named(column: str, group: object) -> str:
    """What one number of the vector is called.

    >>> named("salary", "Sales")
    'salary of Sales'
    """
    return f"{column} of {group}"


def means_by(
    columns: Sequence[str], by: str, table: Table, secret: str, secrets: Iterable[object] | None
) -> VectorPriors:
    """The joint law of the means of every group, for each secret.

    No row is in two groups, so given the secret their means are independent: the covariance has a block for each.

    Args:
        columns: whose means are published.
        by: the column of groups.
        table: the rows.
        secret: the column of secrets.
        secrets: those that are to be hidden from one another; all where left out.

    Returns:
        For each secret one vector with a number for each column and group.
    """
    if by == secret or by in columns:
        raise InputError(f"by={by!r} must be another column than the secret and what is averaged")
    table.require(by)
    names, groups = _groups(table, secret, secrets, by)
    if len(groups) * len(columns) > MOST_AXES:
        raise InputError(
            f"{len(groups):,} groups of {by!r} with {len(columns)} column(s) are more than the {MOST_AXES} numbers "
            f"of one vector: merge groups, or name fewer columns"
        )
    parts = [mean_vectors(columns, _only(table, by, group), secret, names) for group in groups]
    size = len(columns)
    laws = {}
    for name in names:
        mean, covariance = np.zeros(size * len(parts)), np.zeros((size * len(parts),) * 2)
        for k, part in enumerate(parts):
            here = slice(k * size, (k + 1) * size)
            mean[here], covariance[here, here] = part[name].means[0], part[name].covariances[0]
        laws[name] = VectorMixture.gaussian(mean, covariance)
    told = tuple(named(column, group) for group in groups for column in columns)
    if len(set(told)) < len(told):
        raise InputError(f"two groups of {by!r} look alike once their columns are named: rename one of them")
    findings: list[Diagnostic] = list(dict.fromkeys(finding for part in parts for finding in part.findings))
    # What rests on few rows is judged by the smallest group of a secret.
    rows = {name: min(part.rows[name] for part in parts) for name in names}
    return VectorPriors(laws, answer=Answer(MEAN_BY, told, (secret,)), findings=findings, rows=rows)


def _groups(table: Table, secret: str, secrets: Iterable[object] | None, by: str) -> tuple[list[Secret], list[object]]:
    """The secrets and the groups, each of which has rows of each secret."""
    parts = {"secret": table.secret(secret), "group": table.secret(by)}
    # Rows without a group are counted too: a secret that has no others is not to vanish unsaid.
    answer = tally(table, parts, complete=("secret",), whose=f"{secret!r} and {by!r}", advice="merge groups")
    rows: dict[tuple[Any, Any], int] = {}
    totals: dict[Any, int] = {}
    for who, group, times in zip(answer["secret"], answer["group"], answer["count"], strict=True):
        if plain(who) is None:
            continue
        totals[plain(who)] = totals.get(plain(who), 0) + int(times)
        if plain(group) is not None:
            rows[plain(who), plain(group)] = int(times)
    names = chosen_secrets(table, secret, totals, secrets)
    groups = sorted({group for who, group in rows if who in names}, key=lambda group: (isinstance(group, str), group))
    for name in names:
        missing = [group for group in groups if rows.get((name, group), 0) < 2]
        if missing:
            raise InputError(
                f"secret {name!r} has fewer than 2 rows in {listed(missing, most=4)} of {by!r}: merge groups, or leave "
                f"the secret out by naming the others in `secrets`"
            )
    return names, groups


def _only(table: Table, by: str, group: object) -> Table:
    """The rows of one group."""
    part = Table(table)
    part.frame = table.frame.filter(table.secret(by) == group)
    return part


# The mean of a column over the rows with each secret.


@dataclass(frozen=True)
class Mean:
    """Publish the mean of `column`: each secret's prior is normal, with its subset's mean and standard error.

    The standard error is the sample standard deviation over the square root of the number of rows. The
    prior's mean is the answer itself: who sees the priors needs no release.

    A list of columns is one vector of means: each secret's prior is then a `VectorMixture` with the covariance of its
    rows over their number, and the noise that hides it is shaped. With `by`, such as a department, it is one vector
    with a mean for each of its groups (and each column), in the order of `priors.answer.columns`.

    Args:
        column: one column of numbers, or several.
        by: a column of groups, whose means are published together.

    Raises:
        InputError: for what is no name of a column.

    >>> Mean("salary", by="department").by
    'department'
    """

    column: str | Sequence[str]
    by: str | None = None

    def __post_init__(self) -> None:
        """Keep a list of columns as a tuple, which can be hashed."""
        object.__setattr__(self, "column", one_or_several(self.column))
        if self.by is not None and not isinstance(self.by, str):
            raise InputError(f"by must be the name of a column, such as 'department'; got {self.by!r}")

    def priors(self, table: Table, secret: str, secrets: Iterable[object] | None) -> Priors:
        """One prior per secret, from a mean and a standard deviation that the engine computes.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.

        Returns:
            A normal for each, or a Gaussian vector for several columns or groups.
        """
        if self.by is not None:
            columns = (self.column,) if isinstance(self.column, str) else self.column
            return means_by(columns, self.by, table, secret, secrets)
        if not isinstance(self.column, str):
            return mean_vectors(self.column, table, secret, secrets)
        check_roles(secret, self.column)
        seen = overview(table, secret, self.column, secrets)
        findings = about_rows(secret, (self.column,), seen)
        ends = {end for extent in seen.extents.values() for end in (extent.low, extent.high)}
        if ends & USUAL:  # another pass over the table, and no need of one otherwise
            findings.extend(about_codes(table, self.column, *together(count(table, secret, self.column, seen))))
        found = {}
        for name, (mean, std) in moments(table, secret, self.column, seen).items():
            if std == 0:
                findings.append(Diagnostic("constant", secret=name, column=self.column, value=mean))
            found[name] = Mixture.gaussian(mean, std / math.sqrt(seen.extents[name].valid))
        rows = {name: extent.valid for name, extent in seen.extents.items()}
        return Priors(found, answer=Answer("mean", (self.column,), (secret,)), findings=findings, rows=rows)
