"""Many constraints, of which few bind: solve with some, look which others are broken, add those, and again.

A bound proved with some of the constraints holds with all of them, and the last channel breaks none: nothing is lost.
Beside the time, it spares the interior point the constraints that do not bind, whose multipliers fade at every rate.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from takifugu.mechanisms.optimal.duals import Duals, no_duals
from takifugu.mechanisms.optimal.free import free_channel, hardly_changed, negligible
from takifugu.mechanisms.optimal.interior_point import Iterate, interior_point
from takifugu.mechanisms.optimal.program import Indices, Mask, Program
from takifugu.mechanisms.optimal.promise import excesses

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
