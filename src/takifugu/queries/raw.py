"""One person's value of a column."""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._nearest import suggestion
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture, merge
from takifugu.problems.findings import ComponentLimit, Constant, Finding, Gridded, NotConverged, PoorFit, Rounded
from takifugu.queries.priors import Priors, about_rows, check_roles
from takifugu.queries.vector import one_or_several, row_vectors
from takifugu.tables.count import Subset, count, overview
from takifugu.tables.table import Secret, Table

KINDS = ("mixture", "empirical", "gaussian")
_POOR = 0.05  # a Kolmogorov distance worth a word, where there are rows enough to measure it
_CHANCE = 1.36  # over √n: the distance that even the true distribution exceeds once in twenty times


@dataclass(frozen=True)
class Raw:
    """Publish a person's own value of `column`.

    `prior` says what an adversary knows of each secret's subset: "mixture", a mixture of normals fitted by EM
    with up to `max_components` components, their number chosen by BIC; "empirical", the values themselves as
    point masses; or "gaussian", one normal with the subset's mean and maximum-likelihood standard deviation.

    Values that were rounded, or counted on a grid, say nothing below their step or the grid's width: no
    component of a mixture is narrower than that over √12, the standard deviation of the rounding. The step
    is read off the rows of all secrets at once.

    A list of columns is one vector, a person's whole row: each secret's prior is then a `VectorMixture`.
    """

    column: str | Sequence[str]
    prior: str = "mixture"
    max_components: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the kind of prior at once: a table may take long."""
        if self.prior not in KINDS:
            raise InputError(
                f"prior must be one of {', '.join(KINDS)}; got {self.prior!r}.{suggestion(self.prior, KINDS)}"
            )
        object.__setattr__(self, "column", one_or_several(self.column))

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One prior per secret, from the engine's value counts."""
        if not isinstance(self.column, str):
            return row_vectors(
                self.column, table, secret, secrets, prior=self.prior, seed=self.seed, most=self.max_components
            )
        check_roles(secret, self.column)
        seen = overview(table, secret, self.column, secrets)
        subsets = count(table, secret, self.column, seen)
        findings = about_rows(secret, (self.column,), seen)
        if width := max(subset.width for subset in subsets.values()):
            findings.append(Gridded(self.column, width))
        findings.extend(
            Constant(name, self.column, float(subset.values[0]))
            for name, subset in subsets.items()
            if len(subset.values) == 1
        )
        step = _step(subsets)
        if self.prior == "mixture":
            found = self._mixtures(subsets, step, findings)
        else:
            make = _empirical if self.prior == "empirical" else _gaussian
            found = {name: make(subset) for name, subset in subsets.items()}
        if self.prior != "empirical":
            findings.extend(_misses(found, subsets, step))
        rows = {name: extent.valid for name, extent in seen.extents.items()}
        return Priors(found, findings=findings, rows=rows, subsets=subsets)

    def _mixtures(self, subsets: dict[Secret, Subset], step: float, findings: list[Finding]) -> dict[Secret, Mixture]:
        from takifugu.laws.fitting.fit import fit

        floor = step / math.sqrt(12)
        if step and not any(subset.width for subset in subsets.values()):
            findings.append(Rounded(str(self.column), step, floor))
        found: dict[Secret, Mixture] = {}
        for name, subset in subsets.items():
            # A constant subset stays a point: any width would only make the secret look safer.
            least = floor if step and len(subset.values) > 1 else None
            how = fit(
                subset.values,
                subset.counts,
                max_components=self.max_components,
                min_std=least,
                seed=self.seed,
            )
            if how.hit_limit:
                findings.append(ComponentLimit(name, self.max_components))
            if not how.converged:
                findings.append(NotConverged(name, "mixture", "the fit was still improving when it stopped"))
            found[name] = how.mixture
        return found


def _empirical(subset: Subset) -> Mixture:
    return Mixture.empirical(subset.values, subset.counts)


def _gaussian(subset: Subset) -> Mixture:
    weights = subset.counts / subset.counts.sum()
    middle = float(subset.values[len(subset.values) // 2])
    offsets = subset.values - middle  # about a value of the data: a far mean costs no digits
    shift = float(weights @ offsets)
    scale = float(np.abs(offsets).max()) or 1.0  # so that no square overflows
    std = scale * math.sqrt(float(weights @ ((offsets - shift) / scale) ** 2))
    return Mixture.gaussian(middle + shift, std)


def _step(subsets: dict[Secret, Subset]) -> float:
    """The step that the values of all secrets share, 0 where they are not rounded; on a grid, its width."""
    from takifugu.laws.fitting.floors import least_std

    if width := max(subset.width for subset in subsets.values()):
        return width
    values, counts = merge(
        np.concatenate([subset.values for subset in subsets.values()]),
        np.concatenate([subset.counts for subset in subsets.values()]),
    )
    largest = float(np.abs(values).max())
    unit = math.ldexp(0.5, math.frexp(largest)[1])
    floor, step = least_std(
        values / unit,  # squares of values near the ends of float64 would overflow
        counts,
        repeats=bool(counts.max() > 1),
        rounding=2 * sys.float_info.epsilon * largest / unit,
    )
    # Where the floor is not the step's, repeats are chance and the values continuous.
    return step * unit if step is not None and floor == step / math.sqrt(12) else 0.0


def _misses(priors: dict[Secret, Mixture], subsets: dict[Secret, Subset], step: float) -> Iterable[PoorFit]:
    for name, mixture in priors.items():
        distance = kolmogorov(mixture, subsets[name], step)
        if distance > max(_POOR, _CHANCE / math.sqrt(subsets[name].counts.sum())):
            yield PoorFit(name, distance)


def kolmogorov(mixture: Mixture, subset: Subset, step: float) -> float:
    """The largest gap between the distribution functions of a prior and of values rounded to `step`.

    A rounded value stands for all that rounds to it, so they are compared half a step to either side of
    each value: at the value itself even a perfect prior would be off by half of the value's share.
    """
    if len(subset.values) == 1:
        return 0.0
    upto = np.cumsum(subset.counts) / subset.counts.sum()
    before = np.concatenate(([0.0], upto[:-1]))
    above = np.abs(mixture.cdf(subset.values + 0.5 * step) - upto)
    below = np.abs(mixture.cdf(subset.values - 0.5 * step) - before)
    return float(max(above.max(), below.max()))
