"""A finite channel in sentences: the same on the command line and in the report."""

import math

import numpy as np

from takifugu.channels.sentences import hundred, named
from takifugu.laws.values import key
from takifugu.problems.guarantee import Renyi
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.columns import ColumnFacts
from takifugu.reports.text import at_least, at_most, clean, number, percent, share_of
from takifugu.reports.words import what

_PARTS = 4  # outcomes that a sentence names one by one
_CLOSE = 0.01  # a gap to the best possible that is not worth a word
_VALUE = 40  # characters of a value in a sentence


def answer(facts: ChannelFacts) -> str:
    """What was found."""
    thing = "value" if len(facts.columns) == 1 else "row"
    if facts.share_changed == 0:
        return f"Nothing needs to change: every {thing} can be published as it is, and {promise(facts)}."
    return (
        f"Publishing each {thing} through this table of chances hides {what(facts)}: {promise(facts)}. "
        f"{share_of(facts.share_changed, first=True)} of the {thing}s are published as another."
    )


def promise(facts: ChannelFacts) -> str:
    """What is kept, as a clause."""
    asked = facts.calibration.guarantee
    within = f"every pair stays within the budget (α = {number(asked.alpha)}, ε = {number(asked.epsilon)})"
    most = asked.most_odds if isinstance(asked, Renyi) else None
    if most is None:
        return within
    odds = f"no published value changes the odds of any pair by more than a factor of {number(most)}"
    return odds if math.isinf(asked.alpha) else f"{within}, and {odds}"


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
        alone = f"No channel between these values that keeps this promise for these rows alone{wished} {unit} {least}"
        return f"{alone}; this one, which keeps it for the population: {here}."
    gap = facts.gap or 0.0
    near = "none does better than that" if gap < _CLOSE else f"at most {at_most(gap)} of that could be saved"
    return (
        f"No channel between these values that keeps this promise{wished} {unit} {least}; this one: {here}. So {near}."
    )


def _wished(facts: ChannelFacts) -> str:
    """What the best channel had to do beside keeping the promise: without it, another might be better."""
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
        return (
            f"Gaussian noise that keeps the same promise{alone} has a standard deviation of "
            f"{least}{number(noise.error, 3)}: a value would be off by that much{compared}."
        )
    weaker = next((c for c in facts.costs if c.label == "Best channel"), None)
    beside = (
        f" The best channel for that weaker promise errs {number(weaker.error, 3)}."
        if weaker is not None and weaker.error is not None
        else ""
    )
    none = "No Gaussian noise of any size bounds the odds, since the tails of a bell know no bound."
    promise = f"{noise.promise}{',' * (facts.calibration.evidence is not None)}"
    if noise.error == 0:
        return f"{none} The weaker {promise} asks for none at all: it lets rare values tell.{beside}"
    return f"{none} Even the weaker {promise} would take noise of {least}{number(noise.error, 3)}.{beside}"


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
    """For which priors beside those shown the promise holds."""
    wide = dict(facts.calibration.options).get("radius", 0.0)
    reach = max(wide) if isinstance(wide, tuple) else wide
    if not reach:
        return None
    each = "up to " if isinstance(wide, tuple) else ""
    return (
        f"The promise holds not only for the priors shown but for every prior within a total variation of "
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
