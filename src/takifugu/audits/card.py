"""A release card: what was published, under which promise, for a registry of deployments.

The schema, version 1. Every key is always there; `null` says that it is not known.

    format: takifugu-release-card
    version: 1
    title, publisher, date          texts (date: YYYY-MM-DD)
    software                        name and version
    answer: query, columns, rows    what was published, and how many rows
    hidden: secret, pairs, known    the column that is hidden, how many pairs of its values, what an adversary may know
    promise: kind, alpha, epsilon, odds, words
    channel: kind, mechanism, theta
    evidence: certificate_sha256    the digest of the private certificate, which holds the priors
    audit: confidence, rows, contradicted, lower_bound, best_guess, best_guess_allowed


A card names no secret's value and no figure of the priors: it is made to be public. The digest is that of a certificate
because 256 random bits go into it; a digest of the priors alone could be guessed.
"""

import datetime
import json
import math
from typing import Any

from takifugu import _validation as check
from takifugu.audits.outcome import Audit
from takifugu.calibration import Calibration
from takifugu.errors import InputError

FORMAT = "takifugu-release-card"
VERSION = 1


def release_card(
    calibration: Calibration,
    *,
    title: str,
    publisher: str | None = None,
    date: datetime.date | None = None,
    rows: int | None = None,
    certificate: Any = None,
    audit: Audit | None = None,
) -> str:
    """The card as YAML text.

    Args:
        calibration: what was released.
        title: what to call the release.
        publisher: who stands for it.
        date: when it was released.
        rows: how many rows were published.
        certificate: of the calibration; its digest goes into the card.
        audit: of what was published.
    """
    from takifugu import __version__

    _require_same(calibration, certificate, audit)
    answer, guarantee, channel = calibration.answer, calibration.guarantee, calibration.channel
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "title": _text("title", title),
        "publisher": None if publisher is None else _text("publisher", publisher),
        "date": None if date is None else f"{date:%Y-%m-%d}",
        "software": f"takifugu {__version__}",
        "answer": {
            "query": None if answer is None else answer.query,
            "columns": None if answer is None else list(answer.columns),
            "rows": None if rows is None else check.integer("rows", rows, least=0),
        },
        "hidden": {
            "secret": None if answer is None else list(answer.secret),
            "pairs": len(calibration.pairs),
            "known": None if answer is None else list(answer.known),
        },
        "promise": {
            "kind": type(guarantee).__name__.lower(),
            "alpha": guarantee.alpha,
            "epsilon": guarantee.epsilon,
            "odds": getattr(guarantee, "most_odds", None),
            "words": str(guarantee),
        },
        "channel": {
            "kind": channel.kind,
            "mechanism": calibration.mechanism,
            "noise": channel.to_state() if channel.publishes == "number" else None,
        },
        "evidence": {"certificate_sha256": None if certificate is None else certificate.sha256},
        "audit": None
        if audit is None
        else {
            "confidence": audit.confidence,
            "rows": audit.rows,
            "contradicted": audit.contradicted,
            "lower_bound": audit.lower_bound,
            "best_guess": [float(audit.best_guess), audit.best_guess.low, audit.best_guess.high],
            "best_guess_allowed": audit.guess_limit,
        },
    }
    return "".join(_lines(content, ""))


def _require_same(calibration: Any, certificate: Any, audit: Any) -> None:
    """Refuse papers of another release: a card that mixes two would promise what was not done."""
    if not isinstance(calibration, Calibration):
        raise InputError(f"a card is made for a Calibration, got {type(calibration).__name__}")
    if certificate is not None:
        theirs = getattr(certificate, "calibration", certificate)
        if isinstance(theirs, Calibration) and theirs != calibration:  # one channel may be proved for other beliefs
            raise InputError("the certificate is not of this calibration: its problem, promise or channel differs")
        for name in ("alpha", "epsilon", "channel", "theta"):
            ours = getattr(calibration, name, None)
            if hasattr(theirs, name) and getattr(theirs, name, None) != ours:
                raise InputError(f"the certificate is not of this calibration: its {name} differs")
        if not hasattr(certificate, "sha256"):
            raise InputError("the certificate has no digest: give what takifugu.certify returned")
    if audit is not None and audit.guarantee != calibration.guarantee:
        raise InputError(f"the audit is about {audit.guarantee}, and the calibration promises {calibration.guarantee}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{name} must be a text that is not empty, got {type(value).__name__}")
    return value


def _lines(content: dict[str, Any], indent: str) -> list[str]:
    found = []
    for key, value in content.items():
        if isinstance(value, dict):
            found += [f"{indent}{key}:\n", *_lines(value, f"{indent}  ")]
        else:
            found.append(f"{indent}{key}: {_scalar(value)}\n")
    return found


def _scalar(value: Any) -> str:
    """A value as JSON writes it, which YAML reads; infinity is YAML's own."""
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, float):
        if math.isinf(value):
            return ".inf"
        text = repr(value)
        return text if "." in text else text.replace("e", ".0e")  # YAML takes 1e-05 for a text
    return json.dumps(value, ensure_ascii=True)
