"""What others would use instead, at the same protection: error against the best possible guess of the secret.

Every method is swept over its own parameter. A line of the table has the least error of each at which the best guess
between the two secrets told apart best (exact, ½ + ½·TV) is no better than the figure at its head.

- optimal: this library's channel with bounded odds, keeping the margins; it promises more than a bound on guesses.
- RR: randomized response with uniform replies. PRAM: the invariant matrix of Gouweleeuw et al. (1998), in two steps.
- Gaussian, Laplace: noise of one size for all; the latter is what local differential privacy adds.
- constant: the commonest value, or the mean, for everybody, which is also what deleting the column costs.

Errors: of labels the share of values changed, of numbers the mean square error over the variance.
"""

import math
import warnings

import numpy as np

import takifugu as tk
from takifugu.errors import TakifuguError
from takifugu.reports.adversary import best_guess

COLUMNS = (
    ("adult", "race", "occupation", None),
    ("adult", "race", "marital-status", None),
    ("adult", "race", "education-num", ["White", "Other"]),
    ("heart", "slope", "oldpeak", [1, 3]),
    ("student-mat", "schoolsup", "G3", None),
)
GUESSES = (0.52, 0.55, 0.60)


def worst_guess(laws: np.ndarray) -> float:
    pairs = [(i, j) for i in range(len(laws)) for j in range(i)]
    return 0.5 + 0.25 * max(float(np.abs(laws[i] - laws[j]).sum()) for i, j in pairs)


def invariant(matrix: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """The first step undone by Bayes' rule: together they keep the pooled shares as they are."""
    back = (matrix * pool[:, None]).T
    return matrix @ (back / back.sum(axis=1, keepdims=True))


def study(table: str, secret: str, column: str, secrets: list | None) -> dict[str, list[tuple[float, float]]]:
    data = tk.datasets.load(table).dropna(subset=[column, secret])
    priors = tk.fit_priors(data, secret=secret, query=tk.Row(column), secrets=secrets)
    values = next(iter(priors.values())).values
    laws = np.array([law.probabilities for law in priors.values()])
    pool = np.sum([law.weights for law in priors.values()], axis=0)
    pool = pool / pool.sum()
    numeric = all(isinstance(value, int | float) for value in values)
    x = np.array(values, dtype=np.float64) if numeric else np.arange(len(values))
    mean = float(pool @ x)
    variance = float(pool @ (x - mean) ** 2)
    cost = (x[:, None] - x) ** 2 / variance if numeric else 1.0 - np.eye(len(values))
    found: dict[str, list[tuple[float, float]]] = {"optimal": [], "RR": [], "PRAM": []}

    def add(name: str, matrix: np.ndarray) -> None:
        found[name].append((worst_guess(laws @ matrix), float(pool @ (matrix * cost).sum(axis=1))))

    for odds in np.geomspace(1.02, 12, 60):
        try:
            add("optimal", tk.calibrate(priors, odds=float(odds)).channel.matrix)
        except TakifuguError:
            continue
    for share in np.linspace(0, 1, 201):
        response = share * np.eye(len(values)) + (1 - share) / len(values)
        add("RR", response)
        if share < 1:
            add("PRAM", invariant(response, pool))
    found["constant"] = [(0.5, 1.0 if numeric else 1.0 - float(pool.max()))]
    if numeric:
        found["Gaussian"], found["Laplace"] = [], []
        mixtures = [tk.Mixture.empirical(x, law) for law in laws]
        for theta in np.geomspace(0.05, 30, 40) * math.sqrt(variance):
            noisy = [m.with_noise(float(theta)) for m in mixtures]
            guess = max(best_guess(noisy[i], noisy[j]) for i in range(len(noisy)) for j in range(i))
            found["Gaussian"].append((guess, theta**2 / variance))
            found["Laplace"].append((laplace_guess(x, laws, theta / math.sqrt(2)), theta**2 / variance))
    return found


def laplace_guess(x: np.ndarray, laws: np.ndarray, scale: float) -> float:
    """On a grid that follows the points: from below, so it favours this method."""
    grid = np.unique(np.concatenate([x, np.linspace(x.min() - 12 * scale, x.max() + 12 * scale, 4_001)]))
    z = (grid[:, None] - x) / scale
    below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
    return worst_guess(np.diff(laws @ below.T, axis=1))


def run() -> None:
    methods = ("optimal", "RR", "PRAM", "Gaussian", "Laplace", "constant")
    print(f"  {'column':28}{'guess':>7}" + "".join(f"{name:>10}" for name in methods))
    for table, secret, column, secrets in COLUMNS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = study(table, secret, column, secrets)
        for guess in GUESSES:
            errors = []
            for name in methods:
                fit = [error for g, error in found.get(name, []) if g <= guess]
                errors.append(f"{min(fit):>10.4f}" if fit else f"{'-':>10}")
            print(f"  {f'{table} {column}':28}{guess:>7.2f}{''.join(errors)}", flush=True)


if __name__ == "__main__":
    run()
