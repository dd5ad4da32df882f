"""Whether the order of the rows is random, as the guarantee of a release takes it to be.

Under a random order every arrangement of two secrets over their rows' places is as likely as any other. So of a set of
places that was chosen without a look at them the number that one secret holds is hypergeometric, and Hoeffding's bound
for draws without replacement says how rare it is (proofs/audit.md, claim 5). The sets are stretches of every length,
and the places that a learner points to from the published values of other rows, smoothed over their places. Beside them
equal parts of the table are compared all at once with those of simulated orders.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.audits import attacks as features
from takifugu.audits.attacks import boosting, halves, logistic
from takifugu.audits.rows import Rows
from takifugu.problems import Diagnostic, Pair
from takifugu.releases import coin_divergence

SHARE = 0.01  # of the chance of a false alarm that is spent on the order: one that tells does so far beyond chance
_WAYS = 3  # to look for it, each with its part of the chance
_SHORTEST = 4  # places of a stretch
_MOST_SIMULATED = 130_000  # orders: enough for ten pairs at the usual level
_MOST_PARTS = 64  # of equal size that are compared
_CUTS = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99])


class _Held(NamedTuple):
    """A set of places, how many of them the first secret holds, and the exponent of how rare that is."""

    places: int
    hits: int
    exponent: float


def order_tells(rows: Rows, pair: Pair, *, chance: float, seed: int) -> Diagnostic | None:
    """What places tell of a pair; of rows in a random order something is found with this chance at most."""
    mine = np.flatnonzero((rows.secrets == pair[0]) | (rows.secrets == pair[1]))
    mine = mine[np.argsort(rows.place[mine], kind="stable")]
    is_first = rows.secrets[mine] == pair[0]
    for sets in (list(_stretches(is_first)), list(_pointed(rows, pair, seed))):
        if not sets:
            continue
        most = max(sets, key=lambda one: one.exponent)
        # A third of the chance for each way to look, and of every set there are two tails.
        rare = math.log(2 * _WAYS * len(sets) / chance)
        if most.exponent > rare:
            seen = (
                f"of {most.places:,} places {most.hits:,} are of {pair[0]!r}, which has {is_first.mean():.1%} of both"
            )
            return Diagnostic(
                "order-tells", first=pair[0], second=pair[1], seen=seen, chance=chance * math.exp(rare - most.exponent)
            )
    if (found := _varies(is_first, chance / _WAYS, seed)) is not None:
        return Diagnostic(
            "order-tells",
            first=pair[0],
            second=pair[1],
            seen=f"the share of {pair[0]!r} differs from part to part of the table",
            chance=found * _WAYS,
        )
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
    shown = features.order_scores(rows, taught)
    for learner in (boosting, logistic):
        scores = learner(shown[taught], known, shown[np.concatenate([tuned, tested])], seed)
        for cut in np.unique(np.quantile(scores[: len(tuned)], _CUTS)):
            chosen = scores[len(tuned) :] >= cut
            if held := int(chosen.sum()):
                hits = int(is_first[chosen].sum())
                yield _Held(held, hits, float(_exponents(np.array([hits]), held, float(is_first.mean()))[0]))


def _varies(is_first: npt.NDArray[np.bool_], chance: float, seed: int) -> float | None:
    """How rarely the shares in equal parts of the table vary as much in simulated random orders; None if too often."""
    from scipy.stats import chi2

    parts = 1 << max(0, min(_MOST_PARTS, len(is_first) // (2 * _SHORTEST)).bit_length() - 1)
    first = int(is_first.sum())
    simulated = math.ceil(2 / chance)
    if parts < 2 or not 0 < first < len(is_first) or simulated > _MOST_SIMULATED:
        return None  # at such a level nothing could be said
    sizes = np.array([len(part) for part in np.array_split(is_first, parts)])
    held = np.add.reduceat(is_first.astype(np.int64), np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, first, size=simulated, method="marginals")
    hits, share = np.concatenate([held[None, :], drawn]), first / len(is_first)
    # How rare the variation is between two parts, four, and so on, by the usual law: of whichever is rarest, only the
    # rank among the simulated orders is used, so that law need not hold.
    rarest = np.ones(len(hits))
    while len(sizes) > 1:
        apart = ((hits - sizes * share) ** 2 / sizes).sum(axis=1) / (share * (1 - share))
        rarest = np.minimum(rarest, chi2.sf(apart, len(sizes) - 1))
        hits, sizes = hits[:, ::2] + hits[:, 1::2], sizes[::2] + sizes[1::2]
    found = float((rarest <= rarest[0]).mean())  # the order that was seen is one of them
    return found if found <= chance else None


def _exponents(hits: Array, places: int, share: float) -> Array:
    return np.asarray(places * coin_divergence(hits / places, share), dtype=np.float64)
