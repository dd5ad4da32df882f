"""What a finite channel brings to a report: its pictures and what they are told with."""

from typing import Any

from takifugu.certificates.redacted_channel import tells_probabilities
from takifugu.reports import channel_charts, words
from takifugu.reports import channel_words as told
from takifugu.reports.blocks import (
    bars,
    columns,
    guesses,
    items,
    odds_table,
    paragraphs,
    proof_card,
    scroll,
    section,
    table,
)
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.few_rows import TOO_FEW, too_few
from takifugu.reports.spread_of_losses import spread_of_losses
from takifugu.reports.text import clean, escape, number, percent

_MOST_ROWS = 40  # secrets that a table lists
_MOST_COLUMNS = 6  # of a row, with pictures of their own
_SENTENCES = 10


def parts(facts: ChannelFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    figures = [one for one in told.figures(facts) if not one[0].startswith("Worst pair")]
    return {
        "answer": told.answer(facts),
        "beside": (
            words.for_each_row(facts.calibration),
            words.in_guesses(facts.calibration.guarantee),
            words.population(facts),
            told.radius(facts),
            told.best(facts),
            told.counted_as(facts),
            told.gaussian(facts),
        ),
        "figures": (*figures, proof_card(facts.certificate_sha256)),
        "sections": "\n".join((_assumed(facts), _done(facts), _inferred(facts), spread_of_losses(facts), _use(facts))),
        "published": _may_be_published(facts),
        "symbols": "At α = ∞ the promise is about odds: e^ε is the factor. ",
        "unproved": "The channel was checked in exact arithmetic when it was made, and no proof was kept.",
    }


def _assumed(facts: ChannelFacts) -> str:
    rows = [
        (
            s.name,
            "" if s.rows is None else f"{s.rows:,}",
            *(("", "") if s.mean is None or s.std is None else (number(s.mean), number(s.std))),
            TOO_FEW if s.commonest is None or s.share is None else f"{clean(s.commonest, 30)} ({percent(s.share)})",
        )
        for s in facts.secrets[:_MOST_ROWS]
    ]
    caption = "The priors in numbers"
    if len(facts.secrets) > _MOST_ROWS:
        caption += f" (the first {_MOST_ROWS} of {len(facts.secrets):,})"
    head = ["Secret", "Rows", "Mean", "Spread", "Commonest"]
    for k in (3, 2, 1):  # columns that would stay empty are left out
        if not any(row[k] for row in rows):
            head.pop(k)
            rows = [(*row[:k], *row[k + 1 :]) for row in rows]  # type: ignore[misc]
    return section(
        "priors",
        "What is assumed",
        paragraphs(
            f"What an adversary who knows the groups expects of an answer, secret by secret: one of {facts.values:,} "
            f"{'values' if len(facts.columns) == 1 else 'rows'}, with these chances.{words.held(facts)}"
        ),
        scroll(caption, table(caption, head, rows)),
    )


def _done(facts: ChannelFacts) -> str:
    several = len(facts.columns) > 1
    parts = []
    for k, column in enumerate(facts.columns[:_MOST_COLUMNS]):
        heading = f"<h3>{escape(column.name)}</h3>\n" if several else ""
        which = "" if len(column.inputs) <= _SENTENCES else " Those that change most people:"
        people = f"What becomes of 100 people with each value.{which}"
        sentences = items(told.sentences(column, most=_SENTENCES))
        parts.append(
            heading
            + columns(channel_charts.channel_chart(column, name=f"tk-channel-{k + 1}"), paragraphs(people) + sentences)
        )
    left = len(facts.columns) - _MOST_COLUMNS
    rest = f"{left:,} more columns are in the table below and not drawn." if left > 0 else None
    return section(
        "channel",
        "What the channel does",
        paragraphs(
            "Each value is published as itself or as another, by chance. The darker a square, the more people of its "
            "row are published with the value of its column; on the diagonal values stay as they are.",
            rest,
        ),
        *parts,
    )


def _inferred(facts: ChannelFacts) -> str:
    a, b = (clean(name) for name in facts.worst_pair)
    where = f" where {clean(facts.belief, 120)}" if facts.belief else ""
    seen = "The more alike their bars, the less a published value tells."
    charts = "".join(
        channel_charts.worst_pair_chart(column, facts.worst_pair, name=f"tk-pair-{k + 1}")
        for k, column in enumerate(facts.columns[:_MOST_COLUMNS])
    )
    if facts.unshown:
        seen, charts = f"No bars are drawn: {too_few(facts.unshown)}.", ""
    return section(
        "inferred",
        "What an adversary can still infer",
        columns(
            paragraphs(f"The pair hardest to hide is {a} and {b}{where}. {seen}") + charts,
            paragraphs(words.inference(facts))
            + guesses(facts.adversary, before="From the true value")
            + paragraphs(told.worst_odds(facts), words.odds(facts))
            + odds_table(facts.adversary),
        ),
    )


def _use(facts: ChannelFacts) -> str:
    rows = [
        (
            column.name,
            percent(column.share_changed),
            "" if column.error is None else number(column.error, 3),
            "" if column.spread is None else number(column.spread, 3),
            percent(column.error / column.spread) if column.error is not None and column.spread else "",
        )
        for column in facts.columns
    ]
    by_column = ""
    if len(rows) > 1 or facts.columns[0].is_numeric:
        head = ("Column", "Changed", "Off by", "Spread", "Off by, of spread")
        by_column = scroll("Errors by column", table("Errors by column", head, rows))
    return section(
        "use",
        "What an analyst can still learn, and what privacy costs",
        columns(
            paragraphs(told.cost(facts), told.averages(facts))
            + by_column
            + paragraphs(_about_probabilities(facts), kind="quiet"),
            _costs(facts),
        ),
    )


def _costs(facts: ChannelFacts) -> str:
    if len(facts.costs) < 2:
        return ""
    numeric = all(one.error is not None for one in facts.costs)
    shown = [
        (
            f"{one.label}{_note(one.promise, one.is_weaker)}",
            (one.error if numeric else one.changed) or 0.0,
            one.is_least,
            one.is_chosen,
        )
        for one in facts.costs
        if numeric or not one.label.startswith("Gaussian")
    ]
    most = max(size for _, size, _, _ in shown) or 1.0
    unit = "A published value is off by" if numeric else "Share of the values changed"
    rows = (
        (
            name,
            f"{'≥ ' if is_least else ''}{number(size, 3) if numeric else percent(size)}",
            size / most,
            0 if is_chosen else 4,
        )
        for name, size, is_least, is_chosen in shown
    )
    noises = [one for one in facts.costs if one.label.startswith("Gaussian") and not numeric and one.error]
    others = [
        f"{one.label}, which this row could not do with less, would take a standard deviation of "
        f"{number(one.error or 0.0, 3)} for {one.promise}."
        for one in noises
    ]
    chosen = next((size for _, size, _, is_chosen in shown if is_chosen), 0.0)
    if not numeric and any(size < chosen for _, size, _, _ in shown) and any(one.is_numeric for one in facts.columns):
        # It was not asked for the fewest changes, and a bar that is longer than another's would look like a mistake.
        others.insert(0, "Numbers count by how far they move: the channel may change more rows, each of them by less.")
    return f"<h3>{unit}</h3>{bars(unit, rows)}{paragraphs(*others)}"


def _note(promise: str, is_weaker: bool) -> str:
    return f", for the weaker {promise}" if is_weaker else ""


def _may_be_published(facts: ChannelFacts) -> str:
    probabilities = "the probabilities of the channel, " if tells_probabilities(facts.calibration) else ""
    return f"{probabilities}the promise, the mechanism, and the redacted certificate"


def _about_probabilities(facts: ChannelFacts) -> str:
    if tells_probabilities(facts.calibration):
        return (
            "The probabilities may be published, since they come from another table's priors: an analyst can correct "
            "for them."
        )
    return (
        "The probabilities are for you alone: they were fitted to rows and tell of them. Analysts can be given "
        "estimates that you make, or shares that are kept."
    )
