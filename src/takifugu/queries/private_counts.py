"""Private counts: how often each secret goes with each value of a public list, with noise that is drawn once.

This is the one module of a private fit that sees rows. What it hands on, and all that priors, channels, certificates
and reports are then made of, are the noisy counts, the list and the number of rows (proofs/private-counts.md).
The channel that needs no data at all knows public lists and nothing more.
"""

import hashlib
import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._validation import real
from takifugu.channels import BitSource, discrete_laplace
from takifugu.errors import InputError, MechanismError, Message
from takifugu.laws import Finite, Value, counted, key, without_noise
from takifugu.mechanisms import MOST_VALUES
from takifugu.problems import SCARCE, Answer, Choices, Diagnostic, Spelling
from takifugu.problems import nouns as documents
from takifugu.queries.priors import FEW, Priors, check_roles
from takifugu.queries.row import Row, count_rows, given_domain, require_feasible, values_of
from takifugu.tables import Table, match_secret

_FORMAT, _VERSION = "takifugu-private-counts", 1
_KEYS = ("format", "version", "answer", "secrets", "rows", "counts", "sha256")
FEW_FOR_COUNTS = 5_000  # rows, which are public: of fewer little is left (docs/studies/private-fit.md)
_MOST_ROWS = 1 << 53  # beyond, a count is no float
_LIKE = ([20, 40, 60], ["no", "yes"])  # a list of a column, and one of secrets, to show how they are written
_OUTSIDE = (
    "a row has no value in {column!r}, or one that is not on the public list: every row is to be on it, since what "
    "is left out reveals whose it is. Add it to domain={{{column!r}: ...}}, or give such rows a value of their own"
)


@dataclass(frozen=True)
class Cells:
    """The public side of private counts: the column of secrets, the list of each column, and what epsilon was spent.

    `spelling` is how the cells are to be read, where that was said: what a file decides for itself would tell of it.
    """

    secret: str
    secrets: tuple[Any, ...]
    columns: tuple[str, ...]
    domain: tuple[Choices, ...]
    epsilon: float
    spelling: Spelling | None = None

    def __post_init__(self) -> None:
        """Refuse what is no noise, and lists for which no channel would be found."""
        epsilon = real("epsilon", self.epsilon, "a number above 0, such as 0.2")
        if not 1e-6 <= epsilon <= 20:
            raise InputError(f"epsilon must be a number from 1e-6 to 20, such as 0.2; got {self.epsilon!r}")
        object.__setattr__(self, "epsilon", epsilon)
        if len(self.secrets) < 2:
            raise InputError(f"the list of {self.secret!r} must hold at least two secrets to tell apart")
        sizes = [len(one.values) for one in self.domain]
        if math.prod(sizes) > MOST_VALUES:
            raise InputError(
                f"the lists make {math.prod(sizes):,} combinations, each of which gets noise of its own, and "
                f"{MOST_VALUES:,} are the most: publish fewer columns together, or give coarser lists"
            )
        require_feasible(math.prod(sizes), len(self.secrets), self.columns, sizes)

    @classmethod
    def of(
        cls,
        secret: str,
        columns: Sequence[str],
        domain: object,
        other: Any,
        epsilon: float,
        spelling: Spelling | None = None,
    ) -> "Cells":
        """What the arguments of `private_counts` say; nothing is read.

        Args:
            secret: the column of secrets.
            columns: those that are counted.
            domain: a public list for each.
            other: what values on no list become.
            epsilon: the budget of the counts.
            spelling: how the cells of a text file are to be read.

        Returns:
            The public side.

        Raises:
            InputError: where a list is missing, or there are more combinations than counts can be made of.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        if not isinstance(secret, str):
            raise InputError(f"private counts are about one column of secrets, and secret is {secret!r}: name one")
        given: Mapping[str, Any] = domain if isinstance(domain, Mapping) else {}
        if lacking := [name for name in (secret, *names) if name not in given]:
            raise InputError(
                Message(
                    "private counts need the public list of the secret and of every column, since a list that is read "
                    "from the rows reveals something about them, and there is none for {lacking:some}: give "
                    "{to:@command→{arg:domain=} a file such as {example}|{arg:domain=}{example}}",
                    lacking=lacking,
                    example=json.dumps({name: _LIKE[name == secret] for name in (secret, *names)}),
                )
            )
        row = Row(*names, domain={name: given[name] for name in given if name != secret}, other=other)
        for name in names:
            check_roles(secret, name)
        label = (Spelling() if spelling is None else spelling).label
        secrets = given_domain(secret, given[secret]).spelled(label)
        lists = tuple(row.domain[name].spelled(label) for name in row.columns)
        return cls(secret, secrets.values, row.columns, lists, epsilon, spelling)

    @property
    def support(self) -> list[tuple[int, ...]]:
        """Every combination of values, by their places: also those that nobody has."""
        return list(itertools.product(*(range(len(one.values)) for one in self.domain)))

    def count(self, table: Table) -> list[list[int]]:
        """How many rows there are of each secret and combination, exactly: not to be told to anybody.

        Args:
            table: the rows.

        Returns:
            A list for each secret. The numbers are the true ones: only `with_noise` may see them.
        """
        for name in (self.secret, *self.columns):
            table.require(name)
        lines = count_rows(table, self.secret, self.columns, ())
        lacking = [name for seen in lines.empty.values() for name in seen]
        if lines.without or lines.missing:
            raise InputError(_OUTSIDE.format(column=self.secret if lines.without else lacking[0]))
        place = {who: match_secret(who, self.secrets) for who in dict.fromkeys(lines.secrets)}
        if None in place.values():
            raise InputError(_OUTSIDE.format(column=self.secret))
        where = np.zeros(len(lines.secrets), dtype=np.intp)
        for one, name, values in zip(self.domain, self.columns, lines.values, strict=True):
            try:
                here = one.places(values, name)
            except InputError:
                raise InputError(_OUTSIDE.format(column=name)) from None
            where = where * len(one.values) + here
        counts = [[0] * len(self.support) for _ in self.secrets]
        for who, at, rows in zip(lines.secrets, where.tolist(), lines.tallies, strict=True):
            counts[self.secrets.index(place[who])][at] += int(rows)
        return counts


class PrivateCounts(Priors):
    """Counts of every secret and value of a public list, to each of which discrete Laplace noise was added once.

    They are priors as well: `calibrate` and `fit_priors` take them in place of rows. Whoever makes a channel of them,
    and publishes it with its priors and proof, tells no more of any row than the counts do. Their file is strict JSON,
    may be public, and is to be kept: fresh noise about the same people costs its epsilon again, the same counts
    nothing.

    Attributes:
        cells: the column of secrets, its list, the columns and their lists, and epsilon.
        total: the number of rows, which is public.
        noisy: the counts, for each secret in the order of `answer.domain`.

    Raises:
        InputError: by `private_counts`, which makes them, for lists and an epsilon that it refuses.

    >>> import takifugu as tk
    >>> lists = {"slope": [1, 2, 3], "oldpeak": [0, 1, 2, 3, 4]}
    >>> counts = tk.private_counts(
    ...     tk.datasets.load("heart"), secret="slope", columns=["oldpeak"], domain=lists, epsilon=1
    ... )
    >>> counts.total, len(counts.noisy[1])
    (303, 5)
    """

    def __init__(self, cells: Cells, noisy: Sequence[Sequence[int]], total: int) -> None:
        """Priors of counts that noise is in already."""
        values = values_of(cells.support, cells.domain)
        pseudo = np.full(len(values), 1.0 / len(values))
        self.cells, self.total = cells, int(total)
        self.noisy: dict[Any, tuple[int, ...]] = {
            name: tuple(map(int, row)) for name, row in zip(cells.secrets, noisy, strict=True)
        }
        counts = {name: np.array(row, dtype=np.float64) for name, row in self.noisy.items()}
        rows = {name: max(1, sum(row)) for name, row in self.noisy.items()}
        laws = {name: Finite(values, rows[name] * counted(without_noise(c), pseudo)) for name, c in counts.items()}
        answer = Answer(
            "row", cells.columns, (cells.secret,), domain=cells.domain, private=cells.epsilon, spelling=cells.spelling
        )
        super().__init__(
            laws,
            answer=answer,
            findings=[Diagnostic("few-rows", secret=name, rows=n) for name, n in rows.items() if n < FEW]
            + [Diagnostic("few-for-counts", rows=self.total)] * (self.total < FEW_FOR_COUNTS)
            + [
                Diagnostic("secret-merged", column=cells.secret, into=into, rows=None, large=())
                for into in answer.merged(cells.secrets)
            ],
            rows=rows,
            counts=counts,
            pseudo=dict.fromkeys(counts, pseudo),
        )
        self.scarce = tuple(name for name, n in rows.items() if n < SCARCE)

    @classmethod
    def with_noise(cls, cells: Cells, counts: Sequence[Sequence[int]], source: BitSource) -> "PrivateCounts":
        """Add the noise: P(z) ∝ e^(−|z|ε/2) to each count, exactly, with bits that nobody has seen.

        One person changes two counts by 1 where his row is replaced, so that noise of rate ε/2 keeps ε
        (proofs/private-counts.md).

        Args:
            cells: the public side.
            counts: the true counts.
            source: of random bits.

        Returns:
            Counts that may be published, and used any number of times.
        """
        rate, size = Fraction(cells.epsilon) / 2, len(counts[0])
        noise = discrete_laplace(rate, len(counts) * size, source)
        noisy = [[n + z for n, z in zip(row, noise[k * size :], strict=False)] for k, row in enumerate(counts)]
        return cls(cells, noisy, sum(map(sum, counts)))

    @property
    def epsilon(self) -> float:
        """What the counts alone cost: whoever knows every other row moves the odds by e^ε at most."""
        return self.cells.epsilon

    @property
    def sha256(self) -> str:
        """The digest of the content."""
        return hashlib.sha256(strict_json.canonical(self._content())).hexdigest()

    def __repr__(self) -> str:
        """What was counted, and the noise."""
        what = f"{', '.join(self.cells.columns)} for {len(self.noisy)} secrets"
        return f"<private counts of {what}, epsilon = {self.epsilon:g}, {self.total:,} rows>"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as what it was made of."""
        return PrivateCounts, (self.cells, list(self.noisy.values()), self.total)

    def about(self, secret: object, query: object) -> "PrivateCounts":
        """These counts as the priors of a question, which must be the one that was counted.

        Args:
            secret: the column of secrets that a question names, or None.
            query: its query, or None.

        Returns:
            Itself.

        Raises:
            InputError: where the question is about other columns.
        """
        columns = self.cells.columns if query is None else getattr(query, "columns", None)
        if secret not in (None, self.cells.secret) or columns != self.cells.columns or isinstance(query, str):
            raise InputError(
                f"these private counts are of Row({', '.join(map(repr, self.cells.columns))}) for the secret "
                f"{self.cells.secret!r}, and of nothing else: leave secret and query out, or draw other counts"
            )
        return self

    def require_lists(self, given: Cells) -> None:
        """Refuse other lists than those that were counted: what is published follows from these.

        Args:
            given: what else was asked for.

        Raises:
            InputError: where a list differs, or what becomes of a value on none.
        """
        own = {self.cells.secret: self.cells.secrets, **dict(zip(self.cells.columns, self.cells.domain, strict=True))}
        other = {given.secret: given.secrets, **dict(zip(given.columns, given.domain, strict=True))}
        if differing := [name for name in own if own[name] != other[name]]:
            raise InputError(
                Message(
                    "these private counts are of other lists than those given for {differing:some}, and what is "
                    "published follows from theirs: leave {arg:domain} and what a label on no list becomes out, or "
                    "draw counts of these lists",
                    differing=differing,
                )
            )

    def _content(self) -> dict[str, object]:
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "answer": None if self.answer is None else documents.answer_to(self.answer),
            "secrets": form.values_to(self.cells.secrets),
            "rows": self.total,
            "counts": [list(row) for row in self.noisy.values()],
        }

    def to_dict(self) -> dict[str, Any]:
        """The content as plain values for JSON, with its digest."""
        return self._content() | {"sha256": self.sha256}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them as strict JSON. The file may be public.

        Args:
            path: the name of the file.

        Raises:
            InputError: where it cannot be written.
        """
        strict_json.write(self.to_dict(), path)

    @classmethod
    def from_dict(cls, data: object) -> "PrivateCounts":
        """What `to_dict` wrote, every field checked.

        Args:
            data: the content of a file.

        Returns:
            The counts.

        Raises:
            InputError: with the field that is wrong, and where the digest is not that of the content.
        """
        form.header(data, _FORMAT, (_VERSION,), "a file of private counts")
        content = form.fields(data, _KEYS, "the private counts")
        answer, secrets = documents.answer_from(content["answer"]), form.secrets(content["secrets"])
        domain = answer.lists if all(map(_is_given, answer.lists)) else ()
        if len(answer.secret) != 1 or not domain:
            raise InputError("'answer' must be about one secret and public lists")
        cells = Cells(answer.secret[0], secrets, answer.columns, domain, answer.private, answer.spelling)
        counts = list(_rows(content["counts"], len(cells.secrets), len(cells.support)))
        made = cls(cells, counts, form.index(content["rows"], "'rows'", below=_MOST_ROWS))
        if form.hex_digest(content["sha256"], "'sha256'") != made.sha256:
            raise InputError("'sha256' does not match the content: the file was changed after it was made")
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "PrivateCounts":
        """Read a file that `save` wrote.

        Args:
            path: the file.

        Returns:
            The counts, equal to those that were saved.

        Raises:
            InputError: where the file cannot be read, was changed, or holds something else.
        """
        data = strict_json.read(path)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} does not hold private counts: {error}") from None


def _is_given(choices: Choices) -> bool:
    return not choices.is_read


def _rows(value: Any, secrets: int, values: int) -> Iterator[list[int]]:
    for k, row in enumerate(form.exactly(value, "'counts'", secrets)):
        where = f"counts[{k}]"
        for n in form.exactly(row, where, values):
            if isinstance(n, bool) or not isinstance(n, int) or abs(n) > _MOST_ROWS:
                raise InputError(f"{where} must hold whole numbers, got {str(n)[:40]}")
        yield row


# The channel that needs no data: every value of a public list is hidden from every other, whatever anybody believes.
#
# Each value is a secret whose answer is that value. A channel that keeps odds of F between any two of these laws has
# K(y|x) ≤ F·K(y|x') for all x, x': it is locally differentially private, and so keeps F between any two laws on the
# list (proofs/data-free.md). The best one is found, proved and bounded from below like any other.


DATA_FREE = "data-free"
_MOST = 128  # values: every pair of them is proved


def point_masses(given: object) -> Priors:
    """What the data-free channel hides: of a `Row` with public lists every value, each as likely as any other.

    Of laws made by hand the values that they list, weighed by all laws together; the weights say what is to be lost
    least, and no guarantee rests on them.

    >>> import takifugu as tk
    >>> tk.calibrate(Row("ill", domain=["no", "yes"]), odds=3, mechanism="data-free").channel.matrix.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if isinstance(given, Row):
        values, weights, answer = _of_lists(given)
    else:
        values, weights = _by_hand(given)
        answer = None
    if not 2 <= len(values) <= _MOST:
        raise _not_so_many(len(values))
    each = np.eye(len(values))
    laws = {_name(value): Finite(values, weights[k] * each[k]) for k, value in enumerate(values)}
    if len(laws) < len(values):
        raise InputError("two combinations of values look alike: write the values of one column in another way")
    return Priors(laws, answer=answer, findings=[Diagnostic("data-free", values=len(values))])


def _of_lists(row: Row) -> tuple[tuple[Value, ...], Any, Answer]:
    missing = [name for name in row.columns if name not in row.domain]
    if missing:
        raise InputError(
            f"a data-free channel takes public lists alone, and {missing[0]!r} has none: give one with domain="
        )
    domain = tuple(row.domain[name] for name in row.columns)
    sizes = [len(one.values) for one in domain]
    if math.prod(sizes) > _MOST:
        raise _not_so_many(math.prod(sizes))
    support = list(itertools.product(*map(range, sizes)))
    return values_of(support, domain), np.ones(len(support)), Answer("row", row.columns, (), domain=domain)


def _by_hand(given: object) -> tuple[tuple[Value, ...], Any]:
    if not isinstance(given, Mapping) or getattr(given, "answer", None) is not None:
        raise MechanismError(
            "a data-free channel is fitted to no rows, and these priors are: give Row(column, domain=[...]) with its "
            "public lists in their place"
        )
    weights: dict[object, float] = {}
    first: dict[object, Value] = {}
    for law in given.values():
        if law.space != "values":
            raise MechanismError("a data-free channel is for values from finite lists: give Row(column, domain=[...])")
        for value, share in zip(law.values, law.probabilities.tolist(), strict=True):
            first.setdefault(key(value), value)
            weights[key(value)] = weights.get(key(value), 0.0) + share
    floor = 1e-9 * sum(weights.values())  # nobody has it, and it is hidden all the same
    return tuple(first.values()), np.array([max(weights[one], floor) for one in first])


def _not_so_many(values: int) -> InputError:
    return InputError(
        f"a data-free channel hides every value from every other, and {values:,} were listed: give 2 to {_MOST}, by "
        f"fewer columns or coarser lists"
    )


def _name(value: Value) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value
