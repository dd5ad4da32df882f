"""What an analyst knows of a release: the channel, the columns that went through it, and what it leaves as it was."""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu import strict_json
from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.certificates import (
    KEPT,
    REDACTED,
    Certificate,
    ChannelCertificate,
    RedactedCertificate,
    RedactedChannel,
    is_withheld,
    kept,
    load_public,
)
from takifugu.channels import (
    Channel,
    GaussianNoise,
    Noise,
    Positions,
    Publishes,
    channel_class,
    channel_from_state,
    known_channel,
)
from takifugu.errors import InputError
from takifugu.laws import columns, key, number
from takifugu.problems import has_code

_CERTIFICATE = "takifugu-certificate"  # one that may be public holds its channel
_ACCEPTED = "the public certificate of the release (a path, or what .redacted() gives), its calibration or its channel"


@dataclass(frozen=True)
class Description:
    """What is known of a channel and of what went through it.

    Attributes:
        publishes: what left it; see `Channel.publishes`.
        width: how many columns went through it.
        channel: the channel, or None of one that is not told: of a finite one whose probabilities, or whose list of
            values, tell about the rows behind it, and of noise on vectors, whose correlations do.
        columns: their names, where they are told.
        keeps: what the channel leaves as it was: "marginal", the shares of rows, or None.
        order: what the publisher states of rows that were not shuffled; None of shuffled ones.
        axes: the noise on each number, where noise was added.
    """

    publishes: Publishes
    width: int
    channel: Channel | None = None
    columns: tuple[str, ...] | None = None
    keeps: str | None = None
    order: str | None = None
    axes: tuple[Noise, ...] = ()

    @classmethod
    def of(
        cls,
        channel: Channel,
        columns: tuple[str, ...] | None = None,
        keeps: str | None = None,
        order: str | None = None,
    ) -> "Description":
        """What is known of a channel that is told."""
        axes = () if channel.publishes == "values" else channel.axes
        return cls(channel.publishes, channel.width, channel, columns, keeps, order, axes)

    @property
    def covariance(self) -> Array:
        """Of the noise that was added; no number where it is not told."""
        if self.channel is not None:
            return self.channel.noise_covariance
        found = np.full((self.width, self.width), np.nan)
        np.fill_diagonal(found, [noise.variance for noise in self.axes])
        return found


@singledispatch
def described(public: object) -> Description:
    """What is known of a release, from whatever tells it.

    Args:
        public: a channel, a calibration, a certificate, or the path of a published file.

    Returns:
        What estimates need of it.

    Raises:
        InputError: for what tells nothing of a channel.
    """
    raise InputError(f"estimates need {_ACCEPTED}, got {type(public).__name__}")


@described.register
def _(public: str | os.PathLike) -> Description:  # type: ignore[type-arg]  # dispatch takes classes alone
    return described(_read(public))


@described.register
def _(public: Channel) -> Description:
    return Description.of(known_channel(public))


@described.register
def _(public: RedactedCertificate | Certificate) -> Description:
    return Description.of(GaussianNoise(public.theta))


@described.register
def _(public: ChannelCertificate) -> Description:
    return described(public.calibration)


@described.register
def _(public: RedactedChannel) -> Description:
    content = public.content
    columns = None if content["columns"] is None else tuple(content["columns"])
    return _of_public(content["channel"], columns, content["keeps"], content.get("order"))


@described.register
def _(public: Calibration) -> Description:
    answer = public.answer
    columns = None if answer is None else answer.columns
    order = KEPT if has_code("order-kept", public.findings) else None
    return Description.of(public.channel, columns, kept(public), order)


def named(description: Description, columns: Sequence[str] | str | None, available: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns that went through the channel."""
    given = (columns,) if isinstance(columns, str) else None if columns is None else tuple(columns)
    told = given if given is not None else description.columns
    if told is None and len(available) == description.width:
        told = tuple(available)
    if told is None or len(told) != description.width:
        raise InputError(
            f"the channel is for {description.width} column(s), and which they are is not told: name them with "
            f"columns, in the order of the channel"
        )
    if missing := [name for name in told if name not in available]:
        raise InputError(f"the published table has no column {missing[0]!r}; its columns are {', '.join(available)}")
    return told


def _read(path: str | os.PathLike[str]) -> Any:
    data = strict_json.read(path, most_bytes=1 << 28)
    told = data.get("format") if isinstance(data, dict) else None
    if told == REDACTED:
        return load_public(path)
    if told == _CERTIFICATE:
        with suppress(InputError):
            return load_public(path)
    if told == "takifugu-calibration":
        return Calibration.from_dict(data)
    raise InputError(f"{os.fspath(path)!r} is something else: estimates need {_ACCEPTED}")


def _of_public(
    state: dict[str, Any], columns: tuple[str, ...] | None, keeps: str | None, order: str | None
) -> Description:
    """What a public certificate tells of a channel: all of it, the noise on each axis, or its kind alone."""
    if "deviations" in state:
        axes = tuple(GaussianNoise(std) for std in state["deviations"])
        return Description("vector", len(axes), None, columns, keeps, order, axes)
    if is_withheld(state):
        return Description(channel_class(state["kind"]).publishes, len(columns or ()), None, columns, keeps, order)
    return Description.of(channel_from_state(state), columns, keeps, order)


# Scores for each published row: numbers whose expectation, given the true row, is a product of true values.
#
# Each kind of channel has its own. A `Term` names what is multiplied: a column of numbers, or that a column has a
# label.


class Term(NamedTuple):
    """A column of numbers, or, with a label, one where the column has it and zero elsewhere."""

    column: str
    label: object = None
    is_label: bool = False

    def of(self, values: Sequence[Any]) -> Array:
        """The term at each of these values."""
        if self.is_label:
            wanted = key(self.label)
            return np.array([key(value) == wanted for value in values], float)
        if not all(map(number, values)):
            raise InputError(f"column {self.column!r} holds labels, and this needs numbers: ask for its histogram")
        return np.array(values, dtype=np.float64)

    def __str__(self) -> str:
        """The name of a coefficient."""
        return f"{self.column} = {self.label}" if self.is_label else self.column


class Moments(ABC):
    """What a kind of channel makes of products of terms."""

    rows: int
    names: tuple[str, ...]

    @abstractmethod
    def product(self, *terms: Term) -> Array:
        """A number for each row with the expectation of the product of the terms' true values, two at most.

        Args:
            terms: one column or two.

        Returns:
            Numbers whose mean over the rows is an unbiased estimate.
        """

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """The covariance of the mean of scores, columns by columns: for the population, and of publishing alone.

        Args:
            scores: a row for each published row, a column for each figure.

        Returns:
            Two matrices. The first says how far the figures are from those of the population, the second how far they
            are from those of the true rows.
        """
        whole = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        return whole, self.added(scores, whole)

    def added(self, scores: Array, whole: Array) -> Array:
        """The part that publishing adds; all of it where it is not told apart."""
        return whole

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """The variance that publishing adds to the mean of one term."""
        return added


@dataclass(frozen=True)
class Kept:
    """Columns that went out as they are: they multiply whatever was changed."""

    values: Mapping[str, Sequence[Any]]

    def split(self, terms: Sequence[Term], changed: Sequence[str]) -> tuple[list[Term], Array | float]:
        """The terms about changed columns, and the product of the others."""
        rest: Array | float = 1.0
        for term in terms:
            if term.column not in changed:
                rest = rest * term.of(self.values[term.column])
        return [term for term in terms if term.column in changed], rest


class NotDeterminedError(InputError):
    """What was asked does not follow from what was published; the message says why and what does."""


# A sparse channel turned round: the same scores as of a whole table, found by its moves alone.
#
# What a solver proposes is checked against the channel: scores that do not solve the equations are not used, and
# where they are said to have no solution, a combination of true rows was found that the channel publishes alike and
# that the question tells apart (proofs/estimates.md, claim 1). Where neither is found, nothing is claimed.

_ROUNDS = 3  # of refinement: each solves for what the one before left over
_STEPS = 4_000  # of the solver in each
_ALIKE = 1e-7  # the norm of v K beside that of v, at which the channel publishes v's parts alike
_SOLVED = 1e-8  # of the size of f: as in `inverting`
MOST_DENSE = 2_000  # inputs and outputs up to which singular values are computed


class UndecidedError(Exception):
    """Neither scores nor a proof that there are none were found."""


def sparse_scores(table: Any, f: Array) -> Array | None:
    """See `inverting.scores`; `UndecidedError` where neither an answer nor its absence is sure."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lsqr

    share = np.asarray(table.sum(axis=0)).ravel() / table.shape[0]
    used = np.flatnonzero(share)
    weight = np.sqrt(share[used])
    scaled = (table[:, used] @ diags_array(1 / weight)).tocsr()
    inner, left = np.zeros(len(used)), f.astype(np.float64)
    size = max(float(np.abs(f).max()), 1e-300)
    for _ in range(_ROUNDS):
        # From zero, so that of all solutions the one of least norm is found, as by the pseudo-inverse.
        inner = inner + lsqr(scaled, left, atol=1e-15, btol=1e-15, conlim=0, iter_lim=_STEPS)[0]
        left = f - scaled @ inner
        if float(np.abs(left).max()) <= 1e-3 * _SOLVED * size:
            break
    g = np.zeros(table.shape[1])
    g[used] = inner / weight
    if float(np.abs(f - table @ g).max()) <= _SOLVED * size:
        return g
    if _is_out_of_reach(table, left, f):
        return None
    raise UndecidedError


def _is_out_of_reach(table: Any, v: Array, f: Array) -> bool:
    """Whether v K = 0 and v·f is not, to the precision of a solver: then no g has K g = f, since v K g = v·f."""
    length = float(np.linalg.norm(v))
    alike = float(np.linalg.norm(table.T @ v)) <= _ALIKE * length
    return alike and abs(float(v @ f)) >= 0.5 * length**2  # what is left over is v itself, if it is out of reach


def sparse_rank(table: Any) -> int:
    """At most so many ways, in which the published rows tell the true ones apart."""
    used = int((np.asarray(table.sum(axis=0)).ravel() > 0).sum())
    return min(int(table.shape[0]), used)


def sparse_condition(table: Any) -> float | None:
    """See `inverting.condition`; None where the table is too large for it."""

    if sparse_rank(table) < table.shape[0]:
        return float("inf")
    return condition(table.toarray()) if max(table.shape) <= MOST_DENSE else None


# A finite channel turned round: scores of published values that are right on average, and bounds where there are
# none.
#
# proofs/estimates.md has the statements.

Table = Any  # probabilities, inputs by outputs: an array, or a sparse matrix of SciPy's

_SAME = 1e-8  # of the size of f: what K g may be off by where it is called solved; rounding of the solver


def scores(matrix: Table, f: Array) -> Array | None:
    """g with Σ_y K(y|x) g(y) = f(x) for every x; None where there is none.

    Of several the one of least Σ_y d(y) g(y)², d the published shares if all true values were equally common:
    D^{-½} (K D^{-½})⁺ f. It depends on the channel alone, since a choice by the data would not be right on average.

    Args:
        matrix: the channel, inputs by outputs.
        f: a number for each true value.

    Returns:
        A number for each published value, whose mean over the published rows estimates that of f without bias
        (proofs/estimates.md).
    """
    if not isinstance(matrix, np.ndarray):
        return sparse_scores(matrix, f)
    used = matrix.max(axis=0) > 0
    weight = np.sqrt(matrix[:, used].mean(axis=0))
    g = np.zeros(matrix.shape[1])
    g[used] = np.linalg.lstsq(matrix[:, used] / weight, f, rcond=1e-11)[0] / weight
    size = max(float(np.abs(f).max()), 1e-300)
    return g if float(np.abs(matrix @ g - f).max()) <= _SAME * size else None


def rank(matrix: Table) -> int:
    """In how many ways the published values tell the true ones apart; of a sparse matrix, at most."""
    if not isinstance(matrix, np.ndarray):
        return sparse_rank(matrix)
    return int(np.linalg.matrix_rank(matrix, tol=1e-9))


def condition(matrix: Table) -> float | None:
    """The condition number: by how much errors of published shares grow in true ones, at worst.

    None of a sparse matrix too large for it.

    Args:
        matrix: the channel, inputs by outputs.

    Returns:
        The largest singular value over the least; infinite where the least is 0.
    """
    if not isinstance(matrix, np.ndarray):
        return sparse_condition(matrix)
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 1e-9 * values[0] else float("inf")


def bounds(matrix: Table, f: Array, counts: Array, level: float) -> tuple[float, float]:
    """Between what the mean of f lies, with this confidence, for every law of true values that fits what was published.

    The published shares lie between Clopper–Pearson bounds, all at once. For any numbers a(y), every such law π has
    π·f ≤ max_x (f − K a)(x) + Σ_y max(a lo, a hi): the solver proposes a, and what is returned follows from it.
    """
    from scipy.special import betaincinv

    total, risk = counts.sum(), (1 - level) / (2 * len(counts))
    with np.errstate(invalid="ignore"):
        low = np.where(counts > 0, betaincinv(counts, total - counts + 1, risk), 0.0)
        high = np.where(counts < total, betaincinv(counts + 1, total - counts, 1 - risk), 1.0)
    return -_upper(matrix, -f, low, high), _upper(matrix, f, low, high)


def _upper(matrix: Table, f: Array, low: Array, high: Array) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    join = np.concatenate if isinstance(matrix, np.ndarray) else vstack
    solved = linprog(
        -f,
        A_ub=join([matrix.T, -matrix.T]),
        b_ub=np.concatenate([high, -low]),
        A_eq=np.ones((1, len(f))),
        b_eq=[1.0],
        method="highs",
    )
    best = float(f.max())  # a = 0: what is true of every law
    if solved.status == 0:
        above, below = np.split(-np.asarray(solved.ineqlin.marginals), 2)
        a = above - below
        best = min(best, float((f - matrix @ a).max() + np.maximum(a * low, a * high).sum()))
    return best


# Scores of rows that were published through a finite channel: inverted, or as they stand where shares were kept.


class FiniteMoments(Moments):
    """Scores through the inverse of a finite channel, where it has one for what is asked."""

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[object]]) -> None:
        """Find each published row among the channel's outputs."""
        if description.channel is None:
            raise InputError("the channel is not told, and nothing can be undone without it")
        self.channel, self.names, self.kept = description.channel.as_list(), names, Kept(table)
        arrays = [_array(table[name]) for name in names]
        self.places: npt.NDArray[np.int64] = _places(self.channel.outputs, arrays)
        self.matrix: Any = self.channel.table
        self.rows = len(self.places)
        self._inputs = dict(zip(names, columns(self.channel.inputs), strict=True))
        self._outputs = dict(zip(names, columns(self.channel.outputs), strict=True))

    def values(self, column: str) -> list[Any]:
        """The values that a column may have."""
        distinct = {key(value): value for value in self._inputs[column]}
        found = list(distinct.values())
        return sorted(found, key=None if all(map(number, found)) else str)

    def true(self, terms: Sequence[Term]) -> Array:
        """The product of terms at each input."""
        return math.prod(
            (term.of(self._inputs[term.column]) for term in terms), start=np.ones(len(self.channel.inputs))
        )

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        mine, rest = self.kept.split(terms, self.names)
        try:
            g = scores(self.matrix, self.true(mine))
        except UndecidedError:
            raise self.refusal(mine, sure=False) from None
        if g is None:
            raise self.refusal(mine)
        return g[self.places] * rest

    def refusal(self, terms: Sequence[Term], *, sure: bool = True) -> InputError:
        """Why there is no unbiased estimate, and what to do."""
        told, ways = len(self.channel.inputs), rank(self.matrix)
        about = " and ".join(dict.fromkeys(repr(term.column) for term in terms))
        certain = "bounds() gives what is still certain"
        if not isinstance(self.matrix, np.ndarray):  # a channel of rows, stored by its moves
            remedy = "whoever publishes can publish fewer columns together, of which shares can be kept"
        else:
            remedy = (
                "whoever publishes can preserve the marginal (preserve='marginal'), which makes plain estimates right"
            )
        if not sure:
            return NotDeterminedError(
                f"no estimate from {about} that is right on average was found: the channel between {told:,} rows is "
                f"too close to publishing different ones alike for float64. {certain}; {remedy}"
            )
        return NotDeterminedError(
            f"no estimate from {about} is right on average for every table: the channel tells its {told:,} true values "
            f"apart in {ways:,} ways only, and different truths are published alike. {certain}; {remedy}"
        )

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """E Var(g(Y) given X), where it can be estimated."""
        if term.column not in self.names:
            return 0.0
        f = self.true([term])
        try:
            g, square = (scores(self.matrix, one) for one in (f, f * f))
        except UndecidedError:
            return whole
        if g is None or square is None:
            return whole
        return float((g * g - square)[self.places].mean()) / self.rows


class KeptMoments(FiniteMoments):
    """Plain products: the channel was made so that the shares of whole rows stay as they were, over all rows.

    Their mean is off by what publishing adds, beside what sampling does; both have mean 0.
    """

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        _require_inside(terms, self.names)
        at = math.prod(
            (term.of(self._outputs[term.column]) for term in terms), start=np.ones(len(self.channel.outputs))
        )
        return at[self.places]

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """As for everything else: nothing was inverted."""
        return added

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """See `Moments.covariance`: what sampling adds and what publishing adds."""
        sampling = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        added = self.added(scores, sampling)
        return sampling + added, added

    def added(self, scores: Array, whole: Array) -> Array:
        """The mean over true rows, as common as published ones, of the covariance of what they are published as."""
        outputs = self.channel.outputs
        seen, first = np.unique(self.places, return_index=True)
        at = scores[first]  # a score is a function of the published row
        share = np.bincount(self.places, minlength=len(outputs)) / self.rows
        place = {key(value): k for k, value in enumerate(outputs)}
        true = np.array([share[place[key(value)]] if key(value) in place else 0.0 for value in self.channel.inputs])
        # Of what a true row could have become, what nobody's row became has no score, and hardly any chance.
        chances = self.matrix[:, seen]
        total = chances.sum(axis=1, keepdims=True)
        chances = np.divide(chances, total, out=np.zeros_like(chances), where=total > 0)
        mean = chances @ at
        both = (at * (true @ chances)[:, None]).T @ at
        added: Array = (both - (true[:, None] * mean).T @ mean) / self.rows
        return added


class WithheldMoments(Moments):
    """Plain products where shares are kept and the channel is not told.

    Publishing adds at most as much variance as the published values have: E Var(f(Y) given X) is at most Var f(Y).
    """

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[object]]) -> None:
        """Refuse where nothing follows from the published values alone."""
        if description.keeps != "marginal":
            raise NotDeterminedError(
                "the public file does not tell the probabilities of the channel, which were fitted to the rows behind "
                "it, and shares were not kept: nothing can be undone. Ask whoever published for the estimate "
                "(published.estimate), for a preserved marginal (preserve='marginal'), or for a channel of another "
                "table's priors and a given list (own=False, domain=), whose probabilities are public"
            )
        self.names, self.table, self.rows = names, table, len(table[names[0]])

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        _require_inside(terms, self.names)
        return math.prod((term.of(self.table[term.column]) for term in terms), start=np.ones(self.rows))

    def covariance(self, scores: Array) -> tuple[Array, Array]:
        """See `Moments.covariance`; both are bounds from above."""
        sampling = np.atleast_2d(np.cov(scores, rowvar=False)) / self.rows
        return 2 * sampling, sampling


def _require_inside(terms: Sequence[Term], names: Sequence[str]) -> None:
    if outside := [term.column for term in terms if term.column not in names]:
        raise InputError(
            f"the channel keeps the shares of {', '.join(map(repr, names))} over all rows, and says nothing about how "
            f"they go with {outside[0]!r}, which it left as it is: leave that column out"
        )


def _places(outputs: Sequence[Any], arrays: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.int64]:
    """Where each row stands among the outputs."""
    try:
        return Positions(outputs).of_columns(arrays)
    except InputError:  # which speaks of publishing
        raise InputError(
            "some values are not among those that this channel publishes: this is another table, or the true one. Give "
            "the published table, and the public file that lies beside it"
        ) from None


def _array(values: Sequence[object]) -> npt.NDArray[np.generic]:
    if all(map(number, values)):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


# Scores of rows that were published with Gaussian noise.

_SURELY = 20.0  # rows that would have to lie beyond the last value, where there are none


class NoiseMoments(Moments):
    """Scores under Gaussian noise of known covariance: its mean is zero, and its squares are taken off."""

    def __init__(self, description: Description, names: tuple[str, ...], table: Mapping[str, Sequence[object]]) -> None:
        """Read the columns as numbers."""
        self.names, self.kept = names, Kept(table)
        self.noise, self._axes = description.covariance, description.axes
        self._numbers = {name: Term(name).of(table[name]) for name in names}
        self.rows = len(table[names[0]])

    def product(self, *terms: Term) -> Array:
        """See `Moments.product`."""
        mine, rest = self.kept.split(terms, self.names)
        if any(term.is_label for term in mine):
            raise NotDeterminedError(
                f"the shares of the values of {mine[0].column!r} cannot be told from values with Gaussian noise: tiny "
                f"errors of what is published would become large ones. Publish values from a list (row) instead"
            )
        numbers = [self._unclipped(term.column) for term in mine]
        taken = 0.0
        if len(mine) == 2:
            i, j = (self.names.index(term.column) for term in mine)
            taken = float(self.noise[i, j])
            if math.isnan(taken):
                raise NotDeterminedError(
                    f"how the noise of {mine[0].column!r} goes with that of {mine[1].column!r} is not public: it would "
                    f"point to where the secrets differ. Ask whoever published for the estimate"
                )
        product = math.prod(numbers, start=np.ones(self.rows))
        return (product - taken) * rest

    def _unclipped(self, name: str) -> Array:
        """The numbers of a column; an error where they pile up at an end, which moves every mean."""
        values, place = self._numbers[name], self.names.index(name)
        if any(_beyond(end, self._axes[place].beyond) >= _SURELY for end in (values, -values)):
            raise NotDeterminedError(
                f"the values of {name!r} pile up at an end as no noise leaves them: they were clipped after it was "
                f"added, and nothing estimated from them is right on average. Whoever publishes can leave clip out"
            )
        return values

    def added_to_mean(self, term: Term, whole: float, added: float) -> float:
        """That of the noise, over the number of rows."""
        place = self.names.index(term.column) if term.column in self.names else None
        return 0.0 if place is None else float(self.noise[place, place]) / self.rows


def _beyond(values: Array, beyond: Callable[[float, float, float], float]) -> float:
    """How many rows should lie beyond the largest value at the least, going by how many have it and the one before."""
    distinct, rows = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return 0.0
    return beyond(float(rows[-1]), float(rows[-2]), float(distinct[-1] - distinct[-2]))
