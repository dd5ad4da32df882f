"""The priors of each setting, fitted once and kept."""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

from takifugu.datasets.catalogue import about
from takifugu.datasets.loading import load, path
from takifugu.laws.mixture import Mixture
from takifugu.studies.cache import Cache, code_digest
from takifugu.studies.settings import ORDER, Setting, query_of

# Narrow against wide, where the closed form falls as the order grows; and two means far apart, where it rises.
_EXAMPLES = {
    "decreasing": {"narrow": Mixture.gaussian(0.0, 1.0), "wide": Mixture.gaussian(0.5, 3.0)},
    "increasing": {"left": Mixture.gaussian(0.0, 1.0), "right": Mixture.gaussian(3.0, 1.2)},
}
_CODE = ("laws", "queries", "tables", "problems/findings", "studies/wide_raw.py")


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
    from takifugu.queries.fitting import fit_priors

    dataset = about(setting.dataset)
    priors = fit_priors(load(setting.dataset), secret=dataset.secret, query=query, secrets=dataset.pair)
    ordered = {secret: priors[secret] for secret in dataset.pair}
    return Fitted(setting, ordered, priors.rows, tuple(str(f) for f in priors.findings)).to_dict()
