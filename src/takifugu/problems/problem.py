"""The problem that a calibration solves: who may believe what, what is to be hidden, and in which answer."""

import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, no_text
from takifugu.errors import InputError
from takifugu.laws import LAWS, Law, Space
from takifugu.problems.answer import Answer
from takifugu.problems.diagnostics import Diagnostic

# The pairs of secrets to be hidden from one another, without a list of them where all are meant.


Secret = Hashable
Pair = tuple[Any, Any]
Indices = npt.NDArray[np.intp]


class Pairs(Sequence[Pair]):
    """Unordered pairs of secrets; each is protected in both directions.

    Twenty thousand secrets make two hundred million pairs, so "every pair" is kept as a rule, not as a list.
    """

    __slots__ = ("_first", "_second", "secrets")

    def __init__(self, secrets: Iterable[Secret], chosen: Iterable[Pair] | None = None) -> None:
        """Every pair of the secrets, or those chosen.

        Args:
            secrets: the values of the secret, two at least.
            chosen: the pairs to be hidden from one another, in any order; every pair where left out.

        Raises:
            InputError: for fewer than two secrets, and pairs that are none of two different ones of them.
        """
        self.secrets: tuple[Secret, ...] = tuple(secrets)
        if len(self.secrets) < 2:
            raise InputError(
                f"at least two secrets are needed to hide one from another, got {list(self.secrets)}: "
                "take a secret of more than one value"
            )
        self._first: Indices | None = None
        self._second: Indices | None = None
        if chosen is not None:
            self._first, self._second = _indices(self.secrets, chosen)

    @property
    def is_every(self) -> bool:
        """Whether these are all pairs of the secrets."""
        return self._first is None

    def __len__(self) -> int:
        """The number of unordered pairs."""
        n = len(self.secrets)
        return n * (n - 1) // 2 if self._first is None else len(self._first)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        """The pair at a position, in the order of the secrets (or of the choice)."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"there are {size} pairs, no number {index}")
        index %= size
        if self._first is not None and self._second is not None:
            return self.secrets[self._first[index]], self.secrets[self._second[index]]
        row, ahead = 0, len(self.secrets) - 1
        while index >= ahead:
            index, row, ahead = index - ahead, row + 1, ahead - 1
        return self.secrets[row], self.secrets[row + 1 + index]

    def __iter__(self) -> Iterator[Pair]:
        """Each unordered pair once."""
        if self._first is not None and self._second is not None:
            for i, j in zip(self._first.tolist(), self._second.tolist(), strict=True):
                yield self.secrets[i], self.secrets[j]
            return
        for i, a in enumerate(self.secrets):
            for b in self.secrets[i + 1 :]:
                yield a, b

    def __contains__(self, pair: object) -> bool:
        """Whether a pair is among them, in either order."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        a, b = pair
        if self.is_every:
            return a != b and a in self.secrets and b in self.secrets
        return any({a, b} == {c, d} for c, d in self)

    def __eq__(self, other: object) -> bool:
        """The same pairs in the same order; also of a plain list or tuple.

        Two `Pairs` are the same only with their secrets in the same order: places and radii are counted by it.
        """
        if isinstance(other, Pairs) and self.secrets != other.secrets:
            return False
        if isinstance(other, Pairs) and self.is_every and other.is_every:
            return True
        if isinstance(other, Pairs | list | tuple):
            return len(self) == len(other) and all(a == tuple(b) for a, b in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        """Consistent with equality of two `Pairs`."""
        return hash((len(self), self[0]))

    def __repr__(self) -> str:
        """The pairs while they are few."""
        if len(self) <= 6:
            return repr(list(self))
        return f"<{len(self):,} pairs of {len(self.secrets):,} secrets>"

    def directed(self) -> Iterator[Pair]:
        """Each pair in both orders.

        Divergences are not symmetric: each pair is looked at both ways.
        """
        for a, b in self:
            yield a, b
            yield b, a

    def directed_places(self) -> tuple[Indices, Indices]:
        """The places of `directed` among the secrets: first ones and second ones.

        Returns:
            Two arrays of one length, so that entry k of both is the k-th directed pair.

        >>> [places.tolist() for places in Pairs("abc", [("a", "c")]).directed_places()]
        [[0, 2], [2, 0]]
        """
        one, other = np.triu_indices(len(self.secrets), 1)
        if self._first is not None and self._second is not None:
            one, other = self._first, self._second
        return np.stack([one, other], axis=1).ravel(), np.stack([other, one], axis=1).ravel()

    def directed_blocks(self, size: int) -> Iterator[tuple[Indices, Indices]]:
        """Index arrays (i, j), which broadcast together to about `size` directed pairs at a time.

        The blocks of every pair are whole rows and hold each secret against itself too, which costs nothing.

        Args:
            size: about how many directed pairs a block has, which bounds the memory that work on it takes.

        Returns:
            One pair of index arrays after another. Together they hold every directed pair.
        """
        if self._first is not None and self._second is not None:
            i = np.concatenate([self._first, self._second])
            j = np.concatenate([self._second, self._first])
            for start in range(0, len(i), size):
                yield i[start : start + size], j[start : start + size]
            return
        n = len(self.secrets)
        everyone = np.arange(n)
        rows = max(1, size // n)
        for start in range(0, n, rows):
            yield everyone[start : start + rows, None], everyone[None, :]


def _indices(secrets: tuple[Secret, ...], chosen: Iterable[Pair]) -> tuple[Indices, Indices]:
    place = {secret: i for i, secret in enumerate(secrets)}
    seen: dict[tuple[int, int], None] = {}
    no_text("pairs", chosen, "pairs of secrets")
    for pair in chosen:
        if isinstance(pair, str | bytes) or not isinstance(pair, Iterable) or len(both := tuple(pair)) != 2:
            raise InputError(f"each of the pairs must hold two secrets, got {pair!r}")
        for secret in both:
            if not _is_key(secret, place):
                raise InputError(f"{secret!r} in pairs is not one of the secrets: {_listed(secrets)}")
        i, j = place[both[0]], place[both[1]]
        if i == j:
            raise InputError(f"a secret cannot be hidden from itself: {pair!r}")
        if (j, i) not in seen:
            seen[(i, j)] = None
    if not seen:
        raise InputError("pairs is empty: name at least one pair, or leave it out to protect every pair")
    first, second = zip(*seen, strict=True)
    return np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)


def _is_key(secret: object, place: dict[Secret, int]) -> bool:
    try:
        return secret in place
    except TypeError:  # a list, or a tuple with one in it
        return False


def _listed(secrets: tuple[Secret, ...]) -> str:
    shown = ", ".join(repr(s) for s in secrets[:12])
    return shown if len(secrets) <= 12 else f"{shown} and {len(secrets) - 12} more"


# The problem.

# What an adversary may believe: one law of the answer per secret, and possibly several such beliefs.

OWN_ROWS = ", by its own rows alone"  # ends the label of the second belief about a cell of side information
_LARGEST = 1e150


class Counted(Protocol):
    """Values of the data behind a law, and how often each occurs."""

    @property
    def values(self) -> Array:
        """Distinct values, in order."""
        ...

    @property
    def counts(self) -> Array:
        """The number of rows with each."""
        ...


class Belief(Mapping[Hashable, Law]):
    """One law per secret; a dictionary that cannot change.

    `label` tells beliefs apart for people ("sex = f", "last year"). `rows`, `histograms`, `counted` (counts and
    pseudo-counts, from which confidence draws) and `drawn` (means and standard deviations that a model's own posterior
    gave) are what the laws rest on where they were fitted; the guarantee is about the laws, so they do not make two
    beliefs differ. `shares` are how likely each secret is, where that is known and the weights of the laws do not say
    it: what a channel costs, and what it is to leave as it was, is counted by them.
    """

    __slots__ = ("_laws", "counted", "drawn", "histograms", "label", "rows", "shares")

    def __init__(
        self,
        laws: Mapping[Secret, Law],
        *,
        label: str = "",
        rows: Mapping[Secret, int] | None = None,
        histograms: Mapping[Secret, Counted] | None = None,
        counted: Mapping[Secret, tuple[Array, Array]] | None = None,
        drawn: Mapping[Secret, tuple[Array, Array]] | None = None,
        shares: Mapping[Secret, float] | None = None,
    ) -> None:
        """Copy the mappings, and the numbers that evidence is drawn from: whoever has them may change them later."""
        self._laws = dict(laws)
        self.label = str(label)
        self.rows = dict(rows or {})
        self.histograms = dict(histograms or {})
        self.counted = {secret: _frozen(pair) for secret, pair in (counted or {}).items()}
        self.drawn = {secret: _frozen(pair) for secret, pair in (drawn or {}).items()}
        self.shares = dict(shares or {})

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as what it was made of: arrays that are unpickled could be changed."""
        return _rebuilt, (self._laws, self.label, self.rows, self.histograms, self.counted, self.drawn, self.shares)

    def __eq__(self, other: object) -> bool:
        """Whether the laws are the same, and beside another belief the shares."""
        if isinstance(other, Belief) and self.shares != other.shares:
            return False
        return super().__eq__(other)

    def __getitem__(self, secret: Hashable) -> Law:
        """The law of the answer given the secret."""
        return self._laws[secret]

    def __iter__(self) -> Iterator[Hashable]:
        """The secrets, in the order given."""
        return iter(self._laws)

    def __len__(self) -> int:
        """The number of secrets."""
        return len(self._laws)

    def __hash__(self) -> int:
        """Consistent with equality, which is that of mappings."""
        return hash(frozenset(self._laws.items()))

    def __repr__(self) -> str:
        """As a dictionary."""
        return repr(self._laws)


def _frozen(pair: tuple[Array, Array]) -> tuple[Array, Array]:
    first, second = (np.array(part, dtype=np.float64) for part in pair)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second


def _rebuilt(
    laws: Mapping[Secret, Law],
    label: str,
    rows: Mapping[Secret, int],
    histograms: Mapping[Secret, Counted],
    counted: Mapping[Secret, tuple[Array, Array]],
    drawn: Mapping[Secret, tuple[Array, Array]],
    shares: Mapping[Secret, float],
) -> Belief:
    return Belief(laws, label=label, rows=rows, histograms=histograms, counted=counted, drawn=drawn, shares=shares)


_NAMED = re.compile(r"the belief is '([^']*)'")


def named_belief(name: str, label: str = "") -> str:
    """The label of a belief that has a name, and of a cell of it.

    >>> named_belief("last year", "sex = f")
    "the belief is 'last year', sex = f"
    """
    return f"the belief is '{name}'" + (f", {label}" if label else "")


def belief_names(beliefs: Iterable[Belief]) -> list[str | None]:
    """The names of beliefs, each once and in order; None stands for those that have none, which are one's own."""
    found = (_NAMED.match(belief.label) for belief in beliefs)
    return list(dict.fromkeys(None if name is None else name.group(1) for name in found))


def is_of_all(belief: Belief) -> bool:
    """Whether a belief is about all rows, and not about a cell of what the adversary knows.

    >>> [is_of_all(Belief({}, label=label)) for label in ("", "sex = f", named_belief("last year"))]
    [True, False, True]
    """
    return not _NAMED.sub("", belief.label)


def beliefs_from(priors: object) -> tuple[Belief, ...]:
    """One or several mappings as a tuple of beliefs about the same secrets, all with laws of one kind.

    Args:
        priors: a mapping from secret to law, or several such mappings.

    Returns:
        One `Belief` for each, with those that are `Belief` already unchanged.

    Raises:
        InputError: where they are about different secrets, or their laws are of different kinds or dimensions.
    """
    given = [priors] if isinstance(priors, Mapping) else priors
    if isinstance(given, (str, bytes, *LAWS)) or not isinstance(given, Iterable):
        raise InputError(
            f"priors must be a mapping from secret to Mixture, or a list of such mappings, got {type(priors).__name__}"
        )
    beliefs = tuple(_belief(one) for one in given)
    if not beliefs or not beliefs[0]:
        raise InputError("priors is empty: give at least two secrets with a Mixture each")
    for belief in beliefs[1:]:
        if set(belief) != set(beliefs[0]):
            odd = set(belief) ^ set(beliefs[0])
            raise InputError(
                f"every belief must be about the same secrets; not in all of them: {sorted(odd, key=repr)}"
            )
    kinds = {type(law) for belief in beliefs for law in belief.values()}
    if len(kinds) > 1:
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f"all laws must be of one kind to be told apart, got {named}: describe them alike")
    sizes = sorted({law.dimension for b in beliefs for law in b.values() if law.space == "vector"})
    if len(sizes) > 1:
        raise InputError(
            f"every law must be about the same numbers in the same order, got vectors of {', '.join(map(str, sizes))} "
            f"numbers: give each secret all of them"
        )
    return beliefs


def _belief(given: object) -> Belief:
    if isinstance(given, Belief):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"each belief must be a mapping from secret to Mixture, got {type(given).__name__}")
    for secret, law in given.items():
        if isinstance(secret, float) and not math.isfinite(secret):
            raise InputError(f"a secret must be a value that can be named, got {secret!r}: drop or rename it")
        if not isinstance(law, LAWS):
            raise InputError(
                f"the prior of {secret!r} must be a Mixture, got {type(law).__name__}: make one with "
                f"Mixture.gaussian, Mixture.empirical or Mixture.fit"
            )
    _require_room(given)
    # What `fit_priors` returns brings its label, rows and counts along.
    return Belief(
        given,
        label=getattr(given, "label", ""),
        rows=getattr(given, "rows", None),
        histograms=getattr(given, "subsets", None),
        counted=getattr(given, "counted", None),
        drawn=getattr(given, "drawn", None),
    )


def _require_room(belief: Mapping[object, Law]) -> None:
    """No number so large that a variance leaves the range of floats; all laws at once, for there may be a million."""
    laws = {secret: law for secret, law in belief.items() if law.space != "values"}
    numbers = [array.reshape(-1) for law in laws.values() for array in (law.means, law.component_stds)]
    if not numbers or float(np.abs(np.concatenate(numbers)).max()) <= _LARGEST:
        return
    for secret, law in laws.items():
        reach = max(float(abs(law.means).max()), float(law.component_stds.max()))
        if reach > _LARGEST:
            raise InputError(
                f"the prior of {secret!r} reaches {reach:g}, and above {_LARGEST:g} a variance leaves the range of "
                f"numbers here: use a larger unit"
            )


class Place(NamedTuple):
    """Where a loss is measured: a belief, and the positions of two secrets, the first against the second."""

    belief: int
    first: int
    second: int


@dataclass(frozen=True)
class Problem:
    """Beliefs, the pairs of secrets to hide from one another, and the answer they are about.

    `answer` is None for priors made by hand: nobody has said what they are the priors of. `findings` are what there
    is to say about the data behind the beliefs; they do not make two problems differ.
    """

    beliefs: tuple[Belief, ...] = field(repr=False)
    pairs: Pairs = field(repr=False)
    answer: Answer | None = None
    findings: tuple[Diagnostic, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of(cls, priors: object, pairs: Iterable[Pair] | None = None) -> "Problem":
        """The problem of the priors as `fit_priors` gave them, or of mappings made by hand.

        Args:
            priors: what `fit_priors` gave, or one or several mappings from secret to law.
            pairs: the pairs of secrets to hide from one another; those of the priors, or every pair, where left out.

        Returns:
            The problem. Made by hand it has no answer, so that whatever is calibrated for it is bound to no column.

        Raises:
            InputError: for priors that are none, and for pairs of secrets that no prior is about.

        >>> from takifugu.laws import Mixture
        >>> len(Problem.of({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 1)}).pairs)
        1
        """
        if isinstance(priors, Problem):
            return (
                priors
                if pairs is None
                else cls(priors.beliefs, Pairs(priors.pairs.secrets, pairs), priors.answer, priors.findings)
            )
        beliefs = beliefs_from(priors)
        return cls(
            beliefs,
            Pairs(beliefs[0], getattr(priors, "pairs", None) if pairs is None else pairs),
            getattr(priors, "answer", None),
            tuple(getattr(priors, "findings", ())),
        )

    def laws(self, belief: int) -> list[Law]:
        """The laws of one belief, in the order of `pairs.secrets`.

        Args:
            belief: the number of the belief.

        Returns:
            As many laws as there are secrets, all of one kind: `problem.space` says which.
        """
        given = self.beliefs[belief]
        return [given[secret] for secret in self.pairs.secrets]

    @property
    def space(self) -> Space:
        """What its laws are of, which is the same for all: numbers, entries of a list, or vectors."""
        space: Space = next(iter(self.beliefs[0].values())).space
        return space

    def ends(self, place: Place) -> tuple[Law, Law]:
        """The two laws that a place compares.

        Args:
            place: a belief and a directed pair.

        Returns:
            The law under the first secret and that under the second.
        """
        belief = self.beliefs[place.belief]
        first, second = self.names(place)
        return belief[first], belief[second]

    def names(self, place: Place) -> tuple[Hashable, Hashable]:
        """The two secrets that a place compares."""
        return self.pairs.secrets[place.first], self.pairs.secrets[place.second]

    def places(self) -> Iterator[Place]:
        """Every pair in both directions under every belief."""
        position = {secret: i for i, secret in enumerate(self.pairs.secrets)}
        for belief in range(len(self.beliefs)):
            for a, b in self.pairs.directed():
                yield Place(belief, position[a], position[b])

    @property
    def size(self) -> int:
        """The number of places."""
        return 2 * len(self.pairs) * len(self.beliefs)

    def words(self, place: Place) -> str:
        """A place for a sentence: the secrets, and the belief where there are several.

        Args:
            place: a belief and a directed pair.

        Returns:
            Such as "'yes' against 'no' where sex = f".
        """
        a, b = self.names(place)
        return f"{a!r} against {b!r}{self.under(place)}"

    def under(self, place: Place) -> str:
        """' where …', naming the belief of a place; nothing where there is only one, and it has no name."""
        label = self.beliefs[place.belief].label
        if label:
            return f" where {label}"
        return "" if len(self.beliefs) == 1 else f" under belief {place.belief + 1} of {len(self.beliefs)}"


# Priors that rest on a handful of rows.

SCARCE = 5  # rows below which a prior is used only with confidence, or where the caller allows it


def require_rows(priors: Any, *, confidence: float | None) -> None:
    """Refuse priors that rest on a handful of rows, unless draws from their posterior make up for it.

    `priors` is anything that `calibrate` takes; only what `fit_priors` made knows its rows.

    Args:
        priors: what is to be calibrated for.
        confidence: the level of the Monte Carlo evidence that is asked for, which widens what few rows say; None for
            none.

    Raises:
        InputError: where a secret has so few rows that its prior is a guess, and nothing makes up for that.
    """
    if isinstance(priors, Problem):  # made from priors that were looked at before
        return
    beliefs: Iterable[Any] = [priors] if isinstance(priors, Mapping) else priors
    for belief in beliefs:
        scarce = getattr(belief, "scarce", ())
        if scarce and confidence is None:
            raise InputError(
                f"secret {scarce[0]!r} has only {belief.rows[scarce[0]]} rows, fewer than {SCARCE}: ask for "
                f"confidence=0.95, merge it with another secret, from which it is then not hidden, "
                f"or take the risk with fit_priors(..., few='allow')"
            )
