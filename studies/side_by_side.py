"""Every mechanism and the best channel on the paper's columns, at the same guarantee: how far off is a published value?

The seven mechanisms add Gaussian noise, so a value is off by θ (root mean square). A channel is off by the root of its
expected square error over all rows of both groups. Both are in the units of the column and can be compared.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from takifugu.calibration import calibrate
from takifugu.certificates import certify
from takifugu.certificates.channel import ChannelCertificate
from takifugu.errors import NoAnswerError
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.paper.cache import Cache, code_digest
from takifugu.paper.settings import FULL, ORDER, Setting
from takifugu.paper.study import Fitted, Tell, fitted

DATASETS = ("adult", "heart", "student-mat", "student-por")
BASELINE = "wasserstein"
_CODE = ("laws", "problems", "divergences", "channels", "mechanisms", "certificates", "calibration")


@dataclass(frozen=True)
class Line:
    """A mechanism with its options, for one kind of prior."""

    key: str
    label: str
    mechanism: str
    prior: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def is_channel(self) -> bool:
        """Whether it is a finite channel, and not Gaussian noise."""
        return self.mechanism == "optimal"


# Each with the priors that its theorem is about; those that take any prior with the values as they were counted too.
LINES = (
    Line("optimal", "optimal", "optimal", "empirical", (("preserve", None),)),
    Line("optimal-kept", "optimal, histogram kept", "optimal", "empirical", (("preserve", "marginal"),)),
    Line("exact", "exact", "exact", "empirical"),
    Line("exact-mixture", "exact", "exact", "mixture"),
    Line("gmm-transport", "gmm-transport (Theorem 4.1)", "gmm-transport", "mixture"),
    Line("closed-form", "closed-form (Theorem 3.5)", "closed-form", "gaussian"),
    Line("closed-form-envelope", "closed-form-envelope", "closed-form-envelope", "gaussian"),
    Line("wasserstein", "wasserstein (GWM)", "wasserstein", "empirical"),
    Line("wasserstein-approx", "wasserstein-approx, δ = 10⁻³", "wasserstein-approx", "empirical", (("delta", 1e-3),)),
    Line("wasserstein-aware", "wasserstein-aware (DAGWM)", "wasserstein-aware", "empirical"),
)
BY_KEY = {line.key: line for line in LINES}


@dataclass(frozen=True)
class Found:
    """How far off a published value is; of a channel also what no channel between these values undercuts."""

    dataset: str
    epsilon: float
    line: str
    error: float
    bound: float | None = None


@dataclass(frozen=True)
class Reduction:
    """The mean of 1 − error/error of GWM, as the paper reckons it: settings where nothing is needed are left out."""

    mean: float
    inclusive: float  # with 100 % where nothing is needed
    squared: float  # the mean of 1 − (error/error of GWM)²
    least: float
    settings: int
    free: int


def measured(
    cache: Cache,
    *,
    datasets: tuple[str, ...] = DATASETS,
    epsilons: tuple[float, ...] = FULL,
    tell: Tell = lambda done, total, what: None,
) -> list[Found]:
    """Every line at every dataset and budget; each channel is certified, bounds and all."""
    found = []
    total = len(datasets) * len(LINES)
    for place, dataset in enumerate(datasets):
        for k, line in enumerate(LINES):
            tell(place * len(LINES) + k, total, f"{line.label}, {dataset}")
            fit = fitted(Setting(dataset, "raw", line.prior), cache, quick=False)
            for epsilon in epsilons:
                inputs = {
                    "kind": "side by side",
                    "fit": fit.to_dict(),
                    "line": [line.mechanism, line.prior, list(line.options)],
                    "epsilon": epsilon,
                    "code": code_digest(*_CODE),
                }
                result = cache.get(inputs, partial(_one, fit, line, epsilon))
                error = math.inf if result["error"] is None else result["error"]
                found.append(Found(dataset, epsilon, line.key, error, result["bound"]))
    return found


def laws_of(fit: Fitted) -> dict[Any, Finite]:
    """The values of each group as they were counted."""
    return {
        secret: Finite(prior.means.tolist(), np.rint(prior.weights * fit.rows[secret]))
        for secret, prior in fit.priors.items()
    }


def _one(fit: Fitted, line: Line, epsilon: float) -> dict[str, Any]:
    options = dict(line.options)
    laws: dict[Any, Finite] | dict[Any, Mixture] = laws_of(fit) if line.is_channel else fit.priors
    try:
        found = calibrate(laws, alpha=ORDER, epsilon=epsilon, mechanism=line.mechanism, **options)
    except NoAnswerError:
        return {"error": None, "bound": None}
    if not line.is_channel:
        return {"error": found.theta, "bound": None}
    proof = certify(found)
    if not isinstance(proof, ChannelCertificate):
        raise TypeError("a finite channel has a certificate of a channel")
    bound = None if proof.lower_bound is None else math.sqrt(proof.lower_bound)
    return {"error": math.sqrt(found.error), "bound": bound}


def reduction(found: list[Found], key: str, *, datasets: tuple[str, ...]) -> Reduction:
    """How much less than GWM a line costs, over datasets and budgets."""
    table = {(one.dataset, one.epsilon, one.line): one.error for one in found}
    ratios, free = [], 0
    for one in found:
        if one.line != key or one.dataset not in datasets:
            continue
        theirs = table[one.dataset, one.epsilon, BASELINE]
        if one.error == 0:
            free += 1
        elif math.isfinite(theirs) and theirs > 0:
            ratios.append(one.error / theirs)
    size = len(ratios)
    mean = 1 - math.fsum(ratios) / size
    return Reduction(
        mean=mean,
        inclusive=(mean * size + free) / (size + free),
        squared=1 - math.fsum(r * r for r in ratios) / size,
        least=1 - max(ratios),
        settings=size,
        free=free,
    )
