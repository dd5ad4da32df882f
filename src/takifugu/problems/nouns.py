"""Beliefs, guarantees and problems as plain values for JSON, and back: the one form of each.

Every complaint is an `InputError` that names the field, what was found and what is accepted.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from takifugu import strict_json as form
from takifugu._validation import Array
from takifugu.errors import InputError
from takifugu.laws import (
    CELL_ROWS,
    Lattice,
    Law,
    Mixture,
    counted,
    is_certain,
    key,
    law_from_state,
    own_normal,
    without_noise,
)
from takifugu.problems.answer import Answer, Choices, Spelling
from takifugu.problems.diagnostics import (
    Diagnostic,
)
from takifugu.problems.problem import Belief, Pairs, Problem, Secret, beliefs_from

# An answer, its domain and the spelling of its table as plain values for JSON, and back.


def answer_to(answer: Answer) -> dict[str, object]:
    """An answer as an object."""
    spelled = {} if answer.spelling is None else {"spelling": _spelling_to(answer.spelling)}
    return spelled | {
        "query": answer.query,
        "columns": list(answer.columns),
        "secret": list(answer.secret),
        "known": list(answer.known),
        "domain": _domain_to(answer),
        "step": answer.step,
        "is_read": answer.is_read,
        **({"private": answer.private} if answer.private else {}),
    }


def _spelling_to(spelling: Spelling) -> dict[str, object]:
    na = None if spelling.na is None else list(spelling.na)
    state = {**asdict(spelling), "na": na, "sentinels": [form.plain(one) for one in spelling.sentinels]}
    labels = {"tidy": state.pop("tidy"), "merge": [[into, list(of)] for into, of in state.pop("merge")]}
    return {**state, **labels} if spelling.tidy or spelling.merge else state


def _spelling_from(value: object) -> Spelling:
    labels = ("tidy", "merge") if isinstance(value, dict) and "tidy" in value else ()
    content = form.fields(value, ("decimal", "thousands", "na", "sentinels", *labels), "answer.spelling")
    marks = (content[key] for key in ("decimal", "thousands"))
    decimal, thousands = (None if mark is None else form.text_field(mark, "answer.spelling") for mark in marks)
    na = None if content["na"] is None else form.texts(content["na"], "answer.spelling.na")
    sentinels = form.items(content["sentinels"], "answer.spelling.sentinels", most=1_000)
    said = tuple(form.value_from(one, "answer.spelling.sentinels") for one in sentinels)
    if not labels:
        return Spelling(decimal, thousands, na, said)
    if not isinstance(content["tidy"], bool):
        raise InputError("answer.spelling.tidy must be true or false")
    where = "answer.spelling.merge"
    merges = [form.exactly(one, where, 2) for one in form.items(content["merge"], where, most=10_000)]
    merge = tuple((form.text_field(into, where), form.texts(of, where, most=100_000)) for into, of in merges)
    return Spelling(decimal, thousands, na, said, content["tidy"], merge)


def answer_from(value: Any) -> Answer:
    """What `answer_to` wrote."""
    spelling = value.get("spelling") if isinstance(value, dict) else None
    if spelling is not None:  # files that say nothing about it have no such field
        value = {key: part for key, part in value.items() if key != "spelling"}
    later = ("private",) if isinstance(value, dict) and "private" in value else ()
    content = form.fields(
        value, ("query", "columns", "secret", "known", "domain", "step", "is_read", *later), "'answer'"
    )
    columns, secret, known = (form.texts(content[key], f"answer.{key}") for key in ("columns", "secret", "known"))
    if not columns or not (secret or content["query"] == "row"):
        raise InputError("'answer' must name its columns and its secret")
    domain = _domain_from(content["domain"])
    if isinstance(domain, tuple) and len(domain) != len(columns):
        raise InputError("answer.domain must have one list for each of the answer's columns")
    if not isinstance(content["is_read"], bool):
        raise InputError("answer.is_read must be true or false")
    return Answer(
        form.mechanism(content["query"]),
        columns,
        secret,
        known,
        domain,
        form.number(content["step"], "answer.step", least=0),
        content["is_read"],
        None if spelling is None else _spelling_from(spelling),
        form.number(content["private"], "answer.private", above=0) if "private" in content else 0.0,
    )


def _domain_to(answer: Answer) -> object:
    if answer.lattice is not None:
        return answer.lattice.to_state()
    if not answer.lists:
        return None
    return {
        "kind": "choices",
        "columns": [{"values": list(one.values), "other": one.other, "is_read": one.is_read} for one in answer.lists],
    }


def _domain_from(value: object) -> Lattice | tuple[Choices, ...] | None:
    if value is None:
        return None
    kind = form.kind_of(value)
    if kind == "lattice":
        return Lattice.from_state(value, "answer.domain")
    content = form.fields(value, ("kind", "columns"), "answer.domain")
    if kind != "choices":
        raise InputError("answer.domain.kind must be 'lattice' or 'choices'")
    return tuple(
        Choices(
            tuple(
                form.value_from(v, "answer.domain")
                for v in form.items(one["values"], "answer.domain", least=1, most=100_000)
            ),
            other=None if one["other"] is None else form.value_from(one["other"], "answer.domain.other"),
            is_read=one["is_read"] is not False,
        )
        for one in (
            form.fields(column, ("values", "other", "is_read"), "answer.domain.columns")
            for column in form.items(content["columns"], "answer.domain.columns", least=1, most=1_000)
        )
    )


T = TypeVar("T")

_COUNTED = ("counts", "pseudo")
_DRAWN = ("means", "stds")
_DIGITS = 1e-6  # to which rows, and what they explain, were added up
_TINY = 1e-300


def problem_to(problem: Problem) -> dict[str, object]:
    """A problem as an object. It holds the priors: keep it private."""
    secrets = [form.plain(secret) for secret in problem.pairs.secrets]
    place = {secret: i for i, secret in enumerate(problem.pairs.secrets)}
    return {
        "answer": None if problem.answer is None else answer_to(problem.answer),
        "secrets": secrets,
        "pairs": None if problem.pairs.is_every else [[place[a], place[b]] for a, b in problem.pairs],
        "beliefs": [
            {
                "label": belief.label,
                "laws": [law.to_state() for law in problem.laws(number)],
                "counted": [_pair_to(belief.counted, secret, _COUNTED) for secret in problem.pairs.secrets],
                "drawn": [_pair_to(belief.drawn, secret, _DRAWN) for secret in problem.pairs.secrets],
                "rows": [belief.rows.get(secret) for secret in problem.pairs.secrets],
            }
            | ({"shares": [belief.shares.get(secret) for secret in problem.pairs.secrets]} if belief.shares else {})
            for number, belief in enumerate(problem.beliefs)
        ],
        "findings": [one.to_state() for one in problem.findings],
    }


def problem_from(value: object) -> Problem:
    """What `problem_to` wrote, every field checked."""
    content = form.fields(value, ("answer", "secrets", "pairs", "beliefs", "findings"), "'problem'")
    secrets = form.secrets(content["secrets"])
    chosen = None
    if content["pairs"] is not None:
        chosen = [(secrets[i], secrets[j]) for i, j in form.pairs(content["pairs"], len(secrets))]
    answer = None if content["answer"] is None else answer_from(content["answer"])
    room = form.Room()
    beliefs = tuple(
        _belief_from(entry, f"beliefs[{b}]", secrets, room, answer)
        for b, entry in enumerate(form.items(content["beliefs"], "'beliefs'", least=1, most=form.MOST_BELIEFS))
    )
    if answer is not None:
        _require_whole_lists(answer, beliefs, is_every=chosen is None)
    found = form.items(content["findings"], "'findings'", most=10_000)
    findings = tuple(Diagnostic.from_state(entry) for entry in found)
    for one in findings:
        if answer is not None and one.code in _OF_LISTS and one.code != _of_lists(answer):
            raise InputError(f"a finding says {one.code!r}, and the answer does not: the file was changed")
    return Problem(
        beliefs_from(beliefs),  # all laws of one kind, and vectors of one length
        Pairs(secrets, chosen),
        answer,
        findings,
    )


_OF_LISTS = ("data-free", "private-total")


def _of_lists(answer: Answer) -> str | None:
    """Which finding a problem has that knows public lists and no rows; None of any other."""
    return "private-total" if answer.private else None if answer.secret else "data-free"


def _require_whole_lists(answer: Answer, beliefs: tuple[Belief, ...], *, is_every: bool) -> None:
    """Refuse what is said of whole public lists, and is about a part of them.

    Private counts are of every value of the lists. Where no secret is named each value is hidden from each other one:
    point masses of some, or some of the pairs, would say nothing about the rest (proofs/data-free.md).
    """
    if (kind := _of_lists(answer)) is None:
        return
    lists = answer.lists
    if answer.query != "row" or len(beliefs) > 1 or not lists or any(one.is_read for one in lists):
        raise InputError("the answer is said to need no rows, which takes one belief about public lists")
    rows = itertools.product(*(one.values for one in lists))
    listed = sorted(repr(key(row[0] if len(lists) == 1 else row)) for row in rows)
    laws = [law for law in beliefs[0].values() if law.space == "values"]
    if kind == "private-total":
        whole = all(sorted(repr(key(value)) for value in law.values) == listed for law in laws)
    else:
        certain = [law for law in laws if is_certain(law)]
        mass = [repr(key(law.values[int(np.argmax(law.weights))])) for law in certain]
        whole = is_every and len(certain) == len(laws) and sorted(mass) == listed
    if not whole or len(laws) < len(beliefs[0]):
        raise InputError(
            "'answer' names no secret, which only a channel that is fitted to no rows may do: each value of the public "
            "lists must be hidden from every other"
            if kind == "data-free"
            else "the private counts must be of every value of the public lists: the file was changed"
        )


def _belief_from(
    value: object, where: str, secrets: tuple[form.Scalar, ...], room: form.Room, answer: Answer | None
) -> Belief:
    told = ("shares",) if isinstance(value, dict) and "shares" in value else ()
    content = form.fields(value, ("label", "laws", "counted", "drawn", "rows", *told), where)
    lattice = None if answer is None else answer.lattice
    is_private = answer is not None and answer.private > 0

    def of_secrets(key: str, read: Callable[[object, str], T]) -> dict[Secret, T]:
        """What is said of each secret under a key, for those of whom something is."""
        listed = zip(secrets, form.exactly(content[key], f"{where}.{key}", len(secrets)), strict=True)
        return {s: read(one, f"{where}.{key}[{k}]") for k, (s, one) in enumerate(listed) if one is not None}

    found = of_secrets("laws", lambda law, at: law_from_state(law, at, room))
    if len(found) < len(secrets):
        raise InputError(f"{where}.laws must have a law for each of the secrets")
    least = -math.inf if is_private else 0.0  # noise may bring a count below 0
    rests = of_secrets("counted", lambda entry, at: _pair_from(entry, at, _COUNTED, room, least))
    drawn = of_secrets("drawn", lambda entry, at: _pair_from(entry, at, _DRAWN, room))
    rows = of_secrets("rows", lambda tally, at: form.index(tally, at, below=1 << 62))
    for secret, (means, _) in drawn.items():
        law = found[secret]
        if means.shape[1:] != ((law.dimension,) if law.space == "vector" else ()):
            raise InputError(f"{where}.drawn is not about as many numbers as its laws")
    label = form.text_field(content["label"], f"{where}.label")
    if is_private and (label or len(rests) < len(secrets)):
        raise InputError(f"{where} must have the noisy counts of every secret: the file was changed")
    for secret, (counts, pseudo) in rests.items():
        if is_private:
            if not _rests_on_noisy(found[secret], counts, pseudo, rows.get(secret)):
                raise InputError(f"{where}.counted is not what its laws rest on: the file was changed")
            continue
        right = rows.get(secret) == counts.sum() and (counts == np.rint(counts)).all()
        if not right or not _rests_on(found[secret], counts, pseudo, lattice, of_a_cell=bool(label)):
            raise InputError(f"{where}.counted is not what its laws rest on: the file was changed")
    shares = of_secrets("shares", lambda share, at: form.number(share, at, least=0)) if told else {}
    if told and (len(shares) < len(secrets) or not sum(shares.values()) > 0):
        raise InputError(f"{where}.shares must say how likely each of the secrets is")
    return Belief(found, label=label, counted=rests, drawn=drawn, rows=rows, shares=shares)


def _rests_on(law: Law, counts: Array, pseudo: Array, lattice: Lattice | None, *, of_a_cell: bool) -> bool:
    """Whether counts are those a law rests on: evidence drawn from others would be about another law.

    A law starts from one pseudo-row, and that of a cell from a few. With more beside the same counts all draws would
    be alike, and say of any channel that it withstands them; rows that were added to a law itself are in it.
    """
    added, seen = float(pseudo.sum()), float(counts.sum())
    few = added <= (CELL_ROWS if of_a_cell else 1.0) * (1 + _DIGITS)
    if law.space == "values":
        if len(counts) != len(law.values) or not seen + added:
            return False
        if few and seen and _same(law.probabilities, counts / seen):
            return added >= 1 - _DIGITS  # with less, values that nobody was seen with would be impossible in each draw
        return _same(law.probabilities, counted(counts, pseudo))
    return few and (lattice is None or _rests_on_points(law, counts, pseudo, lattice))


def _rests_on_noisy(law: Law, counts: Array, pseudo: Array, rows: int | None) -> bool:
    """The same of counts that noise was added to: the law is what they are projected to, with one row spread evenly."""
    if law.space != "values" or len(counts) != len(law.values) or (counts != np.rint(counts)).any():
        return False
    even = np.full(len(counts), 1.0 / len(counts))
    projected = counted(without_noise(counts), even)
    return rows == max(counts.sum(), 1.0) and _same(pseudo, even) and _same(law.probabilities, projected)


def _rests_on_points(law: Mixture, counts: Array, pseudo: Array, lattice: Lattice) -> bool:
    """The same on a lattice, where a law may be the counts, a normal like them, or a mixture that was fitted to them.

    Which mixture that is no file tells. It was chosen for how well it explains the counts, from one normal upwards, so
    counts that one normal explains better are others.
    """
    if len(counts) != len(lattice):
        raise InputError("the counts behind the laws are not about the points of the lattice: the file was changed")
    masses, where = np.zeros(len(lattice)), np.searchsorted(lattice.points, law.means).clip(max=len(lattice) - 1)
    if law.stds.any() or (lattice.points[where] != law.means).any():
        return False
    np.add.at(masses, where, law.weights / law.weights.sum())
    if pseudo.sum() > 1 + _DIGITS:  # a cell's, which are the same secret's in other cells
        return _same(masses, counted(counts, pseudo))
    normal = own_normal(lattice, counts)
    if not _same(pseudo, normal):
        return False
    if any(_same(masses, one) for one in (counts / counts.sum(), counted(counts, pseudo), normal)):
        return True
    gained = np.log(np.maximum(masses, _TINY)) - np.log(np.maximum(normal, _TINY))
    return bool(counts @ gained >= -_DIGITS * (1 + counts.sum()))


def _same(one: Array, other: Array) -> bool:
    return np.allclose(one, other, rtol=1e-9, atol=1e-12)


def _pair_to(
    held: Mapping[Secret, tuple[Array, Array]], secret: Secret, keys: tuple[str, str]
) -> dict[str, list[float]] | None:
    """What evidence about a law is drawn from again."""
    if secret not in held:
        return None
    return {key: part.tolist() for key, part in zip(keys, held[secret], strict=True)}


def _pair_from(
    value: object, where: str, keys: tuple[str, str], room: form.Room, least: float = -math.inf
) -> tuple[Array, Array]:
    content = form.fields(value, keys, where)
    first, second = (
        np.array(_numbers_from(content[key], f"{where}.{key}", low, room))
        for key, low in zip(keys, (least, 0.0), strict=True)  # a mean may be below 0, no other
    )
    if len(first) != len(second) or second.ndim > 1 or (first.ndim > 1 and "means" not in keys):
        raise InputError(f"{where} must have as many {keys[0]} as {keys[1]}")
    return first, second


def _numbers_from(value: object, where: str, least: float, room: form.Room) -> list[float] | list[list[float]]:
    """A list of numbers, or of rows of as many: means of several predictions."""
    found = room.take(value, where)
    if not isinstance(found[0], list):
        return [form.number(x, where, least=least) for x in found]
    rows = [[form.number(x, where, least=least) for x in room.take(row, where)] for row in found]
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{where} must have rows of one length")
    return rows
