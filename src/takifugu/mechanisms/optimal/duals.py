"""The multipliers that prove a lower bound: a handful of arrays, which anyone may write down and check again."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from takifugu._validation import Array, reals
from takifugu.errors import InputError
from takifugu.mechanisms.optimal.program import Program


@dataclass(frozen=True, eq=False)
class Duals:
    """Whatever they are, the bound they give is true (proofs/optimal.md); good ones make it tight.

    weights: one number, 0 or more, per constraint of finite order; empty where there is none
    ratios: outputs × constraints, above 0: where the tangent planes touch
    odds: outputs × constraints, 0 or more: of p_i(y) ≤ ρ p_j(y); empty where the odds are free
    kept: one per output, of any sign, for keep="marginal"; otherwise empty
    mean: one for keep="mean", one per input for unbiased, otherwise empty; of any sign
    diagonal: 0 or more, for the promised diagonal
    spread: inputs × outputs, for a radius; otherwise empty
    """

    weights: Array
    ratios: Array
    odds: Array
    kept: Array
    mean: Array
    diagonal: float
    spread: Array

    def to_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        plain: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            plain[f.name] = value.tolist() if isinstance(value, np.ndarray) else value
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Duals":
        """The multipliers that `to_json` wrote; an unknown or missing name is refused."""
        names = {f.name for f in fields(cls)}
        if not isinstance(plain, dict) or set(plain) != names:
            raise InputError(f"duals must hold exactly {', '.join(sorted(names))}")
        arrays = {name: reals(f"duals.{name}", plain[name]) for name in names - {"diagonal"}}
        diagonal = reals("duals.diagonal", plain["diagonal"])
        if diagonal.ndim:
            raise InputError("duals.diagonal must be one number")
        return cls(**arrays, diagonal=float(diagonal))

    def checked(self, program: Program) -> "Duals":
        """The same multipliers, if they fit the program and have the signs the proof needs."""
        n, m = program.size
        c = len(program.constraints)
        orders, ratios = (c if program.bounds_divergence else 0), (c if program.factor < np.inf else 0)
        shapes = {
            "weights": (orders,),
            "ratios": (m, orders),
            "odds": (m, ratios),
            "kept": (m,) if program.keep == "marginal" else (0,),
            "mean": (n,) if program.unbiased else (1,) if program.keep == "mean" else (0,),
            "spread": (n, m) if program.radius is not None else (0, 0),
        }
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given.size == 0 and 0 in shape:
                object.__setattr__(self, name, np.zeros(shape))
            elif given.shape != shape:
                raise InputError(f"duals.{name} must have the shape {shape} for this program, got {given.shape}")
            if not np.isfinite(given).all():
                raise InputError(f"duals.{name} must be finite")
        signed = (self.weights >= 0).all() and (self.odds >= 0).all() and (self.ratios > 0).all()
        if not signed or not 0 <= self.diagonal < np.inf or (self.diagonal > 0 and program.diagonal is None):
            raise InputError("duals of inequalities must be 0 or more, and ratios above 0")
        return self


def no_duals(program: Program) -> Duals:
    """Multipliers that prove what the loss alone proves."""
    n, m = program.size
    count = len(program.constraints)
    orders, ratios = (count if program.bounds_divergence else 0), (count if program.factor < np.inf else 0)
    return Duals(
        weights=np.zeros(orders),
        ratios=np.ones((m, orders)),
        odds=np.zeros((m, ratios)),
        kept=np.zeros(m if program.keep == "marginal" else 0),
        mean=np.zeros(n if program.unbiased else 1 if program.keep == "mean" else 0),
        diagonal=0.0,
        spread=np.zeros((n, m) if program.radius is not None else (0, 0)),
    )
