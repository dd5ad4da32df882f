"""The calibration behind `publish`: rows of columns, through the best channel, for the population."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

from takifugu._validation import no_cells, no_text, one_of
from takifugu._work import step
from takifugu.calibration import Calibration, calibrate
from takifugu.channels import BitSource, OsBits
from takifugu.errors import CalibrationError, InputError, MechanismError, Message, TakifuguError, suggestion
from takifugu.mechanisms import Size
from takifugu.problems import (
    AUTO,
    Adversary,
    Diagnostic,
    Guarantee,
    Pair,
    Problem,
    Spelling,
    Utility,
    asked_for,
    channel_guarantee,
    promise_of_guess,
    refuse_beyond,
    tidy,
    with_short_forms,
)
from takifugu.queries import (
    Cells,
    PrivateCounts,
    Row,
    named_pairs,
    priors_asked_for,
    refuse_notes,
    require_no_codes,
    several_rows,
    told_by_kept,
)
from takifugu.releases import ORDERS, Ledger, counted_once, require_inside
from takifugu.tables import ALL_OTHERS, AS_READ, Reading, Table, match_secret, with_secrets

CONFIDENCE = 0.95
ODDS = 3.0  # what is guaranteed where nothing else is asked for

# What is asked for: which columns are to hide which secret, and how.


@dataclass(frozen=True)
class Asked:
    """Which columns of a table are to hide which secret, and how; the arguments of `publish` are its fields.

    >>> Asked("ill", ["ward"], adversary=Adversary(known=["sex"]), keep=["shift"]).known
    ('sex', 'shift')
    """

    secret: str | Sequence[str]
    columns: Sequence[str]
    odds: float | None = None
    alpha: float | None = None
    epsilon: float | None = None
    confidence: float | None = CONFIDENCE
    pairs: Iterable[Pair] | None = None
    keep: Sequence[str] = ()
    domain: Mapping[str, Sequence[object]] | Sequence[object] | None = None
    id: str | None = None
    order: str = "shuffle"
    private_fit: float | PrivateCounts | None = None
    adversary: Adversary | None = None
    utility: Utility | None = None
    reading: Reading | None = None
    only_new: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what nobody could mean; each name is gone through more than once, and an iterator would be empty."""
        for name, given in {"secret": self.secret, "columns": self.columns, "keep": self.keep}.items():
            no_cells(name, given)
        for name, given in {"columns": self.columns, "keep": self.keep}.items():
            no_text(name, given, "columns")
        if not isinstance(self.secret, str):
            object.__setattr__(self, "secret", [*self.secret])
        object.__setattr__(self, "columns", [*self.columns])
        object.__setattr__(self, "keep", tuple(self.keep))
        object.__setattr__(self, "pairs", None if self.pairs is None else list(self.pairs))
        one_of("order", self.order, ORDERS)  # `release` would say so too, when all the work is done
        if self.reading is not None and not isinstance(self.reading, Reading):
            raise InputError(
                f"reading must be a Reading, such as takifugu.Reading(), got {type(self.reading).__name__}"
            )
        if self.pairs is not None and self.left_out == ALL_OTHERS and not self.pairs:
            raise InputError("pairs is empty: name the pairs of secrets to hide, or leave it out")
        self._refuse_beside_private_counts()
        rounded = "is for noise, and rows go out through a channel: leave it out here"
        refuse_beyond(self.to, [one.name for one in fields(self.to) if one.name != "granularity"], rounded)
        weaker = "is about calibrations of one's own: what is published here keeps the whole guarantee"
        refuse_beyond(self.by, [one.name for one in fields(self.by) if one.name != "weaker"], weaker)
        if not {name for name in ("best_guess", "error") if self.promise[name] is not None}:
            asked_for(alpha=self.promise["alpha"], epsilon=self.promise["epsilon"], odds=self.promise["odds"])

    @cached_property
    def by(self) -> Adversary:
        """The adversary."""
        return with_short_forms(self.adversary, Adversary)

    @cached_property
    def to(self) -> Utility:
        """What is to survive."""
        return with_short_forms(self.utility, Utility)

    @cached_property
    def read_as(self) -> Reading | None:
        """How the table is read, whichever rows of it leave."""
        return None if self.reading is None else self.reading.of_cells

    @property
    def left_out(self) -> "Sequence[Hashable] | str":
        """The secrets whose rows are counted and not published: some by name, or all that are not hidden."""
        return () if self.reading is None else self.reading.leave_out

    @property
    def others(self) -> str:
        """What `release` does with rows of secrets that are not hidden."""
        return "drop" if self.left_out else "error"

    @property
    def other(self) -> object:
        """What a label on no list becomes."""
        return None if self.reading is None else self.reading.other

    @cached_property
    def secrets(self) -> list[str]:
        """The columns that hold secrets."""
        if not self.secret:
            raise InputError(f"secret must be a column, or a list of columns, got {self.secret!r}")
        return [self.secret] if isinstance(self.secret, str) else list(self.secret)

    @property
    def named(self) -> list[object] | None:
        """The secrets that stand in the pairs; None where every pair is hidden."""
        return None if self.pairs is None else list(dict.fromkeys(one for pair in self.pairs for one in pair))

    @property
    def known(self) -> tuple[str, ...]:
        """What the adversary knows, the kept columns among it: whoever reads them knows them."""
        return tuple(dict.fromkeys((*self.by.known, *self.keep)))

    @property
    def read(self) -> list[str]:
        """All columns that are read of each row."""
        return [*self.columns, *self.secrets, *self.known]

    @cached_property
    def promise(self) -> dict[str, float | None]:
        """The guarantee as it was asked for, odds of 3 where it was not.

        >>> Asked("ill", ["ward"]).promise["odds"]
        3.0
        """
        given = {"odds": self.odds, "alpha": self.alpha, "epsilon": self.epsilon}
        given |= {"best_guess": self.by.best_guess, "error": self.to.error}
        return given if any(value is not None for value in given.values()) else given | {"odds": ODDS}

    def cells(self) -> Cells:
        """What a private fit counts; an error where a public list is missing."""
        secret: Any = self.secret  # of several `Cells` says what to do
        lists: Any = self.domain
        fit: Any = self.private_fit
        return Cells.of(
            secret, self.columns, lists, self.other, fit, None if self.read_as is None else self.read_as.spelling
        )

    def _refuse_beside_private_counts(self) -> None:
        """Refuse what would follow from the rows in another way, or tell the adversary more than a belief is about."""
        if self.private_fit is None:
            return
        beside = {
            "only_new without an id": self.only_new and self.id is None,
            "repeats": self.by.repeats != "refuse",
            "order": self.order != "shuffle",
            "leave_out": self.left_out,
            "known": self.by.known,
            "keep": self.keep,
            "beliefs": self.by.beliefs,
            "own": not self.by.own,
            "assurance": self.by.assurance,
        }
        for name, value in beside.items():
            if value:
                raise InputError(
                    Message(
                        "{arg:{name}} does not go with {arg:private_fit}: nothing but the private counts may follow "
                        "from the rows, each of which is one person's, on the lists, and published in random order. "
                        "{rare:?Merge secrets that are too rare with others ({reading:merge=}), from which they "
                        "are then not hidden, for how many rows are left out would reveal something about "
                        "them|Leave one of the two out}",
                        name=name,
                        rare=name == "leave_out",
                    )
                )


_SHARED = 5  # rows that must share a label before it is called by its name


def require_merged(source: Table, secrets: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse a merge of labels one of which no column has: it is misspelt, and its group would stay as it is.

    Nearby labels are named as others are: those of the secrets, and of the columns those that enough rows share.
    """
    import narwhals as nw

    merges = source.reading.merges
    if not merges:
        return
    schema = source.frame.collect_schema()
    spelled = tidy if source.reading.tidy else str
    seen: set[object] = set()
    for name in schema.names():
        if name + AS_READ in schema:
            merged = source.frame.filter(nw.col(name).is_in([into for into, _ in merges]))
            read = source.collect(merged.select(nw.col(name + AS_READ).alias("read")).unique())["read"]
            seen.update(spelled(str(one)) for one in read)
    unseen = [(one, into) for into, of in merges for one in of if one not in seen]
    if not unseen:
        return
    known: set[object] = set()
    for name in (*secrets, *columns):
        if name in schema and schema[name] in (nw.String, nw.Categorical, nw.Enum, nw.Object):
            cells = nw.col(name + AS_READ if name + AS_READ in schema else name)
            counted = source.frame.select(cells.alias("read")).group_by("read").agg(nw.len().alias("rows"))
            found = source.collect(counted)
            least = 1 if name in secrets else _SHARED
            pairs = zip(found["read"], found["rows"], strict=True)
            known |= {spelled(str(one)) for one, rows in pairs if one is not None and rows >= least}
    label, into = unseen[0]
    raise InputError(
        f"{label!r} cannot be merged into {into!r}, since no column has that label.{suggestion(label, known)}"
    )


# From what is asked for to the channel.


def calibrated(
    table: object,
    asked: Asked,
    *,
    ledger: Ledger | None = None,
    bits: BitSource | None = None,
    drawn: Callable[[PrivateCounts], None] = lambda counts: None,
    ahead: Callable[[Sequence[Diagnostic]], None] = lambda findings: None,
) -> Calibration:
    """The calibration that `publish` makes: rows of the columns, through the best channel, for the population.

    Whoever reads the kept columns knows them, so they are among what is known: two harmless ones may tell the secret
    together. What they tell by themselves is a finding. Rows of secrets that are not hidden are refused before the
    search for the channel, as `release` would refuse them after it. `ahead` is told, before the search too, what may be
    reason enough not to wait for it: a column of dates, a code for what is missing. With `private_fit` private counts
    are drawn, with these `bits`, and `drawn` is called with them; nothing else is then seen of the rows.
    """
    if both := next((name for name in asked.keep if name in asked.columns), None):
        raise InputError(f"column {both!r} is in both columns and keep: it leaves changed or as it is, not both ways")
    if both := next((name for name in asked.keep if name in asked.secrets), None):
        raise InputError(
            f"column {both!r} is the secret, and cannot leave beside what hides it: leave it out of `keep`"
        )
    if asked.private_fit is not None:
        step("Drawing private counts, and finding the channel that changes least")
        return _of_private_counts(table, asked, asked.private_fit, ledger=ledger, source=bits, drawn=drawn)
    source = Table(table, asked.read_as)
    hidden = _hidden(asked, source)
    if asked.named is not None:
        _require_hidden(asked, source, hidden, typed=True)
    if asked.keep:
        refuse_notes(source, asked.keep)
    lists = Row(*asked.columns, domain=asked.domain).domain
    require_no_codes(with_secrets(source, asked.secrets), [*asked.secrets, *asked.columns, *asked.known], lists)
    query = Row(*asked.columns, domain=asked.domain, other=asked.other)
    step("Counting the values of each secret")
    of_priors: dict[str, Any] = {"secret": asked.secret, "query": query, "known": list(asked.known) or None}
    of_priors |= {"secrets": hidden, "reading": asked.read_as}
    priors = priors_asked_for(table, of_priors, beliefs=asked.by.beliefs, own=asked.by.own)
    pairs = None if asked.pairs is None else named_pairs(asked.pairs, priors)
    if not asked.by.own:  # there may be secrets that others do not know
        known = list(priors if isinstance(priors, Mapping) else priors[0])
        _require_hidden(asked, source, known if hidden is None else hidden)
    people = several_rows(source, asked.secrets)
    ahead([one for one in (*priors.findings, *people) if one.level == "warning"])
    step(_long_step(priors, asked))
    made = preserving(
        lambda kept: calibrate(
            priors,
            **_of_calibrate(asked),
            pairs=pairs,
            adversary=Adversary(radius=asked.by.radius, assurance=asked.by.assurance, seed=asked.by.seed),
            utility=replace(_constraints(asked.to), preserve=kept),
        ),
        asked.to,
    )
    return _with_findings(made, source, asked, people)


def _of_calibrate(asked: Asked) -> dict[str, Any]:
    return {**asked.promise, "confidence": asked.confidence}


def _constraints(to: Utility) -> Utility:
    """What the mechanism is asked for: the price is part of the guarantee, and what is drawn is not decided here."""
    return replace(to, error=None, allow_no_noise=False)


def _hidden(asked: Asked, source: Table) -> list[Any] | None:
    """The secrets whose laws are fitted, None for all: those of the pairs, or all but those that are left out."""
    if not asked.left_out or asked.left_out == ALL_OTHERS:
        return asked.named if isinstance(asked.secret, str) else None
    if not isinstance(asked.secret, str):
        raise InputError("leave_out names values of one secret, and there are several: give leave_out='others'")
    kept = source.secrets_but(asked.secret, list(asked.left_out))
    return kept if asked.named is None else asked.named


def _require_hidden(asked: Asked, source: Table, hidden: Iterable[Any] | None, *, typed: bool = False) -> None:
    """Refuse rows of secrets that are neither hidden nor left out."""
    if asked.left_out == ALL_OTHERS:
        return
    inside = [*(asked.named or () if hidden is None else hidden), *asked.left_out]
    require_inside(source, asked.secrets, asked.columns, inside, typed=typed)


Sought = TypeVar("Sought")


def preserving(search: Callable[[str | None], Sought], to: Utility) -> Sought:
    """What preserves the joint distribution of the columns where that is to be had, and what does not where it is not.

    Beside other constraints it is one too many, more often than not: who has some says so of this one too.
    """
    if to.preserve != AUTO:
        return search(to.preserve)
    if to.constraints.keys() & {"diagonal", "forbidden", "unbiased"}:
        return search(None)
    try:
        return search(AUTO)  # beyond one program for the whole channel, to preserve it takes minutes
    except (MechanismError, CalibrationError):
        return search(None)


def _long_step(priors: Any, asked: Asked) -> str:
    """What is done now, with how long it may take, and what would make it quicker."""
    what = "Finding the channel that changes least"
    size = Size.of(Problem.of(priors), _total(asked.promise) if asked.to.error is None else None, asked.confidence)
    if (time := size.words) is None:
        return what
    of = "values" if len(asked.columns) == 1 else f"combinations of {len(asked.columns)} columns"
    fewer = "" if len(asked.columns) == 1 else " or fewer columns"
    return f"{what}, for {size.values:,} {of} and {size.secrets} secrets: {time}; coarser lists{fewer} are quicker"


def _with_findings(made: Calibration, source: Table, asked: Asked, people: Sequence[Diagnostic]) -> Calibration:
    """The calibration, with what columns that leave as they are tell by themselves, and of people with several rows."""
    for finding in people:
        made = made.with_finding(finding)
    if not asked.keep:
        return made
    # Nothing counted on these rows may stand in what follows from other people's.
    kept = (
        told_by_kept(source, () if made.answer is None else made.answer.secret, asked.keep, made.pairs.secrets)
        if asked.by.own
        else Diagnostic("cell-tells", columns=asked.keep, odds=None, guess=None)
    )
    return made.with_finding(kept)


# Both steps of a private fit: counts, and a channel that is made of them.


def _of_private_counts(
    table: object,
    asked: Asked,
    fit: float | PrivateCounts,
    *,
    ledger: Ledger | None,
    source: BitSource | None,
    drawn: Callable[[PrivateCounts], None],
) -> Calibration:
    """A calibration of private counts with this epsilon, or of these that were drawn before.

    Whatever can be refused is refused before any noise is drawn; afterwards the counts are paid for. They are handed to
    `drawn` before anything is made of them: whoever saves them there can try again for nothing.
    """
    if isinstance(fit, PrivateCounts):
        counts = fit.about(asked.secret, Row(*asked.columns))
        if asked.domain is not None or asked.other is not None:
            counts.require_lists(replace(asked, private_fit=counts.epsilon).cells())
        _require_all_hidden(counts.cells, asked.named)
    else:
        cells = asked.cells()
        _require_all_hidden(cells, asked.named)
        if asked.to.error is None:  # before any noise: whether anything is left for the channel
            channel_guarantee(_total(asked.promise), cells.epsilon)
        bits = OsBits() if source is None else source
        counts = counted_once(table, cells, id=asked.id, ledger=ledger, reading=asked.read_as, source=bits)
    drawn(counts)
    preserve = None if asked.to.preserve == AUTO else asked.to.preserve
    try:
        return calibrate(
            counts,
            **_of_calibrate(asked),
            pairs=None if asked.pairs is None else named_pairs(asked.pairs, counts),
            adversary=Adversary(radius=asked.by.radius, seed=asked.by.seed),
            utility=replace(_constraints(asked.to), preserve=preserve),
        )
    except TakifuguError as error:
        if ledger is not None and counts is not fit:
            error.add_note(_PAID)
        raise


def _total(promise: Mapping[str, float | None]) -> Guarantee:
    if (guess := promise["best_guess"]) is not None:
        return promise_of_guess(guess, alpha=promise["alpha"])
    return asked_for(alpha=promise["alpha"], epsilon=promise["epsilon"], odds=promise["odds"])


def _require_all_hidden(cells: Cells, named: Sequence[object] | None) -> None:
    """Refuse pairs without one of the secrets: its rows would be left out, and how many there are would be told."""
    if named is None:
        return
    label = (Spelling() if cells.spelling is None else cells.spelling).label
    matched = {match_secret(label(one), cells.secrets) for one in named}
    if lacking := [one for one in cells.secrets if one not in matched]:
        raise InputError(
            f"{lacking[0]!r} is on the list of {cells.secret!r} and in none of the pairs, and with a private fit no "
            f"row is left out, since how many there are would reveal something about them: name it in a pair, or "
            f"leave pairs out"
        )


_PAID = (
    "The private counts were drawn, and the ledger has them: fresh ones of the same people would cost their epsilon "
    "again. To be able to try again, draw them with takifugu.private_counts, save them, and give them as private_fit"
)
