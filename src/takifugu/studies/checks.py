"""The questions behind the claims: each takes points, counts what it looked at and lists where the answer is no."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.laws.mixture import Mixture
from takifugu.studies.curves import Point
from takifugu.studies.settings import Setting

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
        most = max(_modes(prior) for prior in each.values())
        check.note(most > 1, f"{setting}: one mode")
    return check


def _modes(prior: Mixture) -> int:
    if len(prior) == 1:
        return 1
    widest = float(prior.stds.max())
    x = np.linspace(prior.means.min() - 3 * widest, prior.means.max() + 3 * widest, 20_001)
    density = prior.pdf(x)
    return int(((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])).sum())
