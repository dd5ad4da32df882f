"""Everything a reader is told, computed once: the report, the command line and the explorer show these facts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.channels import GaussianVector
from takifugu.errors import InputError
from takifugu.laws import Law, VectorMixture
from takifugu.problems import Pair
from takifugu.reports.channel_facts import channel_facts
from takifugu.reports.common import (
    Curve,
    Facts,
    belief_losses,
    curve,
    grid,
    is_shown,
    most_telling,
    pair_losses,
    question_of,
)
from takifugu.reports.noise_facts import noise_facts

# What there is to say about noise on vectors.


@dataclass(frozen=True)
class AxisFacts:
    """One number of the vector: its noise beside its natural spread, and the worst pair before and after.

    `means` are those of the secrets; None where a secret has too few rows for its law to be shown.
    """

    name: str
    noise: float
    spread: float
    means: tuple[float | None, ...]
    before: tuple[Curve, Curve] = field(repr=False)
    after: tuple[Curve, Curve] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class VectorFacts(Facts):
    """One calibration of noise on vectors."""

    axes: tuple[AxisFacts, ...] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    rows: tuple[int | None, ...] = field(repr=False)
    correlation: Array = field(repr=False)

    def to_dict(self) -> dict[str, object]:
        """See `Facts.to_dict`."""
        return super().to_dict() | {
            "axes": [{"name": a.name, "noise": a.noise, "spread": a.spread, "means": list(a.means)} for a in self.axes],
            "secrets": list(self.secrets),
            "rows": list(self.rows),
            "correlation": self.correlation.tolist(),
        }


def vector_facts(
    calibration: Calibration, *, question: str | None, compare: bool, certificate_sha256: str | None
) -> VectorFacts:
    """The facts of noise on vectors; there is nothing to compare it with."""
    if calibration.channel.publishes != "vector":
        raise InputError("these facts are about noise on vectors")
    channel = calibration.channel.as_vector()
    a, b = calibration.worst_pair
    belief = calibration.beliefs[calibration.place.belief]
    laws = [belief[name] for name in calibration.pairs.secrets]
    rows = tuple(belief.rows.get(name) for name in calibration.pairs.secrets)
    are_shown = [is_shown(tally) for tally in rows]
    width = np.sqrt(np.diagonal(channel.covariance))
    return VectorFacts(
        question=question_of(calibration) if question is None else question,
        calibration=calibration,
        loss=calibration.loss,
        axes=tuple(
            _axis(calibration, belief[a], belief[b], laws, are_shown, channel, k) for k in range(channel.dimension)
        ),
        secrets=tuple(str(name) for name in calibration.pairs.secrets),
        rows=rows,
        correlation=channel.covariance / np.outer(width, width),
        adversary=most_telling(calibration),
        pair_losses=pair_losses(calibration),
        beliefs=belief_losses(calibration),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def axis_names(calibration: Calibration, dimension: int) -> tuple[str, ...]:
    """What each number of the vector is called."""
    answer = calibration.answer
    if answer is not None and len(answer.columns) == dimension:
        return answer.columns
    return tuple(f"number {k + 1}" for k in range(dimension))


def _axis(
    calibration: Calibration,
    p: VectorMixture,
    q: VectorMixture,
    laws: list[VectorMixture],
    are_shown: list[bool],
    channel: GaussianVector,
    axis: int,
) -> AxisFacts:
    direction = np.eye(channel.dimension)[axis]
    a, b = map(str, calibration.worst_pair)
    bare = p.projected(direction), q.projected(direction)
    noise = math.sqrt(float(channel.covariance[axis, axis]))
    noisy = tuple(law.with_noise(noise) for law in bare)
    x, noisy_x = grid(bare), grid([*noisy, *bare])
    return AxisFacts(
        axis_names(calibration, channel.dimension)[axis],
        noise,
        max(law.projected(direction).std for law in laws),
        tuple(float(law.mean[axis]) if shown else None for law, shown in zip(laws, are_shown, strict=True)),
        (curve(a, bare[0], x), curve(b, bare[1], x)),
        (curve(a, noisy[0], noisy_x), curve(b, noisy[1], noisy_x)),
    )


def facts_for(
    priors: Mapping[object, Law] | Sequence[Mapping[object, Law]],
    *,
    alpha: float | None = None,
    epsilon: float | None = None,
    odds: float | None = None,
    pairs: Iterable[Pair] | None = None,
    mechanism: str | None = None,
    question: str | None = None,
    compare: bool = True,
    certificate_sha256: str | None = None,
    **options: Any,
) -> Facts:
    """Calibrate, and compute what there is to say about the result.

    Priors from `fit_priors` bring their findings and histograms along. `compare=False` leaves other mechanisms out.

    >>> from takifugu import Mixture
    >>> facts = facts_for(
    ...     {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1, question="raw:x"
    ... )
    >>> round(facts.theta, 6), round(facts.adversary.guess_before, 4), round(facts.adversary.guess_after, 4)
    (1.732051, 0.8413, 0.6915)
    """
    result = calibrate(priors, alpha=alpha, epsilon=epsilon, odds=odds, pairs=pairs, mechanism=mechanism, **options)
    return facts_of(result, question=question, compare=compare, certificate_sha256=certificate_sha256)


def facts_of(
    calibration: Calibration,
    *,
    question: str | None = None,
    compare: bool = True,
    certificate_sha256: str | None = None,
) -> Facts:
    """The facts of a calibration that was made already, in the kind that its channel brings.

    >>> from takifugu import Finite, calibrate
    >>> result = calibrate({"a": Finite([0, 1], [3, 1]), "b": Finite([0, 1], [1, 3])}, odds=2)
    >>> facts = facts_of(result)
    >>> facts.adversary.guess_before, round(facts.adversary.guess_after, 4)
    (0.75, 0.6667)
    """
    make: object
    if calibration.channel.publishes == "number":
        make = noise_facts
    elif calibration.channel.publishes == "values":
        make = channel_facts
    elif calibration.channel.publishes == "vector":
        make = vector_facts
    else:
        kind = type(calibration.channel).__name__
        raise InputError(f"there is no report on a {kind}: str(calibration) tells what was found in a few words")
    facts: Facts = make(calibration, question=question, compare=compare, certificate_sha256=certificate_sha256)
    return facts
