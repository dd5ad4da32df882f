"""The best channel between finite lists of values, as a mechanism: by one program for all of it, or by columns."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache, reduce
from operator import and_
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from takifugu._validation import Array, budget, integer, real
from takifugu.channels import Channel, FiniteChannel, ListChannel, SparseChannel
from takifugu.divergences import Counts, finite_divergence
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.laws import Scalar, Space, Value, key, number
from takifugu.mechanisms.base import Found, Mechanism, Optimality
from takifugu.mechanisms.optimal.column_generation import (
    Moves,
    Prices,
    Searched,
    can_preserve,
    groups_of,
    lower_bound_by_columns,
    one_output,
    resampled,
    searched,
    searched_whole,
)
from takifugu.mechanisms.optimal.finite_problem import (
    NAMES,
    Cells,
    Loss,
    Table,
    apart,
    frozen_matrix,
    is_kept,
    loss_matrix,
    promise_of,
    table_of,
)
from takifugu.mechanisms.optimal.lower_bound import Duals, lower_bound, to_state
from takifugu.mechanisms.optimal.program import Indices, Mask, Program
from takifugu.mechanisms.optimal.repair import repaired, repaired_moves
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram, alike, covering
from takifugu.mechanisms.optimal.solving import solve, solve_faint
from takifugu.mechanisms.optimal.tangent_cuts import FiniteOrder
from takifugu.mechanisms.optimal.with_delta import Multipliers, WithDelta
from takifugu.problems import Approximate, Guarantee, Problem, Renyi, asked_for

AUTO = "auto"
MOST_VALUES = 2_000  # of one program for the whole channel; more go column by column
MOST_CELLS = 50_000  # of those
MOST_PRICED = 200  # between any two of which a local price is asked for
KEEPS = ("marginal", "mean", None)
_SURE_VALUES, _MOST_BETWEEN = 300, 4_000_000  # for however many laws; and directed pairs × values² for more than two

# What only one of the solvers knows.
_ONLY = {
    "program": ("unbiased", "radius", "forbidden", "diagonal", "local_price"),
    "columns": ("rounds", "caution"),
}


def most_values(pairs: int) -> int:
    """Up to how many values one program finds the whole channel by default, with confidence too, in under a minute.

    Args:
        pairs: directed pairs of laws.

    Returns:
        A number that falls as there are more laws; `solver="program"` goes up to 2,000 with any.

    >>> most_values(2), most_values(6), most_values(42)
    (2000, 816, 308)
    """
    if pairs <= 2:
        return MOST_VALUES
    return min(MOST_VALUES, max(_SURE_VALUES, math.isqrt(_MOST_BETWEEN // pairs)))


def rule_of(mechanism: str, options: dict[str, Any]) -> "Optimal":
    """The wishes that a finite channel was found under; of a rule that is not ours nothing but the promise is known."""
    return Optimal(**options) if mechanism == Optimal.name else Optimal(keep=None)


def optimality_from(plain: object) -> Optimality:
    """What proves a lower bound, as its `to_json` wrote it; anything else is refused."""
    if isinstance(plain, dict) and "slack" in plain:
        return Multipliers.from_json(plain)
    is_of_columns = isinstance(plain, dict) and "prices" in plain
    return Prices.from_json(plain) if is_of_columns else Duals.from_json(plain)


@dataclass(frozen=True)
class Optimal(Mechanism):
    """The channel of least expected loss among all that keep the promise, repaired and proved; proofs/optimal.md.

    Args:
        loss: "square", "absolute" or "change"; or a matrix, inputs by outputs, in the order of the first law's values.
            By default the square for numbers and the share of changed values for labels; for rows the columns are
            added up, numbers relative to their variance.
        weights: of rows, how much each column counts, one number each; all the same by default.
        keep: "marginal" (published values are spread as the true ones are), "mean", or None; by default "marginal"
            where one program holds the whole channel. By columns no mean is kept without it, and the marginal, where
            no linear program holds all rows or `confidence` is asked for, by sampling anew: at up to twice the cost.
        unbiased: whether each value is right on average.
        radius: the promise then holds for every prior within this total variation of the given ones; one number, or
            one for each secret.
        forbidden: (value, value) pairs of which the first must never be published as the second.
        diagonal: the share of values that must stay as they are.
        local_price: of bounded odds, a number λ: no value is more than e^λ times as likely to be published for one true
            value as for any other. It costs more, and is what a ledger adds up where the same people are published
            again (proofs/ledger.md).
        solver: "program" solves one convex program for the whole channel, which is the best there is; "columns" finds
            a channel of few moves by column generation or part by part (proofs/sparse.md), for as many as 50,000
            values. By default the program for up to 2,000 values of two laws, 816 of three and 300 of many
            (`most_values`), and columns beyond.
        rounds: by columns, how often all parts are gone through; more rounds find channels that change less.
        caution: by columns, standard deviations of what is not known, by the number of rows behind each law, that
            every published probability keeps in hand. Nothing is proved by it: it is what `confidence` chooses.
    """

    name: ClassVar[str] = "optimal"
    space: ClassVar[Space] = "values"
    proves: ClassVar[bool] = True
    label: ClassVar[str] = "Best channel"
    summary: ClassVar[str] = (
        "The least distortion of any mechanism: the best channel between finite lists of values, with a proof that "
        "none "
        "is better; between thousands of values a channel of few moves, found by columns and proved whole."
    )

    loss: Loss = None
    weights: tuple[float, ...] | None = None
    keep: str | None = AUTO
    unbiased: bool = False
    radius: float | tuple[float, ...] = 0.0
    forbidden: tuple[tuple[Value, Value], ...] = ()
    diagonal: float | None = None
    local_price: float | None = None
    solver: str = AUTO
    rounds: int = 6
    caution: float = 0.0

    def __post_init__(self) -> None:
        """Freeze what came as lists, so that equal options are equal, and refuse what no solver does."""
        frozen: dict[str, object] = {"loss": _loss(self.loss), "weights": _weights(self.weights)}
        frozen["radius"] = _radius(self.radius)
        if frozen["weights"] is not None and isinstance(frozen["loss"], tuple):
            raise InputError("weights are for a loss by name: a matrix says itself how much each column counts")
        if self.keep not in (*KEEPS, AUTO):
            raise InputError(f'preserve must be "marginal", "mean" or None, got {self.keep!r}')
        if not isinstance(self.unbiased, bool):
            raise InputError(f"unbiased must be True or False, got {self.unbiased!r}")
        if self.diagonal is not None:
            share = real("diagonal", self.diagonal, "a share between 0 and 1")
            if not 0 <= share <= 1:
                raise InputError(f"diagonal must be a share between 0 and 1, got {self.diagonal!r}")
            frozen["diagonal"] = share
        if self.local_price is not None:
            frozen["local_price"] = budget(self.local_price)
        try:
            frozen["forbidden"] = tuple((_row(a), _row(b)) for a, b in self.forbidden)
        except (TypeError, ValueError):
            raise InputError("forbidden must be a list of pairs: the true value, and what it must not become") from None
        frozen["rounds"] = integer("rounds", self.rounds, least=1)
        frozen["caution"] = _not_negative("caution", self.caution, "a finite number, 0 or more")
        for name, value in frozen.items():
            object.__setattr__(self, name, value)
        if self.solver not in (*_SOLVERS, AUTO):
            raise InputError(f'solver must be "program", "columns" or "{AUTO}", got {self.solver!r}')
        if self.solver != AUTO and (strange := self._strange_to(self.solver)):
            raise InputError(
                f"solver={self.solver!r} knows no {strange}: leave it out, or take {_other(self.solver)!r}"
            )

    def settled(self, problem: Problem) -> Self:
        """The same wishes with what hangs on the number of values decided: the solver, and whether shares are kept."""
        if AUTO not in (self.solver, self.keep):
            return self
        solver, values = self.solver, len(table_of(problem).values)
        if solver == AUTO:
            solver = "program" if values <= most_values(len(table_of(problem).pairs)) else "columns"
            if solver == "columns" and (strange := self._strange_to(solver)):
                raise InputError(
                    f"the laws are on {values:,} distinct values, {most_values(len(table_of(problem).pairs)):,} are "
                    f"the most for one program between so many laws by default, and "
                    f"solver={solver!r} knows no {strange}: leave it out, publish fewer columns, or give a coarser "
                    f"domain, such as Row(column, domain=[...])"
                )
        keep = self.keep if self.keep != AUTO else "marginal" if solver == "program" else None
        return replace(self, solver=solver, keep=keep)

    def _strange_to(self, solver: str) -> str | None:
        """What is asked for, in words, that a solver cannot do."""
        if solver == "columns" and isinstance(self.loss, tuple):
            return "loss that is a matrix"
        if solver == "columns" and self.keep == "mean":
            return "preserve='mean'"
        asked = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) not in (f.default, None)}
        return next((f"{name}={asked[name]!r}" for name in _ONLY[_other(solver)] if name in asked), None)

    def require(self, asked: Guarantee) -> None:
        """See `Mechanism`: several (ε, δ) beside odds, or one order beside odds."""
        rest, excesses = apart(asked)
        if rest is not None:
            super().require(rest)
        if excesses and rest is not None and rest.most_odds is None:
            raise MechanismError(
                f"{self.name!r} finds no channel for {asked}: it keeps (ε, δ) alone or beside odds, with no order α"
            )
        if excesses and (self.solver == "columns" or self.local_price is not None or np.any(self.radius)):
            raise MechanismError(
                f"{self.name!r} keeps (ε, δ) by one program, for the priors as they are: leave solver, radius and "
                f"local_price out, or ask for odds"
            )

    def find(self, problem: Problem, asked: Guarantee) -> Found:
        """Solve, repair and prove.

        Args:
            problem: laws on lists of values.
            asked: the guarantee.

        Returns:
            The channel in whole numbers, proved to keep it; with a lower bound on what any such channel costs and the
            numbers that prove the bound, where the search left some.

        Raises:
            MechanismError: where no channel keeps the guarantee and the utility constraints, or the search found none.
            CalibrationError: where what was found could not be repaired, so that nothing is proved.
        """
        rule = self.settled(problem)
        rule.require(asked)
        channel, bound, proof = _SOLVERS[rule.solver](rule, problem, asked)
        # Rounding to counts can miss a wish by a hair, and the exact condition for a radius is a hair wider than the
        # program's: what was found may cost less than the bound by as much, and a bound must not contradict it.
        stated = None if proof is None else to_state(bound, rule.cost(problem, channel))
        return Found(channel, None, stated, proof, rule.options)

    def proved_bound(self, problem: Problem, asked: Guarantee, proof: Optimality) -> float:
        """What no channel between these values that keeps the promise and the wishes costs less than, by a proof.

        Raises:
            InputError: where the proof is of another kind, or of another problem.
        """
        rule = self.settled(problem)
        if isinstance(proof, Multipliers) and apart(asked)[1]:
            return _with_delta(rule, problem, asked).lower_bound(proof)
        if rule.solver == "columns" and isinstance(proof, Prices):
            return _bound_by_columns(rule, problem, asked, proof)
        if rule.solver == "program" and isinstance(proof, Duals):
            return lower_bound(rule.program(problem, asked), proof)
        raise InputError(f"what proves the lower bound is not from solver={rule.solver!r}")

    def program(self, problem: Problem, asked: Guarantee) -> Program:
        """The convex program of a problem: the same from the same, so that a certificate can be checked.

        Args:
            problem: laws on lists of values.
            asked: the guarantee.

        Returns:
            The program about the values that somebody has; the others cost nothing.
        """
        return _solved_program(self.settled(problem), problem, asked)

    def whole_program(self, problem: Problem, asked: Guarantee) -> Program:
        """The program about all values, also those that nobody has: for a promise that covers who may have them."""
        return _program(self.settled(problem), problem, asked, np.arange(len(table_of(problem).values)))

    def support(self, problem: Problem) -> Indices:
        """The places of the values that `program` is about."""
        return _support(self.settled(problem), table_of(problem))

    def program_to(self, problem: Problem, asked: Guarantee, outputs: Indices, group: Indices) -> Program:
        """The program of bounded odds and nothing else, between groups of all values and some of them."""
        table = table_of(problem)
        cells = _cells(self.loss, self.weights, problem, None)
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        loss = cells.between(order, outputs)
        if len(starts) < len(order):
            weight = table.mass[order, None] + 1e-300  # of groups that nobody is in, all alike
            loss = np.add.reduceat(weight * loss, starts) / np.add.reduceat(weight, starts)
        return Program(
            laws=np.add.reduceat(table.laws[:, order], starts, axis=1),
            constraints=table.pairs,
            mass=np.add.reduceat(table.mass[order], starts),
            loss=loss,
            alpha=math.inf,
            epsilon=asked.epsilon,
        )

    def alike(self, problem: Problem, asked: Guarantee, most: int) -> Indices:
        """Which values lie close together and tell alike: a group for each, so many of them at most."""
        return alike(_column_program(replace(self, keep=None, caution=0.0), problem, asked.epsilon), most)

    def covering(self, problem: Problem, number: int) -> Indices:
        """The places of so many values that stand for all others at the least cost, about.

        Args:
            problem: laws on lists of values.
            number: how many.

        Returns:
            Places on the list.
        """
        cells = _cells(self.loss, self.weights, problem, None)
        return covering(cells, table_of(problem).mass, number)

    def proved_moves(self, problem: Problem, asked: Guarantee, moves: Moves) -> SparseChannel | None:
        """A channel of bounded odds as its moves, repaired and proved; None where the proof is not found."""
        return _proved(self, problem, asked, moves, asked.epsilon)

    def proved_counts(self, problem: Problem, asked: Guarantee, matrix: Array) -> Counts:
        """What a solver found for `program`, on all values, repaired and proved (proofs/finite-channels.md).

        Args:
            problem: laws on lists of values.
            asked: the guarantee.
            matrix: a channel in floats, which may break the guarantee by what a solver leaves over.

        Returns:
            Counts over a power of two.
        """
        rule, table = self.settled(problem), table_of(problem)
        forbidden = _forbidden(rule.forbidden, table.values)
        return repaired(
            _on_all(matrix, _support(rule, table), table.values),
            promise_of(problem, asked, radius=rule.reach(problem), local_price=rule.local_price),
            allowed=None if forbidden is None else ~forbidden,
            fallback=None if forbidden is None else _fallback(rule, problem, asked),
        )

    def is_kept(self, problem: Problem, asked: Guarantee, channel: Channel) -> bool:
        """Whether a channel is proved to keep the promise for every pair, belief and prior within the radius."""
        return is_kept(problem, asked, channel.as_list(), radius=self.reach(problem))

    def cost(self, problem: Problem, channel: Channel) -> float:
        """The expected loss of a published value."""
        table, channel = table_of(problem), channel.as_list()
        if len(channel.inputs) != len(table.values):
            raise InputError(f"the channel takes {len(channel.inputs)} values, and the laws are on {len(table.values)}")
        sources, targets, shares = channel.entries
        if isinstance(self.loss, tuple):
            lost = loss_matrix(self.loss, table.values, channel.outputs, table.mass)[sources, targets]
        else:
            lost = _cells(self.loss, self.weights, problem, channel.outputs).along(sources, targets)
        return float((table.mass / table.mass.sum())[sources] @ (lost * shares))

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


class _Solved(NamedTuple):
    """A channel that is proved to keep the promise; and a number that none costs less than, with its proof, if any."""

    channel: ListChannel
    bound: float = 0.0
    proof: Optimality | None = None


# One program for the whole channel.

_SAFER = 0.9  # the share of the budget for which a channel is solved that repair may fall back on


def _by_program(rule: Optimal, problem: Problem, asked: Guarantee) -> _Solved:
    if apart(asked)[1]:
        return _by_slack(rule, problem, asked)
    table, solution = table_of(problem), solve_faint(rule.program(problem, asked))
    counts = rule.proved_counts(problem, asked, solution.matrix)
    return _Solved(FiniteChannel(table.values, table.values, counts), solution.lower_bound, solution.duals)


def _by_slack(rule: Optimal, problem: Problem, asked: Guarantee) -> _Solved:
    table, program = table_of(problem), _with_delta(rule, problem, asked)
    matrix, multipliers = program.solved()
    counts = rule.proved_counts(problem, asked, matrix)
    return _Solved(FiniteChannel(table.values, table.values, counts), program.lower_bound(multipliers), multipliers)


def _with_delta(rule: Optimal, problem: Problem, asked: Guarantee) -> WithDelta:
    rest, excesses = apart(asked)
    # The smooth program asks for a guarantee of its own: where the odds are free, for one that nothing is held to.
    program = rule.program(problem, Renyi(math.inf, _FREE) if rest is None else rest)
    return WithDelta(program, excesses, None if rest is None else Fraction(program.factor))


_FREE = 700.0  # of a logarithm: odds that no float exceeds


def _fallback(rule: Optimal, problem: Problem, asked: Guarantee) -> Array | None:
    """A channel that keeps more than the promise, where forbidden moves leave no constant one to mix in."""
    if apart(asked)[1]:
        return _safer_slack(rule, problem, asked)
    odds = None if asked.odds_beside is None else 1 + _SAFER * (asked.odds_beside - 1)
    try:
        safer = solve(
            rule.program(problem, asked_for(alpha=asked.alpha, epsilon=_SAFER * asked.epsilon, odds=odds))
        ).matrix
        table = table_of(problem)
        return _on_all(safer, _support(rule, table), table.values)
    except (MechanismError, CalibrationError):
        return None


def _safer_slack(rule: Optimal, problem: Problem, asked: Guarantee) -> Array | None:
    rest, excesses = apart(asked)
    parts: list[Guarantee] = [Approximate(epsilon, _SAFER * delta) for epsilon, delta in excesses]
    stricter = reduce(and_, parts if rest is None else [rest, *parts])
    try:
        matrix, _ = _with_delta(rule, problem, stricter).solved()
    except MechanismError:
        return None
    table = table_of(problem)
    return _on_all(matrix, _support(rule, table), table.values)


@lru_cache(maxsize=32)
def _solved_program(rule: Optimal, problem: Problem, asked: Guarantee) -> Program:
    return _program(rule, problem, asked, _support(rule, table_of(problem)))


def _program(rule: Optimal, problem: Problem, asked: Guarantee, here: Indices) -> Program:
    table = table_of(problem)
    if len(table.values) > MOST_VALUES:
        raise InputError(
            f"the laws are on {len(table.values):,} distinct values, and one program is solved for {MOST_VALUES:,} at "
            f"most: take solver='columns', or give a coarser domain, such as Row(column, domain=[...])"
        )
    radius = rule.reach(problem) if np.any(rule.reach(problem)) else None
    laws = Priced(table.laws[:, here], table.pairs, radius, None)
    if rule.local_price is not None:
        laws = _priced(laws, asked, rule.local_price)
    numeric = all(map(number, table.values))
    numbers = np.array(table.values, dtype=np.float64)[here] if numeric else None
    forbidden = _forbidden(rule.forbidden, table.values)
    loss = loss_matrix(rule.loss, table.values, table.values, table.mass, weights=rule.weights)
    return Program(
        laws=laws.laws,
        constraints=laws.constraints,
        mass=table.mass[here],
        loss=loss[np.ix_(here, here)],
        alpha=asked.alpha,
        epsilon=asked.epsilon,
        odds=asked.odds_beside,
        inputs=numbers,
        outputs=numbers,
        keep=rule.keep,  # type: ignore[arg-type]
        unbiased=rule.unbiased,
        forbidden=None if forbidden is None else forbidden[np.ix_(here, here)],
        diagonal=rule.diagonal,
        radius=laws.radius,
        chances=laws.chances,
    )


class Priced(NamedTuple):
    """The laws of a program, the pairs of them, the radius of each, and what each is multiplied by."""

    laws: Array
    constraints: tuple[tuple[int, int], ...]
    radius: Array | None
    chances: Array | None


def _priced(given: Priced, asked: Guarantee, local_price: float) -> Priced:
    """The laws, and each value twice as a law of its own: as often as odds of e^λ allow, in units of the odds.

    W(y|x) ≤ e^λ W(y|x') is p(y) ≤ ρ q(y) for p = (ρ/e^λ)·W(y|x) and q = W(y|x').
    """
    if math.isfinite(asked.alpha) or asked.odds_beside is not None:
        raise MechanismError("local_price is known beside bounded odds alone: leave alpha, or local_price, out")
    count, values = given.laws.shape
    if values > MOST_PRICED:
        raise MechanismError(
            f"local_price is known for lists of up to {MOST_PRICED} values, and this one has {values}: give a coarser "
            f"domain"
        )
    first, second = count + np.arange(values), count + values + np.arange(values)
    pairs = tuple((int(first[x]), int(second[z])) for x in range(values) for z in range(values) if x != z)
    nothing = np.zeros(2 * values)
    scale = math.exp(asked.epsilon - local_price)
    return Priced(
        np.vstack([given.laws, np.eye(values), np.eye(values)]),
        given.constraints + pairs,
        None if given.radius is None else np.concatenate([given.radius, nothing]),
        np.concatenate([np.ones(count), np.full(values, scale), np.ones(values)]),
    )


def _support(rule: Optimal, table: Table) -> Indices:
    """The values that the program is about: all, or with kept shares those that have one.

    A value that nobody has keeps a share of nothing: no row may become it, and a program that says so has no interior.
    """
    return np.flatnonzero(table.mass > 0) if rule.keep == "marginal" else np.arange(len(table.values))


def _on_all(matrix: Array, support: Indices, values: tuple[Value, ...]) -> Array:
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


def _forbidden(moves: tuple[tuple[Value, Value], ...], values: tuple[Value, ...]) -> Mask | None:
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


# Thousands of values, by columns: only the moves that may be used are held.

_MARGIN = 1e-5  # of the odds, left for rounding to whole numbers
_LEANING = 0.8  # of the most that a published probability may be kept in hand
_LARGEST_ODDS = 1e6  # beyond, a promise of finite order is not loosened further
_LARGEST_LOGARITHM = 700.0  # of odds that are a float
_LOOSENINGS = 8
_SAFE_SHARES = tuple(2.0**-k for k in range(12, 0, -1))  # of a channel that tells less
_PRESERVED = 1e-7  # total variation between true and published values that is taken for a preserved marginal
_CLOSE = 0.97  # of the budget: a channel this close to it is not loosened further


def _by_columns(rule: Optimal, problem: Problem, asked: Guarantee) -> _Solved:
    if math.isfinite(asked.alpha) and rule.caution == 0:
        found = searched_whole(_order_program(rule, problem, asked), rounds=rule.rounds)
        channel = None if found is None else _cut_channel(rule, problem, asked, found.moves)
        if found is not None and channel is not None:
            return _with_bound(rule, problem, asked, channel, found)
    # Odds within e^ε are a divergence within ε at every order; of finite order they may be larger, within reason.
    strict = _strict(asked)
    found = searched(_column_program(rule, problem, strict), rounds=rule.rounds)
    channel = _proved(rule, problem, asked, found.moves, strict)
    if channel is None:
        found = found._replace(moves=one_output(_column_program(rule, problem, strict)))
        channel = _proved(rule, problem, asked, found.moves, strict)
    if channel is None:
        raise CalibrationError("a channel that tells nothing could not be proved to: please report this case")
    if math.isfinite(asked.alpha):
        return _Solved(_loosened(rule, problem, asked, found, strict, channel))
    return _with_bound(rule, problem, asked, channel, found)


def _strict(asked: Guarantee) -> float:
    """The logarithm of odds that are enough for the guarantee."""
    return min(asked.epsilon, math.inf if asked.odds_beside is None else math.log(asked.odds_beside))


def _cut_channel(rule: Optimal, problem: Problem, asked: Guarantee, moves: Moves) -> SparseChannel | None:
    """What was found between tangent planes, proved; with as little as is needed of a channel that tells less."""
    odds = math.log(_LARGEST_ODDS if asked.odds_beside is None else asked.odds_beside)
    channel = _proved(rule, problem, asked, moves, odds)
    if channel is not None:
        return channel
    safe = searched(_column_program(rule, problem, _SAFER * _strict(asked)), rounds=rule.rounds).moves
    for share in _SAFE_SHARES:
        channel = _proved(rule, problem, asked, moves.mixed(safe, share), odds)
        if channel is not None:
            return channel
    return None


def _with_bound(rule: Optimal, problem: Problem, asked: Guarantee, channel: SparseChannel, found: Searched) -> _Solved:
    """The channel with what the prices prove, where they do."""
    proof = found.prices
    if proof is None or rule.caution > 0 or (rule.keep == "marginal" and not proof.kept.size):
        return _Solved(channel)
    return _Solved(channel, _bound_by_columns(rule, problem, asked, proof), proof)


def _bound_by_columns(rule: Optimal, problem: Problem, asked: Guarantee, prices: Prices) -> float:
    if math.isfinite(asked.alpha):
        return lower_bound_by_columns(_wider(_order_program(rule, problem, asked), asked.odds_beside or 1.0), prices)
    if asked.odds_beside is not None:
        raise InputError("bounded odds twice are asked for: leave one out")
    if asked.epsilon > _LARGEST_LOGARITHM:
        return 0.0
    plain = _column_program(rule, problem, asked.epsilon)
    return lower_bound_by_columns(_wider(plain, math.exp(asked.epsilon)), prices)


def _wider(program: ColumnProgram, odds: float) -> ColumnProgram:
    """With the odds themselves: e^ε as a float may be below it by a rounding or two; larger ones lower the bound."""
    return replace(program, odds=odds * (1 + 1e-15) if program.groups else math.inf)


def _loosened(
    rule: Optimal, problem: Problem, asked: Guarantee, begun: Searched, strict: float, channel: SparseChannel
) -> SparseChannel:
    """The cheapest of several channels with larger and larger odds that are proved to keep (α, ε) and the odds.

    The divergence grows about as the square of the logarithm of the odds does, which says how far to go.
    """
    most = math.log(_LARGEST_ODDS if asked.odds_beside is None else asked.odds_beside)
    best, low, high, here = channel, strict, math.inf, strict
    for _ in range(_LOOSENINGS):
        used = _used(problem, asked, best) if here == low else 1.0
        if used >= _CLOSE or low >= most:
            break
        here = low * math.sqrt(1 / max(used, 1e-4)) if math.isinf(high) else math.sqrt(low * high)
        here = min(here, most, 4 * low)
        if high < 1.05 * low or here <= low:
            break
        looser = searched(_column_program(rule, problem, here), rounds=max(1, rule.rounds // 2), start=begun)
        found = _proved(rule, problem, asked, looser.moves, here)
        if found is None:
            high = here
            continue
        begun, low = looser, here
        if rule.cost(problem, found) < rule.cost(problem, best):
            best = found
    return best


def _used(problem: Problem, asked: Guarantee, channel: SparseChannel) -> float:
    """The share of the budget that the worst pair uses."""
    table = table_of(problem)
    published = channel.through(table.laws / table.laws.sum(axis=1, keepdims=True))
    first, second = np.array(table.pairs).T
    return float(finite_divergence(published[first], published[second], alpha=asked.alpha).max()) / asked.epsilon


def _proved(rule: Optimal, problem: Problem, asked: Guarantee, moves: Moves, log_odds: float) -> SparseChannel | None:
    mass = table_of(problem).mass / table_of(problem).mass.sum()
    if rule.keep == "marginal" and moves.apart(mass) > _PRESERVED:
        anew = resampled(moves, mass)
        if anew is None:
            raise MechanismError(
                f"to preserve the marginal of {len(mass):,} values takes more moves than a file should hold: publish "
                f"fewer columns together, give them a coarser domain, or take preserve=None"
            )
        moves = anew
    odds = Fraction(max(1.0, math.exp(min(log_odds, math.log(_LARGEST_ODDS))) * (1 - 1e-12)))
    return repaired_moves(moves, table_of(problem).values, promise_of(problem, asked), odds=odds)


def _order_program(rule: Optimal, problem: Problem, asked: Guarantee) -> ColumnProgram:
    """A guarantee of finite order, with odds beside it or without."""
    order = FiniteOrder(asked.alpha, asked.epsilon, table_of(problem).pairs)
    if asked.odds_beside is not None:
        return replace(_column_program(rule, problem, math.log(asked.odds_beside)), order=order)
    return replace(_column_program(rule, problem, asked.epsilon), order=order, odds=math.inf, groups=())


def _column_program(rule: Optimal, problem: Problem, log_odds: float) -> ColumnProgram:
    table, groups = table_of(problem), groups_of(table_of(problem).pairs)
    if len(table.values) > MOST_CELLS:
        raise MechanismError(
            f"the laws are on {len(table.values):,} distinct values, and a channel is found for {MOST_CELLS:,} at "
            f"most: publish fewer columns together, or give them a coarser domain"
        )
    odds = math.exp(min(log_odds, math.log(_LARGEST_ODDS))) * (1 - _MARGIN)
    if not odds > 1:
        odds = 1.0  # a budget below the margin: only what tells nothing is left
    lean, floor = 0.0, np.zeros(len(table.laws))
    if rule.caution > 0 and odds > 1:
        # √(p/n) ≤ (p/√r + √r/n)/2 for every r: of what p may be off by, a part that is linear in p.
        lean = _LEANING * (odds - 1) / (2 * (odds + 1))
        floor = (rule.caution / (2 * lean)) ** 2 / _rows(problem)
    totals = np.array([math.fsum(law) for law in table.laws.tolist()])  # in whatever order the values are
    return ColumnProgram(
        laws=table.laws / totals[:, None],
        groups=groups,
        mass=table.mass / math.fsum(table.mass.tolist()),
        cells=_cells(rule.loss, rule.weights, problem, None),
        odds=odds,
        lean=lean,
        floor=floor,
        keeps_marginal=rule.keep == "marginal" and rule.caution == 0 and can_preserve(len(table.values), groups),
    )


@lru_cache(maxsize=8)
def _cells(loss: Loss, weights: tuple[float, ...] | None, problem: Problem, outputs: tuple[Value, ...] | None) -> Cells:
    table = table_of(problem)
    assert not isinstance(loss, tuple)  # a matrix is looked up itself
    return Cells.of(table.values, table.mass, outputs=outputs, loss=loss, weights=weights)


def _rows(problem: Problem) -> Array:
    """How many rows, pseudo-rows among them, each law rests on; of a law by hand, what its weights sum to."""
    found = []
    for place, belief in enumerate(problem.beliefs):
        for secret, law in zip(problem.pairs.secrets, problem.laws(place), strict=True):
            counted = belief.counted.get(secret)
            found.append(law.total if counted is None else float(sum(map(np.sum, counted))))
    return np.array(found)


_SOLVERS: dict[str, Callable[[Optimal, Problem, Guarantee], _Solved]] = {"program": _by_program, "columns": _by_columns}

# Options as they come, from a caller or from a file.


def _other(solver: str) -> str:
    return "columns" if solver == "program" else "program"


def _loss(given: object) -> Loss:
    if given is None or (isinstance(given, str) and given in NAMES):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"loss must be one of {', '.join(map(repr, NAMES))} or a matrix, got {given!r}")
    return frozen_matrix(given)


def _weights(given: object) -> tuple[float, ...] | None:
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError("weights must be a list of numbers, one for each column")
    return tuple(_not_negative("weights", one, "numbers, 0 or more") for one in given)


def _not_negative(name: str, given: object, accepted: str) -> float:
    found = real(name, given, accepted)
    if found < 0:
        raise InputError(f"{name} must be {accepted}, got {given!r}")
    return found


def _row(value: Value | list[Scalar]) -> Value:
    """A row that came as a list, as from a file, as the tuple that it is."""
    return tuple(value) if isinstance(value, list) else value


def _radius(value: object) -> float | tuple[float, ...]:
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return tuple(map(_one_radius, value))
    return _one_radius(value)


def _one_radius(value: object) -> float:
    found = real("radius", value, "a number from 0 to below 1")
    if not 0 <= found < 1:
        raise InputError(f"radius must be a number from 0 to below 1, got {value!r}")
    return found
