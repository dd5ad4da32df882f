"""The proofs behind version 2 of the certificate: each kind of channel has its own, and all end in enclosures."""

from collections.abc import Iterator

from takifugu.calibration import Calibration
from takifugu.certificates import version_1
from takifugu.certificates.channel import ChannelCertificate
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.divergences.proved.balls import Enclosure
from takifugu.divergences.proved.certified import Decision
from takifugu.divergences.proved.effort import Effort
from takifugu.divergences.proved.many_places import Claims, Progress, counted
from takifugu.divergences.proved.vector import Prover
from takifugu.errors import CertificationError, InputError
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.mechanism import Optimal, rule_of
from takifugu.mechanisms.posterior import require_rows_behind
from takifugu.mechanisms.sparse.lower_bound import Prices
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Place, Problem

NO_ODDS = "Gaussian noise bounds no odds, whatever its size: there is no proof to be had"
_ROOM = 1e-10  # losses are recorded this much wider than proved, so that any machine can prove them again
_COUPLED_ROOM = 1e-6  # of a mixture, whose couplings are found in float64 and may stop a round earlier elsewhere


def prove(
    calibration: Calibration, software: tuple[tuple[str, str], ...], nonce: str, progress: Progress | None = None
) -> ChannelCertificate:
    """The certificate of a channel, once everything in it is proved."""
    version_1.require_provable(len(calibration.pairs), len(calibration.beliefs))
    losses = tuple(
        _with_room(found, place, calibration)
        for place, found in zip(calibration.problem.places(), _told(calibration, None, progress), strict=True)
    )
    return ChannelCertificate(calibration, losses, software, nonce)


def reprove(certificate: ChannelCertificate, effort: Effort, progress: Progress | None = None) -> None:
    """Prove a certificate again from its priors alone, within the work that may be spent."""
    calibration = certificate.calibration
    version_1.require_provable(len(calibration.pairs), len(calibration.beliefs))
    for place, stated, found in zip(
        calibration.problem.places(), certificate.losses, _told(calibration, effort, progress), strict=True
    ):
        if not (stated.lower <= found.lower and found.upper <= stated.upper):
            raise CertificationError(f"the loss of {calibration.problem.words(place)} is not what the certificate says")


def _told(calibration: Calibration, effort: Effort | None, progress: Progress | None) -> Iterator[Enclosure]:
    return counted(_proved(calibration, effort), calibration.problem.size, progress)


def _proved(calibration: Calibration, effort: Effort | None) -> Iterator[Enclosure]:
    """An enclosure of the loss at every place, in order; an error where the promise is not proved there."""
    if not isinstance(calibration.guarantee, Renyi):
        raise CertificationError("a channel can be proved for (α, ε) and for odds, and for no other promise")
    if isinstance(calibration.channel, ListChannel):
        return _of_list(calibration, calibration.channel, calibration.guarantee)
    if isinstance(calibration.channel, GaussianVector):
        return _of_vectors(calibration, calibration.channel, calibration.guarantee, effort)
    if isinstance(calibration.channel, GaussianNoise):
        return _of_noise(calibration, calibration.channel, calibration.guarantee, effort)
    raise InputError(f"a {type(calibration.channel).__name__} is not proved here")


def _of_noise(
    calibration: Calibration, channel: GaussianNoise, promise: Renyi, effort: Effort | None
) -> Iterator[Enclosure]:
    """Noise on the line, for the population too: every place in balls (proofs/certified.md), the evidence again."""
    _require_noise_alone(calibration, promise)
    problem = calibration.problem
    places = list(problem.places())
    beliefs = tuple(tuple(problem.laws(belief)) for belief in range(len(problem.beliefs)))
    budget = [Enclosure(0.0, promise.epsilon)] * len(places)
    claims = Claims(beliefs, promise.alpha, channel.theta, places, budget, enclose=True)
    for place, decision in zip(places, claims.settled(effort), strict=True):
        yield _proved_at(place, decision, problem, promise)


def _of_list(calibration: Calibration, channel: ListChannel, promise: Renyi) -> Iterator[Enclosure]:
    """A finite channel: in rational numbers, with every prior within the radius (proofs/finite-channels.md)."""
    problem = calibration.problem
    rule = rule_of(calibration.mechanism, dict(calibration.options))
    if not rule.is_kept(problem, promise, channel):
        raise CertificationError(f"the channel is not proved to keep {promise}: it was refuted")
    _require_best(calibration, rule, promise)
    _require_evidence(calibration, promise)
    reach, size = rule.reach(problem), len(problem.pairs.secrets)
    for place in problem.places():
        p, q = problem.ends(place)
        yield channel.enclosure(
            p,
            q,
            alpha=promise.alpha,
            radius_p=float(reach[place.belief * size + place.first]),
            radius_q=float(reach[place.belief * size + place.second]),
        )


def _of_vectors(
    calibration: Calibration, channel: GaussianVector, promise: Renyi, effort: Effort | None
) -> Iterator[Enclosure]:
    """Noise on vectors: in rational numbers and balls, for mixtures by two couplings (proofs/vector.md)."""
    _require_noise_alone(calibration, promise)
    problem = calibration.problem
    laws = [[law.simplified() for law in problem.laws(belief)] for belief in range(len(problem.beliefs))]
    prover = Prover(channel.covariance, alpha=promise.alpha, effort=effort)
    for place in problem.places():
        p, q = laws[place.belief][place.first], laws[place.belief][place.second]
        yield _proved_at(place, prover.decide(p, q, epsilon=promise.epsilon), problem, promise)


def _require_noise_alone(calibration: Calibration, promise: Renyi) -> None:
    """Refuse what cannot be said of noise (nothing loses less, bounded odds), and look at the evidence again."""
    if calibration.lower_bound is not None:
        raise CertificationError("a lower bound is stated, and nothing proves it")
    if promise.most_odds is not None:
        raise CertificationError(NO_ODDS)
    _require_evidence(calibration, promise)


def _require_evidence(calibration: Calibration, promise: Renyi) -> None:
    evidence = calibration.evidence
    if evidence is None:
        return
    require_rows_behind(calibration.problem)
    if not evidence.holds(calibration.problem, calibration.channel, promise):
        raise CertificationError("what is said about the population does not hold when it is looked at again")


def _proved_at(place: Place, decision: Decision, problem: Problem, promise: Renyi) -> Enclosure:
    if not decision.holds:
        raise CertificationError(
            f"the loss of {problem.words(place)} is not proved to be within epsilon = {promise.epsilon!r}: "
            f"{decision.reason}"
        )
    return decision.enclosure


def _require_best(calibration: Calibration, rule: Optimal, promise: Renyi) -> None:
    """That no channel loses less than the stated bound, by what comes with it (proofs/optimal.md, sparse.md)."""
    stated = calibration.lower_bound
    if stated is None:
        return
    proof = calibration.optimality
    if proof is None:
        raise CertificationError("a lower bound is stated, and nothing proves it")
    if calibration.mechanism == Sparse.name and isinstance(proof, Prices):
        proved = Sparse(**dict(calibration.options)).proved_bound(calibration.problem, promise, proof)
    elif calibration.mechanism == Optimal.name:
        proved = lower_bound(rule.program(calibration.problem, promise), proof)
    else:  # whose options do not say what was to be lost least
        ours = f"{Optimal.name!r} and {Sparse.name!r}"
        raise CertificationError(f"a lower bound is stated, and one is proved for {ours} alone")
    if not proved >= stated:
        raise CertificationError(f"that no channel loses less than {stated!r} is not proved: the bound is {proved!r}")


def _with_room(proved: Enclosure, place: Place, calibration: Calibration) -> Enclosure:
    if isinstance(calibration.channel, GaussianNoise):
        return Enclosure(proved.lower * (1 - _ROOM), min(proved.upper * (1 + _ROOM), calibration.epsilon))
    if not isinstance(calibration.channel, GaussianVector):
        return Enclosure(proved.lower * (1 - _ROOM), proved.upper * (1 + _ROOM))
    room = _ROOM if all(law.is_gaussian for law in calibration.problem.ends(place)) else _COUPLED_ROOM
    return Enclosure(proved.lower * (1 - _ROOM), min(proved.upper * (1 + room), calibration.epsilon))
