"""Everything a reader is told, computed once: the report, the command line and the explorer show these facts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from takifugu.calibration import Calibration, calibrate
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.errors import InputError
from takifugu.laws import Law
from takifugu.problems.pairs import Pair
from takifugu.reports.channel_facts import ChannelFacts, channel_facts
from takifugu.reports.common import Facts
from takifugu.reports.noise_facts import NoiseFacts, noise_facts
from takifugu.reports.vector_facts import VectorFacts, vector_facts

__all__ = ["ChannelFacts", "Facts", "NoiseFacts", "VectorFacts", "facts_for", "facts_of"]


def facts_for(
    priors: Mapping[Any, Law] | Sequence[Mapping[Any, Law]],
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
    make: Any
    if isinstance(calibration.channel, GaussianNoise):
        make = noise_facts
    elif isinstance(calibration.channel, ListChannel):
        make = channel_facts
    elif isinstance(calibration.channel, GaussianVector):
        make = vector_facts
    else:
        kind = type(calibration.channel).__name__
        raise InputError(f"there is no report on a {kind}: str(calibration) tells what was found in a few words")
    facts: Facts = make(calibration, question=question, compare=compare, certificate_sha256=certificate_sha256)
    return facts
