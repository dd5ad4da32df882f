"""Who attacks: an adversary who knows the priors, and learners who know nothing but some of the rows.

An attacker turns every row into a score, the larger the more it looks like the first secret of a pair than like the
second: a guess at ln(p/q). `takifugu.audits.bounds` makes a bound of any score, so none of this is trusted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.audits import features
from takifugu.audits.features import Places
from takifugu.audits.rows import Rows
from takifugu.calibration import Calibration
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.values import key

MOST_TAUGHT = 20_000  # rows that a learner is shown
_MOST_NEIGHBOURS = 6_000  # rows that a nearest-neighbour search goes through
_SHARPEST = 12.0  # no score says more than e^12 : 1
_BLOCK = 1 << 21


@dataclass(frozen=True)
class Attacker:
    """A name, what it looks at, and whether it has to be taught."""

    name: str
    sees: str
    learns: bool
    score: Callable[..., Array]


# ---- those who know the priors

Ratio = Callable[[Rows, Law, Law], Array]


def knowing(calibration: Calibration, rows: Rows) -> list[Attacker]:
    """Likelihood ratios of the calibration's own priors, through its channel and through a weaker one."""
    channel = calibration.channel
    if not rows.answer:
        return []
    sees = ", ".join(rows.answer)
    if (
        isinstance(channel, GaussianNoise)
        and len(rows.answer) == 1
        and rows.published[rows.answer[0]].numbers is not None
    ):
        found = [("priors", 1.0), ("priors, half the noise", 0.5)] if channel.theta > 0 else []
        return [Attacker(name, sees, learns=False, score=_bells(channel.theta * share)) for name, share in found]
    if isinstance(channel, FiniteChannel):
        return [
            Attacker("priors", sees, learns=False, score=_table(channel)),
            Attacker("priors, unchanged values", sees, learns=False, score=_table(None)),
        ]
    return []


def _bells(theta: float) -> Ratio:
    def score(rows: Rows, p: Mixture, q: Mixture) -> Array:
        numbers = np.nan_to_num(np.asarray(rows.published[rows.answer[0]].numbers, dtype=np.float64))
        distinct, back = np.unique(numbers, return_inverse=True)
        return _sharp((_log_density(p.with_noise(theta), distinct) - _log_density(q.with_noise(theta), distinct))[back])

    return score


def _log_density(law: Mixture, x: Array) -> Array:
    """ln of the density, also where the density itself is below every float."""
    simple = law.simplified()
    height = np.log(simple.weights / simple.weights.sum()) - np.log(simple.stds)
    out = np.empty(len(x))
    step = max(1, _BLOCK // len(simple))
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(x), step):
            z = (x[start : start + step, None] - simple.means) / simple.stds
            logs = height - 0.5 * np.minimum(z * z, 1e300)
            top = logs.max(axis=1)
            out[start : start + step] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return out


def _table(channel: FiniteChannel | None) -> Ratio:
    def score(rows: Rows, p: Finite, q: Finite) -> Array:
        shares = []
        for law in (p, q):
            told = law if channel is None else channel.apply(law)
            shares.append({key(value): share for value, share in zip(told.values, told.probabilities, strict=True)})
        columns = [rows.published[name].labels.tolist() for name in rows.answer]
        told_rows: list[Any] = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        ratio = {}
        for value in set(map(key, told_rows)):
            a, b = (float(share.get(value, 0.0)) for share in shares)
            # What neither law can publish says nothing by the priors; a learner may still make something of it.
            ratio[value] = 0.0 if a + b == 0 else float(np.log(max(a, 1e-9)) - np.log(max(b, 1e-9)))
        return _sharp(np.array([ratio[key(value)] for value in told_rows]))

    return score


# ---- those who learn


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
        return lambda taught: features.values(rows, names, taught)

    def traces(taught: Places) -> Array:
        return features.traces(rows, everything, taught)

    def order(_: Places) -> Array:
        return features.order(rows)

    found = [
        Attacker("logistic regression", seen, learns=True, score=_taught(_logistic, shown(everything))),
        Attacker("gradient boosting", seen, learns=True, score=_taught(_boosting, shown(everything))),
        Attacker("nearest neighbours", seen, learns=True, score=_taught(_neighbours, shown(everything))),
        Attacker("traces", f"digits and repeats of {seen}", learns=True, score=_taught(_boosting, traces)),
        Attacker("order", "the order of the rows", learns=True, score=_taught(_boosting, order)),
    ]
    if own and set(own) != set(everything):
        calibrated = ", ".join(own)
        found.append(Attacker("gradient boosting", calibrated, learns=True, score=_taught(_boosting, shown(own))))
    return found


def informed(rows: Rows, known: tuple[str, ...]) -> list[Attacker]:
    """A learner who is also shown the known columns that were published: to be tested within their cells only."""
    shown = [name for name in known if name in rows.published]
    if not shown:
        return []
    names = [*dict.fromkeys([*rows.answer, *rows.added])]

    def view(taught: Places) -> Array:
        return features.values(rows, names, taught)

    return [Attacker("gradient boosting", ", ".join(names), learns=True, score=_taught(_boosting, view))]


def unprotected(rows: Rows) -> Array | None:
    """The true values of the calibrated columns as a learner would see them; None where truth does not have them."""
    if not rows.answer or any(name not in rows.truth for name in rows.answer):
        return None
    everyone = np.arange(len(rows))
    return np.concatenate([features.encoded(rows.truth[name], everyone) for name in rows.answer], axis=1)


def boosted(shown: Array, taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
    """Scores of gradient boosting for some rows, taught by others."""
    return _sharp(_boosting(shown[taught], is_first, shown[asked], seed))


def _taught(
    learner: Callable[[Array, Places, Array, int], Array], view: Callable[[Places], Array]
) -> Callable[[Places, Places, Places, int], Array]:
    def score(taught: Places, is_first: Places, asked: Places, seed: int) -> Array:
        shown = view(taught)
        if not shown.shape[1]:
            return np.zeros(len(asked))
        return _sharp(learner(shown[taught], is_first, shown[asked], seed))

    return score


def _logistic(x: Array, y: Places, asked: Array, seed: int) -> Array:
    from sklearn.linear_model import LogisticRegression

    x, asked = _standard(x, asked)
    model = LogisticRegression(max_iter=2_000, class_weight="balanced", C=1.0).fit(x, y)
    return np.asarray(model.decision_function(asked), dtype=np.float64)


def _boosting(x: Array, y: Places, asked: Array, seed: int) -> Array:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=80, max_leaf_nodes=12, learning_rate=0.08, l2_regularization=1.0, early_stopping=False,
        class_weight="balanced", random_state=seed,
    ).fit(x, y)  # fmt: skip
    return np.asarray(model.decision_function(asked), dtype=np.float64)


def _neighbours(x: Array, y: Places, asked: Array, seed: int) -> Array:
    from sklearn.neighbors import KNeighborsClassifier

    chosen = np.sort(np.random.default_rng(seed).permutation(len(x))[:_MOST_NEIGHBOURS])
    y = y[chosen]
    x, asked = _standard(x[chosen], asked)
    near = int(min(max(5.0, 2 * np.sqrt(len(x))), len(x)))
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


def _sharp(scores: Array) -> Array:
    """Scores in steps of a hundredth, within reason; what is no number says nothing."""
    return np.asarray(np.round(np.clip(np.nan_to_num(scores), -_SHARPEST, _SHARPEST), 2), dtype=np.float64)
