"""Answers that are vectors: several columns' means, or a person's values of several columns."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu._threads import one_thread
from takifugu._validation import Array
from takifugu.divergences.vector.projections import projected_loss
from takifugu.errors import InputError
from takifugu.laws.vector import VectorMixture
from takifugu.problems.answer import Answer
from takifugu.problems.findings import ComponentLimit, Constant, Finding, NotConverged, UnsafePrior, VectorOfRows
from takifugu.queries.few_rows import about_rows
from takifugu.queries.priors import Priors
from takifugu.tables.count import DISTINCT
from takifugu.tables.joint import joint_counts, joint_moments, joint_overview
from takifugu.tables.overview import Overview
from takifugu.tables.table import Secret, Table

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
        findings: Iterable[Finding],
        rows: Mapping[Secret, int],
        empirical: Mapping[Secret, VectorMixture] | None = None,
    ) -> None:
        """Keep the priors, what they are the priors of, the findings and the rows."""
        super().__init__(priors, answer=answer, findings=findings, rows=rows)
        self.empirical = dict(empirical or {})


def one_or_several(column: Any) -> str | tuple[str, ...]:
    """A column's name as it is, a list of names as a tuple."""
    if isinstance(column, str):
        return column
    if not isinstance(column, Iterable) or not (names := tuple(column)) or not all(isinstance(n, str) for n in names):
        raise InputError(
            f"a column must be named by text, several by a list of texts such as ['a', 'b']; got {column!r}"
        )
    return names


def mean_vectors(columns: Sequence[str], table: Table, secret: str, secrets: Iterable[Any] | None) -> VectorPriors:
    """The joint law of the columns' means for each secret: normal, with the rows' covariance over their number."""
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
    secrets: Iterable[Any] | None,
    *,
    prior: str,
    seed: int,
    most: int,
) -> VectorPriors:
    """The law of a person's values of the columns, for each secret.

    `prior` is as for one column. A finding says that a joint channel costs far less than noise; the rows themselves are
    kept, where they can be counted, so that `check_rows` can tell whether the fitted priors describe them.
    """
    seen = joint_overview(table, secret, columns, secrets)
    findings = [*_about(secret, columns, seen), VectorOfRows(tuple(columns))]
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
) -> list[UnsafePrior]:
    """Whether noise that is enough for the priors is enough for the rows: each pair of secrets that is not.

    `pairs` are (secret, other), by default every two both ways. What is compared with epsilon is a lower bound on the
    loss (`projected_loss`), evaluated in float64: a finding is strong evidence, no finding is no proof.
    """
    found = []
    for name, other in permutations(priors.empirical, 2) if pairs is None else pairs:
        law, against = priors.empirical[name], priors.empirical[other]
        loss = projected_loss(law, against, alpha=alpha, covariance=covariance)
        if loss > epsilon:
            found.append(UnsafePrior(name, other, loss, epsilon))
    return found


def _about(secret: str, columns: Sequence[str], seen: dict[str, Overview]) -> list[Finding]:
    findings = about_rows(secret, tuple(columns), seen[columns[0]])
    for column in columns:
        for name, extent in seen[column].extents.items():
            if extent.low == extent.high:
                findings.append(Constant(name, column, extent.low))
    return findings


def _fitted(
    name: Secret, points: Array, counts: Array, *, most: int, seed: int, findings: list[Finding]
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
        findings.append(NotConverged(name, "mixture", "the fit was still improving when it stopped"))
    if best.n_components == most:
        findings.append(ComponentLimit(name, most))
    scale = np.outer(spread, spread)
    covariances = np.array([0.5 * (c + c.T) * scale for c in best.covariances_])
    return VectorMixture(best.weights_ / best.weights_.sum(), best.means_ * spread + centre, covariances)
