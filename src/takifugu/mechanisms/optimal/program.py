"""The convex program whose solution is the best channel: what is known, what is promised, what is wished for."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, real, reals
from takifugu.errors import InputError

Keep = Literal["marginal", "mean"]
Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

# Promises of a finite order are about e**epsilon, and about e**((alpha - 1)*epsilon) - 1: beyond these, solvers meet
# infinities and zeros.
_MOST_EPSILON, _LEAST_POWER = 700.0, 1e-300


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """Minimise Σ_x m(x) Σ_y K(y|x) loss(x, y) over the channels K that keep the promise (proofs/optimal.md).

    laws: one row of weights per law, R × n; the law is the row over its sum, exactly, so that counts may be given
    constraints: directed pairs (i, j) of rows, each asking for D_α(p_i K ‖ p_j K) ≤ ε
    alpha, epsilon: the promise; α = ∞ asks for p_i(y) ≤ e^ε p_j(y), ε = ∞ for nothing
    odds: a second promise beside it, p_i(y) ≤ odds·p_j(y)
    mass: weights of the inputs in the loss and in what is kept; shares after division by their sum
    loss: n × m, zero or more
    inputs, outputs: the numbers behind the rows and columns of the loss, where they are numbers
    keep: "marginal" (the outputs are the inputs, and their shares stay), "mean", or None
    unbiased: E[Y | x] = x for every input
    forbidden: n × m, True where an input must never become an output
    diagonal: at least this share of the mass stays as it is (the outputs are the inputs)
    radius: one t ≥ 0 per law; the promise then holds for every law within total variation t of it
    chances: for bounded odds alone, one number above 0 per law, which it is multiplied by: how likely what was
        published before was under it, so that the ratio of two laws is that of everything published together
    """

    laws: Array
    constraints: tuple[tuple[int, int], ...]
    mass: Array
    loss: Array
    alpha: float = math.inf
    epsilon: float = math.inf
    odds: float | None = None
    inputs: Array | None = None
    outputs: Array | None = None
    keep: Keep | None = None
    unbiased: bool = False
    forbidden: Mask | None = None
    diagonal: float | None = None
    radius: Array | None = None
    chances: Array | None = None

    def __post_init__(self) -> None:
        """Check everything, and keep arrays of floats."""
        laws, loss, mass = (reals(name, getattr(self, name)) for name in ("laws", "loss", "mass"))
        if laws.ndim != 2 or loss.ndim != 2 or mass.ndim != 1 or loss.size == 0:
            raise InputError("laws and loss must be tables of two dimensions, and mass a list, none of them empty")
        n, m = loss.shape
        if laws.shape[1] != n or mass.size != n:
            raise InputError(
                f"laws, mass and loss must agree on the number of inputs, got {laws.shape[1]}, {mass.size} and {n}"
            )
        for name, given in (("laws", laws), ("mass", mass), ("loss", loss)):
            if not np.isfinite(given).all() or (given < 0).any():
                raise InputError(f"{name} must hold finite numbers, 0 or more")
        if not (laws.sum(axis=1) > 0).all() or not mass.sum() > 0:
            raise InputError("every law, and the mass, needs at least one weight above 0")
        if not (np.isfinite(laws.sum(axis=1)).all() and math.isfinite(mass.sum())):
            raise InputError("the weights of a law, and the mass, must have a finite sum: divide them by a constant")
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "constraints", _pairs(self.constraints, laws.shape[0]))
        self._check_promise()
        self._check_wishes(n, m)

    def _check_promise(self) -> None:
        if isinstance(self.alpha, bool) or not self.alpha > 1:
            raise InputError(f"alpha must be above 1 (infinity for bounded odds), got {self.alpha!r}")
        if isinstance(self.epsilon, bool) or not self.epsilon > 0:
            raise InputError(f"epsilon must be above 0, got {self.epsilon!r}")
        if math.isfinite(self.alpha) and math.isfinite(self.epsilon):
            if self.epsilon > _MOST_EPSILON:
                raise InputError(f"epsilon must be {_MOST_EPSILON:g} or less, beyond which it hides nothing")
            if (self.alpha - 1) * self.epsilon < _LEAST_POWER:
                raise InputError("alpha is too close to 1, or epsilon to 0, for numbers here: ask for more of either")
        if self.odds is not None and (isinstance(self.odds, bool) or not 1 < self.odds < math.inf):
            raise InputError(f"odds must be a finite number above 1, got {self.odds!r}")
        if self.epsilon == math.inf and self.odds is None:
            raise InputError("nothing is promised: give epsilon, or odds, or both")
        if self.radius is not None:
            radius = reals("radius", self.radius)
            if radius.shape != (self.laws.shape[0],) or not ((radius >= 0) & (radius < 1)).all():
                raise InputError("radius must hold one number per law, 0 or more and below 1")
            object.__setattr__(self, "radius", radius if radius.any() else None)
        if self.chances is not None:
            chances = reals("chances", self.chances)
            if chances.shape != (self.laws.shape[0],) or not ((chances > 0) & (chances < math.inf)).all():
                raise InputError("chances must hold one finite number per law, above 0")
            if self.bounds_divergence:
                raise InputError("chances are for bounded odds: a promise of finite order is about whole laws")
            object.__setattr__(self, "chances", chances)

    def _check_wishes(self, n: int, m: int) -> None:
        for name, size in (("inputs", n), ("outputs", m)):
            given = getattr(self, name)
            if given is not None:
                numbers = reals(name, given)
                if numbers.shape != (size,) or not np.isfinite(numbers).all():
                    raise InputError(f"{name} must hold {size} finite numbers, one for each of the loss's")
                object.__setattr__(self, name, numbers)
        if self.keep not in (None, "marginal", "mean"):
            raise InputError(f'keep must be "marginal", "mean" or None, got {self.keep!r}')
        if (self.keep == "mean" or self.unbiased) and (self.inputs is None or self.outputs is None):
            raise InputError('keep="mean" and unbiased=True need inputs and outputs that are numbers')
        if (self.keep == "marginal" or self.diagonal is not None) and n != m:
            raise InputError(f"keep and diagonal need outputs that are the inputs, got {n} inputs and {m} outputs")
        if self.diagonal is not None and not 0 <= real("diagonal", self.diagonal, "a share between 0 and 1") <= 1:
            raise InputError(f"diagonal must be a share between 0 and 1, got {self.diagonal!r}")
        if self.forbidden is not None:
            forbidden: Any = np.asarray(self.forbidden)
            if forbidden.dtype != np.bool_ or forbidden.shape != (n, m):
                raise InputError(f"forbidden must be a table of truth values of shape {(n, m)}")
            object.__setattr__(self, "forbidden", forbidden if forbidden.any() else None)

    @cached_property
    def shares(self) -> Array:
        """The laws, rows summing to one up to rounding, or to their chances."""
        shares = self.laws / self.laws.sum(axis=1, keepdims=True)
        return np.asarray(shares if self.chances is None else shares * self.chances[:, None])

    @cached_property
    def pooled(self) -> Array:
        """The mass, summing to one up to rounding."""
        return np.asarray(self.mass / self.mass.sum())

    @cached_property
    def cost(self) -> Array:
        """What a channel costs per unit of K(y|x)."""
        return self.pooled[:, None] * self.loss

    @cached_property
    def left(self) -> Indices:
        """The first law of every constraint."""
        return np.array([i for i, _ in self.constraints], dtype=np.intp)

    @cached_property
    def right(self) -> Indices:
        """The second law of every constraint."""
        return np.array([j for _, j in self.constraints], dtype=np.intp)

    @cached_property
    def reach(self) -> Array:
        """The radius, in units of the shares; zeros where there is none."""
        if self.radius is None:
            return np.zeros(self.laws.shape[0])
        return self.radius if self.chances is None else self.radius * self.chances

    @property
    def bounds_divergence(self) -> bool:
        """Whether there is a promise of finite order."""
        return self.alpha < math.inf and self.epsilon < math.inf

    @property
    def log_budget(self) -> float:
        """ln C = (α−1)ε, for a promise of finite order."""
        return (self.alpha - 1.0) * self.epsilon

    @cached_property
    def factor(self) -> float:
        """The largest ratio p_i(y)/p_j(y) allowed; infinite where the odds are free.

        e^ε has no float. It is rounded up, in ball arithmetic: a promise that is wider by a rounding keeps a lower
        bound true. A channel is checked against ε itself elsewhere.
        """
        from flint import arb

        named = math.inf if self.odds is None else self.odds
        if self.alpha < math.inf or self.epsilon > 700:
            return named
        return min(named, math.nextafter(float(arb(self.epsilon).exp().upper()), math.inf))

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of inputs and outputs."""
        return self.loss.shape[0], self.loss.shape[1]

    def value(self, matrix: Array) -> float:
        """What a channel costs."""
        return float((self.cost * matrix).sum())


def distinct(
    laws: Array, constraints: tuple[tuple[int, int], ...], radius: Array | None = None
) -> tuple[Array, tuple[tuple[int, int], ...], Array | None]:
    """Equal laws merged (of their radii the largest), and constraints that say the same thing said once.

    >>> rows, pairs, _ = distinct(np.array([[1.0, 1.0], [2.0, 2.0], [1.0, 3.0]]), ((0, 2), (1, 2), (0, 1)))
    >>> len(rows), pairs
    (2, ((0, 1),))
    """
    place: dict[bytes, int] = {}
    where = [place.setdefault((row / row.sum()).tobytes(), len(place)) for row in laws]
    first = [where.index(k) for k in range(len(place))]
    merged = None if radius is None else np.zeros(len(place))
    if merged is not None and radius is not None:
        np.maximum.at(merged, where, radius)
    # A law against itself loses nothing; with a radius around it, it may.
    said = {(where[i], where[j]): None for i, j in constraints if where[i] != where[j] or merged is not None}
    return laws[first], tuple(said), merged


def _pairs(given: Any, laws: int) -> tuple[tuple[int, int], ...]:
    pairs = tuple((int(i), int(j)) for i, j in given)
    for i, j in pairs:
        if not (0 <= i < laws and 0 <= j < laws):
            raise InputError(f"constraints must name rows 0 to {laws - 1} of the laws, got {(i, j)}")
    return pairs
