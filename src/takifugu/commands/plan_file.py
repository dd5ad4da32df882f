"""A plan: what to publish of a table, as a TOML file that `inspect` begins, people edit and `publish` takes.

Its names are those of the options of `takifugu publish`; what stands on the command line counts before it.
"""

import csv
import io
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from takifugu.errors import InputError, suggestion

if TYPE_CHECKING:
    from takifugu.queries import InspectedColumn, Inspection

SUPPORTED = "supported"  # what `inspect` says of a column that can be published


def plan_of(found: "Inspection", source: str) -> str:
    """The plan that an inspection begins: nothing goes out until somebody takes a line in.

    Every column that can be published is a comment, with what it holds.
    """
    table = _line(source)
    lines = [
        f"# What to publish of {table}. It describes the people in the table: keep it private.",
        "# Take the # away before each column that may go out, and then:",
        f"#   takifugu publish {table} published.csv --plan THIS-FILE --dry-run",
        "",
        f"secret = {_text(found.secret or '')}  # the column to hide"
        + ("" if found.secret else ": fill it in, or give it to inspect to see what tells it"),
        "odds = 3  # posterior odds change by at most this factor",
        "",
        "columns = [",
        *(f"  # {_text(one.name)},  # {_holds(one)}" for one in found.columns if one.advice == SUPPORTED),
        "]",
        *(f"# not {_text(one.name)}: {one.advice}" for one in _others(found)),
        "",
        "# Rows of secrets that are too rare to be hidden do not go out:",
        f"leave-out = []{_rarest(found)}",
        "",
        "# Values that stand for a missing one, as COLUMN=VALUE; 'COLUMN=' says that all are real:",
        f"sentinel = [{', '.join(map(_text, found.sentinels))}]",
        "",
        "# Labels are the same whatever their capitals and blanks, and those named together become one:",
        "tidy = false",
        "[merge]",
        '# rare = ["HIV", "Sickle cell"]',
        "",
        "# The list of each column, where it is public; of others it is read from the rows:",
        "[domain]",
        *(f"# {_text(one.name)} = {_list(one)}" for one in found.columns if _is_listed(one)),
    ]
    return "\n".join(lines) + "\n"


def _others(found: "Inspection") -> Iterator["InspectedColumn"]:
    return (one for one in found.columns if one.advice != SUPPORTED and one.name != found.secret)


def _holds(one: "InspectedColumn") -> str:
    told = "" if one.betrayal is None else f"; tells the secret to {100 * one.betrayal.best_guess:.0f} %"
    return f"{one.kind}, {one.distinct:,} different{told}"


def _rarest(found: "Inspection") -> str:
    if not found.groups:
        return ""
    rarest = min(found.groups, key=lambda group: group.rows)
    return f"  # the rarest is {_text(_line(str(rarest.secret)))}, of {rarest.rows:,} rows"


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
        if name not in taken and value != "":
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
