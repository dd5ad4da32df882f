"""θ against ε for one setting and one mechanism, each θ of ours proved to be enough."""

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from takifugu.calibration import calibrate
from takifugu.certificates import certify
from takifugu.divergences.proved.certified import decide
from takifugu.errors import CertificationError, NoAnswerError
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms import get_mechanism
from takifugu.mechanisms.base import Additive
from takifugu.problems.guarantee import Renyi
from takifugu.studies.cache import Cache, code_digest
from takifugu.studies.fits import Fitted
from takifugu.studies.settings import Setting

_CODE = ("laws", "problems", "divergences", "mechanisms", "certificates", "calibration")
OURS = ("paper", "exact")


@dataclass(frozen=True)
class Series:
    """A line of a figure: a mechanism with its options, for the setting's priors or for the empirical ones."""

    name: str
    mechanism: str  # empty: the paper's theorem for the setting
    delta: float | None = None
    empirical: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is the paper's mechanism or `exact`: those are certified."""
        return self.name in OURS


PAPER = Series("paper", "")
EXACT = Series("exact", "exact")
BASELINES = (
    Series("gwm-empirical", "wasserstein", empirical=True),
    Series("gwm", "wasserstein"),
    Series("gawm-1e-3", "wasserstein-approx", delta=1e-3),
    Series("gawm-1e-6", "wasserstein-approx", delta=1e-6),
    Series("dagwm", "wasserstein-aware"),
)
EVERY = (PAPER, EXACT, *BASELINES)


@dataclass(frozen=True)
class Point:
    """One number of the study, and all that it stands for. `certified` is None where no proof was asked for."""

    dataset: str
    query: str
    prior: str
    alpha: float
    epsilon: float
    series: str
    mechanism: str
    delta: float | None
    guarantee: str
    theta: float
    worst_pair: str
    certified: bool | None

    @property
    def setting(self) -> Setting:
        """The dataset, the query and the prior."""
        return Setting(self.dataset, self.query, self.prior)

    @property
    def place(self) -> str:
        """The setting and the budget, in words."""
        return f"{self.dataset} {self.query} ({self.prior}), α = {self.alpha:g}, ε = {self.epsilon:g}"


def curve(
    fit: Fitted, series: Series, cache: Cache, *, alpha: float, epsilons: tuple[float, ...], empirical: Fitted | None
) -> list[Point]:
    """The points of one line; none where it needs an empirical distribution and there is none."""
    if series.empirical and empirical is None:
        return []
    priors = empirical.priors if series.empirical and empirical is not None else fit.priors
    mechanism = series.mechanism or fit.setting.paper_mechanism
    compute = _one_way if fit.setting.is_example else _both
    points = []
    for epsilon in epsilons:
        inputs = {
            "kind": "point",
            "priors": [[repr(s), p.weights.tolist(), p.means.tolist(), p.stds.tolist()] for s, p in priors.items()],
            "one way": fit.setting.is_example,
            "mechanism": mechanism,
            "delta": series.delta,
            "proved": series.is_ours,
            "alpha": alpha,
            "epsilon": epsilon,
            "code": code_digest(*_CODE),
        }
        found = cache.get(inputs, partial(compute, priors, mechanism, series, alpha, epsilon))
        points.append(
            Point(
                dataset=fit.setting.dataset,
                query=fit.setting.query,
                prior=fit.setting.prior,
                alpha=alpha,
                epsilon=epsilon,
                series=series.name,
                delta=series.delta,
                **found,
            )
        )
    return points


def _both(priors: dict[Any, Mixture], mechanism: str, series: Series, alpha: float, epsilon: float) -> dict[str, Any]:
    """The noise that hides the pair both ways, with a certificate for ours."""
    options: dict[str, Any] = {} if series.delta is None else {"delta": series.delta}
    try:
        found = calibrate(priors, alpha=alpha, epsilon=epsilon, mechanism=mechanism, **options)
    except NoAnswerError:
        return {
            "mechanism": mechanism,
            "guarantee": _promised(mechanism, options, alpha, epsilon),
            "theta": math.inf,
            "worst_pair": " against ".join(map(str, priors)),
            "certified": None,
        }
    proved: bool | None = None
    if series.is_ours:
        try:
            certify(found)
            proved = True
        except CertificationError:
            proved = False
    return {
        "mechanism": mechanism,
        "guarantee": _promised(mechanism, options, alpha, epsilon),
        "theta": found.theta,
        "worst_pair": " against ".join(map(str, found.worst_pair)),
        "certified": proved,
    }


def _one_way(
    priors: dict[Any, Mixture], mechanism: str, series: Series, alpha: float, epsilon: float
) -> dict[str, Any]:
    """The noise that hides the first secret from the second only, as in the paper's two examples."""
    (first, p), (second, q) = priors.items()
    options: dict[str, Any] = {} if series.delta is None else {"delta": series.delta}
    rule = get_mechanism(mechanism, options)
    if not isinstance(rule, Additive):
        raise TypeError(f"{mechanism!r} adds no noise")
    variance = rule.least_variance(p, q, alpha=alpha, epsilon=epsilon)
    theta = 0.0 if variance == 0 else math.nextafter(math.sqrt(variance), math.inf)
    proved: bool | None = None
    if series.is_ours:
        proved = decide(p, q, alpha=alpha, epsilon=epsilon, theta=theta).holds is True
    return {
        "mechanism": mechanism,
        "guarantee": _promised(mechanism, options, alpha, epsilon),
        "theta": theta,
        "worst_pair": f"{first} against {second}",
        "certified": proved,
    }


def _promised(mechanism: str, options: dict[str, Any], alpha: float, epsilon: float) -> str:
    """The word for a promise in the tables: "rpp", or "approximate" for less."""
    full = isinstance(get_mechanism(mechanism, options).promise(Renyi(alpha, epsilon)), Renyi)
    return "rpp" if full else "approximate"


def as_row(point: Point) -> dict[str, Any]:
    """The point as the CSV and the JSON hold it: infinite as text, so that every reader can parse it."""
    row = asdict(point)
    row["theta"] = point.theta if math.isfinite(point.theta) else "inf"
    row["variance"] = point.theta**2 if math.isfinite(point.theta) else "inf"
    return row
