"""The sentences of the paper's evaluation that can be checked, each with a verdict and where it fails."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.laws import Mixture
from takifugu.paper.headline import CLAIMED, drawn_baseline, headline
from takifugu.paper.settings import ORDER, ORDERS, Setting
from takifugu.paper.study import BASELINES, OURS, Point, Study

# The questions behind the claims: each takes points, counts what it looked at and lists where the answer is no.

_SLACK = 1e-9  # relative: θ is found to within rounding of its search


@dataclass
class Check:
    """How many comparisons were made, and those that failed, in words."""

    checked: int = 0
    failures: list[str] = field(default_factory=list)

    def note(self, good: bool, failure: str) -> None:
        """One comparison."""
        self.checked += 1
        if not good:
            self.failures.append(failure)


def together(several: Iterable[Check]) -> Check:
    """All comparisons as one."""
    every = Check()
    for one in several:
        every.checked += one.checked
        every.failures += one.failures
    return every


def _at_most(a: float, b: float) -> bool:
    return a <= b * (1 + _SLACK)


def falls_with_budget(line: Sequence[Point]) -> Check:
    """θ never grows from one ε to the next."""
    check = Check()
    for before, after in pairwise(line):
        check.note(
            _at_most(after.theta, before.theta), f"{after.place}: θ rises from {before.theta:.4g} to {after.theta:.4g}"
        )
    return check


def below(ours: Sequence[Point], theirs: Sequence[Point]) -> Check:
    """θ is less than that of the baseline at every ε; where ours needs no noise it is never more."""
    check = Check()
    for mine, other in zip(ours, theirs, strict=bool(theirs)):
        good = mine.theta < other.theta or mine.theta == 0
        check.note(good, f"{mine.place}: {mine.theta:.4g} against {other.theta:.4g}")
    return check


def rises_with_order(lines: Sequence[Sequence[Point]]) -> Check:
    """θ never falls from one order to the next at the same ε."""
    check = Check()
    for lower, higher in pairwise(lines):
        for a, b in zip(lower, higher, strict=True):
            check.note(
                _at_most(a.theta, b.theta),
                f"{b.place}: θ falls from {a.theta:.4g} at α = {a.alpha:g} to {b.theta:.4g}",
            )
    return check


def follows_proposition(lines: Sequence[Sequence[Point]], p: Mixture, q: Mixture, *, rising: bool) -> Check:
    """The closed form moves with α as Proposition 3.7 says, where it says the same of both orders."""
    gap = float(p.means[0] - q.means[0]) ** 2
    delta = float(q.stds[0] ** 2 - p.stds[0] ** 2)
    check = Check()
    for lower, higher in pairwise(lines):
        for a, b in zip(lower, higher, strict=True):
            # The slope's sign is that of an expression that rises with α: its sign at one end settles the interval.
            order = a.alpha if rising else b.alpha
            slope = gap - 2 * a.epsilon * delta - (2 - order) / (order - 1) * math.sqrt(2 * a.epsilon) * abs(delta)
            if (slope > 0) == rising:
                good = _at_most(a.theta, b.theta) if rising else _at_most(b.theta, a.theta)
                check.note(good, f"{b.place}: {a.theta:.4g} at α = {a.alpha:g}, {b.theta:.4g} at α = {b.alpha:g}")
    return check


def moves_with_order(lines: Sequence[Sequence[Point]], formula: Sequence[Sequence[Point]], *, rising: bool) -> Check:
    """The least noise moves with α the way the formula does, where the formula moves that way."""
    check = Check()
    for (lower, higher), (f_lower, f_higher) in zip(pairwise(lines), pairwise(formula), strict=True):
        for a, b, fa, fb in zip(lower, higher, f_lower, f_higher, strict=True):
            if (fa.theta < fb.theta) if rising else (fb.theta < fa.theta):
                good = _at_most(a.theta, b.theta) if rising else _at_most(b.theta, a.theta)
                check.note(good, f"{b.place}: {a.theta:.4g} at α = {a.alpha:g}, {b.theta:.4g} at α = {b.alpha:g}")
    return check


def reaches_zero(line: Sequence[Point]) -> Check:
    """No noise at the largest ε of the line."""
    check = Check()
    if line:
        check.note(line[-1].theta == 0, f"{line[-1].place}: θ = {line[-1].theta:.4g}")
    return check


def zero_no_later(ours: Sequence[Point], theirs: Sequence[Point]) -> Check:
    """Wherever the baseline needs no noise ours needs none; counted where either does."""
    check = Check()
    for mine, other in zip(ours, theirs, strict=bool(theirs)):
        if mine.theta == 0 or other.theta == 0:
            check.note(mine.theta == 0, f"{mine.place}: {mine.theta:.4g} where the baseline needs none")
    return check


def clearer_for_statistics(lines: Mapping[Setting, tuple[Sequence[Point], Sequence[Point]]]) -> Check:
    """The mean reduction of RAW and MEAN against that of BNN and GP, dataset by dataset."""
    check = Check()
    for dataset in dict.fromkeys(s.dataset for s in lines):
        means = {}
        for name, queries in (("statistics", ("raw", "mean")), ("models", ("bnn", "gp"))):
            found = [
                1 - mine.theta / other.theta
                for setting, (ours, theirs) in lines.items()
                if setting.dataset == dataset and setting.query in queries
                for mine, other in zip(ours, theirs, strict=True)
                if mine.theta > 0 and 0 < other.theta < math.inf
            ]
            means[name] = math.fsum(found) / len(found) if found else math.nan
        check.note(
            means["statistics"] > means["models"],
            f"{dataset}: {means['statistics']:.1%} for RAW and MEAN, {means['models']:.1%} for BNN and GP",
        )
    return check


def several_modes(priors: Mapping[Setting, Mapping[Any, Mixture]]) -> Check:
    """At least one secret's density of each setting has more than one peak."""
    check = Check()
    for setting, each in priors.items():
        most = max(_modes_checks(prior) for prior in each.values())
        check.note(most > 1, f"{setting}: one mode")
    return check


def _modes_checks(prior: Mixture) -> int:
    if len(prior) == 1:
        return 1
    widest = float(prior.stds.max())
    x = np.linspace(prior.means.min() - 3 * widest, prior.means.max() + 3 * widest, 20_001)
    density = prior.pdf(x)
    return int(((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])).sum())


_PARTS = {
    "gaussian": (("1",), "RAW and MEAN with Gaussian priors"),
    "mixture": (("4",), "RAW and MEAN with mixture priors"),
    "evaluation": (("5", "6", "7"), "all three datasets and all four queries"),
}
HOLDS, FAILS, NOT_RUN = "holds", "fails", "not run"
LABELS = {
    "paper": "the paper's mechanism",
    "exact": "exact",
    "gwm-empirical": "GWM on the empirical support",
    "gwm": "GWM on the fitted priors",
    "gawm-1e-3": "GAWM, δ = 1e-3",
    "gawm-1e-6": "GAWM, δ = 1e-6",
    "dagwm": "DAGWM",
}


@dataclass(frozen=True)
class Claim:
    """A claim in our words, where the paper makes it, and what was found here.

    `of` is the mechanism it was checked for, "paper" or "exact"; empty where it is about neither alone.
    """

    name: str
    of: str
    where: str
    sentence: str
    verdict: str
    checked: int
    failures: tuple[str, ...]
    remark: str = ""


def claims(study: Study) -> list[Claim]:
    """Every claim that can be checked, in the paper's order; those this run has no numbers for say so."""
    return [
        *_budget(study),
        *_baselines(study),
        *_orders(study),
        *_zero(study),
        *_average(study),
        _modes(study),
        _proved(study),
    ]


def _claim(name: str, of: str, where: str, sentence: str, found: Check, remark: str = "") -> Claim:
    verdict = NOT_RUN if not found.checked else FAILS if found.failures else HOLDS
    return Claim(name, of, where, sentence, verdict, found.checked, tuple(found.failures), remark)


def _lines(study: Study, settings: Iterable[Setting], series: str, orders: Iterable[float] = (ORDER,)) -> list[Check]:
    return [falls_with_budget(study.line(s, series, a)) for s in settings for a in orders]


def _budget(study: Study) -> list[Claim]:
    found = []
    for name, (figures, what) in _PARTS.items():
        settings = _settings(study, figures)
        for series in OURS:
            found.append(
                _claim(
                    f"monotone-{name}",
                    series,
                    _figures(figures),
                    f"The noise never grows with the budget ε: {what}.",
                    together(_lines(study, settings, series)),
                )
            )
    return found


def _baselines(study: Study) -> list[Claim]:
    found = []
    for name in _PARTS:
        for baseline in BASELINES:
            found += [_below(study, name, ours, baseline.name) for ours in OURS]
    models = _settings(study, ("8",)) + [s for s, _ in study.plan.extra if s.query == "gp"]
    models = list(dict.fromkeys(models))
    for ours in OURS:
        pairs = [below(study.line(s, ours, a), study.line(s, drawn_baseline(s), a)) for s in models for a in ORDERS]
        found.append(
            _claim(
                "below-drawn-orders",
                ours,
                "Section 5, Figure 8",
                "At every order the noise of BNN and GP stays below the baseline drawn.",
                together(pairs),
            )
        )
    return found


def _below(study: Study, name: str, ours: str, baseline: str) -> Claim:
    figures, what = _PARTS[name]
    settings = _settings(study, figures)
    pairs = [below(study.line(s, ours, ORDER), study.line(s, baseline, ORDER)) for s in settings]
    drawn = {drawn_baseline(s) for s in settings}
    remark = {
        "gwm": "Infinite wherever the widest components differ in width, so this says little.",
        "gwm-empirical": "RAW only: the other answers have no empirical support.",
        "gawm-1e-3": "A weaker guarantee: a share δ of the coupling is ignored.",
        "gawm-1e-6": "A weaker guarantee: a share δ of the coupling is ignored.",
        "dagwm": "The same guarantee as ours.",
    }[baseline]
    if baseline in drawn:
        remark += " Drawn."
    return _claim(
        f"below-{baseline}-{name}",
        ours,
        _figures(figures),
        f"The noise is below that of {LABELS[baseline]} everywhere: {what}.",
        together(pairs),
        remark,
    )


def _orders(study: Study) -> list[Claim]:
    found = []
    examples = _settings(study, ("2",))
    for setting in examples:
        lines = [study.line(setting, "paper", a) for a in ORDERS]
        rising = setting.query == "increasing"
        first, second = study.fits[setting].priors.values()
        found.append(
            _claim(
                f"orders-{setting.query}",
                "paper",
                "Figure 2, Proposition 3.7",
                f"The closed form {'rises' if rising else 'falls'} with the order α wherever Proposition 3.7 says so.",
                follows_proposition(lines, first, second, rising=rising),
            )
        )
        exact = [study.line(setting, "exact", a) for a in ORDERS]
        found.append(
            _claim(
                f"orders-{setting.query}-required",
                "exact",
                "Figure 2",
                f"The noise that is required {'rises' if rising else 'falls'} with the order α, as the formula does.",
                moves_with_order(exact, lines, rising=rising),
                "Measured with exact. " + ("" if rising else "It never falls: the fall is slack of the closed form."),
            )
        )
    for query, settings in (
        ("bnn", _settings(study, ("8",))),
        ("gp", list(dict.fromkeys(s for s, _ in study.plan.extra if s.query == "gp"))),
    ):
        for series in OURS:
            ordered = [rises_with_order([study.line(s, series, a) for a in ORDERS]) for s in settings]
            found.append(
                _claim(
                    f"orders-{query}",
                    series,
                    "Figure 8" if query == "bnn" else "Section 5",
                    f"A larger order α never needs less noise: {query.upper()}, three datasets.",
                    together(ordered),
                )
            )
    return found


def _zero(study: Study) -> list[Claim]:
    found = []
    for query in ("gp", "bnn"):
        setting = Setting("adult", query, "gaussian")
        for series in OURS:
            found.append(
                _claim(
                    f"zero-adult-{query}",
                    series,
                    "Section 5.3, Figure 5",
                    f"Adult {query.upper()} needs no noise beyond a moderate budget (ε = 5 at the latest).",
                    reaches_zero(study.line(setting, series, ORDER)),
                    _why_never(study, setting),
                )
            )
    pairs = [
        zero_no_later(study.line(s, "paper", ORDER), study.line(s, drawn_baseline(s), ORDER))
        for s in study.plan.evaluated
    ]
    found.append(
        _claim(
            "zero-earlier",
            "paper",
            "Section 5.2",
            "Where noise stops being needed, the paper's mechanism gets there before the baseline drawn.",
            together(pairs),
        )
    )
    return found


def _why_never(study: Study, setting: Setting) -> str:
    """Why no budget could do without noise, where that is so."""
    fit = study.fits.get(setting)
    if fit is None:
        return ""
    widths = sorted(float(p.stds.max()) for p in fit.priors.values())
    room = ORDER * widths[0] ** 2 - (ORDER - 1) * widths[1] ** 2
    if room > 0:
        return f"Standard deviations {widths[0]:.3g} and {widths[1]:.3g}."
    return (
        f"The fitted standard deviations, {widths[0]:.3g} and {widths[1]:.3g}, differ so much that the divergence of "
        f"order {ORDER:g} is infinite without noise: no budget, however large, does without."
    )


def _average(study: Study) -> list[Claim]:
    found = []
    table = {(r.ours, r.theirs): r for r in headline(study) if r.over == "evaluation"}
    for (ours, theirs), row in table.items():
        if ours != "paper" or row.mean is None:
            continue
        label = "the baseline drawn" if theirs == "drawn" else LABELS[theirs]
        off = [] if abs(row.mean - CLAIMED) < 0.0005 else [f"measured {row.mean:.1%} over {row.settings} settings"]
        found.append(
            _claim(
                f"average-{theirs}",
                "paper",
                "Abstract, Section 5.2",
                f"The average noise reduction is {CLAIMED:.1%}, read against {label}.",
                Check(row.settings, off),
            )
        )
    clearer = clearer_for_statistics(
        {s: (study.line(s, "paper", ORDER), study.line(s, drawn_baseline(s), ORDER)) for s in study.plan.evaluated}
    )
    found.append(
        _claim(
            "clearer-for-statistics",
            "paper",
            "Section 5.2",
            "The advantage over the baseline is larger for RAW and MEAN than for BNN and GP.",
            clearer,
        )
    )
    return found


def _modes(study: Study) -> Claim:
    settings = [s for s in study.plan.evaluated if s.query in ("raw", "mean")]
    return _claim(
        "not-unimodal",
        "",
        "Section 5.2",
        "The answers of RAW and MEAN have several modes.",
        several_modes({s: study.fits[s].priors for s in settings}),
        "MEAN is modelled as one Gaussian, by the paper's own definition.",
    )


def _proved(study: Study) -> Claim:
    ours = [p for p in study.points if p.series in OURS]
    return _claim(
        "certified",
        "",
        "all figures",
        "Every θ of the paper's mechanism and of exact keeps the budget, with a proof.",
        Check(len(ours), [p.place for p in ours if p.certified is not True]),
    )


def _settings(study: Study, figures: tuple[str, ...]) -> list[Setting]:
    return [s for f in figures if f in study.plan.figures for s in study.plan.settings_of(f)]


def _figures(figures: tuple[str, ...]) -> str:
    return f"Figure {figures[0]}" if len(figures) == 1 else f"Figures {figures[0]} to {figures[-1]}"
