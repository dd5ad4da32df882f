"""What the ledger writes about an account for several columns, and how it is read back. The joint law is in it."""

import math
from collections.abc import Iterable
from typing import Any

from takifugu._validation import integer
from takifugu.channels.finite import FiniteChannel
from takifugu.documents import channels as channel_form
from takifugu.documents import problems as documents
from takifugu.errors import LedgerError
from takifugu.mechanisms.draws import draws_needed
from takifugu.problems.columns import of_columns
from takifugu.problems.guarantee import Renyi
from takifugu.problems.pairs import Pair
from takifugu.problems.problem import Problem
from takifugu.queries.few_rows import require_rows
from takifugu.releases.joint_account import JointAccount, Step
from takifugu.releases.protection import protection

_SAME = ("protection", "epsilon", "confidence", "seed")


def joint_terms(
    priors: Any,
    *,
    odds: float,
    pairs: Iterable[Pair] | None,
    confidence: float | None,
    seed: int,
    salt: bytes,
) -> dict[str, Any]:
    """What such an account is opened with, apart from its name; every argument is checked."""
    require_rows(priors, confidence=confidence)
    problem = Problem.of(priors, pairs)
    of_columns(problem, () if problem.answer is None else problem.answer.columns)  # refuses what has no columns
    if confidence is not None:
        draws_needed(confidence)
    return {
        "guarantee": "rpp",
        "theta": math.inf.hex(),
        "alpha": math.inf.hex(),
        "epsilon": Renyi.from_odds(odds).epsilon.hex(),
        "protection": protection(problem, salt=salt),
        "joint": documents.problem_to(problem),
        "confidence": None if confidence is None else float(confidence),
        "seed": integer("seed", seed, least=0),
    }


def same_terms(opening: dict[str, Any], terms: dict[str, Any]) -> bool:
    """Whether an account was opened with these terms."""
    return all(name in opening and opening[name] == terms[name] for name in _SAME)


def joint_account(opening: dict[str, Any], releases: Iterable[dict[str, Any]]) -> JointAccount:
    """The account that such an entry opened, with what was published since."""
    return JointAccount(
        documents.problem_from(opening["joint"]),
        float.fromhex(opening["epsilon"]),
        opening["confidence"],
        opening["seed"],
        tuple(Step(tuple(e["columns"]), _channel(e["channel"]), float.fromhex(e["spent"])) for e in releases),
    )


def _channel(content: Any) -> FiniteChannel:
    channel = channel_form.channel_from(content)
    if not isinstance(channel, FiniteChannel):
        raise LedgerError("the ledger holds a channel of another kind than its account: restore it from a copy")
    return channel
