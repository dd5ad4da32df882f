"""Whole rows under one guarantee: two, three and five columns, four ways to publish them, and regressions on them.

`python -m studies.rows docs/rows.md` measures all and writes the page; `--quick` leaves five columns out.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from studies.regressions import Regression, before_and_after
from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.datasets import load
from takifugu.divergences.discrete import finite_divergence
from takifugu.errors import TakifuguError
from takifugu.laws.finite import Finite
from takifugu.queries.fitting import fit_priors
from takifugu.queries.raw import Raw
from takifugu.queries.row import Row
from takifugu.reports.channel_facts import ChannelFacts, ColumnFacts
from takifugu.reports.facts import facts_of

ODDS = 3.0
ORDER = 3.0  # of the guarantee that Gaussian noise keeps in place of one about odds
CONFIDENCE = 0.95
_MOST_JOINT = 320  # combinations up to which the best channel is looked for too: beyond it takes minutes
_MOST_CONFIDENT = 120  # the same with confidence, which looks for it several times


@dataclass(frozen=True)
class Setting:
    """A dataset, the secret, the pair to hide, and the columns to publish."""

    dataset: str
    secret: str
    pair: tuple[Any, Any]
    columns: tuple[str, ...]
    domain: dict[str, list[Any]]
    regression: Regression | None = None

    @property
    def query(self) -> Row:
        """The columns as one row, with rows added where few people share one."""
        given = {name: self.domain[name] for name in self.columns if name in self.domain}
        return Row(*self.columns, domain=given, smoothing="held-out" if len(self.columns) > 1 else None)


@dataclass(frozen=True)
class Outcome:
    """What one way of publishing costs: of numbers the error over the spread, of labels the share changed."""

    way: str
    losses: dict[str, str]
    odds: float
    guess: float | None
    note: str = ""
    calibration: Calibration | None = field(default=None, repr=False)


_ADULT = {"age": [20, 30, 40, 50, 60, 70], "hours-per-week": [10, 20, 30, 40, 50, 60, 80]}
_HEART: dict[str, list[Any]] = {
    "oldpeak": [0, 0.5, 1, 1.5, 2, 3, 4],
    "thalach": [90, 110, 130, 150, 170, 190],
    "age": [35, 45, 55, 65, 75],
}
_MARKS: dict[str, list[Any]] = {
    **{f"G{k}": [0, 4, 7, 9, 11, 13, 15, 18] for k in (1, 2, 3)},
    "absences": [0, 3, 8, 15, 30],
}

SETTINGS = (
    *(
        Setting("heart", "slope", (1, 2), columns, _HEART)
        for columns in (
            ("oldpeak", "thalach"),
            ("oldpeak", "thalach", "age"),
            ("oldpeak", "thalach", "age", "sex", "cp"),
        )
    ),
    *(
        Setting("student-mat", "schoolsup", ("no", "yes"), columns, _MARKS, regression)
        for columns, regression in (
            (("G2", "G3"), None),
            (("G1", "G2", "G3"), Regression("G3", ("G1", "G2"))),
            (("G1", "G2", "G3", "absences", "sex"), None),
        )
    ),
    *(
        Setting("adult", "race", ("White", "Black"), columns, _ADULT, regression)
        for columns, regression in (
            (("education-num", "hours-per-week"), None),
            (
                ("education-num", "hours-per-week", "income"),
                Regression("income", ("education-num", "hours-per-week"), ">50K"),
            ),
            (("age", "education-num", "hours-per-week", "occupation", "marital-status"), None),
        )
    ),
)


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Every way of publishing the columns of a setting, one after the other."""
    table = load(setting.dataset)
    priors = fit_priors(table, secret=setting.secret, query=setting.query, secrets=setting.pair)
    yield _separate(setting, table, priors)
    yield _gaussian(setting, table)
    size = len(next(iter(priors.values())))
    for confidence in (None, CONFIDENCE):
        beside = "" if confidence is None else f", {100 * confidence:g} % confidence"
        for way, solver in (("best joint channel", "program"), ("sparse channel", "columns")):
            if solver == "program" and size > (_MOST_JOINT if confidence is None else _MOST_CONFIDENT):
                continue
            options: dict[str, Any] = {"preserve": None}
            try:
                made = calibrate(priors, odds=ODDS, options={"solver": solver}, confidence=confidence, **options)
            except TakifuguError as error:
                yield Outcome(f"{way}{beside}", {}, math.nan, None, str(error).split(":")[0])
                continue
            yield _told(f"{way}{beside}", made)


def _told(way: str, made: Calibration) -> Outcome:
    facts = facts_of(made, compare=False)
    assert isinstance(facts, ChannelFacts)
    note = "" if made.evidence is None else f"{100 * (1 - made.evidence.without / made.error):.0f} % for confidence"
    losses = {column.name: _loss(column) for column in facts.columns}
    return Outcome(way, losses, facts.worst_odds, facts.adversary.guess_after, note, made)


def _loss(column: ColumnFacts) -> str:
    if column.error is not None and column.spread:
        return f"{100 * column.error / column.spread:.0f} %"
    return f"{100 * column.share_changed:.1f} % changed"


def _separate(setting: Setting, table: Any, priors: Any) -> Outcome:
    """Each column through its own best channel at its share of the budget, and what all of them lose together."""
    losses, matrices = {}, []
    for name in setting.columns:
        query = Row(name, domain=setting.domain.get(name))
        own = fit_priors(table, secret=setting.secret, query=query, secrets=setting.pair)
        made = calibrate(own, odds=ODDS ** (1 / len(setting.columns)), preserve=None)
        facts = facts_of(made, compare=False)
        assert isinstance(facts, ChannelFacts)
        losses[name] = _loss(facts.columns[0])
        matrices.append(dict(zip(made.channel.inputs, made.channel.matrix, strict=True)))  # type: ignore[attr-defined]
    p, q = (together(priors[secret], matrices) for secret in priors)
    worst = max(float(finite_divergence(a, b, alpha=math.inf)) for a, b in ((p, q), (q, p)))
    guess = 0.5 + 0.25 * float(np.abs(p - q).sum())
    return Outcome("separate columns at ε/d", losses, math.exp(worst), guess, "breaks the guarantee" * (worst > 1.0987))


def together(law: Finite, channels: Sequence[dict[Any, Array]]) -> Array:
    """What a joint law publishes when each column goes through a channel of its own, over all combinations."""
    rows = [tuple(row) if isinstance(row, tuple) else (row,) for row in law.values]
    entries = [sorted({row[k] for row in rows}, key=repr) for k in range(len(channels))]
    place = [{entry: where for where, entry in enumerate(inside)} for inside in entries]
    joint = np.zeros([len(inside) for inside in entries])
    for row, share in zip(rows, law.probabilities.tolist(), strict=True):
        joint[tuple(at[entry] for at, entry in zip(place, row, strict=True))] = share
    for inside, channel in zip(entries, channels, strict=True):
        joint = np.tensordot(joint, np.stack([channel[entry] for entry in inside]), axes=(0, 0))
    return np.asarray(joint).ravel()


def _gaussian(setting: Setting, table: Any) -> Outcome:
    """Shaped Gaussian noise on the columns of numbers, under its own weaker guarantee."""
    way = f"Gaussian shaped noise, (α, ε) = ({ORDER:g}, {math.log(ODDS):.2f})"
    numbers = [name for name in setting.columns if str(table[name].dtype).startswith(("int", "float"))]
    if len(numbers) < 2:
        return Outcome(way, {}, math.inf, None, "needs two columns of numbers")
    priors = fit_priors(table, secret=setting.secret, query=Raw(numbers), secrets=setting.pair)
    made = calibrate(priors, alpha=ORDER, epsilon=math.log(ODDS))
    noise = np.sqrt(np.diagonal(made.channel.noise_covariance))
    spread = table[numbers].std().to_numpy()
    losses = {name: f"{100 * error:.0f} %" for name, error in zip(numbers, noise / spread, strict=True)}
    return Outcome(way, losses, math.inf, None, "no guarantee about odds, and none about labels")


def page(settings: Sequence[Setting], say: Callable[[str], None] = print) -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *sections(settings, say)])


def sections(settings: Sequence[Setting], say: Callable[[str], None]) -> Iterator[str]:
    """The page, setting by setting."""
    for setting in settings:
        say(f"{setting.dataset}: {', '.join(setting.columns)}")
        a, b = setting.pair
        title = f"## {setting.dataset.capitalize()}: {', '.join(setting.columns)}"
        parts = [f"{title}\n\nHiding {setting.secret} {a} from {b}.\n"]
        head = ["Way", *setting.columns, "Largest odds", "Best guess", ""]
        lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        best = None
        for one in outcomes(setting):
            odds = "∞" if math.isinf(one.odds) else "" if math.isnan(one.odds) else f"{one.odds:.2f}"
            guess = "" if one.guess is None else f"{100 * one.guess:.1f} %"
            cells = [one.way, *(one.losses.get(name, "–") for name in setting.columns), odds, guess, one.note]
            lines.append("| " + " | ".join(cells) + " |")
            best = one if one.calibration is not None and one.calibration.evidence is None else best
        parts.append("\n".join(lines) + "\n")
        if setting.regression is not None and best is not None and best.calibration is not None:
            told = before_and_after(load(setting.dataset), best.calibration, setting.regression, setting.pair)
            parts.append(f"On the rows published through the {best.way}: {told}.\n")
        yield "\n".join(parts)


_HEAD = f"""# Whole rows: what two, three and five columns cost

Several columns of one person, published together so that no published row moves the odds of the pair by more than a
factor of {ODDS:g}. For numbers the table shows the root mean square error over the column's spread, for labels the
share that is published as another; the best guess is that of an adversary who knows the priors and sees one row (50 %
is blind luck). Few people share a whole row, so rows of each secret's own columns are added to its rows, as many as
predict its rows best, one left out at a time. Separate columns have their share of the budget each, and their *joint*
loss is what one row tells: budgets of columns do not add up. This page is made by
`python -m studies.rows docs/rows.md`.
"""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="What whole rows cost, and a regression on them.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--quick", action="store_true", help="leave out five columns")
    given = parser.parse_args()
    chosen = [one for one in SETTINGS if not given.quick or len(one.columns) < 5]
    parts = [_HEAD]
    for section in sections(chosen, print):  # written as far as it goes: five columns take minutes
        parts.append(section)
        given.path.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
