"""The facts in sentences: the same on the command line, in the report and on the explorer's page."""

import math

from takifugu.calibration import Calibration
from takifugu.calibration.backwards import values_published
from takifugu.channels.listed import ListChannel
from takifugu.divergences.proved.guessing import guess_allowed, odds_factor, recommended_alpha
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.inspection_findings import RowsOfOnePerson, SeveralRows
from takifugu.reports.adversary import Adversary
from takifugu.reports.common import Facts
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.priors_compared import hangs_on_prior
from takifugu.reports.text import at_most, clean, number, share_of

_HIDES_LITTLE = 0.95  # of the guesses right: more than that is hardly a secret
_HARDLY_BOUND = 0.999  # a chance above which a limit is none


def answer(facts: NoiseFacts) -> str:
    """What was found."""
    budget = f"α = {number(facts.alpha)}, ε = {number(facts.epsilon)}"
    if facts.theta == 0:
        return f"No noise is needed: even without any, every pair of secrets is within the budget ({budget})."
    promise = (
        "hides" if isinstance(facts.calibration.guarantee, Renyi) else "gives a weaker, approximate promise to hide"
    )
    return (
        f"Adding Gaussian noise of standard deviation θ = {number(facts.theta)} to each published value {promise} "
        f"{what(facts)}, within the budget ({budget})."
    )


def inference(facts: Facts) -> str:
    """What an adversary can still infer, in one sentence."""
    return best_guess(facts.adversary, "value", facts.bare, exact=isinstance(facts.calibration.channel, ListChannel))


def best_guess(guess: Adversary, thing: str, bare: str, *, exact: bool) -> str:
    """The best guess of all pairs and beliefs, from what is published and from what is true, each about its own pair.

    >>> found = Adversary(0.7, 0.6621, 0.75, (), "a and b", "a and c")
    >>> best_guess(found, "row", "from the true row", exact=True)
    'From one published row no guess between two secrets is right with a chance above 66.3 % (a and c); from the true \
row it would be 70 % (a and b), and a random guess is right with 50 %.'
    """
    other = "" if guess.before_between == guess.after_between else f" ({guess.before_between})"
    if guess.guess_after > _HARDLY_BOUND:
        most = "a guess between two secrets is right with a chance of"
    elif exact:
        most = "no guess between two secrets is right with a chance above"
    else:  # of noise they are computed, and not proved
        most = "the best guess between two secrets is right with a chance of about"
    return (
        f"From one published {thing} {most} {_up(guess.guess_after)} ({guess.after_between}); {bare} it would be "
        f"{_up(guess.guess_before)}{other}, and a random guess is right with 50 %."
    )


def _up(chance: float) -> str:
    """A chance rounded up, where that leaves anything to say."""
    return at_most(chance) if chance <= _HARDLY_BOUND or chance == 1 else "more than 99.9 %"


def odds(facts: Facts) -> str:
    """How far one release can move somebody's opinion."""
    typical = next(o for o in facts.adversary.odds if o.probability == 0.95)
    here = (
        f"In 95 of 100 releases the odds between {facts.adversary.after_between} rise in favour of the true one by a "
        f"factor of {number(typical.exact, 3)}"
    )
    if math.isinf(typical.bound):
        return f"{here} or less; the mechanism's promise, weaker than the budget's, bounds nothing by itself."
    return f"{here} or less; the budget alone, whatever the priors, promises {number(typical.bound, 3)} or less."


def is_averaged(facts: NoiseFacts) -> bool:
    """Whether there are many published values to average: of a mean or a prediction one goes out, and no hundred."""
    answer = facts.calibration.answer
    return answer is None or answer.is_of_rows


def usefulness(facts: NoiseFacts) -> str:
    """What an analyst can still learn, in one sentence."""
    if facts.theta == 0:
        return "Values are published as they are, so an analyst loses nothing."
    hundred = next(a for a in facts.analyst if a.releases == 100)
    beside = ""
    if facts.spread > 0:
        beside = f", beside a natural spread of {number(facts.spread, 3)}"
    if not is_averaged(facts):
        return f"The published number is off by about {number(facts.theta, 3)}{beside}."
    return (
        f"A single value is off by about {number(facts.theta, 3)}{beside}; the mean of 100 published values is off by "
        f"{number(hundred.error, 3)}, of 10,000 by {number(facts.analyst[-1].error, 3)}."
    )


def saving(facts: NoiseFacts) -> str | None:
    """How the noise compares with what the paper's mechanism would add; None where there is nothing to say."""
    paper = next((c for c in facts.comparisons if c.mechanism in ("closed-form", "gmm-transport")), None)
    if paper is None or facts.calibration.mechanism != "exact" or not 0 < facts.theta < paper.theta < math.inf:
        return None
    share = 1 - (facts.theta / paper.theta) ** 2
    if share < 0.005:
        return None
    least = "at least " * paper.is_least
    return (
        f"The paper's mechanism would add noise of {least}{number(paper.theta)}: the exact one costs {least}"
        f"{share_of(share)} less mean square error for the same promise."
    )


def for_each_row(calibration: Calibration) -> str | None:
    """That the promise is for one row, where people seem to have several; None where nothing says so."""
    stated = next((one for one in calibration.findings if isinstance(one, RowsOfOnePerson)), None)
    if stated is not None:
        return (
            f"That is for one row: people have up to {stated.most} each ({stated.column!r}), independent of one "
            f"another given the secret by the holder's word, and then all rows of one person move odds by the "
            f"{stated.most}-th power at most."
        )
    names = [repr(one.column) for one in calibration.findings if isinstance(one, SeveralRows)]
    if not names:
        return None
    return (
        f"That is for one row: people seem to have several here ({' and '.join(names)}), and all rows of one person "
        f"together tell more."
    )


def in_guesses(promise: Guarantee) -> str | None:
    """The promise in the other language: odds and budgets as guesses; None where it bounds none.

    >>> in_guesses(Renyi.from_odds(3))
    'In other words (α = ∞, ε = 1.099): of two secrets that seemed equally likely, nobody guesses right with a chance \
above 75 %.'
    >>> in_guesses(Renyi.from_odds(10_000))
    'In other words (α = ∞, ε = 9.21): of two secrets that seemed equally likely, a guess may be right with a chance \
of more than 99.9 %. That hides little.'
    """
    if not isinstance(promise, Renyi):
        return None
    guess = guess_allowed(promise)
    told = f"of two secrets that seemed equally likely, nobody guesses right with a chance above {at_most(guess)}"
    if guess > _HARDLY_BOUND:
        told = "of two secrets that seemed equally likely, a guess may be right with a chance of more than 99.9 %"
    little = " That hides little." if guess > _HIDES_LITTLE else ""
    if promise.most_odds is not None:
        order = "α = ∞" if math.isinf(promise.alpha) else f"α = {number(promise.alpha)}"
        return f"In other words ({order}, ε = {number(promise.epsilon)}): {told}.{little}"
    rare = odds_factor(alpha=promise.alpha, epsilon=promise.epsilon, chance=0.05)
    return f"In other words: {told}, and odds grow by more than {number(rare, 3)} in one release of 20 at most.{little}"


def priors(facts: NoiseFacts) -> str | None:
    """That the noise hangs on the prior, and what to do; None where it does not."""
    others = facts.other_priors
    if not hangs_on_prior(facts.theta, facts.spread, others):
        return None
    told = ", ".join(f"{number(one.theta)} for {one.prior}" for one in others)
    return (
        f"This hangs on the prior: θ is {number(facts.theta)} here, {told}. Nobody knows which an adversary believes: "
        f"ask for confidence, give all of them as beliefs, of which the worst counts, or publish from a list."
    )


def order(facts: Facts) -> str | None:
    """What to say where more values go out than the order is good for, of noise on numbers."""
    answer = facts.calibration.answer
    of_group = answer is not None and not answer.is_of_rows  # one is published, whichever of the groups it is about
    values = 1 if of_group else values_published(facts.calibration.problem)
    advised = recommended_alpha(values)
    bare = isinstance(facts, NoiseFacts) and facts.theta == 0
    if bare or facts.alpha >= advised or not isinstance(facts.calibration.guarantee, Renyi):
        return None
    if values == 1:
        return (
            f"For one published answer start from α = {advised}: at α = {number(facts.alpha)} a release that tells far "
            f"more than ε is not rare enough."
        )
    return (
        f"For {values:,} published values start from α = {advised}: at α = {number(facts.alpha)} some of so many will "
        f"be unlucky, and tell more than one value alone would. Rows from a list, with odds, need no such choice."
    )


def what(facts: Facts) -> str:
    """What is hidden, after 'hides'."""
    count = len(facts.calibration.pairs)
    a, b = map(clean, facts.worst_pair)
    return f"whether the secret is {a} or {b}" if count == 1 else f"the secrets of {count:,} pairs from one another"


def held(facts: Facts) -> str:
    """Which of several beliefs is shown, after a sentence; nothing where there is one."""
    count = len(facts.calibration.beliefs)
    return f" Of {count:,} beliefs, the one shown binds: {clean(facts.belief, 120)}." if count > 1 else ""


def population(facts: Facts) -> str | None:
    """Whether the promise is for the population or for these rows; None for priors that rest on no rows."""
    evidence = facts.calibration.evidence
    if evidence is not None:
        # With as many digits as the bound on the best channel is told: with fewer, this could seem to be below it.
        before, after = (number(error) for error in (evidence.without, facts.calibration.error))
        cost = f" It costs {after} in place of {before}." if before != after else ""
        return f"That is for the population, not only for these rows: {evidence.sentence}.{cost}"
    if not any(belief.rows for belief in facts.calibration.beliefs):
        return None
    return "That is for who believes these rows’ own shares; with confidence=0.95 it would be for the population too."
