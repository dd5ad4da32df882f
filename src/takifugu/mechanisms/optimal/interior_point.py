"""A primal-dual interior point for the program, in the structure of the channel.

It starts at a channel whose rows are all alike, which loses nothing and so is strictly inside. Nothing here is
trusted: what it returns is a channel and multipliers, and lower_bound.py proves what they are worth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from takifugu._validation import Array
from takifugu._work import detail
from takifugu.mechanisms.optimal.lower_bound import Duals, estimate
from takifugu.mechanisms.optimal.newton import Newton, Point, Setting, conditions, start
from takifugu.mechanisms.optimal.program import Mask, Program, negligible, violation

MOST_STEPS = 150
_SMALL_CHANGE = 1e4
_PATIENCE = 12  # steps without progress that end a run,
_FIRST_PATIENCE = 60  # and before any was made: shares of a hundred-thousandth leave a start that is slow to centre


@dataclass(frozen=True)
class Pace:
    """How far towards the boundary a step goes, and by how much complementarity may shrink at the most."""

    reach: float
    shrink: float


_STRAIGHT = Pace(0.995, 1e-3)
_CURVED = (Pace(0.9, 0.2), Pace(0.6, 0.4), Pace(0.4, 0.6))  # where haste fails, one starts again with less


@dataclass(frozen=True)
class Iterate:
    """A channel (inputs × outputs) and multipliers, with what they are worth in floats."""

    matrix: Array
    duals: Duals
    value: float
    bound: float
    violation: float
    iterations: int
    negligible: float  # a cost too small to matter

    @property
    def excess(self) -> float:
        """How far the value is above the bound, with a price on what is violated."""
        return self.value * (1.0 + self.violation) - self.bound

    @property
    def gap(self) -> float:
        """How far the value is above the bound, over the value; what is violated counts as well."""
        return (self.value - self.bound) / max(self.value, self.negligible, 1e-300) + self.violation


def interior_point(
    program: Program,
    allowed: Mask,
    *,
    goal: float = 1e-7,
    enough: float = 1e-5,
    progress: Callable[[int, float], None] | None = None,
) -> Iterate:
    """The best iterate found: once its gap is `goal`, or `enough` when no step helps any more, or what there is.

    A primal-dual method with Mehrotra's predictor and corrector on the cones of the guarantee. What it returns is
    repaired and proved by others, so that no step of it need be right.

    Args:
        program: the problem.
        allowed: which moves a channel may make.
        goal: the relative gap at which it stops.
        enough: the gap that is good enough where steps no longer help.
        progress: called with the number of the step and the gap.

    Returns:
        A channel and multipliers.
    """
    scale = _scale(program, allowed)
    cost = np.ascontiguousarray(program.cost.T) / scale
    setting = Setting(program, np.ascontiguousarray(allowed.T), cost, scale)
    best: Iterate | None = None
    with np.errstate(all="ignore"):  # what overflows leads to a worse point, and a worse point is not kept
        for pace in _CURVED if setting.orders else (_STRAIGHT,):
            found = _run(setting, pace, goal, 0 if best is None else best.iterations, progress)
            if best is None or found.gap < best.gap:
                best = found
            if best.gap <= enough:
                break
    assert best is not None
    return best


def _run(
    setting: Setting, pace: Pace, goal: float, before: int, progress: Callable[[int, float], None] | None
) -> Iterate:
    at = start(setting)
    best = _iterate(setting, at, before)
    stalled, first = 0, best.excess
    least = first  # when progress was last made: many small steps are progress too
    for k in range(before + 1, before + MOST_STEPS + 1):
        moved = _advance(setting, at, pace)
        if moved is None:
            break
        at, size = moved
        found = _iterate(setting, at, k)
        stalled += 1
        if found.excess < 0.9 * least:
            stalled, least = 0, found.excess
        if found.gap < best.gap:
            best = found
        detail(f"step {k} of the solver, within {max(best.gap, 0.0):.2g} of the best")
        if progress is not None:
            progress(k, best.gap)
        patience = _PATIENCE if least < 0.5 * first else _FIRST_PATIENCE
        if best.gap <= goal or stalled > patience or size < 1e-10:
            break
    return best


def _advance(setting: Setting, at: Point, pace: Pace) -> tuple[Point, float] | None:
    """One predictor-corrector step (Mehrotra's); None where the linear algebra gives up."""
    curved = setting.orders > 0
    try:
        newton = Newton(setting, at, conditions(setting, at))
        ahead = newton.step(0.0)
        now = complementarity(setting, at)
        primal, dual = _longest(setting, at, ahead)
        if curved:
            primal = dual = min(primal, dual)
        then = complementarity(setting, at.moved(ahead, primal, dual))
        shrink = min(1.0, max(then / now, 0.0)) ** 3
        step = newton.step(max(shrink, pace.shrink) * now, ahead)
        primal, dual = (pace.reach * longest for longest in _longest(setting, at, step))
    except np.linalg.LinAlgError:
        return None
    if not curved:
        return at.moved(step, primal, dual), min(primal, dual)
    size = min(primal, dual)
    return _settled(setting, at.moved(step, size, size)), size


def _settled(setting: Setting, at: Point) -> Point:
    """The same point, with t and the cones' slacks set to what the rest of the point says they are.

    In a column that is about to vanish p, q and t change by large factors in one step, and the ratio t/q, which alone
    enters the dual conditions, is left far off. Where the cone's multiplier gives a t that changes little, and leaves
    room, it is taken: the dual condition of t then holds exactly, and columns vanish without a trace.
    """
    alpha, k = setting.program.alpha, setting.orders
    q = setting.sides(at.channel, at.ends)[1][:, :k]
    logs = np.log(np.maximum(setting.kappa[:k] * at.cone_weight[:, :k] / (alpha * at.weight[:k]), 1e-300))
    parts = q * np.exp(np.clip(logs * alpha / (alpha - 1.0), -600.0, 600.0))
    change = np.abs(parts - at.parts)
    small = change * at.weight[:k] < _SMALL_CHANGE * complementarity(setting, at)
    room = setting.room(at.channel, parts, at.ends)[:, :k]
    parts = np.where(small & (room > 0.3 * at.cone_slack[:, :k]) & setting.live[:, :k], parts, at.parts)
    room = setting.room(at.channel, parts, at.ends)
    fine = setting.live & (room > 0.1 * at.cone_slack)
    return replace(at, parts=parts, cone_slack=np.where(fine, room, at.cone_slack))


def complementarity(setting: Setting, at: Point) -> float:
    """The mean of all products of a slack and its multiplier."""
    products = [
        (at.channel * at.reduced)[setting.allowed],
        at.slack * at.weight,
        (at.cone_slack * at.cone_weight)[setting.live],
    ]
    if setting.program.radius is not None:
        over, under = at.room
        products += [(over * at.over).ravel(), (under * at.under).ravel()]
    return float(np.concatenate(products).mean())


def _longest(setting: Setting, at: Point, step: Point) -> tuple[float, float]:
    """The longest primal and dual steps, up to one, that keep every slack and every multiplier above zero."""
    primal = [(getattr(at, f), getattr(step, f)) for f in ("channel", "slack", "cone_slack", "parts")]
    dual = [(getattr(at, f), getattr(step, f)) for f in ("reduced", "weight", "cone_weight")]
    if setting.program.radius is not None:
        primal += list(zip(at.room, step.room, strict=True))
        primal.append((setting.sides(at.channel, at.ends)[1], setting.sides(step.channel, step.ends)[1]))
        dual += [(at.over, step.over), (at.under, step.under)]
    return _until_zero(primal), _until_zero(dual)


def _until_zero(parts: list[tuple[Array, Array]]) -> float:
    steepest = max((float((-d / np.maximum(v, 1e-300)).max(initial=0.0)) for v, d in parts), default=0.0)
    if np.isnan(steepest):
        raise np.linalg.LinAlgError("the step is not a number")
    return 1.0 / max(1.0, steepest)


def _iterate(setting: Setting, at: Point, iterations: int) -> Iterate:
    program = setting.program
    matrix = np.maximum(at.channel.T, 0.0)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    duals = multipliers(setting, at)
    bound = estimate(program, duals, setting.allowed.T)
    if setting.orders:
        other = replace(duals, ratios=_between(setting, at, duals.ratios))
        better = estimate(program, other, setting.allowed.T)
        if better > bound or math.isnan(bound):
            duals, bound = other, better
    return Iterate(
        matrix,
        duals,
        program.value(matrix),
        bound,
        violation(program, matrix),
        iterations,
        negligible(program),
    )


def multipliers(setting: Setting, at: Point) -> Duals:
    """What the point says about the lower bound, in the units of the program's loss.

    Args:
        setting: the program in the solver's units.
        at: a point of the path.

    Returns:
        Multipliers for `lower_bound`, of the signs that it needs.
    """
    program, k, scale = setting.program, setting.orders, setting.scale
    weights, ratios = np.zeros(k), np.ones((len(at.channel), k))
    if k:
        # The plane whose slope in p is the cone's multiplier: α(r/κ)^{α−1}λ = κζ.
        weight = np.maximum(at.weight[:k], 1e-300)
        touch = setting.kappa[:k] * at.cone_weight[:, :k] / (program.alpha * weight)
        logs = np.log(np.maximum(touch, 1e-300)) / (program.alpha - 1.0) + np.log(setting.kappa[:k])
        ratios = np.exp(np.clip(logs, -300.0, 300.0))
        weights = weight * scale * -np.expm1(-program.log_budget)
    return Duals(
        weights=weights,
        ratios=ratios,
        odds=np.maximum(at.cone_weight[:, k:], 0.0) * scale,
        kept=at.kept * scale,
        mean=at.mean * scale,
        diagonal=float(max(at.weight[-1], 0.0)) * scale if program.diagonal is not None else 0.0,
        spread=(at.over - at.under).T * scale if program.radius is not None else np.zeros((0, 0)),
    )


def _between(setting: Setting, at: Point, ratios: Array) -> Array:
    """Where planes may touch as well: half way, in logarithms, from these ratios to those of the channel itself.

    In a column that vanishes the cones' multipliers swing around where they belong from step to step, and the ratio of
    what is left in it lies on the other side. The channel is long found then, and only the proof of it is not.
    """
    p, q = (np.maximum(side[:, : setting.orders], 1e-300) for side in setting.sides(at.channel, at.ends))
    return np.sqrt(np.clip(p / q, np.exp(-300.0), np.exp(300.0)) * ratios)


def _scale(program: Program, allowed: Mask) -> float:
    """The cost of a typical channel, which the solver takes as its unit."""
    mean = float(np.where(allowed, program.cost, 0.0).sum() / max(1, allowed.shape[1]))
    return mean if mean > 0 else 1.0
