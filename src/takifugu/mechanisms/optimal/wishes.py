"""What the wishes leave possible: moves that cannot be used, and how far a channel is from what was wished for."""

from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.errors import MechanismError
from takifugu.mechanisms.optimal.program import Mask, Program


def allowed_moves(program: Program) -> Mask:
    """Inputs × outputs, False where every channel that keeps promise and wishes is zero; an error if none is left."""
    n, m = program.size
    allowed = np.ones((n, m), dtype=bool) if program.forbidden is None else ~program.forbidden
    if not allowed.any(axis=1).all():
        raise MechanismError(
            f"forbidden leaves {_count(~allowed.any(axis=1), 'input')} without any output: allow at least one for each"
        )
    if program.keep == "marginal":
        allowed = allowed & ~((program.mass > 0)[:, None] & (program.mass == 0)[None, :])
    if program.keep == "mean" or program.unbiased:
        _check_range(program)
    if program.unbiased:
        allowed = _unbiased_moves(program, allowed)
    allowed = _promised_moves(program, allowed)
    if not allowed.any(axis=1).all():
        left = _count(~allowed.any(axis=1), "input")
        why = (
            "a forbidden move takes an output from one secret, and what one secret never shows the other may not show "
            "either; forbid fewer moves"
        )
        if program.forbidden is None:
            why = "unbiased=True leaves the ends where they are, and the promise does not let them; drop unbiased"
        raise MechanismError(f"the promise and the wishes together leave {left} without any output: {why}")
    return allowed


def _check_range(program: Program) -> None:
    assert program.inputs is not None
    assert program.outputs is not None
    low, high = program.outputs.min(), program.outputs.max()
    needed = program.inputs if program.unbiased else np.array([program.pooled @ program.inputs])
    slack = 1e-12 * max(abs(low), abs(high))
    if needed.min() < low - slack or needed.max() > high + slack:
        raise MechanismError(
            f"the outputs, from {low:g} to {high:g}, cannot average to every value from {needed.min():g} to "
            f"{needed.max():g}: let the outputs span the inputs, or drop the wish"
        )


def _unbiased_moves(program: Program, allowed: Mask) -> Mask:
    """At the least or the largest output an input can only stay: any other move would pull its mean inside."""
    assert program.inputs is not None
    assert program.outputs is not None
    x, out = program.inputs[:, None], program.outputs[None, :]
    low = np.where(allowed, out, np.inf).min(axis=1, keepdims=True)
    high = np.where(allowed, out, -np.inf).max(axis=1, keepdims=True)
    if ((x < low) | (x > high)).any():
        raise MechanismError(
            f"unbiased=True is impossible for {_count(((x < low) | (x > high))[:, 0], 'input')} that may only move to "
            "one side: allow outputs on both, or drop unbiased"
        )
    edge = (x == low) | (x == high)
    return np.asarray(allowed & (~edge | (out == x)))


def _promised_moves(program: Program, allowed: Mask) -> Mask:
    """Where one law cannot reach an output, a law that must look like it may not either; repeated until it is so."""
    laws = program.laws > 0  # the weights: a share may underflow to zero
    bound = np.unique(program.right)
    while True:
        before = allowed
        unreachable = (laws.astype(np.float64) @ allowed) == 0
        for j in bound[unreachable[bound].any(axis=1)]:
            like_it = laws[np.unique(program.left[program.right == j])].any(axis=0)
            allowed = allowed & ~(like_it[:, None] & unreachable[j])
        if program.radius is not None:
            # K is zero somewhere in the column, so w is its largest entry, and q − tw ≤ (P_j(allowed) − t)·w < 0.
            partial = ~allowed.all(axis=0)
            held = program.shares @ allowed * (1.0 + 1e-12)  # in doubt the column stays: a bound must be true
            allowed = allowed & ~(partial & (held <= program.reach[:, None])[bound].any(axis=0))
        if np.array_equal(allowed, before):
            return allowed


def shortfall(program: Program, matrix: Array) -> float:
    """By how much a channel misses its wishes, each in a unit of its own: shares, or parts of the outputs' range."""
    missed = [float(np.abs(matrix.sum(axis=1) - 1.0).max())]
    pooled = program.pooled
    if program.keep == "marginal":
        missed.append(float(np.abs(pooled @ matrix - pooled).max()))
    if program.inputs is not None and program.outputs is not None and (program.keep == "mean" or program.unbiased):
        span = max(float(np.ptp(program.outputs)), 1e-300)
        means = matrix @ program.outputs
        missed.append(abs(float(pooled @ (means - program.inputs))) / span)
        if program.unbiased:
            missed.append(float(np.abs(means - program.inputs).max()) / span)
    if program.diagonal is not None:
        missed.append(program.diagonal - float(pooled @ np.diag(matrix)))
    if program.forbidden is not None:
        missed.append(float(matrix[program.forbidden].max(initial=0.0)))
    return max(missed)


def _count(which: Any, noun: str) -> str:
    number = int(np.count_nonzero(which))
    return f"{number} {noun}{'' if number == 1 else 's'}"
