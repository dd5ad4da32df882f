"""Nothing can be much better: what no channel between thousands of values that bounds the odds costs less than.

A price for each law and output, whatever it is, proves a bound (proofs/sparse.md); those of the last linear program
make it a tight one. Sums of products of floats, whose rounding errors are bounded term by term and taken off.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array, reals
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.lower_bound import total
from takifugu.mechanisms.sparse.generation import brackets
from takifugu.mechanisms.sparse.program import Program

_UNIT = 2.0**-53
_TINY = 1e-290  # above the sum of whatever underflows to zero
_UNDERFLOW = 1e-270  # of a coefficient, where the share it is multiplied by may have underflowed
_SAFE = 1 - 1e-12  # more than the roundings of sums over a group


@dataclass(frozen=True, eq=False)
class Prices:
    """Of each law of each group (`Program.members`), by outputs: any numbers prove a bound."""

    values: Array

    def to_json(self) -> dict[str, Any]:
        """Plain lists."""
        return {"prices": self.values.tolist()}

    @classmethod
    def from_json(cls, plain: Any) -> "Prices":
        """What `to_json` wrote."""
        if not isinstance(plain, dict) or set(plain) != {"prices"}:
            raise InputError("what proves the bound of a sparse channel must hold exactly prices")
        values = reals("prices", plain["prices"])
        if values.ndim != 2:
            raise InputError("prices must be a table: a row for each law, a number for each output")
        return cls(values)


def lower_bound(program: Program, prices: Prices) -> float:
    """What every channel costs whose odds are within `program.odds` in every group; `lean` and `floor` play no part."""
    values = prices.values
    if values.shape != (len(program.members), program.size) or not np.isfinite(values).all():
        raise InputError(
            f"prices must be {len(program.members)} rows of {program.size} finite numbers for this problem"
        )
    with np.errstate(all="ignore"):  # what overflows is not finite in the end, and then nothing is claimed
        allowed = _allowed(program, values)
        size = np.abs(allowed)
        # No entry passes through more roundings: dividing by a sum of n weights, adding columns and laws, a few more.
        steps = (program.size + len(program.cells.codes) + len(program.members) + 24) * _UNIT * 1.1
        everything = np.arange(program.size)
        extra = _UNDERFLOW * (size.sum(axis=0) + sum(float(table.max()) for table in program.cells.tables)) + _TINY
        rows = []
        for (_, value), (_, absolute) in zip(
            brackets(program, allowed, everything), brackets(program, size, everything), strict=True
        ):
            rows.append((value - steps * absolute - extra).min(axis=1))
    return total(np.concatenate(rows), 0.0)


def _allowed(program: Program, prices: Array) -> Array:
    """The prices with those above zero lowered until, in every group and at every output, e^ε times their sum is at
    most what those below zero sum to."""
    odds = math.nextafter(program.odds, math.inf)
    found, row = prices.copy(), 0
    for group in program.groups:
        part = found[row : row + len(group)]
        above, below = np.maximum(part, 0.0).sum(axis=0), np.maximum(-part, 0.0).sum(axis=0)
        share = np.minimum(1.0, _SAFE * below / np.maximum(odds * above, _TINY)) * _SAFE
        found[row : row + len(group)] = np.where(part > 0, part * share, part)
        row += len(group)
    return found
