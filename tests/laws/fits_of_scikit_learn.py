"""Columns of every kind, and the best that scikit-learn's EM finds for each.

`python tests/laws/fits_of_scikit_learn.py` writes its log-likelihoods into the file beside this one: ten starts for
each size take longer than a test should.
"""

import json
import warnings
from pathlib import Path

import numpy as np

from takifugu import Mixture

FILE = Path(__file__).with_suffix(".json")
MOST = 5


def draw(seed, weights, means, stds, size):
    return Mixture(weights, means, stds).sample(size, seed=seed)


def schooling():
    """Years of education: whole numbers, two of them far more frequent than the rest."""
    years = np.arange(1, 17)
    counts = [80, 240, 500, 900, 750, 1400, 1800, 650, 15700, 10800, 2000, 1600, 8000, 2600, 830, 590]
    return np.repeat(years, counts).astype(float)


def depression():
    """Measurements in tenths, a third of them exactly zero."""
    rng = np.random.default_rng(3)
    return np.round(np.concatenate([np.zeros(50), rng.gamma(1.5, 0.8, 90)]), 1)


def grades():
    """Grades from 0 to 20 with a lump of absentees at 0."""
    rng = np.random.default_rng(4)
    return np.concatenate([np.zeros(36), np.clip(np.round(rng.normal(11, 3.2, 310)), 4, 20)])


COLUMNS = {
    "schooling": schooling(),
    "depression": depression(),
    "grades": grades(),
    "one normal": draw(1, [1], [5], [2], 300),
    "apart": draw(2, [0.3, 0.7], [0, 20], [1, 3], 400),
    "overlapping": draw(3, [0.4, 0.4, 0.2], [0, 2, 5], [1, 0.7, 2], 500),
    "narrow in wide": draw(4, [0.3, 0.7], [0, 0], [0.1, 3], 500),
    "lognormal": np.exp(draw(5, [1], [0], [0.8], 300)),
    "uniform": np.linspace(0, 1, 150),
    "tenths": np.round(draw(6, [0.5, 0.5], [0, 3], [1, 1], 500), 1),
    "heavy": np.random.default_rng(7).standard_t(2, 300),
}


def best_of_scikit_learn(values: np.ndarray, size: int, min_std: float) -> float:
    """The log-likelihood of its best fit with `size` components, none of them narrower than `min_std`."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    starts = 10 if len(values) < 5000 else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Its regularisation is added to the variance, so its fits have no component below the floor.
        peer = GaussianMixture(size, n_init=starts, reg_covar=min_std**2, tol=1e-6, random_state=0)
        return float(peer.fit(values[:, None]).score(values[:, None])) * len(values)


def main() -> None:
    """Write the file."""
    from takifugu.laws.fitting.fit import fit

    stored = {}
    for name, values in COLUMNS.items():
        floor = fit(values, max_components=MOST).min_std
        sizes = range(1, MOST + 1)
        stored[name] = {"min_std": floor, "best": [best_of_scikit_learn(values, size, floor) for size in sizes]}
    FILE.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
