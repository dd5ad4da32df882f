"""What a reader should know about the data and the priors: diagnostics, each a code with what goes into its sentence.

Reports, the command line and the page show the same diagnostics, each in its own words; `TEMPLATES` holds them all.
No sentence shows a value of a record but for codes that may stand for a missing one; secrets are called by their names.
"""

import math
import sys
import warnings
from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from takifugu.errors import PYTHON, DiagnosticWarning, InputError, Interface, fields_of, said

Level = Literal["note", "warning"]


class Template(NamedTuple):
    """The sentence of a code, its level, and parameters that no sentence shows.

    A diagnostic is a warning where the priors, or a guarantee, may be worth less than they look.
    """

    sentence: str
    level: Level = "note"
    unsaid: tuple[str, ...] = ()


@dataclass(frozen=True, init=False, repr=False)
class Diagnostic:
    """One remark: a code, what it is about, and perhaps the belief that it is about alone.

    Args:
        code: one of `TEMPLATES`; codes stay the same from version to version.
        parameters: exactly those that the code's template names: plain values, secrets, and tuples of them.

    Raises:
        InputError: for a code that there is not, and for other parameters than its own.

    >>> few = Diagnostic("few-rows", secret="yes", rows=21)
    >>> print(few)
    secret 'yes' has 21 rows: its prior is uncertain
    >>> few.level, few["rows"]
    ('warning', 21)
    >>> Diagnostic.from_state(few.to_state()) == few
    True
    """

    code: str
    belief: str | None
    _parameters: tuple[tuple[str, Hashable], ...]

    def __init__(self, code: str, /, **parameters: Hashable) -> None:
        """Keep the parameters in the order of their names."""
        if code not in TEMPLATES:
            raise InputError(f"there is no diagnostic with the code {code!r}")
        if parameters.keys() != (wanted := _parameters_of(code)):
            raise InputError(f"{code!r} has the parameters {sorted(wanted)}, got {sorted(parameters)}")
        self._keep(code, None, tuple(sorted(parameters.items(), key=lambda item: item[0])))

    def _keep(self, code: str, belief: str | None, parameters: tuple[tuple[str, Hashable], ...]) -> "Diagnostic":
        for name, value in (("code", code), ("belief", belief), ("_parameters", parameters)):
            object.__setattr__(self, name, value)
        return self

    @property
    def level(self) -> Level:
        """Whether it is a 'note' or a 'warning'."""
        return TEMPLATES[self.code].level

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What goes into the sentence, by name."""
        return dict(self._parameters)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that the sentence names, by which its reader may change what it says.

        >>> Diagnostic("few-for-confidence", secret="yes", rows=21).arguments
        ('assurance',)
        """
        return tuple(sorted(fields_of(TEMPLATES[self.code].sentence)[1]))

    def __getitem__(self, name: str) -> Any:
        """One parameter."""
        return self.parameters[name]

    def but(self, **parameters: Hashable) -> "Diagnostic":
        """The same with other values of some parameters.

        Args:
            parameters: those that are to change, by name.

        Returns:
            Another remark of the same code.
        """
        return Diagnostic(self.code, **(dict(self._parameters) | parameters))

    def within(self, belief: str) -> "Diagnostic":
        """The same about one belief of several.

        Args:
            belief: the name of the belief.

        Returns:
            The remark, whose sentence begins with that name.
        """
        return object.__new__(Diagnostic)._keep(self.code, belief, self._parameters)

    def said(self, interface: Interface = PYTHON) -> str:
        """The sentence in the words of an interface.

        Args:
            interface: whose words are used, so that the command line names its options and Python its arguments.

        Returns:
            One sentence without a full stop.
        """
        sentence = said(TEMPLATES[self.code].sentence, self.parameters, interface)
        return sentence if self.belief is None else f"in the belief {self.belief!r}: {sentence}"

    @property
    def sentence(self) -> str:
        """The sentence in the words of Python."""
        return self.said()

    def to_dict(self) -> dict[str, object]:
        """Code, level, parameters and sentence, ready for JSON."""
        return {"code": self.code, "level": self.level, **self.parameters, "sentence": self.sentence}

    def to_state(self) -> dict[str, object]:
        """As files keep it; the sentence is for people who open them, and nothing depends on it."""
        parameters = {name: _plain(value) for name, value in self._parameters}
        return {"code": self.code, "parameters": parameters, "belief": self.belief, "sentence": self.sentence}

    @classmethod
    def from_state(cls, state: object) -> "Diagnostic":
        """What `to_state` wrote, and nothing else.

        Raises:
            InputError: for anything from which no sentence can be made.
        """
        if not isinstance(state, dict) or state.keys() != {"code", "parameters", "belief", "sentence"}:
            raise InputError("a diagnostic must have a code, parameters, a belief and a sentence, and nothing else")
        code, parameters, belief = state["code"], state["parameters"], state["belief"]
        texts = isinstance(code, str) and isinstance(belief, str | None) and isinstance(state["sentence"], str)
        if not texts or not isinstance(parameters, dict):
            raise InputError("a diagnostic has a text as its code, an object of parameters, a text or null as belief")
        made = cls(code[:60], **{name: _from_plain(value) for name, value in parameters.items()})
        made = made if belief is None else made.within(belief)
        try:
            if len(made.sentence) <= _LONGEST:
                return made
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass
        raise InputError(f"the parameters of the diagnostic {code!r} are not of the right kind")

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    def __repr__(self) -> str:
        """The code and the parameters."""
        inside = "".join(f", {name}={value!r}" for name, value in self._parameters)
        return f"Diagnostic({self.code!r}{inside})"


_LONGEST = 10_000  # characters of a sentence: what a file says is no more than what was ever said


@cache
def _parameters_of(code: str) -> frozenset[str]:
    template = TEMPLATES[code]
    return frozenset(fields_of(template.sentence)[0] | set(template.unsaid))


def _plain(value: object) -> object:
    """A parameter as JSON has it; what JSON lacks, such as infinity, stands in an object."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    scalar = value.item() if hasattr(value, "item") else value
    return scalar if scalar is None or isinstance(scalar, str | int | float | bool) else str(scalar)


def _from_plain(value: object) -> Hashable:
    if isinstance(value, list):
        return tuple(_from_plain(one) for one in value)
    if isinstance(value, dict):
        if value.keys() == {"float"} and value["float"] in ("inf", "-inf", "nan"):
            return float(value["float"])
        raise InputError("a parameter of a diagnostic must be a plain value, or a list of such")
    return value


def about(diagnostics: Iterable[Diagnostic], columns: Container[str]) -> tuple[Diagnostic, ...]:
    """What of it concerns these columns, or the file as a whole: what was decided about others changes nothing.

    Args:
        diagnostics: remarks about a table.
        columns: the names of the columns that are used.

    Returns:
        Those that concern them; where a remark is about several columns, it is cut down to these.

    >>> found = [Diagnostic("decimal-commas", columns=("dose", "weight")), Diagnostic("title-lines", lines=2)]
    >>> [str(one) for one in about(found, ["dose"])]
    ["commas were read as decimal marks in 'dose'", '2 lines above the header were skipped']
    """
    found: list[Diagnostic] = []
    for one in diagnostics:
        of = one.parameters
        if "columns" in of:
            named = tuple(name for name in of["columns"] if name in columns)
            found.extend([one.but(columns=named)] if named else [])
        elif "column" not in of or of["column"] in columns:
            found.append(one)
    return tuple(found)


def has_code(code: str, diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of them has this code."""
    return any(one.code == code for one in diagnostics)


# Diagnostics that cannot wait until somebody looks: shown as warnings, where the call stands that they came from.

_US = __name__.partition(".")[0]


def frames_within() -> int:
    """How many calls of the library lie between the caller and whoever called it from outside: a `stacklevel`.

    Returns:
        A number for `warnings.warn`, so that the warning points at the user's line and not at one of ours.
    """
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _US:
        depth, frame = depth + 1, frame.f_back
    return depth


def warn(diagnostics: Iterable[Diagnostic]) -> None:
    """Warn of those that are warnings; for functions that others call, at their end.

    Python shows a warning once for each line of code that it comes from. A call from within the library is silent:
    the command line, the explorer and reports show diagnostics in their own way, and whoever calls on behalf of
    somebody else warns itself.

    Args:
        diagnostics: remarks; notes among them stay silent.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller.partition(".")[0] == _US:
        return
    for one in diagnostics:
        if one.level == "warning":
            warnings.warn(str(one), DiagnosticWarning, stacklevel=3)


def warn_ahead(diagnostics: Iterable[Diagnostic]) -> None:
    """Warn of what need not wait for the end of the work, from however deep, where the call outside stands."""
    for one in diagnostics:
        warnings.warn(str(one), DiagnosticWarning, stacklevel=frames_within())


# Every template, by its code.

_PRIORS = {
    "few-rows": Template("secret {secret!r} has {rows} rows: its prior is uncertain", "warning"),
    "few-for-counts": Template(
        "of {rows:,} rows private counts leave little: below some 5,000 take the priors of another table, or a channel "
        "that needs no data"
    ),
    "scarce-rows": Template(
        "secret {secret!r} has {rows:rows}: by chance alone its prior is off by about {distance:%.0f} of its mass, "
        "which confidence pays for",
        "warning",
    ),
    "no-value": Template("{rows:rows} had no value in {columns:any} and {rows:were} left out"),
    "no-secret": Template("{rows:rows} had no secret in {column!r} and {rows:were} left out"),
    # Whether rows that are left out for want of a value go with the secret; before anything is asked, of some columns.
    "left-out-tells": Template(
        "{columns:?missing values in {columns:some} reveal the secret|rows without a value are left out, and that "
        "reveals the secret}: {often!r} lacks {columns:?a value|one} in {share:%.1f} of its rows, {seldom!r} in "
        "{other:%.1f}. {columns:?Such rows are left out of what is published, and whoever misses a person "
        "there|Whoever misses a person in what is published} learns from it. Give what is missing a value of its own "
        "in the table first, such as 'unknown', and it is hidden like the others",
        "warning",
    ),
    "component-limit": Template("K hit its limit of {limit} for secret {secret!r}: allow more components", "warning"),
    "rounded": Template(
        "values look rounded to {step:.4g}: standard deviations are floored at {floor:.3g}", unsaid=("column",)
    ),
    "gridded": Template(
        "column {column!r} has too many distinct values to count one by one: they were counted on a grid of width "
        "{width:.3g}"
    ),
    "poor-fit": Template(
        "the fitted prior of secret {secret!r} misses the data by a Kolmogorov distance of {distance:.2g}", "warning"
    ),
    "share-of-rows": Template("a share of {share:g} of {rows:,} rows is taken as {number:,} of them"),
    "independent-rows": Template(
        "rows are taken to be independent of one another, those with {value!r} in {column!r} with the law that such "
        "rows have here, the others with theirs{drawn:?; how many have it is drawn with the share|}: the guarantee is "
        "for an adversary who believes these laws"
    ),
    "constant": Template(
        "column {column!r} is {value:g} in every row with secret {secret!r}: its prior is a single point", "warning"
    ),
    "not-converged": Template("the {model} of secret {secret!r} did not converge: {detail}", "warning"),
    "subsampled": Template("the model of secret {secret!r} was trained on {used} of its {rows} rows"),
    "constant-feature": Template("feature {column!r} is the same in every row and was left out"),
    "vector-of-rows": Template(
        "noise on whole rows costs a variance or more a column: {to:@page→“A table”, one joint channel,|command→a "
        "joint channel, --query row:{columns:commas},|a joint channel, Row({columns:quoted}),} costs far less",
        "warning",
    ),
    "unsafe-prior": Template(
        "the rows with secret {secret!r} lose at least {loss:.3g} against those with {other!r}, more than the "
        "{epsilon:.3g} guaranteed for their fitted priors: the priors do not describe these rows",
        "warning",
    ),
}

_SIDE_INFORMATION = {
    "small-cells": Template("{small} of {cells} cells rest on fewer than {rows} rows of some secret", "warning"),
    "many-cells": Template(
        "{cells} cells of what the adversary knows are many: merge values of {column!r}, which has {values}, or cut it "
        "with {to:@command→--known {column}:EDGE:EDGE|binned({column!r}, [...])}",
        "warning",
    ),
    "one-secret-cells": Template(
        "{cells} cell{cells:plural} of what the adversary knows hold{cells:singular} no row of some secret: it may "
        "have any law there, and to allow for it costs accuracy. Merge such cells with others, or leave a known column "
        "out. Who knows such a cell may know the secret without any release",
        "warning",
    ),
    # What known columns tell by themselves; `odds` and `guess` are None where nothing may be told of the rows.
    "cell-tells": Template(
        "the known columns ({columns:quoted}) are published as they are, and what they reveal by themselves is not "
        "hidden{odds:@inf→: in some cell one of the secrets does not occur at all|{odds:?: they change the odds "
        "between two secrets by a factor of up to {odds:.3g}, by the rows' shares|}}{guess:?, and a guess between two "
        "equally likely ones is right with a chance of up to {guess:%.0f}|}. The guarantee is about what the rest of a "
        "row adds, for who has read them",
        "warning",
    ),
}

_LISTS = {
    # Lists, bounds and steps that were read from the data, and so are no public knowledge.
    "domain-read": Template(
        "the {values} values that {column!r} may take were read from the data{step:?, in bins {step:g} wide|}: that a "
        "rare one is on the list reveals that somebody has it. {to:@page→Give a public one under “Lists of values” to "
        "avoid that|Give a list that is public, with {arg:domain=}, to avoid that}"
    ),
    "lattice-read": Template(
        "the {bounds_read:?bounds {low:g} to {high:g}{step_read:? and |}|}{step_read:?step {step:g}|} of column "
        "{column!r} {bounds_read:?were|was} read from the data: {bounds_read:?who sees them learns roughly where the "
        "smallest and largest value lie; give public bounds|give it if it is public}"
    ),
    "coarser-step": Template(
        "{finer:?a step of {finer:g}|values that share no step} would make too many points: column {column!r} is "
        "rounded to {step:g}"
    ),
    "clipped": Template(
        "{rows:rows} of column {column!r} {rows:were} beyond the bounds {low:g} to {high:g} and clipped to them"
    ),
    # A column whose range is mostly a tail; `ahead` before anything is asked, when it may be published in several ways.
    "heavy-tail": Template(
        "99 % of the rows of column {column!r} lie in {share:%.2g} of its range, and the rest "
        "{ahead:?would force|forces} noise on all: {ahead:?to add noise to it, {to:@command→takifugu calibrate takes "
        "--query raw:{column} with --bounds|calibrate(...) takes Raw({column!r}) with `bounds`}|give bounds} up to "
        "about {below:two digits}, which clips 1 % of the rows{positive:?, or {ahead:?with |}{arg:transform='log'}, "
        "which makes the noise a factor instead of an amount|}",
        "warning",
    ),
    "list-read-for-band": Template(
        "the assurance 'band' is proved for a list of values that was not chosen from these rows, and "
        "{several:?rows of several columns are those that occur in them: publish one column of them|this one was read "
        "from them: give a domain, or bounds and a step, that are public}",
        "warning",
    ),
    # What a list does with the share that (ε, δ) leaves open.
    "delta-spent": Template(
        "delta = {delta:g} bounds no odds: it lets one published value in {every:.3g} give its secret away"
        "{rows:?, of these {rows} rows about {expected:.3g}|}. {values:?Published as {values} a secret's odds move by "
        "more than epsilon alone allows, by a factor of up to {odds:.3g}: odds beside it would bound that|Here no "
        "value moves the odds by more than epsilon alone allows}",
        "warning",
    ),
    # Whole rows that are many and shared by few.
    "sparse-chosen": Template(
        "the answer takes {values:,} values, more than the {limit:,} for which the best channel is found in one "
        "program: by columns one of few moves was found. The guarantee is proved all the same; how much less "
        "another channel could change is proved for bounded odds, where all rows fit into one program"
    ),
    # Before anything else, and in no share of changed cells; `other` is what labels become.
    "off-list": Template(
        "{cells:,} of {rows:rows} have a value of {column!r} that is not on its list: "
        "{other:?it becomes {other!r}|each goes to the nearest one}"
    ),
    "smoothed": Template(
        "few people share a whole row, so rows of each secret's own columns were added to its rows: {added:added}. The "
        "guarantee is for an adversary who believes these laws",
        "warning",
    ),
    "data-free": Template(
        "the channel was fitted to no rows: each of {values:,} values of public lists is hidden from every other, so "
        "that the guarantee holds whatever an adversary believes and knows of all other rows"
    ),
    "private-total": Template(
        "the priors are private counts (epsilon = {epsilon:g}): for an adversary who knows every other row, counts and "
        "channel together keep {total}"
    ),
    "other-smoothing": Template(
        "for an adversary who adds a tenth of these rows instead the largest loss is {tenth:.3g}, and with ten times "
        "as many {tenfold:.3g}, where {epsilon:.3g} is guaranteed"
    ),
    "price-of-ignorance": Template(
        "{share:%.0f} of what the rows lose is the price of confidence, for what few rows leave unknown"
    ),
    "people-drawn": Template(
        "{draws} people drawn anew from how the {people} of the table differ, and as many drawn from those themselves, "
        "were all within the guarantee: evidence that at least {level:%.4g} of such people are, and no proof. It is "
        "about people other than the {people}, of whom the chain itself tells"
    ),
    "box-held": Template(
        "bounds for every chain of the box, also for those that change over time within it, are within {most:%.4g} of "
        "the budget; the beliefs that are listed are of some of them"
    ),
    "few-for-confidence": Template(
        "what confidence says of secret {secret!r} rests on {rows} rows and the model of one more: merge it with "
        "another secret, from which it is then not hidden, or "
        "{to:@page→give the command or the Python below --assurance band (assurance='band')|ask for "
        "{arg:assurance='band'}}, which needs no model and costs more",
        "warning",
    ),
}

_ASKED = {
    "guess-asked": Template(
        "a best guess of {asked:%.4g} at most was requested: between two secrets that were equally likely before, that "
        "is {promise}"
    ),
    # `falls` says whether the error fell with every larger budget that was tried.
    "error-asked": Template(
        "an error of {asked:.4g} of the spread at most was requested: of {tried} guarantees tried, the strongest that "
        "errs no more is {promise}, with {error:.3g}{falls:?|; the errors did not fall with every larger budget, so a "
        "stronger one may exist}"
    ),
    "order-kept": Template(
        "the rows were not shuffled: whoever published them states that their order is random, and has nothing to do "
        "with the secret or with any column. Where it has, the guarantee does not hold"
    ),
    "others-published": Template(
        "rows of other secrets than those that are hidden are published too, and nothing is guaranteed about them",
        "warning",
    ),
    "others-left-out": Template("{rows:rows} of other secrets {rows:were} left out"),
}

_COLUMNS = {
    "free-text": Template(
        "{column!r} looks like free text: few people share most of its {distinct:,} labels, or one that is a sentence. "
        "Do not publish it, for such texts describe single people; sort them into a few groups first",
        "warning",
    ),
    "tells-outright": Template(
        "{column!r} determines {secret!r}: each of its values occurs with one value of {secret!r} alone. Leave "
        "it out unless it is needed, for little is left of such a column once the secret is hidden",
        "warning",
    ),
    "row-of-totals": Template(
        "one row holds the sum of all others in {columns:some}: it looks like a row of totals, which is not a person's "
        "and would make the list of values far too long; remove it from the table",
        "warning",
    ),
    "looks-like-totals": Template(
        "a row without a secret holds the sum of {columns:some}: it looks like a row of totals, which is not a "
        "person's; remove it from the table",
        "warning",
    ),
    # Labels that differ in capitals or blanks alone; `such_as` are some that many people share.
    "labels-alike": Template(
        "{labels:,} labels of {column!r} look alike and differ only in case or spaces{such_as:?, such as "
        "{such_as:some}|}: if they mean the same, {to:@page→say so under {reading:tidy=}|give {reading:tidy=True}}, "
        "for each of them counts as a value of its own",
        "warning",
    ),
    "unclear-labels": Template(
        "some labels of {column!r} look alike but differ, by spaces or by a number that is text elsewhere: write them "
        "the same way if they are the same, otherwise rename one",
        "warning",
    ),
    "mostly-empty": Template(
        "{column!r} is empty in most rows, {missing:,} of {rows:,}: where cells were merged in a spreadsheet, fill "
        "them down first, for only the first row of each has its value",
        "warning",
    ),
    # A number that may stand for a missing value: one that stands `apart` is published by nobody before it is declared.
    "suspected-sentinel": Template(
        "{value:.15g} {apart:?stands far from the rest|is far more frequent than its neighbours} in {column!r} "
        "({rows:rows}) and may mean a missing value: if it does, {to:@page→say so under {reading:sentinels=}|give "
        "{reading:sentinels=[{sentinel!r}]}}; {apart:?if it is a real value, {to:@page→write {column}= under "
        "{reading:sentinels=}|give {reading:sentinels=[{real!r}]}}|otherwise it is published like any other value}",
        "warning",
    ),
    # One of a person or a few, which no sentence shows: bins would reach from all others to it.
    "far-value": Template(
        "{column!r} has a single value, in {rows:rows}, that lies far from all others and would stretch the bins of "
        "everybody: correct it; or, if it means a missing value, {to:@page→name it under {reading:sentinels=}|give "
        "{reading:sentinels=[{sentinel!r}]}}; if it is a real value, {to:@page→write {column}= under "
        "{reading:sentinels=}|give {reading:sentinels=[{real!r}]}}",
        "warning",
    ),
    "suspected-word": Template(
        "{column!r} would hold numbers but for {word!r} ({rows:rows}), and is text: if that means a missing value, "
        "{to:@page→say so under {reading:sentinels=}|give {reading:sentinels=[{sentinel!r}]}}; otherwise it counts "
        "like any other label",
        "warning",
    ),
    "word-for-missing": Template(
        "{column!r} has the label {word!r} ({rows:rows}), which is a value like any other: if it means a missing one, "
        "{to:@page→say so under {reading:sentinels=}|give {reading:sentinels=[{sentinel!r}]}}",
        "note",
    ),
    "looks-like-identifier": Template(
        "{column!r} has {distinct:,} different values in {rows:rows} and looks like an identifier: never publish it, "
        "whoever knows it knows the person",
        "warning",
    ),
    "several-rows": Template(
        "the values of {column!r} repeat, and each of them occurs with one value of {secret!r}: if it names people, "
        "some have several rows. The guarantee is for each row by itself, and k rows of one person may tell anything "
        "together unless they are independent given the secret, when the odds may move by its k-th power: publish a "
        "table with one row for each person",
        "warning",
    ),
    "rows-of-one-person": Template(
        "people have up to {most} rows each by {column!r}, which are independent of one another given the secret as "
        "the data holder states: then all rows of a person together may move the odds by the {most}-th power of the "
        "factor that is guaranteed for one, and otherwise by anything",
        "warning",
    ),
    "stated-new": Template(
        "that nobody was published before is the publisher's word: {rows:,} of {of:,} rows agree with rows that were"
        "{unseen:?, and some of those cannot be held against these|}",
        "warning",
    ),
    "looks-like-dates": Template(
        "{column!r} holds dates, which single people out: publish an age, a year or a length of time instead",
        "warning",
    ),
    "numbers-in-text": Template(
        "{column!r} is text{form:@amounts→ that looks like amounts with a currency sign: take the sign away and "
        "convert them to numbers|losses→ that looks like numbers of which some stand in parentheses, as losses do in "
        "accounts: write those with a minus sign|measurements→ that looks like measurements with units, or with a sign "
        "such as < before them: take these away and convert them to numbers, what lies below a limit to half of it|, "
        "and most of it are {form:@percentages→percentages|decimal commas→numbers with decimal commas|numbers}: "
        "convert them, or name the texts among them that mean a missing value}",
        "warning",
    ),
    "many-labels": Template(
        "{column!r} has {distinct:,} different labels, too many to publish: group them into fewer first"
    ),
    "beyond-numbers": Template(
        "{column!r} has infinite values or some beyond 2**53: remove such rows, or give it in a larger unit", "warning"
    ),
    # Groups so small that hiding them costs everyone, and those to merge them with.
    "rare-secrets": Template(
        "{groups:groups} of {column!r} {groups:are} rare: what is seen in so few rows is mostly chance, which "
        "confidence pays for with changed values{lone:?, and a group of one row is refused|}{merge:?. Merging "
        "{merge:listed} makes a group of {together:rows}; what distinguishes the merged groups is then no longer "
        "hidden|}",
        "warning",
    ),
}

# How a file was read: one for each decision that a plain CSV file in UTF-8 does not need. Only names of columns and the
# texts that mean "missing" are quoted.
_READING = {
    "read-as": Template(
        "the file was read{separator:? with {separator:separator} between its fields|}{encoding:?{separator:? and|} in "
        "the encoding {encoding}|}{sheet:?{separator:? and|{encoding:? and|}} from the sheet {sheet!r}|}{beside:?, and "
        "not from {beside:quoted}: {to:@page→{reading:sheet=} can change that|give {reading:sheet={beside:first}} to "
        "change that}|}"
    ),
    "title-lines": Template("{lines} line{lines:plural} above the header {lines:were} skipped"),
    "unnamed-columns": Template("columns without a name are called by their place: {names:some}"),
    "decimal-commas": Template("commas were read as decimal marks in {columns:some}"),
    "grouped-digits": Template("marks between groups of three digits were dropped in {columns:some}"),
    "percentages": Template("percent signs were dropped in {columns:some}: 12 % is 12 there"),
    "kept-as-text": Template(
        "digits with zeros in front, or more than 18 of them, were kept as text in {columns:some}"
    ),
    "spaces-dropped": Template("the space before each value was dropped in {columns:some}"),
    "ambiguous-numbers": Template(
        "nothing in {columns:some} tells a decimal mark from one between thousands: the decimal "
        "{decimal:@.→point|comma} was assumed; {to:@page→name it under {reading:decimal=}|give {reading:decimal=...}} "
        "to be sure",
        "warning",
    ),
    "missing-texts": Template(
        "column {column!r} says {texts:either} in {cells:rows}, read as missing: {to:@page→{reading:na=} can change "
        "that|give {reading:na=[...]} to change that}"
    ),
    "sentinels-treated": Template("{cells:rows} had a declared sentinel in {column!r}, read as missing"),
    "labels-tidied": Template("labels of {columns:some} are read in lower case, without spaces around them"),
    "labels-merged": Template("{cells:rows} of {column!r} became {into!r}: labels were merged"),
    "secret-merged": Template(
        "labels of the secret {column!r} were merged into {into!r}{rows:?, which has {rows:rows} now|}: they are not "
        "hidden from one another, nor is what distinguishes them{large:?. {large:groups} {large:are} not rare, and "
        "lost protection by it|}",
        "warning",
    ),
    "merge-unseen": Template(
        "no column of text has {texts:either}, of which {into!r} was to be made: see how the table writes it",
        "warning",
    ),
    "sentinels-unseen": Template("no cell has the declared sentinel {sentinels:either}: see how the table writes it"),
}

_AUDIT = {
    "few-rows-audited": Template(
        "secret {secret!r} has {rows} rows: the intervals are wide, and only a gross failure would show", "warning"
    ),
    "pairs-left-out": Template(
        "{attacked} of {pairs:,} pairs were attacked: {least:?the others have a secret with fewer than {least} rows|"
        "those with most rows, and the one that binds}",
        "warning",
    ),
    "cells-left-out": Template(
        "{attacked} of {beliefs:,} beliefs were attacked: those with most rows, and the one that binds"
    ),
    "published-as-is": Template(
        "every published value of {columns:bare} equals the true one: nothing was changed", "warning"
    ),
    "not-covered": Template(
        "the calibration says nothing about {columns:bare}, which was published too: what these columns reveal is not "
        "within the guarantee",
        "warning",
    ),
    "secret-published": Template(
        "the column {column!r} holds the secrets and was published: nothing is hidden", "warning"
    ),
    "less-noise": Template(
        "published and true values differ with a spread of {spread:.4g}, and the noise was calibrated to {theta:.4g}: "
        "either values were clipped, or the noise is not what it should be",
        "warning",
    ),
    # Rows beside the wrong truth look so, and so does the next.
    "more-noise": Template(
        "published and true values differ with a spread of {spread:.4g}, and the noise was calibrated to {theta:.4g}: "
        "either more was added, or the rows are in another order and no attack can succeed. Where publishing shuffled "
        "them, give {arg:positions}; or name the columns that say which row is whose with {arg:keys}",
        "warning",
    ),
    "moved-rows": Template(
        "{share:.1%} of the rows were published as they are, and the channel leaves {expected:.1%}: the rows are in "
        "another order and no attack can succeed. Where publishing shuffled them, give {arg:positions}; or name the "
        "columns that say which row is whose with {arg:keys}",
        "warning",
    ),
    "not-through-channel": Template(
        "{rows:,} of {of:,} rows were published as something that the channel never makes of their true values: this "
        "is not the table that was published, another channel was used, or the rows are in another order. Where "
        "publishing shuffled them, give {arg:positions}",
        "warning",
    ),
    "no-priors-attack": Template(
        "no attack used the calibration's own priors: which published column they are about is not clear"
    ),
    "order-tells": Template(
        "the order of the rows is not random, and tells {first!r} from {second!r}: {seen}, and a random order shows "
        "that with a chance of {chance:.1e} at most. Shuffle the rows; where publishing shuffled them and they stand "
        "beside the wrong truth, give {arg:positions}",
        "warning",
    ),
}

OF_READING = frozenset(_READING)
TEMPLATES: Mapping[str, Template] = {
    **_PRIORS,
    **_SIDE_INFORMATION,
    **_LISTS,
    **_ASKED,
    **_COLUMNS,
    **_READING,
    **_AUDIT,
}
