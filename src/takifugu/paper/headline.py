"""The average noise reduction, as the paper defines it: settings where ours needs no noise are left out."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from takifugu.paper.settings import HEADLINE, ORDER, OTHERS, PRIORS, Setting
from takifugu.paper.study import BASELINES, Point, Study

CLAIMED = 0.489


@dataclass(frozen=True)
class Reduction:
    """Ours against theirs: the mean of 1 − θ/θ' over `settings` settings, and what was left out."""

    ours: str
    theirs: str
    over: str
    mean: float | None
    inclusive: float | None  # the mean with a reduction of 100 % where ours needs no noise
    least: float | None
    most: float | None
    settings: int
    no_noise: int  # ours needs none: left out, as in the paper
    infinite: int  # theirs has no finite answer: left out, for 100 % would flatter


def reduction(ours: Iterable[Point], theirs: Iterable[Point], *, names: tuple[str, str], over: str) -> Reduction:
    """Compare two lists of points setting by setting (dataset, query and ε)."""
    other = {(p.dataset, p.query, p.alpha, p.epsilon): p.theta for p in theirs}
    ratios, no_noise, infinite = [], 0, 0
    for point in ours:
        theta = other.get((point.dataset, point.query, point.alpha, point.epsilon))
        if theta is None:
            continue
        if point.theta == 0:
            no_noise += 1
        elif math.isinf(theta):
            infinite += 1
        else:
            ratios.append(1 - point.theta / theta if theta > 0 else -math.inf)
    size = len(ratios)
    mean = math.fsum(ratios) / size if size else None
    least, most = (min(ratios), max(ratios)) if size else (None, None)
    inclusive = (math.fsum(ratios) + no_noise) / (size + no_noise) if size else None
    return Reduction(names[0], names[1], over, mean, inclusive, least, most, size, no_noise, infinite)


def headline(study: Study) -> list[Reduction]:
    """The paper's mechanism and exact against every baseline, exact against the paper's, over Figures 5 to 7."""
    settings = study.plan.evaluated
    if not settings:
        return []
    found = []
    for ours in ("paper", "exact"):
        mine = _points(study, settings, ours)
        found += [
            reduction(mine, _points(study, settings, b.name), names=(ours, b.name), over="evaluation")
            for b in BASELINES
        ]
        found.append(reduction(mine, _drawn(study, settings), names=(ours, "drawn"), over="evaluation"))
    both = ("exact", "paper")
    found.append(reduction(*(_points(study, settings, name) for name in both), names=both, over="evaluation"))
    return found + _raw(study, settings)


def _raw(study: Study, settings: list[Setting]) -> list[Reduction]:
    """Exact against GWM on RAW at five budgets: mixture priors as in the figures, then other fits of the same data."""
    found = []
    raw = [s for s in settings if s.query == "raw"]
    for over, chosen in (("RAW", raw), *((f"RAW, {s.dataset}", [s]) for s in raw)):
        gwm = [p for p in _points(study, chosen, "gwm-empirical") if p.epsilon in HEADLINE]
        for prior in ("mixture", *OTHERS):
            mine = [Setting(s.dataset, "raw", prior) for s in chosen]
            names = ("exact" if prior == "mixture" else f"exact, {PRIORS[prior]}", "gwm-empirical")
            found.append(reduction(_points(study, mine, "exact"), gwm, names=names, over=over))
    return found


def _points(study: Study, settings: list[Setting], series: str) -> list[Point]:
    return [p for s in settings for p in study.line(s, series, ORDER)]


def _drawn(study: Study, settings: list[Setting]) -> list[Point]:
    return [p for s in settings for p in study.line(s, drawn_baseline(s), ORDER)]


def drawn_baseline(setting: Setting) -> str:
    """GWM where there is an empirical support to make it finite; otherwise its nearest relative that is finite."""
    return "gwm-empirical" if setting.query == "raw" else "gawm-1e-3"
