"""What is in a table, column by column: types, gaps, distinct values, codes, identifiers and dates.

One query for all columns together, and one for each column whose values are counted; what texts look like is then
asked of each text once, and only of texts that are too many to count in one more query. Facts keep those counts for
whoever proposes something from them; what is shown to people is chosen elsewhere (`takifugu.queries.inspecting`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from takifugu.problems.reading_findings import KeptAsText
from takifugu.tables.count import Subset, count
from takifugu.tables.distinct import answers
from takifugu.tables.missing import how_many
from takifugu.tables.overview import Extent, Overview
from takifugu.tables.suspects import Suspect, suspects
from takifugu.tables.table import Secret, Table, plain

Kind = Literal["whole numbers", "numbers", "truth", "labels", "dates", "nothing", "something else"]
Form = Literal["amounts", "percentages", "decimal commas", "numbers", "losses", "measurements"]

MOST_LABELS = 1_000  # distinct labels that are counted one by one
_ALONE = ""  # the one secret of a table that is counted without any
_FEWEST = 10  # distinct values below which no column names people
_RUNNING = 2  # times the number of rows: who draws numbers from so few numbers them
_WHOLE_SHARE = 0.99  # of distinct values among whole numbers; measurements repeat now and then, case numbers do not
_TEXT_SHARE = 0.5  # the same among texts: names repeat
_NAMED_SHARE = 0.1  # the same where the column says itself what it is
_CALLED_SHARE = 0.02  # and where it says nothing else: people may have many rows
_IDENTIFIER = re.compile(
    r"(?i)(^|[\W_])(id|uuid|guid|key|name|vorname|nachname|surname|forename|e-?mail|phone|telefon|mobile|ssn|svnr|iban|"
    r"address|adresse|passport)([\W_]|$)|(?-i:[a-z]I[dD]$)"
)
_NUMBERED = r"[\W_]*(?:id|nr|no|num|number|nummer|code|key|name|ref)"
_PERSON = re.compile(  # whoever calls a column after people names them in it, however many rows each of them has
    rf"(?i)(?:person|patient(?:in)?|pupil|student|sch[uü]ler(?:in)?|employee|mitarbeiter(?:in)?|client|customer|kunde|"
    rf"kundin|member|mitglied|participant|teilnehmer(?:in)?|proband(?:in)?|respondent|applicant)(?:{_NUMBERED})?"
    rf"|(?:staff|personal|worker|user|case|fall|account|subject|visitor|sample){_NUMBERED}"
)
_MOSTLY = 0.9
_TOO_LARGE = 2.0**53  # whole numbers from here on share a float with a neighbour
_YEAR_FIRST = "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}"
_YEAR_LAST = "[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{2}){1,2}"
_AMOUNT = "[0-9][0-9.,' \u00a0\u202f]*"  # with whatever stands between thousands
_CURRENCY = "(?:[€$£¥₹]|EUR|USD|GBP|CHF|Fr[.])"
_UNIT = "(?:[kmcdnpfuµμ]?(?:g|[lL]|mol|I?U|Pa|m|s|Hz|W|Wh|V|J|cal|[eE]q)[²³23]?|mmHg|bpm|°[CF]|min|h)"
_FORMS = {  # as every engine's regular expressions write them
    "dates": rf"^\s*(?:{_YEAR_FIRST}|{_YEAR_LAST})(?:[T ].*)?$",
    "amounts": rf"^\s*[+-]?\s*(?:{_CURRENCY}\s*[+-]?{_AMOUNT}|{_AMOUNT}{_CURRENCY})\s*$",
    "percentages": r"^\s*[+-]?[0-9]+(?:[.,][0-9]+)?\s*%\s*$",
    "decimal commas": r"^\s*[+-]?[0-9]+,[0-9]+\s*$",
    "numbers": r"^\s*[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\s*$",  # zeros in front are those of a code
    "losses": rf"^\s*\(\s*{_AMOUNT}{_CURRENCY}?\s*\)\s*$",  # in accounts what stands in parentheses is below zero
    "measurements": rf"^\s*(?:[<>≤≥]=?\s*{_AMOUNT}|[+-]?{_AMOUNT}{_UNIT}|[<>≤≥]=?\s*{_AMOUNT}{_UNIT})(?:/{_UNIT})*\s*$",
    "plain": rf"^\s*[+-]?{_AMOUNT}$",  # any of them without a sign, a unit or parentheses
}
_MIXED: tuple[Form, ...] = ("losses", "measurements")  # forms of some cells, beside which the others are plain
AWKWARD: tuple[Form, ...] = ("amounts", *_MIXED)  # as many as people, and name nobody; as labels they are no use
_MANY_LABELS = 30  # of measurements: fewer are steps of a scale, and labels as good as any


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column. `form` is what the cells of a text column mostly look like.

    `numbers` and `labels` are the distinct values with their counts: for computing, never to be shown as they are.
    """

    name: str
    kind: Kind
    rows: int
    missing: int
    distinct: int
    is_identifier: bool = False
    form: Form | None = None
    suspects: tuple[Suspect, ...] = ()
    numbers: Subset | None = field(default=None, repr=False, compare=False)
    labels: dict[Secret, int] | None = field(default=None, repr=False, compare=False)

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.kind in ("whole numbers", "numbers")


def look(table: Table) -> tuple[ColumnFacts, ...]:
    """The facts of every column, in order."""
    found = _look(table, table.columns)
    if not found:
        raise table.no_rows()
    return found


def codes_in(table: Table, columns: Iterable[str]) -> list[tuple[str, Suspect]]:
    """What stands far from the rest in columns of numbers, and may mean a missing value: `look` finds the same."""
    numbers = [name for name in dict.fromkeys(columns) if table.schema[name].is_numeric()]
    facts = _look(table, numbers) if numbers else ()
    return [(one.name, code) for one in facts for code in one.suspects if code.apart]


def _look(table: Table, names: Sequence[str]) -> tuple[ColumnFacts, ...]:
    """The facts of some columns; none where there are no rows."""
    first = _overview(table, names)
    rows = int(first["rows"])
    if not rows:
        return ()
    kept = {name for finding in table.findings if isinstance(finding, KeptAsText) for name in finding.columns}
    first |= _forms_of_many(table, names, first)
    return tuple(_facts(table, name, place, first, rows, name in kept) for place, name in enumerate(names))


def _overview(table: Table, names: Sequence[str]) -> dict[str, Any]:
    """One pass over the columns: gaps and distinct values, and the range of numbers."""
    import narwhals as nw

    values: list[nw.Expr] = []
    asked: dict[str, nw.Expr] = {"rows": nw.len()}
    distinct: dict[str, str] = {}
    for place, name in enumerate(names):
        dtype = table.schema[name]
        own, here = nw.col(f"x{place}"), f"{place}:"
        asked[here + "values"] = own.count()
        if dtype.is_numeric():
            values.append(table.number(name).alias(f"x{place}"))
            whole = how_many(own == own.floor())
            asked |= {here + "whole": whole, here + "low": own.min(), here + "high": own.max()}
        elif _is_text(dtype):
            values.append(table.secret(name).alias(f"x{place}"))
        else:
            values.append(nw.col(name).alias(f"x{place}"))
        if not _is_else(dtype):
            distinct[here + "distinct"] = f"x{place}"
    return answers(table, table.frame.select(*values), asked, distinct)


def _forms_of_many(table: Table, names: Sequence[str], first: Mapping[str, Any]) -> dict[str, Any]:
    """How many cells look like what, in the columns that have too many texts to go through them one by one."""
    import narwhals as nw

    asked: list[nw.Expr] = []
    for place, name in enumerate(names):
        if _is_text(table.schema[name]) and first[f"{place}:distinct"] > MOST_LABELS:
            told = table.secret(name).fill_null("")  # no form fits it; older pandas cannot count neither true nor false
            for form, look in _FORMS.items():
                asked.append(how_many(told.str.contains(look)).alias(f"{place}:{form}"))
    if not asked:
        return {}
    return {name: column[0] for name, column in table.collect(table.frame.select(*asked)).items()}


def _forms_in(labels: Mapping[Any, int]) -> dict[str, int]:
    """The same from the texts and their rows: forty thousand rows of nine labels are nine labels."""
    texts = [(text, rows) for text, rows in labels.items() if isinstance(text, str)]
    return {form: sum(rows for text, rows in texts if re.search(look, text)) for form, look in _FORMS.items()}


def _facts(table: Table, name: str, place: int, first: dict[str, Any], rows: int, is_code: bool) -> ColumnFacts:
    dtype = table.schema[name]
    told = {what: plain(first.get(f"{place}:{what}")) or 0 for what in ("values", "distinct", "whole", "low", "high")}
    there = int(told["values"])
    distinct = int(told["distinct"]) - (there < rows)  # a gap counts as a value of its own
    known = ColumnFacts(name, "nothing", there, rows - there, max(0, distinct))
    if not there:
        return known
    if dtype.is_numeric():
        return _about_numbers(table, known, told)
    if _is_text(dtype):
        labels = label_counts(table, name, most=MOST_LABELS) if distinct <= MOST_LABELS else None
        asked = {form: int(first.get(f"{place}:{form}") or 0) for form in _FORMS}
        return _about_texts(known, labels, asked if labels is None else _forms_in(labels), is_code)
    if dtype.is_temporal():
        return replace(known, kind="dates")
    if _is_else(dtype):
        return replace(known, kind="something else")
    return replace(known, kind="truth", labels=label_counts(table, name, most=MOST_LABELS))


def _about_texts(
    known: ColumnFacts, labels: dict[Secret, int] | None, forms: Mapping[str, int], is_code: bool
) -> ColumnFacts:
    if forms["dates"] >= _MOSTLY * known.rows:
        return replace(known, kind="dates")
    form = None if is_code else _form(known.rows, known.distinct, forms)
    named = looks_like_identifier(known.name, known.distinct, known.rows, numeric=False)
    return replace(
        known,
        kind="labels",
        is_identifier=named and form not in AWKWARD,
        form=form,
        labels=labels,
    )


def _form(rows: int, distinct: int, forms: Mapping[str, int]) -> Form | None:
    """What nearly all cells look like; of a mixed form some, and the others are plain numbers."""
    whole: tuple[Form, ...] = ("amounts", "percentages", "decimal commas", "numbers")
    for one in whole:
        if forms[one] >= _MOSTLY * rows:
            return one
    if distinct <= _MANY_LABELS:
        return None
    return next((one for one in _MIXED if forms[one] and forms[one] + forms["plain"] >= _MOSTLY * rows), None)


def awkward_form(labels: Mapping[str, int]) -> Form | None:
    """The form of texts that are numbers, and that no reader takes for such; None where they are none.

    >>> awkward_form({f"{k}.5 mg/L": 3 for k in range(40)} | {"<0.5": 20}), awkward_form({"10 mg": 5, "20 mg": 5})
    ('measurements', None)
    """
    form = _form(sum(labels.values()), len(labels), _forms_in(labels))
    return form if form in AWKWARD else None


def _about_numbers(table: Table, known: ColumnFacts, told: dict[str, Any]) -> ColumnFacts:
    whole = int(told["whole"]) == known.rows
    is_identifier = whole and looks_like_identifier(known.name, known.distinct, known.rows, numeric=True)
    counted = _numbers(table, known.name, known.rows, float(told["low"]), float(told["high"]))
    return replace(
        known,
        kind="whole numbers" if whole else "numbers",
        is_identifier=is_identifier,
        suspects=suspected(table, known.name, counted) if counted is not None and not is_identifier else (),
        numbers=counted,
    )


def suspected(table: Table, column: str, counted: Subset) -> tuple[Suspect, ...]:
    """The values of a column of numbers that may mean a missing one; none where the reading says that all are real."""
    return () if table.reading.has_no_codes(column) else suspects(counted.values, counted.counts)


def looks_like_identifier(name: str, distinct: int, rows: int, *, numeric: bool) -> bool:
    """Whether values are so rarely shared that they name people, or the column says that they do.

    >>> [looks_like_identifier(name, 150, 2_000, numeric=False) for name in ("patient", "Name", "ward name", "town")]
    [True, True, False, False]
    """
    share = _WHOLE_SHARE if numeric else _TEXT_SHARE
    if distinct < _FEWEST:
        return False
    if _PERSON.fullmatch(name.strip()):
        return True
    if _IDENTIFIER.search(name):
        share = min(share, _CALLED_SHARE if _IDENTIFIER.fullmatch(name.strip()) else _NAMED_SHARE)
    return distinct >= share * rows


def numbers_rows(name: str, low: float, high: float, distinct: int, rows: int) -> bool:
    """Whether whole numbers that look like identifiers are surely such: they run on, or the column's name says so.

    >>> numbers_rows("row", 1, 800, 800, 800), numbers_rows("salary", 21_000, 94_000, 800, 800)
    (True, False)
    """
    if not looks_like_identifier(name, distinct, rows, numeric=True):
        return False
    return high - low < _RUNNING * distinct or bool(_IDENTIFIER.search(name) or _PERSON.fullmatch(name.strip()))


def holds_dates(labels: Mapping[str, float]) -> bool:
    """Whether most rows of a column of texts are dates.

    >>> holds_dates({"03.02.2026": 9, "unknown": 1}), holds_dates({"3-5 days": 9, "2026": 4})
    (True, False)
    """
    dates = sum(rows for text, rows in labels.items() if re.match(_FORMS["dates"], text))
    return dates >= _MOSTLY * sum(labels.values())


def _numbers(table: Table, name: str, rows: int, low: float, high: float) -> Subset | None:
    """The distinct numbers with their counts, on a grid where they are many; None where one is too large to publish."""
    if not max(abs(low), abs(high)) < _TOO_LARGE:
        return None
    return count(table, None, name, Overview({_ALONE: Extent(rows, rows, low, high)}, 0))[_ALONE]


def label_counts(table: Table, name: str, *, most: int) -> dict[Secret, int]:
    """The distinct labels of a column with their rows, `most` and one of them at most: for computing alone."""
    import narwhals as nw

    value = nw.col("value")
    column = table.frame.select(table.secret(name).alias("value")).filter(~value.is_null())
    answer = table.collect(column.group_by("value").agg(nw.len().alias("rows")).head(most + 1))
    found = zip(map(plain, answer["value"]), map(int, answer["rows"]), strict=True)
    return {label: rows for label, rows in found if label is not None}


def _is_text(dtype: Any) -> bool:
    import narwhals as nw

    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _is_else(dtype: Any) -> bool:
    """Whether a column is of a type that no answer is made of, and that engines may not even compare."""
    import narwhals as nw

    return not (dtype.is_numeric() or _is_text(dtype) or dtype in (nw.Boolean, nw.Date, nw.Datetime))
