"""What a Gaussian process does not know of itself: draws of its kernel's parameters, and of the function where asked.

A chain (Metropolis and Hastings) whose proposals come from the normal around the best values (Laplace's approximation,
in logarithms; Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.2) draws the parameters. It is
the model's own account of what it does not know, not a bound on it.
"""

from typing import Any

import numpy as np

from takifugu._threads import one_thread
from takifugu._validation import Array
from takifugu.queries.gp_likelihood import Likelihood
from takifugu.tables.sample import Sample

_STEP = 1e-3  # of a logarithm, for differences of the gradient
_BETWEEN = 5  # steps of the chain from one draw to the next, so that neighbours have little in common


def predictive_draws(process: Any, sample: Sample, *, draws: int, seed: int) -> tuple[Array, Array]:
    """Means and standard deviations of a new observation at `sample.at`, one pair per drawn kernel and function.

    Given kernel and function f, a new observation is N(f(at), noise²): who knows the population knows these, and the
    spread of f itself is what a sample leaves open. Where `sample.at` holds several inputs the means are rows: one
    function goes through all of them, and the noise of each observation is its own.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor

    rng = np.random.default_rng([seed, 2])
    likelihood = Likelihood(sample.inputs, sample.answers, ridge=process.alpha)
    means, stds = np.empty((draws, *sample.at.shape[:-1])), np.empty(draws)
    with one_thread():  # as in training: the last digits must not hang on the machine's cores
        for k, parameters in enumerate(_parameters(process.kernel_, likelihood, draws, rng)):
            kernel = process.kernel_.clone_with_theta(parameters)
            drawn = GaussianProcessRegressor(kernel, optimizer=None).fit(sample.inputs, sample.answers)
            mean, covariance = drawn.predict(np.atleast_2d(sample.at), return_cov=True)
            noise = float(np.exp(parameters[-1]))  # of the white part, which stands last
            function = _drawn_normal(mean, covariance - noise * np.eye(len(mean)), rng)
            means[k] = function if sample.at.ndim > 1 else function[0]
            stds[k] = np.sqrt(noise)
    return means, stds


def _drawn_normal(mean: Array, covariance: Array, rng: np.random.Generator) -> Array:
    """One draw; rounding may have left a variance just below zero, and two inputs may be nearly one."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    found: Array = mean + (vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.standard_normal(len(mean))
    return found


def _parameters(kernel: Any, likelihood: Likelihood, draws: int, rng: np.random.Generator) -> Array:
    """Logarithms of the kernel's parameters, drawn from their posterior; before it, each was anywhere in its bounds."""
    best, bounds = kernel.theta, kernel.bounds
    lower = _laplace(likelihood, best, bounds)
    found = np.empty((draws, len(best)))
    here, weight = best, likelihood.value(best)
    for k in range(draws):
        for _ in range(_BETWEEN):
            step = rng.standard_normal(len(best))
            there = best + lower @ step
            chance = np.log(rng.uniform())
            if (there < bounds[:, 0]).any() or (there > bounds[:, 1]).any():
                continue  # impossible before the rows spoke: the chain stays where it is
            # An independent proposal is weighed against its own density.
            new = likelihood.value(there) + 0.5 * float(step @ step)
            if chance < new - weight:
                here, weight = there, new
        found[k] = here
    return found


def _laplace(likelihood: Likelihood, best: Array, bounds: Array) -> Array:
    """A root of the covariance of the normal around the best parameters.

    What the bounds say is added to what the rows say as a normal of the same variance, so a direction of which the
    rows say nothing is as wide as its bounds and no wider.
    """
    curvature = np.empty((len(best), len(best)))
    for k in range(len(best)):
        step = np.zeros(len(best))
        step[k] = _STEP
        (_, ahead), (_, behind) = (likelihood(best + side * step) for side in (1, -1))
        curvature[k] = -(ahead - behind) / (2 * _STEP)
    said, ways = np.linalg.eigh(0.5 * (curvature + curvature.T))
    # Rounding, and a best value that lies on a bound, leave directions that bend the wrong way: they say nothing.
    precision = (ways * np.maximum(said, 0.0)) @ ways.T + np.diag(12 / (bounds[:, 1] - bounds[:, 0]) ** 2)
    lower: Array = np.linalg.cholesky(np.linalg.inv(precision))
    return lower
