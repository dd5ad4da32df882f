"""The words of this door: sentences that name arguments of Python, told in flags.

Rooms to the left know nothing of a command line. Each sentence there says what to do in the words of the library; here
the same sentence is said in the words of whoever typed a command.
"""

import decimal
import re

# Arguments whose flag has another name, or that are no more than a flag.
_SPECIAL = {
    "few": "--allow-few-rows",
    "new": "--new-ledger",
    "header=False": "--no-header",
    "header=True": "--header",
    "keep=None": "--free-shares",
    "na": "--na",
    "sentinels": "--sentinel",
    "secrets": "--pair",
    "pairs": "--pair",
}
_SAME = (
    *("alpha", "epsilon", "odds", "confidence", "assurance", "mechanism", "delta", "radius", "loss", "shape", "seed"),
    *("prior", "bounds", "step", "transform", "domain", "other", "known", "at", "query", "secret", "column", "columns"),
    *("sep", "decimal", "thousands", "encoding", "skip", "sheet", "missing", "header"),
    *("ledger", "id", "only_new", "new_people", "repeats", "positions"),
    *("of", "theta", "granularity", "clip", "round_to", "keep", "others", "order"),
    *("best_guess", "error", "leave_out", "keep_shares", "later", "spend"),
    *("drift", "allow_no_noise", "accept_weaker_promise", "keys", "level"),
)
_NAMES = "|".join(sorted((*_SAME, *_SPECIAL), key=len, reverse=True))
_VALUE = r"'[^']*'|\"[^\"]*\"|\([^()]*\)|\[[^\]]*\]|[-+\w.]*\w|"

_BARE = re.compile(rf"(?<![\w'\"=.])({_NAMES})=({_VALUE})(?!\w)")
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
    sentence = re.sub(r"binned\(('?)([^,()']+)\1, \[\.\.\.\]\)", r"--known \2:EDGE:EDGE", sentence)
    sentence = _QUERY.sub(lambda found: f"--query {found[1].lower()}:{_listed(found[2])}", sentence)
    sentence = _BUDGET.sub(lambda found: f"({found[1].replace('=', ' = ')})", sentence)
    sentence = _BARE.sub(lambda found: _flag(found[1], found[2]), sentence)
    for pattern in (_QUOTED, _OPENING):
        sentence = pattern.sub(lambda found: f"{_flag(found[1], '')}{' ' * found[0].endswith(' ')}", sentence)
    return _URGED.sub(lambda found: f"{found[1]} {_flag(found[2], '')}", sentence)


_PHRASES = {
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
    "leave it out, with leave_out=[...] in publish or by naming": "leave it out by naming",
    "by naming the others in `secrets`": "by naming the others with --pair",
    "publish from a finite list (Row, or Finite laws), or ask for alpha and epsilon": (
        "publish from a finite list (--query row:COLUMN), or ask for --alpha and --epsilon"
    ),
    "Name them as known when fitting the priors, and it is": (
        "Name them with --known of takifugu calibrate, or with --keep of takifugu publish, and it is"
    ),
    "named in keys": "named in --keys",
    "is in both columns and keep": "is in both --columns and --keep",
    "calibrate with ledger.account().calibrate(...)": "publish with takifugu publish, which knows the account",
    "Ledger.open, or publish(..., later=[...])": "takifugu publish with --later",
    "is to be published with of=...": "is to be published with --of",
    "Give release that, or calibrate": "Noise is added to it in Python (takifugu.release); calibrate",
}


_OF_COMMANDS = {
    "publish": {
        "leave it out, with leave_out=[...] in publish or by naming the others in `secrets`": "leave it out with "
        "--leave-out",
        "Calibrate with those secrets, give": "Name those secrets with --pair too, give",
    },
}


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
