"""What else may be asked for: what an adversary may know and believe, and what is to survive in what is published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from takifugu._validation import integer, no_cells, no_text, one_of
from takifugu.errors import InputError

DRIFTS = ("refuse", "allow")
REPEATS = ("refuse", "independent")
AUTO = "auto"
PRESERVES = (AUTO, "marginal", "mean", None)


@dataclass(frozen=True)
class Adversary:
    """What the adversary may know and believe, and how sure the guarantee is to hold for it.

    Args:
        known: columns that the adversary may know of a person, or `binned` ones, as for `fit_priors`.
        beliefs: what others may believe beside what the table says, by name: {"last year": table}, a table with the
            same columns, or priors that were fitted before. The guarantee holds for each of them.
        own: False takes the priors of `beliefs` alone, so that nothing but the rows themselves follows from the table.
        radius: the guarantee holds for every prior within this total variation of those given; one number, or one for
            each secret.
        assurance: "band" proves the guarantee for the population, with the confidence asked for and no model: more
            noise, and no evidence but a proof.
        best_guess: in place of a budget, such as 0.6: between two secrets that were equally likely before, nobody's
            guess from one published value may be right more often.
        drift: "refuse" rows that plainly go with the secret more closely than the priors say, as those of another table
            do, or "allow" them where only who believes those priors counts.
        repeats: where an id has several rows: "refuse", since the guarantee is about one row, or your statement that
            rows of a person are "independent" of one another given the secret.
        weaker: "refuse" a calibration whose guarantee leaves a share of the cases out, such as that of
            "wasserstein-approx", or "allow" it.
        seed: of the draws behind the confidence. Whoever tries several and takes what suits best has less confidence
            than is stated.

    Raises:
        InputError: a field holds what nobody could mean.

    >>> Adversary(known=["sex"], radius=0.01).known
    ('sex',)
    """

    known: Sequence[str] = ()
    beliefs: Mapping[str, object] | None = None
    own: bool = True
    radius: float | Sequence[float] | None = None
    assurance: str | None = None
    best_guess: float | None = None
    drift: str = "refuse"
    repeats: str = "refuse"
    weaker: str = "refuse"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what nobody could mean, and go through what may be gone through once."""
        no_text("known", self.known, "columns")
        no_cells("known", self.known)
        object.__setattr__(self, "known", () if self.known is None else tuple(self.known))
        if not isinstance(self.own, bool):
            raise InputError(f"own must be True or False, got {self.own!r}")
        if self.assurance not in (None, "band"):
            raise InputError(f"assurance must be None or 'band', got {self.assurance!r}")
        one_of("drift", self.drift, DRIFTS)
        one_of("repeats", self.repeats, REPEATS)
        one_of("weaker", self.weaker, DRIFTS)
        object.__setattr__(self, "seed", integer("seed", self.seed, least=0))


@dataclass(frozen=True)
class Utility:
    """What is to survive in what is published, of all that keeps the guarantee.

    Args:
        preserve: "marginal" publishes every value as often, on average, as it is there, so that means, correlations and
            tables of counts of the published columns need no correction; "mean" keeps means alone, and None neither. By
            default the marginal where that can be had.
        loss: what is lost least: "square", "absolute" or "change", or a matrix of true by published values.
        weights: of several columns, or numbers of a vector, how much each counts; all the same by default.
        diagonal: at least this share of the values stays as it is.
        forbidden: pairs of a true value and a published one that it never becomes.
        unbiased: True publishes every number right on average.
        local_price: a number λ: no value is more than e^λ times as likely to be published for one true value as for any
            other, which bounds what a further publication of the same people adds.
        error: in place of a budget, such as 0.2: the strongest guarantee at which a published value is off by at most
            this share of the spread, or of labels this share is changed.
        granularity: the power of two that numbers with noise are rounded to; by default about θ/1024.
        allow_no_noise: publish without a warning where the priors ask for no noise, or for less than the data's step.

    Raises:
        InputError: a field holds what nobody could mean.

    >>> Utility(preserve=None, loss="change").options
    {'loss': 'change', 'keep': None}
    """

    preserve: str | None = AUTO
    loss: object = None
    weights: Sequence[float] | None = None
    diagonal: float | None = None
    forbidden: Sequence[tuple[object, object]] | None = None
    unbiased: bool | None = None
    local_price: float | None = None
    error: float | None = None
    granularity: float | None = None
    allow_no_noise: bool = False

    def __post_init__(self) -> None:
        """Refuse what nobody could mean."""
        if self.preserve not in PRESERVES:
            raise InputError(f'preserve must be "marginal", "mean" or None, got {self.preserve!r}')

    @property
    def constraints(self) -> dict[str, object]:
        """What is asked for beside what is preserved, by the names that mechanisms know."""
        names = ("loss", "weights", "diagonal", "forbidden", "unbiased", "local_price")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def options(self) -> dict[str, object]:
        """All that a mechanism is asked for; what is preserved by default is left to it."""
        return self.constraints if self.preserve == AUTO else {**self.constraints, "keep": self.preserve}


Object = TypeVar("Object", Adversary, Utility)


def with_short_forms(given: Object | None, kind: type[Object], **short: object) -> Object:
    """The options with what was given by its short form; given twice is refused.

    >>> with_short_forms(Adversary(seed=1), Adversary, radius=0.01, assurance=None).radius
    0.01
    """
    found = kind() if given is None else given
    if not isinstance(found, kind):
        name = kind.__name__
        raise InputError(f"{name.lower()} must be an {name}, such as takifugu.{name}(), got {type(found).__name__}")
    usual = {one.name: one.default for one in fields(kind)}
    said: dict[str, Any] = {name: value for name, value in short.items() if not _is(value, usual[name])}
    for name in said:
        if not _is(getattr(found, name), usual[name]):
            raise InputError(f"{name} is given twice, by itself and in {kind.__name__}: leave one of them out")
    return replace(found, **said) if said else found


def refuse_beyond(given: Adversary | Utility, heeded: Sequence[str], why: str) -> None:
    """Refuse what would not be heeded.

    >>> refuse_beyond(Adversary(seed=1), ("seed",), "never")
    """
    kind = type(given)
    for one in fields(kind):
        if one.name not in heeded and not _is(getattr(given, one.name), one.default):
            raise InputError(f"{one.name} of {kind.__name__} {why}")


def _is(value: object, usual: object) -> bool:
    """Whether it is the default; what may be an array is asked for nothing else."""
    return value is usual or (isinstance(value, str | float) and value == usual)
