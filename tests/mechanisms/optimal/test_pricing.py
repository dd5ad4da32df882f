"""Branch and bound over blocks of outputs: the same moves and bounds as a look at every one, and in fractions."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from how_many import some_of
from takifugu.mechanisms.optimal import lower_bound
from takifugu.mechanisms.optimal.column_generation import Prices, lower_bound_by_columns
from takifugu.mechanisms.optimal.finite_problem import Cells
from takifugu.mechanisms.optimal.lower_bound import UNIT, Pricing
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram

ROUNDINGS = 100 * UNIT


def in_blocks(of=5):
    """Blocks however few the outputs are."""
    return patch.multiple(lower_bound, _BLOCK=of, _NEARBY=2, _FEWEST=1, _SPARSE=0)


def at_once():
    return patch.multiple(lower_bound, _FEWEST=10**9)


def cells_of(rng, size, columns, ties):
    """Values that occur once or several times, and losses with ties or without."""
    sizes = rng.integers(1, 7, size=columns)
    codes = np.array([rng.integers(0, entries, size=size) for entries in sizes])
    tables = []
    for entries in sizes:
        table = rng.integers(0, 4, size=(entries, entries)) * 1.0 if ties else rng.gamma(1.0, size=(entries, entries))
        np.fill_diagonal(table, 0.0)
        tables.append(table)
    return Cells(codes, codes, tuple(tables), tuple(rng.integers(0, 2, size=columns) == 1))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    size = draw(st.integers(2, 70))
    cells = cells_of(rng, size, draw(st.integers(1, 4)), draw(st.booleans()))
    outputs = np.sort(rng.choice(size, draw(st.integers(1, size)), replace=False))
    count = draw(st.integers(0, 4))
    laws, rate = rng.dirichlet(np.full(size, 0.3), size=count) * size, rng.choice([0.0, 0.3, 1.0], size)
    prices = draw(st.sampled_from([0.0, 1e-3, 1.0, 1e3])) * rng.normal(size=(count, len(outputs)))
    kept = rng.normal(size=len(outputs)) if draw(st.booleans()) else None
    return rng, cells, outputs, rate, laws, prices, kept


def all_costs(cells, outputs, rate, laws, prices, kept):
    """Of every move, from the statement alone."""
    loss = cells.between(np.arange(len(rate)), outputs)
    return rate[:, None] * (loss + (0 if kept is None else kept)) + laws.T @ prices


@settings(max_examples=some_of(300))
@given(problems(), st.sampled_from([2, 5, 40]), st.integers(1, 14), st.sampled_from([-0.5, 0.5, np.inf]))
def test_blocks_leave_nothing_out_that_is_cheap(problem, block, number, beyond):
    rng, cells, outputs, rate, laws, prices, kept = problem
    costs = all_costs(cells, outputs, rate, laws, prices, kept)
    below = costs.min(axis=1) + beyond * rng.uniform(0, 2, size=len(rate)) if np.isfinite(beyond) else beyond
    below = np.broadcast_to(below, len(rate))
    with in_blocks(block):
        found = Pricing(cells, outputs, rate=rate, laws=laws).cheapest(prices, below=below, number=number, kept=kept)
    size = np.abs(costs).max() + 1
    assert found.least == pytest.approx(costs.min(axis=1), abs=1e-12 * size)
    sources, places = found.moves // len(outputs), found.moves % len(outputs)
    assert len(np.unique(found.moves)) == len(found.moves)
    for x in range(len(rate)):
        named = np.sort(costs[x, places[sources == x]])
        wanted = np.sort(costs[x])[:number]
        clearly = wanted[wanted < below[x] - 1e-9 * size]
        assert named[: len(clearly)] == pytest.approx(clearly, abs=1e-12 * size)
        assert (named <= below[x] + 1e-9 * size).all()
        assert len(named) <= number


@settings(max_examples=some_of(150))
@given(problems(), st.sampled_from([2, 5, 40]))
def test_what_is_proved_is_below_every_move_in_fractions(problem, block):
    _, cells, outputs, rate, laws, prices, kept = problem
    with in_blocks(block):
        proved = Pricing(cells, outputs, rate=rate, laws=laws).least_proved(prices, roundings=ROUNDINGS, kept=kept)
    exact = np.vectorize(Fraction, otypes=[object])
    count, width = len(rate), len(outputs)
    loss = exact(np.zeros((count, width)))
    for code, told, table in zip(cells.codes, cells.published, cells.tables, strict=True):
        loss = loss + exact(table)[np.ix_(code, told[outputs])]
    if kept is not None:
        loss = loss + exact(kept)
    costs = exact(rate)[:, None] * loss
    for law, price in zip(laws, prices, strict=True):
        costs = costs + exact(law)[:, None] * exact(price)
    least = costs.min(axis=1)
    assert all(Fraction(told) <= cost for told, cost in zip(proved.tolist(), least, strict=True))
    size = np.abs(costs.astype(float)).max() + 1
    assert proved == pytest.approx(least.astype(float), abs=1e-11 * size)


@settings(max_examples=some_of(40))
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1e-6, 1.0, 1e300]))
def test_the_bound_does_not_hang_on_the_blocks(seed, keeps, size):
    rng = np.random.default_rng(seed)
    cells = cells_of(rng, 60, 3, ties=False)
    laws = rng.dirichlet(np.ones(60), size=3)
    program = ColumnProgram(laws, ((0, 1, 2),), laws.mean(axis=0), cells, 2.0, 0.0, np.zeros(3), keeps)
    prices = Prices(size * rng.normal(size=(3, 60)), size * rng.normal(size=60) if keeps else np.zeros(0))
    with at_once():
        every = lower_bound_by_columns(program, prices)
    with in_blocks():
        blocks = lower_bound_by_columns(program, prices)
    assert blocks == pytest.approx(every, rel=1e-9, abs=1e-9)


def test_what_overflows_proves_nothing():
    rng = np.random.default_rng(1)
    cells = cells_of(rng, 40, 2, ties=False)
    prices = np.where(np.arange(40) % 2, 1e308, -1e308) * np.ones((3, 1))
    laws = np.ones((3, 40))
    with in_blocks(), np.errstate(all="ignore"):
        found = Pricing(cells, np.arange(40), rate=np.ones(40), laws=laws).least_proved(prices, roundings=ROUNDINGS)
    assert not np.isfinite(found).any()


def test_most_moves_between_thousands_of_values_are_not_looked_at():
    rng = np.random.default_rng(0)
    grid = np.array(np.unravel_index(np.arange(4_000), (20, 20, 10)))
    line = np.subtract.outer(np.arange(20.0), np.arange(20.0)) ** 2
    cells = Cells(grid, grid, (line, line, line[:10, :10]), (True, True, True))
    looked_at = []

    def counted(offers, some, places):
        found = plain(offers, some, places)
        looked_at.append(found.size)
        return found

    plain = lower_bound._Offers.values
    laws = rng.dirichlet(np.ones(4_000), size=2) * 4_000
    prices = rng.normal(size=(2, 4_000))
    with patch.object(lower_bound._Offers, "values", counted):
        found = Pricing(cells, np.arange(4_000), rate=np.ones(4_000), laws=laws).cheapest(
            prices, below=np.full(4_000, np.inf), number=12
        )
    assert len(found.moves) == 12 * 4_000
    assert sum(looked_at) < 4_000**2 / 4
