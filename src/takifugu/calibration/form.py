"""The file of a calibration: strict, versioned, and read back to the last bit."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from takifugu.calibration.kinds import require_fitting
from takifugu.channels.listed import ListChannel
from takifugu.documents import channels as channel_form
from takifugu.documents import fields as form
from takifugu.documents import problems as documents
from takifugu.errors import InputError
from takifugu.mechanisms import get_mechanism, is_ours
from takifugu.mechanisms.assurance import Band
from takifugu.mechanisms.draws import draws_needed
from takifugu.mechanisms.evidence import Confidence
from takifugu.mechanisms.optimal.duals import Duals
from takifugu.mechanisms.posterior import require_rows_behind
from takifugu.mechanisms.sparse.lower_bound import Prices
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.problem import Place, Problem

if TYPE_CHECKING:
    from takifugu.calibration.result import Calibration

FORMAT = "takifugu-calibration"
VERSION = 2  # files of version 0.1 had no format and named no answer: they are refused

_LISTED_LOSSES = 10_000  # directed pairs up to which every loss is listed
_CHECKED_LOSSES = 1_000  # of them are computed anew when a file is read: more would take longer than the rest of it
_DIGITS = 1e-9  # to which a figure for readers must agree: other machines add up in another order

_ESSENTIAL = (
    *("format", "version", "mechanism", "options", "guarantee", "channel", "problem", "place"),
    *("evidence", "lower_bound", "optimality"),
)
_FIGURES = ("theta", "variance", "error", "alpha", "epsilon", "worst_pair", "pairs", "losses")


def whole(calibration: "Calibration") -> dict[str, Any]:
    """Everything, with figures for readers: not read back, except to see that nobody changed a part of them."""
    losses, pairs = calibration.losses, calibration.pairs
    listed = losses if len(losses) <= _LISTED_LOSSES else [calibration.worst_pair]
    return essentials(calibration) | {
        "theta": _figure(calibration, "theta"),
        "variance": _figure(calibration, "variance"),
        "error": calibration.error,
        "alpha": None if math.isinf(calibration.alpha) else calibration.alpha,
        "epsilon": calibration.epsilon,
        "worst_pair": [form.plain(secret) for secret in calibration.worst_pair],
        "pairs": None if pairs.is_every else [list(map(form.plain, pair)) for pair in pairs],
        "losses": [{"pair": list(map(form.plain, pair)), "loss": _finite(losses[pair])} for pair in listed],
    }


def essentials(calibration: "Calibration") -> dict[str, Any]:
    """What everything else follows from: nothing computed anew, so the same on every machine."""
    optimality = calibration.optimality
    return {
        "format": FORMAT,
        "version": VERSION,
        "mechanism": calibration.mechanism,
        "options": {name: _json(value) for name, value in calibration.options},
        "guarantee": documents.guarantee_to(calibration.guarantee),
        "channel": channel_form.channel_to(calibration.channel),
        "problem": documents.problem_to(calibration.problem),
        "place": list(calibration.place),
        "evidence": _evidence_to(calibration.evidence),
        "lower_bound": calibration.lower_bound,
        "optimality": None if optimality is None else optimality.to_json(),
    }


def essential_part(data: Any) -> dict[str, Any]:
    """The essentials within what `whole` gave."""
    if isinstance(data, dict) and "format" not in data and "theta" in data and "beliefs" in data:
        raise InputError(
            "this is not a calibration of this version: it was made by version 0.1, which did not say what a "
            "calibration is for. Calibrate again"
        )
    form.header(data, FORMAT, (VERSION,), "a calibration as to_dict writes it")
    content = form.fields(data, (*_ESSENTIAL, *_FIGURES), "the calibration")
    return {key: content[key] for key in _ESSENTIAL}


def require_own_figures(data: dict[str, Any], found: "Calibration") -> None:
    """Refuse a file whose figures for readers are not those of the calibration in it."""
    for key in ("theta", "variance", "error", "alpha", "epsilon"):
        if not _agree(data[key], _figure(found, key), _DIGITS if key == "error" else 0.0):
            raise InputError(f"{key!r} is not that of the calibration it stands in: the file was changed")
    if data["worst_pair"] != [form.plain(secret) for secret in found.worst_pair]:
        raise InputError("'worst_pair' is not that of the calibration it stands in: the file was changed")
    chosen = None if found.pairs.is_every else [list(map(form.plain, pair)) for pair in found.pairs]
    if data["pairs"] != chosen:
        raise InputError("'pairs' is not that of the calibration it stands in: the file was changed")
    closest = worst(found.problem, found.channel, alpha=found.alpha).loss
    if not found.loss >= closest * (1 - _DIGITS):
        raise InputError("'place' is not where this calibration is closest to its limit: the file was changed")
    _require_own_losses(data["losses"], found)


def _require_own_losses(value: Any, found: "Calibration") -> None:
    """Refuse losses of other pairs, or in another order; and, while they are not too many, other losses."""
    losses = found.losses
    expected = list(losses) if len(losses) <= _LISTED_LOSSES else [found.worst_pair]
    listed = form.exactly(value, "'losses'", len(expected))
    for number, (entry, pair) in enumerate(zip(listed, expected, strict=True)):
        content = form.fields(entry, ("pair", "loss"), f"losses[{number}]")
        right = content["pair"] == list(map(form.plain, pair))
        if right and number < _CHECKED_LOSSES:
            right = _agree(content["loss"], _finite(losses[pair]), _DIGITS, least=_DIGITS)
        if not right:
            raise InputError(f"losses[{number}] is not that of the calibration it stands in: the file was changed")


def parts(data: Any) -> dict[str, Any]:
    """The fields of the calibration that `essentials` wrote, validated again."""
    form.header(data, FORMAT, (VERSION,), "a calibration")
    content = form.fields(data, _ESSENTIAL, "the calibration")
    problem = documents.problem_from(content["problem"])
    guarantee = documents.guarantee_from(content["guarantee"])
    name = form.mechanism(content["mechanism"])
    channel = channel_form.channel_from(content["channel"])
    require_fitting(problem, channel)
    # A channel is fitted to draws and judged by others, the first time by as many as one halving asks for.
    evidence = _evidence_from(content["evidence"], halvings=int(isinstance(channel, ListChannel)))
    if evidence is not None:
        require_rows_behind(problem)
    return {
        "problem": problem,
        "guarantee": guarantee,
        "channel": channel,
        "mechanism": name,
        "place": _place(content["place"], problem),
        "options": _options(name, content["options"], guarantee),
        "evidence": evidence,
        "lower_bound": _optional(content["lower_bound"], "'lower_bound'"),
        "optimality": _optimality(content["optimality"], name),
    }


def _optimality(value: Any, mechanism: str) -> Duals | Prices | None:
    if value is None:
        return None
    return Prices.from_json(value) if mechanism == Sparse.name else Duals.from_json(value)


def _figure(calibration: "Calibration", key: str) -> float | None:
    """A figure for a file; None where there is none, and for what is infinite."""
    number = getattr(calibration, key, None)
    return None if number is None else _finite(number)


def _finite(number: float) -> float | None:
    return None if math.isinf(number) else float(number)


def _agree(stated: Any, found: float | None, digits: float, *, least: float = 0.0) -> bool:
    if stated is None or found is None:
        return stated is found
    number = form.number(stated, "a figure for readers")
    return abs(number - found) <= max(digits * abs(found), least)


def _json(value: Any) -> Any:
    """An option as JSON has it: lists for tuples."""
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    value = form.plain(value)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise InputError(f"an option of the mechanism is a {type(value).__name__}, which has no form in a file")
    return value


def _options(name: str, value: Any, guarantee: Guarantee) -> tuple[tuple[str, Any], ...]:
    """The options in a file, which must be those that the mechanism would have in force."""
    if not isinstance(value, dict):
        raise InputError("'options' must be an object")
    if not is_ours(name):
        if not isinstance(guarantee, Renyi):
            raise InputError(f"{name!r} is not known here, and a weaker promise cannot be checked without it")
        return tuple(sorted(value.items()))
    rule = get_mechanism(name, value)
    promised = rule.promise(Renyi(guarantee.alpha, guarantee.epsilon, getattr(guarantee, "odds", None)))
    if promised != guarantee:
        raise InputError(f"{name!r} promises {promised}, and not {guarantee}")
    return tuple(sorted(rule.options.items()))


def _evidence_to(evidence: Confidence | Band | None) -> Any:
    if evidence is None:
        return None
    return {"kind": "band" if isinstance(evidence, Band) else "confidence", **asdict(evidence)}


def _evidence_from(value: Any, *, halvings: int) -> Confidence | Band | None:
    if value is None:
        return None
    kind = form.kind_of(value)
    if kind == "band":
        content = form.fields(value, ("kind", "level", "without"), "'evidence'")
        level = form.number(content["level"], "evidence.level", least=0.5)
        if level >= 1:
            raise InputError("evidence.level must be below 1")
        return Band(level, form.number(content["without"], "evidence.without", least=0))
    if kind != "confidence":
        raise InputError("evidence.kind must be 'confidence' or 'band'")
    content = form.fields(value, ("kind", "level", "draws", "seed", "without"), "'evidence'")
    level = form.number(content["level"], "evidence.level", above=0)
    draws = form.index(content["draws"], "evidence.draws", below=1_000_000)
    if draws < (needed := draws_needed(level, halvings=halvings)):
        raise InputError(f"evidence.draws must be {needed} or more, as its level asks for")
    seed = form.index(content["seed"], "evidence.seed", below=1 << 62)
    return Confidence(level, draws, seed, form.number(content["without"], "evidence.without", least=0))


def _optional(value: Any, where: str) -> float | None:
    return None if value is None else form.number(value, where, least=0)


def _place(value: Any, problem: Problem) -> Place:
    belief, first, second = (
        form.index(k, "'place'", below=below)
        for k, below in zip(
            form.exactly(value, "'place'", 3),
            (len(problem.beliefs), len(problem.pairs.secrets), len(problem.pairs.secrets)),
            strict=True,
        )
    )
    place = Place(belief, first, second)
    if problem.names(place) not in problem.pairs:
        raise InputError("'place' is about a pair that is not among the pairs")
    return place
