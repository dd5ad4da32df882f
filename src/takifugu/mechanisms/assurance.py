"""The promise for the population, proved: with a stated probability over independent rows, and no model.

For Gaussian noise on a lattice, bands around each secret's distribution function (proofs/band.md). For finite channels
the same and bounds on the share of each value (proofs/bounds.md); between many values, a ball of total variation around
each secret's law that holds the population's by McDiarmid's inequality (proofs/finite-channels.md).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.channels import Channel, FiniteChannel, GaussianNoise
from takifugu.divergences import BandLoss, band_upper
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Band, Bounds, Lattice, Value, level_a_side, number
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.closed_form import least_variance
from takifugu.mechanisms.draws import posterior
from takifugu.mechanisms.optimal.bounded import EveryLaw, bounded
from takifugu.mechanisms.optimal.finite_problem import has_inputs, table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.program import Indices, allowed_moves
from takifugu.mechanisms.optimal.repair import repaired
from takifugu.problems import Guarantee, MaxDivergence, Pairs, Problem, RenyiDivergence, Secret

# The least noise that is enough for every law in the bands: a promise for the population, with a proof.
#
# With probability `level` over independent rows, the population's laws lie in the bands; then whoever knows them
# faces at most ε. The search is in floats; what is returned has been proved in ball arithmetic (proofs/band.md).

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


# A finite channel that is proved to keep its promise for every law that the rows allow, and so for the population's.
#
# The set of laws follows from the counts and the level alone: bounds on the share of each value and, for numbers, on
# the shares up to each (proofs/bounds.md). The law that the problem has is within it too.

MOST_VALUES = 128  # of a list whose laws are bounded value by value; the program of a longer one takes minutes


def every_law(
    problem: Problem, asked: Guarantee, counts: list[Array], *, level: float, laws: int, reach: Array | None = None
) -> EveryLaw:
    """The promise for every law within the bounds of these counts, one list for each law of the problem.

    `laws` is how many bounds have to hold at once, with probability `level`, here and elsewhere. `reach` is a radius
    around each of the problem's laws that the promise is asked for as well.
    """
    order, ordered = _order(problem)
    bounds = [Bounds.of_counts(seen[order], level=level, laws=laws, ordered=ordered) for seen in counts]
    return _within(problem, asked, bounds, reach)


def likely_laws(problem: Problem, within: EveryLaw, *, deviations: float, reach: Array) -> EveryLaw:
    """The same promise for fewer laws: those whose shares and sums are within so many deviations in the posterior too.

    A way to look for channels that withstand draws; nothing is said of the population by it. Those within the radius
    `reach` around each of the problem's laws stay, since for them the promise was asked for.
    """
    order, ordered = _order(problem)
    behind = [belief[secret] for belief in posterior(problem) for secret in problem.pairs.secrets]
    likely = [Bounds.likely((c + g)[order], deviations=deviations, ordered=ordered) for c, g in behind]
    laws = table_of(problem).laws[:, order]
    held = zip(within.bounds, likely, laws, reach.tolist(), strict=True)
    return replace(within, bounds=tuple(one.and_also(other.holding(law, radius=r)) for one, other, law, r in held))


def noisy_laws(problem: Problem, asked: Guarantee, drawn: Array, *, deviations: float, reach: Array) -> EveryLaw:
    """The same around laws that were drawn from private counts: (belief, draw, secret, value), the centre first."""
    order, ordered = _order(problem)
    each = drawn[:, 1:, :, order].swapaxes(1, 2).reshape(-1, drawn.shape[1] - 1, drawn.shape[3])
    likely = [Bounds.of_draws(laws, deviations=deviations, ordered=ordered) for laws in each]
    return _within(problem, asked, likely, reach)


def _order(problem: Problem) -> tuple[Indices, bool]:
    """The places of the values in the order of their bounds, and whether it is one of numbers."""
    numbers = _numbers(table_of(problem).values)
    return (np.arange(len(table_of(problem).values)), False) if numbers is None else (np.argsort(numbers), True)


def _within(problem: Problem, asked: Guarantee, bounds: list[Bounds], reach: Array | None) -> EveryLaw:
    """The promise for every law within bounds that are moved apart to hold the problem's own, and their radius."""
    table, (order, _) = table_of(problem), _order(problem)
    around = np.zeros(len(bounds)) if reach is None else reach
    held = zip(bounds, table.laws, around.tolist(), strict=True)
    return EveryLaw(
        bounds=tuple(one.holding(law[order], radius=radius) for one, law, radius in held),
        shares=table.laws / table.laws.sum(axis=1, keepdims=True),
        order=order,
        pairs=table.pairs,
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=None if asked.odds_beside is None else Fraction(asked.odds_beside),
    )


def _numbers(values: tuple[Value, ...]) -> Array | None:
    """What orders the values: their own numbers."""
    return np.array(values, dtype=np.float64) if all(map(number, values)) else None


def bounded_channel(
    rule: Optimal, problem: Problem, asked: Guarantee, promise: EveryLaw, *, touching: list[Array] | None = None
) -> Found:
    """The channel that costs least, about, among those that keep the promise for every law: repaired and proved.

    `touching` is what one search after another remembers (`takifugu.mechanisms.optimal.bounded`).
    """
    if rule.local_price is not None:
        raise MechanismError(
            "assurance='band' knows no local_price: leave one of them out, or use confidence alone, which knows it"
        )
    program = rule.whole_program(problem, asked)
    allowed = allowed_moves(program)
    matrix = bounded(program, promise, allowed, touching=touching)
    if matrix is None:
        raise MechanismError(
            "no channel was found in time that keeps these utility constraints for every law that the rows allow: "
            "drop a constraint, "
            "guarantee less, give a coarser domain, or use confidence alone"
        )
    counts = repaired(matrix, promise, allowed=None if program.forbidden is None else ~program.forbidden)
    values = table_of(problem).values
    return Found(FiniteChannel(values, values, counts), options=rule.options)


_TOO_FEW = (
    "a secret, or its part in a cell of what is known, has too few rows for a proof about the population: merge it "
    "with another, from which it is then not hidden, "
    "name fewer known columns, give a coarser domain, or use confidence alone"
)


@dataclass(frozen=True)
class ProvedBand:
    """With probability `level` over independent rows, the population's own laws are within the promise: proved.

    `without` is the error that the promise for the sample alone would have cost.
    """

    kind: ClassVar[str] = "band"

    level: float
    without: float

    @property
    def sentence(self) -> str:
        """What is promised."""
        return (
            f"with probability {100 * self.level:g} % over independent rows, for values from a list that was not "
            f"chosen from them, an adversary who knows the population itself is within the guarantee, whatever its "
            f"laws: "
            f"proved"
        )

    def holds(self, problem: Problem, channel: Channel, asked: Guarantee) -> bool:
        """Prove it again."""
        if not all(type(part.divergence) in (RenyiDivergence, MaxDivergence) for part in asked.parts):
            return False  # nothing is known of others for every law within bounds
        if channel.publishes == "values" and channel.as_list().is_table and is_bounded(problem):
            return has_inputs(channel.as_list(), problem) and band_promise(
                Optimal(keep=None), problem, asked, level=self.level
            ).is_kept(channel.as_list().as_table().counts)
        if channel.publishes == "values":
            return Optimal(keep=None, radius=tuple(radii(problem, self.level))).is_kept(problem, asked, channel)
        if channel.kind != GaussianNoise.kind:
            return False
        theta = channel.as_noise().size
        lattice, counts = _lattice(problem), _counts(problem)
        bands, _ = bands_of(counts, level=self.level, points=len(lattice))
        return all(
            band_upper(lattice, bands[b][i], bands[b][j], alpha=asked.alpha, theta=theta) <= asked.epsilon
            for b in range(len(bands))
            for i, j in problem.pairs.directed()
        )


def assured(
    rule: Mechanism, problem: Problem, asked: Guarantee, *, level: float, found: Found, without: float
) -> tuple[Found, ProvedBand]:
    """A channel that is proved for the population, no better than what was found for the sample."""
    level = real("confidence", level, "a number between 0.5 and 1, such as 0.95")
    if not 0.5 <= level < 1:
        raise InputError(f"confidence must be a number from 0.5 to below 1, such as 0.95; got {level!r}")
    if found.channel.kind == GaussianNoise.kind:
        least = found.channel.as_noise().size
        noise = band_noise(
            _lattice(problem), _counts(problem), problem.pairs, alpha=asked.alpha, epsilon=asked.epsilon, level=level
        )
        theta = max(least, noise.theta)
        return Found(GaussianNoise(theta), found.place if theta == least else None), ProvedBand(level, without)
    if not isinstance(rule, Optimal):
        raise MechanismError(f"assurance='band' is for 'exact' and 'optimal', not for {rule.name!r}: use confidence")
    rule = rule.settled(problem)
    if rule.solver != "program":
        raise MechanismError(
            f"assurance='band' is not for solver={rule.solver!r}, which takes over where one program would have too "
            f"many values: publish fewer, or use confidence alone"
        )
    if is_bounded(problem):
        promise = band_promise(rule, problem, asked, level=level)
        return bounded_channel(rule, problem, asked, promise), ProvedBand(level, without)
    reach = np.maximum(radii(problem, level), rule.reach(problem))
    if reach.max() >= 1:
        raise MechanismError(_TOO_FEW)
    return replace(rule, radius=tuple(reach.tolist())).find(problem, asked), ProvedBand(level, without)


def is_bounded(problem: Problem) -> bool:
    """Which set of laws is used, and it must not depend on what the rows are: bounds for short lists, else a ball."""
    return len(table_of(problem).values) <= MOST_VALUES


def band_promise(rule: Optimal, problem: Problem, asked: Guarantee, *, level: float) -> EveryLaw:
    """The promise for every law that the rows allow, and for every prior within the rule's radius."""
    counts = _seen(problem)
    if min(float(seen.sum()) for seen in counts) < 1:
        raise MechanismError(_TOO_FEW)
    return every_law(problem, asked, counts, level=level, laws=len(counts), reach=rule.reach(problem))


def radii(problem: Problem, level: float) -> Array:
    """Total variation within which the population lies of every law's counts, all at once with probability `level`.

    Of n independent rows on k values, E TV ≤ ½√((k−1)/n), and one row moves TV by 1/n at most: by McDiarmid's
    inequality TV exceeds that by √(ln(1/δ)/2n) with probability δ at most; δ is shared by the laws. A law that is not
    the shares of its counts themselves lies as far away again as it does from those.
    """
    counted = _seen(problem)
    share = math.log(len(counted) / (1 - level))
    laws = table_of(problem).laws
    found = []
    for counts, law in zip(counted, laws, strict=True):
        rows = float(counts.sum())
        if rows < 1:
            found.append(1.0)
            continue
        expected = 0.5 * math.sqrt((len(counts) - 1) / rows)
        away = 0.5 * float(np.abs(counts / rows - law / law.sum()).sum())
        found.append(min(1.0, (expected + math.sqrt(share / (2 * rows)) + away) * (1 + 1e-12)))
    return np.array(found)


def _seen(problem: Problem) -> list[Array]:
    """The counts behind each law, belief by belief."""
    return [belief[secret].counts for belief in posterior(problem) for secret in problem.pairs.secrets]


def _lattice(problem: Problem) -> Lattice:
    lattice = None if problem.answer is None else problem.answer.lattice
    if lattice is None:
        raise MechanismError(
            "assurance='band' needs values on a lattice: give Raw bounds and a step, or publish with Row from a list"
        )
    return lattice


def _counts(problem: Problem) -> list[dict[Secret, Array]]:
    return [{secret: counted.counts for secret, counted in belief.items()} for belief in posterior(problem)]
