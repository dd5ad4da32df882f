"""The divergence of mixtures on the line, in ball arithmetic: two floats that are proved to hold it."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from takifugu._validation import budget, noise, order
from takifugu._work import unheard
from takifugu.divergences.numerics.ball_grids import SharedGrid
from takifugu.divergences.numerics.ball_integrals import Integral
from takifugu.divergences.numerics.balls import (
    UNKNOWN,
    Bell,
    Effort,
    Enclosure,
    ExactMixture,
    UndecidableError,
    alone,
    converges,
    fraction,
    meet,
    outward,
    working_precision,
)
from takifugu.errors import InputError
from takifugu.laws import Mixture

if TYPE_CHECKING:
    from flint import arb, fmpq

# One divergence, taken apart into what is exact, what has a formula and what is an integral.

_GUARD_BITS = 24
_FORMULA = 200  # units of work in one closed formula
_ROUNDING = 4  # units of work to make the parameters of one component rational


class Divergence:
    """D_α(p + N(0, θ²) ‖ q + N(0, θ²)) of two mixtures given by floats, taken as exact.

    `exact` is the divergence where it is infinite or a rational number, and None otherwise.
    """

    def __init__(self, p: Mixture, q: Mixture, *, alpha: float, theta: float, effort: Effort | None = None) -> None:
        """Decide what can be decided without rounding."""
        from flint import arb, fmpq

        self.alpha = fraction(alpha)
        self.effort = effort if effort is not None else Effort()
        self.effort.spend(_FORMULA + _ROUNDING * (len(p) + len(q)))
        self.p, self.q = ExactMixture.after_noise(p, theta), ExactMixture.after_noise(q, theta)
        self.exact: arb | fmpq | None = None
        if self.p == self.q:
            self.exact = fmpq(0)
        elif not _absolutely_continuous(self.p, self.q) or (
            self.p.bells and not converges(self.p.bells, self.q.bells, self.alpha)
        ):
            self.exact = arb.pos_inf()
        elif self._one_each and self.p.bells[0].variance == self.q.bells[0].variance:
            mine, other = self.p.bells[0], self.q.bells[0]
            self.exact = self.alpha * (mine.mean - other.mean) ** 2 / (2 * mine.variance)
        self._integral: Integral | None = None

    def ball(self, goal: int) -> "arb | fmpq":
        """A ball around the divergence, from an integral known to about `goal` bits; `exact` where there is one."""
        from flint import arb

        if self.exact is not None:
            return self.exact
        self.effort.spend(_FORMULA + len(self.p.atoms))
        with working_precision(goal + _GUARD_BITS):
            if self._one_each:
                return gaussian_ball(self.p.bells[0], self.q.bells[0], self.alpha)
            total = self._atoms() + self._bells(goal)
            if not total > 0:  # too crude to take its logarithm
                return arb(0, arb.pos_inf())
            return total.log() / arb(self.alpha - 1)

    @property
    def _one_each(self) -> bool:
        return not self.p.atoms and not self.q.atoms and len(self.p.bells) == len(self.q.bells) == 1

    def _atoms(self) -> "arb":
        """Σ P(x)^α Q(x)^(1-α) over the points of p; points of q alone add nothing."""
        from flint import arb

        return sum(
            (_powers(weight, self.q.atoms[point], self.alpha) for point, weight in self.p.atoms.items()),
            arb(0),
        )

    def _bells(self, goal: int) -> "arb":
        from flint import arb

        if not self.p.bells:
            return arb(0)
        if len(self.p.bells) == len(self.q.bells) == 1:
            mine, other = self.p.bells[0], self.q.bells[0]
            exponent = arb(self.alpha - 1) * gaussian_ball(mine, other, self.alpha)
            return _powers(mine.weight, other.weight, self.alpha) * exponent.exp()
        if self._integral is None:
            self._integral = Integral(self.p.bells, self.q.bells, self.alpha, self.effort)
        return self._integral.ball(goal)


def gaussian_ball(p: Bell, q: Bell, alpha: "fmpq") -> "arb":
    """The divergence of two normals by its formula, for α·q.variance > (α-1)·p.variance.

    All that is rational is exact; what is left to balls is the two logarithms.
    """
    from flint import arb

    ratio = q.variance / p.variance
    margin = alpha * ratio - (alpha - 1)
    shift = alpha * (p.mean - q.mean) ** 2 / (2 * margin * p.variance)
    logs = arb(alpha) * arb(ratio).log() - arb(margin).log()
    return arb(shift) + logs / (2 * arb(alpha - 1))


def _absolutely_continuous(p: ExactMixture, q: ExactMixture) -> bool:
    return p.atoms.keys() <= q.atoms.keys() and (bool(q.bells) or not p.bells)


def _powers(weight: "fmpq", other: "fmpq", alpha: "fmpq") -> "arb":
    from flint import arb

    return (arb(alpha) * arb(weight).log() - arb(alpha - 1) * arb(other).log()).exp()


# The Rényi divergence with a proof: two floats that hold it, whatever the rounding.
#
# The parameters of the mixtures are taken as the exact numbers their floats are. Whether the divergence is finite is
# decided in rational arithmetic; its value is enclosed in ball arithmetic (proofs/certified.md).

_FIRST_GOAL = 44  # bits of the integral in the first attempt
_MOST_GOAL = 1200  # mixtures that agree to more bits than this are not told apart


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a claim about D holds: True, False, or None where a limit was met first; the reason is a sentence."""

    holds: bool | None
    enclosure: Enclosure
    reason: str


@alone()
def enclose(
    p: Mixture, q: Mixture, *, alpha: float, theta: float, rtol: float = 1e-12, effort: Effort | None = None
) -> Enclosure:
    """Two floats that hold D_α(p + N(0, θ²) ‖ q + N(0, θ²)), refined to a relative width of `rtol`.

    Where a limit on work or precision is met first, what has been proved by then is returned: the
    enclosure is wider, never wrong.

    >>> enclose(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, theta=0)
    Enclosure(lower=1.0, upper=1.0)
    """
    if not 0 < rtol < 1:
        raise InputError(f"rtol must be between 0 and 1, got {rtol!r}")
    found, goal = UNKNOWN, max(_FIRST_GOAL, math.ceil(-math.log2(rtol)) + 4)
    try:
        divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta), effort=effort)
        while goal <= _MOST_GOAL:
            found = meet(found, outward(divergence.ball(goal)))
            if divergence.exact is not None or found.width <= max(rtol * found.lower, math.ulp(found.lower)):
                break
            goal += _missing_bits(found, rtol, goal)
    except UndecidableError:
        pass
    return found


def decide(
    p: Mixture, q: Mixture, *, alpha: float, epsilon: float, theta: float, effort: Effort | None = None
) -> Decision:
    """Refine until D_α(p + N(0, θ²) ‖ q + N(0, θ²)) is proved to be at most `epsilon`, or to be more.

    `effort` is what may be spent, shared with other decisions; by default one decision has its own limit.

    >>> decide(Mixture.gaussian(0, 1), Mixture.gaussian(1, 1), alpha=2, epsilon=1.0, theta=0).holds
    True
    """
    claim = Enclosure(0.0, budget(epsilon))
    return settle(p, q, claim, alpha=alpha, theta=theta, effort=effort)


@alone()
def settle(
    p: Mixture, q: Mixture, claim: Enclosure, *, alpha: float, theta: float, effort: Effort | None = None
) -> Decision:
    """Refine until D_α(p + N(0, θ²) ‖ q + N(0, θ²)) is proved to lie in `claim`, or outside it."""
    found = UNKNOWN
    try:
        divergence = Divergence(p, q, alpha=order(alpha), theta=noise(theta), effort=effort)
        for value in _values(divergence):
            found = meet(found, outward(value))
            # A comparison with a ball is true only where it holds for every number in the ball.
            lower, upper = _bounds(claim, value)
            if value > upper:
                return Decision(False, found, f"refuted: D is at least {found.lower!r}, above {claim.upper!r}")
            if value < lower:
                return Decision(False, found, f"refuted: D is at most {found.upper!r}, below {claim.lower!r}")
            if value <= upper and (claim.lower == 0 or value >= lower):
                return _proved(found, claim)
    except UndecidableError as limit:
        return Decision(None, found, f"undecided: {limit}; D lies in [{found.lower!r}, {found.upper!r}]")
    reason = f"undecided: {_MOST_GOAL} bits of the integral are not enough"
    return Decision(None, found, f"{reason}; D lies in [{found.lower!r}, {found.upper!r}]")


def _values(divergence: Divergence) -> "Iterator[arb | fmpq]":
    """The divergence where it is exact; otherwise ever smaller balls around it."""
    if divergence.exact is not None:
        yield divergence.exact
        return
    goal = _FIRST_GOAL
    while goal <= _MOST_GOAL:
        yield divergence.ball(goal)
        goal += goal // 2


def _bounds(claim: Enclosure, value: "arb | fmpq") -> "tuple[arb | fmpq, arb | fmpq]":
    """The ends of the claim as exact numbers that compare with a ball or a rational."""
    from flint import arb, fmpq

    if isinstance(value, fmpq) and math.isfinite(claim.upper):
        return fraction(claim.lower), fraction(claim.upper)
    return arb(claim.lower), arb(claim.upper)


def _proved(found: Enclosure, claim: Enclosure) -> Decision:
    # The ball lies within the claim even where the nearest float outside the ball does not.
    found = meet(found, claim)
    return Decision(True, found, f"proved: D is at most {found.upper!r}, within {claim.upper!r}")


def _missing_bits(found: Enclosure, rtol: float, goal: int) -> int:
    if found.lower == 0 or not math.isfinite(found.upper):
        return goal
    return max(8, math.ceil(math.log2(found.width / found.lower) - math.log2(rtol)) + 4)


# Many divergences of the same laws after the same noise, with what depends on one law worked out once.
#
# Two normals have a closed formula: in balls of 192 bits it takes a few microseconds. Mixtures share a grid on which
# a pair is a sum of products. Both are sharp enough for almost any claim; where they are not, or there is no grid, it
# is settled as it would be alone (proofs/certified.md).

_BITS = 192  # means and variances are exact in it but for scales that no data has
_NO_LIMIT = 1 << 62
_CHEAP_FORMULA = 10  # units of work: no more than ten operations on balls


class _Normal(NamedTuple):
    """One normal after noise, in balls; the logarithm is that of its variance."""

    mean: "arb"
    variance: "arb"
    log: "arb"


class Family:
    """Laws with the same noise, of which pairs are to be proved."""

    def __init__(
        self,
        laws: Sequence[Mixture],
        *,
        alpha: float,
        theta: float,
        effort: Effort | None = None,
        grid: SharedGrid | None = None,
    ) -> None:
        """Keep the laws; `effort` is what may be spent on all of them together, `grid` one that was made for them."""
        self._laws, self._effort = laws, effort
        self._alpha, self._theta = order(alpha), noise(theta)
        self._grid = SharedGrid(laws, alpha=self._alpha, theta=self._theta) if grid is None else grid
        self._normals: dict[int, _Normal | None] = {}

    def settle(self, i: int, j: int, claim: Enclosure, *, enclose: bool = True) -> Decision:
        """`certified.settle` for law i against law j.

        Who needs only the verdict leaves `enclose` out: the enclosure of what is proved is then the claim itself.
        """
        try:
            with working_precision(_BITS):
                value = self._quick(i, j)
                if value is not None and _lies_within(value, claim):
                    found = _within(outward(value), claim) if enclose else claim
                    return Decision(True, found, f"proved: D is at most {found.upper!r}, within {claim.upper!r}")
        except UndecidableError as limit:
            return Decision(None, UNKNOWN, f"undecided: {limit}")
        return settle(self._laws[i], self._laws[j], claim, alpha=self._alpha, theta=self._theta, effort=self._effort)

    def _quick(self, i: int, j: int) -> "arb | None":
        """A ball around the divergence from what is shared; None where that does not tell."""
        p, q = self._normal(i), self._normal(j)
        effort = Effort(_NO_LIMIT) if self._effort is None else self._effort
        if p is None or q is None:
            return self._grid.ball(i, j, effort)
        effort.spend(_CHEAP_FORMULA)
        return self._formula(p, q)

    def _normal(self, place: int) -> _Normal | None:
        """The law in balls where it is one normal with a positive variance."""
        if place not in self._normals:
            self._normals[place] = self._as_normal(self._laws[place])
        return self._normals[place]

    def _as_normal(self, law: Mixture) -> _Normal | None:
        from flint import arb

        if len(law) != 1 or law.weights[0] == 0:
            return None
        variance = fraction(law.stds[0]) ** 2 + fraction(self._theta) ** 2
        if variance == 0:
            return None
        with working_precision(_BITS):
            ball = arb(variance)
            return _Normal(arb(float(law.means[0])), ball, ball.log())

    def _formula(self, p: _Normal, q: _Normal) -> "arb | None":
        """A ball around αΔ/2S + [α ln u − β ln v − ln S]/2β, S = αu − βv; None where S is not seen to be positive."""
        alpha, beta, half = self._orders
        margin = alpha * q.variance - beta * p.variance
        if not margin > 0:
            return None
        gap = p.mean - q.mean
        return alpha * gap * gap / (margin + margin) + (alpha * q.log - beta * p.log - margin.log()) * half

    @cached_property
    def _orders(self) -> "tuple[arb, arb, arb]":
        from flint import arb

        alpha = arb(self._alpha)
        beta = alpha - 1
        return alpha, beta, 1 / (2 * beta)


def _lies_within(value: "arb", claim: Enclosure) -> bool:
    """Whether every number in the ball is in the claim; a comparison of balls is true only if it is for all of them."""
    from flint import arb

    return bool(value <= arb(claim.upper) and (claim.lower == 0 or value >= arb(claim.lower)))


def _within(found: Enclosure, claim: Enclosure) -> Enclosure:
    # The ball lies within the claim even where the nearest float outside the ball does not.
    return Enclosure(max(found.lower, claim.lower), min(found.upper, claim.upper))


# Claims about every place of a problem settled, in this process or shared out among several.
#
# Each place is a claim of its own, so nothing is lost by proving them side by side. Processes and not threads: the
# precision of the balls is one setting for a whole process. A process loads this file to begin with, and this room is
# loaded in a fraction of the time that certificates take.

Proof = TypeVar("Proof")
Progress = Callable[[int, int], None]
Index = tuple[int, int, int]  # a belief, and the positions of the two secrets

_SHARES = 16  # that each process gets one after another: places differ in difficulty, and progress is told after each


@dataclass(frozen=True)
class Claims:
    """What is to be proved: at each place, that the loss lies within an enclosure.

    `enclose` asks for a sharp enclosure of what was proved, and not only for the verdict.
    """

    beliefs: tuple[tuple[Mixture, ...], ...]
    alpha: float
    theta: float
    places: Sequence[Index]
    losses: Sequence[Enclosure]
    enclose: bool

    def settled(self, effort: Effort | None, grids: Sequence[SharedGrid | None] | None = None) -> Iterator[Decision]:
        """The decision at each place, in order, within the work that may be spent on all of them."""
        return map(self.settling(effort, grids), self.places, self.losses)

    def settling(
        self, effort: Effort | None, grids: Sequence[SharedGrid | None] | None = None
    ) -> Callable[[Index, Enclosure], Decision]:
        """A function that decides on one place after another: what they have in common is worked out once."""
        families = [
            Family(laws, alpha=self.alpha, theta=self.theta, effort=effort, grid=grid)
            for laws, grid in zip(self.beliefs, grids or [None] * len(self.beliefs), strict=True)
        ]

        def settle(place: Index, loss: Enclosure) -> Decision:
            belief, i, j = place
            return families[belief].settle(i, j, loss, enclose=self.enclose)

        return settle

    def part(self, start: int, end: int) -> "Claims":
        """Some of the places."""
        return Claims(
            self.beliefs, self.alpha, self.theta, self.places[start:end], self.losses[start:end], self.enclose
        )


def settle_all(
    claims: Claims, *, effort: Effort | None = None, workers: int = 1, progress: Progress | None = None
) -> Iterator[Decision]:
    """The decision at each place, in order; `progress` is called with the number of places done and of all."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be a whole number of processes, 1 or more, got {workers!r}")
    decisions = claims.settled(effort) if workers == 1 else _shared_out(claims, effort, workers)
    return counted(decisions, len(claims.places), progress)


def counted(proofs: Iterator[Proof], count: int, progress: Progress | None) -> Iterator[Proof]:
    """The same proofs, told as they come: one call before each, and one after the last."""
    for done in range(count):
        if progress is not None:
            progress(done, count)
        yield next(proofs)
    if progress is not None:
        progress(count, count)


def _shared_out(claims: Claims, effort: Effort | None, workers: int) -> Iterator[Decision]:
    """The decisions of several processes, each with its share of the limit.

    A share that is harder than others may meet its part. What it leaves open is decided here, within the whole limit:
    what one process proves several prove too, whichever of them a share fell to, and with twice the work at most.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    count = len(claims.places)
    length = max(1, -(-count // (_SHARES * workers)))
    parts = [claims.part(start, start + length) for start in range(0, count, length)]
    limit = None if effort is None else max(1, effort.limit // len(parts))
    settle = claims.settling(effort)
    # Started afresh, not forked: a copy of a process with threads may hold a lock for ever.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        others = set(active_children())
        try:
            with unheard():
                shares = pool.map(_one_share, parts, [limit] * len(parts))
            for part, decisions in zip(parts, shares, strict=True):
                for place, loss, decision in zip(part.places, part.losses, decisions, strict=True):
                    again = decision.holds is None and effort is not None
                    yield settle(place, loss) if again else decision
        except BaseException:  # Ctrl-C too, for which nobody is to wait
            for worker in set(active_children()) - others:
                worker.terminate()
            pool.shutdown(cancel_futures=True)
            raise


def _one_share(claims: Claims, limit: int | None) -> list[Decision]:
    effort = None if limit is None else Effort(limit)
    return list(claims.settled(effort, _grids(claims.beliefs, claims.alpha, claims.theta)))


@lru_cache(maxsize=1)
def _grids(beliefs: tuple[tuple[Mixture, ...], ...], alpha: float, theta: float) -> list[SharedGrid]:
    """The grids of a process that settles share after share about the same laws."""
    return [SharedGrid(laws, alpha=alpha, theta=theta) for laws in beliefs]
