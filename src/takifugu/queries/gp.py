"""The prediction of a Gaussian process trained on the rows with each secret."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from takifugu._threads import one_thread
from takifugu._validation import Array
from takifugu.queries.gp_likelihood import Likelihood
from takifugu.queries.models import JointPrediction, Model, Prediction
from takifugu.tables.sample import Sample

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
        from takifugu.queries.gp_posterior import predictive_draws

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
