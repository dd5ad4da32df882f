"""Whether the order of the rows is random, as the guarantee of a release takes it to be.

Under a random order every arrangement of two secrets over their rows' places is as likely as any other. So of a set of
places that was chosen without a look at them the number that one secret holds is hypergeometric, and Hoeffding's bound
for draws without replacement says how rare it is (proofs/audit.md, claim 5). The sets are stretches of every length,
and the places that a learner points to from the published values of other rows, smoothed over their places.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.audits import features
from takifugu.audits.dividing import halves
from takifugu.audits.findings import OrderTells
from takifugu.audits.learners import boosting, logistic
from takifugu.audits.rows import Rows
from takifugu.problems.pairs import Pair
from takifugu.releases.drift import coin_divergence

SHARE = 0.01  # of the chance of a false alarm that is spent on the order: one that tells does so far beyond chance
_SHORTEST = 4  # places of a stretch
_CUTS = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99])


class _Held(NamedTuple):
    """A set of places, how many of them the first secret holds, and the exponent of how rare that is."""

    places: int
    hits: int
    exponent: float


def order_tells(rows: Rows, pair: Pair, *, chance: float, seed: int) -> OrderTells | None:
    """What places tell of a pair; of rows in a random order something is found with this chance at most."""
    mine = np.flatnonzero((rows.secrets == pair[0]) | (rows.secrets == pair[1]))
    mine = mine[np.argsort(rows.place[mine], kind="stable")]
    stretches = list(_stretches(rows.secrets[mine] == pair[0]))
    pointed = list(_pointed(rows, pair, seed))
    for sets in (stretches, pointed):
        if not sets:
            continue
        most = max(sets, key=lambda one: one.exponent)
        # Half of the chance for either kind of sets, and for each of them two tails.
        rare = math.log(4 * len(sets) / chance)
        if most.exponent > rare:
            share = float((rows.secrets[mine] == pair[0]).mean())
            return OrderTells(pair, most.places, most.hits, share, chance * math.exp(rare - most.exponent))
    return None


def _stretches(is_first: npt.NDArray[np.bool_]) -> Iterator[_Held]:
    """Stretches of 4, 8, 16 … places up to half of them, each half over the next, and the last ones."""
    total, share, width = np.concatenate([[0], np.cumsum(is_first)]), float(is_first.mean()), _SHORTEST
    while 2 * width <= len(is_first):
        starts = np.append(np.arange(0, len(is_first) - width, width // 2), len(is_first) - width)
        hits = total[starts + width] - total[starts]
        for held, exponent in zip(hits.tolist(), _exponents(hits, width, share).tolist(), strict=True):
            yield _Held(width, held, exponent)
        width *= 2


def _pointed(rows: Rows, pair: Pair, seed: int) -> Iterator[_Held]:
    """Places of rows that are tested to which learners point who know other rows, and of these only the places."""
    first, second = halves(rows, pair, seed)
    taught = np.concatenate([first.teach, second.teach])
    known = np.repeat(np.array([1, 0]), [len(first.teach), len(second.teach)])
    tested = np.concatenate([first.test, second.test])
    is_first = np.repeat([True, False], [len(first.test), len(second.test)])
    tuned = np.concatenate([first.tune, second.tune])
    shown = features.order(rows, taught)
    for learner in (boosting, logistic):
        scores = learner(shown[taught], known, shown[np.concatenate([tuned, tested])], seed)
        for cut in np.unique(np.quantile(scores[: len(tuned)], _CUTS)):
            chosen = scores[len(tuned) :] >= cut
            if held := int(chosen.sum()):
                hits = int(is_first[chosen].sum())
                yield _Held(held, hits, float(_exponents(np.array([hits]), held, float(is_first.mean()))[0]))


def _exponents(hits: Array, places: int, share: float) -> Array:
    return np.asarray(places * coin_divergence(hits / places, share), dtype=np.float64)
