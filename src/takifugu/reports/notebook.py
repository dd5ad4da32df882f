"""What a notebook shows: small tables and pictures, self-contained and escaped, in the colours of the notebook."""

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import count
from typing import Any

import numpy as np

from takifugu.audits import Audit
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate
from takifugu.channels import GaussianNoise, ListChannel, named
from takifugu.divergences import PrivacyCurve
from takifugu.errors import InputError
from takifugu.estimates import Comparison
from takifugu.laws import Finite, Mixture, VectorMixture
from takifugu.mechanisms import closest
from takifugu.problems import Problem, Renyi
from takifugu.queries import Beliefs, Priors
from takifugu.reports import pages as vector_page
from takifugu.reports import words
from takifugu.reports import words as channel_words
from takifugu.reports.blocks import items, paragraphs, survival_chart, survival_table, table
from takifugu.reports.channel_facts import ChannelFacts, ColumnFacts, column_facts
from takifugu.reports.charts import before_after_chart, channel_chart, laws_chart, privacy_chart
from takifugu.reports.charts import picture as axis_picture
from takifugu.reports.common import TOO_FEW, is_shown
from takifugu.reports.facts import NoiseFacts, VectorFacts, facts_of
from takifugu.reports.html import audit_charts
from takifugu.reports.svg import NOTEBOOK, Picture, stacked
from takifugu.reports.text import clean, number, percent

_MOST_ROWS = 12  # of a table
_MOST_DRAWN = 6  # pictures in one
_SENTENCES = 5
_MOST_NUMBERS = 4  # of a vector
_numbers = count(1)  # pictures of one page need names of their own

_QUICK = 20_000  # pairs of points
_PRIVATE = "Describes the people in the data: keep it private."


def html(thing: object) -> str | None:
    """HTML for whatever can be shown; None for the rest."""
    inside = _shown(thing)
    return None if inside is None else f'<div style="{NOTEBOOK}">{inside}</div>'


@singledispatch
def _shown(thing: object) -> str | None:
    return None


@singledispatch
def plot(thing: object) -> Picture:
    """The picture of a law, priors, a channel, a calibration, a certificate or an audit.

    Raises:
        InputError: there is none of such a thing.
    """
    raise InputError(f"there is no plot of a {type(thing).__name__}")


@plot.register
def _(thing: Calibration) -> Picture:
    facts = facts_of(thing, compare=False)
    if isinstance(facts, ChannelFacts):
        return _of_columns(facts.columns)
    if isinstance(facts, VectorFacts):
        axes = facts.axes[: 1 if facts.unshown else _MOST_DRAWN]
        return stacked([axis_picture(facts, axis, f"tk-axis-{k}") for k, axis in enumerate(axes)])
    assert isinstance(facts, NoiseFacts)
    return before_after_chart(facts)


@plot.register
def _(thing: ChannelCertificate) -> Picture:
    return plot(thing.calibration)


@plot.register
def _(thing: Certificate) -> Picture:
    """As the calibration that it proves, without its guarantee, which is not what is drawn."""
    beliefs = [dict(zip(thing.secrets, laws, strict=True)) for laws in thing.beliefs]
    pairs = [(thing.secrets[a], thing.secrets[b]) for a, b in thing.pairs]
    problem, channel = Problem.of(beliefs, pairs), GaussianNoise(thing.theta)
    promise = Renyi(thing.alpha, thing.epsilon)
    return plot(Calibration(problem, promise, channel, thing.mechanism, closest(problem, channel, promise).place))


@plot.register
def _(thing: PrivacyCurve) -> Picture:
    return privacy_chart(thing)


@plot.register
def _(thing: ListChannel) -> Picture:
    return _of_columns(_alike(thing))


@plot.register
def _(thing: Finite | Mixture | VectorMixture) -> Picture:
    return laws_chart({"": thing})


@plot.register
def _(thing: Priors) -> Picture:
    return laws_chart(thing, thing.rows)


@plot.register
def _(thing: Beliefs) -> Picture:
    return plot(thing[0])


@plot.register
def _(thing: Audit) -> Picture:
    return stacked(audit_charts(thing))


@plot.register
def _(thing: Comparison) -> Picture:
    return survival_chart(thing)


def _of_columns(columns: Sequence[ColumnFacts]) -> Picture:
    return stacked([channel_chart(one, name=f"tk-channel-{k}") for k, one in enumerate(columns[:_MOST_DRAWN])])


def _alike(channel: ListChannel) -> tuple[ColumnFacts, ...]:
    """The columns of a channel of which nobody's law is known: every value weighs alike."""
    even = np.full(len(channel.inputs), 1.0 / len(channel.inputs))
    return column_facts(channel, even, (even, even), None)


@_shown.register
def _calibration(calibration: Calibration) -> str | None:
    try:
        facts = facts_of(calibration, compare=_is_quick(calibration))
    except InputError:  # a channel that has no pictures yet
        return None
    if isinstance(facts, ChannelFacts):
        rows = channel_words.figures(facts)
        column = facts.columns[0]
        picture = str(channel_chart(column, name=_name()))
        told = (channel_words.channel_answer, channel_words.best, channel_words.gaussian)
        more = [say(facts) for say in told]
        people = channel_words.sentences(column, most=_SENTENCES)
        below = items(people) + paragraphs("takifugu.report(calibration) tells the rest. " + _PRIVATE)
        return paragraphs(*more) + table("", ("", "", ""), rows) + picture + below
    if isinstance(facts, VectorFacts):
        opening = paragraphs(vector_page.answer(facts), words.inference(facts))
        figures = table("", ("", "", ""), vector_page.figures(facts))
        rest = paragraphs("takifugu.report(calibration) tells the rest. " + _PRIVATE)
        return opening + figures + str(axis_picture(facts, facts.axes[0], _name())) + rest
    if not isinstance(facts, NoiseFacts):
        return None
    picture = str(replace(before_after_chart(facts), name=_name()))
    sentences = (words.answer(facts), words.inference(facts), words.usefulness(facts))
    return paragraphs(*sentences) + picture + paragraphs("takifugu.report(calibration) tells the rest. " + _PRIVATE)


def _is_quick(calibration: Calibration) -> bool:
    """Whether what Gaussian noise would have cost is found before a reader looks up: about half a second."""
    channel = calibration.channel
    places = 2 * len(calibration.pairs) * len(calibration.beliefs)
    return channel.publishes == "values" and places * len(channel.as_list().inputs) ** 2 <= _QUICK


@_shown.register
def _channel(channel: ListChannel) -> str:
    columns = _alike(channel)
    told = paragraphs(f"A channel from {len(channel.inputs):,} to {len(channel.outputs):,} values, each weighed alike.")
    pictures = "".join(str(channel_chart(column, name=_name())) for column in columns[:3])
    return told + pictures + items(channel_words.sentences(columns[0], most=_SENTENCES))


@_shown.register
def _law(law: Finite) -> str:
    order = np.argsort(-law.weights, kind="stable")[:_MOST_ROWS]
    if len(law) <= _MOST_ROWS:
        order = np.sort(order)
    rows = [(clean(named(law.values[k])), percent(float(law.probabilities[k]))) for k in order]
    more = len(law) - len(rows)
    caption = f"Finite law on {len(law):,} values" + (f", {more:,} rarer ones not shown" if more else "")
    return table(caption, ("Value", "Share"), rows)


@_shown.register
def _mixture(law: Mixture) -> str:
    return _components("Mixture", law)


@_shown.register
def _vectors(law: VectorMixture) -> str:
    return _components(f"Mixture of vectors of {law.dimension} numbers", law)


def _components(kind: str, law: Mixture | VectorMixture) -> str:
    order = np.argsort(-law.weights, kind="stable")[:_MOST_ROWS]
    rows = [(percent(float(law.weights[k])), _few(law.means[k]), _few(law.component_stds[k])) for k in order]
    more = f", the {len(rows)} largest shown" if len(law) > len(rows) else ""
    head = ("Weight", "Mean", "Spread")
    return table(f"{kind}, {len(law):,} component{'s' * (len(law) != 1)}{more}", head, rows)


def _few(numbers: Any) -> str:
    found = np.ravel(numbers)
    return ", ".join(number(float(x)) for x in found[:_MOST_NUMBERS]) + (", …" if len(found) > _MOST_NUMBERS else "")


@_shown.register
def _comparison(comparison: Comparison) -> str:
    told = f"{comparison.sentence[:1].upper()}{comparison.sentence[1:]}."
    why = f"Not corrected: {comparison.why}." if comparison.why else None
    return paragraphs(told) + survival_table(comparison) + paragraphs(why, _PRIVATE)


def publication(sentences: Sequence[str], calibration: Calibration) -> str:
    """A table that was published: its page of words, and the channel that made it."""
    private = paragraphs("The table and the redacted certificate are for the public; everything else is private.")
    return f'<div style="{NOTEBOOK}">{paragraphs(*sentences)}{private}</div>' + (html(calibration.channel) or "")


@_shown.register
def _priors(priors: Priors) -> str:
    kept = priors.rows
    rows = [
        (clean(name), f"{kept[name]:,}" if name in kept else "", _told(law) if is_shown(kept.get(name)) else TOO_FEW)
        for name, law in priors.items()
    ]
    about = f" of {priors.answer}" if priors.answer is not None else ""
    caption = f"Priors{about}{f' where {priors.label}' if priors.label else ''}"
    return _cut(caption, ("Secret", "Rows", "Law"), rows) + _findings(priors)


@_shown.register
def _beliefs(beliefs: Beliefs) -> str:
    rows = [
        (clean(one.label or "nothing known"), f"{sum(one.rows.values()):,}" if one.rows else "", f"{len(one):,}")
        for one in beliefs
    ]
    return _cut(f"{len(beliefs):,} beliefs", ("Known", "Rows", "Secrets"), rows) + _findings(beliefs)


@_shown.register
def _certificate(certificate: Certificate | ChannelCertificate) -> str:
    largest = max((one.upper for one in certificate.losses), default=certificate.epsilon)
    rows = [
        ("Mechanism", certificate.mechanism),
        ("Proved", certificate.claim),
        ("Largest loss", f"{number(largest)} at most"),
        ("SHA-256", certificate.sha256),
    ]
    if (population := getattr(certificate, "population", None)) is not None:
        rows.insert(2, ("Population", population))
    # A digest is longer than a notebook is wide.
    wide = table("Certificate", ("", ""), rows).replace("<td", '<td style="overflow-wrap:anywhere;white-space:normal"')
    return wide + paragraphs(f"{_PRIVATE} .redacted() is for the public.")


def _told(law: Any) -> str:
    if law.space == "values":
        if law.is_numeric:
            return f"{len(law):,} values, mean {number(law.mean)}, spread {number(law.std)}"
        most = int(np.argmax(law.weights))
        share = percent(float(law.probabilities[most]))
        return f"{len(law):,} values, most often {clean(named(law.values[most]), 30)} ({share})"
    if law.space == "vector":
        return f"{law.dimension} numbers, means {_few(law.mean)}, {len(law):,} component{'s' * (len(law) != 1)}"
    mean, std = getattr(law, "mean", None), getattr(law, "std", None)
    if isinstance(mean, float) and isinstance(std, float):
        return f"mean {number(mean)}, spread {number(std)}, {len(law):,} component{'s' * (len(law) != 1)}"
    return clean(repr(law), 80)


def _cut(caption: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    more = len(rows) - _MOST_ROWS
    if more > 0:
        caption += f" (the first {_MOST_ROWS} of {len(rows):,})"
    return table(caption, head, rows[:_MOST_ROWS])


def _findings(thing: object) -> str:
    found = [finding.sentence for finding in getattr(thing, "findings", ())]
    return (items(found) if found else "") + paragraphs(_PRIVATE)


def _name() -> str:
    return f"tk-shown-{next(_numbers)}"
