"""What noise on vectors brings to a report."""

from typing import Any

from takifugu.reports import words
from takifugu.reports.blocks import columns, guesses, odds_table, paragraphs, proof_card, scroll, section, table
from takifugu.reports.few_rows import TOO_FEW, too_few
from takifugu.reports.spread_of_losses import spread_of_losses
from takifugu.reports.text import clean, number
from takifugu.reports.vector_charts import picture
from takifugu.reports.vector_facts import VectorFacts

_MOST_ROWS = 40  # secrets that a table lists
_MOST_AXES = 12  # of a table
_MOST_PICTURES = 4
_UNBIASED = (
    "The noise has mean zero and a known covariance, so what is computed from the numbers stays unbiased and its error "
    "can be stated."
)


def parts(facts: VectorFacts) -> dict[str, Any]:
    """The parts of the page: see `takifugu.reports.html.Page`."""
    return {
        "answer": answer(facts),
        "beside": (words.order(facts), words.population(facts)),
        "figures": (
            ("Numbers", f"{len(facts.axes)}", "published as one vector"),
            ("Budget", f"ε = {number(facts.epsilon)}", f"at order α = {number(facts.alpha)}"),
            facts.guess_figure,
            proof_card(facts.certificate_sha256),
        ),
        "sections": "\n".join((_assumed(facts), _done(facts), spread_of_losses(facts), _noise(facts))),
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
        f"within the budget (α = {number(facts.alpha)}, ε = {number(facts.epsilon)})."
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


def _assumed(facts: VectorFacts) -> str:
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


def _done(facts: VectorFacts) -> str:
    a, b = (clean(name) for name in facts.worst_pair)
    shown = facts.axes[:_MOST_PICTURES]
    seen = "Each picture is of one number alone; what the numbers tell together is in the figures beside them."
    pictures = "".join(picture(facts, axis, f"tk-axis-{k}") for k, axis in enumerate(shown))
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
            + paragraphs("These chances and odds were found by simulation: read two digits of them.", kind="quiet"),
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
        columns(scroll("The noise on each number", noise), scroll("Correlations of the noise", together)),
    )
