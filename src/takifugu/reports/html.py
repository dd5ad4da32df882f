"""The report: one HTML file with everything in it, made from the facts and nothing else."""

import datetime
import math
import os
from collections.abc import Callable
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takifugu.atomic import write_text
from takifugu.audits import Attack, Audit
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate
from takifugu.errors import InputError
from takifugu.problems import Renyi
from takifugu.reports import pages as channel_page
from takifugu.reports import pages as noise_page
from takifugu.reports import pages as vector_page
from takifugu.reports.blocks import bars, cards, columns, paragraphs, say, scroll, section, style, table
from takifugu.reports.channel_facts import ChannelFacts
from takifugu.reports.common import Facts
from takifugu.reports.facts import NoiseFacts, VectorFacts, facts_of
from takifugu.reports.svg import PICTURE_WIDTH, Panel, Picture, Scale, legend
from takifugu.reports.text import clean, escape, number, percent, share_of

if TYPE_CHECKING:
    from takifugu.problems import Pair


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

    Returns:
        The page as HTML.

    Raises:
        InputError: where the file cannot be written, or the certificate is of another calibration.

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
    """Whether a certificate proves this very calibration: the same guarantee, channel, secrets, pairs and laws.

    A page that called something certified on the strength of another proof would be worse than none.
    """
    if isinstance(certificate, ChannelCertificate):
        return certificate.calibration == calibration
    names = calibration.pairs.secrets
    place = {secret: k for k, secret in enumerate(names)}
    pairs = {frozenset((place[a], place[b])) for a, b in calibration.pairs}
    return (
        (Renyi(certificate.alpha, certificate.epsilon), certificate.theta, certificate.mechanism)
        == (calibration.guarantee, getattr(calibration, "theta", None), calibration.mechanism)
        and [str(secret) for secret in certificate.secrets] == [str(secret) for secret in names]
        and {frozenset(pair) for pair in certificate.pairs} == pairs
        and certificate.beliefs == tuple(tuple(belief[name] for name in names) for belief in calibration.beliefs)
    )


# An audit as a page: the verdict, the attacks, and three kinds of picture. Everything from data is escaped.


_LONG = 2_000
_MOST_PAIRS = 6  # pairs with a picture of their own
_CURVES = 6
_ENOUGH = 24  # attacks whose bound is drawn


def render_audit(audit: Audit) -> str:
    """The whole page, which loads nothing from elsewhere."""
    from takifugu import __version__

    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="referrer" content="no-referrer">\n<title>Audit of a release</title>\n'
        f"<style>\n{style()}</style>\n</head>\n<body>\n<header>\n<h1>Audit of a release</h1>\n"
        '<div class="warning" role="note"><p><strong>Auditor’s copy: do not publish.</strong> It shows how well each '
        f"group can be told from the others.</p></div>\n</header>\n<main>\n{fragment(audit)}</main>\n<footer>\n"
        "<p>A bound holds with the stated confidence for all attacks together, over rows that are independent given "
        "the secret. That no attack succeeds is evidence and no proof.</p>\n"
        f"<p>Made by Takifugu {escape(__version__)}. This file loads nothing from elsewhere.</p>\n"
        "</footer>\n</body>\n</html>\n"
    )


def fragment(audit: Audit) -> str:
    """The sections of the page, for a notebook too."""
    said = [f"{one[:1].upper()}{one[1:].rstrip('.')}." for one in audit.sentences]
    lead, *rest = (escape(one, _LONG) for one in said)
    unsettled = "Not contradicted" if audit.misplaced is None else "Not the rows of this table"
    verdict = "Contradicted" if audit.contradicted else unsettled
    paragraphs = "".join(f"<p>{one}</p>" for one in rest)
    pairs = list(dict.fromkeys(one.pair for one in audit.attacks))
    pictures = [str(roc_chart(audit, pair, k)) for k, pair in enumerate(pairs[:_MOST_PAIRS])]
    figures = f'<dl class="figures">{_figures(audit)}</dl>'
    return "\n".join(
        (
            section("tk-verdict", verdict, f'<p class="lead">{lead}</p>{paragraphs}{figures}'),
            section(
                "tk-bounds",
                "What was shown, beside what was guaranteed",
                columns(str(bound_chart(audit)), _guesses(audit)),
            ),
            section("tk-curves", "How well each pair can be told apart", columns(*pictures)),
            section("tk-attacks", "Every attack", scroll("Every attack", _table(audit))),
        )
    )


def _figures(audit: Audit) -> str:
    guess = audit.best_guess
    return cards(
        (
            ("Shown, at least", number(audit.lower_bound, 3), f"with {100 * audit.confidence:g} % confidence"),
            ("Guaranteed, at most", f"ε = {number(audit.guarantee.epsilon, 3)}", str(audit.guarantee)),
            ("Best guess", percent(guess), f"{percent(guess.low)} to {percent(guess.high)}; luck is 50 %"),
            ("Allowed by the guarantee", percent(audit.guess_limit), f"{audit.rows:,} rows were audited"),
        )
    )


def _guesses(audit: Audit) -> str:
    """For each pair a bar from a random guess to certainty, of the true values and of what was published."""
    rows = []
    before = dict(audit.before)
    for pair in list(dict.fromkeys(one.pair for one in audit.attacks))[:_MOST_PAIRS]:
        best = max((one.guess for one in audit.attacks if one.pair == pair), default=None)
        for told, guess, index in (("true values", before.get(pair), 1), ("as published", best, 0)):
            if guess is not None:
                rows.append((f"{_pair(pair)}, {told}", percent(guess), 2 * (guess - 0.5), index))
    rows.append(("at most, by the guarantee", percent(audit.guess_limit), 2 * (audit.guess_limit - 0.5), 4))
    return bars("Chance of guessing right; an empty bar is a random guess", rows)


def audit_charts(audit: Audit) -> list[Picture]:
    """What `.plot()` of an audit shows: what every attack showed, and how well the strongest of them does."""
    strongest = max(audit.attacks, key=lambda one: one.lower_bound)
    return [bound_chart(audit), roc_chart(audit, strongest.pair)]


def bound_chart(audit: Audit) -> Picture:
    """The bound of each attack, largest first, and the line that none may pass."""
    shown = sorted(audit.attacks, key=lambda one: -one.lower_bound)[:_ENOUGH]
    bounds = np.array([one.lower_bound for one in shown])
    limit = audit.guarantee.epsilon
    top = 1.15 * max(limit, float(bounds.max()))
    marks, used = legend([(0, "shown at least"), (1, "guaranteed at most")], 8, 18, PICTURE_WIDTH - 16)
    panel = Panel(Scale(-0.7, len(shown) - 0.3, 46.0, 466.0), Scale(0.0, top, 240 + used, used + 32))
    panel.axes(x_label="attacks, strongest first", y_label="loss in nats", x_numbers=False)
    panel.bars(np.arange(len(shown), dtype=np.float64), bounds, 0, width=min(24.0, 380 / len(shown)), opacity=0.8)
    panel.curve(np.array([-0.7, len(shown) - 0.3]), np.array([limit, limit]), 1)
    strongest = shown[0]
    title = "The loss that each attack shows, beside the one guaranteed"
    told = f"The largest is {number(bounds[0], 3)}, by {strongest.attacker}; guaranteed was {number(limit, 3)}."
    return Picture("tk-bound", title, told, PICTURE_WIDTH, 282 + used, [*marks, *panel.parts])


def roc_chart(audit: Audit, pair: "Pair", index: int = 0) -> Picture:
    """How many rows of one secret are found for how many of the other that are taken for it."""
    mine = sorted((one for one in audit.attacks if one.pair == pair), key=lambda one: -one.guess)[:_CURVES]
    marks, used = legend([(k, clean(_named(one), 40)) for k, one in enumerate(mine)], 8, 18, PICTURE_WIDTH - 16)
    panel = Panel(Scale(0.0, 1.0, 46.0, 466.0), Scale(0.0, 1.0, 300 + used, used + 36))
    a, b = (clean(name, 24) for name in pair)
    panel.axes(x_label=f"share of {b} taken for {a}", y_label=f"share of {a} found")
    line = np.linspace(0.0, 1.0, 101)
    panel.curve(line, _allowed(line, audit), 4, filled=True, width=1.2)
    for k, one in reversed(list(enumerate(mine))):
        x, y = np.array(one.roc).T
        panel.curve(x, y, k, width=2.4 if k == 0 else 1.6)
    panel.note("shaded: what the guarantee allows")
    best = mine[0]
    told = f"The best attack, {_named(best)}, guesses right in {share_of(best.guess)} of the cases."
    return Picture(f"tk-roc-{index}", f"Telling {a} from {b}", told, PICTURE_WIDTH, 342 + used, [*marks, *panel.parts])


def _allowed(y: np.ndarray, audit: Audit) -> np.ndarray:
    """The most that an event of probability y may have under the other secret (proofs/odds.md, claim 3)."""
    alpha, epsilon = audit.guarantee.alpha, audit.guarantee.epsilon
    power = 1.0 if math.isinf(alpha) else (alpha - 1) / alpha
    most = np.minimum(1.0, (math.exp(min(epsilon, 700.0)) * y) ** power)
    # The other way round: what is left out of the event obeys the same.
    rest = 1.0 - (math.exp(-min(epsilon, 700.0)) * (1.0 - y) ** (1.0 / power))
    return np.asarray(np.minimum(most, rest))


def _named(attack: Attack) -> str:
    return f"{attack.attacker}: {attack.sees}{attack.where}"


def _pair(pair: "Pair") -> str:
    return " or ".join(clean(name, 24) for name in pair)


def _table(audit: Audit) -> str:
    attacks = sorted(audit.attacks, key=lambda one: -one.lower_bound)
    rows = [
        (
            one.attacker,
            clean(one.sees + one.where, 80),
            _pair(one.pair),
            f"{one.rows[0]:,} and {one.rows[1]:,}",
            f"{percent(one.guess)} ({percent(one.guess.low)} to {percent(one.guess.high)})",
            number(one.lower_bound, 3),
        )
        for one in attacks
    ]
    above = [k for k, one in enumerate(attacks) if one.lower_bound > audit.guarantee.epsilon]
    head = ("Attacker", "Saw", "Pair", "Rows", "Right guesses", "Loss at least")
    return table("Attacks, strongest first; those above the guarantee in bold", head, rows, chosen=above)
