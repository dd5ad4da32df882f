"""Labels that mean the same, made the same: capitals and blanks, and values that are merged.

What a cell becomes depends on that cell and on the reading alone, never on other rows. So a row is the same before it
is counted, before it is drawn and in another file. Beside each column that is changed stands what was read, by which a
ledger knows records: whoever merges in another way is not taken for somebody else.
"""

from typing import TYPE_CHECKING, Any

from takifugu.problems import Diagnostic
from takifugu.tables.reading import AS_READ, how_many

if TYPE_CHECKING:
    import narwhals as nw

    from takifugu.tables.table import Table

_BLANKS = "[\\s\u00a0]+"  # a blank that breaks no line, as spreadsheets have it, is none to every engine


def tidied(table: "Table") -> "tuple[nw.LazyFrame[Any], list[Diagnostic]]":
    """The table with its labels as the reading has them, and what was read beside them; and what there is to say."""
    import narwhals as nw

    texts = [name for name, dtype in table.schema.items() if _holds_labels(dtype)]
    tidy, merges = table.reading.tidy, table.reading.merges
    before = {name: _text(name, table.schema[name]) for name in texts}
    values = {name: _tidied(value) if tidy else value for name, value in before.items()}
    told = [Diagnostic("labels-tidied", columns=tuple(texts))] if tidy and texts else []
    seen = {(into, name): values[name].is_in(list(of)) for into, of in merges for name in texts}
    changed = set(texts) if tidy else set()
    if seen:
        asked = [how_many(hit).alias(f"m{k}") for k, hit in enumerate(seen.values())]
        answer = table.collect(table.frame.select(*asked))
        counts = {place: int(answer[f"m{k}"][0] or 0) for k, place in enumerate(seen)}
        told += [
            Diagnostic("labels-merged", column=name, into=into, cells=n) for (into, name), n in counts.items() if n
        ]
        changed |= {name for (_, name), n in counts.items() if n}
    merged = {into for into, _ in merges if any((into, name) in seen and counts[into, name] for name in texts)}
    told += [Diagnostic("merge-unseen", texts=of, into=into) for into, of in merges if into not in merged]
    for (into, name), hit in seen.items():
        values[name] = nw.when(hit).then(nw.lit(into)).otherwise(values[name])
    chosen = [name for name in texts if name in changed]
    there = table.frame.collect_schema().names()  # of a table that was tidied already, too
    beside = [nw.col(name).alias(name + AS_READ) for name in chosen if name + AS_READ not in there]
    if not chosen:
        return table.frame, told
    return table.frame.with_columns(*beside, *(values[name].alias(name) for name in chosen)), told


def _holds_labels(dtype: object) -> bool:
    import narwhals as nw

    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _text(name: str, dtype: object) -> "nw.Expr":
    import narwhals as nw

    value = nw.col(name)
    # A cast of its own would spell the missing ones "None" or "nan".
    return value if dtype == nw.String else nw.when(~value.is_null()).then(value.cast(nw.String))


def _tidied(value: "nw.Expr") -> "nw.Expr":
    import narwhals as nw

    plain = value.str.replace_all(_BLANKS, " ").str.strip_chars(" ").str.to_lowercase()
    return nw.when(plain != "").then(plain)
