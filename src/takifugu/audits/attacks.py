"""Who attacks: an adversary who knows the priors, and learners who know nothing but some of the rows.

An attacker turns every row into a score, the larger the more it looks like the first secret of a pair than like the
second: a guess at ln(p/q). `takifugu.audits.outcome` makes a bound of any score, so none of this is trusted.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu._work import one_thread
from takifugu.audits.outcome import ORDER
from takifugu.audits.rows import Column, Rows
from takifugu.calibration import Calibration
from takifugu.channels import Channel
from takifugu.laws import Law, key
from takifugu.problems import Diagnostic, Pair
from takifugu.releases import Held, exponents, stretches

# What a learner is shown of a published row: its values, and the traces that a careless release leaves.
#
# Each view is a function of one row and of the rows that the learner may know, never of the rows it is tested on: so
# a score is a fixed function there, and the bound on the divergence holds.

Places = npt.NDArray[np.intp]

_MOST_LABELS = 40  # labels of a column that get a feature of their own
_MOST_DIFFERENCES = 6  # columns of numbers whose differences are looked at
_DECIMALS = (1.0, 10.0, 100.0, 1000.0)
_WIDTHS = (5, 20, 80)  # known rows on either side of a place over which values are smoothed
_REACH = 1e100  # beyond which numbers have no squares


def within_reach(column: Column) -> Array:
    """The numbers of a column, 0 where there is none; labels have none."""
    numbers = np.zeros(len(column.labels)) if column.numbers is None else column.numbers
    return np.asarray(np.clip(np.nan_to_num(numbers), -_REACH, _REACH), dtype=np.float64)


def values(rows: Rows, names: Sequence[str], known: Places) -> Array:
    """Numbers as they are, labels one by one, and the difference of any two columns of numbers.

    A difference shows what two columns share, such as noise that was drawn once for both.

    Args:
        rows: what was published.
        names: the columns that are looked at.
        known: the rows that the attacker may learn from, which choose the labels that are common.

    Returns:
        A matrix, rows by features.
    """
    parts, numbers = [], []
    for name in names:
        column = rows.published[name]
        parts.append(encoded(column, known))
        if column.numbers is not None:
            numbers.append(within_reach(column))
    if len(numbers) <= _MOST_DIFFERENCES:
        parts += [np.stack([a - b], axis=1) for a, b in combinations(numbers, 2)]
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(rows), 0))


def encoded(column: Column, known: Places) -> Array:
    """A column as features: a number and whether it is missing, or one feature for each common label.

    Args:
        column: what was published of it.
        known: the rows that the attacker may learn from.

    Returns:
        A matrix, rows by features.
    """
    if column.numbers is not None:
        missing = np.isnan(column.numbers)
        parts = [within_reach(column)]
        if missing.any():
            parts.append(missing.astype(np.float64))
        return np.stack(parts, axis=1)
    texts = np.array([str(label) for label in column.labels.tolist()])
    seen, counts = np.unique(texts[known], return_counts=True)
    common = seen[np.argsort(-counts, kind="stable")][:_MOST_LABELS]
    hot: Array = (texts[:, None] == common[None, :]).astype(np.float64)
    return hot


def trace_scores(rows: Rows, names: Sequence[str], known: Places) -> Array:
    """What lies below the noise: the decimals of each number, how many it is written with, and how often it occurs.

    Args:
        rows: what was published.
        names: the columns that are looked at.
        known: the rows that the attacker may learn from.

    Returns:
        Features that exact noise leaves empty, and noise in floats does not (I. Mironov, "On significance of the least
        significant bits for differential privacy", 2012).
    """
    parts: list[Array] = []
    for name in names:
        column = rows.published[name]
        texts = np.array([str(label) for label in column.labels.tolist()])
        seen, counts = np.unique(texts[known], return_counts=True)
        place = np.searchsorted(seen, texts).clip(max=len(seen) - 1)
        # A learner's own row counts itself; one that it has not seen cannot.
        own = np.zeros(len(texts))
        own[known] = 1
        parts.append(np.where(seen[place] == texts, counts[place], 0) - own)
        if column.numbers is not None:
            numbers = within_reach(column)
            parts += [np.mod(numbers * scale, 1.0) for scale in _DECIMALS]
            parts += [np.mod(np.floor(np.abs(numbers) * scale), 2.0) for scale in _DECIMALS]
            parts.append(np.array([_decimals(text) for text in texts.tolist()]))
    varied = [part for part in parts if len(part) and np.ptp(part[known]) > 0]
    return np.stack(varied, axis=1) if varied else np.zeros((len(rows), 0))


def order_scores(rows: Rows, known: Places) -> Array:
    """Where a row stands in the publication, whether at an even or an odd place, and what its neighbours say.

    The published values of the rows that may be known are smoothed over their places, at several widths. No row's own
    value is among them: that is not the order's.

    Args:
        rows: what was published.
        known: the rows that the attacker may learn from.

    Returns:
        Features that are pure chance where the rows were shuffled.
    """
    places = rows.place[known]
    turn = np.argsort(places, kind="stable")
    rank = np.searchsorted(places[turn], rows.place)  # how many known rows stand before each
    own = np.zeros(len(rows))
    own[known] = 1
    parts = [np.stack([rows.place / max(1.0, float(rows.place.max())), np.mod(rows.place, 2.0)], axis=1)]
    for column in rows.published.values():
        shown = encoded(column, known)
        total = np.concatenate([np.zeros((1, shown.shape[1])), np.cumsum(shown[known][turn], axis=0)])
        for width in _WIDTHS:
            low, high = np.clip(rank - width, 0, None), np.clip(rank + width + own.astype(np.intp), None, len(known))
            near = total[high] - total[low] - own[:, None] * shown
            parts.append(near / np.maximum(high - low - own, 1)[:, None])
    return np.concatenate(parts, axis=1)


def _decimals(text: str) -> float:
    whole, _, decimals = text.partition(".")
    return float(len(decimals)) if whole else 0.0


# Learners that turn some rows whose secret they know into scores of others: guesses at ln(p/q).
#
# Each works on one thread: on a machine that is busy, threads that wait for one another cost minutes, and on an idle
# one these few rows gain little from several.

_MOST_NEIGHBOURS = 6_000  # rows that a nearest-neighbour search goes through
_BINS = 255  # as many as the boosting tells apart
_SHARPEST = 12.0  # no score says more than e^12 : 1


def logistic(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """Logistic regression, both secrets weighing the same.

    Args:
        x: features of the rows that are learned from.
        y: whether each is the first secret's.
        asked: features of the rows that are scored.
        seed: of what the learner draws.

    Returns:
        A score a row, larger where the first secret is likelier.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    x, asked = _standard(x, asked)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a poor fit is a poor attack, and there are others
        model = LogisticRegression(max_iter=2_000, class_weight="balanced", C=1.0).fit(x, y)
    return np.asarray(model.decision_function(asked), dtype=np.float64)


def boosting(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """Gradient boosting of small trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=80, max_leaf_nodes=12, learning_rate=0.08, l2_regularization=1.0, early_stopping=False,
        class_weight="balanced", random_state=seed,
    )  # fmt: skip
    x, asked = _in_bins(x, asked)
    with one_thread():
        return np.asarray(model.fit(x, y).decision_function(asked), dtype=np.float64)


def neighbours(x: Array, y: Places, asked: Array, seed: int) -> Array:
    """The shares of the secrets among the nearest rows."""
    from sklearn.neighbors import KNeighborsClassifier

    chosen = np.sort(np.random.default_rng(seed).permutation(len(x))[:_MOST_NEIGHBOURS])
    y = y[chosen]
    x, asked = _standard(x[chosen], asked)
    near = int(min(max(5.0, 2 * np.sqrt(len(x))), len(x)))
    with one_thread():
        share = KNeighborsClassifier(n_neighbors=near).fit(x, y).predict_proba(asked)
    if share.shape[1] < 2:
        return np.zeros(len(asked))
    # The shares among neighbours, against those among all: odds as if both secrets were equally common.
    hits, base = share[:, 1] * near + 0.5, (y.sum() + 0.5) / (len(y) + 1.0)
    return np.asarray(np.log(hits / (near + 1.0 - hits)) - np.log(base / (1 - base)), dtype=np.float64)


def _standard(x: Array, asked: Array) -> tuple[Array, Array]:
    """Numbers of mean 0 and spread 1 among the rows taught, none of them beyond ten spreads."""
    centre, spread = x.mean(axis=0), x.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return np.clip((x - centre) / spread, -10, 10), np.clip((asked - centre) / spread, -10, 10)


def _in_bins(x: Array, asked: Array) -> tuple[Array, Array]:
    """Columns of many values as the numbers of 255 bins that hold equally many of the rows taught.

    The boosting would do it too, but where rows have weights some versions of it look for each end of a bin in a pass
    of its own, which took most of the time of an audit.
    """
    x, asked = x.copy(), asked.copy()
    for k in range(x.shape[1]):
        if len(np.unique(x[:, k])) > _BINS:
            shares = np.linspace(0, 100, _BINS + 1)[1:-1]
            ends = np.unique(np.percentile(x[:, k], shares, method="averaged_inverted_cdf"))
            x[:, k], asked[:, k] = np.searchsorted(ends, x[:, k]), np.searchsorted(ends, asked[:, k])
    return x, asked


def sharp(scores: Array) -> Array:
    """Scores in steps of a hundredth, within reason; what is no number says nothing."""
    return np.asarray(np.round(np.clip(np.nan_to_num(scores), -_SHARPEST, _SHARPEST), 2), dtype=np.float64)


# Likelihood ratios of two priors as published: what an adversary who knows them makes of each row.


def through(channel: Channel, *, weaker: bool = False) -> Callable[[Rows, Law, Law], Array]:
    """The ratio of two laws as this channel publishes them, or as it would if it did less than it states.

    Args:
        channel: what the publication went through.
        weaker: whether to take it for one that did less than it states.

    Returns:
        A score: the logarithm of the ratio, the best there is where the laws are true (J. Neyman and E. Pearson, 1933).
    """

    def score(rows: Rows, p: Law, q: Law) -> Array:
        columns, back = _distinct([_told(rows.published[name], channel) for name in rows.answer])
        logs = [channel.log_likelihood(law, columns, weaker=weaker) for law in (p, q)]
        return sharp((logs[0] - logs[1])[back])

    return score


def _told(column: Column, channel: Channel) -> npt.NDArray[np.generic]:
    """A published column as the channel knows it: labels of a list, or numbers."""
    return column.labels if channel.publishes == "values" else within_reach(column)


def _distinct(columns: list[npt.NDArray[np.generic]]) -> tuple[list[npt.NDArray[np.generic]], Places]:
    """Each row that occurs once, column by column, and which of them every row is."""
    rows = list(zip(*(map(key, column.tolist()) for column in columns), strict=True))
    places: dict[tuple[object, ...], int] = {}
    back = np.array([places.setdefault(row, len(places)) for row in rows], dtype=np.intp)
    first = np.unique(back, return_index=True)[1]
    return [column[first] for column in columns], back


MOST_TAUGHT = 20_000  # rows that a learner is shown


@dataclass(frozen=True)
class Attacker:
    """A name, what it looks at, and whether it has to be taught."""

    name: str
    sees: str
    learns: bool
    score: Callable[..., Array]


def knowing(calibration: Calibration, rows: Rows) -> list[Attacker]:
    """Likelihood ratios of the calibration's own priors, through its channel and through a weaker one."""
    channel, sees = calibration.channel, ", ".join(rows.answer)
    if not rows.answer or channel.width != len(rows.answer):
        return []
    if channel.publishes != "values" and (
        channel.is_bare or any(rows.published[name].numbers is None for name in rows.answer)
    ):
        return []
    ways = [("priors", through(channel)), (f"priors, {channel.weaker}", through(channel, weaker=True))]
    return [Attacker(name, sees, learns=False, score=score) for name, score in ways]


def learning(rows: Rows, known: tuple[str, ...]) -> list[Attacker]:
    """Learners of everything published but `known`, of the columns calibrated, of traces, and of the order of rows."""
    everything = [
        name
        for name in rows.published
        if name not in known and (name not in rows.keys or rows.published[name].numbers is not None)
    ]
    seen = ", ".join(everything)
    own = list(rows.answer)

    def shown(names: list[str]) -> Callable[[Places], Array]:
        return lambda taught: values(rows, names, taught)

    def traces(taught: Places) -> Array:
        return trace_scores(rows, everything, taught)

    def order(taught: Places) -> Array:
        return order_scores(rows, taught)

    found = [
        Attacker("logistic regression", seen, learns=True, score=_taught(logistic, shown(everything))),
        Attacker("gradient boosting", seen, learns=True, score=_taught(boosting, shown(everything))),
        Attacker("nearest neighbours", seen, learns=True, score=_taught(neighbours, shown(everything))),
        Attacker("traces", f"digits and repeats of {seen}", learns=True, score=_taught(boosting, traces)),
        Attacker(
            ORDER,
            "the order of the rows, and the values around each place",
            learns=True,
            score=_taught(boosting, order),
        ),
    ]
    if own and set(own) != set(everything):
        calibrated = ", ".join(own)
        found.append(Attacker("gradient boosting", calibrated, learns=True, score=_taught(boosting, shown(own))))
    return found


def informed(rows: Rows, known: tuple[str, ...]) -> list[Attacker]:
    """A learner who is also shown the known columns that were published: to be tested within their cells only."""
    shown = [name for name in known if name in rows.published]
    if not shown:
        return []
    names = [*dict.fromkeys([*rows.answer, *rows.added])]

    def view(taught: Places) -> Array:
        return values(rows, names, taught)

    return [Attacker("gradient boosting", ", ".join(names), learns=True, score=_taught(boosting, view))]


def unprotected(rows: Rows) -> Array | None:
    """The true values of the calibrated columns as a learner would see them; None where truth does not have them."""
    if not rows.answer or any(name not in rows.truth for name in rows.answer):
        return None
    everyone = np.arange(len(rows))
    return np.concatenate([encoded(rows.truth[name], everyone) for name in rows.answer], axis=1)


def boosted(shown: Array, taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
    """Scores of gradient boosting for some rows, taught by others."""
    return sharp(boosting(shown[taught], is_first, shown[asked], seed))


def _taught(
    learner: Callable[[Array, Places, Array, int], Array], view: Callable[[Places], Array]
) -> Callable[[Places, Places, Places, int], Array]:
    def score(taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
        shown = view(taught)
        if not shown.shape[1]:
            return np.zeros(len(asked))
        return sharp(learner(shown[taught], is_first, shown[asked], seed))

    return score


# The rows of a secret in three parts: to choose a wager, to teach, and to test. No row serves twice.

# Of a secret's rows: up to where a wager is chosen, and from there to where learners learn.
_TUNED, _TAUGHT = 0.2, 0.5


@dataclass(frozen=True)
class Parts:
    """One secret's rows, at random."""

    tune: Places
    teach: Places
    test: Places

    def tested(self, learns: bool) -> Places:
        """The rows that had no part in making the score; who learns nothing may be tested on what others learn."""
        return self.test if learns else np.concatenate([self.teach, self.test])


def halves(rows: Rows, pair: Pair, seed: int, among: Places | None = None) -> list[Parts]:
    """The rows of either secret at random into the three parts.

    Args:
        rows: what was published.
        pair: two secrets.
        seed: of the parts.
        among: the rows that are meant; all where left out.

    Returns:
        For each secret the rows to learn from, to choose by and to test on. What is tested has no part in what is
        chosen.
    """
    parts = []
    for place, name in enumerate(pair):
        mine = rows.of(name) if among is None else among[rows.secrets[among] == name]
        mixed = np.random.default_rng([seed, place]).permutation(mine)
        tuned, taught = max(4, int(_TUNED * len(mine))), int(_TAUGHT * len(mine))
        parts.append(Parts(mixed[:tuned], mixed[tuned:taught], mixed[taught:]))
    return parts


# Whether the order of the rows is random, as the guarantee of a release takes it to be.
#
# Under a random order every arrangement of two secrets over their rows' places is as likely as any other. So of a set
# of places that was chosen without a look at them the number that one secret holds is hypergeometric, and Hoeffding's
# bound for draws without replacement says how rare it is (proofs/audit.md, claim 5). The sets are stretches of every
# length, and the places that a learner points to from the published values of other rows, smoothed over their places.
# Beside them equal parts of the table are compared all at once with those of simulated orders.


SHARE = 0.01  # of the chance of a false alarm that is spent on the order: one that tells does so far beyond chance
_WAYS = 3  # to look for it, each with its part of the chance
_MOST_SIMULATED = 130_000  # orders: enough for ten pairs at the usual level
_LEAST_PART = 8  # places
_MOST_PARTS = 64  # of equal size that are compared
_CUTS = np.array([0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99])


def order_tells(rows: Rows, pair: Pair, *, chance: float, seed: int) -> Diagnostic | None:
    """What places tell of a pair; of rows in a random order something is found with this chance at most.

    Args:
        rows: what was published.
        pair: two secrets.
        chance: of a remark where the order is random.
        seed: of the permutations that it is held against.

    Returns:
        The remark, or None.
    """
    mine = np.flatnonzero((rows.secrets == pair[0]) | (rows.secrets == pair[1]))
    mine = mine[np.argsort(rows.place[mine], kind="stable")]
    is_first = rows.secrets[mine] == pair[0]
    for sets in (list(stretches(is_first)), list(_pointed(rows, pair, seed))):
        if not sets:
            continue
        most = max(sets, key=lambda one: one.exponent)
        # A third of the chance for each way to look, and of every set there are two tails.
        rare = math.log(2 * _WAYS * sum(one.of for one in sets) / chance)
        if most.exponent > rare:
            seen = (
                f"of {most.places:,} places {most.hits:,} are of {pair[0]!r}, which has {is_first.mean():.1%} of both"
            )
            return Diagnostic(
                "order-tells", first=pair[0], second=pair[1], seen=seen, chance=chance * math.exp(rare - most.exponent)
            )
    if (found := _varies(is_first, chance / _WAYS, seed)) is not None:
        return Diagnostic(
            "order-tells",
            first=pair[0],
            second=pair[1],
            seen=f"the share of {pair[0]!r} differs from part to part of the table",
            chance=found * _WAYS,
        )
    return None


def _pointed(rows: Rows, pair: Pair, seed: int) -> Iterator[Held]:
    """Places of rows that are tested to which learners point who know other rows, and of these only the places."""
    first, second = halves(rows, pair, seed)
    taught = np.concatenate([first.teach, second.teach])
    known = np.repeat(np.array([1, 0]), [len(first.teach), len(second.teach)])
    tested = np.concatenate([first.test, second.test])
    is_first = np.repeat([True, False], [len(first.test), len(second.test)])
    tuned = np.concatenate([first.tune, second.tune])
    shown = order_scores(rows, taught)
    for learner in (boosting, logistic):
        scores = learner(shown[taught], known, shown[np.concatenate([tuned, tested])], seed)
        for cut in np.unique(np.quantile(scores[: len(tuned)], _CUTS)):
            chosen = scores[len(tuned) :] >= cut
            if held := int(chosen.sum()):
                hits = int(is_first[chosen].sum())
                yield Held(held, hits, float(exponents(np.array([hits]), held, float(is_first.mean()))[0]))


def _varies(is_first: npt.NDArray[np.bool_], chance: float, seed: int) -> float | None:
    """How rarely the shares in equal parts of the table vary as much in simulated random orders; None if too often."""
    from scipy.stats import chi2

    parts = 1 << max(0, min(_MOST_PARTS, len(is_first) // (_LEAST_PART)).bit_length() - 1)
    first = int(is_first.sum())
    simulated = math.ceil(2 / chance)
    if parts < 2 or not 0 < first < len(is_first) or simulated > _MOST_SIMULATED:
        return None  # at such a level nothing could be said
    sizes = np.array([len(part) for part in np.array_split(is_first, parts)])
    held = np.add.reduceat(is_first.astype(np.int64), np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, first, size=simulated, method="marginals")
    hits, share = np.concatenate([held[None, :], drawn]), first / len(is_first)
    # How rare the variation is between two parts, four, and so on, by the usual law: of whichever is rarest, only the
    # rank among the simulated orders is used, so that law need not hold.
    rarest = np.ones(len(hits))
    while len(sizes) > 1:
        apart = ((hits - sizes * share) ** 2 / sizes).sum(axis=1) / (share * (1 - share))
        rarest = np.minimum(rarest, chi2.sf(apart, len(sizes) - 1))
        hits, sizes = hits[:, ::2] + hits[:, 1::2], sizes[::2] + sizes[1::2]
    found = float((rarest <= rarest[0]).mean())  # the order that was seen is one of them
    return found if found <= chance else None
