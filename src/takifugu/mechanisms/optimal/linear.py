"""Bounded odds as a linear program, handed to HiGHS: a vertex instead of the interior point's centre.

With α = ∞ every promise and wish is linear. The dual values it returns prove a bound like any others.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from takifugu._threads import interruptible
from takifugu._validation import Array
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.entries import Entries, identity, kron, listed, picked
from takifugu.mechanisms.optimal.groups import grouped, shared_out
from takifugu.mechanisms.optimal.program import Indices, Mask, Program
from takifugu.mechanisms.optimal.rows import Rows, add_diagonal, add_wishes
from takifugu.mechanisms.optimal.shown import Many, Shown, everywhere

_MARGIN = 1e-9  # HiGHS may violate a row by 1e-10
_NOISE = 1e-10
_STEPS = 60  # of the simplex method, for each input: most programs of few laws take twenty to forty-five,
_LAWS = 8  # and with so many laws more twice that, and so on
_ROUNDS = 40  # of rows that are added; four or five are enough
_LONG = 5_000  # entries of a program that may take seconds
_ALIKE = 8  # so few distinct losses, with shares kept, take it ten times as many: longer than an interior point takes


@dataclass(frozen=True)
class Linear:
    """A channel (inputs × outputs) and the multipliers that came with it."""

    matrix: Array
    duals: Duals
    iterations: int


def linear(program: Program, allowed: Mask, *, seconds: float = 60.0) -> Linear | None:
    """The best channel for bounded odds; None where HiGHS does not get there within the time.

    Of many laws few bind: rows are written for some pairs and outputs, then for those that the answer breaks, until it
    breaks none. It is the answer to all rows then, and its multipliers are multipliers of all, zero for the others.
    """
    if (many := Many.of(program)) is not None:
        shown = many.hardest(allowed)
        for _ in range(_ROUNDS):
            found = _solved(program, allowed, (), shown, seconds)
            if found is None:
                return None
            if (more := many.broken(found.matrix, shown)) is None:
                return found.proved()
            shown = more
    parts = grouped(program)
    answer = _solved(program, allowed, parts.groups, everywhere(program, parts.rest), seconds)
    return None if answer is None else answer.proved()


def _solved(
    program: Program, allowed: Mask, groups: tuple[Indices, ...], shown: Shown, seconds: float
) -> "_Solved | None":
    """The best channel for the promises of groups, and beside them of pairs at outputs.

    With a radius a column is written as its least entry, `low`, and what lies above it, which is at most `apart`: half
    of the rows that tie every entry to two ends are then bounds of variables, and the simplex method takes a fifth of
    the time that it takes with them.
    """
    from scipy.optimize import linprog

    n, m = program.size
    means = np.arange(len(program.laws) * m) if groups else shown.means(program)
    widths = {"channel": n * m, "means": len(means), "floors": len(groups) * m}
    beside = widths["means"] + widths["floors"]
    upper = [np.where(allowed, 1.0, 0.0).ravel(), np.ones(beside)]
    scale = max(float(program.cost.max()), 1e-300)
    cost = [program.cost.ravel() / scale, np.zeros(beside)]
    if program.radius is not None:
        widths |= {"low": m, "apart": m}
        upper += [np.where(allowed.all(axis=0), 1.0, 0.0), np.ones(m)]
        cost += [cost[0].reshape(n, m).sum(axis=0), np.zeros(m)]
    equal, equal_to = _equalities(program, means, widths)
    below, below_than = _inequalities(program, groups, shown, means, widths)
    limits = np.concatenate(upper)
    given = {
        "c": np.concatenate(cost),
        "A_ub": below,
        "b_ub": below_than,
        "A_eq": equal,
        "b_eq": equal_to,
        "bounds": np.stack([np.zeros_like(limits), limits], axis=1),
    }
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": seconds}

    def solved(method: str, **more: Any) -> Any:
        work = partial(linprog, **given, method=method, options=options | more)
        return interruptible(work) if n * m > _LONG else work()

    if program.radius is None:
        found = solved("highs")
    else:
        found = None
        if program.keep != "marginal" or np.unique(program.loss).size > _ALIKE:
            found = solved("highs-ds", maxiter=_STEPS * n * (1 + program.laws.shape[0] // _LAWS))
        if found is None or found.status in (1, 4):  # out of steps, or lost in rounding
            found = solved("highs-ipm")
    if found.status != 0 or found.x is None:
        return None
    matrix = found.x[: n * m].reshape(n, m)
    if program.radius is not None:
        matrix = matrix + found.x[-2 * m : -m]
    matrix = np.clip(matrix, 0.0, 1.0)
    matrix[matrix < _NOISE] = 0.0  # what is left of a column that is not used breaks every ratio
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    return _Solved(program, groups, shown, allowed, found, scale, n + len(means), matrix)


class _Solved(NamedTuple):
    """What HiGHS found, for which rows; so many `equations` come before those of the wishes."""

    program: Program
    groups: tuple[Indices, ...]
    shown: Shown
    allowed: Mask
    found: Any
    scale: float
    equations: int
    matrix: Array

    def proved(self) -> Linear:
        """With the multipliers, which of a million pairs are a large table."""
        return Linear(self.matrix, _duals(self), int(self.found.nit))


def _equalities(program: Program, means: Indices, widths: dict[str, int]) -> tuple[Any, Array]:
    n, m = program.size
    rows = Rows(widths)
    rows.add(np.ones(n), channel=kron(identity(n), listed(np.ones((1, m)))))
    # p_s(y) = Σ_x P_s(x) K(y|x) as variables of their own: the promises then have two entries a row, not 2n.
    laws, outputs = np.divmod(means, m)
    at, places = np.repeat(np.arange(means.size), n), (np.arange(n) * m + outputs[:, None]).ravel()
    averages = Entries(at, places, program.shares[laws].ravel(), (means.size, n * m))
    rows.add(np.zeros(means.size), channel=averages, means=-identity(means.size))
    add_wishes(program, rows)
    _raise(program, rows)
    return rows.joined()


def _inequalities(
    program: Program, groups: tuple[Indices, ...], shown: Shown, means: Indices, widths: dict[str, int]
) -> tuple[Any, Array]:
    """The promises, the diagonal where one is promised, and with a radius what lies above a column's least entry."""
    n, m = program.size
    rows, eye, laws = Rows(widths), identity(m), program.laws.shape[0]
    factor = program.factor * (1.0 - _MARGIN)

    left, right = program.left[shown.pairs], program.right[shown.pairs]
    first, second = (picked(np.searchsorted(means, law * m + shown.outputs), means.size) for law in (left, right))
    promised = {"means": first + second.times(-factor)}
    if program.radius is not None:
        reach = program.reach[left] + factor * program.reach[right]
        promised["apart"] = Entries(np.arange(reach.size), shown.outputs, reach, (reach.size, m))
    rows.add(np.zeros(len(shown.pairs)), **promised)
    for place, group in enumerate(groups):
        floors = picked(np.full(len(group), place), len(groups))
        for sign, floor in ((1.0, -factor), (-1.0, 1.0)):
            entries = {"means": picked(group, laws).times(sign), "floors": floors.times(floor)}
            rows.add(np.zeros(len(group) * m), **{name: kron(part, eye) for name, part in entries.items()})
    add_diagonal(program, rows)
    _raise(program, rows)
    if program.radius is not None:
        rows.add(np.zeros(n * m), channel=identity(n * m), apart=-kron(listed(np.ones((n, 1))), eye))
    return rows.joined()


def _raise(program: Program, rows: Rows) -> None:
    """Let rows about the channel, with a radius, be about what of it lies above the least entries, and about these."""
    if program.radius is None:
        return
    (n, m), said = program.size, rows.entries()
    about = said.columns < n * m
    places, at = np.unique(said.rows[about] * m + said.columns[about] % m, return_inverse=True)
    sums = np.bincount(at, weights=said.values[about]).astype(np.float64)
    rows.blocks.append(Entries(places // m, rows.starts["low"] + places % m, sums, said.shape))


def _duals(solved: _Solved) -> Duals:
    """HiGHS' marginals, with the sign turned and in the units of the cost, as the multipliers of the lower bound."""
    program, groups, shown, allowed, found, scale, equations, _ = solved
    n, m = program.size
    below, equal = -scale * found.ineqlin.marginals, -scale * found.eqlin.marginals
    sides = [m * len(group) for group in groups for _ in range(2)]
    lengths = [len(shown.pairs), *sides, 0 if program.diagonal is None else 1]
    pairs, *floors, diagonal, over = np.split(np.maximum(below, 0.0), np.cumsum(lengths))
    tables = [floor.reshape(-1, m) for floor in floors]
    odds = shared_out(program, groups, tables[::2], tables[1::2])
    odds[shown.outputs, shown.pairs] = pairs
    kept, mean = np.split(equal[equations:], [m if program.keep == "marginal" else 0])
    spread = np.zeros((0, 0))
    if program.radius is not None:
        under = np.maximum(scale * found.lower.marginals[: n * m], 0.0)
        spread = np.where(allowed, (over - under).reshape(n, m), 0.0)
        # Nothing is proved with the moves that are forbidden, so they may take what a column has too much of.
        barred = ~allowed
        excess = np.maximum(spread.sum(axis=0), 0.0) / np.maximum(barred.sum(axis=0), 1)
        spread = np.where(barred, -excess, spread)
    return Duals(
        weights=np.zeros(0),
        ratios=np.zeros((m, 0)),
        odds=odds,
        kept=kept,
        mean=mean,
        diagonal=float(diagonal.sum()),
        spread=spread,
    )
