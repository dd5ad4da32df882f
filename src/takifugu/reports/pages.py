"""What Gaussian noise brings to a report: its three pictures and what they are told with."""

import math
from typing import Any

from takifugu.certificates import tells_probabilities
from takifugu.estimates import compared_laws
from takifugu.reports import charts, words
from takifugu.reports import words as told
from takifugu.reports.blocks import (
    MOST_FIGURES,
    bars,
    columns,
    guesses,
    items,
    odds_table,
    paragraphs,
    proof_card,
    scroll,
    section,
    survival_chart,
    survival_table,
    table,
)
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.charts import picture
from takifugu.reports.common import TOO_FEW, Facts, too_few
from takifugu.reports.facts import NoiseFacts, SecretFacts, VectorFacts
from takifugu.reports.summary import publication_of
from takifugu.reports.svg import PICTURE_WIDTH
from takifugu.reports.text import clean, escape, in_letters, number, percent

# The section on every other pair and belief: a matrix of losses, and the beliefs closest to the limit.


def spread_of_losses(facts: Facts) -> str:
    """Nothing where there is one pair and one belief, or too many to be looked at."""
    sides = [side for side in (_pairs(facts), _beliefs(facts)) if side]
    if not sides:
        return ""
    return section("others", "How close the others come", columns(*sides) if len(sides) > 1 else sides[0])


def budget_of(facts: Facts) -> tuple[str, str]:
    """The budget for a card: its ε, and the order or what else it is about."""
    guarantee = facts.calibration.guarantee
    if not hasattr(guarantee, "alpha"):
        return facts.limit, str(guarantee)
    return facts.limit, f"at order α = {number(facts.alpha)}"


def losses_words(facts: Facts) -> str:
    """What the picture of every pair's loss shows."""
    found = facts.pair_losses
    left = f" {found.left_out:,} secrets whose pairs lose less are left out." if found and found.left_out else ""
    under = f" where {clean(facts.belief)}" if facts.belief else ""
    return (
        f"The loss of each of {len(facts.calibration.pairs):,} pairs{under}, the secret of the row against that of the "
        f"column, in percent of the limit {facts.limit}.{left}"
    )


def _pairs(facts: Facts) -> str:
    matrix = charts.loss_matrix(facts)
    return "" if matrix is None else f"{paragraphs(losses_words(facts))}{matrix}"


def _beliefs(facts: Facts) -> str:
    if not facts.beliefs:
        return ""
    count = len(facts.calibration.beliefs)
    told = (
        f"The guarantee holds for each of {count:,} beliefs that an adversary may start from. The one closest to the "
        f"limit is “{clean(facts.belief, 120)}”."
    )
    rows = [(one.label, " / ".join(clean(name, 24) for name in one.pair), number(one.loss)) for one in facts.beliefs]
    caption = "The beliefs closest to the limit" if len(rows) < count else "The beliefs"
    return paragraphs(told) + scroll(caption, table(caption, ("Known", "Worst pair", "Loss"), rows, chosen=[0]))


_MOST_ROWS = 40  # secrets that a table lists


def noise_parts(facts: NoiseFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    return {
        "answer": words.answer(facts),
        "beside": (
            words.in_guesses(facts.calibration.guarantee, facts.adversary.guess_before),
            words.order(facts),
            words.priors(facts),
            words.population(facts),
            words.saving(facts),
        ),
        "figures": (
            ("Noise θ", number(facts.theta), "standard deviation"),
            ("Budget", *budget_of(facts)),
            facts.guess_figure,
            proof_card(facts.certificate_sha256),
        ),
        "sections": "\n".join(
            (_noise_assumed(facts), _noise_done(facts), spread_of_losses(facts), _noise_use(facts), _cost(facts))
        ),
        "published": "the noise θ, the budget (α, ε), the mechanism, and the redacted certificate",
        "symbols": "θ is the standard deviation of the noise. ",
        "unproved": "The noise was computed to well beyond the digits shown, and not proved.",
    }


def _noise_assumed(facts: NoiseFacts) -> str:
    return section(
        "priors",
        "What is assumed",
        paragraphs(_priors_words(facts)),
        columns(str(charts.density_chart(facts)), scroll("The priors in numbers", _priors_table(facts))),
    )


def _noise_done(facts: NoiseFacts) -> str:
    a, b = (clean(name) for name in facts.worst_pair)
    seen = "The more their curves overlap, the less a published value tells."
    chart = str(charts.before_after_chart(facts))
    if facts.unshown:
        seen, chart = f"No curves are drawn: {too_few(facts.unshown)}.", ""
    return section(
        "noise",
        "What the noise does",
        columns(
            paragraphs(f"The pair hardest to hide is {a} and {b}. {seen}") + chart,
            "<h3>What an adversary can still infer</h3>\n"
            + paragraphs(words.inference(facts))
            + guesses(facts.adversary, before="Without noise")
            + paragraphs(words.odds(facts), words.approximately(facts))
            + odds_table(facts.adversary),
        ),
    )


def _noise_use(facts: NoiseFacts) -> str:
    if not words.is_averaged(facts):
        return section("use", "What an analyst can still learn", paragraphs(words.usefulness(facts)))
    rows = [(f"{one.releases:,}", number(one.error)) for one in facts.analyst]
    return section(
        "use",
        "What an analyst can still learn",
        paragraphs(words.usefulness(facts)),
        scroll("Errors of means", table("Error of a mean, from the noise", ("Published values", "Error"), rows)),
        paragraphs(
            "The noise has mean zero and a known spread, so means stay unbiased and their errors can be stated.",
            kind="quiet",
        ),
    )


def _cost(facts: NoiseFacts) -> str:
    chart, compared = charts.noise_chart(facts), scroll("The mechanisms compared", _comparison_table(facts))
    if chart is not None:
        told = paragraphs("Less budget means more noise. The point is the choice this report is about.")
        compared = columns(f"{told}{chart}", compared)
    return section("cost", "What privacy costs", compared)


def _priors_words(facts: NoiseFacts) -> str:
    shown = "The curves are the priors"
    if facts.histograms:
        shown += ", the bars the data they were fitted to"
    more = len(facts.secrets) - len(facts.densities)
    rest = f" {more:,} more secret{'s are' if more > 1 else ' is'} not drawn." if more > 0 else ""
    return (
        f"What an adversary who knows the groups expects of an answer, secret by secret. {shown}.{rest}"
        f"{words.held(facts)}"
    )


def _priors_table(facts: NoiseFacts) -> str:
    rows = [
        (
            s.name,
            "" if s.rows is None else f"{s.rows:,}",
            "" if s.mean is None else number(s.mean),
            "" if s.std is None else number(s.std),
            _shape(s),
        )
        for s in facts.secrets[:_MOST_ROWS]
    ]
    caption = "The priors in numbers"
    if len(facts.secrets) > _MOST_ROWS:
        caption += f" (the first {_MOST_ROWS} of {len(facts.secrets):,})"
    return table(caption, ("Secret", "Rows", "Mean", "Spread", "Shape"), rows)


def _shape(secret: SecretFacts) -> str:
    if secret.components is None:
        return TOO_FEW
    kind = "point" if secret.is_discrete else "Gaussian component"
    return f"{secret.components:,} {kind}{'s' * (secret.components != 1)}"


def _comparison_table(facts: NoiseFacts) -> str:
    rows, chosen = [], []
    for i, one in enumerate(facts.comparisons):
        if one.mechanism == facts.calibration.mechanism:
            chosen = [i]
        note = " (weaker guarantee)" if one.is_weaker else " (no finite answer)" if math.isinf(one.theta) else ""
        least = "≥ " * one.is_least
        rows.append((one.label + note, one.told(), f"{least}{number(one.theta * one.theta)}"))
    head = ("Mechanism", "Noise θ", "Square error θ²")
    caption = "The same budget, by other rules"
    if any(one.is_least for one in facts.comparisons):
        caption += " (≥: what the pair closest to the limit asks for alone)"
    return table(caption, head, rows, chosen=chosen)


# What a finite channel brings to a report: its pictures and what they are told with.

_MOST_COLUMNS = 6  # of a row, with pictures of their own
_SENTENCES = 10


def channel_parts(facts: ChannelFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    figures = [one for one in told.figures(facts) if not one[0].startswith("Worst pair")]
    return {
        "answer": told.channel_answer(facts),
        "beside": (
            words.for_each_row(facts.calibration),
            words.in_guesses(facts.calibration.guarantee, facts.adversary.guess_before),
            words.population(facts),
            *publication_of(facts).details,
            told.radius(facts),
            told.best(facts),
            told.counted_as(facts),
            told.gaussian(facts),
            told.all_other_rows(facts),
        ),
        "figures": (*figures, proof_card(facts.certificate_sha256)),
        "sections": "\n".join(
            (
                _channel_assumed(facts),
                _channel_done(facts),
                _inferred(facts),
                spread_of_losses(facts),
                _channel_use(facts),
                _survives(facts),
            )
        ),
        "published": _may_be_published(facts),
        "symbols": "At α = ∞ the guarantee is about odds: e^ε is the factor. ",
        "unproved": "The channel was checked in exact arithmetic when it was made, and no proof was kept.",
    }


def _channel_assumed(facts: ChannelFacts) -> str:
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
            f"{'values' if len(facts.columns) == 1 else 'rows'}, with these probabilities.{words.held(facts)}"
        ),
        scroll(caption, table(caption, head, rows)),
    )


def _channel_done(facts: ChannelFacts) -> str:
    several = len(facts.columns) > 1
    parts = []
    for k, column in enumerate(facts.columns[:_MOST_COLUMNS]):
        heading = f"<h3>{escape(column.name)}</h3>\n" if several else ""
        which = "" if len(column.inputs) <= _SENTENCES else " Those that change most people:"
        people = f"What becomes of 100 people with each value.{which}"
        sentences = items(told.sentences(column, most=_SENTENCES))
        parts.append(
            heading
            + columns(str(charts.channel_chart(column, name=f"tk-channel-{k + 1}")), paragraphs(people) + sentences)
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
    pictures = "".join(
        str(charts.worst_pair_chart(column, facts.worst_pair, name=f"tk-pair-{k + 1}"))
        for k, column in enumerate(facts.columns[:_MOST_COLUMNS])
    )
    if facts.unshown:
        seen, pictures = f"No bars are drawn: {too_few(facts.unshown)}.", ""
    return section(
        "inferred",
        "What an adversary can still infer",
        columns(
            paragraphs(f"The pair hardest to hide is {a} and {b}{where}. {seen}") + pictures,
            paragraphs(words.inference(facts))
            + guesses(facts.adversary, before="From the true value")
            + paragraphs(told.worst_odds(facts), words.odds(facts))
            + odds_table(facts.adversary),
        ),
    )


def _channel_use(facts: ChannelFacts) -> str:
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


def _survives(facts: ChannelFacts) -> str:
    comparison = compared_laws(facts.calibration)
    told = f"{comparison.sentence[:1].upper()}{comparison.sentence[1:]}"
    return section(
        "survives",
        "What survives",
        paragraphs(
            f"{told}, by the laws and on average over all that may be drawn. Columns that are passed through take no "
            "part. Whoever publishes can correct what is changed, where the channel can be undone: see estimate."
        ),
        columns(
            str(survival_chart(comparison, width=PICTURE_WIDTH, most=MOST_FIGURES)),
            scroll("What survives", survival_table(comparison)),
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
    return f"{probabilities}the guarantee, the mechanism, and the redacted certificate"


def _about_probabilities(facts: ChannelFacts) -> str:
    if tells_probabilities(facts.calibration):
        return (
            "The probabilities may be published, since they come from another table's priors: an analyst can correct "
            "for them."
        )
    return (
        "The probabilities are for you alone: they were fitted to rows and describe them. Analysts can be given "
        "estimates that you make, or shares that are kept."
    )


# What noise on vectors brings to a report.

_MOST_AXES = 12  # of a table
_MOST_PICTURES = 4
_UNBIASED = (
    "The noise has mean zero and a known covariance, so what is computed from the numbers stays unbiased and its error "
    "can be stated."
)


def vector_parts(facts: VectorFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    return {
        "answer": answer(facts),
        "beside": (words.order(facts), words.population(facts)),
        "figures": (
            ("Numbers", f"{len(facts.axes)}", "published as one vector"),
            ("Budget", *budget_of(facts)),
            facts.guess_figure,
            proof_card(facts.certificate_sha256),
        ),
        "sections": "\n".join((_vector_assumed(facts), _vector_done(facts), spread_of_losses(facts), _noise(facts))),
        "published": "the standard deviation of the noise on each number, the budget (α, ε), the mechanism, and the "
        "redacted certificate",
        "symbols": "",
        "unproved": "The noise was computed and checked in floating point, and no certificate was made.",
    }


def answer(facts: VectorFacts) -> str:
    """What was found."""
    noise = ", ".join(f"{number(axis.noise)} on {clean(axis.name, 40)}" for axis in facts.axes[:_MOST_PICTURES])
    more = f" and {len(facts.axes) - _MOST_PICTURES} more" if len(facts.axes) > _MOST_PICTURES else ""
    return (
        f"Gaussian noise on the vector as a whole, of standard deviations {noise}{more}, hides {words.what(facts)}, "
        f"within the budget ({in_letters(facts.calibration.guarantee)})."
    )


def figures(facts: VectorFacts) -> list[tuple[str, str, str]]:
    """Each number's noise, beside how much it varies by itself."""
    return [
        (clean(axis.name, 40), number(axis.noise), f"noise, beside a natural spread of {number(axis.spread, 3)}")
        for axis in facts.axes[:_MOST_AXES]
    ]


def usefulness(facts: VectorFacts) -> str:
    """What an analyst can still learn."""
    told = [
        f"{clean(axis.name, 40)} is off by about {number(axis.noise, 3)}, beside a natural spread of "
        f"{number(axis.spread, 3)}"
        for axis in facts.axes[:_MOST_PICTURES]
    ]
    more = f", and so on for {len(facts.axes) - _MOST_PICTURES} more" if len(facts.axes) > _MOST_PICTURES else ""
    return f"Of one answer, {'; '.join(told)}{more}. {_UNBIASED}"


def _vector_assumed(facts: VectorFacts) -> str:
    shown = facts.axes[:_MOST_AXES]
    rows = [
        (name, "" if tally is None else f"{tally:,}", *_means([axis.means[k] for axis in shown]))
        for k, (name, tally) in enumerate(zip(facts.secrets, facts.rows, strict=True))
    ][:_MOST_ROWS]
    head = ("Secret", "Rows", *(clean(axis.name, 40) for axis in shown))
    return section(
        "priors",
        "What is assumed",
        paragraphs(
            "What an adversary who knows the groups expects of the vector, secret by secret: normal laws of all "
            f"numbers together, or mixtures of them. Here are their means.{words.held(facts)}"
        ),
        scroll("The means of the priors", table("The means of the priors", head, rows)),
    )


def _means(means: list[float | None]) -> list[str]:
    told = [number(mean) for mean in means if mean is not None]
    return told or [TOO_FEW, *[""] * (len(means) - 1)]


def _vector_done(facts: VectorFacts) -> str:
    a, b = (clean(name) for name in facts.worst_pair)
    shown = facts.axes[:_MOST_PICTURES]
    seen = "Each picture is of one number alone; what the numbers tell together is in the figures beside them."
    pictures = "".join(str(picture(facts, axis, f"tk-axis-{k}")) for k, axis in enumerate(shown))
    if facts.unshown:
        seen, pictures = f"No curves are drawn: {too_few(facts.unshown)}.", ""
    return section(
        "noise",
        "What the noise does",
        columns(
            paragraphs(f"The pair hardest to hide is {a} and {b}. {seen}") + pictures,
            "<h3>What an adversary can still infer</h3>\n"
            + paragraphs(words.inference(facts))
            + guesses(facts.adversary, before="Without noise")
            + paragraphs(words.odds(facts))
            + odds_table(facts.adversary)
            + paragraphs(
                "These probabilities and odds were found by simulation: read two digits of them.", kind="quiet"
            ),
        ),
    )


def _noise(facts: VectorFacts) -> str:
    shown = facts.axes[:_MOST_AXES]
    noise = table(
        "The noise on each number",
        ("Number", "Noise", "Natural spread"),
        [(clean(axis.name, 40), number(axis.noise), number(axis.spread, 3)) for axis in shown],
    )
    together = table(
        "How the noise goes together (correlations)",
        ("", *(clean(axis.name, 40) for axis in shown)),
        [
            (clean(axis.name, 40), *(number(float(facts.correlation[k, j]), 3) for j in range(len(shown))))
            for k, axis in enumerate(shown)
        ],
    )
    return section(
        "use",
        "What an analyst can still learn",
        paragraphs(f"{_UNBIASED} Its correlations point where the secrets differ: keep them private."),
        columns(
            scroll("The noise on each number", noise),
            str(charts.correlation_chart(facts)) + scroll("Correlations of the noise", together),
        ),
    )
