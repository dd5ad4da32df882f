"""The report: one HTML file with everything in it, made from the facts and nothing else."""

import datetime
import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from string import Template

from takifugu.reports import charts, words
from takifugu.reports.facts import Facts
from takifugu.reports.svg import colour
from takifugu.reports.text import clean, escape, number, percent

_LONG = 2_000  # characters of a sentence: its parts were shortened already
_MOST_ROWS = 40  # secrets that a table lists


def render(facts: Facts, *, dated: datetime.date | None = None) -> str:
    """The page. It describes the priors, so it is for the auditor; everything that came from data is escaped."""
    from takifugu import __version__

    folder = files("takifugu.reports")
    page = Template(folder.joinpath("report.html").read_text(encoding="utf-8"))
    a, b = (clean(name) for name in facts.worst_pair)
    saving = words.saving(facts)
    return page.substitute(
        style=folder.joinpath("report.css").read_text(encoding="utf-8"),
        title=_say(f"Privacy report: {facts.question}"),
        question=_say(facts.question),
        answer=_say(words.answer(facts)),
        saving="" if saving is None else f"<p>{_say(saving)}</p>",
        figures=_figures(facts),
        priors_words=_say(_priors_words(facts)),
        density_chart=charts.density_chart(facts),
        priors_table=_priors_table(facts),
        pair_words=_say(
            f"The pair hardest to hide is {a} and {b}. The more their curves overlap, the less a published value tells."
        ),
        before_after_chart=charts.before_after_chart(facts),
        inference=_say(words.inference(facts)),
        guesses=_guesses(facts),
        odds=_say(words.odds(facts)),
        odds_table=_odds_table(facts),
        usefulness=_say(words.usefulness(facts)),
        analyst_table=_table(
            "Error of a mean, from the noise",
            ("Published values", "Error"),
            [(f"{one.releases:,}", number(one.error)) for one in facts.analyst],
        ),
        noise_chart=charts.noise_chart(facts),
        comparison_table=_comparison_table(facts),
        findings=_findings(facts),
        proof=_proof(facts),
        version=_say(__version__),
        dated="" if dated is None else f" on {dated.day} {dated:%B %Y}",
    )


def _say(text: str) -> str:
    return escape(text, _LONG)


def _figures(facts: Facts) -> str:
    guess = facts.adversary
    cards = (
        ("Noise θ", number(facts.theta), "standard deviation"),
        ("Budget", f"ε = {number(facts.epsilon)}", f"at order α = {number(facts.alpha)}"),
        ("Best guess of the secret", percent(guess.guess_after), f"{percent(guess.guess_before)} without noise"),
        (
            "Proof",
            "Certified" if facts.certificate_sha256 else "Computed",
            "in exact and ball arithmetic" if facts.certificate_sha256 else "no certificate was made",
        ),
    )
    return "\n".join(
        f"<div><dt>{_say(name)}</dt><dd>{_say(value)}<small>{_say(note)}</small></dd></div>"
        for name, value, note in cards
    )


def _priors_words(facts: Facts) -> str:
    shown = "The curves are the priors"
    if facts.histograms:
        shown += ", the bars the data they were fitted to"
    more = len(facts.secrets) - len(facts.densities)
    rest = f" {more:,} more secrets are not drawn." if more > 0 else ""
    beliefs = len(facts.calibration.beliefs)
    held = f" Of {beliefs:,} beliefs, the one shown binds." if beliefs > 1 else ""
    return f"What an adversary who knows the groups expects of an answer, secret by secret. {shown}.{rest}{held}"


def _priors_table(facts: Facts) -> str:
    rows = [
        (
            s.name,
            "" if s.rows is None else f"{s.rows:,}",
            number(s.mean),
            number(s.std),
            f"{s.components:,} {'point' if s.is_discrete else 'bell'}{'s' * (s.components != 1)}",
        )
        for s in facts.secrets[:_MOST_ROWS]
    ]
    caption = "The priors in numbers"
    if len(facts.secrets) > _MOST_ROWS:
        caption += f" (the first {_MOST_ROWS} of {len(facts.secrets):,})"
    return _table(caption, ("Secret", "Rows", "Mean", "Spread", "Shape"), rows)


def _odds_table(facts: Facts) -> str:
    rows = [
        (f"{one.probability * 100:g} of 100", f"×{number(one.exact, 3)}", f"×{number(one.bound, 3)}")
        for one in facts.adversary.odds
    ]
    return _table("The odds of the true secret rise by at most", ("Releases", "Here", "By the budget alone"), rows)


def _comparison_table(facts: Facts) -> str:
    rows, chosen = [], None
    for i, one in enumerate(facts.comparisons):
        if one.mechanism == facts.calibration.mechanism:
            chosen = i
        note = " (weaker promise)" if one.is_weaker else " (no finite answer)" if math.isinf(one.theta) else ""
        rows.append((one.label + note, number(one.theta), number(one.theta * one.theta)))
    head = ("Mechanism", "Noise θ", "Square error θ²")
    return _table("The same budget, by other rules", head, rows, chosen=chosen)


def _guesses(facts: Facts) -> str:
    """Three bars from blind luck (50 %) to certainty."""
    guess = facts.adversary
    bars = (
        ("Without noise", guess.guess_before, 1),
        ("As published", guess.guess_after, 0),
        ("At most, by the budget alone", guess.guess_bound, 4),
    )
    items = "".join(
        f"<li><span>{_say(name)} <b>{_say(percent(share))}</b></span>"
        f'<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{max(0.0, 200 * (share - 0.5)):.2f}" height="4" fill="{colour(index)}"/></svg></li>'
        for name, share, index in bars
    )
    return f'<ul class="bars" aria-label="Chance of guessing right; an empty bar is blind luck">{items}</ul>'


def _findings(facts: Facts) -> str:
    if not facts.findings:
        return "<p>Nothing stood out.</p>"
    tags = {"warning": "Take care", "note": "Note"}
    items = "".join(
        f'<li><span class="tag">{tags[finding.level]}</span>{_say(_sentence(finding.sentence))}</li>'
        for finding in facts.findings
    )
    return f'<ul class="findings">{items}</ul>'


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _proof(facts: Facts) -> str:
    if facts.certificate_sha256 is None:
        return (
            "<p>The noise was computed to well beyond the digits shown, and not proved. <code>takifugu certify</code> "
            "makes a certificate that anyone with the priors can check.</p>"
        )
    return (
        "<p>A certificate proves, with error bounds on every operation, that the loss of each pair is within the "
        "budget in both directions. Prove it again with <code>takifugu verify</code>; the digest (SHA-256) must be</p>"
        f"<p><code>{_say(facts.certificate_sha256)}</code></p>"
    )


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, chosen: int | None = None) -> str:
    """A table whose first column names its rows; columns of figures stand to the right."""
    body = [list(map(str, row)) for row in rows]
    figures = [k > 0 and all(_is_figure(row[k]) for row in body) for k in range(len(head))]
    mark = [' class="n"' if is_figure else "" for is_figure in figures]
    top = "".join(f'<th scope="col"{m}>{_say(name)}</th>' for name, m in zip(head, mark, strict=True))
    lines = []
    for i, row in enumerate(body):
        cells = "".join(f"<td{m}>{_say(cell)}</td>" for cell, m in zip(row[1:], mark[1:], strict=True))
        lines.append(f'<tr{" class=chosen" if i == chosen else ""}><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return (
        f"<table><caption>{_say(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _is_figure(cell: str) -> bool:
    return cell == "" or cell[0] in "0123456789×−∞"
