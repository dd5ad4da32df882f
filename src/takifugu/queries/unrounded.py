"""The laws of values that are published as they are, on no lattice: mixtures, one normal each, or the sample itself."""

import math
from collections.abc import Iterable

import numpy as np

from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture
from takifugu.problems.findings import ComponentLimit, Finding, NotConverged, PoorFit, Rounded
from takifugu.queries.about import is_poor, together
from takifugu.tables.count import Subset
from takifugu.tables.table import Secret


def laws_of(
    subsets: dict[Secret, Subset],
    step: float,
    findings: list[Finding],
    *,
    column: str,
    prior: str | None,
    most: int,
    seed: int,
) -> dict[Secret, Mixture]:
    """The law of each secret's values; what there is to say of them is added to `findings`."""
    if prior in (None, "mixture"):
        found = _mixtures(subsets, step, findings, column=column, most=most, seed=seed)
    else:
        make = _empirical if prior == "empirical" else _gaussian
        found = {name: make(subset) for name, subset in subsets.items()}
    if prior != "empirical":
        findings.extend(_misses(found, subsets, step))
    return found


def _mixtures(
    subsets: dict[Secret, Subset], step: float, findings: list[Finding], *, column: str, most: int, seed: int
) -> dict[Secret, Mixture]:
    from takifugu.laws.fitting.fit import EXTREME, fit

    for subset in subsets.values():
        values = subset.values
        if len(values) > 1 and np.diff(values).min() < (values[-1] - values[0]) / EXTREME:
            # Components would be as wide as that, and values beside one another would go out without noise.
            raise InputError(
                f"some values of column {column!r} lie {EXTREME:g} times as far apart as others, and no mixture can be "
                f"fitted to them: name a code that stands for a missing value as a sentinel, or remove it"
            )
    floor = step / math.sqrt(12)
    if step and not any(subset.width for subset in subsets.values()):
        findings.append(Rounded(column, step, floor))
    found: dict[Secret, Mixture] = {}
    for name, subset in subsets.items():
        # A constant subset stays a point: any width would only make the secret look safer.
        least = floor if step and len(subset.values) > 1 else None
        how = fit(subset.values, subset.counts, max_components=most, min_std=least, seed=seed)
        findings.extend(how_it_went(name, most, how.hit_limit, how.converged))
        found[name] = how.mixture
    return found


def how_it_went(name: Secret, limit: int, hit_limit: bool, converged: bool) -> Iterable[Finding]:
    """What to say of a fit that stopped at a limit."""
    if hit_limit:
        yield ComponentLimit(name, limit)
    if not converged:
        yield NotConverged(name, "mixture", "the fit was still improving when it stopped")


def _empirical(subset: Subset) -> Mixture:
    return Mixture.empirical(subset.values, subset.counts)


def _gaussian(subset: Subset) -> Mixture:
    weights = subset.counts / subset.counts.sum()
    middle = float(subset.values[len(subset.values) // 2])
    offsets = subset.values - middle  # about a value of the data: a far mean costs no digits
    shift = float(weights @ offsets)
    scale = float(np.abs(offsets).max()) or 1.0  # so that no square overflows
    std = scale * math.sqrt(float(weights @ ((offsets - shift) / scale) ** 2))
    return Mixture.gaussian(middle + shift, std)


def step_of(subsets: dict[Secret, Subset]) -> float:
    """The step that the values of all secrets share, 0 where they are not rounded; on a grid, its width."""
    from takifugu.laws.fitting.floors import least_std, rounding_of

    if width := max(subset.width for subset in subsets.values()):
        return width
    values, counts = together(subsets)
    # Squares of values near the ends of float64 would overflow.
    unit = math.ldexp(0.5, math.frexp(float(np.abs(values).max()))[1])
    scaled = values / unit
    floor, step = least_std(scaled, counts, repeats=bool(counts.max() > 1), rounding=rounding_of(scaled))
    # Where the floor is not the step's, repeats are chance and the values continuous.
    return step * unit if step is not None and floor == step / math.sqrt(12) else 0.0


def _misses(priors: dict[Secret, Mixture], subsets: dict[Secret, Subset], step: float) -> Iterable[PoorFit]:
    for name, mixture in priors.items():
        distance = kolmogorov(mixture, subsets[name], step)
        if is_poor(distance, subsets[name].counts.sum()):
            yield PoorFit(name, distance)


def kolmogorov(mixture: Mixture, subset: Subset, step: float) -> float:
    """The largest gap between the distribution functions of a prior and of values rounded to `step`.

    A rounded value stands for all that rounds to it, so they are compared half a step to either side of
    each value: at the value itself even a perfect prior would be off by half of the value's share.
    """
    if len(subset.values) == 1:
        return 0.0
    upto = np.cumsum(subset.counts) / subset.counts.sum()
    before = np.concatenate(([0.0], upto[:-1]))
    above = np.abs(mixture.cdf(subset.values + 0.5 * step) - upto)
    below = np.abs(mixture.cdf(subset.values - 0.5 * step) - before)
    return float(max(above.max(), below.max()))
