"""Columns that are published after others of the same rows, under one promise for all of them (proofs/later.md).

What is published now is drawn from its own columns alone, and may not look at what was published before. For bounded
odds that leaves a linear program: for every value that may have been published before, and every new one, the
probability of both under one secret is at most e^ε times that under another.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.channels import BITS, MOST_BITS, FiniteChannel, entries, places, product, require_room, row_of
from takifugu.divergences import Counts
from takifugu.errors import MechanismError
from takifugu.laws import Value, key, number
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.draws import posterior
from takifugu.mechanisms.optimal.finite_problem import Promise, Table, loss_matrix, table_of
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.repair import repaired
from takifugu.mechanisms.optimal.solving import solve
from takifugu.problems import Guarantee, Problem

_MOST_RADIUS = 0.99


@dataclass(frozen=True)
class Later(Mechanism):
    """The best channel for the last columns of a row whose first ones went through `past`; both as one channel.

    keep: "marginal" keeps the shares of the new columns' values, or None.
    bits: of the new channel's probabilities.
    margin: how many of the distances that a sample lies from its population the promise is widened by; this is a way
        to look for channels that withstand draws from the posterior, and promises nothing by itself.
    """

    name: ClassVar[str] = "later"
    label: ClassVar[str] = "Best channel after what was published"
    summary: ClassVar[str] = "The best channel for further columns of people about whom some were published before."

    past: FiniteChannel | None = None
    keep: str | None = None
    bits: int = BITS
    margin: float = 0.0

    @property
    def options(self) -> dict[str, Any]:
        """What a file keeps: the past is part of the channel itself."""
        return {"keep": self.keep, "margin": self.margin}

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """Solve for the new columns, repair, and prove everything published together."""
        if asked.alpha != math.inf:
            raise MechanismError("columns that are published later are calibrated for bounded odds: give odds alone")
        rows = _Rows(table_of(problem), self.past)
        promise = _Together(rows, asked)
        program = self._program(problem, rows, asked)
        bits = min(self.bits, MOST_BITS - rows.bits)
        if bits < 1:
            raise MechanismError("what was published before leaves no budget for another exact channel")
        counts = repaired(solve(program).matrix, promise, bits=bits)
        new = FiniteChannel(rows.new, rows.new, counts)
        if self.past is None:
            return Found(new)
        return Found(product(self.past, new, rows.table.values, width=rows.width))

    def _program(self, problem: Problem, rows: "_Rows", asked: Guarantee) -> Program:
        """A law over the new columns for every law of the problem and everything that may have been published."""
        laws, constraints, chances = rows.laws_after()
        mass: Array = np.bincount(rows.new_places, weights=rows.table.mass, minlength=len(rows.new)).astype(np.float64)
        return Program(
            laws=laws,
            constraints=constraints,
            mass=mass,
            loss=loss_matrix(None, rows.new, rows.new, mass),
            alpha=math.inf,
            epsilon=asked.epsilon,
            keep=self.keep,  # type: ignore[arg-type]
            radius=None if self.margin == 0 else self.margin * rows.distances(problem).clip(max=_MOST_RADIUS),
            chances=chances,
        )


class _Rows:
    """A problem of rows whose first columns were published: which part of each row is new, and what came before."""

    def __init__(self, table: Table, past: FiniteChannel | None) -> None:
        self.table = table
        self.width = 0 if past is None else len(entries(past.inputs[0]))
        self.bits = 0 if past is None else past.denominator.bit_length() - 1
        parts = [row_of(entries(value)[self.width :]) for value in table.values]
        distinct = {key(part): part for part in parts}
        self.new = _ordered(list(distinct.values()))
        where = {key(part): k for k, part in enumerate(self.new)}
        self.new_places = np.array([where[key(part)] for part in parts], dtype=np.intp)
        if past is None:
            self.before: Counts = np.ones((len(parts), 1), dtype=np.int64)
        else:
            old = past.counts[places(past, [row_of(entries(value)[: self.width]) for value in table.values])]
            self.before = old[:, old.any(axis=0)]
        require_room(len(parts), self.before.shape[1] * len(self.new))

    @cached_property
    def chance(self) -> Array:
        """The probability of each thing published before, given the row."""
        return np.asarray(np.ldexp(self.before, -self.bits))

    def after(self, weights: Array) -> Array:
        """The weights of the new parts, for every thing that may have been published before: parts by things."""
        total = np.zeros((len(self.new), self.before.shape[1]))
        np.add.at(total, self.new_places, weights[:, None] * self.chance)
        return total

    @cached_property
    def _after(self) -> Array:
        """Laws by things by parts."""
        return np.stack([self.after(law / law.sum()).T for law in self.table.laws])

    def _seen(self) -> npt.NDArray[np.bool_]:
        """Which things can have been published under which law."""
        return np.asarray(self._after.sum(axis=2) > 0)

    def laws_after(self) -> tuple[Array, tuple[tuple[int, int], ...], Array]:
        """Laws of the new part given what came before, the pairs of them to hide, and the chance of what came."""
        seen = self._seen()
        number_of = np.cumsum(seen.reshape(-1)).reshape(seen.shape) - 1
        pairs = []
        for i, j in self.table.pairs:
            if (seen[i] != seen[j]).any():
                raise MechanismError("what was published before already tells some secrets apart: nothing can follow")
            pairs += [(int(number_of[i, h]), int(number_of[j, h])) for h in np.flatnonzero(seen[i])]
        laws = self._after[seen]
        return laws, tuple(pairs), laws.sum(axis=1)

    def distances(self, problem: Problem) -> Array:
        """How far each of those laws is expected to lie from the population's, in total variation.

        Of counts that are taken with a share k each, the sum has a variance of about Σ k² times the counts.
        """
        rests_on = [belief[secret] for belief in posterior(problem) for secret in problem.pairs.secrets]
        found = np.zeros(self._after.shape[:2])
        for law, (counts, pseudo) in enumerate(rests_on):
            weights, spread = counts + pseudo, np.zeros((len(self.new), self.before.shape[1]))
            np.add.at(spread, self.new_places, weights[:, None] * self.chance**2)
            total = self.after(weights).sum(axis=0)
            sums = np.sqrt(2 * spread / math.pi).sum(axis=0)
            found[law] = 0.5 * np.divide(sums, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(found[self._seen()])


class _Together:
    """The promise for everything published together, as a function of the new channel alone."""

    def __init__(self, rows: _Rows, asked: Guarantee) -> None:
        self._rows = rows
        self._promise = Promise(laws=rows.table.laws, pairs=rows.table.pairs, alpha=math.inf, epsilon=asked.epsilon)

    @cached_property
    def shares(self) -> Array:
        """The laws of the new columns."""
        size = len(self._rows.new)
        return np.stack(
            [np.bincount(self._rows.new_places, weights=law, minlength=size) for law in self._promise.shares]
        )

    def seems_kept(self, matrix: Array) -> bool:
        """In floats."""
        return self._promise.seems_kept(self._both(self._rows.chance, matrix))

    def is_kept(self, counts: Counts) -> bool:
        """Proved, in whole numbers."""
        return self._promise.is_kept(self._both(self._rows.before, counts))

    def _both(self, before: Any, new: Any) -> Any:
        rows = self._rows
        return (before[:, :, None] * new[rows.new_places][:, None, :]).reshape(len(before), -1)


def _ordered(values: list[Value]) -> tuple[Value, ...]:
    """Numbers in order, all else as it came."""
    return tuple(sorted(values)) if all(map(number, values)) else tuple(values)
