"""The best channel under (ε, δ): a linear program with a slack for every pair and output (proofs/optimal.md).

Σ_y (p_i(y) − e^ε p_j(y))₊ ≤ δ holds exactly if some t(y) ≥ 0 that is at least each difference has a sum of δ at most.
Odds may be bounded beside it. The optimum may publish values that one secret never does, whose odds are infinite.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu._validation import Array, reals
from takifugu.errors import InputError, MechanismError
from takifugu.mechanisms.optimal.linear_program import Rows, add_diagonal, add_wishes, highs, identity, kron, listed
from takifugu.mechanisms.optimal.program import Mask, Program

_MOST_ENTRIES = 20_000_000  # of the linear program
_SECONDS = 600.0
_DIGITS = 2**48  # multipliers are whole multiples of one part in so many: short fractions, and as good


@dataclass(frozen=True)
class Multipliers:
    """Whatever they are, the bound they give is true; good ones make it tight.

    slack: parts × pairs × outputs, 0 or more: of p_i(y) − e^ε p_j(y) ≤ t(y) odds: pairs × outputs, 0 or more; empty
    where the odds are free kept: one for each output, for keep="marginal"; otherwise empty mean: one for keep="mean",
    one for each input for unbiased; otherwise empty diagonal: 0 or more
    """

    slack: Array
    odds: Array
    kept: Array
    mean: Array
    diagonal: float

    def to_json(self) -> dict[str, object]:
        """Plain lists and numbers."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in plain.items()}

    @classmethod
    def from_json(cls, plain: object) -> "Multipliers":
        """What `to_json` wrote; an unknown or missing name is refused."""
        names = {f.name for f in fields(cls)}
        if not isinstance(plain, dict) or set(plain) != names:
            raise InputError(f"duals must hold exactly {', '.join(sorted(names))}")
        arrays = {name: reals(f"duals.{name}", plain[name]) for name in names - {"diagonal"}}
        return cls(**arrays, diagonal=float(reals("duals.diagonal", plain["diagonal"]).reshape(())))


@dataclass(frozen=True, eq=False)
class WithDelta:
    """The linear program: the laws, wishes and costs of `program`, and the parts about (ε, δ).

    program: its promise is the bound on odds beside δ, where there is one excesses: (ε, δ) of each part odds: the
    largest ratio, as the exact number given or rounded up; None where the odds are free
    """

    program: Program
    excesses: tuple[tuple[float, float], ...]
    odds: Fraction | None

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """e^ε of each part, rounded up: a limit that is wider by a rounding keeps a lower bound true."""
        from flint import arb

        return tuple(float(np.nextafter(float(arb(e).exp().upper()), np.inf)) if e else 1.0 for e, _ in self.excesses)

    @cached_property
    def allowed(self) -> Mask:
        """False where every channel that keeps the wishes is zero."""
        program = self.program
        found = np.ones(program.size, dtype=bool) if program.forbidden is None else ~program.forbidden
        if program.keep == "marginal":
            found = found & ~((program.mass > 0)[:, None] & (program.mass == 0)[None, :])
        if not found.any(axis=1).all():
            raise MechanismError("forbidden leaves an input without any output: allow at least one for each")
        return found

    def solved(self) -> tuple[Array, Multipliers]:
        """The channel, inputs × outputs, as the solver left it, and its multipliers."""
        program = self.program
        (n, m), pairs = program.size, len(program.constraints)
        wide = len(self.excesses) * pairs
        if n * m * (wide + pairs) > _MOST_ENTRIES:
            raise MechanismError(
                f"(ε, δ) between {n:,} values for {pairs:,} pairs of laws is beyond what is solved here: hide fewer "
                f"pairs, give a coarser domain, or ask for odds"
            )
        widths = {"channel": n * m, "slack": wide * m}
        below, equal = Rows(widths), Rows(widths)
        at = 0
        for factor, (_, delta) in zip(self.factors, self.excesses, strict=True):
            for i, j in program.constraints:
                apart = listed((program.shares[i] - factor * program.shares[j])[None, :])
                own = identity(m).moved(0, at * m)  # slack in units of δ, which may be far below the solver's zero
                slack = own.times(-delta)
                below.add(np.zeros(m), channel=kron(apart, identity(m)), slack=slack)
                at += 1
        ones = kron(identity(wide), listed(np.ones((1, m))))
        below.add(np.ones(wide), slack=ones)
        if self.odds is not None:
            for i, j in program.constraints:
                apart = listed((program.shares[i] - float(self.odds) * program.shares[j])[None, :])
                below.add(np.zeros(m), channel=kron(apart, identity(m)))
        add_diagonal(program, below)
        equal.add(np.ones(n), channel=kron(identity(n), listed(np.ones((1, m)))))
        add_wishes(program, equal)
        upper = np.concatenate([self.allowed.astype(np.float64).ravel(), np.full(wide * m, np.inf)])
        cost = np.concatenate([program.cost.ravel(), np.zeros(wide * m)])
        found = highs(cost, below=below, equal=equal, upper=upper, seconds=_SECONDS, is_long=n * m > 10_000)
        if not found.is_found:
            raise MechanismError(
                "no channel keeps the guarantee and the utility constraints together, or none was found: relax one of "
                "them"
            )
        pressed = np.maximum(-found.below, 0.0)
        slack_at, odds_at = wide * m, wide * m + wide
        odds_end = odds_at + (pairs * m if self.odds is not None else 0)
        kept_end = n + (m if program.keep == "marginal" else 0)
        return found.variables[: n * m].reshape(n, m), Multipliers(
            slack=pressed[:slack_at].reshape(len(self.excesses), pairs, m),
            odds=pressed[odds_at:odds_end].reshape(-1, m) if odds_end > odds_at else np.zeros((0, m)),
            kept=-found.equal[n:kept_end],
            mean=-found.equal[kept_end:],
            diagonal=float(pressed[odds_end]) if program.diagonal is not None else 0.0,
        )

    # ---- what no channel costs less than

    def lower_bound(self, given: Multipliers) -> float:
        """What the multipliers prove, in rational numbers and rounded down; 0 at the least.

        Σ_x min_y of the price of every move, less what the limits are worth (proofs/optimal.md, "With δ").
        """
        program = self.program
        (n, m), pairs = program.size, len(program.constraints)
        self._check(given)
        laws = [_exact_shares(row) for row in program.laws]
        pooled = _exact_shares(program.mass)
        price = [[pooled[x] * Fraction(program.loss[x, y]) for y in range(m)] for x in range(n)]
        total = Fraction(0)
        for part, (factor, (_, delta)) in enumerate(zip(self.factors, self.excesses, strict=True)):
            for c, (i, j) in enumerate(program.constraints):
                pressed = [_short(value) for value in given.slack[part, c].tolist()]
                total -= max(pressed) * Fraction(delta)
                _press(price, pressed, laws[i], laws[j], Fraction(factor))
        for c in range(pairs if self.odds is not None else 0):
            i, j = program.constraints[c]
            _press(
                price, [_short(value) for value in given.odds[c].tolist()], laws[i], laws[j], Fraction(self.odds or 0)
            )
        kept = [_short(value) for value in given.kept.tolist()]
        total -= sum((one * share for one, share in zip(kept, pooled, strict=False)), Fraction(0))
        mean = [_short(value) for value in given.mean.tolist()]
        if program.inputs is not None and program.outputs is not None and mean:
            inputs, outputs = (
                [Fraction(value) for value in side.tolist()] for side in (program.inputs, program.outputs)
            )
            for x in range(n):
                weight = mean[x] if program.unbiased else mean[0] * pooled[x]
                total -= weight * inputs[x]
                price[x] = [one + weight * out for one, out in zip(price[x], outputs, strict=True)]
        stays = _short(given.diagonal)
        total += stays * Fraction(program.diagonal or 0)
        for x in range(n):
            row = [one + kept[y] * pooled[x] for y, one in enumerate(price[x])] if kept else price[x]
            if stays:
                row[x] -= stays * pooled[x]
            total += min(one for one, is_open in zip(row, self.allowed[x].tolist(), strict=True) if is_open)
        if total <= 0:
            return 0.0
        found = float(total)
        return found if Fraction(found) <= total else float(np.nextafter(found, 0.0))

    def _check(self, given: Multipliers) -> None:
        program = self.program
        (n, m), pairs = program.size, len(program.constraints)
        means = n if program.unbiased else 1 if program.keep == "mean" else 0
        shapes = {
            "slack": (len(self.excesses), pairs, m),
            "odds": (pairs if self.odds is not None else 0, m),
            "kept": (m if program.keep == "marginal" else 0,),
            "mean": (means,),
        }
        for name, shape in shapes.items():
            value = getattr(given, name)
            if value.size == 0 and 0 in shape:
                object.__setattr__(given, name, np.zeros(shape))
            elif value.shape != shape or not np.isfinite(value).all():
                raise InputError(f"duals.{name} must hold finite numbers in the shape {shape} for this program")
        if (given.slack < 0).any() or (given.odds < 0).any() or not 0 <= given.diagonal < np.inf:
            raise InputError("duals of inequalities must be 0 or more")
        if given.diagonal > 0 and program.diagonal is None:
            raise InputError("duals.diagonal must be 0 where no share was asked to stay")


def _press(
    price: list[list[Fraction]], pressed: Sequence[Fraction], p: list[Fraction], q: list[Fraction], factor: Fraction
) -> None:
    """Add to the price of every move what it takes from the limits of one pair."""
    active = [(y, value) for y, value in enumerate(pressed) if value]
    if not active:
        return
    for x, (mine, other) in enumerate(zip(p, q, strict=True)):
        if apart := mine - factor * other:
            for y, value in active:
                price[x][y] += value * apart


def _exact_shares(weights: Array) -> list[Fraction]:
    exact = [Fraction(weight) for weight in weights.tolist()]
    total = sum(exact, Fraction(0))
    return [weight / total for weight in exact]


def _short(number: float) -> Fraction:
    """A multiplier near the one given, of few digits and of the same sign."""
    return Fraction(int(number * _DIGITS), _DIGITS)
