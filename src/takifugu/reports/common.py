"""What every kind of channel is told with: the facts that do not depend on how a value is published."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels import ListChannel, Noise
from takifugu.divergences import Masses, finite_divergence
from takifugu.errors import InputError
from takifugu.laws import Mixture
from takifugu.problems import (
    OF_TABLES,
    Diagnostic,
    Guarantee,
    Place,
    Problem,
)
from takifugu.reports.adversary import (
    Adversary,
    adversary,
    channel_adversary,
    channel_total_variation,
    vector_adversary,
)
from takifugu.reports.text import at_most, clean, listed, number

# Secrets of so few rows that their law, or its commonest value, would show records: none of it is shown.

# Of four rows 25 % are one person's record; from ten rows on a share no longer is one at sight.
FEWEST_ROWS = 10
TOO_FEW = "too few rows to show"


def is_shown(rows: int | None) -> bool:
    """Whether a law that rests on so many rows is shown; one that was made by hand rests on none, and is.

    >>> is_shown(9), is_shown(10), is_shown(None)
    (False, True, True)
    """
    return rows is None or rows >= FEWEST_ROWS


def too_few(names: Sequence[str]) -> str:
    """Of which secrets nothing is shown.

    >>> too_few(["6b"]), too_few(["6b", "6c"])
    ('6b has too few rows to show', '6b and 6c have too few rows to show')
    """
    return f"{listed([clean(name, 30) for name in names])} {'has' if len(names) == 1 else 'have'} {TOO_FEW}"


MOST_SECRETS = 20  # in a matrix of losses: more could not be read


@dataclass(frozen=True)
class PairLosses:
    """The loss of each directed pair under the belief that binds, for the secrets named.

    It is NaN where a pair is not to be hidden. `left_out` secrets are not among them: their losses are smaller.
    """

    names: tuple[str, ...]
    losses: Array = field(repr=False)
    left_out: int = 0


@dataclass(frozen=True)
class BeliefLoss:
    """What one belief's worst pair loses."""

    label: str
    pair: tuple[str, str]
    loss: float


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One calibration and what there is to say about it. Labels are plain text: whoever shows them escapes them."""

    question: str
    calibration: Calibration = field(repr=False)
    loss: float
    adversary: Adversary
    pair_losses: PairLosses | None = field(default=None, repr=False)
    beliefs: tuple[BeliefLoss, ...] = field(default=(), repr=False)
    findings: tuple[Diagnostic, ...] = ()
    certificate_sha256: str | None = None

    @property
    def alpha(self) -> float:
        """The Rényi order; infinite for a guarantee that is about none."""
        return getattr(self.calibration.guarantee, "alpha", math.inf)

    @property
    def epsilon(self) -> float | None:
        """The ε of the guarantee, of several parts of the first; None where that is about none."""
        return getattr(self.calibration.guarantee.leading, "epsilon", None)

    @property
    def budget(self) -> float:
        """What every loss is held against, of several parts that of the first."""
        return self.calibration.guarantee.leading.budget

    @property
    def limit(self) -> str:
        """The same in words: ε of an order or of odds, else what its divergence calls it, such as δ."""
        leading = self.calibration.guarantee.leading
        if self.epsilon == self.budget:
            return f"ε = {number(self.budget)}"
        return leading.divergence.stated(self.budget)

    @property
    def worst_pair(self) -> tuple[str, str]:
        """The secrets of the pair that is hardest to hide, as text."""
        a, b = self.calibration.worst_pair
        return str(a), str(b)

    @property
    def unshown(self) -> tuple[str, ...]:
        """Those of the pair that is hardest to hide whose laws rest on too few rows to be shown, as text."""
        rows = self.calibration.beliefs[self.calibration.place.belief].rows
        return tuple(str(name) for name in self.calibration.worst_pair if not is_shown(rows.get(name)))

    @property
    def worst_figure(self) -> tuple[str, str, str]:
        """The loss of the pair that is hardest to hide: a name, the value, and which pair it is."""
        a, b = (clean(name, 30) for name in self.worst_pair)
        where = f", {clean(self.belief, 60)}" if self.belief else ""
        return "Worst pair’s loss", number(self.loss), f"{a} against {b}{where}"

    @property
    def guess_figure(self) -> tuple[str, str, str]:
        """The best guess of all: a name, the value, and which pair it is about."""
        guess = self.adversary
        return (
            "Best guess",
            at_most(guess.guess_after),
            f"{guess.after_between}; {at_most(guess.guess_before)} {self.bare}",
        )

    @property
    def bare(self) -> str:
        """What an adversary would see if nothing were hidden, after a chance."""
        return "from the true value" if self.calibration.channel.publishes == "values" else "without noise"

    @property
    def belief(self) -> str:
        """The belief that binds, for a sentence; empty where there is only one."""
        return belief_name(self.calibration, self.calibration.place.belief)

    def to_dict(self) -> dict[str, object]:
        """The figures as plain values for JSON; what is infinite is None. It describes the priors: keep it private."""
        guess = self.adversary
        return {
            "question": self.question,
            "alpha": finite(self.alpha),
            "epsilon": self.epsilon,
            "mechanism": self.calibration.mechanism,
            "guarantee": self.calibration.guarantee.to_state(),
            "worst_pair": list(self.worst_pair),
            "belief": self.belief,
            "loss": finite(self.loss),
            "adversary": {
                "guess_before": guess.guess_before,
                "guess_before_between": guess.before_between,
                "guess_after": guess.guess_after,
                "guess_after_between": guess.after_between,
                "guess_bound": guess.guess_bound,
                "odds": [
                    {"probability": o.probability, "exact": finite(o.exact), "bound": finite(o.bound)}
                    for o in guess.odds
                ],
            },
            "findings": [finding.to_dict() for finding in self.findings],
            "certificate_sha256": self.certificate_sha256,
        }


def belief_name(calibration: Calibration, belief: int) -> str:
    """What the adversary knows under a belief; empty where there is only one."""
    if len(calibration.beliefs) == 1:
        return ""
    return calibration.beliefs[belief].label or (
        "nothing known" if belief == 0 else f"belief {belief + 1} of {len(calibration.beliefs)}"
    )


def question_of(calibration: Calibration) -> str:
    """What was asked, from what the calibration knows about its answer: no more than the guarantee says."""
    a, b = map(str, calibration.worst_pair)
    if calibration.answer is None:
        thing = "an answer"
    else:
        secret = ", ".join(calibration.answer.secret)
        is_share = calibration.answer.query in OF_TABLES
        a = f"a share of {a}" if is_share else f"{secret} = {a}"
        b = f"one of {b} ({secret})" if is_share else f"{secret} = {b}"
        thing = _thing(calibration.answer.query, calibration.answer.columns)
    others = len(calibration.pairs) - 1
    more = f" (and {others:,} other pair{'s' * (others > 1)})" if others and calibration.answer is not None else ""
    if calibration.answer is not None and calibration.answer.merged(calibration.pairs.secrets):
        more += " (as merged)"
    if (most := calibration.total.most_odds) is not None:
        kept = f"posterior odds between {a} and {b}{more} change by at most a factor of {number(most, 4)}"
    else:
        kept = f"{a} and {b}{more} are hidden from one another {calibration.total.bound}"
    return f"How to publish {thing} so that {kept}?"


def _thing(query: str, columns: tuple[str, ...]) -> str:
    said = {
        "raw": "each person's {}",
        "row": "each person's {}",
        "mean": "the mean of {}",
        "table-mean": "the mean of {} over all rows",
        "table-count": "how many rows have a value of {}",
        "gp": "a Gaussian process's prediction of {}",
        "bnn": "a Bayesian neural network's prediction of {}",
        "gp-mean": "the mean of a Gaussian process's prediction of {}",
        "bnn-mean": "the mean of a Bayesian neural network's prediction of {}",
    }.get(query, "the answer about {}")
    return said.format(listed(columns))


def promised(calibration: Calibration) -> Guarantee | None:
    """The guarantee that bounds may start from: a weaker one bounds nothing by itself."""
    return calibration.guarantee if calibration.guarantee.is_provable else None


def drawn_secrets(calibration: Calibration, most: int) -> list[Hashable]:
    """The secrets of one picture: the worst pair first, then as many as fit; none of too few rows."""
    first = list(calibration.worst_pair)
    rows = calibration.beliefs[calibration.place.belief].rows
    ordered = [*first, *(name for name in calibration.pairs.secrets if name not in first)]
    return [name for name in ordered if is_shown(rows.get(name))][:most]


def finite(number: float) -> float | None:
    """A number for JSON, which has no word for infinity."""
    return number if math.isfinite(number) else None


# How close every pair and every belief comes to the limit: what a report lists beside its worst pair.

_MOST_PLACES = 420  # whose loss is an integral each
_MOST_NUMBERS = 4_000_000  # probabilities of published values that are looked at in a report
_MOST_BELIEFS = 8  # that a table lists


def pair_losses(calibration: Calibration) -> PairLosses | None:
    """The losses of every pair under the belief that binds; None where one pair is all there is, or they are too many.

    Of many secrets those whose pairs lose most are taken.
    """
    pairs = calibration.pairs
    if len(pairs) == 1:
        return None
    found = _all_losses(calibration, calibration.place.belief)
    if found is None:
        return None
    worst = np.where(np.isnan(found), -1.0, np.maximum(found, found.T)).max(axis=1)
    kept = np.sort(np.argsort(-worst, kind="stable")[:MOST_SECRETS])
    return PairLosses(
        tuple(str(pairs.secrets[k]) for k in kept), found[np.ix_(kept, kept)], len(pairs.secrets) - len(kept)
    )


def belief_losses(calibration: Calibration) -> tuple[BeliefLoss, ...]:
    """The beliefs closest to the limit, the closest first; none where there is one belief, or too many to look at."""
    count = len(calibration.beliefs)
    if count == 1:
        return ()
    if calibration.channel.publishes != "values" and calibration.problem.size > _MOST_PLACES:
        return ()
    found = []
    for belief in range(count):
        losses = _all_losses(calibration, belief)
        if losses is None:
            return ()
        i, j = np.unravel_index(int(np.nanargmax(losses)), losses.shape)
        place = Place(belief, int(i), int(j))
        a, b = calibration.problem.names(place)
        found.append(BeliefLoss(belief_name(calibration, belief), (str(a), str(b)), float(losses[i, j])))
    # The place that binds stands first even where another is as close to the limit.
    order = sorted(range(count), key=lambda k: (-found[k].loss, k != calibration.place.belief))
    return tuple(found[k] for k in order[:_MOST_BELIEFS])


def _all_losses(calibration: Calibration, belief: int) -> Array | None:
    """Losses by position of the secrets; NaN where a pair is not among those to hide. None where they are too many."""
    problem, secrets = calibration.problem, calibration.pairs.secrets
    size, channel = len(secrets), calibration.channel
    found = np.full((size, size), math.nan)
    position = {secret: k for k, secret in enumerate(secrets)}
    if channel.publishes == "values" and hasattr(calibration.guarantee, "alpha"):
        if size * size * len(channel.as_list().outputs) > _MOST_NUMBERS:
            return None
        published = np.stack([channel.apply(law).probabilities for law in problem.laws(belief)])
        every = finite_divergence(published[:, None, :], published[None, :, :], alpha=calibration.alpha)
        for a, b in calibration.pairs.directed():
            found[position[a], position[b]] = every[position[a], position[b]]
        return found
    if 2 * len(calibration.pairs) > _MOST_PLACES:
        return None
    laws = calibration.beliefs[belief]
    for a, b in calibration.pairs.directed():
        found[position[a], position[b]] = channel.loss(laws[a], laws[b], calibration.guarantee.parts[0].divergence)
    return found


# Where to look at a mixture: points that miss none of its components, and its curve on them.

_POINTS = 201
_NEAR = np.linspace(-3.0, 3.0, 13)  # standard deviations around a component, so that no spike falls between points
_MOST_COMPONENTS = 60  # a mixture with more is smooth enough for the even grid alone
_EDGE = 2e-4  # the share of each side's mass that a picture may leave out


@dataclass(frozen=True)
class Curve:
    """A distribution as a picture needs it: a density on a grid, or masses at points."""

    label: str
    x: Array
    y: Array
    is_mass: bool = False


def curve(label: str, mixture: Mixture, x: Array) -> Curve:
    """The density of a mixture at `x`; its masses where it is made of points."""
    mixture = mixture.simplified()
    if mixture.is_discrete:
        return Curve(label, mixture.means, mixture.weights, is_mass=True)
    if not mixture.stds.all():  # points among bells: drawn as bells two points of the grid wide
        mixture = mixture.with_noise(float(np.ptp(x)) / _POINTS)
    return Curve(label, x, np.asarray(mixture.pdf(x)))


def published_curve(label: str, law: Mixture, channel: Noise, x: Array) -> Curve:
    """The density of what is published for a law; without noise the law itself, which may have points."""
    return Curve(label, x, channel.density(law, x)) if channel.size > 0 else curve(label, law, x)


def grid(mixtures: Iterable[Mixture]) -> Array:
    """Points over the range that holds nearly all the mass of each mixture."""
    given = list(mixtures)
    marks = np.array([_marks(m) for m in given])
    low, high = float(marks[:, 0].min()), float(marks[:, 2].max())
    pad = 0.04 * (high - low) or max(1.0, abs(low)) * 0.5
    low, high = low - pad, high + pad
    points = [np.linspace(low, high, _POINTS)]
    middle = float(np.median(np.abs(marks[:, 1])))
    if 0 < middle < 0.1 * high:  # skewed: a bent scale looks closely at what lies near zero
        ends = np.arcsinh(np.array([low, high]) / middle)
        points.append(middle * np.sinh(np.linspace(ends[0], ends[1], _POINTS)))
    for mixture in given:
        narrow = (mixture.stds > 0) & (mixture.weights > 0)
        if 0 < narrow.sum() <= _MOST_COMPONENTS:
            points.append((mixture.means[narrow, None] + mixture.stds[narrow, None] * _NEAR).ravel())
    together = np.unique(np.concatenate(points))
    return together[(together >= low) & (together <= high)]


@lru_cache(maxsize=64)  # one law stands in several pictures
def _marks(mixture: Mixture) -> tuple[float, float, float]:
    """The ends of what a picture shows of a law, and its middle between them."""
    low, middle, high = np.asarray(mixture.quantile([_EDGE, 0.5, 1 - _EDGE])).tolist()
    return low, middle, high


# The largest of a figure over all pairs of secrets and all beliefs, and where that is (proofs/inference.md).
#
# Each figure has a largest of its own: the pair that loses most is mostly another than the one that is guessed best.

_NEAR_MOST_TELLING = 1e-9  # of figures in float64: those that are closer to the largest are looked at exactly
_BLOCK = 4_000_000  # probabilities at a time


def most_telling(calibration: Calibration) -> Adversary:
    """The best guess of all, from values as they are and as published, and which pair and belief each is about.

    Of finite channels both are the largest in exact fractions. The odds are those of the pair that is guessed best.
    """
    problem, channel = calibration.problem, calibration.channel
    found: Adversary
    if channel.publishes == "values":
        finite = channel.as_list()
        told: Any = partial(channel_adversary, finite, promise=promised(calibration))
        before = _most_apart(problem, lambda law: Masses.of(finite.weights_of(law)))
        after = _most_apart(problem, finite.published)
        found, bare = (told(*problem.ends(place)) for place in (after, before))
    else:
        if channel.publishes == "number":
            told = partial(adversary, promise=promised(calibration), channel=channel.as_noise())
        elif channel.publishes == "vector":
            told = partial(vector_adversary, promise=promised(calibration), channel=channel.as_vector())
        else:
            raise InputError(f"what a {type(channel).__name__} tells is not known here")
        every = {place: told(*problem.ends(place)) for place in problem.places() if place.first < place.second}
        before = max(every, key=lambda place: every[place].guess_before)
        after = max(every, key=lambda place: every[place].guess_after)
        found, bare = every[after], every[before]
    return replace(
        found,
        guess_before=bare.guess_before,
        before_between=_named(calibration, before),
        after_between=_named(calibration, after),
    )


def worst_odds(calibration: Calibration, channel: ListChannel) -> float:
    """The most that any published value changes the odds of any pair to hide, under any belief: exact, rounded up."""
    problem = calibration.problem
    return max(
        channel.worst_odds(*problem.ends(place))
        for place in _nearest(problem, channel.published, partial(finite_divergence, alpha=math.inf), directed=True)
    )


def _most_apart(problem: Problem, masses: Callable[[Any], Masses]) -> Place:
    """Where total variation is largest, in exact fractions."""

    @cache
    def of(belief: int, secret: Hashable) -> Masses:
        return masses(problem.beliefs[belief][secret])

    def exact(place: Place) -> Any:
        return channel_total_variation(*(of(place.belief, secret) for secret in problem.names(place)))

    near = _nearest(problem, masses, lambda p, q: 0.5 * np.abs(p - q).sum(axis=-1), directed=False)
    return max(near, key=exact) if len(near) > 1 else near[0]


def _nearest(
    problem: Problem, masses: Callable[[Any], Masses], figure: Callable[[Array, Array], Array], *, directed: bool
) -> list[Place]:
    """Where a figure is as large as anywhere, as far as float64 can tell."""
    first, second = (side if directed else side[::2] for side in problem.pairs.directed_places())
    found: list[tuple[float, Place]] = []
    for belief in range(len(problem.beliefs)):
        laws = [masses(law) for law in problem.laws(belief)]
        shares = np.array([[int(n) / law.denominator for n in law.numerators] for law in laws])
        size = max(1, _BLOCK // shares.shape[1])
        for start in range(0, len(first), size):
            here, there = first[start : start + size], second[start : start + size]
            values = figure(shares[here], shares[there])
            least = max(float(values.max()), max((value for value, _ in found), default=-math.inf)) - _NEAR_MOST_TELLING
            found = [one for one in found if one[0] >= least]
            found += [
                (float(values[k]), Place(belief, int(here[k]), int(there[k]))) for k in np.flatnonzero(values >= least)
            ]
    return [place for _, place in found]


def _named(calibration: Calibration, place: Place) -> str:
    a, b = calibration.problem.names(place)
    where = belief_name(calibration, place.belief)
    return f"{clean(a, 30)} and {clean(b, 30)}" + (f" ({clean(where, 60)})" if where else "")
