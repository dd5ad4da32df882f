"""Nothing can be better, whatever numbers are published: multipliers of a finer grid, kept so that anyone can check.

A channel between the values of a column may be beaten by one that publishes numbers in between. For squared error the
multipliers of a grid prove a bound over *all* real outputs, and the finer the grid the better (proofs/optimal.md).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.real_line import lower_bound_on_the_line, reaches_every_real, refined
from takifugu.mechanisms.optimal.solving import solve

_PARTS = (4, 16, 64)  # of each step between neighbours: one after the other, until the bound is tight
_CLOSE = 1e-3  # of the cost on the finer grid: a bound as near as this is tight
_MOST_ENTRIES = 32_000  # of a finer program: a fraction of a second, and less than a megabyte in a file
_MOST_WITH_RADIUS = 8_000  # each then has a multiplier of its own, and the linear programs are slower by far


@dataclass(frozen=True, eq=False)
class EveryReal:
    """What proves that no channel to any real numbers loses less than `lower_bound`.

    parts: into how many each step between neighbouring values was cut
    duals: the multipliers for the outputs of that grid
    """

    lower_bound: float
    parts: int
    duals: Duals

    def proved(self, program: Program) -> float:
        """The bound that the multipliers prove for a program, whatever is stated."""
        finer = _finer(open_to_every_real(program), self.parts)
        if finer is None:
            raise InputError(f"'parts' is {self.parts}, which is more than such a program is cut into")
        return lower_bound_on_the_line(finer, self.duals)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {"lower_bound": self.lower_bound, "parts": self.parts, "duals": self.duals.to_json()}


def open_to_every_real(program: Program) -> Program:
    """The program without the wishes that name outputs one by one: more channels, so a bound on them bounds these."""
    return replace(program, forbidden=None, diagonal=None)


def has_no_other_outputs(program: Program) -> bool:
    """Whether the bound of the alphabet is that of the line: what is published has the law of the inputs, as asked."""
    return program.keep == "marginal" and reaches_every_real(open_to_every_real(program))


def every_real(program: Program, duals: Duals) -> EveryReal | None:
    """A bound over every real output, from the multipliers of the program itself or of a finer one.

    None where there is nothing to add: the loss is not squared error between numbers, a kept marginal leaves no other
    outputs, or no bound above zero was proved.
    """
    free = open_to_every_real(program)
    if program.keep == "marginal" or not reaches_every_real(free):
        return None
    least = lower_bound(program, duals)  # near what the best channel costs on the grid looked at last
    duals = replace(duals, diagonal=0.0)
    best = EveryReal(lower_bound_on_the_line(free, duals), 1, duals)
    for parts in _PARTS:
        finer = _finer(free, parts)
        if finer is None or best.lower_bound >= (1 - _CLOSE) * least:
            break
        try:
            found = solve(finer)
        except MechanismError:  # the wishes can be kept on the coarser grid; a solver that fails here proves no less
            break
        least = found.lower_bound
        proved = lower_bound_on_the_line(finer, found.duals)
        if proved > best.lower_bound:
            best = EveryReal(proved, parts, found.duals)
    return best if best.lower_bound > 0 else None


def _finer(program: Program, parts: int) -> Program | None:
    """The program on a grid of `parts` parts a step; None where that is too large to be kept and checked."""
    if parts == 1:
        return program
    if program.inputs is None or parts not in _PARTS:
        return None
    entries = len(program.inputs) * ((len(np.unique(program.inputs)) - 1) * parts + 1)
    most = _MOST_ENTRIES if program.radius is None else _MOST_WITH_RADIUS
    return None if entries > most else refined(program, parts)
