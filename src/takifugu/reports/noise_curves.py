"""Noise against budget, mechanism by mechanism, cheaply enough to follow a slider."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.divergences.line.general import divergence
from takifugu.errors import CalibrationError, MechanismError
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.additive.gmm_transport import coupled_bound, optimal_coupling
from takifugu.mechanisms.base import RPP
from takifugu.mechanisms.worst import largest_loss
from takifugu.problems.beliefs import Belief
from takifugu.problems.pairs import Pairs

LABELS = {
    "exact": "Exact",
    "closed-form": "The paper's closed form",
    "closed-form-envelope": "Closed form, improved",
    "gmm-transport": "The paper's mixture bound",
    "wasserstein": "Wasserstein",
    "wasserstein-approx": "Wasserstein, approximate",
    "wasserstein-aware": "Wasserstein, distribution-aware",
}

_POINTS = 25
_FEW_POINTS = 9  # of a mechanism that takes long
_FEW = 6  # directed pairs, over all beliefs, that are simply all evaluated
_MOST_COUPLINGS = 12
_MOST_COUPLED = 100_000  # pairs of components, over all couplings, that a comparison is worth


@dataclass(frozen=True)
class NoiseCurve:
    """The noise that a mechanism asks for at each budget, budgets ascending."""

    mechanism: str
    epsilon: Array
    theta: Array

    @property
    def label(self) -> str:
        """A name for readers."""
        return LABELS[self.mechanism]


@dataclass(frozen=True)
class Comparison:
    """Another mechanism at the same budget; `theta` is infinite where it has no answer."""

    mechanism: str
    theta: float
    guarantee: str

    @property
    def label(self) -> str:
        """A name for readers."""
        return LABELS[self.mechanism]

    @property
    def is_weaker(self) -> bool:
        """Whether it promises less than (α, ε)-Rényi Pufferfish Privacy."""
        return self.guarantee != RPP


def compared(calibration: Calibration) -> tuple[Comparison, ...]:
    """The chosen mechanism, the exact one, the paper's and the baselines, at one budget."""
    found = {calibration.mechanism: Comparison(calibration.mechanism, calibration.theta, calibration.guarantee)}
    for name in ("exact", *_others(calibration)):
        if name in found:
            continue
        try:
            one = calibrate(
                calibration.beliefs,
                alpha=calibration.alpha,
                epsilon=calibration.epsilon,
                pairs=None if calibration.pairs.is_every else calibration.pairs,
                mechanism=name,
            )
        except (MechanismError, CalibrationError):
            continue
        found[name] = Comparison(name, one.theta, one.guarantee)
    return tuple(sorted(found.values(), key=lambda c: list(LABELS).index(c.mechanism)))


def noise_curves(calibration: Calibration, comparisons: tuple[Comparison, ...]) -> tuple[NoiseCurve, ...]:
    """The exact curve, and one for each finite comparison that has one."""
    beliefs, pairs, alpha = calibration.beliefs, calibration.pairs, calibration.alpha
    low, high = budgets(calibration.epsilon)
    found = [exact_curve(beliefs, pairs, alpha, low, high)]
    at = np.geomspace(low, high, _POINTS)
    for one in comparisons:
        if not 0 < one.theta < math.inf:
            continue
        if one.mechanism in ("wasserstein", "wasserstein-approx"):  # θ² = αw²/2ε, w given by the priors alone
            found.append(NoiseCurve(one.mechanism, at, one.theta * np.sqrt(calibration.epsilon / at)))
        elif one.mechanism == "gmm-transport":
            found.extend(_transport_curve(beliefs, pairs, alpha, low, high))
        elif one.mechanism != "exact":
            found.append(_calibrated_curve(one.mechanism, beliefs, pairs, alpha, low, high))
    return tuple(found)


def budgets(epsilon: float) -> tuple[float, float]:
    """The range of budgets worth a look: the same for most ε, so that curves can be remembered.

    >>> budgets(1.0), budgets(40.0)
    ((0.1, 10.0), (0.1, 100.0))
    """
    return min(0.1, 10.0 ** math.floor(math.log10(epsilon / 2))), max(10.0, 10.0 ** math.ceil(math.log10(epsilon * 2)))


@lru_cache(maxsize=64)
def exact_curve(beliefs: tuple[Belief, ...], pairs: Pairs, alpha: float, low: float, high: float) -> NoiseCurve:
    """ε as the exact loss at each of a range of θ: one integral a point, where inverting it would take a dozen."""

    def loss(theta: float) -> float:
        return _loss(beliefs, pairs, alpha, theta)

    start = max(max(prior.std for prior in belief.values()) for belief in beliefs) or 1.0
    top = start
    while loss(top) > low and top < 1e150:
        top *= 2.0
    bottom = top / 2
    while loss(bottom) < high and bottom > 1e-3 * start:
        bottom /= 2.0
    thetas = [0.0, *np.geomspace(bottom, top, _POINTS // 2).tolist()]
    losses = [loss(theta) for theta in thetas]
    for _ in range(_POINTS // 2):
        # Where the tails of a pair barely fit, the loss falls off a cliff: points go where it changes most.
        heights = np.log(np.clip(losses, low / 2, 4 * high))
        k = int(np.argmax(heights[:-1] - heights[1:]))
        middle = 0.5 * (thetas[k] + thetas[k + 1])
        thetas.insert(k + 1, middle)
        losses.insert(k + 1, loss(middle))
    return _ordered("exact", np.array(losses), np.array(thetas), low, high)


@lru_cache(maxsize=64)
def _transport_curve(
    beliefs: tuple[Belief, ...], pairs: Pairs, alpha: float, low: float, high: float
) -> tuple[NoiseCurve, ...]:
    """The paper's mixture bound with each coupling solved once; none where there are too many couplings."""
    if 2 * len(pairs) * len(beliefs) > _MOST_COUPLINGS:
        return ()
    exact = exact_curve(beliefs, pairs, alpha, low, high)
    thetas = np.geomspace(max(float(exact.theta.max()), 1e-12) / 100, 10 * float(exact.theta.max()) or 1.0, 4 * _POINTS)
    losses = np.zeros_like(thetas)
    for belief in beliefs:
        for a, b in pairs.directed():
            p, q = belief[a].simplified(), belief[b].simplified()
            k, l, mass = optimal_coupling(p, q)
            gaps, std_p, std_q = p.means[k] - q.means[l], p.stds[k], q.stds[l]
            bounds = [coupled_bound(mass, gaps, std_p, std_q, alpha=alpha, variance=float(t * t)) for t in thetas]
            losses = np.maximum(losses, bounds)
    return (_ordered("gmm-transport", losses, thetas, low, high),)


@lru_cache(maxsize=64)
def _calibrated_curve(
    mechanism: str, beliefs: tuple[Belief, ...], pairs: Pairs, alpha: float, low: float, high: float
) -> NoiseCurve:
    """A mechanism inverted at each budget: for those that are quick."""
    rule = get_mechanism(mechanism, {})
    at = np.geomspace(low, high, _POINTS if all(m.is_gaussian for b in beliefs for m in b.values()) else _FEW_POINTS)
    thetas = []
    for epsilon in at.tolist():
        needed = 0.0
        for belief in beliefs:
            priors = [belief[secret] for secret in pairs.secrets]
            needed = rule.least_variance_over(priors, pairs, alpha=alpha, epsilon=epsilon, floor=needed).variance
        thetas.append(math.sqrt(needed))
    return NoiseCurve(mechanism, at, np.array(thetas))


def _loss(beliefs: tuple[Belief, ...], pairs: Pairs, alpha: float, theta: float) -> float:
    if 2 * len(pairs) * len(beliefs) <= _FEW:
        chosen = list(pairs.directed())
    else:
        priors = [[belief[secret] for secret in pairs.secrets] for belief in beliefs]
        i, j = largest_loss(priors, pairs, alpha=alpha, theta=theta)
        chosen = [(pairs.secrets[i], pairs.secrets[j])]
    return max(divergence(m[a], m[b], alpha=alpha, theta=theta) for m in beliefs for a, b in chosen)


def _ordered(mechanism: str, epsilon: Array, theta: Array, low: float, high: float) -> NoiseCurve:
    """By ascending budget, cut to the range; at its upper end stands the least θ that was looked at."""
    order = np.lexsort((-theta, epsilon))
    epsilon, theta = epsilon[order], theta[order]
    inside = (epsilon > low) & (epsilon < high)
    ends_at = np.append(epsilon[inside], high)
    beyond = np.flatnonzero(epsilon >= high)
    thetas = np.append(theta[inside], theta[beyond[0]] if beyond.size else theta[-1])
    below = np.flatnonzero((epsilon > 0) & (epsilon <= low))
    if below.size:  # between two points that straddle it, the curve is a power law as good as exactly
        left = below[-1]
        span = math.log(ends_at[0] / epsilon[left])
        share = math.log(low / epsilon[left]) / span if span else 0.0
        ends_at = np.append(low, ends_at)
        thetas = np.append(theta[left] ** (1 - share) * thetas[0] ** share, thetas)
    return NoiseCurve(mechanism, ends_at, thetas)


def _others(calibration: Calibration) -> tuple[str, ...]:
    sizes = [len(prior.simplified()) for belief in calibration.beliefs for prior in belief.values()]
    baselines = ("wasserstein", "wasserstein-approx", "wasserstein-aware")
    if max(sizes) == 1:
        return ("closed-form", *baselines)
    # The transport between hundreds of components is a linear programme of many minutes: left out.
    couplings = 2 * len(calibration.pairs) * len(calibration.beliefs)
    return ("gmm-transport", *baselines) if couplings * max(sizes) ** 2 <= _MOST_COUPLED else baselines
