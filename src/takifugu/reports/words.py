"""The facts in sentences: the same on the command line, in the report and on the explorer's page."""

import math

import numpy as np

from takifugu.calibration import Calibration, values_published
from takifugu.channels import hundred, named
from takifugu.laws import key
from takifugu.problems import (
    Guarantee,
    recommended_alpha,
)
from takifugu.queries import FEW_FOR_COUNTS
from takifugu.reports.adversary import Adversary
from takifugu.reports.channel_facts import STRONGER, ChannelFacts, ColumnFacts, is_of_own_rows
from takifugu.reports.common import Facts
from takifugu.reports.facts import NoiseFacts, channel_of, hangs_on_prior
from takifugu.reports.text import at_least, at_most, clean, in_letters, number, percent, share_of

_HIDES_LITTLE = 0.95  # of the guesses right: more than that is hardly a secret
_HARDLY_BOUND = 0.999  # a chance above which a limit is none


def answer(facts: NoiseFacts) -> str:
    """What was found."""
    budget = in_letters(facts.calibration.guarantee)
    if facts.theta == 0:
        return f"No noise is needed: even without any, every pair of secrets is within the budget ({budget})."
    channel = channel_of(facts.calibration)
    promise = "hides" if facts.calibration.guarantee.is_provable else "gives a weaker, approximate guarantee to hide"
    return (
        f"Adding {channel.name} noise of {channel.size_is} {channel.symbol} = {number(channel.size)} to each published "
        f"value {promise} "
        f"{what(facts)}, within the budget ({budget})."
    )


def inference(facts: Facts) -> str:
    """What an adversary can still infer, in one sentence."""
    return best_guess(facts.adversary, "value", facts.bare, exact=facts.calibration.channel.publishes == "values")


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


def attack_accuracy(guess: Adversary) -> str:
    """The same in one line of the summary.

    >>> attack_accuracy(Adversary(0.7, 0.6621, 0.75, (), "a and b", "a and c"))
    'Attack accuracy, at most: 70 % from a true row (a and b) → 66.3 % from a published one (a and c); a random guess: \
50 %.'
    """
    same = guess.before_between == guess.after_between
    before = _up(guess.guess_before) + " from a true row" + ("" if same else f" ({guess.before_between})")
    return (
        f"Attack accuracy, at most: {before} → {_up(guess.guess_after)} from a published one ({guess.after_between}); "
        f"a random guess: 50 %."
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
        return f"{here} or less; the guarantee bounds nothing by itself."
    return f"{here} or less; the budget alone, whatever the priors, guarantees {number(typical.bound, 3)} or less."


_DELTA = 1e-5  # what is usual where (ε, δ) is asked for
_MOST_CURVES = 200  # directed pairs of which a report looks at each


def approximately(facts: NoiseFacts) -> str | None:
    """Which (ε, δ) noise that keeps a Rényi guarantee keeps: for who knows differential privacy by these two."""
    made = facts.calibration
    is_renyi = math.isfinite(getattr(made.guarantee, "alpha", math.inf))
    if not is_renyi or not made.guarantee.is_provable or facts.theta == 0 or made.problem.size > _MOST_CURVES:
        return None
    kept = made.approximate(_DELTA)
    if not math.isfinite(kept.guaranteed):
        return None
    return (
        f"In the terms of (ε, δ), with δ = {number(_DELTA)}: ε is {number(kept.exact, 3)} by these priors, "
        f"{number(kept.by_order, 3)} through the best single order, and {number(kept.guaranteed, 3)} by the guarantee "
        f"alone."
    )


def is_averaged(facts: NoiseFacts) -> bool:
    """Whether there are many published values to average: of a mean or a prediction one goes out, and no hundred."""
    answer = facts.calibration.answer
    return answer is None or answer.is_of_rows


def beyond(facts: NoiseFacts) -> str | None:
    """That noise knows no range; None where nothing is added, or to rows, whose list or domain ends somewhere."""
    if facts.theta == 0 or is_averaged(facts):
        return None
    return (
        "With its noise it may lie outside of the range of the values, as a mean stay of −3 days does: publish it as "
        "it is, or say that it was cut, since numbers that are cut are wrong on average."
    )


def usefulness(facts: NoiseFacts) -> str:
    """What an analyst can still learn, in one sentence."""
    if facts.theta == 0:
        return "Values are published as they are, so an analyst loses nothing."
    hundred = next(a for a in facts.analyst if a.releases == 100)
    beside = ""
    if facts.spread > 0:
        beside = f", beside a natural spread of {number(facts.spread, 3)}"
    if not is_averaged(facts):
        return f"The published number is off by about {number(facts.theta, 3)}{beside}. {beyond(facts)}"
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
        f"{share_of(share)} less mean square error for the same guarantee."
    )


def for_each_row(calibration: Calibration) -> str | None:
    """That the guarantee is for one row, where people seem to have several; None where nothing says so."""
    stated = next((one for one in calibration.findings if one.code == "rows-of-one-person"), None)
    if stated is not None:
        most, column = stated["most"], stated["column"]
        return (
            f"That is for one row: people have up to {most} each ({column!r}), independent of one "
            f"another given the secret as the data holder states, and then all rows of one person move odds by the "
            f"{most}-th power at most."
        )
    names = [repr(one["column"]) for one in calibration.findings if one.code == "several-rows"]
    if not names:
        return None
    return (
        f"That is for one row: people seem to have several here ({' and '.join(names)}), and all rows of one person "
        "together reveal more."
    )


def in_guesses(promise: Guarantee, bare: float = 1.0) -> str | None:
    """The guarantee in the other language: odds and budgets as guesses; None where it bounds none.

    `bare` is how often the best guess from a true value is right: a bound above that says less than the priors do.

    >>> from takifugu.problems import Odds
    >>> in_guesses(Odds(3))
    'In other words (α = ∞, ε = 1.099): of two secrets that seemed equally likely, no guess is right with a \
probability above 75 %.'
    >>> in_guesses(Odds(10_000))
    'In other words (α = ∞, ε = 9.21): of two secrets that seemed equally likely, a guess may be right with a chance \
of more than 99.9 %. That hides little.'
    >>> in_guesses(Odds(3), 0.62)
    'In other words (α = ∞, ε = 1.099): of two secrets that seemed equally likely, no guess is right with a \
probability above 75 %. That holds whatever the priors are; by those given, even a true value allows 62 % at most.'
    """
    if not promise.is_provable:
        return None
    guess = promise.best_guess()
    told = f"of two secrets that seemed equally likely, no guess is right with a probability above {at_most(guess)}"
    if guess > _HARDLY_BOUND:
        told = "of two secrets that seemed equally likely, a guess may be right with a chance of more than 99.9 %"
    end = " That hides little." if guess > _HIDES_LITTLE else ""
    if bare <= guess and bare <= _HARDLY_BOUND:
        most = at_most(bare)
        end = f" That holds whatever the priors are; by those given, even a true value allows {most} at most."
    rare, factor = "", promise.odds_factor(0.05)
    if promise.most_odds is None and math.isfinite(factor):
        rare = f", and odds grow by more than {number(factor, 3)} in one release of 20 at most"
    here = f" ({in_letters(promise)})" if promise.most_odds is not None else ""
    return f"In other words{here}: {told}{rare}.{end}"


def priors(facts: NoiseFacts) -> str | None:
    """That the noise hangs on the prior, and what to do; None where it does not."""
    others = facts.other_priors
    if not hangs_on_prior(facts.theta, facts.spread, others):
        return None
    told = ", ".join(f"{number(one.theta)} for {one.prior}" for one in others)
    return (
        f"This depends on the prior: θ is {number(facts.theta)} here, {told}. Nobody knows which an adversary "
        "believes: ask for confidence, give all of them as beliefs, of which the worst counts, or publish from a list."
    )


def order(facts: Facts) -> str | None:
    """What to say where more values go out than the order is good for, of noise on numbers."""
    answer = facts.calibration.answer
    of_group = answer is not None and not answer.is_of_rows  # one is published, whichever of the groups it is about
    values = 1 if of_group else values_published(facts.calibration.problem)
    advised = recommended_alpha(values)
    bare = isinstance(facts, NoiseFacts) and facts.theta == 0
    if bare or facts.alpha >= advised or not facts.calibration.guarantee.is_provable:
        return None
    if values == 1:
        return (
            f"For one published answer start from α = {advised}: at α = {number(facts.alpha)} a release that tells far "
            f"more than ε is not rare enough."
        )
    return (
        f"For {values:,} published values start from α = {advised}: at α = {number(facts.alpha)} some of so many will "
        "be outliers, and reveal more than a single value would. Rows from a list, with odds, need no such choice."
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
    """Whether the guarantee is for the population or for these rows; None for priors that rest on no rows."""
    evidence = facts.calibration.evidence
    if evidence is not None:
        # With as many digits as the bound on the best channel is told: with fewer, this could seem to be below it.
        before, after = (number(error) for error in (evidence.without, facts.calibration.error))
        cost = f" It costs {after} in place of {before}." if before != after else ""
        return f"That is for the population, not only for these rows: {evidence.sentence}.{cost}"
    if not any(belief.rows for belief in facts.calibration.beliefs):
        return None
    if facts.calibration.channel.publishes == "values" and not hasattr(facts.calibration.guarantee, "alpha"):
        return "That is for an adversary who believes these rows’ own shares, and not for the population."
    return (
        "That is for an adversary who believes these rows’ own shares; "
        "with confidence=0.95 it would be for the population too."
    )


# A finite channel in sentences: the same on the command line and in the report.

_PARTS = 4  # outcomes that a sentence names one by one
_CLOSE = 0.01  # a gap to the best possible that is not worth a word
_VALUE = 40  # characters of a value in a sentence


def channel_answer(facts: ChannelFacts) -> str:
    """What was found."""
    thing = "value" if len(facts.columns) == 1 else "row"
    if facts.share_changed == 0:
        return f"Nothing needs to change: every {thing} can be published as it is, and {promise(facts)}."
    return (
        f"Publishing each {thing} through this channel hides {what(facts)}: {promise(facts)}. "
        f"{share_of(facts.share_changed, first=True)} of the {thing}s are published as another."
    )


def promise(facts: ChannelFacts) -> str:
    """What is kept, as a clause."""
    asked = facts.calibration.guarantee
    within = f"every pair stays within the budget ({in_letters(asked)})"
    most = asked.most_odds
    if most is None:
        return within
    odds = f"no published value changes the odds of any pair by more than a factor of {number(most)}"
    return odds if math.isinf(getattr(asked, "alpha", 0.0)) else f"{within}, and {odds}"


def worst_odds(facts: ChannelFacts) -> str:
    """The most telling value of all."""
    if math.isinf(facts.worst_odds):
        return "Some published value occurs under one secret of a pair and never under the other."
    return (
        f"The most telling published value of all changes the odds of a pair by a factor of "
        f"{number(facts.worst_odds, 3)}, whatever they were before."
    )


def cost(facts: ChannelFacts) -> str:
    """What an analyst loses, in one sentence or one for each column."""
    if len(facts.columns) == 1:
        return f"{_column(facts.columns[0], 'the values', first=True)}."
    told = "; ".join(f"{clean(one.name)}: {_column(one, 'its values')}" for one in facts.columns)
    return f"{share_of(facts.share_changed, first=True)} of the rows are published with a change. By column, {told}."


def _column(column: ColumnFacts, of: str, *, first: bool = False) -> str:
    changed = f"{share_of(column.share_changed, first=first)} of {of} are published as another"
    if column.error is None:
        return changed
    beside = f", beside a natural spread of {number(column.spread, 3)}" if column.spread else ""
    return f"{changed}, and one is off by about {number(column.error, 3)}{beside}"


def best(facts: ChannelFacts) -> str | None:
    """That nothing can be better, and by how much at most; None where that is not known."""
    bound, error = facts.lower_bound, facts.error
    if bound is None or error == 0:
        return None
    if bound <= 0:
        return "No bound was found on what the best channel would lose: a better one may exist."
    wished = _wished(facts)
    unit, least, here = {
        "square": ("has a mean square error below", at_least(bound), number(error)),
        "absolute": ("is off by less than", at_least(bound), number(error)),
        "change": ("changes fewer than", f"{at_least(100 * bound, 3)} % of the values", f"{number(100 * error, 3)} %"),
        "columns": ("costs less a row than", at_least(bound), number(error)),
    }.get(facts.loss_name, ("loses less than", at_least(bound), number(error)))
    if facts.calibration.evidence is not None and not radius(facts):  # what is proved is about these rows alone
        alone = f"No channel between these values that keeps this guarantee for these rows alone{wished} {unit} {least}"
        return f"{alone}; this one, which keeps it for the population: {here}."
    gap = facts.gap or 0.0
    near = "none does better than that" if gap < _CLOSE else f"at most {at_most(gap)} of that could be saved"
    none = f"No channel between these values that keeps this guarantee{wished} {unit} {least}"
    return f"{none}; this one: {here}. So {near}."


def _wished(facts: ChannelFacts) -> str:
    """What the best channel had to do beside keeping the guarantee: without it, another might be better."""
    asked = dict(facts.calibration.options)
    kept = {"marginal": " and leaves the histogram as it is", "mean": " and leaves the mean as it is"}
    more = any(asked.get(wish) for wish in ("unbiased", "forbidden", "diagonal"))
    # With a radius the bound is about channels that meet the condition of the proof, which is sufficient, no more.
    near = " with the same margin for every prior that near" if radius(facts) else ""
    return near + kept.get(facts.keeps or "", "") + (" and does what else was asked" if more else "")


def counted_as(facts: ChannelFacts) -> str | None:
    """How the columns of a row are weighed against one another."""
    if facts.loss_name != "columns":
        return None
    return "Numbers count as their square error in units of their column’s variance, labels as one for each change."


def gaussian(facts: ChannelFacts) -> str | None:
    """What Gaussian noise would have cost; None where the values are no numbers or it was not computed."""
    only = facts.columns[0] if len(facts.columns) == 1 else None
    noise = next((c for c in facts.costs if c.label.startswith("Gaussian")), None)
    if only is None or noise is None or noise.error is None or not only.error:
        return None
    least = "at least " if noise.is_least else ""
    if not math.isinf(facts.alpha) and getattr(facts.calibration.guarantee, "odds", None) is None:
        times = noise.error / only.error
        compared = f", {number(times, 2)} times as much" if times > 1.05 and not noise.is_weaker else ""
        alone = " for these rows alone" if noise.is_weaker else ""
        spread = only.spread or math.inf
        worse = f" The mean, said of everybody, is off by less: {number(spread, 3)}." if noise.error > spread else ""
        return (
            f"Gaussian noise that keeps the same guarantee{alone} has a standard deviation of "
            f"{least}{number(noise.error, 3)}: a value would be off by that much{compared}.{worse}"
        )
    weaker = next((c for c in facts.costs if c.label == "Best channel"), None)
    beside = (
        f" The best channel for that weaker guarantee errs {number(weaker.error, 3)}."
        if weaker is not None and weaker.error is not None
        else ""
    )
    none = "No Gaussian noise of any size bounds the odds, since the ratio of two Gaussian densities has no bound."
    promise = f"{noise.promise}{',' * (facts.calibration.evidence is not None)}"
    if noise.error == 0:
        return f"{none} The weaker {promise} asks for none at all: it lets rare values tell.{beside}"
    return f"{none} Even the weaker {promise} would take noise of {least}{number(noise.error, 3)}.{beside}"


def stronger(calibration: Calibration) -> str:
    """What would hold against who knows all other rows, by the number of rows alone; with what is not guaranteed."""
    rows = sum(calibration.beliefs[0].rows.get(secret, 0) for secret in calibration.pairs.secrets)
    few = f"for a table of fewer than {FEW_FOR_COUNTS:,} rows, one fitted to another table or to no data"
    other = few if rows < FEW_FOR_COUNTS else "one fitted to private counts"
    return f"This channel guarantees nothing against an adversary who knows all other rows; {other} does."


def all_other_rows(facts: ChannelFacts) -> str | None:
    """What the default does not guarantee, and what a guarantee that does would cost this table."""
    if not is_of_own_rows(facts.calibration):
        return None
    costs = {one.label: one for one in facts.costs}
    own, others = costs.get("This channel"), [(costs[one], way) for one, way in STRONGER.items() if one in costs]
    if own is None or not others:
        return stronger(facts.calibration)
    if own.error is not None:
        told = [f"{number(one.error or 0.0, 3)} {way}" for one, way in others]
        price = f"a value would be off by about {' or '.join(told)}, instead of {number(own.error, 3)}"
    else:
        told = [f"{percent(one.changed or 0.0)} {way}" for one, way in others]
        price = f"of the values {' or '.join(told)} would change, instead of {percent(own.changed or 0.0)}"
    return f"{stronger(facts.calibration)} For the same total, against them too, {price}."


def averages(facts: ChannelFacts) -> str:
    """What stays true on average, over everybody."""
    told = []
    for one in facts.columns:
        name = f"{clean(one.name)}: " if len(facts.columns) > 1 else ""
        parts = [f"the histogram shifts by {share_of(one.histogram_shift)}"]
        if one.mean_shift is not None:
            size = abs(one.mean_shift)
            tiny = one.spread is not None and size < 1e-4 * one.spread
            parts.append("the mean stays" if tiny else f"the mean moves by {number(one.mean_shift, 2)}")
        if one.correlation is not None:
            parts.append(f"true and published values correlate with {number(one.correlation, 3)}")
        told.append(f"{name}{', '.join(parts)}")
    kept = {
        "marginal": " The channel was asked to leave the histogram as it is.",
        "mean": " The channel was asked to leave the mean as it is.",
    }.get(facts.keeps or "", "")
    return f"Over everybody, {'; '.join(told)}.{kept}"


def radius(facts: ChannelFacts) -> str | None:
    """For which priors beside those shown the guarantee holds."""
    wide = dict(facts.calibration.options).get("radius", 0.0)
    reach = max(wide) if isinstance(wide, tuple) else wide
    if not reach:
        return None
    each = "up to " if isinstance(wide, tuple) else ""
    return (
        f"The guarantee holds not only for the priors shown but for every prior within a total variation of "
        f"{each}{number(float(reach), 3)} of them."
    )


def sentences(column: ColumnFacts, *, most: int) -> list[str]:
    """What becomes of 100 people with each value: of many values, those with which most people change."""
    moved = column.mass * (1.0 - column.kept)
    order = np.argsort(-moved, kind="stable")
    chosen = sorted(order[:most].tolist()) if len(column.inputs) > most else range(len(column.inputs))
    return [_sentence(column, k) for k in chosen]


def _sentence(column: ColumnFacts, row: int) -> str:
    value = column.inputs[row]
    people = hundred(column.matrix[row])
    stays = next((k for k, output in enumerate(column.outputs) if key(output) == key(value)), None)
    order = sorted(range(len(people)), key=lambda k: (k != stays, -people[k], k))
    seen = [k for k in order if people[k]]
    rare = any(column.matrix[row, k] > 0 and not people[k] for k in order)
    shown = seen if len(seen) <= _PARTS + 1 else seen[:_PARTS]
    parts = []
    for k in shown:
        count = ("nearly all" if rare else "all") if people[k] == 100 else str(people[k])
        ending = "s" if people[k] == 1 else ""
        become = f"become{ending} {clean(named(column.outputs[k]), _VALUE)}"
        parts.append(f"{count} stay{ending}" if k == stays else f"{count} {become}")
    if rest := sum(people[k] for k in seen[len(shown) :]):
        parts.append(f"{rest} become one of {len(seen) - len(shown)} others")
    return f"Of 100 people with {clean(named(value), _VALUE)}, {', '.join(parts)}."


def figures(facts: ChannelFacts) -> list[tuple[str, str, str]]:
    """The figures that count: a name, a value and a note each."""
    only = facts.columns[0] if len(facts.columns) == 1 else None
    found = [("Changed", percent(facts.share_changed), f"of the {'values' if only else 'rows'}")]
    if only is not None and only.error is not None:
        beside = f"beside a spread of {number(only.spread, 3)}" if only.spread else "root mean square"
        found.append(("Off by", number(only.error, 3), beside))
    found += [
        ("Worst odds", f"×{number(facts.worst_odds, 3)}", "of any published value"),
        facts.guess_figure,
        facts.worst_figure,
    ]
    return found
