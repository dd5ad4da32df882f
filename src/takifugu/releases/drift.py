"""Evidence of the rows: whether they go with the secret as the calibration's priors say, and stand in random order.

A channel keeps its promise for its priors. Through the channel of last year's table, or of another hospital's, rows in
which the same column tells far more would leave nearly bare. So the rows' own shares are put through the channel, and
where even the least loss that chance allows is above the promise, nothing is released. In few rows chance allows much:
rows that are surely not like those that were counted may not seem to lose more than was promised (proofs/drift.md).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels import Channel, ListChannel, Noise
from takifugu.errors import InputError, Message
from takifugu.laws import Finite, Mixture, VectorMixture
from takifugu.releases.binding import protected_pairs, protected_secrets
from takifugu.tables import Coded

REFUSED = 1e-9  # the chance that rows of the priors are refused, and that a random order is
_QUANTILES = (0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
_LAWS = 8  # whose quantiles cut the line into parts
_HALVINGS = 40
_SPLITS = 24
_SECRETS = 16  # whose pairs are looked at: those with most rows


class Parts(Protocol):
    """What is published, in finitely many parts: how probable each is for a batch of inputs, added up."""

    @property
    def listed(self) -> ListChannel | None:
        """The channel, where each part is one value of its list."""
        ...

    def added(self, ready: Array) -> Array:
        """What of these inputs is added up."""
        ...

    def published(self, added: Array) -> Array:
        """The sum over all inputs of the probability of each part."""
        ...

    def orders(self, first: object, second: object) -> list[npt.NDArray[np.int64]]:
        """The parts in orders in which those come first, or last, that may speak for the first secret."""
        ...


@dataclass(frozen=True)
class _Outputs:
    """Of a finite channel, each output is a part. Places are counted, and go through the channel at the end."""

    channel: ListChannel
    of_priors: dict[object, Array]

    @classmethod
    def of(cls, channel: ListChannel, calibration: Calibration) -> "_Outputs":
        laws: Any = calibration.beliefs[0]
        return cls(channel, {name: channel.through(channel.weights_of(law)) for name, law in laws.items()})

    @property
    def listed(self) -> ListChannel | None:
        return self.channel

    def added(self, ready: Array) -> Array:
        return np.bincount(ready.astype(np.int64), minlength=len(self.channel.inputs)).astype(np.float64)

    def published(self, added: Array) -> Array:
        return self.channel.through(added)

    def orders(self, first: object, second: object) -> list[npt.NDArray[np.int64]]:
        listed = np.arange(len(self.channel.outputs))
        one, other = self.of_priors[first], self.of_priors[second]
        return [listed, np.argsort(-one / np.maximum(one + other, 1e-300), kind="stable")]


@dataclass(frozen=True)
class _Stretches:
    """Of noise on a number, stretches of the line: what lies between cuts that the priors alone decide."""

    cuts: Array
    noise: Noise
    axis: int | None
    listed: None = None

    def added(self, ready: Array) -> Array:
        values, counts = np.unique(ready if self.axis is None else ready[:, self.axis], return_counts=True)
        below = np.zeros(len(self.cuts) + 2)
        for start in range(0, len(values), 4_096):  # a block at a time: values may be as many as rows
            x, n = values[start : start + 4_096, None], counts[start : start + 4_096]
            shares = self.noise.below(self.cuts - x)
            below[1:-1] += n @ shares
            below[-1] += n.sum()
        return np.diff(below)

    def published(self, added: Array) -> Array:
        return added

    def orders(self, first: object, second: object) -> list[npt.NDArray[np.int64]]:
        return [np.arange(len(self.cuts) + 1)]


@dataclass
class Drift:
    """Adds up what each secret's rows make probable, batch by batch."""

    calibration: Calibration
    parts: tuple[Parts, ...]
    among: int = 1  # how many such are looked at: a chance is shared by all of them
    of_all: bool = True  # the rows, not those of a cell alone
    _sums: dict[Any, list[Array]] = field(default_factory=dict)
    _rows: dict[object, int] = field(default_factory=dict)

    @classmethod
    def of(cls, calibration: Calibration, channel: Channel) -> "Drift | None":
        """What to count for a channel; None where there is nothing to hold the rows against.

        Priors that were made by hand are beliefs of their own, and a group's figure is no row.
        """
        answer = calibration.answer
        if answer is None or not answer.is_of_rows or not calibration.guarantee.is_provable:
            return None
        laws = list(calibration.beliefs[0].values())[:_LAWS]
        if channel.publishes == "values":
            return cls(calibration, (_Outputs.of(channel.as_list(), calibration),))
        if channel.publishes == "number":
            return cls(calibration, (_Stretches(_cuts(laws, channel.as_noise().std), channel.as_noise(), None),))
        sides = [
            _Stretches(_cuts([_side(one, axis) for one in laws], noise.std), noise, axis)
            for axis, noise in enumerate(channel.axes)
        ]
        return cls(calibration, tuple(sides))

    def look(self, secrets: Coded | Sequence[object], ready: Array) -> None:
        """The next rows: their secrets, as the priors name them, and what goes into the channel."""
        codes = self._codes(secrets)
        for secret, code in self._places.items():
            mine = ready[codes == code]
            if not len(mine):
                continue
            sums = [one.added(mine) for one in self.parts]
            before = self._sums.get(secret)
            self._sums[secret] = sums if before is None else [a + b for a, b in zip(before, sums, strict=True)]
            self._rows[secret] = self._rows.get(secret, 0) + len(mine)

    @cached_property
    def _places(self) -> "_Places":
        return _Places({secret: place for place, secret in enumerate(protected_secrets(self.calibration))})

    def _codes(self, secrets: Coded | Sequence[object]) -> npt.NDArray[np.int64]:
        """The place of each row's secret among the protected ones; −1 for all others."""
        if isinstance(secrets, Coded):
            return self._codes(secrets.cells.tolist())[secrets.codes]
        try:
            return np.fromiter(map(self._places.__getitem__, secrets), dtype=np.int64, count=len(secrets))
        except TypeError:  # a list, or something with one in it, is nobody's secret
            return self._codes([secret if isinstance(secret, str | int | float) else None for secret in secrets])

    def told(self) -> str | None:
        """How far the rows are beyond the promise, in the middle of a sentence; None where that is not plain."""
        common = sorted(self._rows, key=lambda secret: -self._rows[secret])[:_SECRETS]
        pairs = [way for pair in protected_pairs(common, self.calibration) for way in permutations(pair)]
        for place, one in enumerate(self.parts) if pairs else ():
            shares = {name: one.published(self._sums[name][place]) / self._rows[name] for name in common}
            for low, high in (*self._whole(pairs, shares), self._halved(pairs, shares, one)):
                if said := self._beyond(low, high, "{:.3g} or more"):
                    return said
            if self.of_all and (channel := one.listed) is not None:
                others = {name for name in common if self._are_others(channel, name)}
                for first, second in pairs:
                    if {first, second} & others:
                        said = self._beyond(shares[first][None, :], shares[second][None, :], "about {:.3g}")
                        if said:
                            return f"these are other rows than those that were counted, and as far as they tell, {said}"
        return None

    def _are_others(self, channel: ListChannel, secret: object) -> bool:
        """Whether a secret's rows are surely no draws of the law that the counted ones were drawn from."""
        belief: Any = self.calibration.beliefs[0]
        if belief.label or secret not in belief.counted or not (counts := belief.counted[secret][0]).any():
            return False
        before = channel.weights_of(Finite(belief[secret].values, counts))
        now, room = self._sums[secret][0], self._room_of(4 * (len(before) + _SPLITS))
        ends = np.unique(np.linspace(0, len(now) - 1, _SPLITS + 2).astype(np.int64))[:-1]
        bounds = []
        for rows in (now, before):
            shares, count = np.append(rows, np.cumsum(rows)[ends]) / rows.sum(), float(rows.sum())
            bounds.append((lower(shares, room / count), upper(shares, room / count)))
        (least, most), (least_before, most_before) = bounds
        return bool(((least > most_before) | (most < least_before)).any())

    def _whole(
        self, pairs: Sequence[tuple[object, object]], shares: dict[object, Array]
    ) -> Iterator[tuple[Array, Array]]:
        """All parts by themselves: least probabilities for one secret, largest for the other."""
        least = {name: self._least(share, self._rows[name]) for name, share in shares.items()}
        most = {name: self._most(share, self._rows[name]) for name, share in shares.items()}
        for first, second in pairs:
            yield least[first][None, :], most[second][None, :]

    def _halved(
        self, pairs: Sequence[tuple[object, object]], shares: dict[object, Array], parts: Parts
    ) -> tuple[Array, Array]:
        """What is published cut in two at several places, a row each: many small parts leave much to chance.

        Those of all pairs are bounded at once.
        """
        mine, other, rows = [], [], []
        for first, second in pairs:
            for order in parts.orders(first, second):
                ends = np.unique(np.linspace(0, len(order) - 1, _SPLITS + 2).astype(np.int64))[1:-1]
                mine.append(_in_two(shares[first][order], ends))
                other.append(_in_two(shares[second][order], ends))
                rows.append(np.full((len(ends), 2), [self._rows[first], self._rows[second]]))
        counts = np.concatenate(rows)
        return (
            self._least(np.concatenate(mine), counts[:, :1]),
            self._most(np.concatenate(other), counts[:, 1:]),
        )

    def _most(self, share: Array, rows: int | Array) -> Array:
        return upper(np.clip(share, 0.0, 1.0), self._room / rows)

    def _least(self, share: Array, rows: int | Array) -> Array:
        return lower(np.clip(share, 0.0, 1.0), self._room / rows)

    @cached_property
    def _room(self) -> float:
        """So many probabilities are bounded, from both sides, that all hold but for a chance of `REFUSED`."""
        found = next(iter(self._sums.values()))
        sizes = sum(len(one.published(sums)) + 4 * _SPLITS for one, sums in zip(self.parts, found, strict=True))
        return self._room_of(2 * sizes)

    def _room_of(self, bounds: int) -> float:
        return math.log(self.among * min(len(self._rows), _SECRETS) ** 2 * bounds / REFUSED)

    def _beyond(self, low: Array, high: Array, how_far: str) -> str | None:
        guarantee = self.calibration.guarantee
        if (most := guarantee.most_odds) is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                odds = float(np.nanmax(low / high, initial=0.0))
            if odds > most:
                return f"they move the odds by a factor of {how_far.format(odds)}, and {most:.3g} was guaranteed"
        if math.isinf(getattr(guarantee, "alpha", math.inf)):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = guarantee.alpha * np.log(low) + (1 - guarantee.alpha) * np.log(high)
            powers[low <= 0] = -np.inf
        loss = float(np.logaddexp.reduce(powers, axis=1).max(initial=-math.inf)) / (guarantee.alpha - 1)
        if loss > guarantee.epsilon:
            return f"a pair of secrets loses {how_far.format(loss)}, and {guarantee.epsilon:.3g} was guaranteed"
        return None


class _Places(dict[object, int]):
    def __missing__(self, secret: object) -> int:
        return -1


def refuse_drift(told: str | None) -> None:
    """Raise where the rows are plainly not those the priors describe."""
    if told is not None:
        raise InputError(
            f"these rows are related to the secret more closely than the priors of this calibration say: {told}. It "
            f"was made for another table, or the table has changed. Nothing was released; calibrate with this table, "
            f"or give Adversary(drift='allow') if the guarantee is meant for an adversary who believes those priors "
            f"alone"
        )


def upper(share: Array, room: float | Array) -> Array:
    """The largest probability under which chance still explains this share of rows: Chernoff's bound, turned round.

    >>> upper(np.array([0.0, 0.5]), 0.01).round(3).tolist()
    [0.01, 0.57]
    """
    low, high = share, np.ones_like(share)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = coin_divergence(share, middle) <= room
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return high


def lower(share: Array, room: float | Array) -> Array:
    """The least such probability."""
    return np.asarray(1 - upper(1 - share, room))


def coin_divergence(seen: Any, share: Any) -> Any:
    """Of coins that show `seen` from those that show `share`: n times it is the exponent of Chernoff's bound.

    >>> round(float(coin_divergence(0.5, 0.25)), 6), float(coin_divergence(1.0, 0.5)) == math.log(2)
    (0.143841, True)
    """
    from scipy.special import rel_entr

    return rel_entr(seen, share) + rel_entr(1 - seen, 1 - share)


def _in_two(shares: Array, ends: npt.NDArray[np.int64]) -> Array:
    before = np.cumsum(shares)[ends]
    return np.stack([before, shares.sum() - before], axis=1)


def _cuts(laws: Sequence[Any], theta: float) -> Array:
    """Where the line is cut: at quantiles of what is published by the priors, which do not depend on these rows."""
    return np.unique(np.concatenate([law.with_noise(theta).quantile(_QUANTILES) for law in laws]))


def _side(law: VectorMixture, axis: int) -> Mixture:
    return Mixture(law.weights, law.means[:, axis], np.sqrt(law.covariances[:, axis, axis]))


# Plain evidence that an order which was kept is not random.
#
# Under a random order every arrangement of a column's values over the places is as likely as any other. So of a stretch
# of places the number that hold one value, or one of the lowest, is hypergeometric, and Hoeffding's bound for draws
# without replacement says how rare it is (proofs/audit.md, claim 5). A table that is sorted shows itself; an order that
# tells less is not found, and an order that is random is hardly ever refused.

_SHORTEST = 4  # places of a stretch,
_FINEST = 18  # of up to two to this power of them
_MOST_VALUES = 64  # of a column that are looked at one by one
_LEVELS = 8  # equal parts of a column, at which its lower values are told from the rest


class Held(NamedTuple):
    """A set of places, how many of them hold what is looked for, and the exponent of how rare that is.

    It is the rarest of so many sets.
    """

    places: int
    hits: int
    exponent: float
    of: int = 1


def stretches(there: npt.NDArray[np.bool_]) -> Iterator[Held]:
    """Stretches of 4, 8, 16 … places up to half of them, each half over the next, and the last ones.

    Args:
        there: whether each place holds what is looked for.

    Returns:
        The rarest stretch of each length; of many places short ones are left out.
    """
    total, share = np.concatenate([[0], np.cumsum(there)]), float(there.mean())
    width = _SHORTEST << max(0, len(there).bit_length() - _FINEST)
    while 2 * width <= len(there):
        starts = np.append(np.arange(0, len(there) - width, width // 2), len(there) - width)
        hits = total[starts + width] - total[starts]
        rare = exponents(hits, width, share)
        most = int(rare.argmax())
        yield Held(width, int(hits[most]), float(rare[most]), len(hits))
        width *= 2


def exponents(hits: Array, places: int, share: float) -> Array:
    """How rare it is, as the exponent of a bound, that so many of these places hold what a share of all hold."""
    return np.asarray(places * coin_divergence(hits / places, share), dtype=np.float64)


class Arrangement:
    """Where the values of columns stand in a table whose order is kept: nobody's word is taken against plain evidence.

    >>> sorted_table = Arrangement(["ill"])
    >>> sorted_table.look({"ill": Coded.of_list(["no"] * 200 + ["yes"] * 200)})
    >>> sorted_table.refuse()
    Traceback (most recent call last):
        ...
    takifugu.errors.InputError: the order of the rows is not random: where a row stands plainly goes with 'ill'...
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Look at these columns: the secrets, and what is published through the channel."""
        self.names = list(dict.fromkeys(names))
        self._seen: dict[str, tuple[dict[object, int], list[npt.NDArray[np.int32]]]] = {
            one: ({}, []) for one in self.names
        }

    def look(self, columns: Mapping[str, Coded]) -> None:
        """The next rows, in their order."""
        for name, (places, parts) in self._seen.items():
            cells = columns[name].cells.tolist()
            called = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
            here = np.array([places.setdefault(cell, len(places)) for cell in called], dtype=np.int32)
            parts.append(here[columns[name].codes])

    def refuse(self) -> None:
        """Raise where the order of the rows goes with the values of a column."""
        for name, (places, parts) in self._seen.items():
            if parts and _is_arranged(list(places), np.concatenate(parts), REFUSED / len(self._seen)):
                raise InputError(
                    Message(
                        "the order of the rows is not random: where a row stands plainly goes with {name!r}, and would "
                        "tell it, so nobody's word for the order is taken. Leave {arg:order} out, and the rows are "
                        "shuffled",
                        name=name,
                    )
                )


def _is_arranged(cells: list[object], codes: npt.NDArray[np.int32], chance: float) -> bool:
    """Whether stretches of places hold far more or fewer of a value, or of the lowest values, than others do."""
    numbers = all(isinstance(cell, int | float) for cell in cells)
    ordered = sorted(range(len(cells)), key=lambda one: cells[one] if numbers else str(cells[one]))  # type: ignore[arg-type, return-value]
    rank = np.empty(len(cells), dtype=np.int64)
    rank[ordered] = np.arange(len(cells))
    ranks = rank[codes]
    counts = np.bincount(ranks, minlength=len(cells))
    alone = range(len(cells)) if len(cells) <= _MOST_VALUES else ()
    below = {int(np.searchsorted(np.cumsum(counts), len(ranks) * k / _LEVELS)) for k in range(1, _LEVELS)}
    looked = [*(ranks == one for one in alone), *(ranks <= one for one in sorted(below))]
    found = [held for one in looked if not one.all() for held in stretches(one)]
    # Of every set there are two tails.
    return bool(found) and max(one.exponent for one in found) > math.log(2 * sum(one.of for one in found) / chance)
