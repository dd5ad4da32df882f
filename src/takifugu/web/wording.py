"""The sentences beside the figures, for people who meet θ, α and ε for the first time."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from takifugu.problems.guarantee import Renyi
from takifugu.reports import channel_words, vector_page, words
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.rounding import besides, in_steps
from takifugu.reports.text import at_most, clean, listed, number, percent
from takifugu.reports.vector_facts import VectorFacts
from takifugu.web.rereading import on_page

if TYPE_CHECKING:
    from takifugu.reports.common import Facts
    from takifugu.web.choices import Choice, Fit

_ASKED = {
    "row": "each person's {columns}",
    "raw": "one person's {columns}",
    "mean": "the mean of {columns}",
    "gp": "a Gaussian process's prediction of {columns}",
    "bnn": "a Bayesian neural network's prediction of {columns}",
}
_THINGS = {
    "raw": "each published {columns}",
    "mean": "the published mean of {columns}",
    "gp": "the published prediction of {columns}",
    "bnn": "the published prediction of {columns}",
}


def told(facts: "Facts", choice: "Choice") -> dict[str, Any]:
    """What was found, and what can still be inferred and learned, in figures and in words."""
    guess = facts.adversary
    if isinstance(facts, ChannelFacts):
        kind = _channel(facts)
    else:
        kind = _vector(facts, choice) if isinstance(facts, VectorFacts) else _noise(facts, choice)
    promised = isinstance(facts.calibration.guarantee, Renyi) and math.isfinite(kind["size"])
    return kind | {
        "guess": {"before": guess.guess_before, "after": guess.guess_after},
        "guess_texts": {"before": at_most(guess.guess_before), "after": at_most(guess.guess_after)},
        "guess_words": words.inference(facts),
        "worst_pair": list(facts.worst_pair),
        "certifiable": promised,
        "publishable": promised and choice.fit.query in ("row", "raw"),
    }


def _noise(facts: "Facts", choice: "Choice") -> dict[str, Any]:
    assert isinstance(facts, NoiseFacts)
    theta = facts.theta
    return {
        "size": theta,
        "theta": theta if math.isfinite(theta) else None,
        "figure": {"before": "θ =", "value": number(theta, 6), "after": ""},
        "in_words": in_words(facts, choice.fit),
        "odds_words": words.odds(facts),
        "use_words": _joined(words.usefulness(facts), words.order(facts), words.saving(facts), _whom(facts, choice)),
        "before_words": "before noise",
        "after_words": "after noise",
    }


def _whom(facts: "Facts", choice: "Choice") -> str | None:
    """For whom the promise of noise is, and what on the page would make it one for the population."""
    fit, own = choice.fit, "That is for who believes these rows’ own shares"
    if facts.calibration.evidence is None and fit.is_vector and fit.query == "raw":
        return f"{own}; “A table” can be promised for the population."
    if facts.calibration.evidence is None and fit.query == "raw" and fit.prior != "counts":
        return f"{own}; with the belief “counts with a pseudo-row” it can be promised for the population."
    return words.population(facts)


def _vector(facts: VectorFacts, choice: "Choice") -> dict[str, Any]:
    shares = {axis.name: axis.noise / axis.spread for axis in facts.axes if axis.spread > 0}
    most = max(shares, key=lambda name: shares[name], default=facts.axes[0].name)
    return {
        "size": max(axis.noise for axis in facts.axes),
        "theta": None,
        "figure": {
            "before": "noise",
            "value": number(shares.get(most, facts.axes[0].noise), 3),
            "after": f"times the spread of {clean(most, 40)}" if shares else f"on {clean(most, 40)}",
        },
        "in_words": vector_page.answer(facts) + words.held(facts),
        "odds_words": words.odds(facts),
        "use_words": _joined(vector_page.usefulness(facts), words.order(facts), _whom(facts, choice)),
        "before_words": "before noise",
        "after_words": "after noise",
    }


def _channel(facts: ChannelFacts) -> dict[str, Any]:
    return {
        "size": facts.error,
        "theta": None,
        "figure": {
            "before": "",
            "value": percent(facts.share_changed),
            "after": f"of the {'values' if len(facts.columns) == 1 else 'rows'} change{besides(facts.findings)}",
        },
        "in_words": _after_rounding(facts) + words.held(facts),
        "odds_words": channel_words.worst_odds(facts),
        "use_words": _joined(
            channel_words.cost(facts),
            channel_words.averages(facts),
            channel_words.best(facts),
            words.population(facts),
        ),
        "before_words": "from the truth",
        "after_words": "as published",
    }


def _after_rounding(facts: ChannelFacts) -> str:
    steps, answer = in_steps(facts.findings), channel_words.answer(facts)
    return answer if steps is None else f"{steps} {answer.replace('Nothing needs', 'Nothing else needs', 1)}"


def _joined(*sentences: str | None) -> str:
    return on_page(" ".join(filter(None, sentences)))


def question(fit: "Fit") -> str:
    """What a report says was asked."""
    asked = _ASKED[fit.query].format(columns=listed(fit.columns))
    if fit.pair is None:
        return f"How to publish {asked} so that nobody can tell anyone's {fit.secret}?"
    first, second = fit.pair
    return f"How to publish {asked} so that nobody can tell {fit.secret} = {first} from {fit.secret} = {second}?"


def at_work(choice: "Choice", priors: Any) -> str:
    """What is being computed, with the sizes that decide how long it takes."""
    first = priors if isinstance(priors, Mapping) else priors[0]
    beliefs = "" if isinstance(priors, Mapping) else f" and {len(priors):,} beliefs"
    if not choice.is_listed:
        what = "shape of the noise" if choice.fit.is_vector else "noise"
        return f"finding the {what} for {len(first)} secrets"
    sizes = f"{len(next(iter(first.values())).values):,} possible rows, {len(first)} secrets{beliefs}"
    sure = " that withstands draws of the population" if choice.confidence is not None else ""
    return f"finding the best channel{sure} ({sizes})"


def in_words(facts: NoiseFacts, fit: "Fit") -> str:
    """What to do with θ, and what it costs."""
    theta = facts.theta
    thing = _THINGS[fit.query].format(columns=listed(fit.columns))
    if math.isinf(theta):
        return "No finite noise satisfies this mechanism here. Choose “exact”, which always has an answer."
    if theta == 0:
        return f"No noise is needed: {thing} is within the budget as it is."
    weaker = (
        ""
        if isinstance(facts.calibration.guarantee, Renyi)
        else " Mind that this mechanism promises less: the budget may be exceeded in a small share of cases."
    )
    share = f", {number(theta / facts.spread, 3)} times the spread of the answer itself" if facts.spread > 0 else ""
    return (
        f"To {thing}, add a random number from a bell curve of standard deviation {number(theta, 3)}{share}. Two times "
        f"out of three it moves the answer by less than {number(theta, 3)}, and nineteen times out of twenty by less "
        f"than {number(1.96 * theta, 3)}.{weaker}"
    )
