"""What the queries that train a model per secret have in common."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from takifugu._validation import Array, integer
from takifugu.errors import InputError
from takifugu.laws import Mixture, VectorMixture
from takifugu.problems import MEAN_OF, Answer, Diagnostic
from takifugu.queries.priors import Priors
from takifugu.queries.remarks import about_rows, check_roles
from takifugu.tables import Sample, Table, centre_and_spread, prepare


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

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """One predictive normal per secret."""
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
        found: dict[Any, Any] = {}
        drawn: dict[Any, tuple[Array, Array]] = {}
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

    def _no_prediction(self, name: Any) -> InputError:
        return InputError(
            f"the {self.name} of secret {name!r} gave no prediction: look for outliers in "
            f"{self.target!r} and its features, or name fewer features"
        )

    def require(self) -> None:
        """Raise where the library that trains the model is not installed."""

    def predict(self, sample: Sample, label: str) -> Prediction:
        """Train on standardised inputs and answers; predict the standardised answer at `sample.at`."""
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
