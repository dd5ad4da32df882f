"""Files as people have them, and what is in them: content, what is said beforehand, and the table that is meant.

Every file holds `MARKER` in a record, which no sentence may ever show.
"""

import gzip
from dataclasses import dataclass, field
from typing import Any

MARKER = "Zorngiebel"
PEOPLE = {"name": [MARKER, "Ann", "Bo"], "days": [3.5, 12.25, 1234.5], "ward": ["A", "B", "A"]}
PLAIN = f"name,days,ward\n{MARKER},3.5,A\nAnn,12.25,B\nBo,1234.5,A\n"
COMMAS = f"name;days;ward\n{MARKER};3,5;A\nAnn;12,25;B\nBo;1234,5;A\n"


@dataclass(frozen=True)
class Messy:
    content: bytes
    expected: dict[str, list[Any]]
    ending: str = ".csv"
    said: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()  # of the findings


def of(text: str, expected: dict[str, list[Any]], *kinds: str, encoding: str = "utf-8", **more: Any) -> Messy:
    return Messy(text.encode(encoding), expected, kinds=kinds, **more)


def column(cells: list[str], expected: list[Any], *kinds: str, sep: str = ";", **said: Any) -> Messy:
    """A file with one interesting column `x` between two dull ones."""
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    lines = [f"name{sep}x{sep}n", *(f"{MARKER}{sep}{cell}{sep}{n}" for n, cell in enumerate(quoted))]
    rows = len(cells)
    table = {"name": [MARKER] * rows, "x": expected, "n": list(range(rows))}
    kinds = kinds if sep == "," else ("read-as", *kinds)
    return of("\n".join(lines) + "\n", table, *kinds, said=said)


SEMI, COMMA = "read-as", "decimal-commas"
FILES = {
    "plain": of(PLAIN, PEOPLE),
    "semicolons": of(COMMAS, PEOPLE, SEMI, COMMA),
    "tabs": of(PLAIN.replace(",", "\t"), PEOPLE, ending=".tsv"),
    "tabs in a text file": of(PLAIN.replace(",", "\t"), PEOPLE, SEMI, ending=".txt"),
    "bars": of(PLAIN.replace(",", "|"), PEOPLE, SEMI),
    "a mark in front": of(PLAIN, PEOPLE, encoding="utf-8-sig"),
    "utf-16": of(COMMAS, PEOPLE, SEMI, COMMA, encoding="utf-16"),
    "cp1252": of(COMMAS.replace("Ann", "Ännchen €"), PEOPLE | {"name": [MARKER, "Ännchen €", "Bo"]}, SEMI, COMMA,
                 encoding="cp1252"),
    "latin-1": of(COMMAS.replace("Ann", "é\x81"), PEOPLE | {"name": [MARKER, "é\x81", "Bo"]}, SEMI, COMMA,
                  encoding="latin-1"),
    "an encoding that was said": of(PLAIN.replace("Ann", "Łucja"), PEOPLE | {"name": [MARKER, "Łucja", "Bo"]},
                                    encoding="cp1250", said={"encoding": "cp1250"}),
    "windows lines": of(PLAIN.replace("\n", "\r\n"), PEOPLE),
    "old lines": of(PLAIN.replace("\n", "\r"), PEOPLE),
    "mixed lines": of(PLAIN.replace("\n", "\r\n", 2), PEOPLE),
    "no last line end": of(PLAIN.rstrip(), PEOPLE),
    "empty lines": of(PLAIN.replace("\n", "\n\n"), PEOPLE),
    "packed": Messy(gzip.compress(PLAIN.encode()), PEOPLE, ".csv.gz"),
    "packed and odd": Messy(gzip.compress(COMMAS.encode("utf-16")), PEOPLE, ".tsv.gz", kinds=(SEMI, COMMA)),
    "titles": of("Stays in 2024\nMade by hand, on Monday, late\n\n" + PLAIN, PEOPLE, "title-lines"),
    "padded titles": of("Stays in 2024;;\n;;\n" + COMMAS, PEOPLE, SEMI, "title-lines", COMMA),
    "titles that were said": of("a,b,c\n" + PLAIN, PEOPLE, said={"skip": 1}),
    "a header of two lines": of(PLAIN.replace("days", '"da\nys"'),
                                {"name": PEOPLE["name"], "da\nys": PEOPLE["days"], "ward": PEOPLE["ward"]}),
    "no header": of(PLAIN.partition("\n")[2], {f"column{n}": cells for n, cells in enumerate(PEOPLE.values(), 1)},
                    "unnamed-columns", said={"header": False}),
    "years as names": of(f"name,2019,2020\n{MARKER},1,2\n", {"name": [MARKER], "2019": [1], "2020": [2]}),
    "a column without a name": of(f",name,x\n0,{MARKER},5\n1,Bo,6\n",
                                  {"column1": [0, 1], "name": [MARKER, "Bo"], "x": [5, 6]}, "unnamed-columns"),
    "names with anything": of(f'"it ""is""",a b,\'q\',größe\n{MARKER},1,2,3\n',
                              {'it "is"': [MARKER], "a b": [1], "'q'": [2], "größe": [3]}),
    "separators and lines in quotes": of(f'name,x\n"{MARKER}, the\nfirst",1\n"say ""no""",2\n',
                                         {"name": [f"{MARKER}, the\nfirst", 'say "no"'], "x": [1, 2]}),
    "a space after each comma": of(f"name, ward, n\n{MARKER}, A, 1\nBo, B, 2\n",
                                   {"name": [MARKER, "Bo"], "ward": ["A", "B"], "n": [1, 2]}, "spaces-dropped"),
    "spaces that matter": of(f"name,ward\n{MARKER}, yes\nBo,yes\nAn,yes \n",
                             {"name": [MARKER, "Bo", "An"], "ward": [" yes", "yes", "yes "]}),
    "one column": of(f"name\n{MARKER}\n\nBo\n", {"name": [MARKER, "Bo"]}),
    "one column of decimal commas": of("x\n3,5\n4,25\n", {"x": [3.5, 4.25]}, COMMA),
    "commas in another file's text": of(f"name;note\n{MARKER};a, b, c\nBo;d, e, f\n",
                                        {"name": [MARKER, "Bo"], "note": ["a, b, c", "d, e, f"]}, SEMI),
    "thousands": column(["1.234,5", "2", "-12.345.678,25"], [1234.5, 2.0, -12345678.25], COMMA, "grouped-digits"),
    "english thousands": column(["1,234.5", "2", "-12,345,678.25"], [1234.5, 2.0, -12345678.25], "grouped-digits",
                                sep=","),
    "whole thousands": column(["1,234,567", "1,000"], [1234567, 1000], "grouped-digits", sep=","),
    "spaced thousands": column(["1 234", "5\u00a0678,5", "9\u202f000"], [1234.0, 5678.5, 9000.0], COMMA,
                               "grouped-digits"),
    "swiss thousands": column(["1'234.50", "2’000"], [1234.5, 2000.0], "grouped-digits"),
    "perhaps thousands": column(["1,234", "5,678"], [1234, 5678], "grouped-digits", "ambiguous-numbers", sep=","),
    "perhaps decimals": column(["1,234", "5,678"], [1.234, 5.678], COMMA, "ambiguous-numbers"),
    "said to be thousands": column(["1,234", "5,678"], [1234, 5678], "grouped-digits", decimal="."),
    "said to be thousands too": column(["1,234", "5,678"], [1234, 5678], "grouped-digits", thousands=","),
    "said to be grouped by nothing": column(["1,234", "5,678"], ["1,234", "5,678"], decimal=".", thousands=""),
    "zero tells": column(["0,123", "5,678"], [0.123, 5.678], COMMA),
    "percents": column(["12 %", "12,5%", "-3\u00a0%"], [12.0, 12.5, -3.0], COMMA, "percentages"),
    "percents and others": column(["12 %", "12"], ["12 %", "12"]),
    "both marks": column(["3,5", "3.5"], ["3,5", "3.5"]),
    "identifiers": column(["00123", "4"], ["00123", "4"], "kept-as-text"),
    "long identifiers": column(["1234567890123456789", "4"], ["1234567890123456789", "4"], "kept-as-text"),
    "the longest number": column(["123456789012345678", "-4"], [123456789012345678, -4]),
    "powers of ten": column(["1e5", "2.5E-3", ".5", "5.", "-3"], [1e5, 2.5e-3, 0.5, 5.0, -3.0]),
    "infinite": column(["1", "inf", "-Infinity"], [1.0, float("inf"), float("-inf")]),
    "all kinds of missing": column(
        ["NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "-", ".", "", "  ", " NA ", "7"],
        [None] * 13 + [7], "missing-texts"),
    "missing texts": column(["NA", "b", "none", "na"], [None, "b", "none", "na"], "missing-texts"),
    "other missing texts": column(["NA", "b", "?"], ["NA", "b", None], na=["?"]),
    "sentinels": column(["34", "999", "999.0", "-1"], [34.0, None, None, None], "sentinels-treated",
                        sentinels=[999, "x=-1"]),
    "sentinels of text": column(["34", "?", "51"], [34, None, 51], "sentinels-treated", sentinels=["?"]),
    "another column's sentinel": column(["34", "1"], [34, 1], "sentinels-unseen", sentinels=["name=1"]),
    "truth": column(["true", "FALSE", "", "True"], [True, False, None, True]),
    "yes and no": column(["yes", "no"], ["yes", "no"]),
    "truth and others": column(["true", "no"], ["true", "no"]),
    "dates": column(["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"]),
    "german dates": column(["31.01.2024", "01.02.2024"], ["31.01.2024", "01.02.2024"]),
    "times": column(["12:30", "1:05"], ["12:30", "1:05"]),
    "hexadecimal and underscores": column(["0x10", "1_000"], ["0x10", "1_000"]),
    "nothing at all": column(["", ""], [None, None]),
    "what others prove": of(f"name;x;y\n{MARKER};3,5;1.234\nBo;4,5;5.678\n",
                            {"name": [MARKER, "Bo"], "x": [3.5, 4.5], "y": [1234, 5678]},
                            SEMI, COMMA, "grouped-digits", "ambiguous-numbers"),
}  # fmt: skip
