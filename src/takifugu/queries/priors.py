"""The priors of one belief, and those of every belief: plain mappings that know what they rest on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, overload, runtime_checkable

from takifugu._display import Plotted
from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import Lattice, Law
from takifugu.mechanisms import Counted
from takifugu.problems import Answer, Diagnostic, Pair
from takifugu.tables import Secret, Subset, Table, listed, match_secret


def secret_named(given: object, priors: Mapping[Secret, Any]) -> Secret | None:
    """The secret of these priors that a text or number stands for, spelled as in the table or before it was tidied."""
    answer = getattr(priors, "answer", None)
    spelling = None if answer is None else answer.spelling
    return match_secret(given if spelling is None else spelling.label(given), priors)


def named_pairs(pairs: Iterable[Pair], priors: Any) -> list[Pair]:
    """The pairs of secrets that texts or numbers stand for; an error where one is none of them."""
    known = priors if isinstance(priors, Mapping) else priors[0]
    found = []
    for pair in pairs:
        a, b = (secret_named(one, known) for one in pair)
        if a is None or b is None:
            raise InputError(f"{pair[a is not None]!r} in pairs is not one of the secrets: {listed(known)}")
        found.append((a, b))
    return found


class ColumnWeights(tuple[float, ...]):
    """How much each column of a row counts in the loss."""

    __slots__ = ()


class Priors(Plotted, dict[Secret, Law]):
    """One prior per secret, with what there is to say about the data behind them.

    A plain dictionary wherever one is expected. `answer` says what they are the priors of; a calibration made from
    them publishes that and nothing else. `rows` tells how many rows each prior rests on; `subsets` holds the values
    and counts behind each where they were counted, for a picture of the data beside its prior.

    Where values are published on a lattice, `lattice` is it, and what is published must be snapped to it first;
    `counts` and `pseudo` are what was seen at each point and the pseudo-counts, from which confidence draws; for a
    model, `drawn` are the means and standard deviations that parameters drawn from its posterior gave. `label` says
    what the adversary knows, in words; it is empty where they know nothing. `scarce` are the secrets whose prior may be
    used only with confidence.
    """

    answer: Answer | None
    findings: tuple[Diagnostic, ...]
    rows: dict[Secret, int]
    subsets: dict[Secret, Subset]
    lattice: Lattice | None
    counts: dict[Secret, Array]
    pseudo: dict[Secret, Array]
    label: str
    scarce: tuple[Secret, ...]

    def __init__(
        self,
        priors: Mapping[Secret, Law],
        *,
        answer: Answer | None = None,
        findings: Iterable[Diagnostic] = (),
        rows: Mapping[Secret, int] | None = None,
        subsets: Mapping[Secret, Subset] | None = None,
        lattice: Lattice | None = None,
        counts: Mapping[Secret, Array] | None = None,
        pseudo: Mapping[Secret, Array] | None = None,
        label: str = "",
    ) -> None:
        """Keep the priors, the findings and what each prior rests on."""
        super().__init__(priors)
        self.answer = answer
        self.findings = tuple(findings)
        self.rows = dict(rows or {})
        self.subsets = dict(subsets or {})
        self.lattice = lattice
        self.counts = dict(counts or {})
        self.pseudo = dict(pseudo or {})
        self.label = label
        self.scarce = ()
        self.drawn: dict[Secret, tuple[Array, Array]] = {}
        self.loss: Any = None  # what a query says is to be lost least
        self.pairs: list[tuple[Any, Any]] | None = None  # those to hide, where not every pair is meant
        self.is_smoothed = False  # whether the laws hold rows that were added, which a finding tells of

    @property
    def counted(self) -> dict[Secret, Counted]:
        """What confidence draws from, for each secret; empty where the priors are on no lattice."""
        return {name: Counted(self.counts[name], self.pseudo[name]) for name in self if name in self.counts}

    def __missing__(self, key: object) -> NoReturn:
        """Tell which secrets there are."""
        raise UnknownSecretError(f"there is no prior for secret {key!r}: those there are, are {listed(self)}")


class Beliefs(Plotted, Sequence[Priors]):
    """The priors of every belief that an adversary may hold, each with its `label`; the first knows nothing.

    `findings` are about all of them. Whatever takes a list of beliefs takes this.
    """

    def __init__(self, beliefs: Iterable[Priors], *, findings: Iterable[Diagnostic] = ()) -> None:
        """Keep the beliefs and what there is to say about them."""
        self._beliefs = tuple(beliefs)
        self.findings = tuple(findings)

    @overload
    def __getitem__(self, index: int) -> Priors: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Priors, ...]: ...
    def __getitem__(self, index: int | slice) -> Priors | tuple[Priors, ...]:
        """One belief, by its position."""
        return self._beliefs[index]

    def __len__(self) -> int:
        """The number of beliefs."""
        return len(self._beliefs)

    def __repr__(self) -> str:
        """The labels while they are few."""
        return f"<{len(self)} beliefs: {listed((b.label or 'nothing known' for b in self), most=6)}>"

    @property
    def answer(self) -> Answer | None:
        """What all of them are the priors of."""
        return self._beliefs[0].answer

    @property
    def pairs(self) -> list[tuple[Any, Any]] | None:
        """The pairs to hide, where not every pair is meant."""
        return self._beliefs[0].pairs

    @property
    def loss(self) -> Any:
        """What the query says is to be lost least."""
        return self._beliefs[0].loss

    @property
    def is_smoothed(self) -> bool:
        """Whether the laws hold rows that were added."""
        return self._beliefs[0].is_smoothed

    @property
    def labels(self) -> tuple[str, ...]:
        """What the adversary knows in each; empty for nothing."""
        return tuple(belief.label for belief in self)

    @property
    def lattice(self) -> Lattice | None:
        """The lattice that all of them share."""
        return self._beliefs[0].lattice


class UnknownSecretError(InputError, KeyError):
    """A secret that the table does not hold."""

    def __str__(self) -> str:
        """The sentence itself: a KeyError would show it in quotes."""
        return str(self.args[0])


@runtime_checkable
class Query(Protocol):
    """An answer to be published: how its distribution follows from a table."""

    def priors(self, table: Table, secret: str, secrets: Iterable[object] | None) -> Priors:
        """One prior per secret."""
        ...


@runtime_checkable
class CellQuery(Protocol):
    """A query that can also be answered for each cell of what the adversary knows."""

    def beliefs(self, table: Table, secret: str, secrets: Iterable[object] | None, known: Sequence[str]) -> Beliefs:
        """The priors of every cell."""
        ...
