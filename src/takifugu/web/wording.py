"""The sentences beside the figures, for people who meet θ, α and ε for the first time."""

import math
from typing import TYPE_CHECKING, Any

from takifugu.problems.guarantee import Renyi

if TYPE_CHECKING:
    from takifugu.reports.noise_facts import NoiseFacts
    from takifugu.web.choices import Choice, Fit

_ASKED = {
    "raw": "one person's {column}",
    "mean": "the mean of {column}",
    "gp": "a Gaussian process's prediction of {column}",
    "bnn": "a Bayesian neural network's prediction of {column}",
}
_THINGS = {
    "raw": "each published {column}",
    "mean": "the published mean of {column}",
    "gp": "the published prediction of {column}",
    "bnn": "the published prediction of {column}",
}


def told(facts: "NoiseFacts", choice: "Choice") -> dict[str, Any]:
    """θ and what can be inferred, in figures and in words."""
    from takifugu.reports import words

    theta, adversary = facts.theta, facts.adversary
    return {
        "theta": theta if math.isfinite(theta) else None,
        "theta_text": digits(theta),
        "in_words": in_words(facts, choice.fit),
        "guess": {"before": adversary.guess_before, "after": adversary.guess_after},
        "guess_words": words.inference(facts),
        "odds_words": words.odds(facts),
        "use_words": " ".join(filter(None, (words.usefulness(facts), words.saving(facts)))),
        "certifiable": isinstance(facts.calibration.guarantee, Renyi) and math.isfinite(theta),
    }


def question(fit: "Fit") -> str:
    """What a report says was asked."""
    asked = _ASKED[fit.query].format(column=fit.column)
    first, second = fit.pair
    return f"How to publish {asked} so that nobody can tell {fit.secret} = {first} from {fit.secret} = {second}?"


def digits(number: float) -> str:
    """Six digits, as people write them.

    >>> digits(1.7320508), digits(123456789.0), digits(float("inf"))
    ('1.73205', '123457000', 'infinite')
    """
    if math.isinf(number):
        return "infinite"
    if number == 0 or not 1e-5 <= abs(number) < 1e15:
        return f"{number:.6g}"
    return f"{float(f'{number:.6g}'):.{max(0, 5 - math.floor(math.log10(abs(number))))}f}"


def in_words(facts: "NoiseFacts", fit: "Fit") -> str:
    """What to do with θ, and what it costs."""
    theta = facts.theta
    thing = _THINGS[fit.query].format(column=fit.column)
    if math.isinf(theta):
        return "No finite noise satisfies this mechanism here. Choose “exact”, which always has an answer."
    if theta == 0:
        return f"No noise is needed: {thing} is within the budget as it is."
    weaker = (
        ""
        if isinstance(facts.calibration.guarantee, Renyi)
        else " Mind that this mechanism promises less: the budget may be exceeded in a small share of cases."
    )
    share = f", {_few(theta / facts.spread)} times the spread of the answer itself" if facts.spread > 0 else ""
    return (
        f"To {thing}, add a random number from a bell curve of standard deviation {_few(theta)}{share}. Two times out "
        f"of three it moves the answer by less than {_few(theta)}, and nineteen times out of twenty by less than "
        f"{_few(1.96 * theta)}.{weaker}"
    )


def _few(number: float) -> str:
    """Three digits, enough for a sentence."""
    return digits(float(f"{number:.3g}")).rstrip("0").rstrip(".") if 1e-5 <= number < 1000 else f"{number:.3g}"
