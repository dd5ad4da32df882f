"""takifugu inspect: what a table holds, and the plan that it begins: a TOML file that people edit and publish takes."""

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.atomic import Files
from takifugu.commands.options import Command, json_option, reading_from, reading_options, single
from takifugu.commands.output import console, print_json, tell_findings
from takifugu.commands.progress import doing, done
from takifugu.errors import InputError, suggestion

if TYPE_CHECKING:
    from rich.console import Console

    from takifugu.queries import InspectedColumn, Inspection
    from takifugu.tables import Reading

_WIDEST = 20  # characters of a column's name before it is broken
_HOLDS, _ADVICE, _LIST = 16, 14, 11  # characters for what is broken between words
_ROOMY = 110  # characters of a terminal in which advice stays on one line
_INDENT = 2
_SHOWN = 20  # groups of the secret, and columns that tell it, before the rest is counted


@click.command("inspect", cls=Command)
@click.argument("table")
@single("--secret", metavar="COLUMN", help="The column to hide: shows what the others reveal about it.")
@reading_options
@single("--plan", metavar="FILE", type=click.Path(), help="Begin a plan to edit, for publish --plan (private).")
@json_option
def command(table: str, secret: str | None, plan: str | None, as_json: bool, **reading: object) -> None:
    """Look at TABLE: what its columns hold, and what they tell of a secret.

    \b
    What is in a file:
      takifugu inspect people.csv
    Which columns tell the diagnosis, and which groups are rare:
      takifugu inspect people.csv --secret diagnosis
    And begin a plan: a file to edit, which takifugu publish takes:
      takifugu inspect people.csv --secret diagnosis --plan plan.toml

    No record is shown: values are called by their names where five rows or more share them, and secrets always. What
    is printed describes the people in the table all the same: keep it private.

    Exit status: 0 done, 1 refused, 2 bad input, 130 interrupted.
    """
    from takifugu.commands.options import source_of
    from takifugu.queries import inspect

    source, _ = source_of(table)
    doing("Reading the table")
    said = reading_from(reading)
    found = inspect(source, secret, reading=said)
    done()
    if plan is not None:
        files = Files(plan)
        if Path(plan).exists():
            raise InputError(f"{plan!r} exists already: what was edited is not written over")
        files.add(plan, plan_of(found, table, said), private=True)
        files.write()
    if as_json:
        print_json(found.to_dict())
    else:
        _tell(found, Path(table).name, console())


def _tell(found: "Inspection", name: str, out: "Console") -> None:
    from rich.text import Text

    from takifugu.reports import clean

    hidden = "" if found.secret is None else f", of which {clean(found.secret)} is to be hidden"
    title = f"{clean(name)}: {found.rows:,} rows, {len(found.columns)} columns{hidden}"
    out.print(Text(title, style="bold"))
    out.print()
    _tell_columns(found, out)
    if found.groups:
        out.print()
        _tell_groups(found, out)
    if found.betrayals:
        out.print()
        _tell_betrayals(found, out)
    if found.findings:
        out.print()
        tell_findings(found.findings, out)


def _tell_columns(found: "Inspection", out: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table

    from takifugu.reports import clean

    lines = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    # A terminal has 80 columns, and words that are cut in the middle are not read: names get the room they need, and
    # lists what the others leave. Least widths that do not fit together would cut the last column off.
    widest = min(max(len("column"), *(len(clean(one.name)) for one in found.columns)), _WIDEST)
    gaps = any(one.missing for one in found.columns)
    advice = _ADVICE if out.width < _ROOMY else max(len(one.advice) for one in found.columns)
    taken = [widest, _HOLDS, *([len("missing")] if gaps else []), advice]
    lines.add_column("column", style="bold", overflow="fold", width=widest)
    lines.add_column("holds", width=_HOLDS)
    if gaps:
        lines.add_column("missing", justify="right", width=len("missing"))
    lines.add_column("advice", width=advice)
    rest = out.width - _INDENT - sum(taken) - 2 * (len(taken) + 1)
    lines.add_column("public list", overflow="fold", width=max(rest, _LIST))
    for one in found.columns:
        domain = "" if one.domain is None else clean(one.domain.words, 160)
        missing = (f"{one.missing:,}" if one.missing else "",) if gaps else ()
        lines.add_row(clean(one.name), _holds(one.kind, one.distinct), *missing, one.advice, domain)
    out.print(Padding(lines, (0, 0, 0, _INDENT)))
    out.print("A public list: one that could be known without these rows, for you to judge.", style="dim")


def _holds(kind: str, distinct: int) -> str:
    """What is in a column, and how many different values of it.

    >>> _holds("labels", 1200), _holds("truth", 2), _holds("nothing", 0)
    ('1,200 labels', '2 truth values', 'nothing')
    """
    if kind in ("nothing", "something else"):
        return kind
    many = {"truth": "truth values"}.get(kind, kind)
    return f"{distinct:,} {many.removesuffix('s') if distinct == 1 else many}"


def _tell_groups(found: "Inspection", out: "Console") -> None:
    from takifugu.reports import clean

    ordered = sorted(found.groups, key=lambda group: -group.rows)
    shown = ", ".join(f"{clean(group.secret)} ({group.rows:,})" for group in ordered[:_SHOWN])
    more = f" and {len(ordered) - _SHOWN} more groups" if len(ordered) > _SHOWN else ""
    out.print(f"Rows of each {clean(found.secret)}: {shown}{more}.")


def _tell_betrayals(found: "Inspection", out: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table

    from takifugu.reports import clean, number, percent

    shown = found.betrayals[:_SHOWN]
    one_pair = all(one.pairs == 1 for one in shown)
    between = f" between {clean(shown[0].guessed[0])} and {clean(shown[0].guessed[1])}" if one_pair else ""
    out.print(f"What one value would reveal{between} if it were published as it is:")
    lines = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    lines.add_column("column", style="bold", overflow="fold")
    lines.add_column("best guess", justify="right")
    lines.add_column("by chance", justify="right")
    lines.add_column("odds change by", justify="right")
    if not one_pair:
        lines.add_column("guessed")
        lines.add_column("odds of")
    for one in shown:
        figures = (percent(one.best_guess), percent(one.by_chance), f"×{number(one.odds, 3)}")
        who = (" or ".join(clean(name, 24) for name in pair) for pair in (one.guessed, one.turned))
        lines.add_row(clean(one.column), *figures, *(() if one_pair else who))
    out.print(Padding(lines, (0, 2)))
    more = len(found.betrayals) - len(shown)
    out.print(
        (f"{more} columns that tell less are not shown. " if more else "")
        + "50 % is a random guess; by chance: about what groups of these sizes would show if they did not differ. "
        "×∞: one group has a value that another never has. Groups of fewer than 5 rows are left out.",
        style="dim",
    )


# A plan: what to publish of a table, as a TOML file that `inspect` begins, people edit and `publish` takes.
#
# Its names are those of the options of `takifugu publish`; what stands on the command line counts before it.


SUPPORTED = "supported"  # what `inspect` says of a column that can be published


def plan_of(found: "Inspection", source: str, reading: "Reading") -> str:
    """The plan that an inspection begins: nothing goes out until somebody takes a line in.

    Every column that can be published is a comment, with what it holds. What was said of the `reading` stands in it,
    so that the file is read once more as it was.
    """
    table = _line(source)
    lines = [
        f"# What to publish of {table}. It describes the people in the table: keep it private.",
        "# Remove the # before each column that may be published, and then:",
        f"#   takifugu publish {table} published.csv --plan THIS-FILE --dry-run",
        "",
        f"secret = {_text(found.secret or '')}  # the column to hide"
        + ("" if found.secret else ": fill it in, or give it to inspect to see what reveals it"),
        "odds = 3  # posterior odds change by at most this factor",
        "",
        "columns = [",
        *(f"  # {_text(one.name)},  # {_held(one)}" for one in found.columns if one.advice == SUPPORTED),
        "]",
        *(f"# not {_text(one.name)}: {one.advice}" for one in _others(found)),
        *_people(found),
        "",
        "# Rows of these secrets, which are too rare to be hidden, are not published:",
        f"leave-out = []{_rarest(found)}",
        "",
        "# Values that stand for a missing one, as COLUMN=VALUE; 'COLUMN=' says that all are real:",
        f"sentinel = [{', '.join(map(_text, _sentinels(found, reading)))}]",
        *_missing(found, reading),
        *_layout(reading),
        "",
        "# Labels are the same whatever their case and spaces, and those named together become one:",
        f"tidy = {json.dumps(reading.tidy)}{_alike(found)}",
        "[merge]",
        *(f"{_text(into)} = [{', '.join(map(_text, of))}]" for into, of in reading.merges),
        *_to_merge(found),
        "",
        "# The list of each column, where it is public; of others it is read from the rows:",
        "[domain]",
        *(f"# {_text(one.name)} = {_list(one)}" for one in found.columns if _is_listed(one)),
    ]
    return "\n".join(lines) + "\n"


def _people(found: "Inspection") -> list[str]:
    """The columns that may tell people apart, for a ledger: somebody has to say that they do."""
    looking = {one["column"] for one in found.findings if one.code == "looks-like-identifier"}
    named = [one.name for one in found.columns if one.name in looking and one.name != found.secret]
    told = "# The column that tells people apart: by it later publications know who was published before:"
    return ["", told, *(f"# id = {_text(name)}" for name in named)] if named else []


def _others(found: "Inspection") -> Iterator["InspectedColumn"]:
    return (one for one in found.columns if one.advice != SUPPORTED and one.name != found.secret)


def _held(one: "InspectedColumn") -> str:
    told = "" if one.betrayal is None else f"; best guess of the secret {100 * one.betrayal.best_guess:.0f} %"
    return f"{one.kind}, {one.distinct:,} different{told}"


def _rarest(found: "Inspection") -> str:
    if not found.groups:
        return ""
    rarest = min(found.groups, key=lambda group: group.rows)
    return f"  # the rarest is {_text(_line(str(rarest.secret)))}, of {rarest.rows:,} rows"


def _sentinels(found: "Inspection", reading: "Reading") -> list[str]:
    return list(dict.fromkeys([*map(str, reading.sentinels), *found.sentinels]))


def _missing(found: "Inspection", reading: "Reading") -> list[str]:
    """The texts that mean a missing value: those that were named, or which of the usual ones the file has."""
    if reading.na is not None:
        return ["", "# The texts that mean a missing value:", f"na = [{', '.join(map(_text, reading.na or ('',)))}]"]
    usual = {text: one["column"] for one in found.findings if one.code == "missing-texts" for text in one["texts"]}
    if not usual:
        return []
    told = ", ".join(f"{_text(text)} in {_text(_line(column))}" for text, column in usual.items())
    return [
        "",
        f"# Read as missing: {told}. Name here those that are, and the others become values:",
        f"# na = [{', '.join(map(_text, usual))}]",
    ]


def _layout(reading: "Reading") -> Iterator[str]:
    """How the file is laid out, where that was said."""
    if reading.header is not None:
        yield f"{'header' if reading.header else 'no-header'} = true"
    for name in ("sep", "decimal", "thousands", "encoding", "skip", "sheet"):
        if (value := getattr(reading, name)) is not None:
            yield f"{name} = {_text(value) if isinstance(value, str) else value}"
    if reading.missing != "drop":
        yield f"missing = {_text(reading.missing)}"


def _alike(found: "Inspection") -> str:
    columns = [_text(_line(one["column"])) for one in found.findings if one.code == "labels-alike"]
    return f"  # labels of {', '.join(columns)} differ in that alone: true makes them one" if columns else ""


def _to_merge(found: "Inspection") -> Iterator[str]:
    """Groups that are too rare, to be merged under a name of one's choice."""
    merged = next((one["merge"] for one in found.findings if one.code == "rare-secrets" and one["merge"]), ())
    names = [_text(_line(str(one))) for one in merged] or ['"one label"', '"another"']
    if merged:
        yield "# What distinguishes groups that are merged is not hidden. With tidy as advised above, rare ones are:"
    yield f"# rare = [{', '.join(names)}]"


def _is_listed(one: "InspectedColumn") -> bool:
    return one.advice == SUPPORTED and one.domain is not None and one.domain.step is None


def _list(one: "InspectedColumn") -> str:
    values = [] if one.domain is None else one.domain.choices.values
    return f"[{', '.join(_text(v) if isinstance(v, str) else json.dumps(v) for v in values)}]"


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _text(text: str) -> str:
    """A string of TOML: that of JSON, in which every control character is escaped.

    >>> _text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def arguments_of(path: str, command: click.Command, written: Iterable[str]) -> list[str]:
    """The plan as arguments of the command, without those options that are written on the command line already."""
    try:
        with open(path, "rb") as file:
            plan = tomllib.load(file)
    except OSError as error:
        raise InputError(f"the plan {path!r} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the plan {path!r} is not TOML: {error}") from None
    options = {max(one.opts, key=len)[2:]: one for one in command.params if isinstance(one, click.Option)}
    taken = {word.partition("=")[0][2:] for word in written if word.startswith("--")}
    found: list[str] = []
    for key, value in plan.items():
        name = key.replace("_", "-")
        if name not in options or name == "plan":
            raise InputError(f"the plan {path!r} has {key!r}, which is no option of publish.{suggestion(key, options)}")
        if name not in taken and (value != "" or name in ("na", "thousands")):
            found += _arguments(f"--{name}", options[name], value, path)
    return found


def _arguments(flag: str, option: click.Option, value: object, path: str) -> list[str]:
    if flag == "--domain" and isinstance(value, Mapping):
        return [flag, json.dumps(value)] if value else []
    if flag == "--merge" and isinstance(value, Mapping):
        return [part for label, labels in value.items() for part in (flag, f"{label}={_commas(labels, path)}")]
    if option.is_flag:
        if not isinstance(value, bool):
            raise InputError(f"the plan {path!r} has {flag[2:]} = {value!r}: it is true or false")
        return [flag] if value else []
    if isinstance(value, list) and not option.multiple:
        return [flag, _commas(value, path)] if value else []
    parts = []
    for one in value if isinstance(value, list) else [value]:
        several = one if option.nargs > 1 and isinstance(one, list) else [one]
        if any(isinstance(part, dict | list | bool) for part in several) or len(several) != option.nargs:
            raise InputError(f"the plan {path!r} has {one!r} under {flag[2:]}, which is no value of that option")
        quoted = [
            _commas([part], path) if flag in ("--columns", "--keep", "--known") else str(part) for part in several
        ]
        parts += [flag, *quoted]
    return parts


def _commas(values: object, path: str) -> str:
    """Values with commas between them, in quotes where they hold one."""
    if not isinstance(values, list) or any(isinstance(one, dict | list | bool) for one in values):
        raise InputError(f"the plan {path!r} has {values!r} where a list of texts or numbers belongs")
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
