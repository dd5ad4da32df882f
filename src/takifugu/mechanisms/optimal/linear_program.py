"""Bounded odds as a linear program, handed to HiGHS: a vertex instead of the interior point's centre.

With α = ∞ every promise and wish is linear. The dual values it returns prove a bound like any others.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu._work import interruptible
from takifugu.mechanisms.optimal.lower_bound import Duals
from takifugu.mechanisms.optimal.program import Indices, Mask, Program, components, hardly_changed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Sparse matrices as lists of their entries, while a linear program is written down.
#
# SciPy checks every matrix that it makes, and of small programs these checks took longer than solving them. So there
# is one such matrix, made at the end.


@dataclass(frozen=True)
class Entries:
    """Where entries stand and what they are; of several in one place the sum is meant."""

    rows: Indices
    columns: Indices
    values: Array
    shape: tuple[int, int]

    def __neg__(self) -> "Entries":
        """Every entry with its sign turned."""
        return Entries(self.rows, self.columns, -self.values, self.shape)

    def times(self, factor: float) -> "Entries":
        """Every entry as many times."""
        return Entries(self.rows, self.columns, factor * self.values, self.shape)

    def __add__(self, other: "Entries") -> "Entries":
        """The entries of both."""
        return together([self, other], self.shape)

    def moved(self, down: int, right: int) -> "Entries":
        """The same entries further down and to the right, in a matrix that is larger by as much."""
        shape = (self.shape[0] + down, self.shape[1] + right)
        return Entries(self.rows + down, self.columns + right, self.values, shape)

    def sparse(self) -> "csr_array":
        """The matrix as SciPy has it, row by row and without zeros."""
        from scipy.sparse import coo_array

        matrix = coo_array((self.values, (self.rows, self.columns)), shape=self.shape).tocsr()
        matrix.eliminate_zeros()
        return matrix


def together(blocks: list[Entries], shape: tuple[int, int]) -> Entries:
    """The entries of several in one matrix."""
    return Entries(
        np.concatenate([block.rows for block in blocks]),
        np.concatenate([block.columns for block in blocks]),
        np.concatenate([block.values for block in blocks]),
        shape,
    )


def listed(matrix: Array) -> Entries:
    """The entries of a dense matrix that are not zero."""
    rows, columns = np.nonzero(matrix)
    return Entries(rows, columns, matrix[rows, columns], matrix.shape)


def picked(columns: Indices, width: int) -> Entries:
    """A row for each of the columns named, with a one there."""
    return Entries(np.arange(columns.size), columns, np.ones(columns.size), (columns.size, width))


def diagonal(values: Array) -> Entries:
    """A square matrix with these values on its diagonal."""
    at = np.arange(values.size)
    return Entries(at, at, values, (values.size, values.size))


def identity(size: int) -> Entries:
    """The identity of this many rows."""
    return diagonal(np.ones(size))


def kron(left: Entries, right: Entries) -> Entries:
    """The Kronecker product: the right matrix in the place of every entry of the left one, times that entry.

    Args:
        left: the matrix whose entries become blocks.
        right: the matrix that every block is a multiple of.

    Returns:
        The entries of left ⊗ right.
    """
    (height, width), other = right.shape, left.shape
    return Entries(
        (left.rows[:, None] * height + right.rows).ravel(),
        (left.columns[:, None] * width + right.columns).ravel(),
        (left.values[:, None] * right.values).ravel(),
        (other[0] * height, other[1] * width),
    )


class Rows:
    """Rows of a sparse linear program over groups of variables, each with a name and a width, block by block.

    Where the program is about a whole channel one of the groups is "channel", K(y|x) row by row.
    """

    def __init__(self, widths: dict[str, int]) -> None:
        """The groups, in the order of their variables."""
        self.widths = widths
        self.starts = dict(zip(widths, np.cumsum([0, *widths.values()]).tolist(), strict=False))
        self.height = 0
        self.blocks: list[Entries] = []
        self.limits: list[Array] = []

    def add(self, limit: Array, **parts: Entries) -> None:
        """A block given by its parts over some of the groups; over the others it is zero."""
        self.blocks += [part.moved(self.height, self.starts[name]) for name, part in parts.items()]
        self.height += limit.size
        self.limits.append(limit)

    def entries(self) -> Entries:
        """All rows, as one matrix."""
        return together(self.blocks, (self.height, sum(self.widths.values())))

    def limit(self) -> Array:
        """What the rows are at most, or equal to."""
        return np.concatenate(self.limits)


class Answer(NamedTuple):
    """What HiGHS found, if it did: the variables, and what a unit of each limit is worth to the cost (0 or less)."""

    is_found: bool
    gave_up: bool
    variables: Array
    below: Array
    equal: Array
    lower: Array
    steps: int


def highs(
    cost: Array,
    *,
    below: Rows,
    equal: Rows,
    upper: Array | None = None,
    method: str = "highs",
    seconds: float,
    is_long: bool = False,
    **options: float,
) -> Answer:
    """The least cost with variables from 0 to `upper`, `below` within and `equal` at their limits.

    Whoever interrupts the program need not wait for one that `is_long`. `options` are those of SciPy's `linprog`.
    """
    from scipy.optimize import linprog

    work = partial(
        linprog,
        cost,
        A_ub=below.entries().sparse(),
        b_ub=below.limit(),
        A_eq=equal.entries().sparse(),
        b_eq=equal.limit(),
        bounds=(0, None) if upper is None else np.stack([np.zeros_like(upper), upper], axis=1),
        method=method,
        options={"time_limit": seconds} | options,
    )
    found = interruptible(work) if is_long else work()
    if found.status != 0 or found.x is None:
        nothing = np.zeros(0)  # 1 and 4: out of steps or time, or lost in rounding
        return Answer(False, found.status in (1, 4), nothing, nothing, nothing, nothing, 0)
    below_at, equal_at = found.ineqlin.marginals, found.eqlin.marginals
    return Answer(True, False, found.x, below_at, equal_at, found.lower.marginals, int(found.nit))


# The rows of a channel's wishes.


def add_wishes(program: Program, rows: Rows) -> None:
    """The wishes that are equalities: the marginal, then the mean or every input's own."""
    n, m = program.size
    pooled = listed(program.pooled[None, :])
    if program.keep == "marginal":
        rows.add(program.pooled, channel=kron(pooled, identity(m)))
    if program.outputs is not None and program.inputs is not None:
        out = listed(program.outputs[None, :])
        if program.unbiased:
            rows.add(program.inputs, channel=kron(identity(n), out))
        elif program.keep == "mean":
            rows.add(np.array([program.pooled @ program.inputs]), channel=kron(pooled, out))


def add_diagonal(program: Program, rows: Rows) -> None:
    """The share that stays as it is, where one is promised: an inequality."""
    if program.diagonal is not None:
        rows.add(np.array([-program.diagonal]), channel=listed(-np.diag(program.pooled).reshape(1, -1)))


# Laws of which each is hidden from each, as rows of a linear program: a floor for each output in place of all pairs.
#
# p_i ≤ ρ p_j holds for all i and j exactly if some f has p_i ≤ ρ f and f ≤ p_i for every i: the least of them is one.
# That takes two rows for each law, where pairs take the square (proofs/optimal.md).


class Grouped(NamedTuple):
    """The constraints of a program: the laws of each group, and the places of constraints that are in none."""

    groups: tuple[Indices, ...]
    rest: Indices


def grouped(program: Program) -> Grouped:
    """Groups where they take fewer rows than the pairs in them.

    With a radius there are none: a law against itself, which a floor asks for too, is promised nothing then.
    """
    count = len(program.constraints)
    if program.radius is not None:
        return Grouped((), np.arange(count))
    component, whole = families(program)
    groups: list[Indices] = []
    free = np.ones(count, dtype=np.bool_)
    for name in np.flatnonzero(whole):
        among = np.flatnonzero(component == name)
        if 2 * among.size < among.size * (among.size - 1):
            groups.append(among)
            free &= component[program.left] != name
    return Grouped(tuple(groups), np.flatnonzero(free))


def families(program: Program) -> tuple[Indices, Mask]:
    """The `components` of a program, and of which of them every law is hidden from every other."""
    component = components(program.left, program.right, len(program.laws))
    sizes = np.bincount(component)
    held = np.bincount(component[program.left], minlength=len(sizes))
    with_itself = np.bincount(component[program.left[program.left == program.right]], minlength=len(sizes))
    return component, (held == sizes * (sizes - 1)) & (with_itself == 0)


def shared_out(program: Program, groups: tuple[Indices, ...], above: list[Array], below: list[Array]) -> Array:
    """Multipliers of pairs, outputs × constraints, from those of the rows: (laws × outputs) for each group.

    What the rows p_i ≤ ρ f and f ≤ p_j pay for the floor balances, so that each i can pay the j in proportion.
    """
    found = np.zeros((program.size[1], len(program.constraints)))
    if not groups:
        return found
    place = places(program)
    for group, pay, take in zip(groups, above, below, strict=True):
        total = take.sum(axis=0)
        share = np.divide(take, total, out=np.zeros_like(take), where=total > 0)
        for k in np.flatnonzero(pay.any(axis=1)):
            others = place[group[k], group]
            apart = others >= 0
            found[:, others[apart]] += (pay[k] * share[apart]).T
    return found


def places(program: Program) -> Indices:
    """Which constraint a law and another are in, laws × laws; −1 where they are in none."""
    found = np.full((len(program.laws), len(program.laws)), -1)
    found[program.left, program.right] = np.arange(len(program.constraints))
    return found


# Which rows of a linear program of many laws are written down: those of pairs that may bind, output by output.
#
# A thousand laws on fifty values have fifty million rows, and some two thousand of them bind.

_MANY = 24  # laws that are hidden from one another: of fewer all rows are written at once, in less time
_FIRST, _MORE = 4, 6  # laws that show an output the most, and as many that show it the least, of which pairs are made
_BROKEN = 1e-8  # less is mended by mixing in a trace of a constant row
_MANY_PAIRS = 40  # of few laws each, as the times of a chain have them
_FIRST_OF_ALL, _MORE_OF_ALL = 3, 4  # pairs for each output: of neighbouring times nearly the same is asked


class Shown(NamedTuple):
    """Pairs, by their places among the constraints, and the output that the odds of each are bounded at."""

    pairs: Indices
    outputs: Indices

    def means(self, program: Program) -> Indices:
        """The places, in laws × outputs, of what these rows are about."""
        m = program.size[1]
        return np.unique([law[self.pairs] * m + self.outputs for law in (program.left, program.right)])


def everywhere(program: Program, pairs: Indices) -> Shown:
    """These pairs at every output."""
    m = program.size[1]
    return Shown(np.repeat(pairs, m), np.tile(np.arange(m), len(pairs)))


@dataclass(frozen=True)
class _Screened(ABC):
    """A program whose rows are written down as they bind."""

    program: Program

    first: ClassVar[int]
    more: ClassVar[int]

    def hardest(self, allowed: Mask) -> Shown:
        """The pairs that hardly any change at all gives away the most, at every output."""
        start = hardly_changed(self.program, allowed)
        return self._shown(np.unique(self._candidates(start, self.first, least=0.0)))

    def broken(self, matrix: Array, shown: Shown) -> Shown | None:
        """The rows, and more that a channel breaks; None where it breaks no others."""
        more = self._candidates(matrix, self.more, least=self.program.factor * (1.0 + _BROKEN))
        rows = np.union1d(shown.pairs * self.program.size[1] + shown.outputs, more)
        return None if len(rows) == len(shown.pairs) else self._shown(rows)

    def _shown(self, rows: Indices) -> Shown:
        return Shown(*np.divmod(rows, self.program.size[1]))

    @abstractmethod
    def _candidates(self, matrix: Array, count: int, *, least: float) -> Indices:
        """Rows, as pair × outputs + output, whose odds are above `least`."""


@dataclass(frozen=True)
class Many(_Screened):
    """A program of many laws, each hidden from all others that pairs lead to; which family each is of; its pairs.

    The pair that breaks an output's odds the most is then one of the largest and the least that show it.
    """

    family: Indices
    place: Indices

    first: ClassVar[int] = _FIRST
    more: ClassVar[int] = _MORE

    @classmethod
    def of(cls, program: Program) -> "Many | None":
        """None where there are few laws, a pair is missing, or each law is a point, whose rows are short."""
        if len(program.laws) <= _MANY or np.count_nonzero(program.laws) <= len(program.laws):
            return None
        family, whole = families(program)
        return cls(program, family, places(program)) if whole.all() and np.bincount(family).max() > _MANY else None

    def _candidates(self, matrix: Array, count: int, *, least: float) -> Indices:
        """Rows, as pair × outputs + output, whose odds are above `least`, of laws that show an output most or least."""
        program, m = self.program, self.program.size[1]
        published = program.shares @ matrix
        spread = program.reach[:, None] * (np.ptp(matrix, axis=0) if program.radius is not None else 0.0)
        high, low = published + spread, published - spread
        every, found = np.arange(m), []
        for name in range(self.family.max() + 1):
            laws = np.flatnonzero(self.family == name)
            most = laws[np.argsort(-high[laws], axis=0, kind="stable")[:count]][:, None, :]
            fewest = laws[np.argsort(low[laws], axis=0, kind="stable")[:count]][None, :, :]
            pair = self.place[most, fewest]
            over = (pair >= 0) & (high[most, every] > least * low[fewest, every])
            found.append((pair * m + every)[over])
        return np.concatenate(found)


@dataclass(frozen=True)
class ManyPairs(_Screened):
    """A program of many pairs in small families, such as the two states at each time of a chain: few of them bind."""

    first: ClassVar[int] = _FIRST_OF_ALL
    more: ClassVar[int] = _MORE_OF_ALL

    @classmethod
    def of(cls, program: Program) -> "ManyPairs | None":
        """None where there are few pairs, or each law is a point."""
        if len(program.constraints) <= _MANY_PAIRS or np.count_nonzero(program.laws) <= len(program.laws):
            return None
        return cls(program)

    def _candidates(self, matrix: Array, count: int, *, least: float) -> Indices:
        """Rows, as pair × outputs + output: of each output the pairs whose odds are the most above `least`."""
        program, m = self.program, self.program.size[1]
        published = program.shares @ matrix
        spread = program.reach[:, None] * (np.ptp(matrix, axis=0) if program.radius is not None else 0.0)
        high, low = (published + spread)[program.left], (published - spread)[program.right]
        with np.errstate(divide="ignore", invalid="ignore"):
            over = np.where(high > least * low, high / np.maximum(low, 0.0), -1.0)
        worst = np.argsort(-over, axis=0, kind="stable")[:count]
        kept = np.take_along_axis(over, worst, axis=0) >= 0
        found: Indices = np.unique((worst * m + np.arange(m))[kept])
        return found


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
    many = Many.of(program) or ManyPairs.of(program)
    if many is not None:
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

    def solved(method: str, **more: float) -> Answer:
        return highs(
            np.concatenate(cost),
            below=_inequalities(program, groups, shown, means, widths),
            equal=_equalities(program, means, widths),
            upper=np.concatenate(upper),
            method=method,
            seconds=seconds,
            is_long=n * m > _LONG,
            primal_feasibility_tolerance=1e-10,
            dual_feasibility_tolerance=1e-10,
            **more,
        )

    found = None
    if program.radius is None:
        found = solved("highs")
    elif program.keep != "marginal" or np.unique(program.loss).size > _ALIKE:
        found = solved("highs-ds", maxiter=_STEPS * n * (1 + program.laws.shape[0] // _LAWS))
    if program.radius is not None and (found is None or found.gave_up):
        found = solved("highs-ipm")
    if found is None or not found.is_found:
        return None
    matrix = found.variables[: n * m].reshape(n, m)
    if program.radius is not None:
        matrix = matrix + found.variables[-2 * m : -m]
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
    found: Answer
    scale: float
    equations: int
    matrix: Array

    def proved(self) -> Linear:
        """With the multipliers, which of a million pairs are a large table."""
        return Linear(self.matrix, _duals(self), self.found.steps)


def _equalities(program: Program, means: Indices, widths: dict[str, int]) -> Rows:
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
    return rows


def _inequalities(
    program: Program, groups: tuple[Indices, ...], shown: Shown, means: Indices, widths: dict[str, int]
) -> Rows:
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
    return rows


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
    below, equal = -scale * found.below, -scale * found.equal
    sides = [m * len(group) for group in groups for _ in range(2)]
    lengths = [len(shown.pairs), *sides, 0 if program.diagonal is None else 1]
    pairs, *floors, diagonal, over = np.split(np.maximum(below, 0.0), np.cumsum(lengths))
    tables = [floor.reshape(-1, m) for floor in floors]
    odds = shared_out(program, groups, tables[::2], tables[1::2])
    odds[shown.outputs, shown.pairs] = pairs
    kept, mean = np.split(equal[equations:], [m if program.keep == "marginal" else 0])
    spread = np.zeros((0, 0))
    if program.radius is not None:
        under = np.maximum(scale * found.lower[: n * m], 0.0)
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
