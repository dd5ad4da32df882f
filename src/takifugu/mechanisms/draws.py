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
from takifugu.errors import InputError
from takifugu.laws.fitting.counts import CELL_ROWS, counted, posterior_draws, unseen_ends
from takifugu.laws.fitting.smoothing import redrawn
from takifugu.problems.pairs import Pairs, Secret

APART = 1_000_003  # between the seeds of draws that must have nothing in common


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
    if not 0.5 <= c <= 0.999:
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

    `support` are the places of the points' columns, of rows to which others that their columns made may be added.
    """
    laws = []
    for b, belief in enumerate(beliefs):
        per_secret = []
        for s, secret in enumerate(secrets):
            counts, pseudo = belief[secret]
            added = pseudo
            if support is not None and is_smoothed(pseudo):
                added = redrawn(counts, pseudo, support, draws, [seed, b, s, 2])
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
