"""The least noise that is enough for every law in the bands: a promise for the population, with a proof.

With probability `level` over independent rows, the population's laws lie in the bands; then whoever knows them faces at
most ε. The search is in floats; what is returned has been proved in ball arithmetic (proofs/band.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy.typing as npt

from takifugu.divergences.line.band import BandLoss
from takifugu.divergences.proved.band import band_upper
from takifugu.errors import CalibrationError
from takifugu.laws.band import Band, level_a_side
from takifugu.laws.lattice import Lattice
from takifugu.mechanisms.search import least_variance
from takifugu.problems.pairs import Pairs, Secret

_MARGIN = 1e-7  # the share of the budget left for the enclosure
_TRIES = 8


@dataclass(frozen=True)
class Banded:
    """Noise that is proved to be enough for every law in the bands.

    `bound` is the proved bound on the loss of any of them, `place` the belief and the directed pair that bind.
    """

    theta: float
    bound: float
    level: float
    side: float
    place: tuple[int, tuple[Secret, Secret]]


def bands_of(
    beliefs: Sequence[Mapping[Secret, npt.ArrayLike]], *, level: float, points: int
) -> tuple[list[dict[Secret, Band]], float]:
    """A band for each secret of each belief, all of which hold at once with probability `level`; and the side."""
    side = level_a_side(level, laws=sum(len(belief) for belief in beliefs), points=points)
    return [{s: Band.of_counts(c, side=side) for s, c in belief.items()} for belief in beliefs], side


def band_noise(
    lattice: Lattice,
    beliefs: Sequence[Mapping[Secret, npt.ArrayLike]],
    pairs: Pairs,
    *,
    alpha: float,
    epsilon: float,
    level: float = 0.95,
) -> Banded:
    """The least θ, up to a hair, at which the bound over the bands is proved to be at most ε.

    `beliefs` holds the counts of each secret on the lattice, one mapping per belief.
    """
    bands, side = bands_of(beliefs, level=level, points=len(lattice))
    places = [(b, pair) for b in range(len(bands)) for pair in pairs.directed()]
    theta, binding = searched(lattice, bands, pairs, alpha=alpha, epsilon=epsilon)
    raised = 1e-6
    for _ in range(_TRIES):
        if not math.isfinite(theta):
            break
        bounds = _bounds(lattice, bands, places, binding, alpha=alpha, epsilon=epsilon, theta=theta)
        if bounds is not None:
            return Banded(theta, bounds, float(level), side, places[binding])
        theta, raised = (theta or 1e-3 * lattice.step) * (1 + raised), 4 * raised
    raise CalibrationError(
        "no noise could be proved to be enough for the bands: use a coarser step, or confidence instead of a proof"
    )


def searched(
    lattice: Lattice, bands: Sequence[Mapping[Secret, Band]], pairs: Pairs, *, alpha: float, epsilon: float
) -> tuple[float, int]:
    """The least θ by quadrature alone, and the number of the place that binds: what a proof starts from."""
    variance, binding = 0.0, 0
    for k, (band, (i, j)) in enumerate((band, pair) for band in bands for pair in pairs.directed()):
        loss = BandLoss(band[i], band[j])
        needed = least_variance(
            lambda z, loss=loss: loss.bound(alpha=alpha, noise=math.sqrt(z)),  # type: ignore[misc]
            epsilon=epsilon * (1 - _MARGIN),
            floor=variance,
            start=float(len(lattice)) ** 2,
            rtol=1e-9,
        )
        if not needed <= variance:
            variance, binding = needed, k
    return math.sqrt(variance) * lattice.step, binding


def _bounds(
    lattice: Lattice,
    bands: list[dict[Secret, Band]],
    places: list[tuple[int, tuple[Secret, Secret]]],
    first: int,
    *,
    alpha: float,
    epsilon: float,
    theta: float,
) -> float | None:
    """The largest proved bound over all places, or None as soon as one is above the budget."""
    largest = 0.0
    for b, (i, j) in [places[first], *places[:first], *places[first + 1 :]]:
        upper = band_upper(lattice, bands[b][i], bands[b][j], alpha=alpha, theta=theta)
        if not upper <= epsilon:
            return None
        largest = max(largest, upper)
    return largest
