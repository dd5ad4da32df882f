"""`tk.report`: a calibration as one HTML file."""

import datetime
import os
from collections.abc import Callable

from takifugu.atomic import write_text
from takifugu.calibration import Calibration
from takifugu.certificates import Certificate, ChannelCertificate
from takifugu.errors import InputError
from takifugu.reports.facts import facts_of
from takifugu.reports.html import render


def report(
    calibration: Calibration,
    path: str | os.PathLike[str] | None = None,
    certificate: Certificate | ChannelCertificate | None = None,
    *,
    question: str | None = None,
    words: Callable[[str], str] = str,
) -> str:
    """The report on a calibration: one HTML page that loads nothing from elsewhere. It describes the priors.

    Args:
        calibration: what `calibrate` returned.
        path: where to write it, readable for its owner alone; by default it is only returned.
        certificate: what `certify` made of this calibration. The page then says that it is proved, and by which file.
        question: the page's first line; by default it follows from what is published.
        words: turns sentences that name arguments of Python into the words of another door.

    >>> from takifugu import Finite, calibrate
    >>> page = report(calibrate({"a": Finite([0, 1], [3, 1]), "b": Finite([0, 1], [1, 3])}, odds=2))
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(calibration, Calibration):
        raise InputError(f"report takes the result of calibrate, got {type(calibration).__name__}")
    digest = None
    if certificate is not None:
        if not isinstance(certificate, Certificate | ChannelCertificate):
            raise InputError(f"certificate must be what certify returned, got {type(certificate).__name__}")
        if not is_about(certificate, calibration):
            raise InputError("the certificate is about another calibration: certify this one, or leave it out")
        digest = certificate.sha256
    page = render(
        facts_of(calibration, question=question, certificate_sha256=digest), dated=datetime.date.today(), words=words
    )
    if path is not None:
        write_text(page, path, private=True)
    return page


def is_about(certificate: Certificate | ChannelCertificate, calibration: Calibration) -> bool:
    """Whether a certificate proves this very calibration: the same promise, channel, secrets, pairs and laws.

    A page that called something certified on the strength of another proof would be worse than none.
    """
    if isinstance(certificate, ChannelCertificate):
        return certificate.calibration == calibration
    names = calibration.pairs.secrets
    place = {secret: k for k, secret in enumerate(names)}
    pairs = {frozenset((place[a], place[b])) for a, b in calibration.pairs}
    return (
        (certificate.alpha, certificate.epsilon, certificate.theta, certificate.mechanism)
        == (calibration.alpha, calibration.epsilon, getattr(calibration, "theta", None), calibration.mechanism)
        and [str(secret) for secret in certificate.secrets] == [str(secret) for secret in names]
        and {frozenset(pair) for pair in certificate.pairs} == pairs
        and certificate.beliefs == tuple(tuple(belief[name] for name in names) for belief in calibration.beliefs)
    )
