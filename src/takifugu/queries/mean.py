"""The mean of a column over the rows with each secret."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture
from takifugu.problems.answer import Answer
from takifugu.problems.findings import Constant
from takifugu.queries.about import about_codes, together
from takifugu.queries.few_rows import about_rows, check_roles
from takifugu.queries.mean_by import means_by
from takifugu.queries.priors import Priors
from takifugu.queries.vector import mean_vectors, one_or_several
from takifugu.tables.count import count
from takifugu.tables.overview import moments, overview
from takifugu.tables.suspects import USUAL
from takifugu.tables.table import Table


@dataclass(frozen=True)
class Mean:
    """Publish the mean of `column`: each secret's prior is normal, with its subset's mean and standard error.

    The standard error is the sample standard deviation over the square root of the number of rows. The
    prior's mean is the answer itself: who sees the priors needs no release.

    A list of columns is one vector of means: each secret's prior is then a `VectorMixture` with the covariance of its
    rows over their number, and the noise that hides it is shaped. With `by`, such as a department, it is one vector
    with a mean for each of its groups (and each column), in the order of `priors.answer.columns`.
    """

    column: str | Sequence[str]
    by: str | None = None

    def __post_init__(self) -> None:
        """Keep a list of columns as a tuple, which can be hashed."""
        object.__setattr__(self, "column", one_or_several(self.column))
        if self.by is not None and not isinstance(self.by, str):
            raise InputError(f"by must be the name of a column, such as 'department'; got {self.by!r}")

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One prior per secret, from a mean and a standard deviation that the engine computes."""
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
                findings.append(Constant(name, self.column, mean))
            found[name] = Mixture.gaussian(mean, std / math.sqrt(seen.extents[name].valid))
        rows = {name: extent.valid for name, extent in seen.extents.items()}
        return Priors(found, answer=Answer("mean", (self.column,), (secret,)), findings=findings, rows=rows)
