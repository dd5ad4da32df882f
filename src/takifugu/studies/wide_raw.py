"""RAW, fitted so that rounded values are not mistaken for spikes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu.laws.fitting.fit import fit
from takifugu.queries.priors import Priors
from takifugu.queries.raw import Raw
from takifugu.tables.table import Table


@dataclass(frozen=True)
class WideRaw:
    """RAW with mixtures whose components are no narrower than three quarters of the values' step."""

    column: str

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """Fitted to the counts, as `Raw` does."""
        seen = Raw(self.column, prior="empirical").priors(table, secret, secrets)
        counts = {name: (points.means, np.rint(points.weights * seen.rows[name])) for name, points in seen.items()}
        steps = [fit(x, mass, max_components=1).resolution for x, mass in counts.values()]
        step = min((s for s in steps if s is not None), default=None)
        floor = None if step is None else 0.75 * step
        found = {name: fit(x, mass, min_std=floor).mixture for name, (x, mass) in counts.items()}
        return Priors(found, findings=seen.findings, rows=seen.rows)
