"""The prediction of a Gaussian process trained on the rows with each secret."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from takifugu._validation import Array
from takifugu._work import one_thread
from takifugu.queries.models import JointPrediction, Model, Prediction
from takifugu.tables import Sample

# How likely a Gaussian process makes its training rows, and which way that rises.
#
# It is what scikit-learn's regressor computes for the same kernel (Rasmussen and Williams, Gaussian Processes for
# Machine Learning, section 5.4.1), to the last digits, in half to a sixth of the time (`python -m benchmarks
# fitting`): slopes along the lengths are sums over pairs of rows, Σ M_ab (u_a − u_b)², which take a product of
# matrices and no table of rows × rows × features.


class Likelihood:
    """The logarithm of the marginal likelihood as a function of a kernel's parameters, in logarithms.

    The kernel is that of `takifugu.queries.gp`: a size, one length per feature, and the variance of white noise.
    """

    def __init__(self, inputs: Array, answers: Array, *, ridge: float) -> None:
        """`ridge` is what scikit-learn adds to the diagonal besides, so that the same matrix is factored."""
        self._inputs = inputs - inputs.mean(axis=0)  # distances from products keep more digits near zero
        self._answers = np.asarray(answers, dtype=np.float64)
        self._ridge = ridge

    def value(self, parameters: Array) -> float:
        """The value alone; −∞ where rounding leaves no covariance to speak of."""
        return self._at(parameters).value

    def __call__(self, parameters: Array) -> tuple[float, Array]:
        """The value and its gradient."""
        from scipy.linalg.lapack import dpotri

        at = self._at(parameters)
        if at.value == -math.inf:
            return at.value, np.zeros(len(parameters))
        below, _ = dpotri(at.root, lower=1, overwrite_c=1)  # above the diagonal there is nothing
        pull = np.outer(at.weights, at.weights)  # less the inverse: twice the slope along every entry of the covariance
        pull -= _mirrored(below)
        pairs = np.multiply(pull, at.alike, out=at.alike)
        sums = pairs.sum(axis=1)
        slope = np.empty(len(parameters))
        slope[0] = 0.5 * sums.sum()
        slope[1:-1] = sums @ at.scaled**2 - np.einsum("ij,ij->j", at.scaled, pairs @ at.scaled)
        slope[-1] = 0.5 * math.exp(parameters[-1]) * pull.trace()
        return at.value, slope

    def _at(self, parameters: Array) -> "_Factored":
        from scipy.linalg.lapack import dpotrf, dpotrs

        rows = len(self._inputs)
        scaled = self._inputs / np.exp(parameters[1:-1])
        squares = np.einsum("ij,ij->i", scaled, scaled)
        # In place, step by step: a new table of rows × rows for every step took most of the time.
        alike = scaled @ scaled.T
        alike *= -2.0
        alike += squares[:, None] + squares
        np.maximum(alike, 0.0, out=alike)
        np.fill_diagonal(alike, 0.0)
        alike *= -0.5
        np.exp(alike, out=alike)
        alike *= math.exp(parameters[0])
        covariance = alike.copy()
        covariance.flat[:: rows + 1] += math.exp(parameters[-1]) + self._ridge
        root, failed = dpotrf(covariance.T, lower=1, overwrite_a=1)  # the same, in the order of LAPACK
        weights, _ = dpotrs(root, self._answers, lower=1)
        value = -0.5 * (self._answers @ weights + rows * math.log(2 * math.pi))
        value = -math.inf if failed else float(value - np.log(root.diagonal()).sum())
        return _Factored(value, scaled, alike, root, weights)


def _mirrored(below: Array) -> Array:
    """The symmetric matrix of what is on the diagonal and below it, where nothing is above."""
    found: Array = below.T + below
    np.fill_diagonal(found, below.diagonal())
    return found


class _Factored(NamedTuple):
    """The value, and what it was found from: scaled inputs, the kernel without noise, its root, and K⁻¹y."""

    value: float
    scaled: Array
    alike: Array
    root: Array
    weights: Array


_STATIONARY = 1e-3  # largest slope of the log marginal likelihood at a settled optimum, relative to its size
RIDGE = 1e-10  # on the diagonal of the covariance, as scikit-learn has it by default


@dataclass(frozen=True)
class GP(Model):
    """Publish what a Gaussian process, trained on the rows of one secret, predicts of `target`.

    scikit-learn's regressor with a squared-exponential kernel, one length per feature, and white observation
    noise; their sizes maximise the marginal likelihood, from a plain start and `restarts` random ones. The
    prior is the predictive normal of a new observation at `at`, noise included; with `observation=False` it is
    that of the function alone. Training takes time cubic in the rows: a secret with more than `max_rows` is
    trained on a seeded sample.

    See `Model` for the other parameters.
    """

    max_rows: int = 500
    restarts: int = 1

    name: ClassVar[str] = "Gaussian process"
    kind: ClassVar[str] = "gp"

    def predict(self, sample: Sample, label: str) -> Prediction:
        """See `Model.predict`."""
        process, trouble = self._trained(sample)
        mean, std = self._said(process, sample.at[None, :], return_std=True)
        return Prediction(float(mean[0]), float(std[0]), _noise(process), trouble, self._drawn(process, sample))

    def predict_jointly(self, sample: Sample, label: str) -> JointPrediction:
        """See `Model.predict_jointly`."""
        process, trouble = self._trained(sample)
        mean, covariance = self._said(process, sample.at, return_cov=True)
        noise = np.full(len(mean), _noise(process))
        return JointPrediction(np.asarray(mean), np.asarray(covariance), noise, trouble, self._drawn(process, sample))

    def _drawn(self, process: Any, sample: Sample) -> tuple[Array, Array] | None:
        """What the process does not know of itself, as far as it was asked for."""
        if not self.draws or not self.observation:
            return None

        return predictive_draws(process, sample, draws=self.draws, seed=self.seed)

    def _said(self, process: Any, at: Array, **wanted: bool) -> tuple[Array, Array]:
        """The prediction at the rows of `at`."""
        with one_thread():
            mean, spread = process.predict(at, **wanted)
        return mean, spread

    def _trained(self, sample: Sample) -> tuple[Any, str | None]:
        """The process whose kernel maximises the marginal likelihood, and what is wrong with that, if anything."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        size = sample.inputs.shape[1]
        lengths = math.sqrt(size) * np.ones(size)  # standardised points lie about √d apart
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(lengths, (1e-2, 1e4)) + WhiteKernel(0.5, (1e-6, 1e2))
        climbs: list[tuple[float, str | None]] = []
        likelihood = Likelihood(sample.inputs, sample.answers, ridge=RIDGE)
        process = GaussianProcessRegressor(
            kernel,
            alpha=RIDGE,
            optimizer=lambda _, initial_theta, bounds: _climb(climbs, likelihood, initial_theta, bounds),
            n_restarts_optimizer=self.restarts,
            random_state=self.seed,
        )
        # One thread: for matrices of this size more cost more than they bring, and their number, which differs
        # from machine to machine, would change the last digits.
        with warnings.catch_warnings(), one_thread():
            # A length at its upper bound is a feature found to be irrelevant: no cause for alarm.
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(sample.inputs, sample.answers)
        return process, min(climbs)[1]


def _noise(process: Any) -> float:
    """The variance of the white part of the kernel, which stands last."""
    return float(np.exp(process.kernel_.theta[-1]))


def _climb(climbs: list[tuple[float, str | None]], likelihood: Likelihood, start: Array, bounds: Array) -> Any:
    """Maximise the marginal likelihood, keeping a note of how it ended."""
    from scipy.optimize import minimize

    def downhill(parameters: Array) -> tuple[float, Array]:
        value, slope = likelihood(parameters)
        return -value, -slope

    end = minimize(downhill, start, method="L-BFGS-B", jac=True, bounds=bounds)
    # At a bound only the slope that points inwards counts.
    slope = end.x - np.clip(end.x - end.jac, bounds[:, 0], bounds[:, 1])
    settled = np.abs(slope).max() <= _STATIONARY * max(1.0, abs(float(end.fun)))
    trouble = None if settled else f"the marginal likelihood was still rising ({end.message})"
    climbs.append((float(end.fun), trouble))
    return end.x, end.fun


# What a Gaussian process does not know of itself: draws of its kernel's parameters, and of the function where asked.
#
# A chain (Metropolis and Hastings) whose proposals come from the normal around the best values (Laplace's
# approximation, in logarithms; Rasmussen and Williams, Gaussian Processes for Machine Learning, section 5.2) draws
# the parameters. It is the model's own account of what it does not know, not a bound on it.

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
