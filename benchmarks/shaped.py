"""Shaped noise: its size beside simpler shapes and a semidefinite program, and the time it takes.

The peers are noise of a simpler shape (equal, whitened, diagonal) and, where covariances are equal and the problem is a
semidefinite program, Clarabel through cvxpy. The limit is a factorisation of the vector's size for each place and step,
and a proof in balls of each place at the end.
"""

import math
import time

import numpy as np

import takifugu as tk
from takifugu.channels.vector_noise import GaussianVector
from takifugu.divergences.vectors_proved import Prover
from takifugu.mechanisms.shaped import shaped_noise


def run() -> None:
    against_a_program()
    promises()
    means_of_datasets()
    large()
    draws()


def laws(rng, secrets: int, d: int, *, equal: bool = False):
    x = rng.normal(size=(1, d, 2 * d)) + (0.0 if equal else 0.3) * rng.normal(size=(secrets, d, 2 * d))
    x = np.broadcast_to(x, (secrets, d, 2 * d))
    return [
        tk.VectorMixture.gaussian(0.5 * rng.normal(size=d), c)
        for c in 0.5 * (x @ x.transpose(0, 2, 1) + (x @ x.transpose(0, 2, 1)).transpose(0, 2, 1)) / (2 * d)
    ]


def against_a_program() -> None:
    import cvxpy as cp

    rng, worst, ours, theirs = np.random.default_rng(0), -math.inf, 0.0, 0.0
    cases = [
        (n, d, a, e) for n, d in ((2, 2), (2, 5), (4, 4), (6, 8), (8, 12)) for a, e in ((1.5, 0.1), (3, 0.5), (20, 2))
    ]
    for secrets, d, alpha, epsilon in cases:
        given = laws(rng, secrets, d, equal=True)
        start = time.process_time()
        found = shaped_noise([given], alpha=alpha, epsilon=epsilon, weights=np.ones(d))
        ours += time.process_time() - start
        spread = np.diagonal(given[0].covariance) + np.var([law.mean for law in given], axis=0)
        sigma = cp.Variable((d, d), symmetric=True)
        within = [sigma >> np.diag(0.05**2 * spread)]
        for i in range(secrets):
            for j in range(i):
                gap = (given[i].mean - given[j].mean)[:, None]
                corner = np.array([[2 * epsilon / alpha]])
                within.append(cp.bmat([[given[0].covariance + sigma, gap], [gap.T, corner]]) >> 0)
        start = time.process_time()
        program = cp.Problem(cp.Minimize(cp.trace(sigma)), within)
        program.solve(solver=cp.CLARABEL)
        theirs += time.process_time() - start
        worst = max(worst, float(np.trace(found.covariance)) / program.value - 1)
    print(
        f"equal covariances, {len(cases)} problems: at most {worst:.1e} above the semidefinite program's optimum; "
        f"{ours:.1f} s, proofs included, and {theirs:.1f} s (Clarabel through cvxpy)"
    )


def promises(problems: int = 60) -> None:
    """Random problems: what is found is proved by an enclosure of its own, and no simple shape is cheaper."""
    rng, over, worse, saved = np.random.default_rng(1), 0, 0, []
    for _ in range(problems):
        secrets, d = int(rng.integers(2, 5)), int(rng.integers(1, 7))
        alpha, epsilon = float(rng.choice([1.1, 2, 8, 64])), float(rng.choice([0.05, 0.5, 3]))
        given = laws(rng, secrets, d)
        found = shaped_noise([given], alpha=alpha, epsilon=epsilon, prove=False)
        prover = Prover(found.covariance, alpha=alpha)
        over += not all(prover.decide(p, q, epsilon=epsilon).holds for p in given for q in given if p is not q)
        simple = min(found.compared[name] for name in ("equal", "diagonal", "whitened"))
        worse += found.cost > simple * (1 + 1e-6)
        saved.append(simple / found.cost)
    print(
        f"{problems} random problems: {over} over budget, {worse} worse than the best simple shape; the simple shapes "
        f"cost {np.median(saved):.2f} times as much (median), up to {max(saved):.1f} times"
    )


def means_of_datasets() -> None:
    """Three means at once against each mean alone at a third of the budget, which does not even keep the promise."""
    cases = {
        "heart": ("slope", [1, 3], ["oldpeak", "age", "thalach"]),
        "student-mat": ("schoolsup", None, ["G1", "G2", "G3"]),
    }
    for name, (secret, secrets, columns) in cases.items():
        data = tk.datasets.load(name)
        priors = tk.fit_priors(data, secret=secret, query=tk.Mean(columns), secrets=secrets)
        found = shaped_noise([list(priors.values())], alpha=3.0, epsilon=0.5)
        spread = np.sqrt(np.diagonal(found.covariance) / 1.0)
        each = [tk.fit_priors(data, secret=secret, query=tk.Mean(column), secrets=secrets) for column in columns]
        alone = np.array([tk.calibrate(one, alpha=3.0, epsilon=0.5 / 3).theta for one in each])
        ratio = float(((alone / spread) ** 2).mean())
        print(
            f"{name}, means of {', '.join(columns)}: separate columns take {ratio:.2f} times the variance, on average"
        )


def large(secrets: int = 50, d: int = 20) -> None:
    given = laws(np.random.default_rng(0), secrets, d)
    start = time.process_time()
    found = shaped_noise([given], alpha=3.0, epsilon=0.5)
    seconds = time.process_time() - start
    simple = {name: round(cost / found.cost, 2) for name, cost in found.compared.items()}
    print(f"{d} dimensions, {secrets} secrets, {len(found.places):,} places, all proved: {seconds:.0f} s; {simple}")


def draws(rows: int = 20_000, d: int = 5) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(d, d + 1))
    channel = GaussianVector(x @ x.T)
    excess = float((np.diagonal(channel.effective) / np.diagonal(channel.covariance)).max() - 1)
    start = time.process_time()
    channel.draw(rng.normal(size=(rows, d)))
    seconds = time.process_time() - start
    print(
        f"{rows:,} vectors of {d}: {seconds / rows / d * 1e6:.1f} µs a number; variance {excess:.2%} above that stated"
    )
