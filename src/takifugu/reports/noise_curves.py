"""Other mechanisms at the same promise, and noise against budget for each."""

import math
from dataclasses import dataclass

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.errors import CalibrationError, InputError, MechanismError, NoAnswerError
from takifugu.mechanisms import get_mechanism, label_of
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.base import Additive
from takifugu.mechanisms.curves import NoiseCurve
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.problem import Place, Problem
from takifugu.reports.text import number

_BASELINES = ("wasserstein", "wasserstein-approx", "wasserstein-aware")
_MOST_PLACES = 60  # that the paper's mechanisms and the baselines, which look at pair by pair, are asked about
_FEW_PLACES = 6  # the same for mixtures
_MOST_COUPLED = 100_000  # pairs of components, over all couplings, that a comparison is worth


@dataclass(frozen=True)
class Drawn:
    """One mechanism's curve."""

    mechanism: str
    curve: NoiseCurve

    @property
    def epsilon(self) -> Array:
        """The budgets, ascending."""
        return self.curve.epsilon

    @property
    def theta(self) -> Array:
        """The noise at each."""
        return self.curve.theta

    @property
    def label(self) -> str:
        """A name for readers."""
        return label_of(self.mechanism)


@dataclass(frozen=True)
class Comparison:
    """Another mechanism at the same budget; `theta` is infinite where it has no answer.

    `is_least` says that only the pair closest to the limit was looked at: all pairs take this much noise at least.
    """

    mechanism: str
    theta: float
    guarantee: Guarantee
    is_least: bool = False

    @property
    def label(self) -> str:
        """A name for readers."""
        return label_of(self.mechanism)

    def told(self, digits: int = 4) -> str:
        """θ for readers, from below where only a part was looked at."""
        return f"{'≥ ' * self.is_least}{number(self.theta, digits)}"

    @property
    def is_weaker(self) -> bool:
        """Whether it promises less than (α, ε)-Rényi Pufferfish Privacy."""
        return not isinstance(self.guarantee, Renyi)


def itself(calibration: Calibration) -> Comparison:
    """The chosen mechanism."""
    return Comparison(calibration.mechanism, calibration.theta, calibration.guarantee)


def compared(calibration: Calibration) -> tuple[Comparison, ...]:
    """The exact mechanism, the paper's and the baselines at one budget, with the chosen one among them.

    Those that look at pair after pair are asked about the pair closest to the limit alone where there are many: the
    comparison would take longer than the calibration.
    """
    asked, problem = Renyi(calibration.alpha, calibration.epsilon), calibration.problem
    closest = _only(problem, calibration.place) if _takes_long(problem) else None
    names = dict.fromkeys(("exact", *_others(closest or problem)))
    if calibration.mechanism not in names:
        names = dict.fromkeys((calibration.mechanism, *names))
    found = []
    for name in names:
        if name == calibration.mechanism:
            found.append(itself(calibration))
            continue
        part = None if name == "exact" else closest
        rule = get_mechanism(name, {})
        try:
            channel = rule.find(part or problem, asked).channel  # not proved: nothing is published through it
        except NoAnswerError:
            channel = None
        except (MechanismError, CalibrationError):
            continue
        theta = channel.theta if isinstance(channel, GaussianNoise) else math.inf
        found.append(Comparison(name, theta, rule.promise(asked), is_least=part is not None and theta < math.inf))
    return tuple(found)


def noise_curves(calibration: Calibration, comparisons: tuple[Comparison, ...]) -> tuple[Drawn, ...]:
    """The exact curve, and one for each finite comparison whose mechanism draws one."""
    low, high = budgets(calibration.epsilon)
    alpha, problem = calibration.alpha, calibration.problem
    found = [Drawn("exact", Exact().curve(problem, alpha=alpha, low=low, high=high))]
    for one in comparisons:
        if one.mechanism == "exact" or one.is_least or not 0 < one.theta < math.inf:
            continue
        try:
            rule = get_mechanism(one.mechanism, {})
        except InputError:  # a mechanism that was given as an object, or is not installed here
            continue
        curve = rule.curve(problem, alpha=alpha, low=low, high=high) if isinstance(rule, Additive) else None
        if curve is not None:
            found.append(Drawn(one.mechanism, curve))
    return tuple(found)


def budgets(epsilon: float) -> tuple[float, float]:
    """The range of budgets worth a look: the same for most ε, so that curves can be remembered.

    >>> budgets(1.0), budgets(40.0)
    ((0.1, 10.0), (0.1, 100.0))
    """
    return min(0.1, 10.0 ** math.floor(math.log10(epsilon / 2))), max(10.0, 10.0 ** math.ceil(math.log10(epsilon * 2)))


def _takes_long(problem: Problem) -> bool:
    """Whether one pair after another would take more than a moment: quantiles of mixtures are dear, points are not."""
    is_plain = all(law.is_gaussian or law.is_discrete for belief in problem.beliefs for law in belief.values())
    return problem.size > (_MOST_PLACES if is_plain else _FEW_PLACES)


def _only(problem: Problem, place: Place) -> Problem:
    """The problem of one place: one belief, and one pair of secrets."""
    return Problem.of(dict(zip(problem.names(place), problem.ends(place), strict=True)), None)


def _others(problem: Problem) -> tuple[str, ...]:
    """The mechanisms worth a comparison."""
    largest = max(len(law.simplified()) for belief in problem.beliefs for law in belief.values())
    if largest == 1:
        return ("closed-form", *_BASELINES)
    # The transport between hundreds of components is a linear programme of many minutes: left out.
    return ("gmm-transport", *_BASELINES) if problem.size * largest**2 <= _MOST_COUPLED else _BASELINES
