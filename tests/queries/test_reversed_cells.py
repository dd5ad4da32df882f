"""Small cells of side information that differ from the others: the guarantee, judged by populations that are known."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import takifugu as tk
from takifugu.problems.problem import OWN_ROWS
from takifugu.queries.priors import Beliefs

pytestmark = pytest.mark.filterwarnings("ignore::takifugu.DiagnosticWarning")

REVERSED = ((0.9, 0.1), (0.9, 0.1), (0.02, 0.98))  # P(x = 1) of two secrets in three wards
MILDER = ((0.7, 0.3), (0.7, 0.3), (0.02, 0.98))


def sampled(shares, rows, seed):
    """Rows of a population: the share of ones of every ward and secret, and how many rows there are of each."""
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"ward": f"w{ward}", "s": secret, "x": rng.permutation(np.arange(n) < rng.binomial(n, p))})
        for ward, (of_ward, counts) in enumerate(zip(shares, rows, strict=True))
        for secret, p, n in zip("ab", of_ward, counts, strict=True)
    ]
    return pd.concat(parts).astype({"x": int}).sample(frac=1, random_state=seed)


def worst_odds(channel, shares, rows):
    """How far the worst published value moves the odds by the population's laws, in any ward or without one."""
    of_all = [sum(Fraction(p[s]) * n[s] for p, n in zip(shares, rows, strict=True)) for s in (0, 1)]
    every = [*shares, [total / sum(int(n[s]) for n in rows) for s, total in enumerate(of_all)]]
    worst = Fraction(0)
    for a, b in every:
        laws = [[Fraction(p) if value == 1 else 1 - Fraction(p) for value in channel.inputs] for p in (a, b)]
        published = [
            [sum(p * int(count) for p, count in zip(law, column, strict=True)) for column in channel.counts.T]
            for law in laws
        ]
        worst = max(worst, *(max(p / q, q / p) for p, q in zip(*published, strict=True) if p or q))
    return float(worst)


def only_as_elsewhere(priors):
    return Beliefs([one for one in priors if not one.label.endswith(OWN_ROWS)])


def beta_wards(seed):
    rng = np.random.default_rng([seed, 7])
    shares = [tuple(rng.beta(0.5, 0.5, 2)) for _ in range(6)]
    return shares, [tuple(rng.integers(5, 100, 2)) for _ in range(6)]


CASES = {
    "sharp, 5 rows": (REVERSED, [(300, 300), (300, 300), (5, 5)], 0),
    "sharp, 30 rows": (REVERSED, [(300, 300), (300, 300), (30, 30)], 1),
    "sharp, 60 rows": (REVERSED, [(300, 300), (300, 300), (60, 60)], 0),
    "milder": (MILDER, [(300, 300), (300, 300), (5, 5)], 0),
    "no ward like another": (*beta_wards(3), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_a_ward_that_reverses_the_others_is_within_the_guarantee(case):
    shares, rows, seed = CASES[case]
    table = sampled(shares, rows, seed)
    asked = {"odds": 3, "confidence": 0.95, "preserve": None}
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x", domain=[0, 1]), known=["ward"])
    before = tk.calibrate(only_as_elsewhere(priors), **asked)
    assert worst_odds(before.channel, shares, rows) > 3
    made = tk.publish(
        table, secret="s", columns=["x"], domain={"x": [0, 1]}, keep=["ward"], utility=tk.Utility(allow_no_noise=True)
    )
    assert worst_odds(made.calibration.channel, shares, rows) <= 3


@pytest.mark.parametrize("shares", [REVERSED, MILDER], ids=["sharp", "milder"])
@pytest.mark.parametrize(("rows", "seed"), [((0, 20), 0), ((20, 0), 1)])
def test_a_ward_without_a_row_of_one_secret_may_reverse_the_others(shares, rows, seed):
    """Nobody there has the secret in these rows, and in the population somebody has."""
    table = sampled(shares, [(300, 300), (300, 300), rows], seed)
    in_population = [(300, 300), (300, 300), tuple(max(n, 1) for n in rows)]
    for also in ({"keep": ["ward"]}, {"adversary": tk.Adversary(known=["ward"])}):
        made = tk.publish(table, secret="s", columns=["x"], domain={"x": [0, 1]}, **also)
        assert worst_odds(made.calibration.channel, shares, in_population) <= 3


def renyi_after_noise(p, q, theta, alpha):
    """The divergence of two laws on 0 and 1 after Gaussian noise, by quadrature."""

    def density(share, y):
        return (1 - share) * norm.pdf(y, 0, theta) + share * norm.pdf(y, 1, theta)

    total, _ = quad(lambda y: density(p, y) ** alpha * density(q, y) ** (1 - alpha), -12 * theta, 1 + 12 * theta)
    return np.log(total) / (alpha - 1)


def test_noise_is_enough_for_a_ward_that_reverses_the_others_too():
    rows = [(300, 300), (300, 300), (20, 20)]
    priors = tk.fit_priors(
        sampled(REVERSED, rows, 3), secret="s", query=tk.Raw("x", bounds=(0, 1), step=1), known=["ward"]
    )
    asked = {"alpha": 3, "epsilon": 0.5, "confidence": 0.95}

    def worst(theta):
        return max(max(renyi_after_noise(a, b, theta, 3), renyi_after_noise(b, a, theta, 3)) for a, b in REVERSED)

    assert worst(tk.calibrate(only_as_elsewhere(priors), **asked).theta) > 0.5
    assert worst(tk.calibrate(priors, **asked).theta) <= 0.5


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=2, max_size=3).filter(
        lambda cells: all(sum(cell[k] for cell in cells) > 1 for k in range(6))
    ),
    st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_both_beliefs_about_every_cell_are_those_that_were_promised_and_are_covered(cells, alpha):
    """As elsewhere, and as a table of the cell's rows alone would have it; judged in fractions."""
    table = pd.DataFrame(
        [
            {"s": "ab"[k // 3], "ward": f"w{ward}", "x": k % 3}
            for ward, cell in enumerate(cells)
            for k, count in enumerate(cell)
            for _ in range(count)
        ]
    )
    query = tk.Row("x", domain=[0, 1, 2])
    assume(any(any(cell[:3]) and any(cell[3:]) for cell in cells))  # else the ward tells the secret, and is refused
    priors = tk.fit_priors(table, secret="s", query=query, known=["ward"], few="allow")
    made = tk.calibrate(priors, preserve=None, **{"alpha": 2, "epsilon": 0.3} if alpha else {"odds": 3})
    for ward, cell in enumerate(cells):
        if not any(cell):
            continue
        borrowed, alone = (one for one in priors if one.label.startswith(f"ward = w{ward}"))
        for k, s in enumerate("ab"):
            seen = np.array(cell[3 * k : 3 * k + 3], float)
            assert (borrowed.counts[s] == seen).all()
            assert (alone.counts[s] == seen).all()
            assert borrowed.pseudo[s].sum() == pytest.approx(5)
            if seen.sum() < 2:
                continue
            here = table[(table.ward == f"w{ward}") & (table.s == s)]
            both = pd.concat([here, here.assign(s="z")])  # a prior is about two secrets at the least
            assert alone.pseudo[s] == pytest.approx(tk.fit_priors(both, secret="s", query=query, few="allow").pseudo[s])
    for belief in priors:
        laws = [[Fraction(float(w)) for w in belief[s].weights] for s in "ab"]
        p, q = (
            [sum(w * int(n) for w, n in zip(law, column, strict=True)) / sum(law) for column in made.channel.counts.T]
            for law in laws
        )
        whole = made.channel.denominator
        for one, other in ((p, q), (q, p)):
            if alpha:
                assert float(sum(a * a / b for a, b in zip(one, other, strict=True) if a) / whole) <= np.exp(0.3) * (
                    1 + 1e-9
                )
            else:
                assert all(a <= 3 * b * (1 + Fraction(1, 10**9)) for a, b in zip(one, other, strict=True))


def test_of_several_secrets_both_beliefs_stay():
    rng = np.random.default_rng(1)
    table = sampled(REVERSED, [(60, 60), (60, 60), (20, 20)], 1).assign(t=lambda one: rng.choice(["u", "v"], len(one)))
    table["y"] = rng.integers(0, 2, len(table))
    several = tk.fit_priors(table, secret=["s", "t"], query=tk.Row("x", "y"), known=["ward"])
    assert len(several) == 7
    for borrowed, alone in zip(several[1::2], several[2::2], strict=True):
        assert alone.label == borrowed.label + OWN_ROWS
        for secret in several[0]:
            assert borrowed.pseudo[secret].sum() == pytest.approx(5)
            assert alone.pseudo[secret].sum() == pytest.approx(1)
    made = tk.calibrate(several, odds=3)
    one = tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row("x", "y"), known=["ward"]), odds=3, confidence=0.8)
    assert tk.Calibration.from_dict(one.to_dict()).meets_budget()
    assert made.meets_budget()


def test_a_cell_of_many_combinations_is_smoothed_by_its_own_rows():
    rng = np.random.default_rng(4)
    rows = 600
    table = pd.DataFrame({"s": rng.choice(["a", "b"], rows), "ward": np.where(np.arange(rows) < 40, "few", "many")})
    for name in ("x", "y", "z"):
        table[name] = rng.integers(0, 4, rows)
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x", "y", "z", smoothing="held-out"), known=["ward"])
    few = next(one for one in priors if one.label == "ward = few" + OWN_ROWS)
    whole = tk.fit_priors(table, secret="s", query=tk.Row("x", "y", "z", smoothing="held-out"))
    for s in "ab":
        assert few.pseudo[s].sum() >= 1  # with less, what was not seen there would be impossible
        assert not np.allclose(few.pseudo[s] / few.pseudo[s].sum(), whole.pseudo[s] / whole.pseudo[s].sum())


def test_the_second_belief_is_no_cell_of_its_own():
    table = sampled(REVERSED, [(200, 200), (200, 200), (60, 60)], 2)
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x", domain=[0, 1]), known=["ward"])
    made = tk.calibrate(priors, odds=3)
    published = tk.release(table, made, keep=["ward"])
    found = tk.audit(published[["x"]], table, made, seed=1)
    assert not found.contradicted
    assert not any(attack.where.endswith(OWN_ROWS) for attack in found.attacks)
    strange = table.assign(ward=table.ward + OWN_ROWS)
    with pytest.raises(tk.InputError, match="what no row had when the priors were fitted"):
        tk.release(strange, made, keep=["ward"])
