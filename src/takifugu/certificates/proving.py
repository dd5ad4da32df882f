"""Certify and verify: the same proof, once from a calibration and once from a file.

What is proved by it, and what is not, is proofs/certificates.md.
"""

import math
import os
import platform
import secrets as random_bits
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from takifugu import strict_json
from takifugu import strict_json as form
from takifugu._validation import real
from takifugu.calibration import Calibration
from takifugu.certificates import document as version_1
from takifugu.certificates.channel import VERSION as CHANNEL_VERSION
from takifugu.certificates.channel import ChannelCertificate, RedactedChannel
from takifugu.certificates.document import Certificate, RedactedCertificate
from takifugu.certificates.statement import Statement, is_statement
from takifugu.channels import GaussianNoise
from takifugu.divergences import Claims, Decision, Effort, Enclosure, Progress, Prover, counted, limit_for, settle_all
from takifugu.errors import CertificationError, InputError
from takifugu.laws import Law, Mixture
from takifugu.mechanisms import Optimal, WassersteinApprox, extreme_laws, require_rows_behind, rule_of
from takifugu.problems import Guarantee, MaxDivergence, Part, Place, Problem, RenyiDivergence

if TYPE_CHECKING:
    from takifugu.dependence import Influence, SeriesCalibration

# The proofs behind version 2 of the certificate: each kind of channel has its own, and all end in enclosures.

NO_ODDS = "Gaussian noise bounds no odds, whatever its size"
_COUPLED_ROOM = 1e-6  # of a mixture, whose couplings are found in float64 and may stop a round earlier elsewhere


def prove(
    calibration: Calibration, software: tuple[tuple[str, str], ...], nonce: str, progress: Progress | None = None
) -> ChannelCertificate:
    """The certificate of a channel, once everything in it is proved."""
    _require_listed(calibration)
    losses = tuple(
        _channel_with_room(found, place, calibration)
        for place, found in zip(calibration.problem.places(), _told(calibration, None, progress), strict=True)
    )
    if calibration.problem.size > form.MOST_LOSSES:
        losses = ()  # each is within the budget, and that is all that is said of any
    return ChannelCertificate(calibration, losses, software, nonce)


def reprove(certificate: ChannelCertificate, effort: Effort, progress: Progress | None = None) -> None:
    """Prove a certificate again from its priors alone, within the work that may be spent."""
    calibration = certificate.calibration
    _require_listed(calibration)
    if not certificate.losses:
        for _ in _told(calibration, effort, progress):
            pass
        return
    for place, stated, found in zip(
        calibration.problem.places(), certificate.losses, _told(calibration, effort, progress), strict=True
    ):
        if not (stated.lower <= found.lower and found.upper <= stated.upper):
            raise CertificationError(f"the loss of {calibration.problem.words(place)} is not what the certificate says")


def _require_listed(calibration: Calibration) -> None:
    """Refuse more losses than a file may hold, unless they are all the budget (of noise on numbers), or more pairs."""
    pairs = calibration.pairs
    if calibration.channel.publishes != "number" or (not pairs.is_every and len(pairs) > form.MOST_LOSSES):
        version_1.require_provable(len(calibration.pairs), len(calibration.beliefs))


def _told(calibration: Calibration, effort: Effort | None, progress: Progress | None) -> Iterator[Enclosure]:
    return counted(_proved(calibration, effort), calibration.problem.size, progress)


def _proved(calibration: Calibration, effort: Effort | None) -> Iterator[Enclosure]:
    """An enclosure of the loss at every place, in order; an error where the guarantee is not proved there."""
    if not calibration.guarantee.is_provable:
        raise CertificationError("a channel can be proved for (α, ε) and for odds, and for no other guarantee")
    return _PROOFS[calibration.channel.publishes](calibration, effort)


def _of_noise(calibration: Calibration, effort: Effort | None) -> Iterator[Enclosure]:
    """Noise on numbers, for the population too: every part of the guarantee at every place, and the evidence again."""
    promise, problem, channel = calibration.guarantee, calibration.problem, calibration.channel
    _require_noise_alone(calibration)
    laws = [tuple(problem.laws(belief)) for belief in range(len(problem.beliefs))]
    if _is_version_1(calibration):
        yield from _of_gaussian_noise(calibration, laws, effort)
        return
    claim = Enclosure(0.0, promise.parts[0].budget)  # where in it a proof stops depends on how it is cut
    open_to = [
        (part, [~channel.cleared(one, part.divergence, part.budget, effort=effort) for one in laws])
        for part in promise.parts
    ]
    for place in problem.places():
        for part, is_open in open_to:
            if is_open[place.belief][place.first, place.second]:
                decision = channel.decide(*problem.ends(place), part.divergence, part.budget, effort=effort)
                _proved_at(place, decision, problem, part)
        yield claim


def _of_gaussian_noise(
    calibration: Calibration, laws: Sequence[tuple[Mixture, ...]], effort: Effort | None
) -> Iterator[Enclosure]:
    """Of a Rényi divergence: the loss at every place, enclosed; of very many that it is within the budget.

    Of normals, each pair of which is hidden, those on the hull of (mean, variance) are then enough
    (proofs/extreme-laws.md): no pair loses more than some pair of them.
    """
    promise, problem = calibration.guarantee, calibration.problem
    is_many, places = problem.size > form.MOST_LOSSES, list(problem.places())
    asked = places
    if is_many and problem.pairs.is_every and all(law.is_gaussian for one in laws for law in one):
        corners = [frozenset(extreme_laws(one).tolist()) for one in laws]
        asked = [one for one in places if {one.first, one.second} <= corners[one.belief]]
    claim = Enclosure(0.0, promise.epsilon)
    claims = Claims(tuple(laws), promise.alpha, calibration.theta, asked, [claim] * len(asked), enclose=not is_many)
    proved = (
        _proved_at(place, decision, problem, promise.parts[0])
        for place, decision in zip(asked, claims.settled(effort), strict=True)
    )
    if not is_many:
        yield from proved
        return
    for _ in proved:
        pass
    for _ in places:
        yield claim


def _is_version_1(calibration: Calibration) -> bool:
    """Whether it is Gaussian noise under one Rényi guarantee, whose losses are enclosed (proofs/certified.md)."""
    parts = calibration.guarantee.parts
    is_renyi = len(parts) == 1 and type(parts[0].divergence) is RenyiDivergence
    return is_renyi and calibration.channel.kind == GaussianNoise.kind


def _of_list(calibration: Calibration, effort: Effort | None) -> Iterator[Enclosure]:
    """A finite channel: in rational numbers, with every prior within the radius (proofs/finite-channels.md)."""
    problem, promise, channel = calibration.problem, calibration.guarantee, calibration.channel.as_list()
    rule = rule_of(calibration.mechanism, dict(calibration.options))
    if not rule.is_kept(problem, promise, channel):
        raise CertificationError(f"the channel is not proved to keep {promise}: it was refuted")
    _require_best(calibration, rule, promise)
    _require_evidence(calibration, promise)
    reach, size, first = rule.reach(problem), len(problem.pairs.secrets), promise.leading
    for place in problem.places():
        p, q = problem.ends(place)
        if type(first.divergence) not in (RenyiDivergence, MaxDivergence):
            yield _proved_at(place, channel.decide(p, q, first.divergence, first.budget), problem, first)
            continue
        yield channel.enclosure(
            p,
            q,
            alpha=first.alpha,
            radius_p=float(reach[place.belief * size + place.first]),
            radius_q=float(reach[place.belief * size + place.second]),
        )


def _of_vectors(calibration: Calibration, effort: Effort | None) -> Iterator[Enclosure]:
    """Noise on vectors: in rational numbers and balls, for mixtures by two couplings (proofs/vector.md)."""
    _require_noise_alone(calibration)
    problem, promise, channel = calibration.problem, calibration.guarantee, calibration.channel.as_vector()
    laws = [[law.simplified() for law in problem.laws(belief)] for belief in range(len(problem.beliefs))]
    prover = Prover(channel.covariance, alpha=promise.alpha, effort=effort)
    for place in problem.places():
        p, q = laws[place.belief][place.first], laws[place.belief][place.second]
        yield _proved_at(place, prover.decide(p, q, epsilon=promise.epsilon), problem, promise.parts[0])


_PROOFS = {"number": _of_noise, "values": _of_list, "vector": _of_vectors}


def _require_noise_alone(calibration: Calibration) -> None:
    """Refuse what cannot be said of noise (nothing loses less, odds that nothing bounds), and look at the evidence."""
    if calibration.lower_bound is not None:
        raise CertificationError("a lower bound is stated, and nothing proves it")
    _require_known(calibration)
    _require_evidence(calibration, calibration.guarantee)


def _require_known(calibration: Calibration) -> None:
    channel = calibration.channel
    for part in calibration.guarantee.parts:
        if not (channel.is_bare or channel.knows(type(part.divergence))):
            bounded = NO_ODDS if part.most_odds is not None else f"{part.divergence.words} is not known after it"
            raise CertificationError(f"{bounded}: there is no proof")


def _require_evidence(calibration: Calibration, promise: Guarantee) -> None:
    evidence = calibration.evidence
    if evidence is None:
        return
    require_rows_behind(calibration.problem)
    if not evidence.holds(calibration.problem, calibration.channel, promise):
        raise CertificationError("what is said about the population does not hold when it is looked at again")


def _proved_at(place: Place, decision: Decision, problem: Problem, part: Part) -> Enclosure:
    if not decision.holds:
        raise CertificationError(
            f"{part.divergence.words} of {problem.words(place)} is not proved to be within {part}: {decision.reason}"
        )
    return decision.enclosure


def _require_best(calibration: Calibration, rule: Optimal, promise: Guarantee) -> None:
    """That no channel loses less than the stated bound, by what comes with it (proofs/optimal.md, sparse.md)."""
    stated = calibration.lower_bound
    if stated is None:
        return
    proof = calibration.optimality
    if proof is None:
        raise CertificationError("a lower bound is stated, and nothing proves it")
    if calibration.mechanism != Optimal.name:  # whose options do not say what was to be lost least
        raise CertificationError(f"a lower bound is stated, and one is proved for {Optimal.name!r} alone")
    proved = rule.proved_bound(calibration.problem, promise, proof)
    if not proved >= stated:
        raise CertificationError(f"that no channel loses less than {stated!r} is not proved: the bound is {proved!r}")


def _channel_with_room(proved: Enclosure, place: Place, calibration: Calibration) -> Enclosure:
    kind, room = calibration.channel.publishes, _ROOM
    if kind == "values":
        return Enclosure(proved.lower * (1 - _ROOM), proved.upper * (1 + _ROOM))
    if kind == "vector" and not all(law.is_gaussian for law in calibration.problem.ends(place)):
        room = _COUPLED_ROOM
    most = calibration.guarantee.parts[0].budget
    return Enclosure(proved.lower * (1 - _ROOM), min(proved.upper * (1 + room), most))


_ROOM = 1e-10  # losses are recorded this much wider than proved, so that any machine can prove them again


def certify(
    calibration: Calibration, *, workers: int = 1, progress: Progress | None = None
) -> Certificate | ChannelCertificate:
    """Prove, in exact and ball arithmetic, that a calibration keeps every pair within its budget.

    Args:
        calibration: of any channel, found by whatever mechanism.
        workers: processes among which the pairs are shared out, with Gaussian noise; a script then needs the usual
            `if __name__ == "__main__":`.
        progress: called with the number of places proved and of all.

    Returns:
        The certificate, with all that is needed to prove the claim again. It holds the priors: keep it private, and
        publish what its `for_everybody` gives.

    Raises:
        InputError: for what is no calibration, and for more places than a file may hold.
        CertificationError: where the claim is false or cannot be proved, or where the mechanism guarantees less.

    >>> from takifugu import Mixture, calibrate
    >>> result = calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(1, 1)}, alpha=2, epsilon=0.5)
    >>> certify(result).theta == result.theta
    True
    """
    if hasattr(calibration, "prove"):
        raise InputError("this is its own certificate: save it, and verify proves it again")
    if not isinstance(calibration, Calibration):
        raise InputError(f"certify takes the result of calibrate, got {type(calibration).__name__}")
    mechanism = form.mechanism(calibration.mechanism)
    _require_full_promise(mechanism, calibration.guarantee)
    is_many = calibration.problem.size > form.MOST_LOSSES
    if is_many or not _is_version_1(calibration) or calibration.evidence is not None:
        _require_known(calibration)
        return prove(calibration, _software(), random_bits.token_hex(32), progress)
    names = calibration.pairs.secrets
    for belief in calibration.beliefs:
        if missing := [secret for secret in names if secret not in belief]:
            raise InputError(f"every belief must give each secret a prior; one gives none to {missing[0]!r}")
    draft = Certificate(
        alpha=calibration.alpha,
        epsilon=calibration.epsilon,
        theta=calibration.theta,
        mechanism=mechanism,
        secrets=form.secrets([form.plain(secret) for secret in names]),
        pairs=_positions(calibration),
        beliefs=tuple(tuple(belief[secret] for secret in names) for belief in calibration.beliefs),
        losses=(),
        software=_software(),
        nonce=random_bits.token_hex(32),
    )
    places, losses = draft.places, []
    budget = [Enclosure(0.0, draft.epsilon)] * len(places)
    claims = Claims(draft.beliefs, draft.alpha, draft.theta, places, budget, enclose=True)
    for place, decision in zip(places, settle_all(claims, workers=workers, progress=progress), strict=True):
        _require_proof(decision, draft, place)
        losses.append(_with_room(decision.enclosure, draft.epsilon))
    return replace(draft, losses=tuple(losses))


Proved: TypeAlias = "Certificate | ChannelCertificate | Influence | SeriesCalibration"
_DEPENDENT = ("takifugu-influence", "takifugu-series")  # certificates that prove themselves


def verify(
    certificate: "Proved | str | os.PathLike[str]",
    *,
    limit: int | None = None,
    effort: float = 1.0,
    workers: int = 1,
    progress: Progress | None = None,
) -> "Proved":
    """Prove a certificate again from its priors alone, and return it; no recorded figure is trusted.

    What `depend` says of a chain, and a calibration of a `Series`, are certificates of their own.
    A statement that holds its certificate is held against it first (`Statement`), and the certificate is returned.

    Args:
        certificate: a certificate, or the path of its file.
        limit: the work that may be spent, in units of about a microsecond. By default it grows with the number of
            places and components in the file, so that no file keeps its reader busy for long.
        effort: multiplies that default, for the patient.
        workers: processes, as in `certify`.
        progress: called with the number of places proved and of all.

    Returns:
        The certificate, proved.

    Raises:
        InputError: where the file is not a certificate.
        CertificationError: where its claim is false, or could not be proved within the work that may be spent; and for
            what holds no priors, such as the public part of a private certificate.

    >>> from takifugu import Mixture, calibrate, certify
    >>> made = certify(calibrate({"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(2, 1)}, alpha=2, epsilon=1))
    >>> verify(made).sha256 == made.sha256
    True
    """
    if not isinstance(certificate, Certificate | ChannelCertificate) and not hasattr(certificate, "prove"):
        if not isinstance(certificate, str | os.PathLike):
            raise InputError(f"verify takes a Certificate or the path of one, got {type(certificate).__name__}")
        certificate = load(certificate)
    elif isinstance(
        certificate, Certificate | ChannelCertificate
    ):  # an object made by hand is held to the same form as a file
        kind = ChannelCertificate if isinstance(certificate, ChannelCertificate) else Certificate
        certificate = kind.from_dict(certificate.to_dict())
    if not isinstance(certificate, Certificate | ChannelCertificate):
        return certificate.prove()
    if isinstance(certificate, ChannelCertificate):
        problem = certificate.calibration.problem
        both = (sum(map(_size, problem.ends(place))) for place in problem.places())
        reprove(certificate, _allowed(limit, effort, both), progress)
        return certificate
    if certificate.guarantee != version_1.RPP or certificate.mechanism == WassersteinApprox.name:
        raise _weaker(certificate.mechanism, certificate.guarantee)
    places = certificate.places
    sizes = [[_size(law) for law in laws] for laws in certificate.beliefs]
    shared = _allowed(limit, effort, (sizes[b][i] + sizes[b][j] for b, i, j in places))
    claims = Claims(
        certificate.beliefs, certificate.alpha, certificate.theta, places, certificate.losses, enclose=False
    )
    decisions = settle_all(claims, effort=shared, workers=workers, progress=progress)
    for place, decision in zip(places, decisions, strict=True):
        _require_proof(decision, certificate, place)
    return certificate


def _allowed(limit: int | None, effort: float, sizes: Iterable[int]) -> Effort:
    """The work that a certificate's places may take together."""
    if limit is not None:
        return Effort(limit)
    factor = real("effort", effort, "a number above 0")
    if factor <= 0:
        raise InputError(f"effort must be a number above 0, got {effort!r}")
    return Effort(math.ceil(factor * limit_for(sizes)))


def _size(law: Law) -> int:
    """The number of components of a law; of vectors each counts once for every number, and once more for each pair."""
    return len(law) * law.dimension**2 if law.space == "vector" else len(getattr(law, "weights", ()))


def load(path: str | os.PathLike[str]) -> Proved:
    """Read a certificate of any kind, checking its form and its digest. Nothing is proved by reading.

    Args:
        path: the file.

    Returns:
        The certificate, unproved.

    Raises:
        InputError: where the file cannot be read, or is none.
    """
    data = strict_json.read(path, most_bytes=1 << 28)
    if is_statement(data):
        statement = _of_statement(data, path)
        if statement.certificate is None:
            raise version_1.without_priors(statement.content["certificate_sha256"], Path(path).name)
        return statement.matched()
    is_channel = isinstance(data, dict) and data.get("version") == CHANNEL_VERSION
    kind: type[Certificate | ChannelCertificate] = ChannelCertificate if is_channel else Certificate
    if isinstance(data, dict) and data.get("format") == version_1.REDACTED:
        raise version_1.without_priors(_redacted(data).certificate_sha256, Path(path).name)
    if isinstance(data, dict) and data.get("format") == version_1.FORMAT:
        version = data.get("version")
        if version not in (version_1.VERSION, CHANNEL_VERSION):
            raise InputError(
                f"{os.fspath(path)!r} is a certificate of version {str(version)[:40]}, and those of version "
                f"{version_1.VERSION} and {CHANNEL_VERSION} are known here: upgrade Takifugu"
            )
    try:
        if isinstance(data, dict) and data.get("format") in _DEPENDENT:
            from takifugu.dependence import dependent_from

            return dependent_from(data)
        return kind.from_dict(data)
    except InputError as error:
        raise InputError(f"{os.fspath(path)!r} is not a certificate that can be used: {error}") from None


def _of_statement(data: object, path: str | os.PathLike[str]) -> Statement:
    try:
        return Statement.from_dict(data)
    except InputError as error:
        raise InputError(f"{os.fspath(path)!r} is not a statement that can be used: {error}") from None


Public: TypeAlias = RedactedCertificate | RedactedChannel | ChannelCertificate | Statement


def load_public(path: str | os.PathLike[str]) -> Public:
    """Read what was published of a certificate: a redaction of it, all of it, or a statement.

    Args:
        path: the file that was published.

    Returns:
        What it holds, unproved.

    Raises:
        InputError: where the file cannot be read, or is no certificate.
    """
    data = strict_json.read(path, most_bytes=1 << 28)
    if isinstance(data, dict) and (data.get("format"), data.get("version")) == (version_1.FORMAT, CHANNEL_VERSION):
        return ChannelCertificate.from_dict(data)
    return _of_statement(data, path) if is_statement(data) else load_redacted(path)


def require_public(certificate: Proved, public: Public) -> None:
    """Make sure that what was published is of this certificate, in every field that follows from it.

    Args:
        certificate: the private one, proved.
        public: what was published.

    Raises:
        CertificationError: where a field differs, or the digest is that of another file.
    """
    if not isinstance(certificate, Certificate | ChannelCertificate):
        raise InputError("what was published is not of this certificate, which is about chains or series")
    if isinstance(public, ChannelCertificate):
        if not isinstance(certificate, ChannelCertificate) or certificate.published() != public:
            raise CertificationError("the public certificate is not that of this certificate: they differ")
    elif not isinstance(public, Statement):
        certificate.require_match(public)
    elif isinstance(certificate, ChannelCertificate):
        public.matched(certificate)
    else:
        raise CertificationError("a statement is about a published table, and this is a certificate of noise alone")


def load_redacted(path: str | os.PathLike[str]) -> RedactedCertificate | RedactedChannel:
    """Read what was published of a certificate; it proves nothing without the full one."""
    return _redacted(strict_json.read(path))


def _redacted(data: object) -> RedactedCertificate | RedactedChannel:
    is_channel = isinstance(data, dict) and data.get("version") == CHANNEL_VERSION
    return RedactedChannel.from_dict(data) if is_channel else RedactedCertificate.from_dict(data)


def _require_full_promise(mechanism: str, guarantee: Guarantee) -> None:
    if not guarantee.is_provable:
        raise _weaker(mechanism, str(guarantee))


def _weaker(mechanism: str, guarantee: str) -> CertificationError:
    return CertificationError(
        f"{mechanism!r} gives a weaker guarantee ({guarantee[:60]}) than Rényi Pufferfish Privacy: its budget may be "
        "exceeded for a share of the cases, and so there is no proof; calibrate with 'exact' instead"
    )


def _require_proof(decision: Decision, certificate: Certificate, place: tuple[int, int, int]) -> None:
    if decision.holds:
        return
    belief, i, j = place
    first, second = certificate.secrets[i], certificate.secrets[j]
    under = f" under belief {belief}" if len(certificate.beliefs) > 1 else ""
    raise CertificationError(
        f"the loss of {first!r} against {second!r}{under} with theta = {certificate.theta!r} and alpha = "
        f"{certificate.alpha!r} is not proved to be within epsilon = {certificate.epsilon!r}: {decision.reason}"
    )


def _with_room(proved: Enclosure, epsilon: float) -> Enclosure:
    lower, upper = proved.lower * (1 - _ROOM), proved.upper * (1 + _ROOM)
    return Enclosure(lower, min(upper, epsilon))


def _positions(calibration: Calibration) -> tuple[tuple[int, int], ...]:
    names = calibration.pairs.secrets
    place = {secret: i for i, secret in enumerate(names)}
    version_1.require_provable(len(calibration.pairs), len(calibration.beliefs))
    return tuple((place[a], place[b]) for a, b in calibration.pairs)


def _software() -> tuple[tuple[str, str], ...]:
    import flint

    from takifugu import __version__

    return (
        ("flint", getattr(flint, "__FLINT_VERSION__", "unknown")),
        ("python", platform.python_version()),
        ("python-flint", flint.__version__),
        ("takifugu", __version__),
    )
