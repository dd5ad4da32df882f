"""The whole study: which numbers a plan needs, computed one by one with a word on each."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

from takifugu.calibration import calibrate
from takifugu.certificates import certify
from takifugu.datasets import about, load, path
from takifugu.divergences import decide
from takifugu.errors import CertificationError, NoAnswerError
from takifugu.laws import Mixture
from takifugu.mechanisms import Additive, get_mechanism
from takifugu.paper.cache import Cache, code_digest
from takifugu.paper.settings import ORDER, Plan, Setting, query_of
from takifugu.problems import Renyi

# The priors of each setting, fitted once and kept.

# Narrow against wide, where the closed form falls as the order grows; and two means far apart, where it rises.
_EXAMPLES = {
    "decreasing": {"narrow": Mixture.gaussian(0.0, 1.0), "wide": Mixture.gaussian(0.5, 3.0)},
    "increasing": {"left": Mixture.gaussian(0.0, 1.0), "right": Mixture.gaussian(3.0, 1.2)},
}
_CODE = ("laws", "queries", "tables", "problems/diagnostics.py", "paper/settings.py")


@dataclass(frozen=True)
class Fitted:
    """One prior per secret, and what there is to know about the data behind them."""

    setting: Setting
    priors: dict[Any, Mixture]
    rows: dict[Any, int]
    findings: tuple[str, ...]

    @property
    def secrets(self) -> tuple[Any, Any]:
        """The pair to be hidden."""
        first, second = self.priors
        return first, second

    def to_dict(self) -> dict[str, Any]:
        """As plain values, secrets by position."""
        return {
            "dataset": self.setting.dataset,
            "query": self.setting.query,
            "prior": self.setting.prior,
            "priors": [
                {
                    "secret": secret,
                    "rows": self.rows.get(secret),
                    "components": len(prior),
                    "weights": prior.weights.tolist(),
                    "means": prior.means.tolist(),
                    "stds": prior.stds.tolist(),
                }
                for secret, prior in self.priors.items()
            ],
            "forced_noise": forced_noise(*self.priors.values(), alpha=ORDER),
            "findings": list(self.findings),
        }


def fitted(setting: Setting, cache: Cache, *, quick: bool) -> Fitted:
    """The priors of a setting: from the cache, or fitted now."""
    if setting.is_example:
        return Fitted(setting, dict(_EXAMPLES[setting.query]), {}, ())
    query = query_of(setting, quick=quick)
    inputs = {
        "kind": "fit",
        "data": hashlib.sha256(path(setting.dataset).read_bytes()).hexdigest(),
        "dataset": setting.dataset,
        "query": repr(query),
        "code": code_digest(*_CODE),
    }
    found = cache.get(inputs, lambda: _fit(setting, query))
    priors = {one["secret"]: Mixture(one["weights"], one["means"], one["stds"]) for one in found["priors"]}
    rows = {one["secret"]: one["rows"] for one in found["priors"]}
    return Fitted(setting, priors, rows, tuple(found["findings"]))


def forced_noise(p: Mixture, q: Mixture, *, alpha: float) -> float:
    """The noise below which the divergence of this order is infinite one way or the other, whatever the budget.

    >>> forced_noise(Mixture.gaussian(0, 2), Mixture.gaussian(0, 1), alpha=2)
    1.4142135623730951
    """
    low, high = sorted(float(prior.stds.max()) ** 2 for prior in (p, q))
    return math.sqrt(max(0.0, (alpha - 1) * high - alpha * low))


def _fit(setting: Setting, query: Any) -> dict[str, Any]:
    from takifugu.queries import fit_priors

    dataset = about(setting.dataset)
    priors = fit_priors(load(setting.dataset), secret=dataset.secret, query=query, secrets=dataset.pair)
    ordered = {secret: priors[secret] for secret in dataset.pair}
    return Fitted(setting, ordered, priors.rows, tuple(str(f) for f in priors.findings)).to_dict()


# θ against ε for one setting and one mechanism, each θ of ours proved to be enough.

_CODE_CURVES = ("laws", "problems", "divergences", "mechanisms", "certificates", "calibration")
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
            "code": code_digest(*_CODE_CURVES),
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
        found = calibrate(priors, alpha=alpha, epsilon=epsilon, mechanism=mechanism, options=options)
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
    full = get_mechanism(mechanism, options).promise(Renyi(alpha, epsilon)).is_provable
    return "rpp" if full else "approximate"


def as_row(point: Point) -> dict[str, Any]:
    """The point as the CSV and the JSON hold it: infinite as text, so that every reader can parse it."""
    row = asdict(point)
    row["theta"] = point.theta if math.isfinite(point.theta) else "inf"
    row["variance"] = point.theta**2 if math.isfinite(point.theta) else "inf"
    return row


Tell = Callable[[int, int, str], None]  # done, of how many, what is running


@dataclass(frozen=True)
class Study:
    """Every prior and every number of a run."""

    plan: Plan
    fits: dict[Setting, Fitted]
    points: tuple[Point, ...]

    def line(self, setting: Setting, series: str, alpha: float) -> list[Point]:
        """The points of one line of a figure, in order of ε."""
        return self._lines.get((setting, series, alpha), [])

    def figures_of(self, point: Point) -> list[str]:
        """The figures that rest on a point."""
        return self._figures.get((point.setting, point.alpha), [])

    @cached_property
    def _lines(self) -> dict[tuple[Setting, str, float], list[Point]]:
        found: dict[tuple[Setting, str, float], list[Point]] = {}
        for point in self.points:
            found.setdefault((point.setting, point.series, point.alpha), []).append(point)
        return found

    @cached_property
    def _figures(self) -> dict[tuple[Setting, float], list[str]]:
        found: dict[tuple[Setting, float], list[str]] = {}
        for figure in self.plan.figures:
            for setting in self.plan.settings_of(figure):
                for alpha in self.plan.orders_of(figure):
                    found.setdefault((setting, alpha), []).append(figure)
        return found


def run(plan: Plan, cache: Cache, tell: Tell) -> Study:
    """Fit and calibrate everything a plan needs; what the cache holds is not computed again."""
    lines = _lines(plan)
    needed = {setting for figure in plan.figures for setting in plan.settings_of(figure)}
    needed |= {setting for setting, _, _ in lines}
    # GWM is finite on the empirical support, so every RAW setting needs that too.
    needed |= {Setting(s.dataset, "raw", "empirical") for s in needed if s.query == "raw"}
    total, done = len(needed) + len(lines), 0
    fits: dict[Setting, Fitted] = {}
    for setting in sorted(needed, key=_cheapest_first):
        tell(done, total, f"fitting {setting}")
        fits[setting] = fitted(setting, cache, quick=plan.quick)
        done += 1
    points: list[Point] = []
    for setting, alpha, several in lines:
        tell(done, total, f"calibrating and proving {setting}, α = {alpha:g}")
        empirical = fits.get(Setting(setting.dataset, "raw", "empirical")) if setting.query == "raw" else None
        for series in several:
            points += curve(fits[setting], series, cache, alpha=alpha, epsilons=plan.epsilons, empirical=empirical)
        done += 1
    tell(done, total, "drawing")
    return Study(plan, fits, tuple(points))


def _lines(plan: Plan) -> list[tuple[Setting, float, tuple[Series, ...]]]:
    """Each setting and order once, however many figures show it."""
    wanted: dict[tuple[Setting, float], tuple[Series, ...]] = {
        (s, alpha): EVERY for f in plan.figures for alpha in plan.orders_of(f) for s in plan.settings_of(f)
    }
    for setting, alpha in plan.extra:
        wanted.setdefault((setting, alpha), (EXACT,) if setting.prior == "empirical" else EVERY)
    return [(setting, alpha, series) for (setting, alpha), series in sorted(wanted.items(), key=lambda kv: kv[0])]


def _cheapest_first(setting: Setting) -> tuple[int, Setting]:
    """An interruption then costs least, and the slow models come when the rest is safe."""
    return {"raw": 0, "mean": 0, "gp": 1, "bnn": 2}.get(setting.query, 0), setting
