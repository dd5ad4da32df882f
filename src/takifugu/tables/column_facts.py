"""What is in a table, column by column: types, gaps, distinct values, codes, identifiers and dates.

One query for all columns together, and one for each column whose values are counted; what texts look like is then
asked of each text once, and only of texts that are too many to count in one more query. Facts keep those counts for
whoever proposes something from them; what is shown to people is chosen elsewhere (`takifugu.queries.inspecting`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from takifugu._validation import Array
from takifugu.problems import Choices
from takifugu.tables.columns import Secret, plain
from takifugu.tables.counting import SECRETS, Extent, Overview, Subset, chosen_secrets, count
from takifugu.tables.engine import answers
from takifugu.tables.reading import how_many, without_sentinels
from takifugu.tables.table import Table, tally

# What may stand for a missing value: the codes of questionnaires, extremes that stand apart, words among numbers.
#
# Nothing here is certain, so nothing is dropped for it: a suspect is told, and whoever knows the table decides.

_NINES = [10**digits - 1 for digits in range(2, 10)]
_OF_SURVEYS = [-1, -2, -3, -7, -8, -9, 77, 88, 777, 888, 7777, 8888, 99.9, 999.9, 9999.9, 99.99, 999.99]
USUAL = frozenset([*_OF_SURVEYS, *_NINES, *(-n for n in _NINES), *(n - k for n in _NINES for k in (1, 2))])
_OTHERS = 5  # distinct values beside a suspect, below which a column is a scale and -1 may be a step of it
_STEPS = 2  # of such a scale, at least: where they lie close together a code far away is none of them
_REPEATED = 5  # rows that share a value: fewer may be an odd person, whose value is nobody's business
_APART = 3  # times as far from the rest as the rest reaches from its middle: for a value that is no usual code
_NUMERAL = re.compile(r"\s*[+-]?(?:0|[1-9][0-9]*)(?:[.,][0-9]+)?\s*%?\s*")  # 007 is a name
_SPELLED = re.compile(r"\s*[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?\s*%?\s*")  # codes such as 007 too
_STEP = 12  # characters of a step of a scale, such as "10 or more", at most
_WORDS = 2  # that mean "missing" in one column, at most
_SPIKE = 5  # times as many rows as its neighbour


@dataclass(frozen=True)
class Suspect:
    """A value that may mean a missing one. It is `usual` if questionnaires use it so, `apart` if it is far out."""

    value: float
    rows: int
    usual: bool
    apart: bool

    @property
    def may_be_named(self) -> bool:
        """Whether it is a usual code, or of several rows: any other is somebody's value, and nobody's business."""
        return self.usual or self.rows >= _REPEATED


def suspects(values: Array, counts: Array) -> tuple[Suspect, ...]:
    """The suspects among the distinct values of a column, in order, each with its rows.

    A value that is no usual code, and that few rows have, is one of them only where it is the single one out there.

    Args:
        values: the distinct values of a column, in order.
        counts: how many rows have each.

    Returns:
        Values far from all others at either end, with what speaks for a code.

    >>> suspects(np.array([1.0, 2, 3, 4, 5, 6, 999]), np.array([9.0, 9, 9, 9, 9, 9, 1]))
    (Suspect(value=999.0, rows=1, usual=True, apart=True),)
    """
    lowest = _at_the_top(-values[::-1], counts[::-1], sign=-1)
    return (*reversed(lowest), *_at_the_top(values, counts, sign=1))


def words_among_numbers(labels: Mapping[Any, int]) -> tuple[str, ...]:
    """The one or two words that keep a column from being one of numbers, each shared by several rows; else none.

    A text with a digit in it, such as "10 or more", is a step of the scale.

    >>> words_among_numbers({"0": 4, "1": 9, "2": 9, "3": 9, "4,5": 2, "unknown": 30})
    ('unknown',)
    >>> words_among_numbers({"0": 4, "1": 9, "2": 9, "3": 9, "4": 2, "5 or more": 30})
    ()
    """
    words = sorted(str(label) for label in labels if not _NUMERAL.fullmatch(str(label)))
    if not 1 <= len(words) <= _WORDS or len(labels) - len(words) < _OTHERS:
        return ()
    plain = all(labels[word] >= _REPEATED and not any(map(str.isdigit, word)) for word in words)
    return tuple(words) if plain else ()


def notes_among_numbers(labels: Mapping[Any, int]) -> int:
    """How many texts of few rows each stand in a column nearly all of whose rows hold numbers: notes about somebody.

    A short one with a digit in it and no capital, such as "10+" or "3 or more", is a step of the scale.

    >>> notes_among_numbers({"0": 40, "1": 90, "2": 9, "ill (Ann)": 1, "Ann: HIV 2019": 1})
    2
    >>> notes_among_numbers({"00": 40, "01": 90, "2e-9": 9, "3 or more": 1})
    0
    """
    texts = {str(label): rows for label, rows in labels.items() if not _SPELLED.fullmatch(str(label))}
    if 10 * sum(texts.values()) > sum(labels.values()):
        return 0
    return sum(rows < _REPEATED and not _is_step(text) for text, rows in texts.items())


def notes_in(column: str, notes: int) -> str:
    """The beginning of a sentence about so many of them."""
    return (
        f"column {column!r} holds numbers, and in a few rows {notes} other text{'s' * (notes > 1)}, which may be notes "
        f"about somebody: they are not published"
    )


def _is_step(text: str) -> bool:
    return len(text) <= _STEP and any(map(str.isdigit, text)) and text == text.lower()


def _at_the_top(values: Array, counts: Array, *, sign: int) -> list[Suspect]:
    """The suspects among the three largest values; `sign` turns them into those of the column."""
    for size in (1, 2, 3):  # 998 and 999 stand side by side
        rest, heavy = values[:-size], counts[:-size]
        if len(rest) < _STEPS:
            break
        top, tallies = sign * values[-size:], counts[-size:]
        usual = all(float(value) in USUAL for value in top)
        gap = float(values[-size] - rest[-1])
        if len(rest) < _OTHERS:
            if usual and gap > _APART * float(rest[-1] - rest[0]):
                return _apart(top, tallies, usual=True)
            continue
        # How far the rest reaches on this side: what lies on the other one, perhaps a code too, must not count much.
        middle = rest[np.searchsorted(np.cumsum(heavy), 0.5 * heavy.sum())]
        reach = max(float(rest[-1] - middle), 0.25 * float(rest[-1] - rest[0]))
        alone = sign < 0 and float(rest[-1]) <= 0 < float(values[-size])  # the only numbers below zero
        apart = gap > reach if usual else size == 1 and gap > _APART * reach
        if apart or (usual and alone):
            return _apart(top, tallies, usual=usual)
        if size == 1 and usual and tallies[0] >= _REPEATED and tallies[0] > _SPIKE * heavy[-1]:
            return [Suspect(float(top[0]), int(tallies[0]), True, False)]
    return []


def _apart(values: Array, tallies: Array, *, usual: bool) -> list[Suspect]:
    return [Suspect(float(value), int(rows), usual, True) for value, rows in zip(values, tallies, strict=True)]


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
    """The facts of every column, in order.

    Args:
        table: the rows.

    Returns:
        What each column holds: its kind, its values as far as they are few, and what may be wrong with them.

    Raises:
        InputError: where there are no rows.
    """
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
    kept = {name for finding in table.findings if finding.code == "kept-as-text" for name in finding["columns"]}
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


def _is_text(dtype: object) -> bool:
    import narwhals as nw

    return dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)


def _is_else(dtype: Any) -> bool:
    """Whether a column is of a type that no answer is made of, and that engines may not even compare."""
    import narwhals as nw

    return not (dtype.is_numeric() or _is_text(dtype) or dtype in (nw.Boolean, nw.Date, nw.Datetime))


# Whether the texts of a column are what people wrote, and no list that was there before them.

_MOST_LABELS = 30  # that a column may have, however rare: wards, trades, towns
_FEW = 10  # rows that share a label: fewer, and it says as much of them as a note
_SENTENCE = 6  # words: names of wards and trades have fewer, or many people
_MOST = 0.5  # of the labels


def is_free_text(facts: ColumnFacts) -> bool:
    """Whether few rows share most labels, of many, or one that is a sentence; what names people has a name of its own.

    >>> notes = {f"complains of headache, {k}": 3 for k in range(200)}
    >>> is_free_text(ColumnFacts("note", "labels", 600, 0, 200, labels=notes))
    True
    >>> is_free_text(ColumnFacts("state", "labels", 5_000, 0, 50, labels={f"state {k}": 100 for k in range(50)}))
    False
    """
    if facts.kind != "labels" or facts.is_identifier or facts.form is not None:
        return False
    if facts.labels is None:  # too many to be counted one by one
        return facts.rows < _FEW * facts.distinct
    return are_notes(facts.labels)


def are_notes(labels: Mapping[Secret, float]) -> bool:
    """Whether most labels, of many, are those of few rows, or one of few rows is a sentence; given with their rows.

    >>> are_notes({"A": 90, "B": 4}), are_notes({"-": 90, "seen with her son, fever of 39": 1})
    (False, True)
    """
    of_few = [label for label, rows in labels.items() if rows < _FEW]
    if len(labels) > _MOST_LABELS and len(of_few) > _MOST * len(labels):
        return True
    return any(isinstance(label, str) and len(label.split()) >= _SENTENCE for label in of_few)


# How often each value of each column goes with each secret, for a first look at all of them.


class BySecret:
    """The rows of each secret, in order, those without one, and the counts of any column on a list of values."""

    def __init__(self, table: Table, secret: str, numbers: Sequence[str], labels: Sequence[str] = ()) -> None:
        """One pass: the rows of each secret, how many have a value in each column, and the range of `numbers`."""
        import narwhals as nw

        self._table, self._secret, self._numbers = table, secret, list(numbers)
        self._columns = [*self._numbers, *labels]
        asked = {"rows": nw.len()}
        for place in range(len(self._columns)):
            own = nw.col(f"x{place}")
            asked[f"{place}:values"] = own.count()
            if place < len(self._numbers):
                asked |= {f"{place}:low": own.min(), f"{place}:high": own.max()}
        parts = [table.secret(secret).alias("secret")]
        parts += [
            (table.number(name) if place < len(self._numbers) else table.secret(name)).alias(f"x{place}")
            for place, name in enumerate(self._columns)
        ]
        grouped = table.frame.select(*parts).group_by("secret").agg(*(e.alias(name) for name, e in asked.items()))
        answer = table.collect(grouped.head(SECRETS + 2))
        keys = [plain(key) for key in answer["secret"]]
        rows = {key: int(n) for key, n in zip(keys, answer["rows"], strict=True) if key is not None}
        self.without = sum(int(n) for key, n in zip(keys, answer["rows"], strict=True) if key is None)
        self.rows: dict[Secret, int] = {}
        if rows:
            self.rows = {name: rows[name] for name in chosen_secrets(table, secret, rows, None)}
        self._answer = {key: {what: answer[what][line] for what in asked} for line, key in enumerate(keys)}

    def lacking(self, column: str) -> dict[Secret, tuple[int, int]]:
        """How many rows of each secret lack a value in one of the columns, and how many it has."""
        valued = f"{self._columns.index(column)}:values"
        return {name: (rows - int(self._answer[name][valued]), rows) for name, rows in self.rows.items()}

    def counts(self, column: str, choices: Choices) -> dict[Secret, Array]:
        """Each secret's counts on the list; only of secrets with a value in the column."""
        return self._of_numbers(column, choices) if column in self._numbers else self._of_labels(column, choices)

    def _of_numbers(self, column: str, choices: Choices) -> dict[Secret, Array]:
        place = self._numbers.index(column)
        extents = {}
        for name in self.rows:
            told = self._answer[name]
            if valid := int(told[f"{place}:values"]):
                ends = float(told[f"{place}:low"]), float(told[f"{place}:high"])
                extents[name] = Extent(int(told["rows"]), valid, *ends)
        subsets = count(self._table, self._secret, column, Overview(extents, 0)) if extents else {}
        counts: dict[Secret, Array] = {}
        for name, found in subsets.items():
            counts[name] = np.zeros(len(choices.values))
            np.add.at(counts[name], choices.places(found.values), found.counts)
        return counts

    def _of_labels(self, column: str, choices: Choices) -> dict[Secret, Array]:
        parts = {"secret": self._table.secret(self._secret), "value": self._table.secret(column)}
        names = f"{self._secret!r} and {column!r}"
        answer = tally(self._table, parts, complete=parts, whose=names, advice="group the labels into fewer first")
        lines = list(zip(map(plain, answer["secret"]), map(plain, answer["value"]), answer["count"], strict=True))
        places = choices.places([value for _, value, _ in lines], column)
        found: dict[Any, Array] = {}
        for (name, _, rows), place in zip(lines, places.tolist(), strict=True):
            found.setdefault(name, np.zeros(len(choices.values)))[place] += rows
        return {name: found[name] for name in self.rows if name in found}


def treated(table: Table, sentinels: Sequence[str]) -> Table:
    """The table with further sentinels read as missing values."""
    if not sentinels:
        return table
    other = Table(table)
    other.reading = replace(table.reading, sentinels=(*table.reading.sentinels, *sentinels))
    other.frame, _ = without_sentinels(other, texts=())
    return other


# Labels that differ in capitals or stray blanks alone, as they do where many hands fill in a form.


def alike(labels: Iterable[Secret]) -> list[tuple[str, ...]]:
    """The groups of labels that read the same, each in order.

    >>> alike(["yes", "no", "Yes", "NO ", "unknown"])
    [('NO ', 'no'), ('Yes', 'yes')]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(" ".join(label.split()).casefold(), []).append(label)
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)


def shared(groups: Iterable[tuple[str, ...]], labels: Mapping[Secret, int], rows: int) -> tuple[str, ...]:
    """The first group each of whose labels stands in so many rows, and may be called by its name; else none.

    >>> shared([("NO ", "no"), ("Yes", "yes")], {"NO ": 1, "no": 40, "Yes": 12, "yes": 30}, 10)
    ('Yes', 'yes')
    """
    return next((group for group in groups if all(labels[label] >= rows for label in group)), ())
