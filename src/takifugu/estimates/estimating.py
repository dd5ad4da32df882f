"""`estimate`: means, histograms and regressions about the true values, from a published table and its public papers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, real
from takifugu.errors import InputError
from takifugu.estimates import scores as inverting
from takifugu.estimates.scores import (
    Description,
    FiniteMoments,
    KeptMoments,
    NoiseMoments,
    NotDeterminedError,
    Term,
    WithheldMoments,
    described,
    named,
)
from takifugu.laws import number
from takifugu.releases import INSECURE
from takifugu.tables import Reading, Table, plain

# Estimates as they are handed over: a figure, its standard error, and an interval.


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    share = real("level", level, "a number between 0 and 1, such as 0.95")
    if not 0 < share < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}")
    return float(ndtri((1 + share) / 2))


@dataclass(frozen=True)
class Estimate:
    """A figure about the true values behind a published table.

    `error` is its standard error for the population that the rows were drawn from; `from_channel` is the part of it
    that publishing adds, which is the standard error for the true table itself.

    >>> Estimate(10.0, 1.0, 0.5).interval(0.95)
    (8.040036015459947, 11.959963984540053)
    """

    value: float
    error: float
    from_channel: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the truth about so often, by the normal approximation.

        Args:
            level: how often it is to hold the truth, between 0 and 1.

        Returns:
            Two numbers around the value.

        >>> low, high = Estimate(2.0, 0.5, 0.1).interval(0.95)
        >>> round(low, 3), round(high, 3)
        (1.02, 2.98)
        """
        reach = _quantile(level) * self.error
        return self.value - reach, self.value + reach

    def __str__(self) -> str:
        """The figure and its error."""
        return f"{self.value:.6g} ± {self.error:.2g} (of which publishing adds {self.from_channel:.2g})"


@dataclass(frozen=True)
class Bounds:
    """Between these the true figure lies with a probability of at least `confidence`, whatever else is true."""

    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        """Both ends."""
        return f"between {self.low:.6g} and {self.high:.6g}, with {100 * self.confidence:g} % confidence"


@dataclass(frozen=True)
class Histogram:
    """The share of each true value; None for those of which no unbiased estimate exists, and `why`."""

    column: str
    shares: dict[Any, Estimate | None]
    why: str | None

    def __str__(self) -> str:
        """A line for each value."""
        lines = [f"{value}: {'not determined' if one is None else one}" for value, one in self.shares.items()]
        return "\n".join([*lines, *([self.why] if self.why else [])])


@dataclass(frozen=True)
class Regression:
    """Least squares on the true values: `coefficients` by name, "(intercept)" first."""

    outcome: str
    coefficients: dict[str, Estimate]
    rows: int

    def __getitem__(self, name: str) -> Estimate:
        """One coefficient."""
        if name not in self.coefficients:
            raise InputError(f"there is no coefficient {name!r}: there are {', '.join(map(repr, self.coefficients))}")
        return self.coefficients[name]

    def __str__(self) -> str:
        """A line for each coefficient."""
        lines = [f"{name}: {one}" for name, one in self.coefficients.items()]
        return "\n".join([f"{self.outcome}, by {self.rows:,} rows", *lines])


def root(variance: float) -> float:
    """A standard deviation; a variance that is estimated may come out below 0."""
    return math.sqrt(max(variance, 0.0))


_INTERCEPT = "(intercept)"


def estimate(
    published: object, public: object, *, columns: Sequence[str] | str | None = None, reading: Reading | None = None
) -> "Estimates":
    """What a published table says about the true values, with standard errors; see the methods of `Estimates`.

    Args:
        published: the table that went out: a path, or a table of any dataframe library.
        public: the public certificate that went with it (a path, or what `.redacted()` gives). Who published may also
            give the calibration or the channel.
        columns: which columns of the table went through the channel, in its order; needed where the papers do not tell.
        reading: how the file is to be read.

    Returns:
        Means, shares, bounds and regressions of the true values, each computed when it is asked for.

    Raises:
        InputError: where the papers tell nothing of the channel, or the table is not what went through it.

    >>> import takifugu as tk
    >>> pupils = tk.datasets.load("student-por")
    >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"])
    >>> found = tk.estimate(made.table, made.certificate.redacted()).mean("G3")
    >>> bool(abs(found.value - pupils["G3"].mean()) < 7 * found.error)
    True
    """
    return Estimates(published, described(public), columns, reading)


class Estimates:
    """Estimates from one published table.

    They are about the true values as they would have been published without a channel: on the list of values that may
    be published, clipped and rounded as they were before the channel. What was clipped after noise was added is refused
    where that is plain. Of a table that keeps shares they are about all rows together: a part of the rows, chosen by
    another column, is not covered.
    """

    def __init__(
        self, published: object, description: Description, columns: Sequence[str] | str | None, reading: Reading | None
    ) -> None:
        """Read the table; rows that lack a value are not expected in what was published."""
        table = Table(published, reading)
        content = {name.removesuffix(INSECURE): values for name, values in table.collect(table.frame).items()}
        self.columns = named(description, columns, list(content))
        self.description = description
        self._table = {name: [plain(value) for value in values] for name, values in content.items()}
        if len(self._table[self.columns[0]]) < 2:
            raise InputError("the published table has fewer than two rows: nothing can be estimated from it")
        if any(value is None for name in self.columns for value in self._table[name]):
            raise InputError("a published column lacks values, and a channel leaves none out: this is another table")
        self._moments = _moments_of(description, self.columns, self._table)

    def __repr__(self) -> str:
        """How much was published, and what can be asked."""
        listed = ", ".join(map(repr, self.columns))
        return f"<estimates from {self.rows:,} rows of {listed}: .mean, .histogram, .bounds, .regression>"

    @property
    def rows(self) -> int:
        """How many rows were published."""
        return self._moments.rows

    @property
    def condition(self) -> float | None:
        """The condition number of a finite channel, infinite where different truths are published alike.

        None for noise, and for a sparse channel that is too large to tell.
        """
        return inverting.condition(self._moments.matrix) if isinstance(self._moments, FiniteMoments) else None

    def mean(self, column: str) -> Estimate:
        """The mean of a column's true values.

        Args:
            column: of numbers, published or passed through.

        Returns:
            An unbiased estimate. Its `error` is for the population, and `from_channel` the part of it that the channel
            adds.

        Raises:
            NotDeterminedError: where different truths are published alike, so that no such estimate exists.
        """
        return self._mean(Term(self._known(column)))

    def _mean(self, term: Term) -> Estimate:
        moments = self._moments_about([term])
        scores = moments.product(term)[:, None]
        whole, added = moments.covariance(scores)
        channel = moments.added_to_mean(term, float(whole[0, 0]), float(added[0, 0]))
        return Estimate(float(scores.mean()), root(float(whole[0, 0])), root(min(channel, float(whole[0, 0]))))

    def histogram(self, column: str) -> Histogram:
        """The share of each true value of a column. Estimates may lie below 0: cutting them off would bias them.

        Args:
            column: of a list, published or passed through.

        Returns:
            An unbiased estimate of each share, with None for those that the published values do not determine.
        """
        self._known(column)
        if isinstance(self._moments, FiniteMoments) and column in self.columns:
            values = self._moments.values(column)
        else:
            values = sorted(set(self._table[column]), key=str)
        shares: dict[Any, Estimate | None] = {}
        why: NotDeterminedError | None = None
        for value in values:
            try:
                shares[value] = self._mean(Term(column, value, True))
            except NotDeterminedError as refused:
                shares[value], why = None, refused
        if why is not None and not any(shares.values()):
            raise why
        return Histogram(column, shares, None if why is None else str(why))

    def bounds(self, column: str, value: object = None, *, level: float = 0.95) -> Bounds:
        """Between what the mean of a column lies, or the share of one of its values, for every truth that fits.

        Args:
            column: of the published table.
            value: whose share is meant; the mean where left out.
            level: the confidence.

        Returns:
            The least and the largest figure over all truths that the published table does not refute. They need no
            unbiased estimate, and are wide where none exists.
        """
        self._known(column)
        confidence = real("level", level, "a number between 0 and 1, such as 0.95")
        if not 0 < confidence < 1:
            raise InputError(f"level must be a number between 0 and 1, such as 0.95, got {level!r}")
        if not isinstance(self._moments, FiniteMoments) or column not in self.columns:
            raise InputError("bounds are for columns that went through a finite channel: take the interval of the mean")
        moments = self._moments
        counts = np.bincount(moments.places, minlength=len(moments.channel.outputs)).astype(np.float64)
        f = moments.true([Term(column, value, value is not None)])
        low, high = inverting.bounds(moments.matrix, f, counts, confidence)
        return Bounds(low, high, confidence)

    def regression(self, outcome: str, on: Sequence[str] | str) -> Regression:
        """Least squares of a column on others, as the true values would give it.

        A column of labels becomes a coefficient for each label but the first by name. Columns that were handed over as
        they are may take part, except where the channel keeps shares and is withheld.

        Args:
            outcome: the column to be explained, of numbers.
            on: the columns that explain it.

        Returns:
            Coefficients and their errors, by the delta method from unbiased estimates of all second moments.

        Raises:
            InputError: for columns that are not there or take no part.
            NotDeterminedError: where the published table does not determine a moment, or the moments no coefficient.
        """
        names = [on] if isinstance(on, str) else list(on)
        if not names or outcome in names:
            raise InputError("on must name at least one column, and not the outcome")
        terms: list[Term | None] = [None]  # the intercept
        for name in names:
            terms += self._coded(self._known(name))
        target = Term(self._known(outcome))
        size = len(terms)
        moments = self._moments_about([target, *(term for term in terms if term is not None)])
        products = np.empty((self.rows, size, size))
        for i, a in enumerate(terms):
            for j in range(i, size):
                products[:, i, j] = products[:, j, i] = self._product(a, terms[j], moments)
        with_target = np.stack([self._product(term, target, moments) for term in terms], axis=1)
        gram = products.mean(axis=0)
        if np.linalg.eigvalsh(gram)[0] <= 1e-9 * np.trace(gram):
            raise NotDeterminedError(
                f"no line is determined: after what publishing adds is taken off, too little of {', '.join(names)} is "
                f"left, or one of them follows from the others. Leave one out, or take more rows"
            )
        beta = np.linalg.solve(gram, with_target.mean(axis=0))
        # What a row does to the coefficients: the mean of it is 0, and its covariance is theirs (the delta method).
        influence = np.linalg.solve(gram, (with_target - products @ beta).T).T
        whole, added = moments.covariance(influence)
        told = [_INTERCEPT, *map(str, terms[1:])]
        return Regression(
            outcome,
            {
                name: Estimate(float(beta[k]), root(float(whole[k, k])), root(float(added[k, k])))
                for k, name in enumerate(told)
            },
            self.rows,
        )

    def functions(
        self, terms: Sequence[tuple[Term, ...]], of: Sequence[Callable[[Array], float]]
    ) -> list[Estimate | None]:
        """Smooth functions of the means of products of true values, such as a correlation, with standard errors.

        Args:
            terms: the products, of one term or two each.
            of: functions of their means, in this order; what is no number is not estimated.
        """
        moments = self._moments_about([term for one in terms for term in one])
        scores = np.stack([self._product(one[0], one[1] if len(one) > 1 else None, moments) for one in terms], axis=1)
        means = scores.mean(axis=0)
        found: list[Estimate | None] = []
        for function in of:
            value, slope = function(means), np.empty(len(means))
            for k in range(len(means)):
                step = np.zeros(len(means))
                step[k] = 1e-6 * (abs(means[k]) + float(scores[:, k].std()) + 1e-9)
                slope[k] = (function(means + step) - function(means - step)) / (2 * step[k])
            if not (math.isfinite(value) and np.isfinite(slope).all()):
                found.append(None)
                continue
            whole, added = moments.covariance((scores @ slope)[:, None])  # the delta method
            found.append(Estimate(value, root(float(whole[0, 0])), root(float(added[0, 0]))))
        return found

    @property
    def as_published(self) -> Mapping[str, Sequence[object]]:
        """Every column of the published table, as it went out."""
        return self._table

    def _moments_about(self, terms: Sequence[Term]) -> "FiniteMoments | NoiseMoments | WithheldMoments":
        """What the channel allows; a preserved marginal says nothing of a column beside it, and is then undone."""
        if isinstance(self._moments, KeptMoments) and any(term.column not in self.columns for term in terms):
            return FiniteMoments(self.description, self.columns, self._table)
        return self._moments

    def _product(
        self, a: Term | None, b: Term | None, moments: "FiniteMoments | NoiseMoments | WithheldMoments"
    ) -> Array:
        terms = [term for term in (a, b) if term is not None]
        if len(terms) == 2 and terms[0].column == terms[1].column and terms[0].is_label:
            # One row has one label: the square of an indicator is itself, and two of one column exclude each other.
            return moments.product(terms[0]) if terms[0] == terms[1] else np.zeros(self.rows)
        return moments.product(*terms)

    def _coded(self, column: str) -> list[Term]:
        finite = isinstance(self._moments, FiniteMoments) and column in self.columns
        values = self._moments.values(column) if finite else self._table[column]  # type: ignore[union-attr]
        if all(map(number, values)):
            return [Term(column)]
        return [Term(column, value, True) for value in sorted(set(values), key=str)[1:]]

    def _known(self, column: str) -> str:
        if column not in self._table:
            raise InputError(f"the published table has no column {column!r}; its columns are {', '.join(self._table)}")
        return column


def _moments_of(
    description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[object]]
) -> FiniteMoments | NoiseMoments | WithheldMoments:
    """The scores that a channel allows."""
    if description.publishes != "values":
        return NoiseMoments(description, names, table)
    if description.channel is None:
        return WithheldMoments(description, names, table)
    return (KeptMoments if description.keeps == "marginal" else FiniteMoments)(description, names, table)
