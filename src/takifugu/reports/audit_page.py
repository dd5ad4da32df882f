"""An audit as a page: the verdict, the attacks, and three kinds of picture. Everything from data is escaped."""

import math
from typing import TYPE_CHECKING

import numpy as np

from takifugu.audits import Attack, Audit
from takifugu.reports.blocks import bars, cards, columns, scroll, section, style, table
from takifugu.reports.svg import PICTURE_WIDTH, Panel, Picture, Scale, legend
from takifugu.reports.text import clean, escape, number, percent, share_of

if TYPE_CHECKING:
    from takifugu.problems import Pair


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
                "What was shown, beside what was promised",
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
            ("Promised, at most", f"ε = {number(audit.guarantee.epsilon, 3)}", str(audit.guarantee)),
            ("Best guess", percent(guess), f"{percent(guess.low)} to {percent(guess.high)}; luck is 50 %"),
            ("Allowed by the promise", percent(audit.guess_limit), f"{audit.rows:,} rows were audited"),
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
    rows.append(("at most, by the promise", percent(audit.guess_limit), 2 * (audit.guess_limit - 0.5), 4))
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
    marks, used = legend([(0, "shown at least"), (1, "promised at most")], 8, 18, PICTURE_WIDTH - 16)
    panel = Panel(Scale(-0.7, len(shown) - 0.3, 46.0, 466.0), Scale(0.0, top, 240 + used, used + 32))
    panel.axes(x_label="attacks, strongest first", y_label="loss in nats", x_numbers=False)
    panel.bars(np.arange(len(shown), dtype=np.float64), bounds, 0, width=min(24.0, 380 / len(shown)), opacity=0.8)
    panel.curve(np.array([-0.7, len(shown) - 0.3]), np.array([limit, limit]), 1)
    strongest = shown[0]
    title = "The loss that each attack shows, beside the one promised"
    told = f"The largest is {number(bounds[0], 3)}, by {strongest.attacker}; promised was {number(limit, 3)}."
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
    panel.note("shaded: what the promise allows")
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
    return table("Attacks, strongest first; those above the promise in bold", head, rows, chosen=above)
