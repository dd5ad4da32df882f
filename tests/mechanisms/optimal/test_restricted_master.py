"""Column generation with a warm solver: beside one linear program that has every move, written down from the text."""

import itertools
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.divergences import Masses, within_odds
from takifugu.errors import InputError, MechanismError
from takifugu.laws import Finite
from takifugu.mechanisms.optimal.column_generation import Moves, Prices, fit, lower_bound_by_columns, resampled
from takifugu.mechanisms.optimal.finite_problem import Cells, table_of
from takifugu.mechanisms.optimal.restricted_master import ColumnProgram, by_levels, coarser, covering, once_more

ROWS = tuple(itertools.product(range(6), range(4)))


def program_of(seed, *, rows=ROWS, groups=((0, 1),), odds=2.0, keeps=False, shape=0.5, lean=0.0):
    rng = np.random.default_rng(seed)
    count = 1 + max(law for group in groups for law in group)
    laws = rng.dirichlet(np.full(len(rows), shape), size=count)
    # Solvers see nothing below their tolerance of 1e-7; what comes of smaller masses is repaired and proved elsewhere.
    laws = (1 - 1e-5) * laws + 1e-5 / len(rows)
    mass = rng.dirichlet(np.ones(count)) @ laws
    floor = np.full(count, 0.01 * lean)
    return ColumnProgram(laws, groups, mass, Cells.of(rows, mass), odds, lean, floor, keeps)


def by_one_program(program):
    """The least cost there is, by SciPy's `linprog` with every pair, output and move."""
    from scipy.optimize import linprog

    n = program.size
    loss = program.cells.between(np.arange(n), np.arange(n))
    above = []
    for group in program.groups:
        for i, j in itertools.permutations(group, 2):
            for y in range(n):
                row = np.zeros((n, n))
                row[:, y] = program.laws[i] - program.odds * program.laws[j]
                above.append(row.ravel())
    equal = [np.kron(np.eye(n)[x], np.ones(n)) for x in range(n)]
    limit = [1.0] * n
    if program.keeps_marginal:
        equal += [np.kron(program.mass, np.eye(n)[y]) for y in range(n)]
        limit += program.mass.tolist()
    found = linprog(
        (program.mass[:, None] * loss).ravel(),
        A_ub=np.array(above),
        b_ub=np.zeros(len(above)),
        A_eq=np.array(equal),
        b_eq=np.array(limit),
    )
    assert found.status == 0
    # Constraints may be off by 1e-7, and the least cost by as much times what each is worth.
    worth = np.abs(found.ineqlin.marginals).sum() + np.abs(found.eqlin.marginals).sum()
    return found.fun, 1e-7 * float(worth)


def published(program, found):
    out = np.zeros(program.laws.shape)
    for law, line in zip(program.laws, out, strict=True):
        np.add.at(line, found.targets, law[found.sources] * found.shares)
    return out


def cost_of(program, found):
    lost = program.cells.along(found.sources, found.targets)
    return float((program.mass[found.sources] * found.shares) @ lost)


def check(program, found):
    """What a solver's answer has to be before it is repaired: rows of probability, odds and marginal up to floats."""
    assert np.bincount(found.sources, weights=found.shares) == pytest.approx(np.ones(program.size))
    out = published(program, found)
    for group in program.groups:
        part = out[list(group)]
        assert (part.max(axis=0) <= program.odds * part.min(axis=0) * (1 + 1e-6) + 1e-9).all()
    if program.keeps_marginal:
        spread = np.bincount(found.targets, weights=program.mass[found.sources] * found.shares, minlength=program.size)
        assert np.abs(spread - program.mass).sum() <= 1e-8


GROUPS = st.sampled_from([((0, 1),), ((0, 1, 2),), ((0, 1, 2, 3),), ((0, 1), (0, 2)), ((0, 1, 2, 3, 4), (5, 6))])


@settings(max_examples=some_of(20))
@given(
    st.integers(0, 10_000), GROUPS, st.sampled_from([1.05, 2.0, 20.0]), st.booleans(), st.sampled_from([0.05, 0.5, 5.0])
)
def test_the_cost_is_that_of_one_program_with_every_move(seed, groups, odds, keeps, shape):
    program = program_of(seed, groups=groups, odds=odds, keeps=keeps, shape=shape)
    best, doubt = by_one_program(program)
    found = by_levels(program, np.random.default_rng(0), rounds=30)
    check(program, found)
    assert best * (1 - 1e-6) - 1e-9 <= cost_of(program, found) <= best * 1.003 + 1e-6
    bound = lower_bound_by_columns(program, Prices(found.prices, found.kept))
    assert best * 0.997 - 1e-6 <= bound <= best + doubt + 1e-12


MANY = tuple(itertools.product(range(20), range(20)))


@settings(max_examples=some_of(6))
@given(st.integers(0, 10_000), st.sampled_from([((0, 1),), ((0, 1, 2),)]), st.booleans())
def test_levels_lead_to_a_channel_that_is_proved_good(seed, groups, keeps):
    program = program_of(seed, rows=MANY, groups=groups, odds=3.0, keeps=keeps)
    found = by_levels(program, np.random.default_rng(0), rounds=30)
    check(program, found)
    cost, bound = cost_of(program, found), lower_bound_by_columns(program, Prices(found.prices, found.kept))
    assert bound <= cost <= bound * 1.005
    begun_there = once_more(program, found, rounds=30)
    assert cost_of(program, begun_there) <= cost * 1.005


@pytest.mark.parametrize("keeps", [False, True])
def test_what_is_lifted_keeps_the_odds_and_the_marginal(keeps):
    program = program_of(3, rows=MANY, groups=((0, 1, 2),), keeps=keeps)
    level = coarser(program, np.random.default_rng(1))
    assert np.array_equal(np.sort(np.concatenate(level.members)), np.arange(program.size))
    assert all((level.group[inside] == place).all() for place, inside in enumerate(level.members))
    lifted = level.lifted(by_levels(level.program, np.random.default_rng(1), rounds=30))
    check(program, lifted)
    assert cost_of(program, lifted) >= cost_of(program, once_more(program, lifted, rounds=30))


@settings(max_examples=some_of(15))
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 50.0]), GROUPS)
def test_rounding_never_raises_a_bound_with_the_marginal(seed, size, groups):
    program = program_of(seed, groups=groups, keeps=True)
    found = by_levels(program, np.random.default_rng(0), rounds=30)
    rng = np.random.default_rng(seed + 1)
    kept = found.kept + size * rng.normal(size=found.kept.shape)
    prices = found.prices + 0.01 * size * rng.normal(size=found.prices.shape)
    row = 0
    for group in program.groups:
        part = prices[row : row + len(group)]
        above, below = np.maximum(part, 0).sum(axis=0), np.maximum(-part, 0).sum(axis=0)
        share = np.minimum(1, 0.999 * below / np.maximum(program.odds * above, 1e-300))
        prices[row : row + len(group)] = np.where(part > 0, part * share, part)
        row += len(group)
    claimed = lower_bound_by_columns(program, Prices(prices, kept))
    exact = exact_bound(program, prices, kept)
    assert claimed <= exact
    assert claimed == pytest.approx(float(exact), rel=1e-9, abs=1e-10)


def exact_bound(program, prices, kept):
    """Σ_x min_y [m(x)ℓ(x, y) + Σ_s π_s(y) P_s(x) + m(x)μ(y)] − Σ_y μ(y)m(y), in fractions of the floats given."""
    exact = [[Fraction(x) for x in line] for line in prices.tolist()]
    mass, tilt = ([Fraction(x) for x in line.tolist()] for line in (program.mass, kept))
    laws = [[Fraction(x) for x in law.tolist()] for law in program.laws[program.members]]
    tables = [[[Fraction(x) for x in line] for line in table.tolist()] for table in program.cells.tables]
    codes, n = program.cells.codes.tolist(), program.size
    total = -sum(a * b for a, b in zip(tilt, mass, strict=True))
    for x in range(n):
        total += min(
            mass[x] * (sum(t[c[x]][c[y]] for t, c in zip(tables, codes, strict=True)) + tilt[y])
            + sum(line[y] * law[x] for line, law in zip(exact, laws, strict=True))
            for y in range(n)
        )
    return max(total, Fraction(0))


def test_a_price_of_the_marginal_is_for_programs_that_keep_it():
    program = program_of(0, keeps=True)
    none = np.zeros((2, program.size))
    with pytest.raises(InputError, match="kept"):
        lower_bound_by_columns(program, Prices(none))
    with pytest.raises(InputError, match="kept"):
        lower_bound_by_columns(replace(program, keeps_marginal=False), Prices(none, np.zeros(program.size)))
    assert lower_bound_by_columns(program, Prices(none, np.full(program.size, 1e308))) == 0.0  # not finite proves none


def test_values_that_hardly_anybody_has_are_published_too():
    program = program_of(1)
    laws = program.laws.copy()
    laws[:, 5], laws[0, 6], laws[:, 7] = 0.0, 1e-300, 1e-14
    laws /= laws.sum(axis=1, keepdims=True)
    found = by_levels(replace(program, laws=laws, mass=laws.mean(axis=0)), np.random.default_rng(0), rounds=30)
    check(replace(program, laws=laws), found)


def test_a_value_that_the_solver_leaves_out_goes_somewhere():
    rng = np.random.default_rng(400)
    rows = list(itertools.product(range(5), "pqrs"))
    laws = {s: Finite(rows, rng.dirichlet(np.full(len(rows), 0.1)) * 100) for s in "ab"}
    found = tk.calibrate(laws, odds=1.5, options={"solver": "columns", "rounds": 2})
    best = tk.calibrate(laws, odds=1.5, preserve=None)
    assert best.lower_bound * (1 - 1e-6) <= found.error <= 1.003 * best.error + 1e-4


def laws_of(seed):
    rng = np.random.default_rng(seed)
    return {s: Finite(ROWS, rng.dirichlet(np.full(len(ROWS), 0.5)) * 50) for s in "abc"}


@settings(max_examples=some_of(10))
@given(st.integers(0, 10_000), st.sampled_from([1.2, 3.0]))
def test_the_marginal_is_preserved_at_the_cost_of_the_best_channel(seed, odds):
    laws = laws_of(seed)
    found = tk.calibrate(laws, odds=odds, preserve="marginal", options={"solver": "columns"})
    best = tk.calibrate(laws, odds=odds, preserve="marginal", options={"solver": "program"})
    assert best.lower_bound * (1 - 1e-6) <= found.error <= 1.003 * best.error + 1e-4
    assert found.lower_bound <= best.error * (1 + 1e-9)
    assert spread_of(found) <= 1e-6


def test_the_bound_with_the_marginal_is_certified(tmp_path):
    found = tk.calibrate(laws_of(4), odds=1.5, preserve="marginal", options={"solver": "columns"})
    tk.certify(found).save(tmp_path / "certificate.json")
    proved = tk.verify(tmp_path / "certificate.json")
    assert proved.lower_bound == found.lower_bound > 0.95 * found.error
    text = (tmp_path / "certificate.json").read_text()
    assert '"kept"' in text


def spread_of(found):
    """The total variation between true and published values, from the channel alone."""
    mass = table_of(found.problem).mass
    place = {value: k for k, value in enumerate(found.channel.inputs)}
    whole = np.zeros(len(mass))
    whole[[place[value] for value in found.channel.outputs]] = found.channel.through(mass[None, :] / mass.sum())[0]
    return np.abs(whole - mass / mass.sum()).sum() / 2


@settings(max_examples=some_of(10))
@given(st.integers(0, 10_000), st.sampled_from([1.2, 3.0]), st.sampled_from(["square", "absolute", "change"]))
def test_sampling_anew_preserves_the_marginal_at_twice_the_cost(seed, odds, loss):
    rng = np.random.default_rng(seed)
    laws = {s: Finite(range(12), rng.dirichlet(np.full(12, 0.5)) * 50) for s in "ab"}
    free, kept = (
        tk.calibrate(laws, odds=odds, preserve=keep, utility=tk.Utility(loss=loss), options={"solver": "columns"})
        for keep in (None, "marginal")
    )
    with patch("takifugu.mechanisms.optimal.mechanism.can_preserve", lambda *_: False):
        anew = tk.calibrate(
            laws, odds=odds, preserve="marginal", utility=tk.Utility(loss=loss), options={"solver": "columns"}
        )
    assert spread_of(anew) <= 1e-6
    assert kept.lower_bound <= anew.error <= 2 * free.error * (1 + 1e-4) + 1e-6
    assert kept.error <= 2 * free.error * 1.003 + 1e-6
    for a, b in anew.pairs.directed():
        p, q = (anew.channel.exactly(Masses.of(np.array(laws[s].weights))) for s in (a, b))
        assert within_odds(p, q, odds=Fraction(odds))


def test_caution_preserves_the_marginal_by_sampling_anew():
    found = tk.calibrate(laws_of(0), odds=2, preserve="marginal", options={"solver": "columns", "caution": 0.5})
    assert spread_of(found) <= 1e-6
    assert found.lower_bound is None
    finite = tk.calibrate(laws_of(1), alpha=3, epsilon=0.5, preserve="marginal", options={"solver": "columns"})
    assert spread_of(finite) <= 1e-6


def test_what_takes_too_many_moves_is_refused_by_name():
    assert fit(10_000, [(0, 1)])
    assert not fit(40_000, [(0, 1)])
    size = 1_500
    everyone = np.arange(size)
    assert resampled(Moves(everyone, np.zeros(size, dtype=np.intp), np.ones(size)), np.full(size, 1 / size)) is None
    with (
        patch("takifugu.mechanisms.optimal.column_generation._MOST_RESAMPLED", 10),
        pytest.raises(MechanismError, match="marginal"),
    ):
        tk.calibrate(laws_of(0), odds=2, preserve="marginal", options={"solver": "columns", "caution": 0.5})


def test_the_same_is_found_again():
    found = [tk.calibrate(laws_of(7), odds=1.5, options={"solver": "columns"}) for _ in range(2)]
    assert found[0].channel == found[1].channel


@pytest.mark.parametrize("seed", range(4))
def test_what_covers_the_others_is_chosen_greedily(seed):
    rng = np.random.default_rng(seed)
    values = sorted({tuple(row) for row in rng.integers(0, 6, (60, 2)).tolist()})
    mass = rng.dirichlet(np.full(len(values), 0.5))
    cells = Cells.of(values, mass)
    everyone = np.arange(len(values))
    far = cells.between(everyone, everyone)
    chosen: list[int] = []
    for _ in range(9):
        left = [x for x in np.argsort(-mass)[:36].tolist() if x not in chosen]
        chosen.append(min(left, key=lambda x: mass @ far[:, [*chosen, x]].min(axis=1)))
    found = covering(cells, mass, 9)
    assert mass @ far[:, found].min(axis=1) == pytest.approx(mass @ far[:, chosen].min(axis=1), rel=1e-12)
    assert covering(cells, mass, 500).tolist() == everyone.tolist()
