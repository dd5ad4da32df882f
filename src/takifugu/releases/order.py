"""Whether the order of the rows tells the secret: a table sorted by it gives it away, whatever the channel hides.

Rows leave in the order in which they came, so a row's place is published too. Which secrets stand where is counted in
some twenty stretches of the table, batch by batch. Where from these alone two secrets can be told apart more often than
the promise allows, or a stretch moves their odds further, so far beyond chance that no shuffled table looks like it,
nothing is released.
"""

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from takifugu.calibration import Calibration
from takifugu.divergences.proved.guessing import guess_allowed
from takifugu.errors import InputError
from takifugu.problems.guarantee import Renyi
from takifugu.queries.several import named
from takifugu.releases.secret_rows import as_counted, protected_secrets
from takifugu.tables.table import plain

if TYPE_CHECKING:
    import narwhals as nw

_log = logging.getLogger("takifugu")

_SHUFFLE = "shuffle the rows (in pandas: table.sample(frac=1, ignore_index=True)), or give order='shuffle'"
_STRETCHES = 16  # at least, of a long table; never as many as twice
REFUSED = 1e-9  # the chance that a shuffled table is refused for one pair and stretch
NOTICED = 1e-6  # the same where it is only warned of, or shuffled once more: that costs nobody anything
FEW_ROWS = 500  # of fewer, hardly any order shows beyond chance, and one may tell the secret all the same
_NEARLY_ALWAYS = 0.9
_MOST_CELLS = 64  # of columns that are published as they are, whose rows are looked at by themselves
_MOST_SECRETS = 40  # whose pairs are looked at


class Order:
    """Counts the secrets of a table by where they stand."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._counts: list[Counter[Any]] = [Counter()]
        self._width = 1  # rows in a stretch; doubled when there are too many stretches

    def look(self, secrets: list[Any]) -> None:
        """The secrets of the next rows."""
        if not _is_hashable(tuple(secrets)):
            secrets = [secret if _is_hashable(secret) else None for secret in secrets]  # nobody's, and in no pair
        start = 0
        while start < len(secrets):
            room = self._width - self._counts[-1].total()
            if not room:
                if len(self._counts) == 2 * _STRETCHES:
                    self._counts = [a + b for a, b in zip(self._counts[::2], self._counts[1::2], strict=True)]
                    self._width *= 2
                self._counts.append(Counter())
                room = self._width
            self._counts[-1].update(secrets[start : start + room])
            start += room

    @property
    def rows(self) -> int:
        """How many were looked at."""
        return sum(stretch.total() for stretch in self._counts)

    def common(self, most: int) -> list[Any]:
        """The secrets with most rows."""
        return [secret for secret, _ in sum(self._counts, Counter()).most_common(most)]

    def surely_told(self, first: Any, second: Any, *, chance: float = REFUSED) -> float:
        """How often a place tells one secret from the other, half of the rows of each, less what chance explains.

        >>> order = Order()
        >>> order.look(["a"] * 5_000 + ["b"] * 5_000)
        >>> order.surely_told("a", "b") > 0.9
        True
        """
        sizes = [sum(stretch[name] for stretch in self._counts) for name in (first, second)]
        if not all(sizes):
            return 0.5
        room = (1 / sizes[0] + 1 / sizes[1]) * (1 + 1 / max(sizes))
        surely = 0.0
        for stretches in self._levels():
            apart = 0.5 * sum(abs(one[first] / sizes[0] - one[second] / sizes[1]) for one in stretches)
            # The distance is the largest difference over all sets of stretches. In a shuffled table each of them
            # passes t with probability exp(−2t²/room) at most, and there are 2^stretches (proofs/audit.md, claim 5).
            by_chance = math.sqrt(0.5 * (len(stretches) * math.log(2) + math.log(1 / chance)) * room)
            surely = max(surely, apart - by_chance)
        return 0.5 + 0.5 * surely

    def surely_moves(self, first: Any, second: Any, odds: float, *, chance: float = REFUSED) -> bool:
        """Whether being in some stretch moves the odds of a pair by more than this factor, beyond chance.

        >>> order = Order()
        >>> order.look((["a"] * 7 + ["b"]) * 2_000 + (["a"] + ["b"] * 7) * 2_000)
        >>> order.surely_moves("a", "b", 3.0), order.surely_moves("a", "b", 20.0)
        (True, False)
        """
        sizes = {name: sum(stretch[name] for stretch in self._counts) for name in (first, second)}
        for one, other in ((first, second), (second, first)):
            # Of the rows of a stretch with either secret, each has the one with this probability at most.
            share = odds * sizes[one] / (odds * sizes[one] + sizes[other])
            for stretch in (stretch for stretches in self._levels() for stretch in stretches):
                here, both = stretch[one], stretch[one] + stretch[other]
                if here > share * both and both * coin_divergence(here / both, share) > math.log(1 / chance):
                    return True
        return False

    def _levels(self) -> Iterator[list[Counter[Any]]]:
        """All stretches, then two by two, and so on: in a small table, or for a rare secret, only long ones show it."""
        stretches = self._counts
        while len(stretches) > 1:
            yield stretches
            last = [stretches[-1]] if len(stretches) % 2 else []
            stretches = [a + b for a, b in zip(stretches[::2], stretches[1::2], strict=False)] + last


def _is_hashable(secret: Any) -> bool:
    try:
        hash(secret)
    except TypeError:
        return False
    return True


def coin_divergence(seen: Any, share: Any) -> Any:
    """Of coins that show `seen` from those that show `share`: n times it is the exponent of Chernoff's bound.

    >>> round(float(coin_divergence(0.5, 0.25)), 6), float(coin_divergence(1.0, 0.5)) == math.log(2)
    (0.143841, True)
    """
    from scipy.special import rel_entr

    return rel_entr(seen, share) + rel_entr(1 - seen, 1 - share)


class Orders:
    """The order of a table's rows beside each of its columns of secrets."""

    def __init__(self, columns: Sequence[str]) -> None:
        """Nothing was seen yet."""
        self._orders = {name: Order() for name in columns}
        self._cells: dict[str, dict[Any, Order]] = {name: {} for name in columns}

    def look(self, column: str, secrets: list[Any], cells: Sequence[Any] | None = None) -> None:
        """The secrets of the next rows in one of the columns; `cells` are what is published of each as it is."""
        called = as_called(secrets, column, of=self._orders)
        self._orders[column].look(called)
        within = self._cells[column]
        if cells is None or len(within) > _MOST_CELLS:
            return
        parts = defaultdict(list)
        for secret, cell in zip(called, cells, strict=True):
            parts[cell].append(secret)
        for cell, part in parts.items():
            within.setdefault(cell, Order()).look(part)

    def told(self, calibration: Calibration, *, chance: float, explained: bool = False) -> str | None:
        """What the order tells beyond the promise, in words; None where nothing is seen.

        Where it may be `explained` by columns that are published as they are, what it tells beside them: the order of
        the rows of each of their cells.
        """
        for column, order in self._orders.items():
            cells = self._cells[column]
            parts, lenient = [order], explained
            if explained and len(cells) <= _MOST_CELLS:
                parts, lenient = list(cells.values()), False
            for part in parts:
                if told := told_by(part, calibration, chance=chance / len(parts), explained=lenient):
                    return told
        return None

    def is_given_up(self, calibration: Calibration) -> bool:
        """Whether rows whose order matters to nobody are to be shuffled: they are few, or it tells the secret."""
        rows = max((one.rows for one in self._orders.values()), default=0)
        return rows < FEW_ROWS or self.told(calibration, chance=NOTICED) is not None


def as_called(secrets: Any, column: str, *, of: Collection[str]) -> Any:
    """One column's secrets as the priors call them: those of several columns are told apart by their column."""
    if len(of) == 1:
        return secrets
    return [secret if secret is None else named(column, plain(secret)) for secret in secrets]


def refuse_telling_order(told: str | None) -> None:
    """Raise where the order of the rows tells more than is promised."""
    if told is not None:
        raise InputError(f"the order of the rows tells the secret: {told}. Nothing was released; {_SHUFFLE}")


def kept_order(told: str | None) -> tuple[str, ...]:
    """What to say where such an order is kept all the same."""
    if told is None:
        return ()
    return (f"the order of the rows tells the secret, and was kept: {told}. Before you hand them on, {_SHUFFLE}",)


def warn(sentences: Iterable[str]) -> None:
    """Say them in the log: what leaves is in the caller's hands, who may still shuffle it."""
    for sentence in sentences:
        _log.warning("%s", sentence)


def gives_up_order(frame: "nw.DataFrame[Any]", calibration: Calibration) -> bool:
    """`Orders.is_given_up` for all rows of a table."""
    columns = () if calibration.answer is None else calibration.answer.secret
    orders = Orders(columns)
    frame = as_counted(frame, calibration)
    for name in columns:
        orders.look(name, [plain(secret) for secret in frame[name].to_list()])
    return orders.is_given_up(calibration)


def told_by(order: Order, calibration: Calibration, *, chance: float, explained: bool = False) -> str | None:
    """How the order tells two secrets of a calibrated pair apart more often than is promised; None where it does not.

    The words are the middle of a sentence. `explained` says that columns are published as they are beside it: an order
    that goes with the secret may be theirs, and tell no more than they do; not one that nearly always tells it.
    """
    guarantee = calibration.guarantee
    limit, odds = _NEARLY_ALWAYS, None
    if isinstance(guarantee, Renyi) and not explained:
        limit, odds = guess_allowed(guarantee), guarantee.most_odds
    for first, second in protected_pairs(order.common(_MOST_SECRETS), calibration):
        told = order.surely_told(first, second, chance=chance)
        if odds is not None and order.surely_moves(first, second, odds, chance=chance):
            return (
                f"in a part of the table the odds of two secrets are more than {odds:g} times what they are in all of "
                f"it, and no more was promised"
            )
        if told > limit:
            return (
                f"from a row's place alone two of the secrets can be told apart in {told:.0%} of the cases or more, "
                f"and the promise allows {limit:.0%}"
            )
    return None


def protected_pairs(common: Iterable[Any], calibration: Calibration) -> Iterator[tuple[Any, Any]]:
    """The calibrated pairs of the commonest secrets: those of few rows show nothing beyond chance."""
    pairs = calibration.pairs
    secrets = [secret for secret in common if secret in protected_secrets(calibration)]
    chosen = None if pairs.is_every else {frozenset(pair) for pair in pairs}
    for pair in combinations(secrets, 2):
        if chosen is None or frozenset(pair) in chosen:
            yield pair
