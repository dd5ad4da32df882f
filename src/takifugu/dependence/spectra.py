"""Noise on a series, correlated over time: the spectrum that costs least and hides every time from a class of profiles.

A profile says by how much the other times change with the one that is hidden; noise of covariance Σ loses k'Σ⁻¹k for
it. Times are laid on a circle, where Σ⁻¹ is a spectrum: the best one is found by convex duality, and what it loses is
then bounded for the whole class, between the profiles that were looked at too (proofs/dependence.md, claims 6 to 8).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import ClassVar

import numpy as np

from takifugu import _validation as check
from takifugu._validation import Array
from takifugu.divergences import working_precision
from takifugu.errors import CalibrationError, InputError

_UNIT = 2.0**-53
_ENTRY = 2.0**-46  # of a profile: how far a float is from it
_STEP = 2e-3  # what a cell between two profiles of a class may add to the norm of a profile
_UNCORRELATED = 9.0  # e^-9 is a memory of 0.0001: below it all are one cell
_ENOUGH = 2e-3  # the search ends when its cost is proved to be this close to the least
_ROUNDS = 60
_LEAST = 0.05  # of white noise: no frequency is published with less
_FAR = 45.0
_BITS = 128


@dataclass(frozen=True)
class Circle:
    """Noise on a circle of times, by its variance at each frequency from 0 to a half."""

    spectrum: Array
    size: int
    precision: Array = field(init=False, repr=False)
    """Σ⁻¹ by distance."""
    error: float = field(init=False, repr=False)
    """How far a float of it may be off."""

    def __post_init__(self) -> None:
        """Invert the spectrum in balls."""
        mid, error = _by_distance([1.0 / x for x in self.spectrum.tolist()], self.size)
        # A quotient above is off by half a unit in its last place, and so is every term of the sum.
        object.__setattr__(self, "precision", mid)
        object.__setattr__(self, "error", error + 2 * _UNIT / float(self.spectrum.min()))

    @property
    def variance(self) -> float:
        """Of every value."""
        return float(weights(self.size) @ self.spectrum)

    @property
    def stiffness(self) -> float:
        """The largest eigenvalue of Σ⁻¹."""
        return float(1 / self.spectrum.min()) * (1 + 4 * _UNIT)

    def covariance(self, n: int) -> Array:
        """For n times in a row, raised on the diagonal by more than its entries are rounded."""
        distances, error = _by_distance(self.spectrum.tolist(), self.size)
        raised = distances[:n].copy()
        raised[0] += 2 * n * (error + _UNIT * float(np.abs(distances).max()))
        found: Array = raised[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))]
        return found

    def norms(self, before: Array, after: Array) -> Array:
        """An upper bound on k'Σ⁻¹k for every way to go on before the time that is hidden, and every way after it.

        Rows hold k(1), k(2), …: `before` backwards in time, `after` forwards.
        """
        lags = np.arange(1, 1 + before.shape[1])
        same = self.precision[np.abs(np.subtract.outer(lags, lags))]
        across = self.precision[np.add.outer(lags, lags)]
        line = self.precision[lags]

        def own(rows: Array) -> Array:
            found: Array = np.einsum("ij,ij->i", rows @ same, rows) + 2 * (rows @ line)
            return found

        forwards = own(after)
        backwards = forwards if before is after else own(before)
        found = self.precision[0] + backwards[:, None] + forwards + 2 * (before @ across @ after.T)
        longest = 1 + max(float(np.abs(rows).sum(axis=1).max()) for rows in (before, after)) * 2
        width = 1 + max(float((rows**2).sum(axis=1).max()) for rows in (before, after)) * 2
        terms = 4 * before.shape[1] + 32
        off = self.error * longest**2 + terms * _UNIT * width * float(np.abs(self.precision).sum())
        # The entries of the profiles themselves are floats near the true ones.
        off_entries = _ENTRY * math.sqrt(self.size * self.stiffness)
        bound: Array = (np.sqrt(np.maximum(found + off, 0.0)) + off_entries) ** 2 * (1 + 8 * _UNIT)
        return bound


def weights(size: int) -> Array:
    """How much each frequency from 0 to a half counts in a mean over the circle."""
    found: Array = np.full(size // 2 + 1, 2 / size)
    found[0] = 1 / size
    if size % 2 == 0:
        found[-1] = 1 / size
    return found


def _by_distance(spectrum: Sequence[float], size: int) -> tuple[Array, float]:
    """The row of a circulant matrix with these eigenvalues, summed in balls, and a bound on what is rounded."""
    from flint import arb, arb_mat, fmpq

    with working_precision(_BITS):
        cosines = [arb.cos_pi_fmpq(fmpq(2 * k, size)) for k in range(size)]
        half = len(spectrum)
        table = arb_mat([[cosines[(f * h) % size] for f in range(half)] for h in range(half)])
        terms = [[arb(x) * (1 if f in (0, size / 2) else 2) / size] for f, x in enumerate(spectrum)]
        sums = [row[0] for row in (table * arb_mat(terms)).tolist()]
        mids = [float(ball.mid()) for ball in sums]
        error = max(float(abs(ball - mid).upper()) for ball, mid in zip(sums, mids, strict=True))
    found = np.empty(size)
    found[:half] = mids
    found[half:] = found[1 : size - half + 1][::-1]
    return found, error * (1 + 4 * _UNIT)


class Memory(ABC):
    """A class of profiles: what is held possible of how far back and ahead one value of a series is felt."""

    stride: ClassVar[int] = 1
    """How many cells lie so close together that a search may look at one of them."""

    @abstractmethod
    def cells(self, length: int, stiffness: float) -> Iterator["Cell"]:
        """The class cut into cells, so fine that none adds much to what its ends lose."""

    @abstractmethod
    def knowing(self, known: str) -> "Memory":
        """The class for adversaries who know "any" other values, or "nothing"."""

    @abstractmethod
    def reach(self, length: int) -> float:
        """The largest sum of a profile over a stretch of so many times, in size."""

    @abstractmethod
    def describe(self) -> str:
        """In words."""

    @abstractmethod
    def to_state(self) -> dict[str, object]:
        """As plain values for JSON."""

    def worst(self, circle: Circle, length: int) -> "Worst":
        """The profile that loses most, and a bound on what any of the class loses."""
        found = Worst(0.0, np.zeros(0), np.zeros(0))
        for cell in self.cells(length, circle.stiffness):
            bounds = circle.norms(cell.before, cell.after)
            place = np.unravel_index(int(bounds.argmax()), bounds.shape)
            bound = (math.sqrt(float(bounds[place])) + cell.beyond) ** 2 * (1 + 8 * _UNIT)
            if not bound <= found.bound:
                found = Worst(bound, cell.before[place[0]], cell.after[place[1]])
        return found

    def leading(self, circle: Circle, length: int, most: int) -> list["Worst"]:
        """Of every cell, or every few where they lie close together, the profile that loses most: no bound."""
        found = []
        for cell in islice(self.cells(length, circle.stiffness), 0, None, self.stride):
            bounds = circle.norms(cell.before, cell.after)
            a, b = np.unravel_index(int(bounds.argmax()), bounds.shape)
            found.append(Worst(float(bounds[a, b]), cell.before[a], cell.after[b]))
        return sorted(found, key=lambda one: -one.bound)[:most]


@dataclass(frozen=True)
class Cell:
    """Profiles of one memory: every way to go on before, with every way after; the next memory's are `beyond` these.

    `beyond` bounds the norm by which profiles between this cell's memory and the next one's leave the line from one to
    the other. The next one is an end too, so that every end is looked at once.
    """

    before: Array
    after: Array
    beyond: float = 0.0


@dataclass(frozen=True)
class Worst:
    """A profile, k(1), k(2), … to both sides, and what it loses in units of noise."""

    bound: float
    before: Array
    after: Array

    def power(self, size: int) -> Array:
        """|k̂|² by frequency on a circle."""
        around = np.zeros(size)
        around[0] = 1.0
        around[1 : 1 + len(self.after)] += self.after
        around[size - len(self.before) :] += self.before[::-1]
        found: Array = np.abs(np.fft.rfft(around)) ** 2
        return found


@dataclass(frozen=True)
class AR(Memory):
    """A value is felt by φ, φ², φ³, … at the times before and after, for every φ from 0 to `up_to`.

    It is so in a stationary series in which each value is φ times the one before and something new, all of them normal;
    of another shape it is so where what is left of the others is independent of this value.

    Args:
        up_to: the largest coefficient that is held possible, from 0 to 0.9999.
        known: whether an adversary may know "any" other values of the series, or "nothing" of them; `Series` sets it.

    Raises:
        InputError: for a coefficient below 0 or above 0.9999, and for another word than these two.

    >>> AR(up_to=0.97).describe()
    'every first-order autoregression of a coefficient from 0 to 0.97'
    """

    stride: ClassVar[int] = 4

    up_to: float
    known: str = "any"

    def __post_init__(self) -> None:
        """Refuse what never forgets."""
        number = check.real("up_to", self.up_to, "a number from 0 to below 1")
        if not 0 <= number < 1:
            because = ": a series that never forgets has no noise that is enough" if number >= 1 else ""
            raise InputError(f"up_to must be a number from 0 to below 1, got {self.up_to!r}{because}")
        if number > 0.9999:
            raise InputError(f"up_to is at most 0.9999, got {self.up_to!r}: take a coarser step of time")
        object.__setattr__(self, "up_to", number)

    def describe(self) -> str:
        """See `Memory`."""
        return f"every first-order autoregression of a coefficient from 0 to {self.up_to:g}"

    def to_state(self) -> dict[str, object]:
        """See `Memory`."""
        return {"kind": "ar", "up_to": self.up_to}

    def knowing(self, known: str) -> "AR":
        """See `Memory`."""
        return replace(self, known=known)

    def reach(self, length: int) -> float:
        """See `Memory`: profiles are above 0 and grow with φ and with what is unknown, so it is that in the middle."""
        middle = (length - 1) // 2
        return 1.0 + sum(self.up_to**h for side in (middle, length - 1 - middle) for h in range(1, side + 1))

    def rates(self, length: int, stiffness: float) -> list[tuple[float, float]]:
        """−ln φ from the longest memory to none, each with what lies between it and the next one."""
        rate = -math.log(self.up_to) * (1 - 4 * _UNIT) if self.up_to else math.inf
        found = []
        while rate < _UNCORRELATED:
            step, beyond = _cell_above(rate, length, stiffness)
            found.append((rate, beyond))
            rate *= step
        # From here to φ = 0 a profile is within φ·√(2/(1 − φ²)) of that of no memory at all.
        last = math.exp(-rate)
        if rate < math.inf:
            found.append((rate, 0.0))
        found.append((math.inf, last * math.sqrt(2 / (1 - last * last) * stiffness) * (1 + 1e-9)))
        return found

    def cells(self, length: int, stiffness: float) -> Iterator[Cell]:
        """See `Memory`."""
        before = 0.0
        for rate, beyond in self.rates(length, stiffness):
            rows = self.ways(rate, length)
            # A cell reaches from one end to the next: each end is looked at with the wider of the cells beside it.
            yield Cell(rows, rows, max(before, beyond))
            before = beyond

    def ways(self, rate: float, length: int) -> Array:
        """k(1), k(2), … of one memory; rows by where the next known value stands, the last for none.

        Between a value and one that is known at distance b the profile falls as sinh(s(b − h))/sinh(sb). What is below
        e^-45 is left out, and a known value that is further off than that is as good as none.
        """
        lags = np.arange(1, 1 + min(length - 1, math.ceil(_FAR / rate)), dtype=float)
        free: Array = np.exp(-rate * lags)
        if self.known == "nothing" or not len(lags):
            return free[None, :]
        reach = lags[:, None]
        left = np.maximum(reach - lags, 0.0)
        rows = free * np.expm1(-2 * rate * left) / np.expm1(-2 * rate * reach)
        return np.concatenate([rows, free[None, :]])


def _cell_above(rate: float, length: int, stiffness: float) -> tuple[float, float]:
    """How wide a cell of −ln φ may be, as a factor, and what it then adds to the norm of a profile.

    In v = ln s the second derivative of a profile at h is at most e^−x·max(x², 5x/4), x = sh, whatever is known.
    """
    h = np.arange(1, max(length, 2), dtype=float)
    for step in (2.0, 1.6, 1.4, 1.25, 1.16, 1.1, 1.06, 1.035, 1.02, 1.01, 1.005):
        low, high = rate * h, rate * step * h
        bend = np.exp(-low) * np.maximum(high**2, 1.25 * high)
        most = math.sqrt(2 * float((bend**2).sum()) * stiffness) * (1 + 1e-9)
        beyond = math.log(step) ** 2 / 8 * most * (1 + 1e-9)
        if beyond <= _STEP * math.sqrt(stiffness):
            break
    return step, beyond


@dataclass(frozen=True)
class Profiles(Memory):
    """Profiles of one's own: each the list k(1), k(2), … by which other times move with a value, alike on both sides.

    Or a pair of such lists, before and after. Nothing else is held possible, so an adversary who knows other values is
    one more profile: all zeros for one who knows every value.

    Args:
        lists: the profiles, each a list of numbers from the nearest time on; 0 beyond its end.

    Raises:
        InputError: where no list is given, and for what is no list of finite numbers.

    >>> Profiles([0.5, 0.25], [0.0]).describe()
    '2 profiles'
    """

    lists: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]

    def __init__(self, *lists: Sequence[float] | tuple[Sequence[float], Sequence[float]]) -> None:
        """Read each list, or pair of lists."""
        if not lists:
            raise InputError("Profiles needs one list of numbers or more, such as [0.9, 0.81]")
        read = []
        for one in lists:
            is_pair = len(one) == 2 and all(isinstance(side, Sequence | np.ndarray) for side in one)
            sides = one if is_pair else (one, one)
            read.append(
                tuple(
                    tuple(check.vector("a profile", side).tolist()) if len(side) else ()  # type: ignore[arg-type]
                    for side in sides
                )
            )
        object.__setattr__(self, "lists", tuple(read))

    def knowing(self, known: str) -> "Profiles":
        """See `Memory`."""
        if known != "any":
            raise InputError("profiles say themselves what is known: leave known out")
        return self

    def reach(self, length: int) -> float:
        """See `Memory`: the ends of a series may cut a profile off anywhere."""
        most = 0.0
        for cell in self.cells(length, 1.0):
            ends = [np.concatenate([[0.0], np.cumsum(side[0])]) for side in (cell.before, cell.after)]
            most = max(most, *(abs(1 + sum(float(pick(side)) for side in ends)) for pick in (np.max, np.min)))
        return most

    def describe(self) -> str:
        """See `Memory`."""
        return "one profile" if len(self.lists) == 1 else f"{len(self.lists)} profiles"

    def to_state(self) -> dict[str, object]:
        """See `Memory`."""
        return {"kind": "profiles", "lists": [[list(side) for side in one] for one in self.lists]}

    def cells(self, length: int, stiffness: float) -> Iterator[Cell]:
        """See `Memory`: one for each profile, and nothing between them."""
        for sides in self.lists:
            rows: list[Array] = []
            for side in sides:
                if len(side) < length - 1 and any(side):
                    raise InputError(
                        f"a profile must have an entry for each of the {length - 1} times beyond the one that is "
                        f"hidden, got {len(side)}: what is not felt there is 0"
                    )
                row = np.zeros(length - 1)
                row[: len(side)] = side[: length - 1]
                rows.append(row[None, :])
            yield Cell(rows[0], rows[1])


def least_spectrum(memory: Memory, length: int) -> tuple[Circle, float]:
    """The circle of least mean variance on which no profile of the class loses more than 1, and a lower bound on it.

    The dual of a finite set of profiles is solved, the worst profiles of the class are added to the set, until they
    lose no more; the spectrum is then raised until nothing in the class is above 1, proved.
    """
    size = max(2 * length, 4)
    share = weights(size)
    chosen = _ends(next(memory.cells(length, 1.0)))
    powers = np.array([one.power(size) for one in chosen])
    weight = np.ones(len(powers))
    for _ in range(_ROUNDS):
        weight, spectrum, bound = _dual(powers, share, weight)
        spectrum = np.maximum(spectrum, _LEAST)
        circle = Circle(spectrum, size)
        leading = memory.leading(circle, length, 6)
        if leading[0].bound * circle.variance <= bound * (1 + _ENOUGH):
            break
        kept = weight > 1e-7 * weight.max()
        new = np.array([one.power(size) for one in leading if one.bound > 1 + _ENOUGH / 4])
        if not len(new):
            break
        powers, weight = np.concatenate([powers[kept], new]), np.concatenate([weight[kept], np.full(len(new), 1e-2)])
    for _ in range(8):
        worst = memory.worst(circle, length).bound
        if worst <= 1:
            return circle, bound
        circle = Circle(circle.spectrum * worst * (1 + 1e-9), size)
    raise CalibrationError("no spectrum was proved to be enough for this class of series: please report this case")


def _ends(cell: Cell) -> list[Worst]:
    """With as much known as can be on both sides, on one, and on none."""
    return [Worst(0.0, cell.before[a], cell.after[b]) for a, b in {(0, 0), (0, -1), (-1, -1)}]


def _dual(powers: Array, share: Array, first: Array) -> tuple[Array, Array, float]:
    """Weights of profiles, the spectrum √(Σ λF) that goes with them, and the bound that they prove."""
    from scipy.optimize import minimize

    # Far below the least spectrum that is kept; without it a class of one profile may have a frequency of no noise.
    floor = 1e-12

    def value(weight: Array) -> tuple[float, Array]:
        root = np.sqrt(powers.T @ weight + floor)
        return float(weight.sum() - 2 * share @ root), 1 - (powers / root) @ share

    found = minimize(
        value,
        np.maximum(first, 1e-3),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(powers),
        options={"maxiter": 3000, "ftol": 1e-14, "gtol": 1e-10},
    )
    weight = np.maximum(found.x, 0.0)
    root = np.sqrt(powers.T @ weight)
    return weight, root, float(share @ root) ** 2 / float(weight.sum())
