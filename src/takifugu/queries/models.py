"""What the queries that train a model per secret have in common."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array, integer
from takifugu._work import one_thread
from takifugu.errors import InputError, MissingExtraError
from takifugu.laws import Law, Mixture, VectorMixture
from takifugu.problems import MEAN_OF, Answer, Diagnostic
from takifugu.queries.priors import Priors, about_rows, check_roles
from takifugu.tables import Sample, Secret, Table, centre_and_spread, prepare

if TYPE_CHECKING:
    import jax
    from numpyro.infer.svi import SVIState
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels


class Prediction(NamedTuple):
    """A predictive normal and the part `noise` of its variance that is a new observation's own; also what is wrong.

    `drawn` are the normals of a new observation given parameters drawn from the model's posterior: means and standard
    deviations.
    """

    mean: float
    std: float
    noise: float
    trouble: str | None
    drawn: tuple[Array, Array] | None = None


class JointPrediction(NamedTuple):
    """The predictive normal of several new observations together, what of each one's variance is noise, and trouble.

    `drawn` is that of a `Prediction`, its means one row per draw: given the parameters, observations are independent.
    """

    mean: Array
    covariance: Array
    noise: Array
    trouble: str | None
    drawn: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Model:
    """Publish a prediction of `target` by a model trained on the rows of one secret.

    Args:
        target: the column to predict.
        features: the columns to predict it from; by default every other numeric column but the secret.
        at: the input to predict at, as a dictionary from feature to value or a list in the order of the
            features. Features that a dictionary leaves out, and all by default, are at the table's mean. A list of
            such inputs asks for a vector of predictions, whose joint law is a `VectorMixture`.
        max_rows: a secret with more rows is trained on a sample of this size.
        seed: of the sample and of the training.
        draws: how many of the model's parameters are drawn from its posterior, for `calibrate(confidence=...)`: 59 are
            enough for 0.95. For a `GP` each takes time as a step of its training does, so none are drawn by default.
        observation: whether what is published is a new observation, drawn from the prediction, as in the paper. With
            False it is the mean of the prediction, what the model itself says: people's own spread around it is then
            none of its uncertainty, and hides nothing.
    """

    target: str
    features: Sequence[str] | None = None
    at: Mapping[str, float] | Sequence[float] | Sequence[Mapping[str, float] | Sequence[float]] | None = None
    max_rows: int = 1_000
    seed: int = 0
    draws: int = 0
    observation: bool = field(default=True, kw_only=True)

    name: ClassVar[str] = "model"
    kind: ClassVar[str] = "model"

    def __post_init__(self) -> None:
        """Check what can be checked without a table."""
        integer("max_rows", self.max_rows, least=2)
        integer("seed", self.seed, least=0)
        integer("draws", self.draws, least=0)
        if self.features is not None and (isinstance(self.features, str) or not list(self.features)):
            raise InputError(f"features must be a list of columns, such as ['age']; got {self.features!r}")

    def priors(self, table: Table, secret: str, secrets: Iterable[object] | None) -> Priors:
        """One predictive normal per secret.

        Args:
            table: the rows.
            secret: the column of secrets.
            secrets: those that are to be hidden from one another; all where left out.

        Returns:
            For each secret the law of a new observation, as a model that was trained on its rows alone predicts it.
        """
        check_roles(secret, self.target)
        self.require()
        training = prepare(
            table,
            secret,
            self.target,
            features=self.features,
            at=self.at,
            secrets=secrets,
            most=self.max_rows,
            seed=self.seed,
        )
        findings = about_rows(secret, training.columns, training.seen) + training.findings
        found: dict[Secret, Law] = {}
        drawn: dict[Secret, tuple[Array, Array]] = {}
        for name, sample in training.samples.items():
            centre, spread = map(float, centre_and_spread(sample.answers))
            if sample.answers.min() == sample.answers.max():
                findings.append(Diagnostic("constant", secret=name, column=self.target, value=float(sample.answers[0])))
                found[name] = _constant(float(sample.answers[0]), sample.at)
                drawn[name] = np.full((self.draws, *sample.at.shape[:-1]), sample.answers[0]), np.zeros(self.draws)
                continue
            standard = Sample(sample.inputs, (sample.answers - centre) / spread, sample.at)
            if sample.at.ndim > 1:
                joint = self.predict_jointly(standard, str(name))
                if joint.trouble:
                    findings.append(Diagnostic("not-converged", secret=name, model=self.name, detail=joint.trouble))
                if not np.isfinite(joint.mean).all() or not np.isfinite(joint.covariance).all():
                    raise self._no_prediction(name)
                published = joint.covariance if self.observation else _without_noise(joint)
                covariance = 0.5 * spread**2 * (published + published.T)
                found[name] = VectorMixture.gaussian(centre + spread * joint.mean, covariance)
                if joint.drawn is not None and self.observation:
                    drawn[name] = centre + spread * joint.drawn[0], spread * joint.drawn[1]
                continue
            prediction = self.predict(standard, str(name))
            if not (math.isfinite(prediction.mean) and prediction.std > 0 and math.isfinite(prediction.std)):
                raise self._no_prediction(name)
            if prediction.trouble:
                findings.append(Diagnostic("not-converged", secret=name, model=self.name, detail=prediction.trouble))
            std = prediction.std if self.observation else math.sqrt(max(prediction.std**2 - prediction.noise, 0.0))
            found[name] = Mixture.gaussian(centre + spread * prediction.mean, spread * std)
            if prediction.drawn is not None and self.observation:
                means, stds = prediction.drawn
                drawn[name] = centre + spread * means, spread * stds
        rows = {name: extent.valid for name, extent in training.seen.extents.items()}
        answer = Answer(self.kind if self.observation else MEAN_OF[self.kind], (self.target,), (secret,))
        made = Priors(found, answer=answer, findings=findings, rows=rows)
        made.drawn = {name: pair for name, pair in drawn.items() if len(pair[0])}
        return made

    def _no_prediction(self, name: object) -> InputError:
        return InputError(
            f"the {self.name} of secret {name!r} gave no prediction: look for outliers in "
            f"{self.target!r} and its features, or name fewer features"
        )

    def require(self) -> None:
        """Raise where the library that trains the model is not installed."""

    def predict(self, sample: Sample, label: str) -> Prediction:
        """Train on standardised inputs and answers; predict the standardised answer at `sample.at`.

        Args:
            sample: standardised inputs and answers of one secret's rows.
            label: what the progress is named after.

        Returns:
            Mean and variance of a new observation, in standardised units.
        """
        raise NotImplementedError

    def predict_jointly(self, sample: Sample, label: str) -> JointPrediction:
        """The same for the answers at each row of `sample.at` together."""
        raise NotImplementedError


def _without_noise(joint: JointPrediction) -> Array:
    """The covariance of the function itself; rounding may leave it a direction of less than no variance."""
    values, vectors = np.linalg.eigh(joint.covariance - np.diag(joint.noise))
    found: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return found


def _constant(value: float, at: Array) -> Mixture | VectorMixture:
    """The law of answers that are all the same."""
    if at.ndim == 1:
        return Mixture.gaussian(value, 0.0)
    return VectorMixture.gaussian(np.full(len(at), value), np.zeros((len(at), len(at))))


# The prediction of a Gaussian process trained on the rows with each secret.


# How likely a Gaussian process makes its training rows, and which way that rises.
#
# It is what scikit-learn's regressor computes for the same kernel (Rasmussen and Williams, Gaussian Processes for
# Machine Learning, section 5.4.1), to the last digits, in half to a sixth of the time (`python -m benchmarks
# fitting`): slopes along the lengths are sums over pairs of rows, Σ M_ab (u_a − u_b)², which take a product of
# matrices and no table of rows × rows × features.


class Likelihood:
    """The logarithm of the marginal likelihood as a function of a kernel's parameters, in logarithms.

    The kernel is that of a `GP`: a size, one length per feature, and the variance of white noise.
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
    that of the function alone. Training takes time cubic in the rows.

    Args:
        target: the column to predict.
        features: the columns to predict it from; by default every other numeric column but the secret.
        at: the input to predict at: a dictionary from feature to value, or a list in the order of the features; the
            table's mean where it is left out. A list of such inputs asks for a vector of predictions.
        max_rows: a secret with more rows is trained on a sample of this size.
        seed: of the sample and of the training.
        draws: how many of the kernel's parameters are drawn from their posterior, for `calibrate(confidence=...)`: 59
            are enough for 0.95. Each takes time as a step of the training does.
        restarts: how many random starts the training has beside the plain one.
        observation: whether a new observation is published, drawn from the prediction; with False it is the mean of the
            prediction, and people's own spread around it hides nothing.

    Raises:
        InputError: for what is no list of features, and sizes and seeds that are no whole numbers.

    >>> GP("weight", ["height", "age"], at={"height": 180}).restarts
    1
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

    def _drawn(self, process: object, sample: Sample) -> tuple[Array, Array] | None:
        """What the process does not know of itself, as far as it was asked for."""
        if not self.draws or not self.observation:
            return None

        return predictive_draws(process, sample, draws=self.draws, seed=self.seed)

    def _said(self, process: "GaussianProcessRegressor", at: Array, **wanted: bool) -> tuple[Array, Array]:
        """The prediction at the rows of `at`."""
        with one_thread():
            mean, spread = process.predict(at, **wanted)
        return mean, spread

    def _trained(self, sample: Sample) -> tuple[object, str | None]:
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


def _noise(process: "GaussianProcessRegressor") -> float:
    """The variance of the white part of the kernel, which stands last."""
    return float(np.exp(process.kernel_.theta[-1]))


def _climb(climbs: list[tuple[float, str | None]], likelihood: Likelihood, start: Array, bounds: Array) -> object:
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


def predictive_draws(
    process: "GaussianProcessRegressor", sample: Sample, *, draws: int, seed: int
) -> tuple[Array, Array]:
    """Means and standard deviations of a new observation at `sample.at`, one pair per drawn kernel and function.

    Given kernel and function f, a new observation is N(f(at), noise²): who knows the population knows these, and the
    spread of f itself is what a sample leaves open. Where `sample.at` holds several inputs the means are rows: one
    function goes through all of them, and the noise of each observation is its own.

    Args:
        process: the fitted regressor.
        sample: what it was fitted to, and where it predicts.
        draws: how many kernels are drawn.
        seed: of the draws.

    Returns:
        Two arrays, a draw in each row.
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


def _parameters(kernel: "kernels.Kernel", likelihood: Likelihood, draws: int, rng: np.random.Generator) -> Array:
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


# The prediction of a Bayesian neural network trained on the rows with each secret.


_LEARNING_RATE = 1e-2
_FIRST_WIDTH = 0.2  # of the posterior's normals: near the width of the priors, where most of them end up
_CHUNK = 250  # steps between two looks at the clock
_LEAST_ROOM = 256  # rows: a program compiles for ten seconds, and so many rows train in under one
_DRAWS = 4_000  # networks drawn from the posterior for the prediction
_STILL_FALLING = 0.02  # nats per row, from one fifth of the training to the next: not yet settled


@dataclass(frozen=True)
class BNN(Model):
    """Publish what a Bayesian neural network, trained on the rows of one secret, predicts of `target`.

    A linear part plus one hidden layer of `hidden` tanh units, normal priors on all weights, unknown strength
    of the hidden layer and unknown observation noise. The posterior is approximated by independent normals,
    fitted by `steps` steps of stochastic variational inference (NumPyro on JAX: install the extra `bnn`). The
    prior is the normal with the mean and variance of a new observation at `at`, over networks and noise.

    Args:
        target: the column to predict.
        features: the columns to predict it from; by default every other numeric column but the secret.
        at: the input to predict at: a dictionary from feature to value, or a list in the order of the features; the
            table's mean where it is left out. A list of such inputs asks for a vector of predictions.
        max_rows: a secret with more rows is trained on a sample of this size.
        seed: of the sample and of the training.
        draws: how many networks are drawn from the posterior: for the prior, and for `calibrate(confidence=...)`.
        hidden: the number of hidden units.
        steps: of the training, 100 or more.
        progress: whether a progress bar shows: always (True), never (False), or by default on a terminal.
        observation: whether a new observation is published, drawn from the prediction; with False it is the mean of the
            prediction, and people's own spread around it hides nothing.

    Raises:
        InputError: for what is no list of features, and sizes, steps and seeds that are no whole numbers in range.
        MissingExtraError: when priors are fitted, where NumPyro and JAX are not installed.

    >>> BNN("weight", ["height", "age"], at={"height": 180}).hidden
    16
    """

    max_rows: int = 2_000
    hidden: int = 16
    steps: int = 10_000
    progress: bool | None = None
    draws: int = 500

    name: ClassVar[str] = "Bayesian neural network"
    kind: ClassVar[str] = "bnn"

    def __post_init__(self) -> None:
        """Check what can be checked without a table."""
        super().__post_init__()
        integer("hidden", self.hidden, least=1)
        integer("steps", self.steps, least=100)
        if self.draws > _DRAWS:
            raise InputError(f"draws must be {_DRAWS:,} or fewer, the networks that are drawn; got {self.draws!r}")

    def require(self) -> None:
        """See `Model.require`."""
        if find_spec("numpyro") is None or find_spec("jax") is None:
            raise MissingExtraError("BNN needs NumPyro and JAX: install them with pip install 'takifugu[bnn]'")

    def predict(self, sample: Sample, label: str) -> Prediction:
        """See `Model.predict`."""
        weights, losses = self._train(sample, label)
        outputs, noises = _outputs(weights, sample.at)
        # By the law of total variance: between the networks, and around each of them.
        noise = float((noises**2).mean())
        std = float(outputs.var() + noise) ** 0.5
        drawn = (outputs[: self.draws], noises[: self.draws]) if self.draws else None
        return Prediction(float(outputs.mean()), std, noise, self._trouble(losses, sample), drawn)

    def predict_jointly(self, sample: Sample, label: str) -> JointPrediction:
        """See `Model.predict_jointly`."""
        weights, losses = self._train(sample, label)
        drawn = [_outputs(weights, at) for at in sample.at]
        outputs = np.array([output for output, _ in drawn])
        # Networks vary together at all inputs; the noise of each new observation is its own.
        between = np.atleast_2d(np.cov(outputs, ddof=0))
        around = np.array([float((noises**2).mean()) for _, noises in drawn])
        kept = (outputs.T[: self.draws], drawn[0][1][: self.draws]) if self.draws else None
        covariance = between + np.diag(around)
        return JointPrediction(outputs.mean(axis=1), covariance, around, self._trouble(losses, sample), kept)

    def _trouble(self, losses: Array, sample: Sample) -> str | None:
        if not _falling(losses / len(sample.answers)):
            return None
        return f"its loss was still falling after {self.steps} steps: allow more steps"

    def _train(self, sample: Sample, label: str) -> tuple[dict[str, Array], Array]:
        """Draws from the fitted posterior, and the loss at every step."""
        import jax
        from tqdm.auto import tqdm

        rows = _padded(sample)
        start, run, drawn_from = _compiled(rows[0].shape, self.hidden)
        first, second = jax.random.split(jax.random.PRNGKey(self.seed))
        state = start(first, *rows)
        losses = []
        bar = {True: False, False: True, None: None}[self.progress]  # tqdm asks whether to hide
        with tqdm(total=self.steps, desc=f"BNN of {label}", unit="step", disable=bar) as clock:
            for done in range(0, self.steps, _CHUNK):
                length = min(_CHUNK, self.steps - done)
                state, part = run(length, state, *rows)
                losses.append(np.asarray(part[:length], dtype=np.float64))
                clock.update(length)
        drawn = drawn_from(second, state)
        return {name: np.asarray(value, np.float64) for name, value in drawn.items()}, np.concatenate(losses)


Floats = npt.NDArray[np.float32]
if TYPE_CHECKING:
    Trained = tuple[SVIState, jax.Array]  # where training stands, and the losses so far
    Training = tuple[Callable[..., SVIState], Callable[..., Trained], Callable[..., dict[str, jax.Array]]]


@lru_cache(maxsize=8)
def _compiled(shape: tuple[int, ...], hidden: int) -> "Training":
    """How to start, to run for some steps, and to draw from the posterior, for inputs of one shape.

    Each is compiled as a whole, once a shape: operation by operation there would be hundreds of little programs,
    and compiling those took longer than the training.
    """
    import jax
    import jax.numpy as jnp
    from numpyro.infer import SVI, TraceMeanField_ELBO
    from numpyro.infer.autoguide import AutoNormal
    from numpyro.optim import Adam

    guide = AutoNormal(_network, init_scale=_FIRST_WIDTH)
    inference = SVI(_network, guide, Adam(_LEARNING_RATE), TraceMeanField_ELBO())

    def start(key: jax.Array, *rows: jax.Array) -> "SVIState":
        state = inference.init(key, *rows, hidden)
        # Draws are made in this order. NumPyro's own is the alphabet's or the model's, as it was compiled or not, and
        # the same seed must go on giving the same networks.
        locations = guide._init_locs
        guide._init_locs = {name: locations[name] for name in guide.prototype_trace if name in locations}
        return state

    def run(length: int, state: "SVIState", *rows: jax.Array) -> "Trained":
        def step(k: jax.Array, so_far: "Trained") -> "Trained":
            state, loss = inference.update(so_far[0], *rows, hidden)
            return state, so_far[1].at[k].set(loss)

        done: Trained = jax.lax.fori_loop(0, length, step, (state, jnp.zeros(_CHUNK)))
        return done

    def drawn_from(key: jax.Array, state: "SVIState") -> dict[str, jax.Array]:
        drawn: dict[str, jax.Array] = guide.sample_posterior(key, inference.get_params(state), sample_shape=(_DRAWS,))
        return drawn

    return jax.jit(start), jax.jit(run), jax.jit(drawn_from)


def _padded(sample: Sample) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Inputs and answers up to the next power of two, and which rows are real: few sizes, few compilations."""
    count, size = sample.inputs.shape
    room = max(_LEAST_ROOM, 1 << (count - 1).bit_length())
    inputs, answers = np.zeros((room, size), np.float32), np.zeros(room, np.float32)
    inputs[:count], answers[:count] = sample.inputs, sample.answers
    return inputs, answers, np.arange(room) < count


def _network(inputs: "jax.Array", answers: "jax.Array", real: "jax.Array", hidden: int) -> None:
    """The model: weights shrink with the width of a layer, so that its output stays of order one.

    Independent normals tend to switch a whole hidden layer off where rows are few; the linear part keeps what
    a straight line explains, and the strength lets the layer go quietly instead of adding its prior's spread.
    """
    import jax.numpy as jnp
    import numpyro
    from numpyro import distributions as dist

    size = inputs.shape[1]
    slopes = numpyro.sample("slopes", dist.Normal(0, size**-0.5).expand([size]).to_event(1))
    first = numpyro.sample("first", dist.Normal(0, size**-0.5).expand([size, hidden]).to_event(2))
    offset = numpyro.sample("offset", dist.Normal(0, 1).expand([hidden]).to_event(1))
    second = numpyro.sample("second", dist.Normal(0, hidden**-0.5).expand([hidden]).to_event(1))
    strength = numpyro.sample("strength", dist.LogNormal(-1, 1))
    level = numpyro.sample("level", dist.Normal(0, 1))
    noise = numpyro.sample("noise", dist.LogNormal(-0.5, 1))
    outputs = level + inputs @ slopes + strength * (jnp.tanh(inputs @ first + offset) @ second)
    with numpyro.plate("rows", inputs.shape[0]), numpyro.handlers.mask(mask=real):
        numpyro.sample("answers", dist.Normal(outputs, noise), obs=answers)


def _outputs(weights: dict[str, Array], at: Array) -> tuple[Array, Array]:
    """What each drawn network says at `at`, in float64, and the noise it goes with."""
    units = np.tanh(np.einsum("i,nij->nj", at, weights["first"]) + weights["offset"])
    layer = weights["strength"] * (units * weights["second"]).sum(axis=1)
    return weights["level"] + weights["slopes"] @ at + layer, weights["noise"]


def _falling(losses: Array) -> bool:
    """Whether the last fifth of the training still lowered the loss by more than chance would."""
    fifth = len(losses) // 5
    before, after = losses[-2 * fifth : -fifth], losses[-fifth:]
    # The noise of a mean, read off neighbouring steps: a slope is no noise.
    chance = float(np.hypot(np.diff(before).std(), np.diff(after).std())) / (2 * fifth) ** 0.5
    return not before.mean() - after.mean() <= _STILL_FALLING + 3 * chance
