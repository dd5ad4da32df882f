"""The best of all channels between finite lists of values, as a mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real
from takifugu.channels import FiniteChannel, ListChannel
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Value, key, number
from takifugu.mechanisms.base import Found, Mechanism
from takifugu.mechanisms.optimal.finite_problem import Table, frozen_matrix, is_kept, loss_matrix, promise_of, table_of
from takifugu.mechanisms.optimal.lower_bound import to_state
from takifugu.mechanisms.optimal.program import Program
from takifugu.mechanisms.optimal.repair import repaired
from takifugu.mechanisms.optimal.solving import solve
from takifugu.problems import Problem, Renyi

MOST_VALUES = 2_000  # of the best channel; beyond, see the mechanism "sparse"
_SAFER = 0.9  # the share of the budget for which a channel is solved that repair may fall back on


def rule_of(mechanism: str, options: dict[str, Any]) -> "Optimal":
    """The wishes that a finite channel was found under; of a rule that is not ours nothing but the promise is known."""
    return Optimal(**options) if mechanism == Optimal.name else Optimal(keep=None)


@dataclass(frozen=True)
class Optimal(Mechanism):
    """The channel of least expected loss among all that keep the promise, repaired and proved; proofs/optimal.md.

    loss: "square", "absolute" or "change"; or a matrix, inputs by outputs, in the order of the first law's values. By
        default the square for numbers and the share of changed values for labels; for rows the columns are added up,
        numbers relative to their variance.
    keep: "marginal" (published values are spread as the true ones are), "mean", or None.
    unbiased: whether each value is right on average.
    radius: the promise then holds for every prior within this total variation of the given ones; one number, or one
        for each secret.
    forbidden: (value, value) pairs of which the first must never be published as the second.
    diagonal: the share of values that must stay as they are.
    """

    name: ClassVar[str] = "optimal"
    label: ClassVar[str] = "Best channel"
    summary: ClassVar[str] = (
        "The least harm any mechanism can do: the best channel between finite lists of values, with a proof that none "
        "is better."
    )

    loss: Any = None
    keep: str | None = "marginal"
    unbiased: bool = False
    radius: Any = 0.0
    forbidden: tuple[tuple[Any, Any], ...] = ()
    diagonal: float | None = None

    def __post_init__(self) -> None:
        """Freeze what came as lists, so that equal options are equal."""
        if self.loss is not None and not isinstance(self.loss, str):
            object.__setattr__(self, "loss", frozen_matrix(self.loss))
        several = isinstance(self.radius, Sequence | np.ndarray)
        object.__setattr__(self, "radius", tuple(map(_radius, self.radius)) if several else _radius(self.radius))
        if self.keep not in ("marginal", "mean", None):
            raise InputError(f'keep must be "marginal", "mean" or None, got {self.keep!r}')
        if not isinstance(self.unbiased, bool):
            raise InputError(f"unbiased must be True or False, got {self.unbiased!r}")
        if self.diagonal is not None:
            share = real("diagonal", self.diagonal, "a share between 0 and 1")
            if not 0 <= share <= 1:
                raise InputError(f"diagonal must be a share between 0 and 1, got {self.diagonal!r}")
            object.__setattr__(self, "diagonal", share)
        try:
            object.__setattr__(self, "forbidden", tuple((_frozen(a), _frozen(b)) for a, b in self.forbidden))
        except (TypeError, ValueError):
            raise InputError("forbidden must be a list of pairs: the true value, and what it must not become") from None

    def find(self, problem: Problem, asked: Renyi) -> Found:
        """Solve, repair and prove."""
        program = self.program(problem, asked)
        table = table_of(problem)
        solution = solve(program)
        promise = promise_of(problem, asked, radius=self.reach(problem))
        forbidden = _forbidden(self.forbidden, table.values)
        allowed = None if forbidden is None else ~forbidden
        fallback = None if allowed is None else self._fallback(problem, asked)
        counts = repaired(
            _on_all(solution.matrix, _support(self, table), table.values),
            laws=promise.laws,
            pairs=promise.pairs,
            alpha=promise.alpha,
            epsilon=promise.epsilon,
            odds=promise.odds,
            radius=promise.radius,
            allowed=allowed,
            fallback=fallback,
        )
        channel = FiniteChannel(table.values, table.values, counts)
        # Rounding to counts can miss a wish by a hair, and the exact condition for a radius is a hair wider than the
        # program's: what was found may cost less than the bound by as much, and a bound must not contradict it.
        return Found(channel, None, to_state(solution.lower_bound, self.cost(problem, channel)), solution.duals)

    def program(self, problem: Problem, asked: Renyi) -> Program:
        """The convex program of a problem: the same from the same, so that a certificate can be checked."""
        return _solved_program(self, problem, asked)

    def whole_program(self, problem: Problem, asked: Renyi) -> Program:
        """The program about all values, also those that nobody has: for a promise that covers who may have them."""
        return _program(self, problem, asked, np.arange(len(table_of(problem).values)))

    def is_kept(self, problem: Problem, asked: Renyi, channel: ListChannel) -> bool:
        """Whether a channel is proved to keep the promise for every pair, belief and prior within the radius."""
        return is_kept(problem, asked, channel, radius=self.reach(problem))

    def cost(self, problem: Problem, channel: FiniteChannel) -> float:
        """The expected loss of a published value."""
        table = table_of(problem)
        return channel.expected_loss(table.mass, loss_matrix(self.loss, table.values, channel.outputs, table.mass))

    def reach(self, problem: Problem) -> Array:
        """The radius of each law, in the order of the table's rows."""
        secrets = len(problem.pairs.secrets)
        if not isinstance(self.radius, tuple):
            return np.full(secrets * len(problem.beliefs), self.radius)
        if len(self.radius) == secrets * len(problem.beliefs):
            return np.array(self.radius)
        if len(self.radius) != secrets:
            raise InputError(f"radius must be one number, or one for each of the {secrets} secrets")
        return np.tile(self.radius, len(problem.beliefs))

    def _fallback(self, problem: Problem, asked: Renyi) -> Array | None:
        """A channel that keeps more than the promise, where forbidden moves leave no constant one to mix in."""
        odds = None if asked.odds is None else 1 + _SAFER * (asked.odds - 1)
        try:
            safer = solve(self.program(problem, Renyi(asked.alpha, _SAFER * asked.epsilon, odds))).matrix
            table = table_of(problem)
            return _on_all(safer, _support(self, table), table.values)
        except (MechanismError, CalibrationError):
            return None


@lru_cache(maxsize=32)
def _solved_program(rule: Optimal, problem: Problem, asked: Renyi) -> Program:
    return _program(rule, problem, asked, _support(rule, table_of(problem)))


def _program(rule: Optimal, problem: Problem, asked: Renyi, here: npt.NDArray[np.intp]) -> Program:
    table = table_of(problem)
    if len(table.values) > MOST_VALUES:
        raise InputError(
            f"the laws are on {len(table.values):,} distinct values, and the best channel is found for {MOST_VALUES:,} "
            f"at most: use the mechanism 'sparse', or give a coarser domain, such as Row(column, domain=[...])"
        )
    numeric = all(map(number, table.values))
    numbers = np.array(table.values, dtype=np.float64)[here] if numeric else None
    forbidden = _forbidden(rule.forbidden, table.values)
    return Program(
        laws=table.laws[:, here],
        constraints=table.pairs,
        mass=table.mass[here],
        loss=loss_matrix(rule.loss, table.values, table.values, table.mass)[np.ix_(here, here)],
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=asked.odds,
        inputs=numbers,
        outputs=numbers,
        keep=rule.keep,  # type: ignore[arg-type]
        unbiased=rule.unbiased,
        forbidden=None if forbidden is None else forbidden[np.ix_(here, here)],
        diagonal=rule.diagonal,
        radius=rule.reach(problem) if np.any(rule.reach(problem)) else None,
    )


def _support(rule: Optimal, table: Table) -> npt.NDArray[np.intp]:
    """The values that the program is about: all, or with kept shares those that have one.

    A value that nobody has keeps a share of nothing: no row may become it, and a program that says so has no interior.
    """
    return np.flatnonzero(table.mass > 0) if rule.keep == "marginal" else np.arange(len(table.values))


def _on_all(matrix: Array, support: npt.NDArray[np.intp], values: tuple[Value, ...]) -> Array:
    """A channel on the support as one on all values: what nobody has is treated as the nearest that somebody has.

    The rows that are added are among those that are there, so nothing is farther apart than before.
    """
    if len(support) == len(values):
        return matrix
    whole = np.zeros((len(values), len(values)))
    numeric = all(map(number, values))
    numbers = np.array(values, dtype=np.float64) if numeric else np.arange(len(values), dtype=np.float64)
    nearest = np.abs(numbers[:, None] - numbers[support][None, :]).argmin(axis=1)
    whole[:, support] = matrix[nearest]
    return whole


def _forbidden(moves: tuple[tuple[Any, Any], ...], values: tuple[Value, ...]) -> Any:
    if not moves:
        return None
    place = {key(value): where for where, value in enumerate(values)}
    mask = np.zeros((len(values), len(values)), dtype=bool)
    for move in moves:
        for value in move:
            if key(value) not in place:
                raise InputError(f"forbidden names {value!r}, which is not among the values of the laws")
        mask[place[key(move[0])], place[key(move[1])]] = True
    return mask


def _frozen(value: Any) -> Any:
    """A row that came as a list, as from a file, as the tuple that it is."""
    return tuple(value) if isinstance(value, list) else value


def _radius(value: Any) -> float:
    number = real("radius", value, "a number from 0 to below 1")
    if not 0 <= number < 1:
        raise InputError(f"radius must be a number from 0 to below 1, got {value!r}")
    return number
