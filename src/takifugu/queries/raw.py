"""One person's value of a column."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takifugu._validation import one_of
from takifugu.errors import InputError
from takifugu.laws import Lattice, Mixture, Reading, counted, fit_grouped, own_normal, read
from takifugu.problems import Answer, Diagnostic
from takifugu.queries.mean import one_or_several, row_vectors
from takifugu.queries.priors import (
    Beliefs,
    Priors,
    about_codes,
    about_lattice,
    about_left_out,
    about_rows,
    about_scarce,
    check_roles,
    heavy_tail,
    is_poor,
    missed_masses,
    together,
)
from takifugu.queries.side_information import cell_beliefs, count_cells
from takifugu.tables import Overview, Secret, Subset, Table, count, overview

# The laws of values that are published as they are, on no lattice: mixtures, one normal each, or the sample itself.


def laws_of(
    subsets: dict[Secret, Subset],
    step: float,
    findings: list[Diagnostic],
    *,
    column: str,
    prior: str | None,
    most: int,
    seed: int,
) -> dict[Secret, Mixture]:
    """The law of each secret's values; what there is to say of them is added to `findings`.

    Args:
        subsets: the distinct values of each secret, and their counts.
        step: that they share; 0 where they are not rounded.
        findings: the remarks, to which is added how the fits went.
        column: its name, for them.
        prior: "mixture", "gaussian" or "empirical".
        most: the most components of a mixture.
        seed: of the fits.

    Returns:
        One law for each secret.
    """
    if prior in (None, "mixture"):
        found = _mixtures(subsets, step, findings, column=column, most=most, seed=seed)
    else:
        make = _empirical if prior == "empirical" else _gaussian
        found = {name: make(subset) for name, subset in subsets.items()}
    if prior != "empirical":
        findings.extend(_misses(found, subsets, step))
    return found


def _mixtures(
    subsets: dict[Secret, Subset], step: float, findings: list[Diagnostic], *, column: str, most: int, seed: int
) -> dict[Secret, Mixture]:
    from takifugu.laws import EXTREME, fit

    for subset in subsets.values():
        values = subset.values
        if len(values) > 1 and np.diff(values).min() < (values[-1] - values[0]) / EXTREME:
            # Components would be as wide as that, and values beside one another would go out without noise.
            raise InputError(
                f"some values of column {column!r} lie {EXTREME:g} times as far apart as others, and no mixture can be "
                f"fitted to them: name a code that stands for a missing value as a sentinel, or remove it"
            )
    floor = step / math.sqrt(12)
    if step and not any(subset.width for subset in subsets.values()):
        findings.append(Diagnostic("rounded", column=column, step=step, floor=floor))
    found: dict[Secret, Mixture] = {}
    for name, subset in subsets.items():
        # A constant subset stays a point: any width would only make the secret look safer.
        least = floor if step and len(subset.values) > 1 else None
        how = fit(subset.values, subset.counts, max_components=most, min_std=least, seed=seed)
        findings.extend(how_it_went(name, most, how.hit_limit, how.converged))
        found[name] = how.mixture
    return found


def how_it_went(name: Secret, limit: int, hit_limit: bool, converged: bool) -> Iterable[Diagnostic]:
    """What to say of a fit that stopped at a limit."""
    if hit_limit:
        yield Diagnostic("component-limit", secret=name, limit=limit)
    if not converged:
        yield Diagnostic(
            "not-converged", secret=name, model="mixture", detail="the fit was still improving when it stopped"
        )


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


def step_of(subsets: dict[Secret, Subset]) -> float:
    """The step that the values of all secrets share, 0 where they are not rounded; on a grid, its width.

    Args:
        subsets: the distinct values of each secret, and their counts.

    Returns:
        The step, in the unit of the column.
    """
    from takifugu.laws import least_std, rounding_of

    if width := max(subset.width for subset in subsets.values()):
        return width
    values, counts = together(subsets)
    # Squares of values near the ends of float64 would overflow.
    unit = math.ldexp(0.5, math.frexp(float(np.abs(values).max()))[1])
    scaled = values / unit
    floor, step = least_std(scaled, counts, repeats=bool(counts.max() > 1), rounding=rounding_of(scaled))
    # Where the floor is not the step's, repeats are chance and the values continuous.
    return step * unit if step is not None and floor == step / math.sqrt(12) else 0.0


def _misses(priors: dict[Secret, Mixture], subsets: dict[Secret, Subset], step: float) -> Iterable[Diagnostic]:
    for name, mixture in priors.items():
        distance = kolmogorov(mixture, subsets[name], step)
        if is_poor(distance, subsets[name].counts.sum()):
            yield Diagnostic("poor-fit", secret=name, distance=distance)


def kolmogorov(mixture: Mixture, subset: Subset, step: float) -> float:
    """The largest gap between the distribution functions of a prior and of values rounded to `step`.

    A rounded value stands for all that rounds to it, so they are compared half a step to either side of
    each value: at the value itself even a perfect prior would be off by half of the value's share.

    Args:
        mixture: the prior.
        subset: the values that it was fitted to.
        step: to which they are rounded; 0 for none.

    Returns:
        A distance between 0 and 1, for `is_poor`.
    """
    if len(subset.values) == 1:
        return 0.0
    upto = np.cumsum(subset.counts) / subset.counts.sum()
    before = np.concatenate(([0.0], upto[:-1]))
    above = np.abs(mixture.cdf(subset.values + 0.5 * step) - upto)
    below = np.abs(mixture.cdf(subset.values - 0.5 * step) - before)
    return float(max(above.max(), below.max()))


KINDS = ("counts", "mixture", "empirical", "gaussian")


@dataclass(frozen=True)
class Raw:
    """Publish a person's own value of `column`: clipped to `bounds`, rounded to `step`, then noise is added.

    The law of each secret's values is then a list of masses on a lattice, and `prior` says where they come from:

    - "counts": what was counted, with one pseudo-row of the secret's own rounded normal. The default.
    - "mixture": a mixture of normals fitted to the rounded values by EM, with up to `max_components` components.
    - "gaussian": one normal with the mean and the standard deviation of the secret's rows, rounded and clipped.
    - "empirical": the counts alone, as if the sample were the population.

    Bounds should be public. What is not given is read from the data, and a finding says so. Without bounds and step,
    "empirical" and "gaussian" are about the values as they are; so is "mixture", and it the default, where values are
    too many for a lattice, and everywhere with `step=0`. With `transform="log"` the logarithm is published;
    bounds are in the column's own unit, the step is one of the logarithm.

    A list of columns is one vector, a person's whole row: each secret's prior is then a `VectorMixture`.

    Continuous values say nothing below the width of a grid on which they were counted: no component of a mixture of
    them is narrower than that over √12.

    Args:
        column: one column of numbers, or several.
        prior: "counts", "mixture", "gaussian" or "empirical".
        max_components: the most components of a mixture.
        seed: of the fits.
        bounds: the least and the largest value that may be published.
        step: between values that may be published; 0 for none.
        transform: "log" to publish the logarithm.

    Raises:
        InputError: for an unknown prior or transform, bounds and steps that make no lattice, and options of one column
            for several.

    >>> Raw("age", bounds=(18, 90), step=1).bounds
    (18, 90)
    """

    column: Any  # the name of a column, or several names
    prior: str | None = None
    max_components: int = 10
    seed: int = 0
    bounds: tuple[float, float] | None = None
    step: float | None = None
    transform: str | None = None

    def __post_init__(self) -> None:
        """Check what can be checked at once: a table may take long."""
        object.__setattr__(self, "column", one_or_several(self.column))
        if self.prior is not None:
            one_of("prior", self.prior, KINDS)
        if not isinstance(self.column, str):
            if self.bounds is not None or self.step is not None or self.transform or self.prior == "counts":
                raise InputError(
                    "bounds, step, transform and the prior 'counts' are for one column: a vector of several is "
                    "published as it is. Row(...) publishes several columns, each from a list of values"
                )
            return
        if self.transform not in (None, "log"):
            raise InputError(f"transform must be None or 'log', got {self.transform!r}")
        if self.step == 0:
            if self.bounds is not None or self.transform or self.prior == "counts":
                raise InputError(
                    "step=0 leaves values as they are: it goes with no bounds, no transform and no 'counts'"
                )
        elif self.bounds is not None:
            read([], bounds=self.bounds, step=self.step, transform=self.transform)
        elif self.step is not None:
            read([0.0, self.step], step=self.step)

    def counted_on(self, answer: Answer) -> "Raw":
        """The same on the lattice that an answer has: what another table is to be counted on.

        Args:
            answer: of the priors that the other table's are to stand beside.

        Returns:
            A query about the same column.
        """
        lattice = answer.lattice
        if lattice is None or lattice.transform is not None:
            return self
        return replace(self, bounds=(lattice.low, lattice.high), step=lattice.step)

    def priors(self, table: Table, secret: str, secrets: Iterable[object] | None) -> Priors:
        """One prior per secret, from the engine's value counts.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.

        Returns:
            A law for each, with what is to be known of how it was fitted.
        """
        if not isinstance(self.column, str):
            kind = self.prior or "mixture"
            return row_vectors(
                self.column, table, secret, secrets, prior=kind, seed=self.seed, most=self.max_components
            )
        check_roles(secret, self.column)
        seen = overview(table, secret, self.column, secrets)
        subsets = count(table, secret, self.column, seen)
        return self._from_counts(table, secret, seen, subsets, self._reading(subsets))

    def beliefs(self, table: Table, secret: str, secrets: Iterable[object] | None, known: Sequence[str]) -> Beliefs:
        """The priors without knowledge, and those of every cell of every subset of the known columns.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.
            known: columns that an adversary may know of a person.

        Returns:
            One set of priors for each cell, the first for an adversary who knows none.
        """
        if not isinstance(self.column, str):
            raise InputError("with `known` one column is published: use Row(...), or leave `known` out")
        check_roles(secret, self.column)
        if self.prior not in (None, "counts"):
            raise InputError(f"with `known` the prior is 'counts': a cell has too few rows for {self.prior!r}")
        seen = overview(table, secret, self.column, secrets)
        counts = count_cells(table, secret, self.column, known, seen)
        subsets = counts.subsets(seen.extents)
        reading = read(together(subsets)[0], bounds=self.bounds, step=self.step, transform=self.transform)
        first = self._from_counts(table, secret, seen, subsets, reading)
        lattice = reading.lattice
        cells, findings = cell_beliefs(
            counts.known,
            {place: lattice.count(*pair) for place, pair in counts.cells.items()},
            {name: first.pseudo[name] for name in seen.extents},
            alone=lambda seen_here: own_normal(lattice, seen_here),
            make=lambda masses: Mixture.empirical(lattice.points, masses),
            lattice=lattice,
        )
        first.answer = replace(first.answer, known=tuple(str(one) for one in known)) if first.answer else None
        return Beliefs([first, *cells], findings=[*first.findings, *findings])

    def _reading(self, subsets: dict[Secret, Subset]) -> Reading | None:
        """The lattice to publish on, or None where the values are published as they are."""
        asked = self.prior == "counts" or (self.bounds, self.step, self.transform) != (None, None, None)
        if self.step == 0 or (not asked and self.prior in ("empirical", "gaussian")):
            return None
        values, _ = together(subsets)
        if not asked and (len(values) < 2 or any(subset.width for subset in subsets.values())):
            return None
        reading = read(values, bounds=self.bounds, step=self.step, transform=self.transform)
        # Nobody asked for values to be moved: a lattice that would move them is not taken unasked.
        return None if reading.changes_values and not asked else reading

    def _from_counts(
        self, table: Table, secret: str, seen: Overview, subsets: dict[Secret, Subset], reading: Reading | None
    ) -> Priors:
        findings = about_rows(secret, (self.column,), seen)
        findings.extend(about_left_out({name: (e.rows - e.valid, e.rows) for name, e in seen.extents.items()}))
        if width := max(subset.width for subset in subsets.values()):
            findings.append(Diagnostic("gridded", column=self.column, width=width))
        findings.extend(
            Diagnostic("constant", secret=name, column=self.column, value=float(subset.values[0]))
            for name, subset in subsets.items()
            if len(subset.values) == 1
        )
        findings.extend(about_codes(table, self.column, *together(subsets)))
        rows = {name: extent.valid for name, extent in seen.extents.items()}
        if reading is not None:
            findings.extend(about_lattice(self.column, reading, *together(subsets), bounded=self.bounds is not None))
            lattice = reading.lattice
            answer = Answer(
                "raw", (self.column,), (secret,), domain=lattice, step=lattice.step, is_read=self.bounds is None
            )
            return self._on_lattice(lattice, subsets, findings, rows, answer)
        if self.prior in (None, "mixture") and self.step is None:
            findings.extend(heavy_tail(self.column, *together(subsets)))
        step = step_of(subsets)
        found = laws_of(
            subsets, step, findings, column=self.column, prior=self.prior, most=self.max_components, seed=self.seed
        )
        answer = Answer("raw", (self.column,), (secret,), step=step)
        return Priors(found, answer=answer, findings=findings, rows=rows, subsets=subsets)

    def _on_lattice(
        self,
        lattice: Lattice,
        subsets: dict[Secret, Subset],
        findings: list[Diagnostic],
        rows: dict[Secret, int],
        answer: Answer,
    ) -> Priors:
        counts = {name: lattice.count(subset.values, subset.counts) for name, subset in subsets.items()}
        pseudo = {name: own_normal(lattice, c) for name, c in counts.items()}
        masses = {}
        for name, c in counts.items():
            findings.extend(about_scarce(name, c))
            if self.prior == "mixture":
                how = fit_grouped(lattice, c, max_components=self.max_components, seed=self.seed)
                findings.extend(how_it_went(name, self.max_components, how.hit_limit, how.converged))
                masses[name] = how.masses
            else:
                kinds = {"empirical": c, "gaussian": pseudo[name]}
                masses[name] = kinds.get(self.prior or "counts", counted(c, pseudo[name]))
            if self.prior in ("mixture", "gaussian"):
                findings.extend(missed_masses(name, masses[name], c))
        made = Priors(
            {name: Mixture.empirical(lattice.points, mass) for name, mass in masses.items()},
            answer=answer,
            findings=findings,
            rows=rows,
            subsets=subsets,
            counts=counts,
            pseudo=pseudo,
        )
        made.lattice = lattice
        return made
