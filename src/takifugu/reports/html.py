"""The report: one HTML file with everything in it, made from the facts and nothing else."""

import datetime
from collections.abc import Callable
from importlib.resources import files
from string import Template
from typing import NamedTuple

from takifugu.errors import InputError
from takifugu.reports import channel_page, noise_page, vector_page
from takifugu.reports.blocks import cards, paragraphs, say
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.common import Facts
from takifugu.reports.noise_facts import NoiseFacts
from takifugu.reports.vector_facts import VectorFacts


class Page(NamedTuple):
    """What a kind of channel brings to a report; the rest is the same for all."""

    answer: str
    beside: tuple[str | None, ...]
    figures: tuple[tuple[str, str, str], ...]
    sections: str
    published: str
    symbols: str
    unproved: str


def render(facts: Facts, *, dated: datetime.date | None = None, words: Callable[[str], str] = str) -> str:
    """The page. It describes the priors, so it is for the auditor; everything that came from data is escaped.

    `words` turns a sentence that names arguments into the words of the door that the page was asked for at.
    """
    from takifugu import __version__

    folder = files("takifugu.reports")
    frame = Template(folder.joinpath("report.html").read_text(encoding="utf-8"))
    page = page_of(facts)
    return frame.substitute(
        style=folder.joinpath("report.css").read_text(encoding="utf-8"),
        title=say(f"Privacy report: {facts.question}"),
        question=say(facts.question),
        published=say(page.published),
        answer=say(page.answer),
        beside=paragraphs(*(words(text) for text in page.beside if text)),
        figures=cards(page.figures),
        sections=page.sections,
        findings=_findings(facts, words),
        proof=_proof(facts, page.unproved),
        symbols=say(page.symbols),
        version=say(__version__),
        dated="" if dated is None else f" on {dated.day} {dated:%B %Y}",
    )


def page_of(facts: Facts) -> Page:
    """The parts that the kind of channel brings."""
    if isinstance(facts, NoiseFacts):
        return Page(**noise_page.parts(facts))
    if isinstance(facts, ChannelFacts):
        return Page(**channel_page.parts(facts))
    if isinstance(facts, VectorFacts):
        return Page(**vector_page.parts(facts))
    raise InputError(f"there is no page for {type(facts).__name__}")


def _findings(facts: Facts, words: Callable[[str], str]) -> str:
    if not facts.findings:
        return "<p>Nothing stood out.</p>"
    tags = {"warning": "Take care", "note": "Note"}
    inside = "".join(
        f'<li><span class="tag">{tags[finding.level]}</span>{say(_sentence(words(finding.sentence)))}</li>'
        for finding in facts.findings
    )
    return f'<ul class="findings">{inside}</ul>'


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _proof(facts: Facts, unproved: str) -> str:
    if facts.certificate_sha256 is None:
        return (
            f"<p>{say(unproved)} <code>takifugu certify</code> makes a certificate that anyone with the priors can "
            "check.</p>"
        )
    return (
        "<p>A certificate proves, with error bounds on every operation, that the loss of each pair is within the "
        "budget in both directions. Prove it again with <code>takifugu verify</code>; the digest (SHA-256) must be</p>"
        f"<p><code>{say(facts.certificate_sha256)}</code></p>"
    )
