"""Fitting a million rows that take 1,000 distinct values, and training Gaussian processes, beside scikit-learn.

The peer is scikit-learn's `GaussianMixture` on the same rows, with the same numbers of components and of starts, chosen
by the same criterion. It takes every row in every step; ours takes every distinct value with its count, here a thousand
times fewer, a gain that shrinks as values differ. The limit of both is one exponential for each component, value and
step.

For Gaussian processes the peer is its `GaussianProcessRegressor` with the same kernel, start and optimiser; ours is the
same regressor, to which the marginal likelihood and its slopes are told. The limit of both is one factorisation and one
inverse of a matrix of rows × rows for each step.
"""

import time
import warnings

import numpy as np

from takifugu.laws.fitting.fit import fit

ROWS = 1_000_000
STARTS = 2  # scikit-learn needs minutes for more; Takifugu's default is 10
COMPONENTS = 3


def column() -> np.ndarray:
    """Two overlapping groups of rounded amounts between 0 and 999."""
    rng = np.random.default_rng(7)
    amounts = np.concatenate([rng.normal(330, 90, ROWS // 2), rng.normal(640, 110, ROWS - ROWS // 2)])
    amounts = np.clip(np.round(amounts), 0, 999)
    amounts[:1000] = np.arange(1000)
    return amounts


def run() -> None:
    """Print both times for the same numbers of components and starts, and their ratio."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    values = column()
    print(f"fit: {len(values):,} rows, {len(np.unique(values)):,} distinct values, ", end="")
    print(f"1 to {COMPONENTS} components, {STARTS} starts each")
    begin = time.process_time()
    ours = fit(values, max_components=COMPONENTS, n_starts=STARTS)
    seconds = time.process_time() - begin
    theirs = []
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for size in range(1, COMPONENTS + 1):
            peer = GaussianMixture(size, n_init=STARTS, reg_covar=ours.min_std**2, random_state=0)
            theirs.append(float(peer.fit(values[:, None]).bic(values[:, None])))
    peer_seconds = time.process_time() - begin
    print(f"  {'':14}{'seconds':>10}{'best BIC':>18}")
    print(f"  {'takifugu':14}{seconds:>10.2f}{ours.bic:>18.1f}")
    print(f"  {'scikit-learn':14}{peer_seconds:>10.2f}{min(theirs):>18.1f}")
    print(f"  {'ratio':14}{peer_seconds / seconds:>10.0f}")
    for rows, features in ((60, 2), (200, 13), (500, 13)):
        processes(rows, features)


def processes(rows: int, features: int) -> None:
    """A Gaussian process on so many rows, trained both ways."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor

    from takifugu.queries.models import GP
    from takifugu.tables.sample import Sample

    rng = np.random.default_rng(rows)
    inputs = rng.normal(size=(rows, features))
    answers = np.sin(inputs[:, 0]) + 0.3 * rng.normal(size=rows)
    sample = Sample(inputs, answers / answers.std(), np.zeros(features))
    begin = time.process_time()
    process, _ = GP("y", restarts=0)._trained(sample)
    seconds = time.process_time() - begin
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = GaussianProcessRegressor(process.kernel).fit(sample.inputs, sample.answers)
    theirs = time.process_time() - begin
    likely = process.log_marginal_likelihood_value_, peer.log_marginal_likelihood_value_
    print(
        f"Gaussian process, {rows} rows, {features} features: {seconds:.2f} s, log likelihood {likely[0]:.4f}; "
        f"scikit-learn {theirs:.2f} s, {likely[1]:.4f}; {theirs / seconds:.1f} times"
    )


if __name__ == "__main__":
    run()
