"""An answer, its domain and the spelling of its table as plain values for JSON, and back."""

from dataclasses import asdict
from typing import Any

from takifugu.documents import fields as form
from takifugu.documents.laws import value_from
from takifugu.errors import InputError
from takifugu.laws.lattice import Lattice
from takifugu.problems.answer import Answer, Spelling
from takifugu.problems.domain import Choices


def answer_to(answer: Answer) -> dict[str, Any]:
    """An answer as an object."""
    spelled = {} if answer.spelling is None else {"spelling": _spelling_to(answer.spelling)}
    return spelled | {
        "query": answer.query,
        "columns": list(answer.columns),
        "secret": list(answer.secret),
        "known": list(answer.known),
        "domain": _domain_to(answer.domain),
        "step": answer.step,
        "is_read": answer.is_read,
        **({"before": list(answer.before)} if answer.before else {}),
    }


def _spelling_to(spelling: Spelling) -> dict[str, Any]:
    na = None if spelling.na is None else list(spelling.na)
    return {**asdict(spelling), "na": na, "sentinels": [form.plain(one) for one in spelling.sentinels]}


def _spelling_from(value: Any) -> Spelling:
    content = form.fields(value, ("decimal", "thousands", "na", "sentinels"), "answer.spelling")
    marks = (content[key] for key in ("decimal", "thousands"))
    decimal, thousands = (None if mark is None else form.text(mark, "answer.spelling") for mark in marks)
    na = None if content["na"] is None else form.texts(content["na"], "answer.spelling.na")
    sentinels = form.items(content["sentinels"], "answer.spelling.sentinels", most=1_000)
    return Spelling(decimal, thousands, na, tuple(value_from(one, "answer.spelling.sentinels") for one in sentinels))


def answer_from(value: Any) -> Answer:
    """What `answer_to` wrote."""
    spelling = value.get("spelling") if isinstance(value, dict) else None
    if spelling is not None:  # files that say nothing about it have no such field
        value = {key: part for key, part in value.items() if key != "spelling"}
    later = ("before",) if isinstance(value, dict) and "before" in value else ()
    content = form.fields(
        value, ("query", "columns", "secret", "known", "domain", "step", "is_read", *later), "'answer'"
    )
    columns, secret, known, before = (
        form.texts(content.get(key, []), f"answer.{key}") for key in ("columns", "secret", "known", "before")
    )
    if before != columns[: len(before)] or (before and len(before) == len(columns)):
        raise InputError("answer.before must be the first of the answer's columns, and leave one to publish")
    if not columns or not secret:
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
        before,
    )


def _domain_to(domain: Any) -> Any:
    if isinstance(domain, Lattice):
        return {
            "kind": "lattice",
            "low": domain.low,
            "high": domain.high,
            "step": domain.step,
            "transform": domain.transform,
        }
    if domain is None:
        return None
    return {
        "kind": "choices",
        "columns": [{"values": list(one.values), "other": one.other, "is_read": one.is_read} for one in domain],
    }


def _domain_from(value: Any) -> Any:
    if value is None:
        return None
    kind = form.kind_of(value)
    if kind == "lattice":
        content = form.fields(value, ("kind", "low", "high", "step", "transform"), "answer.domain")
        low, high, step = (form.number(content[key], f"answer.domain.{key}") for key in ("low", "high", "step"))
        return Lattice(low, high, step, transform=content["transform"])
    content = form.fields(value, ("kind", "columns"), "answer.domain")
    if kind != "choices":
        raise InputError("answer.domain.kind must be 'lattice' or 'choices'")
    return tuple(
        Choices(
            tuple(
                value_from(v, "answer.domain")
                for v in form.items(one["values"], "answer.domain", least=1, most=100_000)
            ),
            other=None if one["other"] is None else value_from(one["other"], "answer.domain.other"),
            is_read=one["is_read"] is not False,
        )
        for one in (
            form.fields(column, ("values", "other", "is_read"), "answer.domain.columns")
            for column in form.items(content["columns"], "answer.domain.columns", least=1, most=1_000)
        )
    )
