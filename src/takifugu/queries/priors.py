"""The priors of one belief, and those of every belief: plain mappings that know what they rest on; remarks on both."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, overload, runtime_checkable

import numpy as np

from takifugu._display import Plotted
from takifugu._validation import Array
from takifugu.errors import InputError, Message
from takifugu.laws import Lattice, Law, Reading, merge
from takifugu.mechanisms import Counted
from takifugu.problems import SCARCE, Answer, Choices, Diagnostic, Pair
from takifugu.tables import (
    Overview,
    Secret,
    Subset,
    Suspect,
    Table,
    alike,
    are_notes,
    awkward_form,
    codes_in,
    cut_named,
    holds_dates,
    listed,
    looks_like_identifier,
    match_secret,
    numbers_rows,
    shared,
    suspected,
    words_among_numbers,
)


def secret_named(given: object, priors: Mapping[Secret, Any]) -> Secret | None:
    """The secret of these priors that a text or number stands for, spelled as in the table or before it was tidied.

    Args:
        given: as somebody typed it.
        priors: by secret.

    Returns:
        The secret, or None where there is none of that name.
    """
    answer = getattr(priors, "answer", None)
    spelling = None if answer is None else answer.spelling
    return match_secret(given if spelling is None else spelling.label(given), priors)


def named_pairs(pairs: Iterable[Pair], priors: Any) -> list[Pair]:
    """The pairs of secrets that texts or numbers stand for; an error where one is none of them.

    Args:
        pairs: as they were given.
        priors: one mapping or several.

    Returns:
        The same pairs with the secrets themselves.

    Raises:
        InputError: with the names that there are.
    """
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
        self.lattice: Lattice | None = None  # to which what is published is snapped
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


# What there is to say about a column before noise: its lattice, its tail, and how well a law fits it.


_POOR = 0.05  # a Kolmogorov distance worth a word, where there are rows enough to measure it
_CHANCE = 1.36  # over √n: the distance that even the true distribution exceeds once in twenty times
_TAIL_SHARE = 0.3  # of the range: where 99 of 100 rows lie in less of it, the rest is a tail
_MIDDLE_SHARE = 0.06  # of the range: less than this holds the middle half only where the rest is a tail (normal: 0.13)
_TAIL_ROWS = 100  # rows below which the hundredth part is nobody
NAMED = 10  # rows that must share a label before it is named as one that looks like another


def about_lattice(
    column: str, reading: Reading, values: Array, counts: Array, *, bounded: bool
) -> Iterable[Diagnostic]:
    """What was read, widened and clipped, and whether a tail forces noise on everyone."""
    lattice = reading.lattice
    if reading.bounds_read or reading.step_read:
        read = {"bounds_read": reading.bounds_read, "step_read": reading.step_read}
        yield Diagnostic("lattice-read", column=column, low=lattice.low, high=lattice.high, step=lattice.step, **read)
    if reading.finer is not None:
        yield Diagnostic("coarser-step", column=column, step=lattice.step, finer=reading.finer)
    if outside := lattice.outside(values, counts):
        yield Diagnostic("clipped", column=column, rows=outside, low=lattice.low, high=lattice.high)
    if not bounded and lattice.transform is None:
        yield from heavy_tail(column, values, counts)


def heavy_tail(column: str, values: Array, counts: Array) -> Iterable[Diagnostic]:
    """Whether the range is mostly a tail, which bounds or a logarithm would tame."""
    upto = np.cumsum(counts) / counts.sum()
    low, high, first, third = (float(values[np.searchsorted(upto, share)]) for share in (0.005, 0.99, 0.25, 0.75))
    span = float(values[-1] - values[0])
    is_far = 0 < high - low < _TAIL_SHARE * span or third - first < _MIDDLE_SHARE * span
    if counts.sum() >= _TAIL_ROWS and 0 < high - low < span and is_far:
        yield Diagnostic(
            "heavy-tail",
            ahead=False,
            column=column,
            below=high,
            share=(high - low) / span,
            positive=bool(values[0] > 0),
        )


def together(subsets: Mapping[Secret, Subset]) -> tuple[Array, Array]:
    """The values of all secrets together, with their counts."""
    return merge(
        np.concatenate([subset.values for subset in subsets.values()]),
        np.concatenate([subset.counts for subset in subsets.values()]),
    )


def about_codes(table: Table, column: str, values: Array, counts: Array) -> Iterable[Diagnostic]:
    """Codes such as 999 that stand far from the rest: `inspect` tells these too, and whoever did not ask must know.

    Codes that are only frequent are left to `inspect`: 99 hours a week is as often the end of a scale.
    """
    for one in suspected(table, column, Subset(values, counts, 0.0)):
        if one.apart:
            yield suspected_code(column, one)


def suspected_code(column: str, suspect: Suspect) -> Diagnostic:
    """That a number may stand for a missing value, with how that is declared for its column alone."""
    if not suspect.may_be_named:
        return Diagnostic("far-value", column=column, rows=suspect.rows, sentinel=f"{column}=VALUE", real=f"{column}=")
    code = f"{column}={suspect.value:.15g}"
    found = {"value": suspect.value, "rows": suspect.rows, "apart": suspect.apart}
    return Diagnostic("suspected-sentinel", column=column, sentinel=code, real=f"{column}=", **found)


def suspected_word(column: str, word: str, rows: int) -> Diagnostic:
    """The same of a word in a column that would hold numbers but for it."""
    return Diagnostic("suspected-word", column=column, word=word, rows=rows, sentinel=f"{column}={word}")


_MISSING = {
    *("unknown", "unk", "not known", "missing", "none given", "not given", "not stated", "not specified"),
    *("no answer", "refused", "declined", "other/unknown", "not available", "not recorded", "?", "??", "-", "--"),
}


def words_for_missing(column: str, labels: Mapping[Any, int]) -> Iterable[Diagnostic]:
    """The labels of a column that may say that nothing is known, beside others that say something.

    >>> [one["word"] for one in words_for_missing("smoker", {"yes": 9, "no": 20, "Unknown": 3})]
    ['Unknown']
    """
    for label, rows in labels.items():
        if len(labels) > 1 and " ".join(str(label).casefold().split()) in _MISSING:
            yield Diagnostic("word-for-missing", column=column, word=label, rows=rows, sentinel=f"{column}={label}")


def require_no_codes(table: Table, columns: Iterable[str], lists: Mapping[str, Choices]) -> None:
    """Refuse to publish columns of which a number that nobody has declared may mean a missing value.

    It would stretch the bins of its column until they hide little but cost much, or be published as somebody's value.
    A number on a list that was given is one that its giver knows. Of a column that is cut the column itself is looked
    at: a code would leave in the last of the bins.
    """
    names = [getattr(cut_named(one, {*table.schema} - {one}) or one, "column", one) for one in columns]
    told = [
        suspected_code(name, code)
        for name, code in codes_in(table, [name for name in names if name in table.schema])
        if name not in lists or code.value not in lists[name].values
    ]
    if told:
        raise InputError(Message("{0:sentences}. Nothing was published", told))


def naming(column: str, values: Sequence[object], tallies: Sequence[float]) -> Iterable[Diagnostic]:
    """Whether a column of labels or whole numbers names people, or holds dates or notes: `inspect` advises against it.

    Numbers that surely name people are refused.
    """
    counts: dict[Any, float] = {}
    for value, tally in zip(values, tallies, strict=True):
        counts[value] = counts.get(value, 0.0) + tally
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in counts)
    rows = int(sum(counts.values()))
    if numeric and not all(float(value).is_integer() for value in counts):
        return
    if numeric and counts and numbers_rows(column, min(counts), max(counts), len(counts), rows):
        raise InputError(
            f"column {column!r} numbers the rows: whoever knows a person's number knows the row. Leave it out; if it "
            f"is no number of a person, give a public list of its values (domain=)"
        )
    texts = {} if numeric else {str(value): int(tally) for value, tally in counts.items()}
    if texts and (form := awkward_form(texts)) is not None:
        yield Diagnostic("numbers-in-text", column=column, form=form)
    elif looks_like_identifier(column, len(counts), rows, numeric=numeric):
        yield Diagnostic("looks-like-identifier", column=column, distinct=len(counts), rows=rows)
    elif texts and holds_dates(texts):
        yield Diagnostic("looks-like-dates", column=column)
    elif not numeric and are_notes(counts):
        yield Diagnostic("free-text", column=column, distinct=len(counts))
    elif not numeric:
        yield from misspelt(column, {value: int(tally) for value, tally in counts.items()})


def misspelt(column: str, labels: Mapping[object, int]) -> Iterable[Diagnostic]:
    """A word that makes labels of numbers, and labels that read the same: both change far more than they need to.

    >>> [one["word"] for one in misspelt("age", {"20": 9, "30": 9, "40": 9, "50": 9, "60": 9, "n.s.": 7})]
    ['n.s.']
    """
    yield from (suspected_word(column, word, labels[word]) for word in words_among_numbers(labels))
    yield from read_alike(column, labels)


def read_alike(column: str, labels: Mapping[Any, int]) -> Iterable[Diagnostic]:
    """Labels that read the same; of secrets, each is then hidden from its own other spelling."""
    if groups := alike(labels):
        yield Diagnostic(
            "labels-alike", column=column, labels=sum(map(len, groups)), such_as=shared(groups, labels, NAMED)
        )


def missed_masses(name: Secret, masses: Array, counts: Array) -> Iterable[Diagnostic]:
    """Whether a law on the lattice is far from what was counted there."""
    rows = float(counts.sum())
    distance = float(np.abs(np.cumsum(masses) - np.cumsum(counts) / rows).max())
    if is_poor(distance, rows):
        yield Diagnostic("poor-fit", secret=name, distance=distance)


def is_poor(distance: float, rows: float) -> bool:
    """Whether a Kolmogorov distance is more than chance."""
    return distance > max(_POOR, _CHANCE / math.sqrt(rows))


# What there is to say about the rows behind a prior, and how many it needs.

RARE = 20  # rows below which a group is worth merging
FEW = 100  # rows below which a secret's prior is called uncertain; no group of more is to be merged
_NO_CHANCE = 4.0  # standard deviations between two shares: chance makes such a difference once in 30,000 times
_WORTH = 1.25  # times as often: less than that tells nobody much


def about_rows(secret: str, columns: tuple[str, ...], seen: Overview) -> list[Diagnostic]:
    """What every query has to say about the rows it found."""
    found: list[Diagnostic] = []
    if seen.without_secret:
        found.append(Diagnostic("no-secret", column=secret, rows=seen.without_secret))
    missing = sum(extent.rows - extent.valid for extent in seen.extents.values())
    if missing:
        found.append(Diagnostic("no-value", columns=columns, rows=missing))
    found.extend(Diagnostic("few-rows", secret=name, rows=e.valid) for name, e in seen.extents.items() if e.valid < FEW)
    return found


def about_left_out(rows: Mapping[Secret, tuple[int, int]]) -> Iterable[Diagnostic]:
    """Whether secrets lack a value so differently often that it is not chance; `rows` are those lacking one, and all.

    >>> [one["often"] for one in about_left_out({"a": (40, 100), "b": (3, 900)})]
    ['a']
    >>> [*about_left_out({"a": (2, 9), "b": (1, 9)})]
    []
    >>> [one["often"] for one in about_left_out({"a": (1, 1), "b": (300, 900)})]
    ['a']
    """
    often, seldom = (
        sorted(rows, key=lambda name: rows[name][0] / max(rows[name][1], 1), reverse=turned)[0]
        for turned in (True, False)
    )
    (lacking, of_one), (fewer, of_other) = rows[often], rows[seldom]
    if not of_one or not of_other or not lacking:
        return
    share, other = lacking / of_one, fewer / of_other
    pooled = (lacking + fewer + 1) / (of_one + of_other + 2)
    apart = math.sqrt(pooled * (1 - pooled) * (1 / of_one + 1 / of_other))
    # Where all rows of a secret are left out, whoever is missing may have it, however few they are.
    if share == 1 > other or (share - other > _NO_CHANCE * apart and share > _WORTH * other):
        yield Diagnostic("left-out-tells", columns=(), often=often, share=share, seldom=seldom, other=other)


def about_scarce(name: Secret, counts: Array) -> Iterable[Diagnostic]:
    """What few rows cost: the distance of counts from the truth that chance alone makes, E|Δ| ≈ √(2p(1−p)/πn)."""
    rows = float(counts.sum())
    if rows < SCARCE:
        p = (counts + 0.5) / (rows + 0.5 * len(counts))
        distance = 0.5 * float((2 * p * (1 - p) / (math.pi * rows)).clip(min=0) ** 0.5 @ (p > 0))
        yield Diagnostic("scarce-rows", secret=name, rows=int(rows), distance=min(1.0, distance))


def check_roles(secret: str, answer: str) -> None:
    """The secret itself cannot be the answer."""
    if secret == answer:
        raise InputError(f"column {answer!r} is both the secret and the answer: publishing it reveals the secret")
