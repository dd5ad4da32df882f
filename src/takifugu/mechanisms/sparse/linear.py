"""One part of the program at a time: some inputs are free, what all others publish is held, and HiGHS does the rest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.sparse.program import Places, Program

_SECONDS = 60.0
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Part:
    """The entries of a solved part, in the order of the moves that were offered, and prices.

    prices: a row for each of `Program.members`, by outputs: what a unit of the probability of that law costs there
    """

    shares: Array
    prices: Array


def solved(program: Program, *, laws: Array, cost: Array, sources: Places, targets: Places, held: Array) -> Part | None:
    """The cheapest shares of the moves offered, each from an input to an output; None where HiGHS finds none.

    laws: rows of weights over the inputs of this part; cost: of each move, for a whole share
    held: what the inputs outside publish, laws by outputs; the condition is on the sum
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    inputs, outputs, moves = laws.shape[1], held.shape[1], len(sources)
    levels = outputs * len(program.groups)  # one number per output and group, between its laws
    each = np.arange(moves)
    every = csr_array((np.ones(moves), (sources, each)), shape=(inputs, moves + levels))
    rows = _Rows(program, laws=laws, sources=sources, targets=targets, held=held)
    below, limits = rows.joined()
    unit = max(float(cost.max(initial=0.0)), _SMALLEST)
    found = linprog(
        np.concatenate([cost / unit, np.zeros(levels)]),
        A_ub=below,
        b_ub=limits,
        A_eq=every,
        b_eq=np.ones(inputs),
        bounds=(0, None),
        method="highs",
        options={"time_limit": _SECONDS, "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if found.status != 0 or found.x is None:
        return None
    return Part(np.clip(found.x[:moves], 0.0, 1.0), rows.prices(-unit * found.ineqlin.marginals))


class _Rows:
    """level ≤ p − lean(p + floor) and p + lean(p + floor) ≤ odds·level, for every output, group and law of it."""

    def __init__(self, program: Program, *, laws: Array, sources: Places, targets: Places, held: Array) -> None:
        self.program, self.laws, self.held = program, laws, held
        self.sources, self.targets = sources, targets
        # An output is as small as its inputs are under the laws of the group, and HiGHS wants rows of like size.
        self.scales = []
        for group in map(list, program.groups):
            size = held[group].max(axis=0).copy()
            np.add.at(size, targets, laws[group].max(axis=0)[sources])
            self.scales.append(1.0 / np.maximum(size, _SMALLEST))

    def joined(self) -> tuple[Any, Array]:
        """All rows, and their limits."""
        from scipy.sparse import coo_array, csr_array, hstack, vstack

        program, outputs, moves = self.program, self.held.shape[1], len(self.sources)
        blocks, limits = [], []
        at = np.arange(outputs)
        for group, (members, scale) in enumerate(zip(program.groups, self.scales, strict=True)):
            level = coo_array(
                (scale, (at, group * outputs + at)), shape=(outputs, outputs * len(program.groups))
            ).tocsr()
            for law in members:
                entries = self.laws[law][self.sources] * scale[self.targets]
                p = csr_array((entries, (self.targets, np.arange(moves))), shape=(outputs, moves))
                held, floor = scale * self.held[law], scale * program.lean * program.floor[law]
                blocks.append(hstack([-(1 - program.lean) * p, level], format="csr"))
                limits.append((1 - program.lean) * held - floor)
                blocks.append(hstack([(1 + program.lean) * p, -program.odds * level], format="csr"))
                limits.append(-(1 + program.lean) * held - floor)
        return vstack(blocks, format="csr"), np.concatenate(limits)

    def prices(self, marginals: Array) -> Array:
        """What a unit of each law's probability costs at each output: HiGHS' marginals with the sign turned."""
        lean = self.program.lean
        low, high = np.moveaxis(marginals.reshape(-1, 2, self.held.shape[1]), 1, 0)  # two rows for each member
        scale = np.repeat(self.scales, [len(group) for group in self.program.groups], axis=0)
        return np.asarray(((1 + lean) * high - (1 - lean) * low) * scale)
