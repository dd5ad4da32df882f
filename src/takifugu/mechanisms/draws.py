"""Draws from the posterior of the laws on a lattice or a list, the same for the same seed.

N draws that all hold, N = ⌈ln(1−c)/ln c⌉, are evidence for the population: had less than a share c of the posterior
been within the budget, all N would have held with probability below 1 − c. This is no proof (proofs/population.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.channels import SparseChannel
from takifugu.errors import InputError, MechanismError
from takifugu.laws import (
    CELL_ROWS,
    Finite,
    Law,
    Value,
    counted,
    key,
    noisy_draws,
    number,
    posterior_draws,
    redrawn,
    unseen_ends,
    with_unseen,
    without_noise,
)
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.problems import Belief, Pairs, Problem, Secret, belief_names, is_of_all

MOST_CONFIDENT = 0.999  # which takes some seven thousand draws
APART = 1_000_003  # between the seeds of draws that must have nothing in common
_FAR = 64 * APART  # between the seeds of channels that are found one after another: each uses up to 30


def own_seed(seed: int, number: int) -> int:
    """The seed of one of several channels, each of which is judged by draws that none before it has seen."""
    return seed + number * _FAR


def rank(value: object) -> tuple[object, ...]:
    """Where a secret or value stands: truth values, numbers, labels, rows, then anything else by what it is called.

    >>> sorted(["b", 2, True, 1.5, "a", (1, "x")], key=rank)
    [True, 1.5, 2, 'a', 'b', (1, 'x')]
    """
    if isinstance(value, bool):
        return 0, value
    if number(value):
        return 1, value
    if isinstance(value, str):
        return 2, value
    if isinstance(value, tuple):
        return 3, len(value), *map(rank, value)
    return 4, repr(value)


def rank_places(of: Sequence[object]) -> npt.NDArray[np.intp]:
    """The places of these in the order of their rank."""
    return np.array(sorted(range(len(of)), key=lambda k: rank(of[k])), dtype=np.intp)


def column_places(problem: Problem) -> npt.NDArray[np.intp]:
    """The places of the columns of a row in the order of their names; none where values are no such rows."""
    columns = () if problem.answer is None else problem.answer.columns
    return rank_places(columns if len(columns) > 1 else ())


def turned(problem: Problem, value: Value) -> Value:
    """A row with its columns in the order of their names; what is no row of the problem's columns as it is."""
    order = column_places(problem).tolist()
    return tuple(value[k] for k in order) if isinstance(value, tuple) and len(value) == len(order) else value


def value_places(problem: Problem, values: Sequence[Value]) -> npt.NDArray[np.intp]:
    """The places of values in an order of their own, whatever order they and their columns were named in."""
    return _places_by(values, column_places(problem).tolist())


def secret_places(problem: Problem) -> npt.NDArray[np.intp]:
    """The places of a problem's secrets in an order of their own, whatever order they were named in."""
    names = () if problem.answer is None else problem.answer.secret
    return _places_by(problem.pairs.secrets, rank_places(names).tolist() if len(names) > 1 else [])


def _places_by(of: Sequence[object], columns: Sequence[int]) -> npt.NDArray[np.intp]:
    return rank_places(
        [tuple(one[k] for k in columns) if isinstance(one, tuple) and len(one) == len(columns) else one for one in of]
    )


class Counted(NamedTuple):
    """What is known of one secret's law on a lattice: how often each point was seen, and the pseudo-counts."""

    counts: Array
    pseudo: Array


def draws_needed(confidence: float, *, halvings: int = 0) -> int:
    """How many draws must hold: the least N with confidence**N <= (1 − confidence)/2**halvings.

    >>> draws_needed(0.95), draws_needed(0.99)
    (59, 459)
    """
    c = real("confidence", confidence, "a number from 0.5 to 0.999, such as 0.95")
    if not 0.5 <= c <= MOST_CONFIDENT:
        meant = f": {c:g} % is written {c / 100:g}" if 50 <= c <= 99.9 else ""
        raise InputError(f"confidence must be a number from 0.5 to 0.999, such as 0.95; got {confidence!r}{meant}")
    chance = (1 - c) / 2**halvings
    needed = max(1, math.ceil(math.log(chance) / math.log(c)))
    while c**needed > chance:  # the quotient may have been rounded down
        needed += 1
    return needed


def joint_draws(
    beliefs: Sequence[Mapping[Secret, Counted]],
    secrets: Sequence[Secret],
    draws: int,
    seed: int,
    support: npt.NDArray[np.intp] | None = None,
) -> Array:
    """Laws by (belief, draw, secret, point), the centre first; belief and secret by their positions seed each.

    `support` are the places of the points' columns, of rows to which others that their columns made may be added. Such
    a list has no ends beyond which values may lie, but values that nobody was seen with: in one draw of two, for each
    law by itself, they have as much as rows like these are expected to miss (`with_unseen`).
    """
    laws = []
    for b, belief in enumerate(beliefs):
        per_secret = []
        for s, secret in enumerate(secrets):
            counts, pseudo = belief[secret]
            added = pseudo
            if support is not None and is_smoothed(pseudo):
                added = redrawn(counts, pseudo, support, draws, [seed, b, s, 2])
            elif support is not None:
                missed = np.random.default_rng([seed, b, s, 3]).random(draws) < 0.5
                added = np.where(missed[:, None], with_unseen(counts, pseudo), pseudo)
            drawn = posterior_draws(counts, added, draws, [seed, b, s])
            per_secret.append(np.concatenate([counted(counts, pseudo)[None], drawn]))
        laws.append(np.stack(per_secret, axis=1))
    return np.stack(laws)


def is_smoothed(pseudo: Array) -> bool:
    """Whether more rows were added than a law or a cell starts from: then they were made of the rows that were seen."""
    return float(pseudo.sum()) > CELL_ROWS + 1


@dataclass(frozen=True)
class LatticeDraws:
    """The laws of every draw, and which of them are compared: `first[k]` against `second[k]`, rows of `laws`.

    Rows are by belief, draw (the centre first) and secret; each secret stands there twice, the second time with mass
    beyond the largest and the least value seen. With that it only ever comes first, since as what is compared with it
    would hide a difference: these places are more than the draws without it, and never ask for less.
    """

    laws: Array
    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    draws: int
    secrets: tuple[Secret, ...]

    @property
    def centre(self) -> "LatticeDraws":
        """The places of the centre alone."""
        kept = self.first // (2 * len(self.secrets)) % (1 + self.draws) == 0
        return replace(self, first=self.first[kept], second=self.second[kept])

    def named(self, place: int) -> tuple[int, int | None, tuple[Secret, Secret]]:
        """The belief, the draw (None for the centre) and the two secrets of a place."""
        size = len(self.secrets)
        belief, draw = divmod(int(self.first[place]) // (2 * size), 1 + self.draws)
        a, b = (self.secrets[int(side[place]) % size] for side in (self.first, self.second))
        return belief, draw - 1 if draw else None, (a, b)


def lattice_draws(beliefs: Sequence[Mapping[Secret, Counted]], pairs: Pairs, draws: int, seed: int) -> LatticeDraws:
    """What noise on a lattice must withstand: the draws, and each with what may lie beyond the values seen."""
    laws = joint_draws(beliefs, pairs.secrets, draws, seed)
    wide = laws.copy()
    is_wide = np.zeros((len(beliefs), len(pairs.secrets)), dtype=bool)
    for b, belief in enumerate(beliefs):
        for s, secret in enumerate(pairs.secrets):
            counts, pseudo = belief[secret]
            ends = unseen_ends(counts)
            # Pseudo-rows of other cells have ends of their own, and the cell's rows are drawn without them as well.
            if ends.any() and pseudo.sum() < CELL_ROWS:
                is_wide[b, s] = True
                wide[b, 1:, s] = posterior_draws(counts, pseudo + ends, draws, [seed, b, s, 1])
    size, number = len(pairs.secrets), {secret: k for k, secret in enumerate(pairs.secrets)}
    i, j = np.array([(number[a], number[b]) for a, b in pairs.directed()]).T
    starts = 2 * size * np.arange(len(beliefs) * (1 + draws)).reshape(len(beliefs), -1)
    first = [(starts[:, :, None] + i).ravel()]
    second = [(starts[:, :, None] + j).ravel()]
    for b in np.flatnonzero(is_wide.any(axis=1)).tolist():
        kept = is_wide[b, i]
        first.append((starts[b, 1:, None] + size + i[kept]).ravel())
        second.append((starts[b, 1:, None] + j[kept]).ravel())
    flat = np.concatenate([laws, wide], axis=2).reshape(-1, laws.shape[3])
    return LatticeDraws(flat, np.concatenate(first), np.concatenate(second), draws, tuple(pairs.secrets))


def drawn_laws(problem: Problem, draws: int, seed: int) -> Array:
    """Laws of a problem by (belief, draw, secret, value), the centre first, from what it rests on.

    They follow from the seed, the belief's position and the places of secrets and values in an order of their own, not
    from the order in which they were named. Of private counts half of the draws are of the population and half of the
    sample, which noise hides as well.
    """
    values, secrets = table_of(problem).values, problem.pairs.secrets
    order, names = value_places(problem, values), secret_places(problem)
    ordered, private = [secrets[k] for k in names.tolist()], is_private(problem)
    behind = [
        {secret: Counted(counts[order], pseudo[order]) for secret, (counts, pseudo) in belief.items()}
        for belief in (_behind(problem) if private else posterior(problem))
    ]
    if private:
        laws = _private_laws(problem, behind, ordered, draws, seed)
    else:
        support = places_of_columns([turned(problem, values[k]) for k in order.tolist()])
        laws = joint_draws(behind, ordered, draws, seed, support)
    return laws[:, :, np.argsort(names)][:, :, :, np.argsort(order)]


def _private_laws(
    problem: Problem, behind: Sequence[Mapping[Secret, Counted]], secrets: Sequence[Secret], draws: int, seed: int
) -> Array:
    laws = []
    for b, belief in enumerate(behind):
        per_secret = []
        for s, secret in enumerate(secrets):
            noisy, pseudo = belief[secret]
            centre = counted(without_noise(noisy), pseudo)[None]
            rate = 0.5 * (0.0 if problem.answer is None else problem.answer.private)
            per_secret.append(np.concatenate([centre, *noisy_draws(noisy, pseudo, rate, draws, [seed, b, s])]))
        laws.append(np.stack(per_secret, axis=1))
    return np.stack(laws)


# What the laws of a problem rest on, and so what draws of the population's laws are drawn from.

_OTHER_VALUES = "the counts behind the laws must be about the same values: fit all beliefs on the same lists"


def is_private(problem: Problem) -> bool:
    """Whether the laws rest on private counts."""
    return problem.answer is not None and problem.answer.private > 0


def posterior(problem: Problem) -> list[dict[object, Counted]]:
    """What each law rests on: counts and pseudo-counts, for every belief and secret; noisy counts are projected."""
    found = _behind(problem)
    if is_private(problem):
        return [{who: Counted(without_noise(noisy), g) for who, (noisy, g) in here.items()} for here in found]
    return found


def _behind(problem: Problem) -> list[dict[object, Counted]]:
    found = []
    for belief in problem.beliefs:
        here = {}
        for secret in problem.pairs.secrets:
            if secret in belief.counted:
                here[secret] = _in_order(belief[secret], Counted(*belief.counted[secret]), problem)
            elif belief[secret].space == "values":
                here[secret] = _by_hand(belief[secret], problem)
            else:
                raise MechanismError(
                    "confidence draws from counts, and these priors rest on none: fit them with Raw on a lattice "
                    "(bounds and step) or with Row, or give Finite laws whose weights are counts"
                )
        found.append(here)
    if len({array.shape for here in found for counts in here.values() for array in counts}) > 1:
        raise InputError(_OTHER_VALUES)
    return found


def with_rows(problem: Problem) -> Problem:
    """The problem with the number of rows behind each law, which of priors made by hand are their weights."""
    beliefs = [
        Belief(
            belief,
            label=belief.label,
            rows=_by_weights(belief) | belief.rows,
            histograms=belief.histograms,
            counted=belief.counted,
            drawn=belief.drawn,
            shares=belief.shares,
        )
        for belief in problem.beliefs
    ]
    return replace(problem, beliefs=tuple(beliefs))


def require_rows_behind(problem: Problem) -> None:
    """Refuse what is said about the population where it does not say on how many rows it rests.

    That the rows were there no file can prove; so their number is named wherever the evidence is.
    """
    for place, belief in enumerate(problem.beliefs):
        least, weights = int(is_of_all(belief)), _by_weights(belief)
        for secret in problem.pairs.secrets:
            rows = belief.rows.get(secret)
            if rows is None or rows < least or rows != weights.get(secret, rows):
                raise InputError(
                    f"beliefs[{place}].rows must say how many rows there are with each secret, as what is said about "
                    f"the population rests on them: make the certificate anew from the rows"
                )


def rows_in_words(problem: Problem) -> str:
    """On how many rows the evidence rests, and whose word that is."""
    told = []
    for name in belief_names(problem.beliefs):
        rows = [dict(one.rows) for one in problem.beliefs if belief_names([one]) == [name]]
        most = max(rows, key=lambda one: sum(one.values()))  # cells have a part of them each
        whose = "" if name is None else f" of {name!r}"
        told.append(f"{sum(most.values()):,} rows{whose} ({min(most.values()):,} of the rarest secret)")
    return f"it rests on {' and '.join(told)}, by the word of whoever holds them: nothing here proves that number"


def _by_weights(belief: Belief) -> dict[object, int]:
    """Of finite laws made by hand, whose weights stand for rows."""
    laws = {secret: law for secret, law in belief.items() if secret not in belief.counted}
    return {secret: int(law.total) for secret, law in laws.items() if law.space == "values"}


def _in_order(law: Law, counted: Counted, problem: Problem) -> Counted:
    """The counts behind a law, in the order in which a channel takes the values: beliefs may list them differently."""
    if law.space != "values":
        return counted
    wanted = [key(value) for value in table_of(problem).values]
    place = {key(value): where for where, value in enumerate(law.values)}
    if place.keys() != set(wanted) or len(counted.counts) != len(place):
        raise InputError(_OTHER_VALUES)
    order = np.array([place[one] for one in wanted], dtype=np.intp)
    return Counted(counted.counts[order], counted.pseudo[order])


def _by_hand(law: Finite, problem: Problem) -> Counted:
    """A law whose weights are counts, with one pseudo-row spread evenly: its own, and nothing of another's."""
    if not (law.weights == np.rint(law.weights)).all() or law.total < 2:
        raise InputError("confidence needs laws whose weights are counts of rows: give whole numbers")
    table = table_of(problem)
    channel_order = SparseChannel.constant(table.values, table.values[0]).weights_of(law)
    return Counted(channel_order, np.full(len(table.values), 1.0 / len(table.values)))


def places_of_columns(values: Sequence[Value]) -> npt.NDArray[np.intp]:
    """For each value that a channel takes, the place of its entry among those of every column, values by columns."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    if len({len(row) for row in rows}) > 1:
        raise InputError(_OTHER_VALUES)
    columns = []
    for column in zip(*rows, strict=True):
        place = {one: k for k, one in enumerate(dict.fromkeys(map(key, column)))}
        columns.append([place[key(one)] for one in column])
    return np.array(columns, dtype=np.intp).T


def points_of(problem: Problem) -> Array:
    """The points of the lattice that a problem is about."""
    answer = problem.answer
    points = getattr(answer.domain, "points", None) if answer is not None else None
    if points is None:
        raise MechanismError(
            "confidence needs values on a lattice: give Raw bounds and a step, or publish with Row from a finite list"
        )
    found: Array = points
    if any(len(part) != len(found) for one in problem.beliefs for pair in one.counted.values() for part in pair):
        raise InputError("the counts behind the laws are not about the points of the lattice")
    return found
