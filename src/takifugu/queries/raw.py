"""One person's value of a column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from takifugu._validation import one_of
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import counted, own_normal
from takifugu.laws.fitting.grouped import fit_grouped
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture
from takifugu.laws.reading import Reading, read
from takifugu.problems.answer import Answer
from takifugu.problems.findings import Constant, Finding, Gridded
from takifugu.queries.about import about_codes, about_lattice, heavy_tail, missed_masses, together
from takifugu.queries.cells import cell_beliefs, count_cells
from takifugu.queries.few_rows import about_left_out, about_rows, about_scarce, check_roles
from takifugu.queries.priors import Beliefs, Priors
from takifugu.queries.unrounded import how_it_went, laws_of, step_of
from takifugu.queries.vector import one_or_several, row_vectors
from takifugu.tables.count import Subset, count
from takifugu.tables.overview import Overview, overview
from takifugu.tables.table import Secret, Table

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

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One prior per secret, from the engine's value counts."""
        if not isinstance(self.column, str):
            kind = self.prior or "mixture"
            return row_vectors(
                self.column, table, secret, secrets, prior=kind, seed=self.seed, most=self.max_components
            )
        check_roles(secret, self.column)
        seen = overview(table, secret, self.column, secrets)
        subsets = count(table, secret, self.column, seen)
        return self._from_counts(table, secret, seen, subsets, self._reading(subsets))

    def beliefs(self, table: Table, secret: str, secrets: Iterable[Any] | None, known: Sequence[str]) -> Beliefs:
        """The priors without knowledge, and those of every cell of every subset of the known columns."""
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
            findings.append(Gridded(self.column, width))
        findings.extend(
            Constant(name, self.column, float(subset.values[0]))
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
        findings: list[Finding],
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
        return Priors(
            {name: Mixture.empirical(lattice.points, mass) for name, mass in masses.items()},
            answer=answer,
            findings=findings,
            rows=rows,
            subsets=subsets,
            lattice=lattice,
            counts=counts,
            pseudo=pseudo,
        )
