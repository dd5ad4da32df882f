"""What a differentially private release says of a chain, proved in balls from the chain and the quilts of every time.

Floats choose a quilt for each time; what it tells, and the records that it leaves, are then found again in ball
arithmetic from the fractions of the chain (of a box from bounds that are rounded outwards). No figure of a file is
trusted (proofs/dependence.md, claims 3 to 5).
"""

import math
import os
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from takifugu import _validation as check
from takifugu import strict_json as form
from takifugu.dependence.boxes import ChainBox
from takifugu.dependence.chains import MarkovChain
from takifugu.dependence.quilts import Chains, MarkovQuilt, Quilts, bounds_of
from takifugu.divergences import working_precision
from takifugu.errors import CalibrationError, CertificationError, InputError
from takifugu.problems import Guarantee, Odds, Renyi

if TYPE_CHECKING:
    from flint import arb

    from takifugu.dependence.series import SeriesCalibration

_BITS = 128
_MOST_COST, _MOST_ODDS = 1e12, 700.0
_MOST_WORK = 500_000_000  # about a microsecond each
_FORMAT, _VERSION = "takifugu-influence", 1
_MOST_CHAINS, _MOST_STATES, _MOST_RELEASES = 1_000, 500, 100_000
_FRACTION = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000}|\.[0-9]{1,400})?")


class Cost(NamedTuple):
    """What releases cost by themselves: the ε of differential privacy, or the ρ of zero-concentrated."""

    epsilons: tuple[float, ...] = ()
    rhos: tuple[float, ...] = ()

    @property
    def total(self) -> Fraction:
        """Of all together: they add up."""
        return sum(map(Fraction, self.epsilons or self.rhos), Fraction(0))


@dataclass(frozen=True)
class Influence:
    """What releases that are differentially private tell together of the state at any one time of a chain.

    It is the certificate of it: `save` writes a file that `verify` proves again. It holds the chains, and is private
    where they were fitted to private rows.

    Args:
        quilts: the chains, and the number of times.
        cost: what was published.
        alpha: the order at which ρ-zCDP releases are bounded; None for odds.
        epsilon: the bound; by default the least that floats find, rounded up.
    """

    quilts: MarkovQuilt
    cost: Cost
    alpha: float | None = None
    epsilon: float = math.nan

    def __post_init__(self) -> None:
        """Find the bound where none is given."""
        if self.quilts.parents is not None:
            raise InputError("certificates are of chains: of a tree there is MarkovQuilt(chain, parents=...).epsilon")
        if bool(self.cost.epsilons) == bool(self.cost.rhos):
            raise InputError("releases are of differential privacy (epsilon) or of zero-concentrated (rho), all alike")
        if (self.alpha is None) != bool(self.cost.epsilons):
            raise InputError("rho is bounded at an order, and epsilon at none: give alpha with rho, and only then")
        if not self.cost.total <= _MOST_COST:
            raise InputError(f"releases that cost more than {_MOST_COST:g} in all keep nothing to speak of")
        if math.isnan(self.epsilon):
            spent = math.nextafter(float(self.cost.total), math.inf)
            found = (
                self.quilts.epsilon(spent) if self.alpha is None else self.quilts.renyi(check.order(self.alpha), spent)
            )
            object.__setattr__(self, "epsilon", found * (1 + 2.0**-30))

    @property
    def guarantee(self) -> Guarantee:
        """What is kept for the state at every time."""
        if self.alpha is None and self.epsilon > _MOST_ODDS:
            raise CalibrationError(f"odds of e^{self.epsilon:g} are no bound to speak of")
        return Odds(math.exp(self.epsilon) * (1 + 2.0**-50)) if self.alpha is None else Renyi(self.alpha, self.epsilon)

    @cached_property
    def influence(self) -> float:
        """What the states at other times tell by themselves: it is paid once, however much is published."""
        price = self._nearby if self.alpha is None else self.alpha * self._nearby**2
        return max(0.0, self.epsilon * (1 - 2.0**-29) - price * float(self.cost.total))

    @cached_property
    def _nearby(self) -> float:
        """The records within the quilt of the time of which most is told."""
        spent, found = float(self.cost.total), 0.0
        for chain in self.quilts.chains:
            one = Quilts(bounds_of(chain, self.quilts.length))
            for time in range(1, self.quilts.length + 1):
                _, _, score, nearby = _proposed(one, time, spent, self.alpha)
                found = max(found, nearby if score >= self.epsilon * (1 - 1e-6) else 0.0)
        return found

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        cost = self.cost
        kind, spent = ("epsilon", cost.epsilons) if cost.epsilons else ("rho", cost.rhos)
        what = (
            "a differentially private release"
            if len(spent) == 1
            else f"{len(spent):,} differentially private releases together"
        )
        chains = "the chain" if len(self.quilts.chains) == 1 else f"each of {len(self.quilts.chains):,} chains"
        most = f"within epsilon = {self.epsilon!r}" if self.alpha is None else f"within {self.guarantee}"
        return (
            f"{what} ({kind} = {float(cost.total):g} for replacing one record) keep{'s' * (len(spent) == 1)} the state "
            f"at each of {self.quilts.length} times {most}, for whoever believes in {chains}"
        )

    def __str__(self) -> str:
        """What is proved, and what it would be without a model of dependence."""
        group = float(self.cost.total) * self.quilts.length
        group = group if self.alpha is None else self.alpha * float(self.cost.total) * self.quilts.length**2
        zeros = ""
        if self.quilts.length > 1 and self._nearby >= self.quilts.length:
            zeros = (
                " No quilt tells less than all records do: where transitions are impossible, or nearly so, a state "
                "shows others for certain, and what it tells is infinite."
            )
        no_odds = self.alpha is not None or self.epsilon > _MOST_ODDS
        odds = "" if no_odds else f" (odds within a factor of {math.exp(self.epsilon):.4g})"
        return (
            f"{self.claim[0].upper()}{self.claim[1:]}{odds}. Of this the states at other times account for "
            f"{self.influence:.4g}, which further releases do not pay again.{zeros} For whoever believes anything else "
            f"of how the times depend on one another it is epsilon = {group:g}."
        )

    def prove(self) -> "Influence":
        """Prove it in balls, or raise `CertificationError`."""
        length, sizes = self.quilts.length, [len(one.states) for one in self.quilts.chains]
        if sum(length * size**2 * (size + length) for size in sizes) > _MOST_WORK:
            raise CertificationError("so many times, states and chains are not proved here: take fewer of them")
        spent = self.cost.total
        for chain in self.quilts.chains:
            proposed = Quilts(bounds_of(chain, self.quilts.length))
            with working_precision(_BITS):
                enclosed = Enclosed(chain, proposed)
                for time in range(1, self.quilts.length + 1):
                    before, after, _, _ = _proposed(proposed, time, float(spent), self.alpha)
                    if not enclosed.bound(time, before, after, spent, self.alpha) <= self.epsilon:
                        raise CertificationError(
                            f"what is told of the state at time {time} is not proved to be within epsilon = "
                            f"{self.epsilon!r}"
                        )
        return self

    def to_dict(self) -> dict[str, object]:
        """As plain values for JSON, no digit lost."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "chains": [chain_to(one) for one in self.quilts.chains],
            "length": self.quilts.length,
            "releases": {"epsilon": list(self.cost.epsilons), "rho": list(self.cost.rhos)},
            "alpha": self.alpha,
            "epsilon": self.epsilon,
        }

    @classmethod
    def from_dict(cls, data: object) -> "Influence":
        """What `to_dict` wrote, every field checked; nothing is proved by reading."""
        form.header(data, _FORMAT, (_VERSION,), "a certificate of influence")
        keys = ("format", "version", "chains", "length", "releases", "alpha", "epsilon")
        content = form.fields(data, keys, "the certificate")
        chains = [
            chain_from(one, f"chains[{k}]")
            for k, one in enumerate(form.items(content["chains"], "'chains'", least=1, most=_MOST_CHAINS))
        ]
        spent = form.fields(content["releases"], ("epsilon", "rho"), "'releases'")
        costs = {
            name: tuple(
                form.number(one, f"releases.{name}", above=0)
                for one in form.items(spent[name], f"releases.{name}", most=_MOST_RELEASES)
            )
            for name in ("epsilon", "rho")
        }
        length = form.index(content["length"], "'length'", below=1 << 31)
        alpha = None if content["alpha"] is None else form.number(content["alpha"], "'alpha'", above=1)
        epsilon = form.number(content["epsilon"], "'epsilon'", above=0)
        quilts = MarkovQuilt(chains[0] if len(chains) == 1 else chains, length)
        return cls(quilts, Cost(costs["epsilon"], costs["rho"]), alpha, epsilon)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `verify` takes."""
        form.write(self.to_dict(), path, private=True)


def dependent_from(data: dict[str, object]) -> "Influence | SeriesCalibration":
    """A certificate of records that depend on one another: of influence, or of a series."""
    if data["format"] == _FORMAT:
        return Influence.from_dict(data)
    from takifugu.dependence.series import SeriesCalibration

    return SeriesCalibration.from_dict(data)


def _proposed(quilts: Quilts, time: int, spent: float, alpha: float | None) -> tuple[int, int, float, float]:
    """The quilt that floats find best, what it is then, and the records within it."""
    nearby = quilts.nearby(time)
    if alpha is None:
        scores = quilts.told(time) + nearby * spent
    else:
        scores = quilts.divergence(time, alpha) + alpha * spent * nearby**2.0
    before, after = divmod(int(scores.argmin()), scores.shape[1])
    return before, after, float(scores[before, after]), float(nearby[before, after])


class Enclosed:
    """What a chain does, in balls: of a chain from its fractions, of a box from bounds that are rounded outwards."""

    def __init__(self, chain: Chains, quilts: Quilts) -> None:
        """The powers of the chain are found as they are asked for."""
        from flint import arb, arb_mat, fmpq

        self._length = quilts.length
        if isinstance(chain, ChainBox):
            (low, high), (rare, often) = quilts.bounds
            self._powers = [
                [[(arb(p), arb(q)) for p, q in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]
                for a, b in zip(low.tolist(), high.tolist(), strict=True)
            ]
            self._at = [
                [(arb(p), arb(q)) for p, q in zip(a, b, strict=True)]
                for a, b in zip(rare.tolist(), often.tolist(), strict=True)
            ]
        else:
            step = arb_mat([[arb(fmpq(p.numerator, p.denominator)) for p in row] for row in chain.transition])
            now = arb_mat([[arb(fmpq(p.numerator, p.denominator)) for p in chain.start]])
            power = arb_mat([[arb(i == j) for j in range(len(chain.states))] for i in range(len(chain.states))])
            self._powers, self._at = [], []
            for _ in range(self._length):
                self._powers.append([[(p, p) for p in row] for row in power.tolist()])
                self._at.append([(p, p) for p in now.tolist()[0]])
                power, now = power * step, now * step
        self._kept: dict[tuple[object, ...], list[list[arb]]] = {}

    def bound(self, time: int, before: int, after: int, spent: Fraction, alpha: float | None) -> "arb":
        """What is told of a time, from above: the quilt at these distances (0 for none), and the records within it."""
        from flint import arb, fmpq

        places = [s for s, (_, high) in enumerate(self._at[time - 1]) if not _is_zero(high)]
        sides = [self._before(time, before, alpha)] if before else []
        sides += [self._after(after, alpha)] if after else []
        told = _largest(sum((side[x][z] for side in sides), arb(0)) for x in places for z in places if x != z)
        nearby = (before or time) + (after or self._length - time + 1) - 1
        price = arb(fmpq(spent.numerator, spent.denominator)) * nearby
        return (told.max(0) + (price if alpha is None else price * nearby * alpha)).upper()

    def _after(self, distance: int, alpha: float | None) -> "list[list[arb]]":
        key = ("after", distance, alpha)
        if key not in self._kept:
            self._kept[key] = _apart(self._powers[distance], alpha)
        return self._kept[key]

    def _before(self, time: int, distance: int, alpha: float | None) -> "list[list[arb]]":
        """P(q|x) = P(q)·P(x|q)/P(x), and of two states P(q) is the same."""
        from flint import arb

        steps, now, then = self._powers[distance], self._at[time - 1], self._at[time - 1 - distance]
        seen = [q for q, (_, high) in enumerate(then) if not _is_zero(high)]
        states = range(len(now))
        if alpha is None:
            rows = _apart([[steps[q][x] for q in seen] for x in states], None)
            return [
                [
                    arb(0) if _is_zero(now[z][1]) or _is_zero(now[x][1]) else rows[x][z] + (now[z][1] / now[x][0]).log()
                    for z in states
                ]
                for x in states
            ]
        nothing = (arb(0), arb(0))
        laws = [
            [
                nothing
                if _is_zero(now[x][1])
                else (then[q][0] * steps[q][x][0] / now[x][1], then[q][1] * steps[q][x][1] / now[x][0])
                for q in seen
            ]
            for x in states
        ]
        return _apart(laws, alpha)


def _apart(laws: "Sequence[Sequence[tuple[arb, arb]]]", alpha: float | None) -> "list[list[arb]]":
    """For each two rows the largest log-ratio, or D_α, from above; NaN where nothing is proved."""
    return [[_between(p, q, alpha) for q in laws] for p in laws]


def _between(p: "Sequence[tuple[arb, arb]]", q: "Sequence[tuple[arb, arb]]", alpha: float | None) -> "arb":
    from flint import arb

    pairs = [(high, low) for (_, high), (low, _) in zip(p, q, strict=True) if not _is_zero(high)]
    if any(not low > 0 for _, low in pairs):
        return arb("inf")
    if alpha is None:
        return _largest((high / low).log() for high, low in pairs)
    order = arb(alpha)
    total = sum(((order * high.log() + (1 - order) * low.log()).exp() for high, low in pairs), arb(0))
    return total.log() / (order - 1) if total > 0 else arb(0)


def _is_zero(ball: "arb") -> bool:
    """Whether it is 0 for certain: a ball that holds 0 among others is not."""
    return bool(ball == 0)


def _largest(balls: "Iterable[arb]") -> "arb":
    """The largest upper end, 0 of none; infinite where one is not finite, or no number."""
    from flint import arb

    ends = [ball.upper() for ball in balls]
    if not all(end.is_finite() for end in ends):
        return arb("inf")
    return max(ends, default=arb(0))


# Chains as files: what is written by hand, and what a certificate holds.


def chain_to(chain: Chains) -> dict[str, object]:
    """A chain as plain values, its fractions as text."""

    def text(row: Sequence[Fraction]) -> list[str]:
        return [str(p) for p in row]

    names = list(chain.states) if all(isinstance(one, str | int | bool) for one in chain.states) else None
    if isinstance(chain, ChainBox):
        return {
            "low": [text(a) for a, _ in chain.rows],
            "high": [text(b) for _, b in chain.rows],
            "start": None if chain.start is None else [text(side) for side in chain.start],
            "states": names,
        }
    start = None if chain.is_stationary else text(chain.start)
    return {"transition": [text(row) for row in chain.transition], "start": start, "states": names}


def chain_from(state: object, where: str = "the chain") -> Chains:
    """A chain, or a box of them, from a file; `start` and `states` may be left out."""
    kind = ("low", "high") if isinstance(state, dict) and "low" in state else ("transition",)
    given = {"start": None, "states": None, **state} if isinstance(state, dict) else state
    content = form.fields(given, (*kind, "start", "states"), where)
    names: list[Hashable] | None = None
    if content["states"] is not None:
        names = [
            form.value_from(one, f"{where}.states")
            for one in form.items(content["states"], f"{where}.states", most=_MOST_STATES)
        ]
    rows = [_rows(content[name], f"{where}.{name}") for name in kind]
    if len(kind) == 1:
        start = None if content["start"] is None else _row(content["start"], f"{where}.start")
        return MarkovChain(rows[0], start=start, states=names)
    sides = None if content["start"] is None else _rows(content["start"], f"{where}.start")
    return ChainBox(rows[0], rows[1], start=None if sides is None else (sides[0], sides[-1]), states=names)


def chains_from_file(path: str | os.PathLike[str]) -> Chains | list[Chains]:
    """A chain, a box, or a list of them, from a JSON file such as {"transition": [[0.9, 0.1], [0.4, 0.6]]}."""
    name, data = os.fspath(Path(path)), form.read(path)
    try:
        if isinstance(data, list):
            return [
                chain_from(one, f"chain {k + 1}")
                for k, one in enumerate(form.items(data, "the list", least=1, most=_MOST_CHAINS))
            ]
        return chain_from(data)
    except InputError as error:
        raise InputError(f"{name!r} holds no chain: {error}") from None


def save_chains(chains: Sequence[Chains], path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write what `chains_from_file` reads."""
    states = [chain_to(one) for one in chains]
    form.write(states[0] if len(states) == 1 else states, path, private=private)


def _rows(value: object, where: str) -> list[list[int | float | str]]:
    return [_row(one, f"{where}[{k}]") for k, one in enumerate(form.items(value, where, least=1, most=_MOST_STATES))]


def _row(value: object, where: str) -> list[int | float | str]:
    found = form.items(value, where, least=1, most=_MOST_STATES)
    for one in found:
        is_number = isinstance(one, int | float) and not isinstance(one, bool)
        if not is_number and not (isinstance(one, str) and _FRACTION.fullmatch(one)):
            raise InputError(f'{where} must hold numbers, or fractions such as "1/3"')
    return list(found)
