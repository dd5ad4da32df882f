"""The sentences of the paper's evaluation that can be checked, each with a verdict and where it fails."""

from collections.abc import Iterable
from dataclasses import dataclass

from takifugu.studies import checks
from takifugu.studies.checks import Check
from takifugu.studies.curves import BASELINES, OURS
from takifugu.studies.headline import CLAIMED, drawn_baseline, headline
from takifugu.studies.run import Study
from takifugu.studies.settings import ORDER, ORDERS, Setting

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
    return [checks.falls_with_budget(study.line(s, series, a)) for s in settings for a in orders]


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
                    checks.together(_lines(study, settings, series)),
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
        pairs = [
            checks.below(study.line(s, ours, a), study.line(s, drawn_baseline(s), a)) for s in models for a in ORDERS
        ]
        found.append(
            _claim(
                "below-drawn-orders",
                ours,
                "Section 5, Figure 8",
                "At every order the noise of BNN and GP stays below the baseline drawn.",
                checks.together(pairs),
            )
        )
    return found


def _below(study: Study, name: str, ours: str, baseline: str) -> Claim:
    figures, what = _PARTS[name]
    settings = _settings(study, figures)
    pairs = [checks.below(study.line(s, ours, ORDER), study.line(s, baseline, ORDER)) for s in settings]
    drawn = {drawn_baseline(s) for s in settings}
    remark = {
        "gwm": "Infinite wherever the widest components differ in width, so this says little.",
        "gwm-empirical": "RAW only: the other answers have no empirical support.",
        "gawm-1e-3": "A weaker promise: a share δ of the coupling is ignored.",
        "gawm-1e-6": "A weaker promise: a share δ of the coupling is ignored.",
        "dagwm": "The same promise as ours.",
    }[baseline]
    if baseline in drawn:
        remark += " Drawn."
    return _claim(
        f"below-{baseline}-{name}",
        ours,
        _figures(figures),
        f"The noise is below that of {LABELS[baseline]} everywhere: {what}.",
        checks.together(pairs),
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
                checks.follows_proposition(lines, first, second, rising=rising),
            )
        )
        exact = [study.line(setting, "exact", a) for a in ORDERS]
        found.append(
            _claim(
                f"orders-{setting.query}-required",
                "exact",
                "Figure 2",
                f"The noise that is required {'rises' if rising else 'falls'} with the order α, as the formula does.",
                checks.moves_with_order(exact, lines, rising=rising),
                "Measured with exact. " + ("" if rising else "It never falls: the fall is slack of the closed form."),
            )
        )
    for query, settings in (
        ("bnn", _settings(study, ("8",))),
        ("gp", list(dict.fromkeys(s for s, _ in study.plan.extra if s.query == "gp"))),
    ):
        for series in OURS:
            ordered = [checks.rises_with_order([study.line(s, series, a) for a in ORDERS]) for s in settings]
            found.append(
                _claim(
                    f"orders-{query}",
                    series,
                    "Figure 8" if query == "bnn" else "Section 5",
                    f"A larger order α never needs less noise: {query.upper()}, three datasets.",
                    checks.together(ordered),
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
                    checks.reaches_zero(study.line(setting, series, ORDER)),
                    _why_never(study, setting),
                )
            )
    pairs = [
        checks.zero_no_later(study.line(s, "paper", ORDER), study.line(s, drawn_baseline(s), ORDER))
        for s in study.plan.evaluated
    ]
    found.append(
        _claim(
            "zero-earlier",
            "paper",
            "Section 5.2",
            "Where noise stops being needed, the paper's mechanism gets there before the baseline drawn.",
            checks.together(pairs),
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
    clearer = checks.clearer_for_statistics(
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
        checks.several_modes({s: study.fits[s].priors for s in settings}),
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
