"""What every channel is, whatever it publishes, and all kinds of channels by their names."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.channels.sampling import BitSource
from takifugu.divergences import Decision, Effort, known, required
from takifugu.errors import CompositionError, InputError
from takifugu.laws import Law, Space
from takifugu.problems import Divergence

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from takifugu.channels.listed import ListChannel
    from takifugu.channels.noise import Noise
    from takifugu.channels.vector_noise import GaussianVector

Publishes = Space
"""What leaves a channel is what its laws are of."""

GROUP = "takifugu.noises"  # the entry-point group of noises that other packages install


class Channel(ABC):
    """P(published | true): what becomes of a law, of a value, and all that others ask of it.

    Whatever publishes, proves, attacks, estimates or reports knows a channel by these members and asks for no class.
    What a kind cannot do it refuses by name; nobody falls back to another kind.
    """

    kind: ClassVar[str]
    """Its name in files and messages; `channel_class` finds the class by it."""
    publishes: ClassVar[Publishes]
    """What leaves it. Code that differs for numbers, lists and vectors has a table by this, and no `isinstance`."""
    laws: ClassVar[type]
    """The kind of law that goes through it."""
    weaker: ClassVar[str]
    """What an attacker tries who doubts that the channel was used as stated: "half the noise", "unchanged values"."""

    # ---- what becomes of a law

    @abstractmethod
    def apply(self, law: Law) -> Law:
        """The law of what is published for an answer of this law; an error for a law of another kind."""

    @classmethod
    def kinds(cls) -> tuple[str, ...]:
        """The names under which divergences after it may be registered: its own, its bases', what it publishes."""
        named = [one.__dict__["kind"] for one in cls.__mro__ if "kind" in one.__dict__]
        return (*named, cls.publishes)

    @classmethod
    def knows(cls, divergence: type[Divergence]) -> bool:
        """Whether it is known how far laws are apart after such a channel."""
        return known(cls.kinds(), divergence) is not None

    def loss(self, p: Law, q: Law, of: Divergence) -> float:
        """How far apart what is published for p is from what is published for q, in floats."""
        return required(self.kinds(), of, self.describe()).value(p, q, of, self)

    def decide(self, p: Law, q: Law, of: Divergence, budget: float, *, effort: Effort | None = None) -> Decision:
        """Whether that is `budget` at most, proved either way."""
        return required(self.kinds(), of, self.describe()).decide(p, q, of, budget, self, effort)

    def screened(self, laws: Sequence[Law], of: Divergence, budget: float) -> tuple[Array, Array] | None:
        """Of each law against each other one a loss that is reached, and a proved bound; None where nobody knows any.

        The bounds are close enough to the truth to clear most pairs that are within the budget.
        """
        found = known(self.kinds(), type(of))
        return None if self.is_bare or found is None or found.screen is None else found.screen(laws, of, self, budget)

    def cleared(
        self, laws: Sequence[Law], of: Divergence, budget: float, *, effort: Effort | None = None
    ) -> npt.NDArray[np.bool_]:
        """Of which of all pairs it is proved at once that they are within a budget; none where nobody knows how.

        What is not cleared is not decided: `decide` is for that.
        """
        found = known(self.kinds(), type(of))
        if self.is_bare or found is None or found.clear is None:
            return np.zeros((len(laws), len(laws)), dtype=bool)
        cleared: npt.NDArray[np.bool_] = found.clear(laws, of, self, budget, effort)
        return cleared

    def require_law(self, law: Law) -> None:
        """Refuse a law that does not go through it: for calibrations that were read from a file or made elsewhere."""
        if not isinstance(law, self.laws):
            raise InputError(
                f"the channel is not of the kind that the laws need: through {self.describe()} goes a "
                f"{self.laws.__name__}, and no {type(law).__name__}"
            )

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns, or numbers, one answer has."""

    # ---- publishing

    @abstractmethod
    def publish(self, values: npt.ArrayLike, source: BitSource | None = None) -> npt.NDArray[np.generic]:
        """What is published for values: drawn exactly, from the system's random bits if `source` is left out."""

    @property
    @abstractmethod
    def is_bare(self) -> bool:
        """Whether nothing is left to chance, so that all who have one value publish one value."""

    def at_least(self, other: "Channel") -> bool:
        """Whether this is the other channel, or adds more noise of the same kind: what may stand in for it."""
        return self == other

    # ---- several releases

    def repeated(self, others: Sequence["Channel"]) -> "Channel":
        """The one channel that publishing the same answer through this and the others is worth.

        Raises:
            CompositionError: where there is none, by name: draws of other kinds, or of what is published once.
        """
        if not others:
            return self
        raise CompositionError(
            f"an answer that went through {self.describe()} is published once: two draws of it reveal more than one"
        )

    def local_loss(self, of: Divergence) -> float:
        """No less than the largest divergence between what is published for two true values, whoever has them.

        Infinite unless a kind knows better: two numbers may lie arbitrarily far apart.
        """
        return math.inf

    # ---- words

    @abstractmethod
    def describe(self, *, exact: bool = False) -> str:
        """The channel in a few words, for any sentence; with `exact`, no digit of its size is left out."""

    # ---- attacks and estimates

    @abstractmethod
    def log_likelihood(self, law: Law, published: Sequence[npt.NDArray[Any]], *, weaker: bool = False) -> Array:
        """ln P(published row) under a law, up to a constant that all laws share, for columns of published values.

        It is for attackers: what the law cannot publish is held to be very rare. With `weaker`, as though the channel
        had done less than it states; see the attribute.
        """

    @property
    def axes(self) -> tuple["Noise", ...]:
        """The noise on each published number by itself; an error for a channel that adds none."""
        raise InputError(f"{self.describe()} adds no noise")

    @property
    def noise_covariance(self) -> Array:
        """The covariance of what is added to the published numbers; an error for a channel that adds no noise."""
        raise InputError(f"{self.describe()} adds no noise")

    # ---- as one of its kinds, for what only they have

    def as_noise(self) -> "Noise":
        """Itself, where it is noise on one number; an error for any other."""
        raise InputError(f"{self.describe()} is not noise on a number")

    def as_list(self) -> "ListChannel":
        """Itself, where it publishes from a list; an error for any other."""
        raise InputError(f"{self.describe()} does not publish from a list")

    def as_vector(self) -> "GaussianVector":
        """Itself, where it is noise on vectors; an error for any other."""
        raise InputError(f"{self.describe()} is not noise on vectors")

    # ---- files

    @abstractmethod
    def to_state(self) -> dict[str, object]:
        """As plain values for JSON, no bit lost; `kind` is among them."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: object) -> Self:
        """What `to_state` gave, every field checked; an `InputError` names the one that is wrong."""

    @abstractmethod
    def public_state(self, *, withhold: bool) -> dict[str, object]:
        """What may be published of it. With `withhold`, nothing that was fitted to the rows that are published."""


_NOISES = {
    "gaussian": "gaussian.GaussianNoise",
    "laplace": "laplace.LaplaceNoise",
    "discrete-laplace": "laplace_on_lattice.DiscreteLaplaceNoise",
}
_OTHERS = {
    "finite": "finite_channel.FiniteChannel",
    "sparse": "finite_channel.SparseChannel",
    "vector": "vector_noise.GaussianVector",
}


_OFFERED: "dict[str, type[Noise]]" = {}


def offer_noise(family: "type[Noise]") -> None:
    """Make a family of noise known by its name, in this process: the entry-point group does so in all.

    Args:
        family: a class with the members of `Noise`. More of it must be what less becomes when more is added.

    Raises:
        InputError: there is such a name already.
    """
    if family.kind in channel_kinds():
        raise InputError(f"there is a channel of the kind {family.kind!r} already: give the noise a name of its own")
    _OFFERED[family.kind] = family


def _installed() -> "EntryPoints":
    from importlib.metadata import entry_points  # it takes its time, and our own kinds need it not

    return entry_points(group=GROUP)


def channel_kinds() -> list[str]:
    """The names of all kinds of channels, those of other packages included.

    >>> channel_kinds()[:6]
    ['gaussian', 'laplace', 'discrete-laplace', 'finite', 'sparse', 'vector']
    """
    return [*_NOISES, *_OTHERS, *_OFFERED, *(entry.name for entry in _installed())]


def channel_class(kind: object) -> type[Channel]:
    """The class of channels of this kind; an error where there is none.

    >>> channel_class("finite").publishes
    'values'
    """
    if isinstance(kind, str) and kind in (named := _NOISES | _OTHERS):
        module, _, name = named[kind].rpartition(".")
        found: type[Channel] = getattr(import_module(f"takifugu.channels.{module}"), name)
        return found
    if isinstance(kind, str) and kind in _OFFERED:
        return _OFFERED[kind]
    for entry in _installed():
        if entry.name == kind:
            family: type[Channel] = entry.load()
            if family.kind != kind:
                raise InputError(f"the entry point {kind!r} of {GROUP!r} must have the name of its family")
            return family
    raise InputError(f"channel.kind must be one of {', '.join(map(repr, channel_kinds()))}")


def known_channel(channel: object) -> Channel:
    """The channel, if its class is the one that is registered for its kind; an error that names any other.

    A subclass is another channel: what was proved of the one, and is drawn for it, says nothing about the other.
    """
    if isinstance(channel, Channel) and channel_class(channel.kind) is type(channel):
        return channel
    raise InputError(
        f"a {type(channel).__name__} is no channel known here: nothing is proved of it, and nothing is published "
        f"through it. Noise of another package is named in its entry-point group {GROUP!r}"
    )


def channel_from_state(state: object) -> Channel:
    """The channel that `to_state` wrote, of whatever kind.

    >>> channel_from_state({"kind": "laplace", "scale": 2.0})
    LaplaceNoise(scale=2.0)
    """
    return channel_class(form.kind_of(state)).from_state(state)


def noise_kinds() -> list[str]:
    """The names of all kinds of noise on numbers.

    >>> noise_kinds()[:2]
    ['gaussian', 'laplace']
    """
    return [*_NOISES, *_OFFERED, *(entry.name for entry in _installed())]


def noise_family(kind: str) -> "type[Noise]":
    """The noise on numbers of that name; an error where there is none.

    >>> noise_family("laplace").parameter
    'scale'
    """
    if kind not in noise_kinds():
        raise InputError(f"there is no noise of the kind {kind!r}; there are {', '.join(map(repr, noise_kinds()))}")
    family: type[Any] = channel_class(kind)
    return family
