"""A regression on rows as they are and as they are published."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration
from takifugu.problems.options import Utility
from takifugu.releases.plan import InsecureReleaseWarning
from takifugu.releases.releasing import release


@dataclass(frozen=True)
class Regression:
    """One column on others by least squares; of a column of labels, whether it is `label`."""

    target: str
    features: tuple[str, ...]
    label: str | None = None

    def slopes(self, table: Any) -> Array:
        """The coefficients of the features."""
        y = table[self.target]
        y = (y == self.label).to_numpy(dtype=np.float64) if self.label is not None else y.to_numpy(dtype=np.float64)
        x = np.column_stack([np.ones(len(table)), table[list(self.features)].to_numpy(dtype=np.float64)])
        found: Array = np.linalg.lstsq(x, y, rcond=None)[0][1:]
        return found


def before_and_after(table: Any, calibration: Calibration, regression: Regression, pair: tuple[Any, Any]) -> str:
    """The slopes on the true rows, to the nearest of the published list, and on the published ones, in words."""
    answer = calibration.answer
    if answer is None or not isinstance(answer.domain, tuple):
        raise TypeError("the rows must come from lists")
    here = table[table[answer.secret[0]].isin(pair)].dropna(subset=list(answer.columns)).reset_index(drop=True)
    snapped = here.copy()
    for name, choices in zip(answer.columns, answer.domain, strict=True):
        places = choices.places(here[name].to_numpy(), name)
        snapped[name] = np.array(choices.values, dtype=None if choices.is_numeric else object)[places]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureReleaseWarning)  # a page that is made again must say the same
        published = release(here, calibration, insecure_seed=1, utility=Utility(allow_no_noise=True))
    published.columns = list(answer.columns)  # the seed stands in their names
    ways = (("true rows", here), ("rows to the nearest of the list", snapped), ("published rows", published))
    told = []
    for way, rows in ways:
        slopes = ", ".join(
            f"{slope:.4f} on {name}" for name, slope in zip(regression.features, regression.slopes(rows), strict=True)
        )
        told.append(f"{way} {slopes}")
    return f"{regression.target} has slopes of {'; '.join(told)}"
