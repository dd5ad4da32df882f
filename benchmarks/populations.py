"""Populations whose joint law is known exactly, made to be hard to protect: ten kinds, each of many shapes.

A population is the joint distribution of a secret, of the columns to publish and of what an adversary may know, as an
array of probabilities; None among the values of a column is a missing value. What `publish` is asked for, and how many
rows are drawn, belong to it. `population(number)` is always the same population.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import takifugu as tk

Array = np.ndarray
Random = np.random.Generator
Columns = dict[str, tuple[Any, ...]]
SEED = 29
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Population:
    """P(secret, other columns), the first axis being the secret, and what is asked of `publish`."""

    kind: str
    shape: str
    columns: Columns
    law: Array
    rows: int
    asked: dict[str, Any]
    visits: int = 1  # rows of a person, independent given the secret


@dataclass(frozen=True)
class Made:
    """The parts of a population: P(secret), P(columns given the secret), and what is asked beside the guarantee."""

    shape: str
    shares: Array
    columns: Columns
    law: Array
    rows: int
    asked: dict[str, Any] = field(default_factory=dict)
    visits: int = 1


def population(number: int) -> Population:
    """The population of a number: its kind is the number's last digit."""
    rng = np.random.default_rng([SEED, number])
    kind, make = list(KINDS.items())[number % len(KINDS)]
    made = make(rng)
    law = made.shares.reshape(-1, *[1] * (made.law.ndim - 1)) * made.law
    columns = {"secret": secrets(len(made.shares)), **made.columns}
    published = [name for name in made.columns if name.startswith("x")]
    asked = {"secret": "secret", "columns": published} | made.asked | _guarantee(rng, made.visits)
    return Population(kind, made.shape, columns, law / law.sum(), made.rows, asked, made.visits)


def _guarantee(rng: Random, visits: int) -> dict[str, Any]:
    """Odds of 3 in most cases, of 2 or 5, or a finite order. Each row of a person has a share of it."""
    if rng.random() < 0.85:
        return {"odds": float(rng.choice([3.0, 2.0, 5.0], p=[0.6, 0.2, 0.2])) ** (1 / visits)}
    return {"alpha": float(rng.choice([2.0, 3.0, 8.0])), "epsilon": float(rng.choice([0.3, 0.7, 1.0])) / visits}


# ---- parts of a population


def _log_uniform(rng: Random, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def _rows(rng: Random, low: int = 80, high: int = 3_000) -> int:
    return round(_log_uniform(rng, low, high))


def secrets(number: int) -> tuple[str, ...]:
    """The names of so many secrets."""
    return tuple(f"s{k}" for k in range(number))


def _labels(number: int) -> tuple[str, ...]:
    return tuple(LETTERS[:number])


def _shares(rng: Random, number: int, rare: float | None = None) -> Array:
    """How frequent the secrets are; with `rare` the last of them has this share."""
    if rare is None:
        return rng.dirichlet(np.full(number, 4.0))
    rest = rng.dirichlet(np.full(number - 1, 4.0))
    return np.append(rest * (1 - rare), rare)


def _mild(rng: Random, number: int, values: int) -> Array:
    """Alike but for a little."""
    base = rng.dirichlet(np.full(values, 1.5))
    return rng.dirichlet(30 * base + 1e-3, number)


def _flat(rng: Random, number: int, values: int) -> Array:
    return rng.dirichlet(np.ones(values), number)


def _spiky(rng: Random, number: int, values: int) -> Array:
    return rng.dirichlet(np.full(values, 0.3), number)


def _concentrated(rng: Random, number: int, values: int) -> Array:
    """Nearly everybody has the same value, and the few others have different ones."""
    law = rng.dirichlet(np.ones(values - 1), number)
    away = np.array([_log_uniform(rng, 0.002, 0.1) for _ in range(number)])[:, None]
    return np.concatenate([1 - away, away * law], axis=1)


def _near_zero(rng: Random, number: int, values: int) -> Array:
    """Half of the probabilities are next to nothing, others for each secret."""
    law = rng.dirichlet(np.ones(values), number)
    law *= np.where(rng.random(law.shape) < 0.5, 10 ** -rng.uniform(1, 4, law.shape), 1.0)
    return law / law.sum(axis=1, keepdims=True)


def _one_sided(rng: Random, number: int, values: int) -> Array:
    """A value or two that a single secret has."""
    law = _mild(rng, number, values)
    for value in range(values - 1 - (values > 3), values):
        share = _log_uniform(rng, 0.001, 0.1)
        law[:, value] = 0
        law /= law.sum(axis=1, keepdims=True)
        who = rng.integers(number)
        law[who] *= 1 - share
        law[who, value] = share
    return law


def _derived(rng: Random, number: int, values: int) -> Array:
    """A code of the secret, wrong now and then."""
    wrong = _log_uniform(rng, 0.001, 0.3)
    code = np.eye(values)[np.arange(number) % values]
    return (1 - wrong) * code + wrong * rng.dirichlet(np.ones(values), number)


def _bells(rng: Random, number: int, values: int) -> Array:
    """Numbers, each secret's around a centre of its own; far ends that hardly anybody has."""
    at = np.arange(values)
    centre = values * rng.uniform(0.25, 0.75, (number, 1))
    width = values * rng.uniform(0.06, 0.25, (number, 1))
    law = np.exp(-0.5 * ((at - centre) / width) ** 2) + 1e-12
    return law / law.sum(axis=1, keepdims=True)


def _at_the_edge(rng: Random, number: int, values: int) -> Array:
    """Odds that lie about where the guarantee does, so that a sample may say either."""
    law = np.repeat(rng.dirichlet(np.full(values, 2.0))[None], number, axis=0)
    law *= _log_uniform(rng, 2, 4) ** rng.choice([0.0, 0.5, 1.0], law.shape)
    return law / law.sum(axis=1, keepdims=True)


SHAPES: tuple[Callable[[Random, int, int], Array], ...] = (
    _mild,
    _flat,
    _spiky,
    _concentrated,
    _near_zero,
    _one_sided,
    _derived,
    _bells,
    _at_the_edge,
)


def _laws(rng: Random, number: int, values: int) -> tuple[str, Array]:
    """One law on the values for each secret, of a shape drawn at random."""
    make = SHAPES[rng.integers(len(SHAPES))]
    return make.__name__.strip("_").replace("_", " "), make(rng, number, values)


def _exclusive_or(rng: Random, number: int) -> Array:
    """Two columns, neither of which tells anything: together they tell nearly all. P(x1, x2 given the secret)."""
    right = 1 - _log_uniform(rng, 0.005, 0.3)
    law = np.empty((number, 2, 2))
    for s in range(number):
        for first in range(2):
            for second in range(2):
                law[s, first, second] = 0.5 * (right if (first ^ second) == s % 2 else 1 - right)
    return law


def _joint(rng: Random, number: int) -> tuple[str, Columns, Array]:
    """Two published columns: independent, one leaning on the other, or only together telling."""
    which = rng.integers(3)
    if which == 0:
        return "exclusive or", {"x1": _labels(2), "x2": _labels(2)}, _exclusive_or(rng, number)
    first, second = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    columns = {"x1": _labels(first), "x2": tuple(range(second))}
    if which == 1:
        shape, law = _laws(rng, number, first)
        return f"{shape} × mild", columns, law[:, :, None] * _mild(rng, number, second)[:, None, :]
    shape, law = _laws(rng, number, first * second)
    return f"joint {shape}", columns, law.reshape(number, first, second)


def _published(rng: Random, number: int, *, joint: float = 0.25) -> tuple[str, Columns, Array]:
    """What is published, one column or two: its shape, the columns' values, P(values given the secret)."""
    if rng.random() < joint:
        return _joint(rng, number)
    values = int(rng.integers(2, 13))
    shape, law = _laws(rng, number, values)
    return shape, {"x": tuple(range(values)) if shape == "bells" or rng.random() < 0.3 else _labels(values)}, law


# ---- the kinds


def skewed_groups(rng: Random) -> Made:
    """Two or three secrets, one of which has between 0.5 and 10 % of the rows."""
    number, rare = int(rng.integers(2, 4)), _log_uniform(rng, 0.005, 0.1)
    shape, columns, law = _published(rng, number)
    return Made(shape, _shares(rng, number, rare), columns, law, max(_rows(rng), round(6 / rare)))


def two_to_eight_secrets(rng: Random) -> Made:
    """Many secrets, in half of the cases one that is rare."""
    number = int(rng.integers(2, 9))
    rare = _log_uniform(rng, 0.005, 0.05) if rng.random() < 0.5 and number > 2 else None
    rows = max(_rows(rng), 15 * number, 0 if rare is None else round(5 / rare))
    shape, columns, law = _published(rng, number, joint=0.15)
    return Made(shape, _shares(rng, number, rare), columns, law, rows)


def rare_categories(rng: Random) -> Made:
    """Categories that a handful of rows have, or none that were drawn, mostly of one secret."""
    number, rows, values, rare = int(rng.integers(2, 5)), _rows(rng), int(rng.integers(2, 6)), int(rng.integers(1, 9))
    few = np.array([[_log_uniform(rng, 0.1, 20) / rows for _ in range(rare)] for _ in range(number)])
    few *= rng.random(few.shape) < rng.choice([0.4, 1.0])  # some in one secret alone
    few *= np.minimum(1, 0.5 / np.maximum(few.sum(axis=1, keepdims=True), 1e-9))
    law = np.concatenate([_mild(rng, number, values) * (1 - few.sum(axis=1, keepdims=True)), few], axis=1)
    columns = {"x": _labels(values + rare)}
    if rng.random() < 0.6:
        return Made(f"{rare} rare", _shares(rng, number), columns, law, rows)
    # A public list, with values that nobody in the table has.
    return Made(f"{rare} rare, listed", _shares(rng, number), columns, law, rows, {"domain": {"x": list(columns["x"])}})


def _cells(rng: Random, number: int, cells: int) -> Array:
    """P(cell given the secret): some cells of a row or three, or of none of one secret."""
    spread = rng.dirichlet(np.ones(cells), number) if rng.random() < 0.5 else _mild(rng, number, cells)
    if rng.random() < 0.5:
        spread[:, -1] *= _log_uniform(rng, 0.005, 0.2)
    return spread / spread.sum(axis=1, keepdims=True)


def _by_cells(rng: Random, number: int, cells: int, values: int) -> tuple[str, Array]:
    """P(values given cell and secret), by cells; how much cells differ is drawn too."""
    which = rng.integers(4)
    if which == 0:  # alike in all cells
        shape, law = _laws(rng, number, values)
        return f"cells alike, {shape}", np.repeat(law[None], cells, axis=0)
    if which == 1:  # a little apart
        shape, law = _laws(rng, number, values)
        each = np.stack([rng.dirichlet(40 * one + 1e-2, cells) for one in law], axis=1)
        return f"cells apart, {shape}", each
    if which == 2:  # each as it likes
        return "Beta(.5, .5) cells", rng.dirichlet(np.full(values, 0.5), (cells, number))
    shape, law = _laws(rng, number, values)
    made = np.stack([np.roll(law, 1, axis=0) if rng.random() < 0.4 else law for _ in range(cells)])
    return f"secrets swapped, {shape}", made


def _with_cells(rng: Random, number: int, names: list[str], *, most: int) -> tuple[str, Columns, Array]:
    """Columns that make cells, and a published one: P(cells and values given the secret)."""
    sizes = [int(rng.integers(2, most + 1)) for _ in names]
    cells, values = math.prod(sizes), int(rng.integers(2, 7))
    spread = _cells(rng, number, cells)
    shape, law = _by_cells(rng, number, cells, values)
    joint = (spread[:, :, None] * law.transpose(1, 0, 2)).reshape(number, *sizes, values)
    columns = {name: tuple(f"{name}{k}" for k in range(size)) for name, size in zip(names, sizes, strict=True)}
    return shape, {**columns, "x": _labels(values)}, joint


def known_cells(rng: Random) -> Made:
    """An adversary who knows one column or two."""
    number, names = int(rng.integers(2, 4)), ["u", "v"][: int(rng.integers(1, 3))]
    shape, columns, law = _with_cells(rng, number, names, most=6 if len(names) == 1 else 3)
    return Made(shape, _shares(rng, number), columns, law, _rows(rng, 150), {"known": names})


def kept_columns(rng: Random) -> Made:
    """A column that is published as it is beside the others, in some cases with one that is known."""
    number, both = int(rng.integers(2, 4)), rng.random() < 0.4
    shape, columns, law = _with_cells(rng, number, ["u", "v"] if both else ["u"], most=3 if both else 6)
    asked = {"keep": ["u"]} | ({"known": ["v"]} if both else {})
    return Made(shape, _shares(rng, number), columns, law, _rows(rng, 150), asked)


def _known_or_kept(rng: Random) -> dict[str, Any]:
    return {"known": ["u"]} if rng.random() < 0.6 else {"keep": ["u"]}


def _leaning(rng: Random, values: int, at: int, low: float, high: float) -> Array:
    """A law that leans to the value at a place."""
    top = rng.uniform(low, high)
    rest = (1 - top) * rng.dirichlet(np.ones(values - 1))
    return np.append(rest, top) if at == -1 else np.insert(rest, at, top)


def reversals(rng: Random) -> Made:
    """What goes with one secret in the large cells goes with the other in a small one of 1 to 60 rows a secret."""
    cells, values, small = int(rng.integers(2, 7)), int(rng.integers(2, 5)), int(rng.integers(1, 3))
    small = min(small, cells - 1)
    high, low = (_leaning(rng, values, at, 0.6, 0.95) for at in (0, -1))
    far, farther = (_leaning(rng, values, at, 0.8, 0.998) for at in (-1, 0))
    law = np.repeat(np.stack([high, low])[None], cells, axis=0)
    how = str(rng.choice(["exchanged", "one is another", "alike elsewhere", "others"], p=[0.5, 0.2, 0.15, 0.15]))
    if how == "exchanged":
        law[-small:, 0], law[-small:, 1] = far, farther
    elif how == "one is another":
        law[-small:, 0] = far
    elif how == "alike elsewhere":
        law[:, 0] = law[:, 1] = (high + low) / 2
        law[-small:, 0], law[-small:, 1] = far, farther
    else:
        law[-small:] = rng.dirichlet(np.full(values, 0.4), (small, 2))
    rows = _rows(rng, 200)
    in_small = _log_uniform(rng, 1, 60) * 2 / rows
    spread = np.full((2, cells), 1.0)
    spread[:, -small:] = min(0.3, in_small) * cells
    spread *= rng.uniform(0.5, 1.5, spread.shape)
    spread /= spread.sum(axis=1, keepdims=True)
    columns = {"u": tuple(f"u{k}" for k in range(cells)), "x": _labels(values)}
    joint = spread[:, :, None] * law.transpose(1, 0, 2)
    return Made(f"{small} of {cells}, {how}", _shares(rng, 2), columns, joint, rows, _known_or_kept(rng))


def secrets_left_out(rng: Random) -> Made:
    """Secrets too rare to be hidden, whose rows are not published."""
    number, left, rows = int(rng.integers(4, 9)), int(rng.integers(1, 3)), _rows(rng, 200)
    shares = rng.dirichlet(np.full(number, 4.0))
    shares[-left:] *= _log_uniform(rng, 0.01, 0.3)
    asked: dict[str, Any] = {"leave_out": list(secrets(number)[-left:])}
    if rng.random() < 0.7:
        shape, columns, law = _published(rng, number)
    else:
        shape, columns, law = _with_cells(rng, number, ["u"], most=3)
        asked |= _known_or_kept(rng)
    return Made(shape, shares, columns, law, rows, asked)


def not_at_random(rng: Random) -> Made:
    """Values that are missing more often for some secrets, values or cells; in the published columns or in a known."""
    number, rows, asked = int(rng.integers(2, 4)), _rows(rng, 150), {}
    if rng.random() < 0.5:
        name, (shape, columns, law) = "published", _published(rng, number, joint=0.3)
        lacking, axis = list(columns)[-1], -1
    else:
        name, (shape, columns, law) = "known", _with_cells(rng, number, ["u"], most=4)
        lacking, axis, asked = "u", 1, _known_or_kept(rng)
    gone = rng.beta(0.6, 3, law.shape) * rng.choice([0.3, 1.0])
    law = np.concatenate([law * (1 - gone), (law * gone).sum(axis=axis, keepdims=True)], axis=axis)
    columns = columns | {lacking: (*columns[lacking], None)}
    return Made(f"{name}, {shape}", _shares(rng, number), columns, law, rows, asked)


def binned_columns(rng: Random) -> Made:
    """Numbers, published in bins of the user's or of the library's, or known in bins."""
    number, rows = int(rng.integers(2, 4)), _rows(rng, 150)
    shares = _shares(rng, number, _log_uniform(rng, 0.03, 0.3) if rng.random() < 0.5 else None)
    shape = str(rng.choice(["known in bins", "published in bins", "many numbers"]))
    if shape == "known in bins":
        law, columns = _by_age(rng, number)
        return Made(shape, shares, columns, law, rows, {"known": [_cuts(rng, "age", len(columns["age"]), most=3)]})
    size = int(rng.integers(20, 60) if shape == "published in bins" else rng.integers(90, 200))
    law = _bells(rng, number, size)
    if rng.random() < 0.4:  # a second bell, of one secret alone
        law[0] = (1 - (share := _log_uniform(rng, 0.005, 0.1))) * law[0] + share * _bells(rng, 1, size)[0]
    asked = {"columns": [_cuts(rng, "x", size, most=6)]} if shape == "published in bins" else {}
    return Made(shape, shares, {"x": tuple(range(size))}, law, rows, asked)


def _by_age(rng: Random, number: int, ages: int = 40) -> tuple[Array, Columns]:
    """Ages, and values of which the first becomes rarer or more frequent with age, for each secret in its own way."""
    values = int(rng.integers(2, 5))
    slope = np.linspace(-1, 1, ages)[None, :] * rng.uniform(-1, 1, (number, 1))
    first = np.clip(rng.uniform(0.3, 0.9) + 0.4 * slope, 0.02, 0.98)[:, :, None]
    rest = rng.dirichlet(np.ones(values - 1), number)[:, None, :]
    law = np.concatenate([first, (1 - first) * rest], axis=2)
    return _bells(rng, number, ages)[:, :, None] * law, {"age": tuple(range(ages)), "x": _labels(values)}


def _cuts(rng: Random, column: str, size: int, *, most: int) -> str:
    places = rng.choice(np.arange(2, size - 2), int(rng.integers(1, most + 1)), replace=False)
    return tk.binned(column, sorted(places.tolist()))


def families(rng: Random) -> Made:
    """People with two or three rows, of which one is made where they depend on one another."""
    number, visits = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    shape = str(rng.choice(["exclusive or", "of two types", "as they like", "independent"]))
    shares, rows = _shares(rng, number), _rows(rng, 150)
    if shape == "independent":
        of_row, columns, law = _published(rng, number)
        asked = {"id": "person", "repeats": "independent"}
        return Made(f"{shape}, {of_row}", shares, columns, law, rows * visits, asked, visits)
    values = 2 if shape == "exclusive or" else int(rng.integers(2, 4))
    if shape == "exclusive or":
        law = _exclusive_or(rng, number)
    elif shape == "of two types":
        of_type, each = rng.dirichlet(np.ones(2), number), np.stack([_laws(rng, number, values)[1] for _ in range(2)])
        law = np.einsum("st,tsx,tsy->sxy" if visits == 2 else "st,tsx,tsy,tsz->sxyz", of_type, *[each] * visits)
    else:
        law = rng.dirichlet(np.full(values**visits, 0.5), number).reshape(number, *[values] * visits)
    columns = {f"x{k}": _labels(size) for k, size in enumerate(law.shape[1:], start=1)}
    return Made(shape, shares, columns, law, rows, {"id": "person"})


KINDS: dict[str, Callable[[Random], Made]] = {
    "skewed groups": skewed_groups,
    "reversals": reversals,
    "rare categories": rare_categories,
    "two to eight secrets": two_to_eight_secrets,
    "keep": kept_columns,
    "known": known_cells,
    "leave_out": secrets_left_out,
    "missing, not at random": not_at_random,
    "binned columns": binned_columns,
    "families": families,
}
