"""The prediction of a Bayesian neural network trained on the rows with each secret."""

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from takifugu._validation import Array, integer
from takifugu.errors import InputError, MissingExtraError
from takifugu.queries.models import JointPrediction, Model, Prediction
from takifugu.tables import Sample

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
    prior is the normal with the mean and variance of a new observation at `at`, over networks and noise. A
    secret with more than `max_rows` rows is trained on a seeded sample. A progress bar shows on a terminal;
    `progress` says always (True) or never (False).

    See `Model` for the other parameters.
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


@lru_cache(maxsize=8)
def _compiled(shape: tuple[int, ...], hidden: int) -> tuple[Any, Any, Any]:
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

    def start(key: Any, *rows: Any) -> Any:
        state = inference.init(key, *rows, hidden)
        # Draws are made in this order. NumPyro's own is the alphabet's or the model's, as it was compiled or not, and
        # the same seed must go on giving the same networks.
        locations = guide._init_locs
        guide._init_locs = {name: locations[name] for name in guide.prototype_trace if name in locations}
        return state

    def run(length: int, state: Any, *rows: Any) -> Any:
        def step(k: Any, so_far: Any) -> Any:
            state, loss = inference.update(so_far[0], *rows, hidden)
            return state, so_far[1].at[k].set(loss)

        return jax.lax.fori_loop(0, length, step, (state, jnp.zeros(_CHUNK)))

    def drawn_from(key: Any, state: Any) -> Any:
        return guide.sample_posterior(key, inference.get_params(state), sample_shape=(_DRAWS,))

    return jax.jit(start), jax.jit(run), jax.jit(drawn_from)


def _padded(sample: Sample) -> tuple[Any, Any, Any]:
    """Inputs and answers up to the next power of two, and which rows are real: few sizes, few compilations."""
    count, size = sample.inputs.shape
    room = max(_LEAST_ROOM, 1 << (count - 1).bit_length())
    inputs, answers = np.zeros((room, size), np.float32), np.zeros(room, np.float32)
    inputs[:count], answers[:count] = sample.inputs, sample.answers
    return inputs, answers, np.arange(room) < count


def _network(inputs: Any, answers: Any, real: Any, hidden: int) -> None:
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
