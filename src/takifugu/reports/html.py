"""The report: one HTML file with everything in it, made from the facts and nothing else."""

import datetime
import os
from collections.abc import Callable
from importlib.resources import files
from string import Template
from typing import NamedTuple

from takifugu.atomic import write_text
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate
from takifugu.errors import InputError
from takifugu.reports import pages as channel_page
from takifugu.reports import pages as noise_page
from takifugu.reports import pages as vector_page
from takifugu.reports.blocks import cards, paragraphs, say, style
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.common import Facts
from takifugu.reports.facts import VectorFacts, facts_of
from takifugu.reports.noise_facts import NoiseFacts


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
        style=style(),
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
        return Page(**noise_page.noise_parts(facts))
    if isinstance(facts, ChannelFacts):
        return Page(**channel_page.channel_parts(facts))
    if isinstance(facts, VectorFacts):
        return Page(**vector_page.vector_parts(facts))
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


# `tk.report`: a calibration as one HTML file.


def report(
    calibration: Calibration,
    path: str | os.PathLike[str] | None = None,
    certificate: Certificate | ChannelCertificate | None = None,
    *,
    question: str | None = None,
    words: Callable[[str], str] = str,
) -> str:
    """The report on a calibration: one HTML page that loads nothing from elsewhere. It describes the priors.

    Args:
        calibration: what `calibrate` returned.
        path: where to write it, readable for its owner alone; by default it is only returned.
        certificate: what `certify` made of this calibration. The page then says that it is proved, and by which file.
        question: the page's first line; by default it follows from what is published.
        words: turns sentences that name arguments of Python into the words of another door.

    >>> from takifugu import Finite, calibrate
    >>> page = report(calibrate({"a": Finite([0, 1], [3, 1]), "b": Finite([0, 1], [1, 3])}, odds=2))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(calibration, Calibration):
        raise InputError(f"report takes the result of calibrate, got {type(calibration).__name__}")
    digest = None
    if certificate is not None:
        if not isinstance(certificate, Certificate | ChannelCertificate):
            raise InputError(f"certificate must be what certify returned, got {type(certificate).__name__}")
        if not is_about(certificate, calibration):
            raise InputError("the certificate is about another calibration: certify this one, or leave it out")
        digest = certificate.sha256
    page = render(
        facts_of(calibration, question=question, certificate_sha256=digest), dated=datetime.date.today(), words=words
    )
    if path is not None:
        write_text(page, path, private=True)
    return page


def is_about(certificate: Certificate | ChannelCertificate, calibration: Calibration) -> bool:
    """Whether a certificate proves this very calibration: the same promise, channel, secrets, pairs and laws.

    A page that called something certified on the strength of another proof would be worse than none.
    """
    if isinstance(certificate, ChannelCertificate):
        return certificate.calibration == calibration
    names = calibration.pairs.secrets
    place = {secret: k for k, secret in enumerate(names)}
    pairs = {frozenset((place[a], place[b])) for a, b in calibration.pairs}
    return (
        (certificate.alpha, certificate.epsilon, certificate.theta, certificate.mechanism)
        == (calibration.alpha, calibration.epsilon, getattr(calibration, "theta", None), calibration.mechanism)
        and [str(secret) for secret in certificate.secrets] == [str(secret) for secret in names]
        and {frozenset(pair) for pair in certificate.pairs} == pairs
        and certificate.beliefs == tuple(tuple(belief[name] for name in names) for belief in calibration.beliefs)
    )
