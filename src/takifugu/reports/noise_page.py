"""What Gaussian noise brings to a report: its three pictures and what they are told with."""

import math
from typing import Any

from takifugu.reports import charts, words
from takifugu.reports.blocks import columns, guesses, odds_table, paragraphs, proof_card, scroll, section, table
from takifugu.reports.few_rows import TOO_FEW, too_few
from takifugu.reports.noise_facts import NoiseFacts, SecretFacts
from takifugu.reports.spread_of_losses import spread_of_losses
from takifugu.reports.text import clean, number

_MOST_ROWS = 40  # secrets that a table lists


def parts(facts: NoiseFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    return {
        "answer": words.answer(facts),
        "beside": (
            words.in_guesses(facts.calibration.guarantee),
            words.order(facts),
            words.priors(facts),
            words.population(facts),
            words.saving(facts),
        ),
        "figures": (
            ("Noise θ", number(facts.theta), "standard deviation"),
            ("Budget", f"ε = {number(facts.epsilon)}", f"at order α = {number(facts.alpha)}"),
            facts.guess_figure,
            proof_card(facts.certificate_sha256),
        ),
        "sections": "\n".join((_assumed(facts), _done(facts), spread_of_losses(facts), _use(facts), _cost(facts))),
        "published": "the noise θ, the budget (α, ε), the mechanism, and the redacted certificate",
        "symbols": "θ is the standard deviation of the noise. ",
        "unproved": "The noise was computed to well beyond the digits shown, and not proved.",
    }


def _assumed(facts: NoiseFacts) -> str:
    return section(
        "priors",
        "What is assumed",
        paragraphs(_priors_words(facts)),
        columns(charts.density_chart(facts), scroll("The priors in numbers", _priors_table(facts))),
    )


def _done(facts: NoiseFacts) -> str:
    a, b = (clean(name) for name in facts.worst_pair)
    seen = "The more their curves overlap, the less a published value tells."
    chart = charts.before_after_chart(facts)
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
            + paragraphs(words.odds(facts))
            + odds_table(facts.adversary),
        ),
    )


def _use(facts: NoiseFacts) -> str:
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
    return section(
        "cost",
        "What privacy costs",
        columns(
            paragraphs("Less budget means more noise. The point is the choice this report is about.")
            + charts.noise_chart(facts),
            scroll("The mechanisms compared", _comparison_table(facts)),
        ),
    )


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
    return f"{secret.components:,} {'point' if secret.is_discrete else 'bell'}{'s' * (secret.components != 1)}"


def _comparison_table(facts: NoiseFacts) -> str:
    rows, chosen = [], None
    for i, one in enumerate(facts.comparisons):
        if one.mechanism == facts.calibration.mechanism:
            chosen = i
        note = " (weaker promise)" if one.is_weaker else " (no finite answer)" if math.isinf(one.theta) else ""
        least = "≥ " * one.is_least
        rows.append((one.label + note, one.told(), f"{least}{number(one.theta * one.theta)}"))
    head = ("Mechanism", "Noise θ", "Square error θ²")
    caption = "The same budget, by other rules"
    if any(one.is_least for one in facts.comparisons):
        caption += " (≥: what the pair closest to the limit asks for alone)"
    return table(caption, head, rows, chosen=chosen)
