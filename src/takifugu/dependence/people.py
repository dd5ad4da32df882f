"""People in time: a chain fitted to a table of several, and draws of the chains that others like them may have.

People differ: a chain that is fitted to all of them together is too little for a good part of them. So a person is
drawn in two ways, anew from how people differ, and as one of those in the table by what is known of that one; whoever
calibrates holds the guarantee for draws of both kinds. Draws are evidence and no proof (proofs/dependence.md).
"""

import datetime
import math
import os
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.dependence.chains import Answer, BeliefsInTime, Counting, MarkovChain
from takifugu.errors import InputError
from takifugu.laws import Finite
from takifugu.problems import Belief

if TYPE_CHECKING:
    import narwhals as nw
    import numpy.typing as npt
    from narwhals.typing import IntoSeries

FEWEST = 10
_MOST_STATES = 50
_DIGITS = 10_000  # a fitted probability is a whole number of these
_LEAST = 1e-6  # of a drawn probability
_FAINTEST = 1e-300
_ALIKE = np.geomspace(0.5, 5_000.0, 60)  # rows of one's own that what people have in common is worth
_SMALL_SHARE = 1e-6  # of a drawn person in what a channel costs, which is counted by the fitted chain


class FittedChain(MarkovChain):
    """The chain of all people together, and the transitions of each, counted."""

    def __init__(self, counts: Array, states: Sequence[Hashable]) -> None:
        """From counts by person, state, and the state that followed it."""
        self.counts = counts
        pooled = counts.sum(axis=0) + 1 / len(states)
        super().__init__([_whole_shares(row) for row in pooled.tolist()], states=states)

    @property
    def people(self) -> int:
        """How many there are."""
        return len(self.counts)

    def priors(self, length: int, answer: Answer) -> "PeoplePriors":
        """The laws of an answer, as of any chain; `calibrate` adds confidence for other people to them."""
        return PeoplePriors(self, length, answer)

    def drawn(self, draws: int, seed: int) -> Iterator[Array]:
        """Transition matrices of so many people drawn anew, and of as many drawn from those of the table."""
        rng = np.random.default_rng([seed, self.people, len(self.states)])
        for _ in range(draws):
            sample = self.counts[rng.integers(self.people, size=self.people)]
            alike = [_in_common(sample[:, s], rng) for s in range(len(self.states))]
            yield _matrix(alike, rng)
            one = self.counts[rng.integers(self.people)]
            yield _matrix([row + own for row, own in zip(alike, one, strict=True)], rng)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chain with those of people drawn: the file describes the people, and is private."""
        from takifugu.dependence.influence import save_chains

        save_chains([self, *self.others()], path, private=True)

    def others(self, draws: int = 59, seed: int = 0) -> list[MarkovChain]:
        """The chains of people drawn anew, and of as many from those of the table: 59 of each are confidence 0.95."""
        return [MarkovChain(one.tolist(), states=self.states) for one in self.drawn(draws, seed)]


class PeoplePriors(BeliefsInTime):
    """The beliefs of a fitted chain, one for each time, and those of people drawn from what it was fitted to."""

    def __init__(self, chain: FittedChain, length: int, answer: Answer) -> None:
        """The beliefs of the chain itself; people are drawn when they are asked for."""
        self.chain, self.length = chain, length
        self._counting = Counting(chain, length, answer)
        self._beliefs = self._counting.beliefs()

    @property
    def people(self) -> int:
        """How many the chain was fitted to."""
        return self.chain.people

    @property
    def values(self) -> Sequence[int | float]:
        """What the answer may be, in the order of the laws of people drawn."""
        return self._counting.values

    def of_people(self, draws: int, seed: int) -> list[Array]:
        """The transition matrices of twice so many people: drawn anew, and from those of the table, in turn."""
        return list(self.chain.drawn(draws, seed))

    def laws(self, person: Array) -> Array:
        """P(answer | state at a time) of a person drawn, by time, state and value: in floats."""
        joint = joint_in_floats(person, _stationary(person), self._counting.powers, self.length)
        found: Array = joint / joint.sum(axis=2, keepdims=True)
        return found

    def believed(self, laws: Array, time: int) -> Belief:
        """The belief about a person drawn at a time, the first being 0, whose laws these are."""
        kept = [np.flatnonzero(row > _FAINTEST) for row in laws]
        finite = [
            Finite([self.values[k] for k in places.tolist()], row[places].tolist())
            for places, row in zip(kept, laws, strict=True)
        ]
        states = self.chain.states
        return Belief(
            dict(zip(states, finite, strict=True)),
            label=f"the time is {time + 1} of {self.length}, of a person drawn",
            shares=dict.fromkeys(states, _SMALL_SHARE),
        )


def fitted(table: object, *, state: str, time: str, by: str) -> FittedChain:
    """See `MarkovChain.fit`."""
    names, counts = transitions(table, state=state, time=time, by=by)
    if len(counts) < FEWEST:
        raise InputError(
            f"{len(counts)} people with two times or more are too few to tell how people differ, {FEWEST} are needed: "
            f"take chains that come from elsewhere and may be public, MarkovChain(transition), or several of them"
        )
    return FittedChain(counts, names)


def transitions(table: object, *, state: str, time: str, by: str) -> tuple[list[Hashable], Array]:
    """The states, and how often each was followed by each: by person, state, and the next one."""
    import narwhals as nw

    frame: Any = nw.from_native(cast(Any, table), pass_through=True)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if not hasattr(frame, "columns") or not hasattr(frame, "sort"):
        raise InputError("a chain is fitted to a table with the columns that state, time and by name")
    if len({state, time, by}) < 3:
        raise InputError("state, time and by must name different columns")
    if missing := [name for name in (state, time, by) if name not in frame.columns]:
        raise InputError(f"the table has no column {', '.join(map(repr, missing))}")
    frame = frame.select([by, time, state])
    if not len(frame) or any(frame[name].is_null().any() for name in (by, time, state)):
        raise InputError("the table has no rows, or cells without a value: a chain has a state at every time")
    frame = frame.sort([by, time])
    ends = stretches(frame[by].to_list())
    require_regular(instants(frame[time]), ends)
    seen = frame[state].to_list()
    if any(isinstance(one, float) and math.isnan(one) for one in seen):
        raise InputError("the table has cells without a value: a chain has a state at every time")
    names: list[Hashable] = sorted(set(seen), key=lambda one: (type(one).__name__, one))
    if not 2 <= len(names) <= _MOST_STATES:
        raise InputError(
            f"column {state!r} has {len(names)} different values, and a chain has 2 to {_MOST_STATES} states: put "
            f"numbers into bins first"
        )
    place = {name: k for k, name in enumerate(names)}
    codes: npt.NDArray[np.intp] = np.array([place[one] for one in seen], dtype=np.intp)
    counts = np.zeros((len(ends) - 1, len(names), len(names)))
    for person, (a, b) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        np.add.at(counts[person], (codes[a : b - 1], codes[a + 1 : b]), 1.0)
    return names, counts[counts.sum(axis=(1, 2)) > 0]


def joint_in_floats(transition: Array, start: Array, powers: Sequence[int], length: int) -> Array:
    """P(X_t = s, N = n) by time, state and power: claim 1 in floats."""
    states, values = len(powers), max(powers) * length + 1

    def shifted(rows: Array) -> Array:
        moved = np.zeros_like(rows)
        for k, power in enumerate(powers):
            moved[k, power:] = rows[k, : values - power]
        return moved

    forward = np.zeros((length, states, values))
    forward[0, range(states), powers] = start
    backward = np.zeros((length, states, values))
    backward[0, :, 0] = 1.0
    for t in range(1, length):
        forward[t] = shifted(transition.T @ forward[t - 1])
        backward[t] = transition @ shifted(backward[t - 1])
    found = np.empty((length, states, values))
    for t in range(length):
        for s in range(states):
            found[t, s] = np.convolve(forward[t, s], backward[length - 1 - t, s])[:values]
    return found


def _in_common(rows: Array, rng: np.random.Generator) -> Array:
    """What people have in common after one state, as pseudo-counts: a Dirichlet law of their rows, drawn."""
    from scipy.special import gammaln

    total = rows.sum(axis=1)
    mean = rows.sum(axis=0) + 1 / rows.shape[1]
    mean = mean / mean.sum()
    prior = _ALIKE[:, None] * mean
    likely = (gammaln(_ALIKE)[:, None] - gammaln(_ALIKE[:, None] + total)).sum(axis=1) + (
        gammaln(prior[:, None, :] + rows) - gammaln(prior)[:, None, :]
    ).sum(axis=(1, 2))
    chances = np.exp(likely - likely.max())
    found: Array = prior[int(rng.choice(len(_ALIKE), p=chances / chances.sum()))]
    return found


def _matrix(pseudo: Sequence[Array], rng: np.random.Generator) -> Array:
    found = np.maximum([rng.dirichlet(row) for row in pseudo], _LEAST)
    matrix: Array = found / found.sum(axis=1, keepdims=True)
    return matrix


def _stationary(transition: Array) -> Array:
    states = len(transition)
    system = transition.T - np.eye(states)
    system[-1] = 1.0
    found = np.maximum(np.linalg.solve(system, np.eye(states)[-1]), _FAINTEST)
    start: Array = found / found.sum()
    return start


def _whole_shares(row: Sequence[float]) -> list[Fraction]:
    """Shares as whole numbers of ten-thousandths, one at least, which keeps the fractions of a chain short."""
    whole = [max(1, round(number / sum(row) * _DIGITS)) for number in row]
    return [Fraction(number, sum(whole)) for number in whole]


# Tables of people in time: one row for each person and time, the times one step apart without gaps.


_SAME_STEP = 1e-9  # of a step, where times are floats


def instants(column: "nw.Series[IntoSeries]") -> npt.NDArray[np.number]:
    """The times of a column of narwhals as numbers."""
    found = np.asarray(column.to_list()) if not column.dtype.is_numeric() else np.asarray(column.to_numpy())
    if found.dtype.kind == "O" and len(found) and hasattr(found[0], "isoformat"):
        found = np.array([_of_utc(one).isoformat() for one in found], dtype="datetime64[us]")
    if found.dtype.kind == "M":
        found = found.astype("datetime64[us]").astype(np.int64)
    if found.dtype.kind not in "iuf" or not np.isfinite(found).all():
        raise InputError("times must be numbers or dates, one step apart")
    return found.astype(np.int64) if found.dtype.kind == "u" else found


def stretches(people: Sequence[object]) -> npt.NDArray[np.intp]:
    """Where each person's rows begin, and the end of the last one's."""
    starts = [k for k, one in enumerate(people) if k == 0 or one != people[k - 1]]
    return np.array([*starts, len(people)], dtype=np.intp)


def require_regular(times: npt.NDArray[np.generic], ends: npt.NDArray[np.intp]) -> None:
    """Refuse gaps, times that stand twice, and steps that differ."""
    steps = np.diff(times)
    inside = np.ones(len(steps), dtype=bool)
    inside[ends[1:-1] - 1] = False
    steps = steps[inside]
    if not len(steps):
        return
    if not (steps > 0).all():
        raise InputError("a time stands twice for one person: there must be one row for each person and time")
    step = steps.min()
    if not (np.abs(steps - step) <= _SAME_STEP * step).all():
        raise InputError(
            "the times of a person must be one step apart, the same step for everybody, without gaps: take a coarser "
            "step of time at which everybody has a value, and number what is of no one length, such as months"
        )


def _of_utc(one: datetime.date) -> datetime.date:
    """A date, or a time without its zone: days that clocks make longer or shorter are not of one length."""
    if not isinstance(one, datetime.datetime) or one.tzinfo is None:
        return one
    return one.astimezone(datetime.UTC).replace(tzinfo=None)
