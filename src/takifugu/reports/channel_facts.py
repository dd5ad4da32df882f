"""What there is to say about a finite channel."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.channels import InsecureSeededBits, ListChannel, named
from takifugu.divergences import finite_divergence
from takifugu.errors import InputError, TakifuguError
from takifugu.laws import Mixture, Scalar, columns, key, number
from takifugu.mechanisms import Exact, root_above, table_of
from takifugu.problems import Choices, Problem, Renyi
from takifugu.queries import Cells, PrivateCounts, Row, values_of
from takifugu.reports.common import Facts, belief_losses, is_shown, most_telling, pair_losses, question_of, worst_odds

# A finite channel, column by column: what becomes of each value, how far off it is, and what stays true on average.


@dataclass(frozen=True)
class ColumnFacts:
    """One column of what goes through a channel, over people as the pooled laws have them.

    `matrix` is P(published value | true value), true values by published ones; `mass` the share of each true value.
    `before` and `after` are the laws of the two secrets that are hardest to tell apart. `error` is the root mean square
    error and `spread` the standard deviation of the true values, both of numbers only; `correlation` is that between
    true and published numbers. `histogram_shift` is the total variation between true and published values,
    `mean_shift` the difference of their means.
    """

    name: str
    inputs: tuple[Scalar, ...]
    outputs: tuple[Scalar, ...]
    matrix: Array = field(repr=False)
    mass: Array = field(repr=False)
    before: tuple[Array, Array] = field(repr=False)
    after: tuple[Array, Array] = field(repr=False)
    share_changed: float
    histogram_shift: float
    error: float | None = None
    spread: float | None = None
    correlation: float | None = None
    mean_shift: float | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.error is not None

    @property
    def kept(self) -> Array:
        """The probability with which each true value is published as itself."""
        place = {key(value): where for where, value in enumerate(self.outputs)}
        return np.array([self.matrix[k, place[key(v)]] if key(v) in place else 0.0 for k, v in enumerate(self.inputs)])

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "name": self.name,
            "values": len(self.inputs),
            "share_changed": self.share_changed,
            "histogram_shift": self.histogram_shift,
            "error": self.error,
            "spread": self.spread,
            "correlation": self.correlation,
            "mean_shift": self.mean_shift,
        }


def column_facts(
    channel: ListChannel, mass: Array, laws: tuple[Array, Array], names: Sequence[str] | None
) -> tuple[ColumnFacts, ...]:
    """The facts of each column. `mass` and `laws` are shares in the order of the channel's inputs."""
    true, published = columns(channel.inputs), columns(channel.outputs)
    if names is None or len(names) != len(true):
        names = ["answer"] if len(true) == 1 else [f"column {k + 1}" for k in range(len(true))]
    after = channel.through(np.stack(laws))
    return tuple(
        _column(name, channel, mass, laws, (after[0], after[1]), true[k], published[k]) for k, name in enumerate(names)
    )


def _column(
    name: str,
    channel: ListChannel,
    mass: Array,
    before: tuple[Array, Array],
    after: tuple[Array, Array],
    true: list[Scalar],
    published: list[Scalar],
) -> ColumnFacts:
    (inputs, into), (outputs, out) = _distinct(true), _distinct(published)
    sources, targets, chances = channel.entries
    joint = np.zeros((len(inputs), len(outputs)))
    np.add.at(joint, (into[sources], out[targets]), mass[sources] * chances)
    shares: Array = np.bincount(into, weights=mass, minlength=len(inputs)).astype(np.float64)
    # A value that nobody has is told as the plain average over the rows that hold it.
    plain = np.zeros_like(joint)
    np.add.at(plain, (into[sources], out[targets]), chances)
    plain /= np.bincount(into, minlength=len(inputs))[:, None]
    given = np.where(shares[:, None] > 0, joint / np.where(shares > 0, shares, 1.0)[:, None], plain)
    moves = np.array([[key(a) != key(b) for b in outputs] for a in inputs])
    return ColumnFacts(
        name=name,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        matrix=given,
        mass=shares,
        before=(_sums(before[0][None], into, len(inputs))[0], _sums(before[1][None], into, len(inputs))[0]),
        after=(_sums(after[0][None], out, len(outputs))[0], _sums(after[1][None], out, len(outputs))[0]),
        share_changed=float(joint[moves].sum()),  # not one minus the rest, which is not 0 where nothing changes
        histogram_shift=_shift(inputs, shares, outputs, joint.sum(axis=0)),
        **_numbers(inputs, outputs, joint),
    )


def _numbers(inputs: list[Scalar], outputs: list[Scalar], joint: Array) -> dict[str, float]:
    if not all(map(number, (*inputs, *outputs))):
        return {}
    x, y = np.array(inputs, dtype=np.float64), np.array(outputs, dtype=np.float64)
    scale = max(float(np.abs(x).max()), float(np.abs(y).max())) or 1.0  # squares of large numbers have no float
    x, y = x / scale, y / scale
    of_x, of_y = joint.sum(axis=1), joint.sum(axis=0)
    mean_x, mean_y = float(of_x @ x), float(of_y @ y)
    spread_x, spread_y = (math.sqrt(float(m @ (v - c) ** 2)) for m, v, c in ((of_x, x, mean_x), (of_y, y, mean_y)))
    together = float((joint * np.outer(x - mean_x, y - mean_y)).sum())
    found = {
        "error": scale * math.sqrt(float((joint * (x[:, None] - y[None, :]) ** 2).sum())),
        "spread": scale * spread_x,
        "mean_shift": scale * (mean_y - mean_x),
    }
    if spread_x > 0 and spread_y > 0:
        found["correlation"] = max(-1.0, min(1.0, together / (spread_x * spread_y)))
    return found


def _shift(inputs: list[Scalar], before: Array, outputs: list[Scalar], after: Array) -> float:
    """The total variation between true and published values."""
    seen = {key(v): float(m) for v, m in zip(inputs, before, strict=True)}
    apart = sum(abs(seen.pop(key(v), 0.0) - float(m)) for v, m in zip(outputs, after, strict=True))
    return min(1.0, 0.5 * (apart + sum(seen.values())))


def _distinct(values: list[Scalar]) -> tuple[list[Scalar], Any]:
    """The distinct values, numbers in order, and which of them each is."""
    first: dict[Any, Scalar] = {}
    for value in values:
        first.setdefault(key(value), value)
    found = list(first.values())
    if all(map(number, found)):
        found.sort()
    place = {key(value): where for where, value in enumerate(found)}
    return found, np.array([place[key(value)] for value in values])


def _sums(rows: Array, groups: Any, count: int) -> Array:
    """Columns added up by group."""
    found = np.zeros((len(rows), count))
    np.add.at(found.T, groups, rows.T)
    return found


# What a finite channel is measured against: Gaussian noise, replacing values at random, and a weaker promise.

ORDER = 3.0  # at which Gaussian noise is shown where the promise is about odds, which it cannot keep
_MOST_WORK = 300_000  # pairs of points, over all places: about two seconds
_MOST_VALUES = 64  # of a channel that is solved a second time
_MOST_NUMBERS = 2_000_000  # probabilities looked at in each step of a search
_STEPS = 40


@dataclass(frozen=True)
class Cost:
    """What another way would cost: the root mean square error of numbers, and the share of values changed.

    `promise` is what it keeps. `is_weaker` says that this is less than what the channel guarantees; `is_least` that the
    figure is from below, since only a part of what must be hidden was looked at.
    """

    label: str
    promise: str
    error: float | None
    changed: float | None
    is_weaker: bool = False
    is_least: bool = False
    is_chosen: bool = False


def gaussian_noise(calibration: Calibration, column: ColumnFacts, position: int) -> Cost | None:
    """The least Gaussian noise on one column of numbers; None where it cannot be told within a moment.

    Of several columns each is looked at alone, which noise on all of them cannot do with less.
    """
    asked = calibration.guarantee
    several = isinstance(table_of(calibration.problem).values[0], tuple)
    alpha = ORDER if math.isinf(asked.alpha) else asked.alpha
    beliefs = [
        _mixtures(calibration, k, column, position if several else None) for k in range(len(calibration.beliefs))
    ]
    pairs = list(calibration.pairs) if len(calibration.pairs) <= _MOST_WORK else [calibration.worst_pair]
    work = 2 * len(pairs) * len(column.inputs) ** 2
    is_least = several
    if work * len(beliefs) > _MOST_WORK:
        beliefs, is_least = [beliefs[calibration.place.belief]], True
    if work > _MOST_WORK:
        pairs = [calibration.worst_pair]
    if 2 * len(column.inputs) ** 2 > _MOST_WORK:
        return None
    try:
        # Not proved: nothing is published through it.
        theta = root_above(Exact().needed(Problem.of(beliefs, pairs), alpha=alpha, epsilon=asked.epsilon).variance)
    except TakifuguError:
        return None
    if math.isinf(theta):
        return None
    return Cost(
        f"Gaussian noise{f' on {column.name} alone' if several else ''}",
        f"{Renyi(alpha, asked.epsilon)}{_whose(calibration)}",
        theta,
        1.0 if theta > 0 else 0.0,
        is_weaker=asked != Renyi(alpha, asked.epsilon) or several or calibration.evidence is not None,
        is_least=is_least,
    )


def _whose(calibration: Calibration) -> str:
    """What is measured at the centre alone says so, beside a channel that is for the population."""
    return "" if calibration.evidence is None else ", for these rows alone"


def _mixtures(
    calibration: Calibration, belief: int, column: ColumnFacts, position: int | None
) -> dict[object, Mixture]:
    """The laws of one column under a belief, as points on the line."""
    found = {}
    for secret, law in calibration.beliefs[belief].items():
        values = [value if position is None else value[position] for value in law.values]
        found[secret] = Mixture(law.probabilities, values, np.zeros(len(values)))
    return found


def replaced_at_random(calibration: Calibration, channel: ListChannel) -> Cost | None:
    """A share of all values published as draws from everybody's: the least that keeps the guarantee in float64."""
    table = table_of(calibration.problem)
    asked = calibration.guarantee
    if channel.inputs != channel.outputs or not asked.is_provable:
        return None
    left, right = (np.array(side) for side in zip(*table.pairs, strict=True))
    if len(left) * len(table.values) > _MOST_NUMBERS:
        return None
    shares = table.laws / table.laws.sum(axis=1, keepdims=True)
    pool = table.mass / table.mass.sum()

    def is_kept(share: float) -> bool:
        published = (1 - share) * shares + share * pool
        kept = finite_divergence(published[left], published[right], alpha=asked.alpha).max() <= asked.epsilon
        if asked.odds_beside is not None:
            kept &= finite_divergence(published[left], published[right], alpha=math.inf).max() <= math.log(
                asked.odds_beside
            )
        return bool(kept)

    low, high = 0.0, 1.0
    if is_kept(0.0):
        high = 0.0
    for _ in range(_STEPS if high else 0):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_kept(middle) else (middle, high)
    error = None
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in table.values):
        x = np.array(table.values, dtype=np.float64)
        error = math.sqrt(high * 2.0 * float(pool @ (x - pool @ x) ** 2))
    promise = f"{asked}{_whose(calibration)}"
    changed = high * float(1.0 - pool @ pool)
    return Cost("Values replaced at random", promise, error, changed, is_weaker=calibration.evidence is not None)


def at_finite_order(calibration: Calibration, channel: ListChannel, mass: Array) -> Cost | None:
    """The best channel at the order at which Gaussian noise is shown, where the guarantee is about odds."""
    asked = calibration.guarantee
    if not math.isinf(asked.alpha) or len(channel.inputs) > _MOST_VALUES or calibration.mechanism != "optimal":
        return None
    try:
        found = calibrate(
            calibration.problem,
            alpha=ORDER,
            epsilon=asked.epsilon,
            mechanism="optimal",
            options=dict(calibration.options),
        )
    except TakifuguError:
        return None
    best = found.channel.as_list()
    column, *more = column_facts(best, mass, (mass, mass), None)
    error = None if more else column.error
    return Cost("Best channel", str(found.guarantee), error, best.share_changed(mass), is_weaker=True)


# What a guarantee against who knows all other rows would cost: what the default does not promise.

_CONFIDENCE = 0.95  # of private counts, where none was asked for
_PRIVATE = 0.2  # of the total: what counts cost that go with most tables (docs/studies/private-fit.md)
_COUNTS, _NO_DATA = f"Private counts (ε = {_PRIVATE:g})", "No data at all"
STRONGER = {_COUNTS: f"with private counts (ε = {_PRIVATE:g})", _NO_DATA: "with a channel that needs no data"}


def against_all_other_rows(calibration: Calibration, channel: ListChannel, mass: Array) -> list[Cost]:
    """The channels of private counts and of no data for the same total, with their errors for this table.

    The first is found once with noise that nobody draws again; none where it cannot be told within a moment.
    """
    if not is_of_own_rows(calibration) or len(channel.inputs) > _MOST_VALUES or calibration.mechanism != "optimal":
        return []
    asked = dict(calibration.options)
    wishes = {name: asked[name] for name in ("loss", "keep") if asked.get(name) is not None}
    # Without confidence the noise would not be undone, and make secrets look alike.
    level = _CONFIDENCE if calibration.evidence is None else calibration.evidence.level
    found = []
    for label, given, more in (
        (_COUNTS, _noisy(calibration, channel), {"options": wishes, "confidence": level}),
        (_NO_DATA, _listed(calibration), {"mechanism": "data-free", "options": _but_keep(wishes)}),
    ):
        if given is None:
            continue
        try:
            made = calibrate(given, calibration.total, **more)
        except TakifuguError:
            continue
        other = _channel(made)
        place = {key(value): weight for value, weight in zip(channel.inputs, mass.tolist(), strict=True)}
        weights = np.array([place.get(key(value), 0.0) for value in other.inputs])
        column, *rest = column_facts(other, weights, (weights, weights), None)
        promise = f"{calibration.total}, also for an adversary who knows all other rows"
        found.append(Cost(label, promise, None if rest else column.error, other.share_changed(weights)))
    return found


def is_of_own_rows(calibration: Calibration) -> bool:
    """Whether rows are published through a channel that was fitted to them, and to nothing else."""
    answer = calibration.answer
    return (
        answer is not None
        and answer.query == "row"
        and not (answer.private or answer.known)
        and len(answer.secret) == 1
        and [belief.label for belief in calibration.beliefs] == [""]
        and len(calibration.beliefs[0].counted) == len(calibration.pairs.secrets)
    )


def _noisy(calibration: Calibration, channel: ListChannel) -> PrivateCounts | None:
    """Private counts of the rows that the calibration was fitted to."""
    answer, belief = calibration.answer, calibration.beliefs[0]
    secrets = tuple(calibration.pairs.secrets)
    if answer is None or (lists := _lists(calibration)) is None:
        return None
    try:
        cells = Cells(answer.secret[0], secrets, answer.columns, lists, _PRIVATE)
    except TakifuguError:
        return None
    place = {key(value): k for k, value in enumerate(values_of(cells.support, cells.domain))}
    counts = [[0] * len(place) for _ in secrets]
    for row, secret in zip(counts, secrets, strict=True):
        for value, count in zip(belief[secret].values, belief.counted[secret][0].tolist(), strict=True):
            row[place[key(value)]] += int(count)
    return PrivateCounts.with_noise(cells, counts, InsecureSeededBits(0))


def _listed(calibration: Calibration) -> Row | None:
    answer, lists = calibration.answer, _lists(calibration)
    if answer is None or lists is None:
        return None
    return Row(*answer.columns, domain={n: list(one.values) for n, one in zip(answer.columns, lists, strict=True)})


def _lists(calibration: Calibration) -> tuple[Choices, ...] | None:
    """The list of each column, as if it were public."""
    lists = () if calibration.answer is None else calibration.answer.lists
    if not lists or math.prod(len(one.values) for one in lists) > _MOST_VALUES:
        return None
    return tuple(Choices(one.values) for one in lists)


def _but_keep(wishes: dict[str, object]) -> dict[str, object]:
    return {name: wish for name, wish in wishes.items() if name != "keep"}


@dataclass(frozen=True)
class LawFacts:
    """One secret's law, under the belief that binds: its mean and spread where it is about numbers.

    Of a secret of too few rows nothing but their number is told.
    """

    name: str
    rows: int | None
    mean: float | None
    std: float | None
    commonest: str | None
    share: float | None


@dataclass(frozen=True, kw_only=True)
class ChannelFacts(Facts):
    """One calibration of a finite channel.

    `error` and `lower_bound` are in the units of `loss_name`, which is "square", "absolute", "change", "columns" (the
    losses of several columns added up) or "matrix".
    """

    secrets: tuple[LawFacts, ...] = field(repr=False)
    columns: tuple[ColumnFacts, ...] = field(repr=False)
    values: int
    loss_name: str
    error: float
    lower_bound: float | None
    share_changed: float
    worst_odds: float
    costs: tuple[Cost, ...] = ()

    @property
    def channel(self) -> ListChannel:
        """The channel itself."""
        return _channel(self.calibration)

    @property
    def keeps(self) -> str | None:
        """What the channel was asked to leave as it is on average."""
        kept: str | None = dict(self.calibration.options).get("keep")
        return kept

    @property
    def gap(self) -> float | None:
        """By which share of its error the channel may be worse than the best; None where no bound is known."""
        if self.lower_bound is None:
            return None
        return 0.0 if self.error <= 0 else max(0.0, 1.0 - self.lower_bound / self.error)

    def to_dict(self) -> dict[str, Any]:
        """See `Facts.to_dict`."""
        return super().to_dict() | {
            "values": self.values,
            "error": self.error,
            "error_of": self.loss_name,
            "lower_bound": self.lower_bound,
            "share_changed": self.share_changed,
            "worst_odds": None if math.isinf(self.worst_odds) else self.worst_odds,
            "columns": [column.to_dict() for column in self.columns],
            "secrets": [{"name": s.name, "rows": s.rows, "mean": s.mean, "std": s.std} for s in self.secrets],
            "costs": [
                {"label": c.label, "promise": c.promise, "error": c.error, "changed": c.changed, "weaker": c.is_weaker}
                for c in self.costs
            ],
        }


def channel_facts(
    calibration: Calibration, *, question: str | None, compare: bool, certificate_sha256: str | None
) -> ChannelFacts:
    """The facts of a finite channel. `compare=False` leaves out what other ways would have cost."""
    channel, problem = _channel(calibration), calibration.problem
    mass = _shares(table_of(problem).mass)
    p, q = problem.ends(calibration.place)
    belief = calibration.beliefs[calibration.place.belief]
    answer = calibration.answer
    columns = column_facts(
        channel,
        mass,
        (_shares(channel.weights_of(p)), _shares(channel.weights_of(q))),
        None if answer is None else answer.columns,
    )
    return ChannelFacts(
        question=question_of(calibration) if question is None else question,
        calibration=calibration,
        loss=calibration.loss,
        secrets=tuple(_secret(name, belief[name], belief.rows.get(name)) for name in calibration.pairs.secrets),
        columns=columns,
        values=len(channel.inputs),
        loss_name=_loss_name(calibration, columns),
        error=calibration.error,
        lower_bound=calibration.lower_bound,
        share_changed=channel.share_changed(mass),
        worst_odds=worst_odds(calibration, channel),
        costs=_costs(calibration, channel, columns, mass)
        if compare and hasattr(calibration.guarantee, "alpha")
        else (),
        adversary=most_telling(calibration),
        pair_losses=pair_losses(calibration),
        beliefs=belief_losses(calibration),
        findings=calibration.findings,
        certificate_sha256=certificate_sha256,
    )


def _channel(calibration: Calibration) -> ListChannel:
    if calibration.channel.publishes != "values":
        raise InputError(f"a {type(calibration.channel).__name__} is told in another way")
    return calibration.channel.as_list()


def _shares(weights: Array) -> Array:
    scaled = weights / weights.max()  # weights near the largest float have no sum
    shares: Array = scaled / scaled.sum()
    return shares


def _secret(name: Hashable, law: Any, rows: int | None) -> LawFacts:
    if not is_shown(rows):
        return LawFacts(str(name), rows, None, None, None, None)
    most = int(np.argmax(law.weights))
    mean, std = (law.mean, law.std) if law.is_numeric else (None, None)
    return LawFacts(str(name), rows, mean, std, named(law.values[most]), float(law.probabilities[most]))


def _loss_name(calibration: Calibration, columns: tuple[ColumnFacts, ...]) -> str:
    asked = dict(calibration.options).get("loss")
    if asked is not None and not isinstance(asked, str):
        return "matrix"
    if len(columns) > 1:
        return "columns"
    return asked or ("square" if columns[0].is_numeric else "change")


def _costs(
    calibration: Calibration, channel: ListChannel, columns: tuple[ColumnFacts, ...], mass: Array
) -> tuple[Cost, ...]:
    only = columns[0] if len(columns) == 1 else None
    own = Cost(
        "This channel",
        str(calibration.guarantee),
        None if only is None else only.error,
        channel.share_changed(mass),
        is_chosen=True,
    )
    noises = [gaussian_noise(calibration, column, k) for k, column in enumerate(columns) if column.is_numeric]
    weaker = at_finite_order(calibration, channel, mass) if noises else None
    if only is None:  # that a column alone needs no noise says nothing about the row
        noises = [noise for noise in noises if noise is not None and noise.error]
    stronger = against_all_other_rows(calibration, channel, mass)
    ways = (own, replaced_at_random(calibration, channel), weaker, *noises, *stronger)
    return tuple(c for c in ways if c is not None)
