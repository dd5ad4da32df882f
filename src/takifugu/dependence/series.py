"""Series of numbers: noise correlated over time, so that nobody tells what one value was (proofs/dependence.md).

The value at one time is hidden from whoever believes in a series of a class of memories, and knows any of the values at
other times. Noise correlated as the series is costs less than noise that is not, and is enough for all of them.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from takifugu import _validation as check
from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels import MOST_AXES, BitSource, GaussianNoise, GaussianVector
from takifugu.dependence.spectra import AR, Circle, Memory, Profiles, least_spectrum
from takifugu.errors import CalibrationError, InputError, MechanismError
from takifugu.problems import Guarantee, RenyiDivergence, guarantee_from_state

LONGEST = 400  # times: what is lost is looked at for every stretch around every one
_SPARE = 1e-9  # of a sum, which floats round before noise is added to it
_BY_DEFAULT = AR(up_to=0.97)
_ANSWERS = ("values", "mean", "total")
_KNOWN = ("any", "nothing")
_FORMAT, _VERSION = "takifugu-series", 1


@dataclass(frozen=True)
class Series:
    """One number at each of so many times in a row, for each of any number of people.

    Args:
        length: the longest series, in times.
        within: how far apart two values of one time may be that nobody is to tell from one another; in a range that is
            public, its width.
        memory: the class of series that is held possible: `AR(up_to=0.97)`, or `Profiles`. It must not come from the
            rows that are published.
        known: "any": whoever knows the values at any other times, of one side or both, learns no more; "nothing": who
            knows none.
        answer: what is published of each person: the "values", or their "mean" or "total", one number.

    Raises:
        InputError: for a length of no times, a distance of 0 or less, a memory that is none, and an unknown word.

    >>> from takifugu import calibrate
    >>> found = calibrate(Series(24, within=1.0, memory=AR(up_to=0.9)), alpha=3, epsilon=1)
    >>> round(found.channel.variance / 1.5, 2)  # of a value, in units of αΔ²/2ε: that of who believes in no memory
    2.11
    """

    length: int
    within: float
    memory: Memory = _BY_DEFAULT
    known: str = "any"
    answer: str = "values"

    def __post_init__(self) -> None:
        """Refuse what is no series."""
        times = check.integer("length", self.length, least=1)
        if times > LONGEST:
            raise InputError(f"length is at most {LONGEST}, got {self.length!r}: take a coarser step of time")
        object.__setattr__(self, "within", check.above("within", self.within, 0))
        if not isinstance(self.memory, Memory):
            raise InputError(f"memory must be AR(up_to=...) or Profiles(...), got {self.memory!r}")
        check.one_of("known", self.known, _KNOWN)
        check.one_of("answer", self.answer, _ANSWERS)
        object.__setattr__(self, "memory", self.memory.knowing(self.known))

    def calibrated(self, asked: Guarantee) -> "SeriesCalibration":
        """The noise of least mean variance that is enough, proved; Rényi guarantees of finite order alone.

        Args:
            asked: a Rényi guarantee of one finite order.

        Returns:
            Noise that is correlated over time where values are published, one number's noise where a mean or a total
            is.

        Raises:
            MechanismError: for guarantees that Gaussian noise does not keep.
            CalibrationError: where the noise that was found cannot be proved.
        """
        unit = self.unit(asked)
        if self.answer != "values":
            # One number is published: what a value moves it by, together with all that depends on the value, is all
            # that noise has to hide.
            return SeriesCalibration(self, asked, GaussianNoise(math.sqrt(unit) * self.reach() * (1 + 1e-12)), 0.0)
        # The spectrum is found for a value that moves by the unit, and noise scales with it; each frequency is rounded
        # up, since less at any one of them could be too little.
        circle, least = least_spectrum(self.memory, self.length)
        scaled = Circle(np.nextafter(circle.spectrum * unit, math.inf) * (1 + 1e-15), circle.size)
        return SeriesCalibration(self, asked, SeriesNoise(scaled, self.length), least * unit)

    def unit(self, asked: Guarantee) -> float:
        """αΔ²/2ε: the variance that hides a value where nothing depends on anything, rounded up.

        Args:
            asked: the guarantee.

        Returns:
            A variance, in the square of the unit of the values.
        """
        if [type(part.divergence) for part in asked.parts] != [RenyiDivergence]:
            raise MechanismError(
                f"noise on a series is Gaussian and keeps Rényi guarantees of finite order, such as Renyi(3, 1); "
                f"{asked} it cannot keep"
            )
        return asked.alpha * self.within**2 / (2 * asked.epsilon) * (1 + 1e-14)

    def reach(self) -> float:
        """By how much the mean, or the total, moves at most with one value that moves by 1; rounded up."""
        return self.memory.reach(self.length) / (self.length if self.answer == "mean" else 1) * (1 + _SPARE)

    def to_state(self) -> dict[str, object]:
        """As plain values for JSON."""
        return {
            "length": self.length,
            "within": self.within,
            "memory": self.memory.to_state(),
            "known": self.known,
            "answer": self.answer,
        }

    @classmethod
    def from_state(cls, state: object) -> "Series":
        """What `to_state` gave."""
        content = form.fields(state, ("length", "within", "memory", "known", "answer"), "'series'")
        memory: Memory
        if form.kind_of(content["memory"]) == "ar":
            kept = form.fields(content["memory"], ("kind", "up_to"), "series.memory")
            memory = AR(form.number(kept["up_to"], "series.memory.up_to", least=0))
        else:
            kept = form.fields(content["memory"], ("kind", "lists"), "series.memory")
            lists = form.items(kept["lists"], "series.memory.lists", least=1, most=10_000)
            memory = Profiles(*[(a, b) for a, b in (form.exactly(one, "a profile", 2) for one in lists)])
        return cls(content["length"], content["within"], memory, content["known"], content["answer"])


class SeriesNoise:
    """Gaussian noise, correlated over time, that is the same law at every time.

    `variance` is that of one value, `spectrum` the variance at each frequency of a circle of twice the length, of which
    a series is a stretch, and `covariance(n)` that of n times in a row.
    """

    def __init__(self, circle: Circle, length: int) -> None:
        """A stretch of so many times of a circle."""
        self.circle, self.length = circle, length
        self._drawn: dict[int, GaussianVector] = {}

    @property
    def variance(self) -> float:
        """Of the noise on one value."""
        return float(self.covariance(1)[0, 0])

    @property
    def spectrum(self) -> Array:
        """The variance at each frequency from none to one turn in two times."""
        return self.circle.spectrum.copy()

    def covariance(self, n: int | None = None) -> Array:
        """Of n times in a row, by default of the longest series.

        Args:
            n: how many times; those of the longest series where left out.

        Returns:
            A Toeplitz matrix: two values are correlated by how far they lie apart, and by nothing else.
        """
        times = self.length if n is None else check.integer("n", n, least=1)
        if times > self.length:
            raise InputError(f"n is at most the length, {self.length}; got {n!r}")
        return self.circle.covariance(times)

    def vector(self, n: int) -> GaussianVector:
        """The channel of n times in a row, whose draws are proved to have this covariance at least."""
        if n > MOST_AXES:
            raise InputError(
                f"noise on series of at most {MOST_AXES} times is drawn with a proof, got {n}: publish a coarser step "
                f"of time, or the mean"
            )
        if n not in self._drawn:
            self._drawn[n] = GaussianVector(self.covariance(n))
        return self._drawn[n]

    def draw(self, values: Array, source: BitSource | None = None) -> Array:
        """Series, one a row, with independent noise: exactly, as vectors are.

        Args:
            values: a series, or one in each row.
            source: of random bits; the operating system's where left out.

        Returns:
            An array of the same shape.
        """
        rows = np.atleast_2d(values)
        return self.vector(rows.shape[1]).draw(rows, source=source)

    def describe(self) -> str:
        """In a few words."""
        return f"Gaussian noise on series of up to {self.length} times, of variance {self.variance:.6g}"

    def __repr__(self) -> str:
        """In a few words."""
        return f"<{self.describe()}>"


@dataclass(frozen=True)
class SeriesCalibration:
    """Noise for a series, what it keeps, and what it loses to those who know more or believe otherwise."""

    series: Series
    guarantee: Guarantee
    channel: Any
    lower_bound: float
    """The mean variance below which no noise on the circle is enough; 0 where it is not known."""

    @property
    def variance(self) -> float:
        """Of the noise on one published number."""
        return float(self.channel.variance)

    @cached_property
    def losses(self) -> Mapping[str, float]:
        """The most that is lost to each of several adversaries, in ε at the order of the guarantee.

        Of whom the guarantee speaks loses ε at most; those after them are told, and not promised.
        """
        series = self.series
        budget = self.guarantee.parts[0].budget
        found = {"whom the guarantee is about": self.proved() * budget}
        none = np.zeros((1, 0))
        found["who knows all other times"] = float(self._lost(none, none).max()) * budget
        if isinstance(series.memory, AR):
            known = replace(series.memory, known="any")
            for window in (2, 8):
                if window < series.length:
                    ways = [known.ways(rate, window + 1) for rate, _ in known.rates(window, 1.0)]
                    most = max(_in_window(self._lost(rows, rows), window) for rows in ways)
                    found[f"who knows all but {window} times in a row"] = most * budget
            if series.memory.up_to > 0:
                longer = replace(series.memory, up_to=1 - (1 - series.memory.up_to) / 2)
                other = replace(self, series=replace(series, memory=longer))
                found[f"who believes in coefficients up to {longer.up_to:g}"] = other.proved() * budget
        return found

    def _lost(self, before: Array, after: Array) -> Array:
        """The share of the budget that is lost for every way to go on before, and every way after."""
        unit = self.series.unit(self.guarantee)
        if isinstance(self.channel, SeriesNoise):
            return self.channel.circle.norms(before, after) * unit
        sums = 1 + before.sum(axis=1)[:, None] + after.sum(axis=1)
        of = self.series.length if self.series.answer == "mean" else 1
        found: Array = (sums / of) ** 2 * unit / self.variance
        return found

    def proved(self) -> float:
        """The share of the budget that is lost at most, proved again from the noise alone.

        Returns:
            A number, 1 at most where the guarantee is kept. It is enclosed in exact arithmetic, whatever the search
            found (proofs/dependence.md).
        """
        unit = self.series.unit(self.guarantee)
        if isinstance(self.channel, SeriesNoise):
            return self.series.memory.worst(self.channel.circle, self.series.length).bound * unit
        return self.series.reach() ** 2 * unit / self.variance

    def require_kept(self) -> None:
        """Refuse noise that is not enough: of a file that was changed, or made by hand."""
        if not self.proved() <= 1 + 1e-9:
            raise CalibrationError("the noise of this calibration is not proved to keep its guarantee: nothing is done")

    def prove(self) -> "SeriesCalibration":
        """Prove it again, or raise `CalibrationError`.

        Returns:
            Itself.

        Raises:
            CalibrationError: where the proof fails, as for a file that was changed.
        """
        self.require_kept()
        return self

    @property
    def claim(self) -> str:
        """What is proved, in a sentence."""
        series = self.series
        whom = "the values at any other times" if series.known == "any" else "no other value"
        return (
            f"{self.channel.describe()} keeps two values of one time that are {series.within:g} apart or less within "
            f"{self.guarantee}, for whoever knows {whom} of the person and believes in {series.memory.describe()}"
        )

    def __str__(self) -> str:
        """What is kept, against whom, and what the others learn."""
        series = self.series
        whom = "the values at any other times" if series.known == "any" else "no other value"
        told = "\n".join(f"  {loss:8.4f}  {who}" for who, loss in self.losses.items())
        return (
            f"{self.channel.describe()}: {self.guarantee} for two values of one time that are {series.within:g} apart "
            f"or less, for whoever knows {whom} of the person and believes in {series.memory.describe()}. Nobody's "
            f"series is held to depend on another's.\nLoss (ε at order {self.guarantee.alpha:g}):\n{told}"
        )

    def to_state(self) -> dict[str, object]:
        """As plain values for JSON, no bit lost."""
        noise: dict[str, object] = (
            {"spectrum": self.channel.circle.spectrum.tolist(), "size": self.channel.circle.size}
            if isinstance(self.channel, SeriesNoise)
            else {"theta": self.channel.theta}
        )
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "series": self.series.to_state(),
            "guarantee": self.guarantee.to_state(),
            "noise": noise,
            "lower_bound": self.lower_bound,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it down; it holds no values, and may be public."""
        form.write(self.to_state(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "SeriesCalibration":
        """Read what `save` wrote, and prove it again.

        Args:
            path: the file.

        Returns:
            The calibration, with its noise proved.

        Raises:
            InputError: where the file cannot be read, or holds something else.
            CalibrationError: where its noise is not enough.
        """
        return cls.from_dict(form.read(path)).prove()

    @classmethod
    def from_dict(cls, data: object) -> "SeriesCalibration":
        """What `to_state` gave, every field checked; nothing is proved by reading."""
        form.header(data, _FORMAT, (_VERSION,), "a calibration of series")
        content = form.fields(
            data, ("format", "version", "series", "guarantee", "noise", "lower_bound"), "the calibration"
        )
        series = Series.from_state(content["series"])
        guarantee = guarantee_from_state(content["guarantee"])
        channel: Any
        if series.answer == "values":
            kept = form.fields(content["noise"], ("spectrum", "size"), "'noise'")
            size = form.index(kept["size"], "noise.size", below=4 * LONGEST)
            entries = form.exactly(kept["spectrum"], "noise.spectrum", size // 2 + 1)
            spectrum = np.array([form.number(x, "noise.spectrum", least=1e-300) for x in entries])
            if size < 2 * series.length:
                raise InputError("noise.size must be twice the length of the series, or more")
            channel = SeriesNoise(Circle(spectrum, size), series.length)
        else:
            kept = form.fields(content["noise"], ("theta",), "'noise'")
            channel = GaussianNoise(form.number(kept["theta"], "noise.theta", least=1e-300))
        return cls(series, guarantee, channel, form.number(content["lower_bound"], "'lower_bound'", least=0))


def _in_window(lost: Array, window: int) -> float:
    """The most that is lost of any of so many times in a row that are unknown, where rows and columns are reaches."""
    last = len(lost) - 1
    return max(float(lost[min(a, last), min(window - 1 - a, last)]) for a in range(window))
