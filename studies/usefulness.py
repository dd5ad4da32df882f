"""What an analyst still finds in a published column: mean, quantiles, histogram and a regression slope.

Five ways to publish the paper's columns at the same guarantee: Gaussian noise (exact), k-ary randomized response, and
the best channel with nothing, the mean or the histogram kept. Each is a list of outputs and a table of chances, is
drawn a number of times, and is looked at twice: as it was published, and corrected for the chances, which are public.
"""

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import calibrate
from takifugu.channels.finite_channel import FiniteChannel, whole_rows
from takifugu.datasets import about, load
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.paper.cache import Cache, code_digest
from takifugu.paper.settings import HEADLINE, ORDER
from takifugu.paper.study import Tell
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem

DATASETS = ("adult", "heart", "student-mat", "student-por")
BESIDE = {"adult": "hours-per-week", "heart": "thalach", "student-mat": "G1", "student-por": "G1"}
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_CODE = ("laws", "problems", "divergences", "channels", "mechanisms", "calibration", __file__)
_DRAWN_ROWS, _MOST_DRAWS = 800_000, 100  # rows drawn of a table in all, and how often it is drawn at most
_FINE = 16  # steps of the grid that noise is rounded to, in one standard deviation
_ROUNDS = 300  # of the correction; stopping there smooths a little


@dataclass(frozen=True, eq=False)
class Column:
    """A column by group: its distinct values, the place of each row among them, and a second column beside it."""

    values: Array
    place: Any
    beside: Array
    laws: dict[Any, Finite]

    @property
    def shares(self) -> Array:
        """The histogram of the rows."""
        return np.bincount(self.place, minlength=len(self.values)) / len(self.place)


@dataclass(frozen=True, eq=False)
class Way:
    """A way to publish: the numbers that can come out, and the chances of each for every value."""

    key: str
    outputs: Array
    chances: Array


@dataclass(frozen=True)
class Measure:
    """Averages over draws: how far the mean, the quantiles and the histogram are off, and the slope over the true one.

    `error` is the root mean square error of a value, and is that of the chances, not of the draws; None where values
    were corrected, which speaks of the whole column and of no single value.
    """

    dataset: str
    epsilon: float
    way: str
    corrected: bool
    error: float | None
    mean: float
    quantiles: float
    histogram: float
    slope: float


def column_of(dataset: str) -> Column:
    """The rows of the two groups to be told apart."""
    entry, data = about(dataset), load(dataset)
    rows = data[data[entry.secret].isin(entry.pair)]
    rows = rows[rows[entry.answer].notna() & rows[BESIDE[dataset]].notna()]
    values, place = np.unique(rows[entry.answer].to_numpy(float), return_inverse=True)
    groups = {secret: place[(rows[entry.secret] == secret).to_numpy()] for secret in entry.pair}
    laws = {s: Finite(values.tolist(), np.bincount(g, minlength=len(values)).astype(float)) for s, g in groups.items()}
    return Column(values, place, rows[BESIDE[dataset]].to_numpy(float), laws)


def ways(column: Column, epsilon: float) -> list[Way]:
    """The five ways, each with just enough change for the same guarantee."""
    values = column.values
    points = {s: Mixture(law.probabilities, law.values, np.zeros(len(law))) for s, law in column.laws.items()}
    theta = calibrate(points, alpha=ORDER, epsilon=epsilon).theta
    found = [_noise(values, theta), Way("randomized response", values, randomized_response(column, epsilon))]
    for key, keep in (("best", None), ("best, mean kept", "mean"), ("best, histogram kept", "marginal")):
        channel = calibrate(column.laws, alpha=ORDER, epsilon=epsilon, preserve=keep).channel
        if not isinstance(channel, FiniteChannel):
            raise TypeError("finite laws are published through a finite channel")
        order = np.argsort(np.array(channel.inputs, dtype=float))
        found.append(Way(key, values, channel.matrix[np.ix_(order, order)]))
    return found


def _noise(values: Array, theta: float) -> Way:
    """Gaussian noise, rounded to a sixteenth of its standard deviation, as a table; the ends hold the tails."""
    if theta == 0:
        return Way("Gaussian noise", values, np.eye(len(values)))
    from scipy.special import ndtr

    step = theta / _FINE
    low, high = math.floor((values[0] - 6 * theta) / step), math.ceil((values[-1] + 6 * theta) / step)
    outputs = step * np.arange(low, high + 1)
    below = ndtr((outputs[:-1] + step / 2 - values[:, None]) / theta)
    return Way("Gaussian noise", outputs, np.diff(below, prepend=0.0, append=1.0, axis=1))


def randomized_response(column: Column, epsilon: float) -> Array:
    """A value stays with a chance of 1 − s and is else drawn evenly from all: the least s that is proved enough."""
    size, problem, asked = len(column.values), Problem.of(column.laws, None), Renyi(ORDER, epsilon)
    values = tuple(column.values.tolist())

    def counts(share: float) -> Any:
        return whole_rows((1 - share) * np.eye(size) + share / size)

    def is_kept(share: float) -> bool:
        return Optimal(keep=None).is_kept(problem, asked, FiniteChannel(values, values, counts(share)))

    low, high = 0.0, 0.0 if is_kept(0.0) else 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if is_kept(middle) else (middle, high)
    return FiniteChannel(values, values, counts(high)).matrix


def measures(column: Column, way: Way, *, draws: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Averages over draws, as published and corrected for the chances."""
    rng = np.random.default_rng(seed)
    values, rows = column.values, len(column.place)
    below = np.cumsum(way.chances, axis=1)
    slope = _slope(values[column.place], column.beside)
    nearest = np.abs(way.outputs[:, None] - values).argmin(axis=1)
    as_they_are, corrected = [], []
    for _ in range(draws):
        unit, drawn = rng.random(rows), np.empty(rows, dtype=np.intp)
        for x in range(len(values)):
            here = column.place == x
            drawn[here] = np.searchsorted(below[x], unit[here] * below[x, -1], side="right")
        seen = np.bincount(drawn, minlength=len(way.outputs)) / rows
        rounded = np.bincount(nearest[drawn], minlength=len(values)) / rows
        as_they_are.append(_off(column, way.outputs, seen, rounded, _slope(way.outputs[drawn], column.beside) / slope))
        prior = deconvolved(way.chances, seen, start=rounded)
        expected = (prior * values) @ way.chances / np.maximum(prior @ way.chances, 1e-300)
        corrected.append(_off(column, values, prior, prior, _slope(expected[drawn], column.beside) / slope))
    keys = as_they_are[0]
    averages = [{key: float(np.mean([one[key] for one in many])) for key in keys} for many in (as_they_are, corrected)]
    return averages[0], averages[1]


def deconvolved(chances: Array, seen: Array, *, start: Array) -> Array:
    """The histogram of the true values that makes what was seen likeliest, by expectation-maximisation.

    A channel that gives several values the same chances says nothing about which of them it was: there the start
    decides, and what was published is the best that an analyst has. A little of an even start opens every value.

    >>> deconvolved(np.eye(2), np.array([0.25, 0.75]), start=np.array([0.5, 0.5])).round(9).tolist()
    [0.25, 0.75]
    """
    found = 0.99 * start + 0.01 / len(chances)
    for _ in range(_ROUNDS):
        found = found * (chances @ (seen / np.maximum(found @ chances, 1e-300)))
    return np.asarray(found / found.sum())


def _off(column: Column, numbers: Array, shares: Array, histogram: Array, slope: float) -> dict[str, float]:
    true = column.shares
    apart = [abs(_quantile(numbers, shares, at) - _quantile(column.values, true, at)) for at in QUANTILES]
    return {
        "mean": abs(float(shares @ numbers - true @ column.values)),
        "quantiles": float(np.mean(apart)),
        "histogram": 0.5 * float(np.abs(histogram - true).sum()),
        "slope": slope,
    }


def _quantile(numbers: Array, shares: Array, at: float) -> float:
    """The least number that at least this share lies at or below, up to rounding."""
    return float(numbers[min(int(np.searchsorted(np.cumsum(shares), at - 1e-9)), len(numbers) - 1)])


def _slope(x: Array, y: Array) -> float:
    centred = x - x.mean()
    spread = float(centred @ centred)
    return float(centred @ y) / spread if spread > 0 else 0.0


def measured(
    cache: Cache,
    *,
    datasets: tuple[str, ...] = DATASETS,
    epsilons: tuple[float, ...] = HEADLINE,
    tell: Tell = lambda done, total, what: None,
    most_draws: int = _MOST_DRAWS,
) -> list[Measure]:
    """Every way on every column at every budget."""
    found = []
    for place, dataset in enumerate(datasets):
        column = column_of(dataset)
        draws = min(most_draws, max(1, _DRAWN_ROWS // len(column.place)))
        for k, epsilon in enumerate(epsilons):
            tell(place * len(epsilons) + k, len(datasets) * len(epsilons), f"drawing {dataset}, ε = {epsilon:g}")
            inputs = {"kind": "usefulness", "dataset": dataset, "epsilon": epsilon, "draws": draws}
            one = partial(_looked_at, dataset, column, epsilon, draws)
            found += [Measure(**row) for row in cache.get(inputs | {"code": code_digest(*_CODE)}, one)]
    return found


def _looked_at(dataset: str, column: Column, epsilon: float, draws: int) -> list[dict[str, Any]]:
    rows = []
    for way in ways(column, epsilon):
        square = column.shares @ (way.chances * (column.values[:, None] - way.outputs) ** 2).sum(axis=1)
        for corrected, averages in enumerate(measures(column, way, draws=draws, seed=0)):
            error = None if corrected else math.sqrt(float(square))
            rows.append(asdict(Measure(dataset, epsilon, way.key, bool(corrected), error, **averages)))
    return rows
