"""The best channel for a program, whatever it takes: a matrix, and a proved bound on how much better any could be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from takifugu._validation import Array
from takifugu.errors import MechanismError
from takifugu.mechanisms.optimal.interior_point import Iterate, interior_point
from takifugu.mechanisms.optimal.linear_program import linear
from takifugu.mechanisms.optimal.lower_bound import Duals, lower_bound, no_duals
from takifugu.mechanisms.optimal.program import (
    Indices,
    Mask,
    Program,
    allowed_moves,
    excesses,
    free_channel,
    hardly_changed,
    negligible,
    shortfall,
    violation,
)

# Whether wishes can be kept at all, and under which promise: what an error tells of who asked for too much.

_MISSED = 1e-6  # wishes missed by more than this were not to be had
_TIMES = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3, 1e4, 1e5)  # budgets to try where wishes cannot be kept
_LARGEST = 30.0  # beyond this ε, odds of 10¹³, a promise says nothing
_HALVINGS, _QUICK = 5, 2_500  # then between two of them, for programs of so many entries


def is_fine(program: Program, matrix: Array) -> bool:
    """Whether a channel keeps the promise in floats, and the wishes up to what rounding may miss."""
    return violation(program, matrix) <= 0 and shortfall(program, matrix) <= _MISSED


def least_budget(program: Program) -> str | None:
    """About the least budget at which the wishes can be kept, in words; None if there is none."""
    times = next((times for times in _TIMES if _can_be_kept(_relaxed(program, times))), None)
    if times is None:
        return None
    low, high = max((other for other in (1.0, *_TIMES) if other < times), default=1.0), times
    # Only what was seen to be kept is told, so the search may stop anywhere.
    for _ in range(_HALVINGS if program.loss.size <= _QUICK else 0):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if _can_be_kept(_relaxed(program, middle)) else (middle, high)
    weaker = _relaxed(program, high)
    if np.isinf(weaker.alpha):  # a promise about odds is told as one
        return f"odds={_up(weaker.factor):g}"
    parts = [f"epsilon={_up(weaker.epsilon):g}"] if np.isfinite(weaker.epsilon) else []
    return " and ".join(parts + ([] if weaker.odds is None else [f"odds={_up(weaker.odds):g}"]))


def _relaxed(program: Program, times: float) -> Program:
    """The same program with a budget that is this many times as large, odds to that power."""
    odds = None if program.odds is None else float(np.exp(min(np.log(program.odds) * times, _LARGEST)))
    limit = max(program.epsilon, _LARGEST)
    return replace(program, epsilon=min(program.epsilon * times, limit), odds=odds)


def _can_be_kept(program: Program) -> bool:
    """Whether a channel that keeps promise and wishes is found without much effort."""
    try:
        allowed = allowed_moves(program)
    except MechanismError:
        return False
    free = free_channel(program, allowed)
    if free is not None and is_fine(program, free):
        return True
    if is_fine(program, interior_point(program, allowed, goal=1e-3, enough=1.0).matrix):
        return True
    stricter = linear(replace(program, alpha=np.inf), allowed)
    return stricter is not None and is_fine(program, stricter.matrix)


def _up(value: float) -> float:
    """Three digits, rounded up: what is told must be enough."""
    step = 10.0 ** (np.floor(np.log10(value)) - 2)
    return float(f"{np.ceil(value / step) * step:.3g}")


# Many constraints, of which few bind: solve with some, look which others are broken, add those, and again.
#
# A bound proved with some of the constraints holds with all of them, and the last channel breaks none: nothing is
# lost. Beside the time, it spares the interior point the constraints that do not bind, whose multipliers fade at
# every rate.

_FEW = 6
_ALL = 30  # constraints of finite order that one solve takes less time for than several with some of them
_ALL_ODDS = 20_000_000  # outputs × constraints × laws of bounded odds: up to here a step hardly takes longer for all
_ROUNDS = 40
_BROKEN = 1e-9  # less than this is mended by mixing in a trace of a constant row


def working_set(program: Program, allowed: Mask, *, progress: Callable[[int, float], None] | None = None) -> Iterate:
    """What `interior_point` finds for the whole program, by way of a few of its constraints at a time."""
    count = len(program.constraints)
    if count <= _ALL if program.bounds_divergence else count * program.size[1] * len(program.laws) <= _ALL_ODDS:
        return interior_point(program, allowed, progress=progress)
    hardest = -excesses(program, hardly_changed(program, allowed))
    chosen = np.sort(np.argsort(hardest, kind="stable")[:_FEW])
    proof: Iterate | None = None
    for _ in range(_ROUNDS):
        some = replace(program, constraints=tuple(program.constraints[c] for c in chosen))
        free = free_channel(some, allowed)
        if free is None:
            found = interior_point(some, allowed, progress=progress)
        else:
            cost = program.value(free)
            found = Iterate(free, no_duals(some), cost, cost, 0.0, 0, negligible(program))
        found = replace(found, duals=_with_all(program, found.duals, chosen))
        # Every round's bound holds for the whole program; a later round that went badly need not prove less.
        proof = found if proof is None or found.bound > proof.bound else proof
        broken = excesses(program, found.matrix)
        broken[chosen] = -1.0
        worst = np.argsort(-broken, kind="stable")[: max(_FEW // 2, chosen.size // 2)]
        added = worst[broken[worst] > _BROKEN]
        if added.size == 0:
            return replace(found, duals=proof.duals, bound=proof.bound)
        chosen = np.sort(np.concatenate([chosen, added]))
    return interior_point(program, allowed, progress=progress)


def _with_all(program: Program, duals: Duals, chosen: Indices) -> Duals:
    """The same multipliers, zero for the constraints that were left out."""
    m, count = program.size[1], len(program.constraints)
    weights, ratios, odds = duals.weights, duals.ratios, duals.odds
    if program.bounds_divergence:
        weights, ratios = np.zeros(count), np.ones((m, count))
        weights[chosen], ratios[:, chosen] = duals.weights, duals.ratios
    if program.factor < np.inf:
        odds = np.zeros((m, count))
        odds[:, chosen] = duals.odds
    return replace(duals, weights=weights, ratios=ratios, odds=odds)


Progress = Callable[[int, float], None]

_LARGEST_LINEAR = 300_000  # entries; beyond, the interior point is faster than HiGHS
_LARGEST_LINEAR_WITH_A_RADIUS = 4_096  # its rows for each entry take HiGHS three to fourteen times as long as us
_GOOD = 1e-5
_GOOD_WITH_A_RADIUS = 5e-4  # which is found to a few percent: HiGHS' more digits are not worth its time
_POOR = 0.01  # a gap at which a stricter promise is looked at too
# Below the last, e^((α−1)ε) is so close to 1 that an interior point may stop early; below the first it mostly does.
_ORDERS_NEAR_ONE = (1.002, 1.01)
_MOST_EPSILON = 16.0  # odds of some millions: beyond, HiGHS meets coefficients that it cannot tell apart
_FAINT = 1e-8  # of all that is published: no table of rows is so long that one of them would be less
_DUST = 1e-8
_TRACE = 1e-5  # the largest entry of an output that an interior point gives up; of others it is a hundred times that


@dataclass(frozen=True, eq=False)
class Solution:
    """A channel and what is known about it; the promise is kept in floats, and repair.py makes that a proof.

    matrix: inputs × outputs, rows summing to one value, lower_bound: its cost, and what no channel on this alphabet
    costs less than, proved duals: the multipliers that prove the bound gap: (value − lower_bound)/value; a value below
    1e-9 of what publishing a constant costs counts as that much iterations, method: of the solver: "free" (nothing
    needed hiding), "highs" or "interior-point"
    """

    matrix: Array
    value: float
    lower_bound: float
    duals: Duals
    gap: float
    iterations: int
    method: str


@dataclass(frozen=True)
class _Attempt:
    """What a solver found for a program; what that is worth is looked at several times, and worked out once."""

    program: Program
    matrix: Array
    duals: Duals
    iterations: int
    method: str

    @cached_property
    def is_fine(self) -> bool:
        return is_fine(self.program, self.matrix)

    @cached_property
    def bound(self) -> float:
        return lower_bound(self.program, self.duals)


def solve(program: Program, *, progress: Progress | None = None) -> Solution:
    """The channel that costs least, with a proved bound; wishes that cannot be kept are named.

    `progress` is called with the number of steps and the relative gap so far.
    """
    allowed = allowed_moves(program)
    free = free_channel(program, allowed)
    if free is not None:
        return _proved([_Attempt(program, free, no_duals(program), 0, "free")])
    used: Mask = np.asarray(allowed.any(axis=0))
    if program.radius is not None and program.diagonal is None and program.keep != "marginal" and not used.all():
        # An output that nobody may use has no spread to speak of, and around it a radius leaves no interior.
        return _proved([_widened(program, solve(_narrowed(program, used), progress=progress), used)])
    attempts: list[_Attempt] = []
    for solver, good in _solvers(program, allowed):
        found = linear(program, allowed) if solver == "highs" else working_set(program, allowed, progress=progress)
        if found is not None:
            attempt = _Attempt(program, _inside(program, found.matrix), found.duals, found.iterations, solver)
            attempts.append(_tidy(allowed, attempt) if solver == "interior-point" else attempt)
            if attempts[0].is_fine and _proved(attempts).gap <= good:
                break
    if not attempts[0].is_fine or _proved(attempts).gap > _POOR:
        attempts += _stricter(program, allowed, attempts[0])
    fine = [attempt for attempt in attempts if attempt.is_fine]
    if not fine:
        raise impossible(program)
    return _proved(fine)


def solve_faint(program: Program, *, progress: Progress | None = None) -> Solution:
    """`solve`, with the faint ends of a list of numbers taken for the last values before them.

    Probabilities of 1e-20 are below what solvers tell from 0, and one that meets many of them gives up. Whoever takes a
    value for another before anything else publishes a channel like any other; its promise is the same one, and what no
    channel costs less than is proved for the whole list.
    """
    inside = _but_faint_ends(program)
    if inside is None:
        return solve(program, progress=progress)
    numbers = np.asarray(program.inputs)
    nearest = np.abs(numbers[:, None] - numbers[inside][None, :]).argmin(axis=1)
    merged = np.zeros((len(numbers), len(inside)))
    merged[np.arange(len(numbers)), nearest] = 1.0
    few = replace(
        program,
        laws=program.shares @ merged,
        mass=program.pooled @ merged,
        loss=program.loss[np.ix_(inside, inside)],
        inputs=numbers[inside],
        outputs=numbers[inside],
    )
    found = solve(few, progress=progress)
    matrix = np.zeros(program.size)
    matrix[:, inside] = found.matrix[nearest]
    # An end is priced as the value that it is taken for: to publish it costs whoever has another no less.
    duals = replace(found.duals, ratios=found.duals.ratios[nearest], odds=found.duals.odds[nearest])
    if program.keep == "marginal":
        duals = replace(duals, kept=found.duals.kept[nearest])
    value = program.value(matrix)
    bound = min(value, lower_bound(program, duals))
    gap = (value - bound) / max(value, negligible(program), 1e-300)
    return Solution(matrix, value, bound, duals, gap, found.iterations, found.method)


def _but_faint_ends(program: Program) -> Indices | None:
    """The values that are left when as much as hardly anybody has is taken off either end; None where all are."""
    wishes = program.unbiased or program.forbidden is not None or program.diagonal is not None
    if wishes or program.radius is not None or program.inputs is None or program.chances is not None:
        return None
    if program.outputs is None or not np.array_equal(program.inputs, program.outputs):
        return None
    order = np.argsort(program.inputs, kind="stable")
    shares = program.pooled[order]
    beyond = (np.cumsum(shares) <= _FAINT) | (np.cumsum(shares[::-1])[::-1] <= _FAINT)
    return np.sort(order[~beyond]) if beyond.any() and not beyond.all() else None


def _solvers(program: Program, allowed: Mask) -> list[tuple[str, float]]:
    """Who is asked, one after the other, and the gap that needs no second opinion."""
    own, highs = ("interior-point", _GOOD), ("highs", _GOOD)
    if program.bounds_divergence or allowed.sum() > _LARGEST_LINEAR:
        return [own]
    if program.radius is not None and allowed.sum() > _LARGEST_LINEAR_WITH_A_RADIUS:
        return [("interior-point", _GOOD_WITH_A_RADIUS), highs]
    return [highs, own]


def _tidy(allowed: Mask, found: _Attempt) -> _Attempt:
    """The same without outputs that the interior point gives up, and leaves a trace of every input in.

    Between those that are left HiGHS finds a vertex, with few moves, where that is quick. The multipliers are about all
    outputs, as before.
    """
    program = found.program
    used: Mask = np.asarray(found.matrix.max(axis=0) > _TRACE)
    if program.bounds_divergence or program.keep == "marginal" or program.diagonal is not None or used.all():
        return found
    few = _narrowed(program, used)
    vertex = linear(few, allowed[:, used]) if allowed[:, used].sum() <= _LARGEST_LINEAR_WITH_A_RADIUS else None
    matrix = np.zeros_like(found.matrix)
    matrix[:, used] = found.matrix[:, used] if vertex is None else vertex.matrix
    tidy = replace(found, matrix=_inside(program, matrix / matrix.sum(axis=1, keepdims=True)))
    cheap = program.value(tidy.matrix) <= program.value(found.matrix) * (1.0 + _GOOD_WITH_A_RADIUS / 2)
    return tidy if cheap and tidy.is_fine else found


def _stricter(program: Program, allowed: Mask, poor: _Attempt) -> Iterator[_Attempt]:
    """Channels that keep more than the promise, for where the solver for the promise itself does not get far.

    D_α never falls as α grows, and odds within e^ε are a divergence within ε at every order: they may cost more than
    the best, but they keep the promise. Multipliers of an order near by prove nearly as much here, as any multipliers
    prove something; those of the odds belong to other conditions, so with them come those there are.
    """
    for order in _ORDERS_NEAR_ONE:
        if order <= program.alpha:
            continue
        found = working_set(replace(program, alpha=order), allowed)
        yield _Attempt(program, _inside(program, found.matrix), found.duals, found.iterations, "interior-point")
    is_other = program.bounds_divergence or _MOST_EPSILON < program.epsilon < np.inf
    if is_other and allowed.sum() <= _LARGEST_LINEAR:
        odds = linear(replace(program, alpha=np.inf, epsilon=min(program.epsilon, _MOST_EPSILON)), allowed)
        if odds is not None:
            yield _Attempt(program, _inside(program, odds.matrix), poor.duals, odds.iterations, "highs")
            mixed = _mixed(program, _without_dust(poor.matrix), odds.matrix)
            yield _Attempt(program, mixed, poor.duals, poor.iterations, poor.method)


def _narrowed(program: Program, used: Mask) -> Program:
    """The program with only these outputs."""
    return replace(
        program,
        loss=program.loss[:, used],
        outputs=None if program.outputs is None else program.outputs[used],
        forbidden=None if program.forbidden is None else program.forbidden[:, used],
    )


def _widened(program: Program, found: Solution, used: Mask) -> _Attempt:
    """What was found for some outputs, for all: the others are not used, and any multipliers will do for them."""
    matrix, none = np.zeros(program.size), no_duals(program)
    matrix[:, used] = found.matrix
    none.ratios[used], none.odds[used], none.spread[:, used] = found.duals.ratios, found.duals.odds, found.duals.spread
    duals = replace(found.duals, ratios=none.ratios, odds=none.odds, spread=none.spread)
    return _Attempt(program, matrix, duals, found.iterations, found.method)


def _proved(attempts: list[_Attempt]) -> Solution:
    """The best channel of several and the best bound, which need not come from the same attempt."""
    program = attempts[0].program
    values = [program.value(attempt.matrix) for attempt in attempts]
    bounds = [attempt.bound for attempt in attempts]
    chosen, proof = int(np.argmin(values)), int(np.argmax(bounds))
    value, bound = values[chosen], min(values[chosen], bounds[proof])
    best = attempts[chosen]
    gap = (value - bound) / max(value, negligible(program), 1e-300)
    return Solution(best.matrix, value, bound, attempts[proof].duals, gap, best.iterations, best.method)


def _inside(program: Program, matrix: Array) -> Array:
    """The channel, mixed with one whose rows are all alike until the promise holds in floats.

    The row is the channel's own output on average, which leaves a kept marginal or mean as it is. By convexity a share
    that is small enough to start with costs as little. Where moves are forbidden, or every input has its own mean,
    no such row exists, and the channel is returned as it came: a channel within bounded odds may mend it.
    """
    if program.forbidden is not None or program.unbiased:
        return matrix
    return _mixed(program, matrix, program.pooled @ matrix)


def _mixed(program: Program, matrix: Array, safe: Array) -> Array:
    """The channel with the least share of a safe one, on a scale of powers of two, at which the promise holds.

    Promise and wishes are convex, so what both keep the mixture keeps, and a hair over the promise costs a hair.
    """
    share, mixed = 2.0**-40, matrix
    while violation(program, mixed) > 0 and share <= 1.0:
        mixed = (1.0 - share) * matrix + share * safe
        share *= 2.0
    return mixed


def _without_dust(matrix: Array) -> Array:
    """The channel without what an interior point leaves in outputs that it gives up: there any odds may be broken."""
    kept = np.where(matrix < _DUST, 0.0, matrix)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def impossible(program: Program) -> MechanismError:
    """The error that names the wish which cannot be kept, and the nearest value that can."""
    if program.diagonal is not None:
        n = program.size[0]
        relaxed = replace(program, diagonal=None, loss=1.0 - np.eye(n))
        try:
            kept = 1.0 - solve(relaxed).value
        except MechanismError as error:
            return error
        if kept < program.diagonal:
            return MechanismError(
                f"diagonal={program.diagonal:g} is more than the guarantee allows: at most "
                f"{np.floor(kept * 1e4) / 1e4:g} of the values can stay as they are; ask for that or less, or "
                f"guarantee "
                "less"
            )
    names = [
        name
        for name, wished in (
            (f'preserve="{program.keep}"', program.keep is not None),
            ("unbiased=True", program.unbiased),
            ("the forbidden moves", program.forbidden is not None),
            (f"diagonal={program.diagonal}", program.diagonal is not None),
        )
        if wished
    ]
    wishes = " and ".join(names) if names else "this program"
    weaker = least_budget(program)
    if weaker is None:
        return MechanismError(f"no channel was found that keeps {wishes}, whatever is guaranteed: drop one of them")
    return MechanismError(
        f"no channel was found that keeps {wishes} under this guarantee: one is known from {weaker} on; guarantee "
        f"less, or "
        "drop a constraint"
    )
