"""What commands print: for people with rich, for programs as JSON."""

import decimal
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from takifugu.errors import PYTHON, Sayable, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from takifugu.problems import Diagnostic
    from takifugu.reports import ChannelFacts, Facts, NoiseFacts, VectorFacts


# The words of this door: sentences that name arguments of Python, told in flags.
#
# Rooms to the left know nothing of a command line. Each sentence there says what to do in the words of the library;
# here the same sentence is said in the words of whoever typed a command.

# Arguments whose flag has another name, or that are no more than a flag.
_SPECIAL = {
    "few": "--allow-few-rows",
    "new": "--new-ledger",
    "header=False": "--no-header",
    "header=True": "--header",
    "preserve=None": "--preserve none",
    "na": "--na",
    "sentinels": "--sentinel",
    "secrets": "--pair",
    "pairs": "--pair",
    "beliefs": "--belief",
    "own": "--only-beliefs",
    "merge": "--merge",
}
_SAME = (
    *(
        "alpha",
        "epsilon",
        "odds",
        "confidence",
        "assurance",
        "mechanism",
        "delta",
        "solver",
        "radius",
        "loss",
        "shape",
        "seed",
    ),
    *("prior", "bounds", "step", "transform", "domain", "other", "known", "at", "query", "secret", "column", "columns"),
    *("sep", "decimal", "thousands", "encoding", "skip", "sheet", "missing", "header"),
    *("ledger", "id", "only_new", "new_people", "repeats", "positions"),
    *("of", "theta", "granularity", "clip", "round_to", "keep", "others", "order"),
    *("best_guess", "error", "leave_out", "preserve", "private_fit"),
    *("drift", "allow_no_noise", "accept_weaker_promise", "keys", "level"),
)
_FLAGS = {*_SAME, *_SPECIAL}
_NAMES = "|".join(sorted((*_SAME, *_SPECIAL), key=len, reverse=True))
_VALUE = r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\]]*\]|[-+\w.]*\w|"

_BARE = re.compile(rf"(?<![\w'\"=.])({_NAMES})=({_VALUE})(?!\w)")
# What stands in an object of options in Python has a flag of its own.
_OBJECT = re.compile(rf"(?<!reading=)\b(?:Adversary|Utility|Reading|Ledger)\((?:\.\.\., )?(\w+=(?:{_VALUE}))\)")
_QUOTED = re.compile(rf"`({_NAMES})`")
_OPENING = re.compile(rf"^({_NAMES}) (?=(?:must|is|are|was|has|have|cannot|takes|needs|leaves|holds)\b)")
_URGED = re.compile(rf"\b([Gg]ive|[Ll]eave|ask for|with) ({_NAMES})\b(?=(?: out| too| alone)?(?:[.,;:]|$)| out\b)")
_QUERY = re.compile(r"\b(Raw|Row|Mean|GP|BNN)\(\[?('[^()\[\]]*?')\]?\)")
_READING = re.compile(r"give reading=Reading\((\w+)=\[?(\.\.\.|'[^']*'|\"[^\"]*\")\]?\)")
_NOISE = re.compile(r"(?<=standard deviation )\d[\d.]*(?:e[+-]?\d+)?(?=\W)")
_DIGITS = 6  # of a number in a sentence; files have them all
_BUDGET = re.compile(r"\((alpha=[^()]*)\)")


def in_flags(sentence: str, command: str | None = None) -> str:
    """A sentence in the words of the command line, or of one command that has a shorter way.

    >>> in_flags("epsilon must be above 0, got -1")
    '--epsilon must be above 0, got -1'
    >>> in_flags("ask for confidence=0.95, or take the risk with fit_priors(..., few='allow')")
    'ask for --confidence 0.95, or take the risk with --allow-few-rows'
    >>> in_flags("calibrate Row('age', 'ward') to publish rows")
    'calibrate --query row:age,ward to publish rows'
    >>> in_flags("noise of standard deviation 7.114355645695433 keeps 1 pair")
    'noise of standard deviation 7.11436 keeps 1 pair'
    """
    for python, typed in (_OF_COMMANDS.get(command or "", {}) | _PHRASES).items():
        sentence = sentence.replace(python, typed)
    sentence = _NOISE.sub(lambda found: _rounded_up(found[0]), sentence)
    sentence = _READING.sub(
        lambda found: f"give {_flag(found[1], '')}{'' if found[2] == '...' else ' ' + found[2]}", sentence
    )
    sentence = _OBJECT.sub(r"\1", sentence)
    sentence = re.sub(r"binned\(('?)([^,()']+)\1, \[\.\.\.\]\)", r"--known \2:EDGE:EDGE", sentence)
    sentence = _QUERY.sub(lambda found: f"--query {found[1].lower()}:{_listed(found[2])}", sentence)
    sentence = _BUDGET.sub(lambda found: f"({found[1].replace('=', ' = ')})", sentence)
    sentence = _BARE.sub(lambda found: _flag(found[1], found[2]), sentence)
    for pattern in (_QUOTED, _OPENING):
        sentence = pattern.sub(lambda found: f"{_flag(found[1], '')}{' ' * found[0].endswith(' ')}", sentence)
    return _URGED.sub(lambda found: f"{found[1]} {_flag(found[2], '')}", sentence)


_PHRASES = {
    "give Adversary(weaker='allow')": "give --accept-weaker-promise",
    "give reading=Reading(tidy=True)": "give --tidy",
    "fit_priors(..., few='allow')": "--allow-few-rows",
    "cut the known columns with binned(...)": "cut the known columns, as in --known age:30:45",
    "a column or binned(column, edges)": "a column, or a column and edges such as age:30:45",
    "Row(column, domain=[...])": "--query row:COLUMN with --domain",
    "Row(...) publishes": "--query row:COLUMN,COLUMN publishes",
    "calibrate(...) takes": "takifugu calibrate takes",
    "use Row(...)": "use --query row:COLUMN,COLUMN",
    "give Raw public bounds": "give --bounds that are public",
    "give Raw bounds and a step, or publish with Row from a list": "give --bounds and --step, or --query row:COLUMN",
    "can be given for Raw and Row": "can be given for --query raw and row",
    "give alpha and epsilon, or odds": "give --alpha and --epsilon, or --odds",
    "give alpha and epsilon, or best_guess or error": "give --alpha and --epsilon, or --best-guess or --error",
    "and epsilon was given": "and --epsilon was given",
    "and alpha was given": "and --alpha was given",
    "leave it out, with Reading(leave_out=[...]) in publish or by naming": "leave it out by naming",
    "by naming the others in `secrets`": "by naming the others with --pair",
    "use 'laplace', whose noise bounds the odds of a number (odds alone), ": (
        "use --mechanism laplace, whose noise bounds the odds of a number (--odds alone), "
    ),
    "publish from a finite list (Row, or Finite laws), or ask for alpha and epsilon": (
        "publish from a finite list (--query row:COLUMN), or ask for --alpha and --epsilon"
    ),
    "Name them as known when fitting the priors, and it is": (
        "Name them with --known of takifugu calibrate, or with --keep of takifugu publish, and it is"
    ),
    "named in keys": "named in --keys",
    "is in both columns and keep": "is in both --columns and --keep",
    "calibrate with ledger.account().calibrate(...)": "publish with takifugu publish, which knows the account",
    "is to be published with of=...": "is to be published with --of",
    "Give release that, or calibrate": "Noise is added to it in Python (takifugu.release); calibrate",
}


_OF_COMMANDS = {
    "publish": {
        "leave it out, with Reading(leave_out=[...]) in publish or by naming the others in `secrets`": (
            "leave it out with --leave-out"
        ),
        "Name those secrets in a pair too, or leave": "Name those secrets with --pair too, or leave",
        "with Reading(leave_out='others')": "with --others drop",
    },
}


class CommandLine:
    """The words of the command line for what a message asks for: flags in place of arguments.

    >>> from takifugu.errors import Message
    >>> str(Message("give {arg:ledger}")), Message("give {arg:ledger}, or {arg:order='keep'}").said(CommandLine())
    ('give ledger', 'give --ledger, or --order keep')
    >>> Message("name it: {reading:na=['?']}; leave {arg:workers} out").said(CommandLine())
    "name it: --na '?'; leave workers out"
    """

    name = "command"

    def argument(self, name: str, value: str | None) -> str:
        """The flag of an argument; an argument that no command has is called as in Python."""
        return _flag(name, value or "") if name in _FLAGS else PYTHON.argument(name, value)

    def reading(self, name: str, value: str) -> str:
        """The flag of a field of `Reading`; texts stay in quotation marks, which a shell needs too."""
        value = value.removeprefix("[").removesuffix("]")
        flag = _flag(name, "")
        return flag if value in ("", "...", "True") else f"{flag} {value}"


def said(message: "Sayable | str") -> str:
    """What a message, an error or a diagnostic says on the command line."""
    return message if isinstance(message, str) else message.said(CommandLine())


def _rounded_up(number: str) -> str:
    """Never less noise than there is: what is proved of it is true of more."""
    return f"{float(decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_UP).create_decimal(number)):.{_DIGITS}g}"


def _flag(name: str, value: str) -> str:
    special = _SPECIAL.get(f"{name}={value}") or _SPECIAL.get(name)
    flag = special or f"--{name.replace('_', '-')}"
    if special or value in ("", "True", "..."):
        return flag
    if name == "sep":  # most separators mean something to a shell
        return f"{flag} {value}"
    plain = value.strip("'\"")
    if value[0] in "([":
        plain = " ".join(part.strip().strip("'\"") for part in value[1:-1].split(","))
    return f"{flag} {plain}"


def _listed(names: str) -> str:
    return ",".join(name.strip().strip("'\"") for name in names.split(","))


# Findings on the command line: in its words, one under another.


def tell_findings(findings: "Iterable[Diagnostic]", out: "Console") -> None:
    """A line for each, warnings marked."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from takifugu.reports import clean

    lines = Table.grid(padding=(0, 1))
    for finding in findings:
        is_warning = finding.level == "warning"
        sentence = Text(in_flags(clean(said(finding), 600)))
        lines.add_row("!" if is_warning else "·", sentence, style="yellow" if is_warning else "dim")
    out.print(Padding(lines, (0, 2)))


_SENTENCES = 6  # that a terminal shows of a column
_MOST_COLUMNS = 4
_USUAL_WIDTH = 80


def file_of(content: object) -> str:
    """JSON as files hold it: every float in the shortest form that loses no bit."""
    from takifugu import strict_json

    return strict_json.text(content)


def print_json(content: object) -> None:
    """Indented JSON on standard output; what is infinite is null, as JSON has no word for it."""
    click.echo(json.dumps(finite(content), indent=1, allow_nan=False))


def finite(content: Any) -> Any:
    """The content with None for each number that JSON cannot hold.

    >>> finite({"theta": [1.5, math.inf]})
    {'theta': [1.5, None]}
    """
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def console() -> "Console":
    """Standard output for people: plain in a pipe, without colour where NO_COLOR asks for that."""
    from rich.console import Console

    made = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    if made.width < 1:  # COLUMNS=0, as some schedulers have it: rich would print nothing at all
        made.width = _USUAL_WIDTH
    return made


def tell(facts: "Facts", out: "Console") -> None:
    """What was found, what it means and what it costs."""
    from rich.text import Text

    from takifugu.reports import ChannelFacts, NoiseFacts, VectorFacts, clean

    out.print(Text(clean(facts.question, 400), style="bold"))
    out.print()
    if isinstance(facts, NoiseFacts):
        _tell_noise(facts, out)
    elif isinstance(facts, ChannelFacts):
        _tell_channel(facts, out)
    elif isinstance(facts, VectorFacts):
        _tell_vectors(facts, out)
    if facts.findings:
        out.print()
        tell_findings(facts.findings, out)


def _tell_noise(facts: "NoiseFacts", out: "Console") -> None:
    from takifugu.reports import in_letters, number, words

    typical = next(o for o in facts.adversary.odds if o.probability == 0.95)
    out.print(words.answer(facts))
    promise = words.in_guesses(facts.calibration.guarantee, facts.adversary.guess_before)
    for told in (
        promise,
        words.order(facts),
        words.priors(facts),
        words.population(facts),
        words.saving(facts),
        words.beyond(facts),
    ):
        if told:
            out.print(in_flags(told))
    out.print()
    averaged = ("100 averaged", f"± {number(facts.analyst[2].error, 3)}", "its standard error from the noise")
    _figures(
        [
            ("Noise θ", number(facts.theta), f"for {in_letters(facts.calibration.guarantee)}"),
            facts.worst_figure,
            facts.guess_figure,
            ("Odds rise", f"≤ ×{number(typical.exact, 3)}", f"in 95 of 100 releases, {facts.adversary.after_between}"),
            *([averaged] if words.is_averaged(facts) else []),
        ],
        out,
    )
    rows = []
    for one in facts.comparisons:
        chosen = one.mechanism == facts.calibration.mechanism
        note = "weaker guarantee" if one.is_weaker else "no finite answer" if math.isinf(one.theta) else ""
        rows.append(((one.label, one.told(), "chosen" if chosen else note), chosen))
    _rows(("At the same budget", "noise θ", ""), rows, out)


def _tell_vectors(facts: "VectorFacts", out: "Console") -> None:
    from takifugu.reports import pages as vector_page
    from takifugu.reports import words

    out.print(vector_page.answer(facts))
    if told := words.population(facts):
        out.print(in_flags(told))
    out.print()
    _figures(
        [
            *vector_page.figures(facts),
            facts.worst_figure,
            facts.guess_figure,
        ],
        out,
    )


def _tell_channel(facts: "ChannelFacts", out: "Console") -> None:
    from takifugu.reports import clean, in_guesses, number, percent, population, words

    out.print(words.channel_answer(facts))
    beside = (words.radius, words.best, words.counted_as, words.gaussian)
    for told in (
        in_guesses(facts.calibration.guarantee, facts.adversary.guess_before),
        population(facts),
        *(say(facts) for say in beside),
    ):
        if told:
            out.print(in_flags(told))
    out.print()
    _figures(words.figures(facts), out)
    for column in facts.columns[:_MOST_COLUMNS]:
        if len(facts.columns) > 1:
            out.print(f"  {clean(column.name)}", style="bold")
        for sentence in words.sentences(column, most=_SENTENCES):
            out.print(f"  {sentence}")
    out.print()
    out.print(words.cost(facts))
    out.print(words.averages(facts))
    rows = []
    for one in facts.costs:
        least = "≥ " if one.is_least else ""
        error = "" if one.error is None else f"{least}{number(one.error, 3)}"
        changed = "" if one.changed is None else percent(one.changed)
        note = "chosen" if one.is_chosen else f"weaker: {one.promise}" if one.is_weaker else ""
        rows.append(((one.label, error, changed, note), one.is_chosen))
    if len(rows) > 1:
        out.print()
        _rows(("What others would cost", "off by", "changed", ""), rows, out)


def _figures(figures: "Iterable[tuple[str, str, str]]", out: "Console") -> None:
    from rich.padding import Padding
    from rich.table import Table

    lines = Table.grid(padding=(0, 3))
    lines.add_column(style="dim")
    lines.add_column(justify="right", style="bold")
    lines.add_column()
    for figure in figures:
        lines.add_row(*figure)
    out.print(Padding(lines, (0, 2)))
    out.print()


def _rows(head: tuple[str, ...], rows: "Sequence[tuple[tuple[str, ...], bool]]", out: "Console") -> None:
    """A table of which the chosen row stands out."""
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if 0 < place < len(head) - 1 else "left")
    for cells, chosen in rows:
        table.add_row(*cells, style="bold" if chosen else None)
    out.print(Padding(table, (0, 2)))


def tell_files(files: list[tuple[str, str]], out: "Console") -> None:
    """Which files were written, and for whose eyes."""
    from rich.padding import Padding
    from rich.table import Table

    lines = Table.grid(padding=(0, 3))
    lines.add_column(style="bold", overflow="fold")
    lines.add_column(style="dim")
    for path, what in files:
        lines.add_row(str(Path(path)), what)
    out.print(Padding(lines, (0, 2)))


# Commands that were typed wrongly, told as every other error is: in one line that says what to do.

_TYPES = {
    "is not a valid float": "is not a number",
    "is not a valid integer range": "is not a whole number",
    "is not a valid integer": "is not a whole number",
}


def sentence_of(error: click.UsageError, *, commands: Iterable[str] = ()) -> str:
    """What is wrong with what was typed, and where to read more; click would print its usage above that.

    >>> sentence_of(click.NoSuchOption("--od", possibilities=["--odds"]))
    'there is no option --od: did you mean --odds?'
    """
    told = _wrong(error, commands)
    if error.ctx is None:
        return told
    return f"{told}{'' if told.endswith(('?', '.')) else '.'} See {error.ctx.command_path} --help"


def _wrong(error: click.UsageError, commands: Iterable[str]) -> str:
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_name(error.param)} is missing"
    if isinstance(error, click.BadParameter) and error.param is not None:
        message = _plain(error.message)
        for theirs, ours in _TYPES.items():
            message = message.replace(theirs, ours)
        return f"{_name(error.param)}: {message}"
    if isinstance(error, click.NoSuchOption):
        near = f": did you mean {' or '.join(error.possibilities)}?" if error.possibilities else ""
        return f"there is no option {error.option_name}{near}"
    message = _plain(error.format_message())
    if isinstance(error, click.BadOptionUsage):
        return message.replace(f"option '{error.option_name}'", error.option_name)
    if "unexpected extra argument" in message:
        return f"{message}: put a name that holds blanks in quotation marks"
    command = message.removeprefix("no such command ").strip("'")
    return message if command == message else f"there is no command {command!r}.{suggestion(command, commands)}"


def _name(parameter: click.Parameter) -> str:
    """An option as it is typed, an argument as the help writes it."""
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name


def _plain(message: str) -> str:
    """One line without a full stop, and begun small, as the middle of a sentence is."""
    text = " ".join(message.split()).removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}"
