"""What a reader should know about the data: typed remarks, each of which says its own sentence.

Reports, the command line and the web page show the same findings; each picks those it wants by type.
"""

import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from string import Formatter
from typing import Any, ClassVar, Literal

from takifugu.errors import FindingWarning
from takifugu.problems.pairs import Secret

# What a finding is: a typed remark that says its own sentence.


@dataclass(frozen=True)
class Finding:
    """One remark. `level` is 'warning' where the priors may be worth less than they look.

    `says` is its sentence, with the names of fields where their values go; beside the formats of numbers there are
    those of `_WORDS`, as in `{rows:rows}` or `{columns:some}`. What has more to decide has a `sentence` of its own.
    """

    level: ClassVar[Literal["note", "warning"]] = "note"
    says: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """A name for machines.

        >>> Remark("all is well").kind
        'remark'
        """
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    @property
    def sentence(self) -> str:
        """The remark in words."""
        return _SENTENCES.vformat(self.says, (), vars(self))

    def __str__(self) -> str:
        """The sentence."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Fields, kind, level and sentence, ready for JSON."""
        return {"kind": self.kind, "level": self.level, **asdict(self), "sentence": self.sentence}


@dataclass(frozen=True)
class Remark(Finding):
    """A finding as a file tells it: the words, without the type that made them."""

    says = "{text}"
    text: str


@dataclass(frozen=True)
class Caution(Remark):
    """The same of a warning."""

    level = "warning"


def rows_of(number: int) -> str:
    """A number of rows for a sentence.

    >>> rows_of(1), rows_of(1_200)
    ('1 row', '1,200 rows')
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def some(names: Sequence[str], *, last: str = "and") -> str:
    """The first four names of columns, and how many more there are.

    >>> some(["age", "ward"]), some(["age", "ward"], last="or"), some(list("abcdef"))
    ("'age', 'ward'", "'age' or 'ward'", "'a', 'b', 'c', 'd' and 2 more")
    """
    shown = list(map(repr, names[:4]))
    if len(names) > 4:
        return f"{', '.join(shown)} {last} {len(names) - 4} more"
    return ", ".join(shown) if last == "and" else f" {last} ".join(shown)


_WORDS: dict[str, Callable[[Any], str]] = {
    "rows": rows_of,
    "were": lambda number: "was" if number == 1 else "were",
    "plural": lambda number: "" if number == 1 else "s",
    "singular": lambda number: "s" if number == 1 else "",
    "percent": lambda share: f"{100 * share:.0f} %",
    "bare": ", ".join,
    "either": lambda names: " or ".join(map(repr, names)),
    "some": some,
    "any": lambda names: some(names, last="or"),
}


class _Sentences(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        in_words = _WORDS.get(format_spec)
        return format(value, format_spec) if in_words is None else in_words(value)


_SENTENCES = _Sentences()


# What there is to say about the cells of what an adversary knows.


@dataclass(frozen=True)
class SmallCells(Finding):
    """Cells of what the adversary knows that hold few rows of some secret."""

    level = "warning"
    says = "{small} of {cells} cells rest on fewer than {rows} rows of some secret"
    small: int
    cells: int
    rows: int


@dataclass(frozen=True)
class ManyCells(Finding):
    """More cells than rows can speak for."""

    level = "warning"
    says = (
        "{cells} cells of what the adversary knows are many: merge values of {column!r}, which has {values}, or "
        "cut it with binned({column!r}, [...])"
    )
    cells: int
    column: str
    values: int


@dataclass(frozen=True)
class OneSecretCells(Finding):
    """Cells in which the rows of some secret are missing altogether."""

    level = "warning"
    says = (
        "{cells} cell{cells:plural} of what the adversary knows hold{cells:singular} no row of some secret: it may "
        "have any law there, and to allow for it costs accuracy. Merge such cells with others, or leave a known column "
        "out. Who knows such a cell may know the secret without any release"
    )
    cells: int


# What there is to say about the lists and lattices that values are published on.


@dataclass(frozen=True)
class DomainRead(Finding):
    """A list of values that was read from the data, and so is no public knowledge."""

    column: str
    values: int
    step: float | None

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        how = "" if self.step is None else f", in bins {self.step:g} wide"
        return (
            f"the {self.values} values that {self.column!r} may take were read from the data{how}: that a rare one is "
            f"on the list tells that somebody has it. Give a list that is public, with domain=, to avoid that"
        )


@dataclass(frozen=True)
class LatticeRead(Finding):
    """Bounds or a step that nobody gave, and that follow the data."""

    column: str
    low: float
    high: float
    step: float
    bounds_read: bool
    step_read: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        parts = []
        if self.bounds_read:
            parts.append(f"bounds {self.low:g} to {self.high:g}")
        if self.step_read:
            parts.append(f"step {self.step:g}")
        risk = (
            "who sees them learns roughly where the smallest and largest value lie; give public bounds"
            if self.bounds_read
            else "give it if it is public"
        )
        verb = "were" if self.bounds_read else "was"
        return f"the {' and '.join(parts)} of column {self.column!r} {verb} read from the data: {risk}"


@dataclass(frozen=True)
class CoarserStep(Finding):
    """A step that was widened because it would have made too many points."""

    column: str
    step: float
    finer: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        wanted = f"a step of {self.finer:g}" if self.finer else "values that share no step"
        return f"{wanted} would make too many points: column {self.column!r} is rounded to {self.step:g}"


@dataclass(frozen=True)
class Clipped(Finding):
    """Values that lie beyond the bounds and are published as the bound."""

    says = "{rows:rows} of column {column!r} {rows:were} beyond the bounds {low:g} to {high:g} and clipped to them"
    column: str
    rows: int
    low: float
    high: float


@dataclass(frozen=True)
class HeavyTail(Finding):
    """A column whose range is mostly a tail."""

    level = "warning"
    column: str
    below: float
    share: float
    positive: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        log = ", or transform='log', which makes the noise a factor instead of an amount" if self.positive else ""
        below = float(f"{self.below:.2g}")
        return (
            f"99 % of the rows of column {self.column!r} lie in {100 * self.share:.2g} % of its range, and the rest "
            f"forces noise on all: give bounds up to about {below:,.12g}, which clips 1 % of the rows{log}"
        )


# What there is to say about priors and the rows they were fitted to.


@dataclass(frozen=True)
class FewRows(Finding):
    """A secret so rare that its prior is uncertain."""

    level = "warning"
    says = "secret {secret!r} has {rows} rows: its prior is uncertain"
    secret: Secret
    rows: int


@dataclass(frozen=True)
class ScarceRows(Finding):
    """A secret with so few rows that its prior alone says little."""

    level = "warning"
    says = (
        "secret {secret!r} has {rows:rows}: by chance alone its prior is off by about {distance:percent} of its "
        "mass, which confidence pays for"
    )
    secret: Secret
    rows: int
    distance: float


@dataclass(frozen=True)
class NoValue(Finding):
    """Rows that were left out because a column they need is empty."""

    says = "{rows:rows} had no value in {columns:any} and {rows:were} left out"
    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class LeftOutTells(Finding):
    """Rows without a value are left out, and that a row is not there goes with the secret."""

    level = "warning"
    often: Secret
    share: float
    seldom: Secret
    other: float

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"rows without a value are left out, and that tells the secret: {self.often!r} lacks one in "
            f"{100 * self.share:.1f} % of its rows, {self.seldom!r} in {100 * self.other:.1f} %. Whoever misses a "
            f"person in what is published learns from it. Give what is missing a value of its own in the table first, "
            f"such as 'unknown', and it is hidden like the others"
        )


@dataclass(frozen=True)
class NoSecret(Finding):
    """Rows that were left out because nobody knows their secret."""

    says = "{rows:rows} had no secret in {column!r} and {rows:were} left out"
    column: str
    rows: int


@dataclass(frozen=True)
class ComponentLimit(Finding):
    """A mixture that might have used more components than it was allowed."""

    level = "warning"
    says = "K hit its limit of {limit} for secret {secret!r}: allow more components"
    secret: Secret
    limit: int


@dataclass(frozen=True)
class Rounded(Finding):
    """A column that was rounded before it was stored."""

    says = "values look rounded to {step:.4g}: standard deviations are floored at {floor:.3g}"
    column: str
    step: float
    floor: float


@dataclass(frozen=True)
class Gridded(Finding):
    """A column with more distinct values than are counted one by one."""

    says = (
        "column {column!r} has too many distinct values to count one by one: they were counted on a grid of width "
        "{width:.3g}"
    )
    column: str
    width: float


@dataclass(frozen=True)
class PoorFit(Finding):
    """A fitted prior that does not look like the data."""

    level = "warning"
    says = "the fitted prior of secret {secret!r} misses the data by a Kolmogorov distance of {distance:.2g}"
    secret: Secret
    distance: float


@dataclass(frozen=True)
class Constant(Finding):
    """A secret whose rows all hold the same answer."""

    level = "warning"
    says = "column {column!r} is {value:g} in every row with secret {secret!r}: its prior is a single point"
    secret: Secret
    column: str
    value: float


@dataclass(frozen=True)
class NotConverged(Finding):
    """A model whose training stopped before it settled."""

    level = "warning"
    says = "the {model} of secret {secret!r} did not converge: {detail}"
    secret: Secret
    model: str
    detail: str


@dataclass(frozen=True)
class Subsampled(Finding):
    """A model trained on some of the rows."""

    says = "the model of secret {secret!r} was trained on {used} of its {rows} rows"
    secret: Secret
    rows: int
    used: int


@dataclass(frozen=True)
class ConstantFeature(Finding):
    """A feature that tells a model nothing."""

    says = "feature {column!r} is the same in every row and was left out"
    column: str


@dataclass(frozen=True)
class VectorOfRows(Finding):
    """Records of several columns to be published with noise, which a joint channel would spare."""

    level = "warning"
    columns: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        names = ", ".join(repr(column) for column in self.columns)
        return f"noise on whole rows costs a variance or more a column: a joint channel, Row({names}), costs far less"


@dataclass(frozen=True)
class UnsafePrior(Finding):
    """Noise that is enough for the fitted priors and not for the rows they were fitted to."""

    level = "warning"
    says = (
        "the rows with secret {secret!r} lose at least {loss:.3g} against those with {other!r}, more than the "
        "{epsilon:.3g} promised for their fitted priors: the priors do not describe these rows"
    )
    secret: Secret
    other: Secret
    loss: float
    epsilon: float


# What there is to say where whole rows are many and shared by few: what was added, and what that costs.


@dataclass(frozen=True)
class SparseChosen(Finding):
    """More values than the best of all channels is found for."""

    says = (
        "the answer takes {values:,} values, more than the {limit:,} that the best of all channels is "
        "found for in one program: by columns one of few moves was found. The promise is proved all the same; "
        "how much less another channel could change is proved for bounded odds, where all rows fit into one program"
    )
    values: int
    limit: int


@dataclass(frozen=True)
class Smoothed(Finding):
    """Rows that were added to each secret's, because most combinations of values are shared by hardly anybody.

    For each secret its name, its rows, how many were added, and the shape of the law they are from.
    """

    level = "warning"
    added: tuple[tuple[Secret, int, float, str], ...]

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        shapes = {"independent": "columns taken as independent", "tree": "each column taken to depend on one other"}
        told = "; ".join(
            f"{_counted(rows)} to the {own:,} of {secret!r} ({shapes[shape]})"
            for secret, own, rows, shape in self.added[:8]
        )
        more = "" if len(self.added) <= 8 else f"; and so on for {len(self.added) - 8} more"
        return (
            f"few people share a whole row, so rows of each secret's own columns were added to its rows: {told}{more}. "
            f"The promise is for who believes these laws"
        )


@dataclass(frozen=True)
class OtherSmoothing(Finding):
    """What the channel loses for who would have added fewer rows, or more."""

    level = "warning"
    says = (
        "for who adds a tenth of these rows instead the largest loss is {tenth:.3g}, and with ten times as "
        "many {tenfold:.3g}, where {epsilon:.3g} is promised"
    )
    tenth: float
    tenfold: float
    epsilon: float


@dataclass(frozen=True)
class PriceOfIgnorance(Finding):
    """How much of what is lost is paid for laws that are known from few rows."""

    says = "{share:percent} of what the rows lose is the price of confidence, for what few rows leave unknown"
    share: float


def _counted(rows: float) -> str:
    """Three digits of a number of rows, with no exponent."""
    return f"{float(f'{rows:.3g}'):,.10g}"


# Findings that cannot wait until somebody looks: shown as warnings, where the call stands that they came from.

_US = __name__.partition(".")[0]


def frames_within() -> int:
    """How many calls of the library lie between the caller and whoever called it from outside: a `stacklevel`."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _US:
        depth, frame = depth + 1, frame.f_back
    return depth


def show(findings: Iterable[Finding]) -> None:
    """Warn of the findings that are warnings; for functions that others call, at their end.

    Python shows a warning once for each line of code that it comes from. A call from within the library is silent:
    the command line, the explorer and reports tell findings in their own way, and whoever calls on behalf of somebody
    else shows them itself.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller.partition(".")[0] == _US:
        return
    for finding in findings:
        if finding.level == "warning":
            warnings.warn(str(finding), FindingWarning, stacklevel=3)


def show_ahead(findings: Iterable[Finding]) -> None:
    """Warn of findings that need not wait for the end of the work, from however deep, where the call outside stands."""
    for finding in findings:
        warnings.warn(str(finding), FindingWarning, stacklevel=frames_within())


# What there is to say about what was asked for: a promise told backwards, an order that is kept.


@dataclass(frozen=True)
class GuessAsked(Finding):
    """A promise made for a best guess."""

    asked: float
    promise: str

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        return (
            f"a best guess of {100 * self.asked:.4g} % at most was asked for: between two secrets that were equally "
            f"likely before, that is {self.promise}"
        )


@dataclass(frozen=True)
class ErrorAsked(Finding):
    """A promise made for an error; `falls` says whether the error fell with every larger budget that was tried."""

    asked: float
    error: float
    promise: str
    tried: int
    falls: bool

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        doubt = "" if self.falls else "; the errors did not fall with every larger budget, so a stronger one may exist"
        return (
            f"an error of {self.asked:.4g} of the spread at most was asked for: of {self.tried} promises tried, the "
            f"strongest that errs no more is {self.promise}, with {self.error:.3g}{doubt}"
        )


@dataclass(frozen=True)
class OrderKept(Finding):
    """Rows that leave in their own order, on the word of whoever publishes them."""

    says = (
        "the rows were not shuffled: whoever published them states that their order is random, and has nothing to do "
        "with the secret or with any column. Where it has, the guarantee does not hold"
    )

    @classmethod
    def among(cls, findings: Iterable[Finding]) -> bool:
        """Whether that is stated, by this finding or by one that a file told."""
        return any(one.sentence == cls.says for one in findings)


# Findings about the population: what a cell tells by itself, and what evidence rests on.


@dataclass(frozen=True)
class CellTells(Finding):
    """Known columns that are published as they are, and what they tell of the secret by themselves.

    `odds` and `guess` are by the rows' shares: the largest factor by which a cell changes the odds of two secrets, and
    how often a guess between two equally likely ones is right. They are None where nothing may be told of the rows.
    """

    level = "warning"
    columns: tuple[str, ...]
    odds: float | None = None
    guess: float | None = None

    @property
    def sentence(self) -> str:
        """See `Finding.sentence`."""
        names = ", ".join(repr(column) for column in self.columns)
        told = "" if self.odds is None else f": {self._odds}{self._guess}"
        return (
            f"the known columns ({names}) are published as they are, and what they tell by themselves is not hidden"
            f"{told}. The promise is about what the rest of a row adds, for who has read them"
        )

    @property
    def _odds(self) -> str:
        if self.odds is not None and math.isinf(self.odds):
            return "in some cell one of the secrets does not occur at all"
        return f"they change the odds between two secrets by a factor of up to {self.odds:.3g}, by the rows' shares"

    @property
    def _guess(self) -> str:
        if self.guess is None:
            return ""
        return f", and a guess between two equally likely ones is right with a chance of up to {100 * self.guess:.0f} %"


@dataclass(frozen=True)
class FewForConfidence(Finding):
    """A secret with so few rows that draws from its posterior rest on the pseudo-row more than on them."""

    level = "warning"
    says = (
        "what confidence says of secret {secret!r} rests on {rows} rows and the model of one more: "
        "merge it with another secret, or ask for assurance='band', which needs no model and costs more"
    )
    secret: Secret
    rows: int


@dataclass(frozen=True)
class ListReadForBand(Finding):
    """A proof for the population on a list of values that was read from the rows it is proved with."""

    level = "warning"
    says = (
        "the assurance 'band' is proved for a list of values that was not chosen from these rows, and {what}: {advice}"
    )
    what: str
    advice: str
