"""Releases that add up within a total: held against joint laws of all that was published, in rational numbers."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from how_many import some_of
from takifugu.cli import main
from takifugu.errors import BudgetError, CompositionError, InputError
from takifugu.problems import ApproximateRenyi, MaxDivergence, Price, first_price, price_of
from takifugu.releases.ledger import Ledger

PEOPLE = pd.DataFrame(
    {
        "person": range(60),
        "ward": ["A"] * 30 + ["B"] * 30,
        "stay": [1] * 18 + [2] * 9 + [3] * 3 + [1] * 2 + [2] * 9 + [3] * 19,
        "visits": [0, 1, 1, 2, 0] * 6 + [2, 1, 1, 2, 2, 0] * 5,
        "tests": [0, 1, 0, 2, 0] * 6 + [2, 2, 1, 2, 2, 0] * 5,
    }
)


def priors(column="stay"):
    return tk.fit_priors(PEOPLE, secret="ward", query=tk.Row(column))


def odds(column="stay", factor=3.0, **utility):
    return tk.calibrate(priors(column), odds=factor, utility=tk.Utility(**utility))


@pytest.fixture
def total(tmp_path):
    return Ledger(tmp_path / "people.ledger", id="person", budget=tk.Odds(9))


def publish(calibration, ledger, **more):
    return tk.release(PEOPLE, calibration, ledger=ledger, **more)


# ---- by the ledger


def test_the_same_rows_twice_through_a_channel_with_zeros_are_refused(total):
    # Two draws of one value of the best channel at e^.5: together they give odds that no sum of budgets bounds.
    laws = {"a": tk.Finite(range(4), (2, 16, 1, 4)), "b": tk.Finite(range(4), (1, 8, 8, 8))}
    channel = tk.calibrate(laws, odds=math.exp(0.5), preserve=None).channel
    assert channel.local_loss(MaxDivergence()) == math.inf
    assert joint_odds(laws, [channel]) <= math.exp(0.5) < math.exp(1.99) < joint_odds(laws, [channel, channel])
    made = odds()
    publish(made, total)
    with pytest.raises(CompositionError, match=r"no finite local price.*local_price="):
        publish(made, total)
    with pytest.raises(CompositionError, match=r"no finite local price"):
        publish(odds("tests"), total)
    assert total.account().releases == 1


def test_what_is_kept_tells_no_more_than_the_first_price_is_for(tmp_path):
    # Given the ward `stay` is the same for all, and `shift` with it says which ward: the total must not hold both.
    rows = PEOPLE.assign(stay=[0, 1] * 30, shift=[0, 1] * 15 + [1, 0] * 15)
    answers = {
        name: tk.calibrate(
            tk.fit_priors(rows, secret="ward", query=tk.Row(column), known=known),
            odds=3,
            utility=tk.Utility(local_price=0.5, preserve=None),
        )
        for name, column, known in [("stay", "stay", None), ("tests", "tests", ["shift"]), ("plain", "tests", None)]
    }
    ledger = Ledger(tmp_path / "people.ledger", id="person", budget=tk.Odds(9))
    with pytest.raises(CompositionError, match=r"'shift' would be handed over"):
        tk.release(rows, answers["stay"], ledger=ledger, keep=["shift"])
    tk.release(rows, answers["stay"], ledger=ledger)
    for name in ("tests", "plain"):
        with pytest.raises(CompositionError, match=r"'shift' would be handed over"):
            tk.release(rows, answers[name], ledger=ledger, keep=["shift"])
        told = Ledger(ledger.path, id="person", independent=True)
        with pytest.raises(CompositionError, match=r"'shift' would be handed over"):
            tk.release(rows, answers[name], ledger=told, keep=["shift"])
    assert ledger.account().releases == 1
    (tmp_path / "other").mkdir()
    other = Ledger(tmp_path / "other" / "people.ledger", id="person", budget=tk.Odds(9))
    assert "shift" in tk.release(rows, answers["tests"], ledger=other, keep=["shift"])
    tk.release(rows, answers["stay"], ledger=other)  # at its local price, whatever anybody knows
    assert other.account().releases == 2


def test_prices_are_added_and_shown(total, tmp_path):
    publish(odds(), total)
    second = odds("tests", local_price=0.9)
    publish(second, total)
    account = total.account()
    assert [step.rule for step in account.steps] == ["first", "local"]
    assert account.steps[0].prices == (Price(Fraction(3)),)
    local = second.channel.local_loss(MaxDivergence())
    assert account.steps[1].prices == (Price(nats=Fraction(local)),)
    assert account.left[0] == pytest.approx(math.log(3) - local)
    with pytest.raises(BudgetError, match="has room for"):
        publish(second, total)
    shown = CliRunner().invoke(main, ["ledger", "show", str(tmp_path / "people.ledger")])
    assert "all releases together with odds within a factor of 9; 2 releases" in shown.output
    assert "release 1, odds within a factor of 3: 1.09861 (the first" in shown.output
    assert "release 2, odds within a factor of 3: 0.9" in shown.output
    assert f"left: {math.log(3) - local:.6g}" in shown.output


def test_an_independent_answer_costs_what_it_guarantees(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", id="person", budget=tk.Odds(9), independent=True)
    publish(odds(), ledger)
    publish(odds("tests"), ledger)  # three times three is nine, to the last bit
    assert ledger.account().left == (0.0,)
    with pytest.raises(BudgetError, match="independent of the others as the publisher states"):
        publish(odds("visits", 1.001), ledger)
    with pytest.raises(BudgetError, match="is spent"):
        publish(odds("tests"), ledger)


@pytest.mark.parametrize(("first", "second"), [(0.9, None), (0.9, 0.8)])
def test_an_independent_answer_is_added_on_evidence_as_strong_as_the_first(tmp_path, first, second):
    def sure(column, confidence, **utility):
        return tk.calibrate(priors(column), odds=3, confidence=confidence, utility=tk.Utility(**utility))

    ledger = Ledger(tmp_path / "a.ledger", id="person", budget=tk.Odds(9), independent=True)
    publish(sure("stay", first), ledger)
    with pytest.raises(CompositionError, match=r"90 % confidence\), and this calibration says less"):
        publish(sure("tests", second), ledger)
    assert ledger.account().releases == 1
    # A local price holds for any two values, on whatever evidence; so does one of the same confidence, and of more.
    publish(sure("tests", None, local_price=0.5), Ledger(ledger.path, id="person"))
    (tmp_path / "other").mkdir()
    other = Ledger(tmp_path / "other" / "a.ledger", id="person", budget=tk.Odds(9), independent=True)
    publish(sure("stay", second), other)
    publish(sure("tests", first), other)
    assert other.account().left == (0.0,)


def test_no_answer_is_independent_of_itself(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", id="person", budget=tk.Odds(100), independent=True)
    publish(odds(), ledger)
    publish(odds("tests"), ledger)
    for column in ("stay", "tests"):
        with pytest.raises(CompositionError, match="no finite local price"):
            publish(odds(column), ledger)
    publish(odds("tests", local_price=0.9), ledger)
    assert [step.rule for step in ledger.account().steps] == ["first", "independent", "local"]


def test_the_same_answer_again_is_worth_one_release_within_its_noise(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", id="person", budget=tk.Renyi(2, 1))
    made = tk.calibrate(tk.fit_priors(PEOPLE, secret="ward", query=tk.Raw("stay")), alpha=2, epsilon=0.5)
    more = made.theta * 1.5
    for _ in range(2):
        publish(made, ledger, theta=more)
    account = ledger.account()
    assert [step.rule for step in account.steps] == ["first", "again"]
    assert account.left == (0.5,)  # the whole noise that was calibrated is paid for
    with pytest.raises(CompositionError, match="no finite local price"):
        publish(made, ledger)  # what is left of the noise is less, and noise has no local price
    publish(made, ledger, theta=account.next_theta)


def test_what_a_total_does_not_cover_is_refused(total, tmp_path):
    laws = tk.fit_priors(PEOPLE, secret="ward", query=tk.Raw("stay"))
    with pytest.raises(CompositionError, match="is not known"):
        publish(tk.calibrate(laws, alpha=2, epsilon=0.1), total)  # says nothing about odds
    assert total.account() is None
    publish(odds(), total)
    other = tk.calibrate(
        tk.fit_priors(PEOPLE, secret="tests", query=tk.Row("stay")), odds=2, pairs=[(0, 1), (0, 2), (1, 2)]
    )
    with pytest.raises(CompositionError, match="other secrets or other pairs"):
        publish(other, total)
    with pytest.raises(BudgetError, match="was set by their first release to odds within a factor of 9"):
        publish(odds("tests", local_price=0.5), Ledger(total.path, id="person", budget=tk.Odds(10)))
    publish(odds("tests", local_price=0.5), Ledger(total.path))  # the file knows its total, and by what people are told
    some = PEOPLE.head(30)
    with pytest.raises(BudgetError, match="rows are of people whose records were published before"):
        tk.release(some, odds("tests", local_price=0.1), ledger=total)
    with pytest.raises(InputError, match="how releases add up"):
        Ledger(tmp_path / "b.ledger", budget=ApproximateRenyi(2, 1, 0.1))
    with pytest.raises(InputError, match="budget must be a Calibration, or a guarantee"):
        Ledger(tmp_path / "b.ledger", budget=9)


def test_a_first_release_beyond_the_total_is_refused_and_leaves_no_account(total):
    with pytest.raises(BudgetError, match="has room for"):
        publish(odds(factor=9.5), total, utility=tk.Utility(allow_no_noise=True))
    assert total.account() is None


def test_publish_states_a_publication_alone_and_takes_no_total(total):
    asked = {"secret": "ward", "columns": ["stay"], "odds": 3, "id": "person"}
    with pytest.raises(CompositionError, match="states what one publication tells by itself"):
        tk.publish(PEOPLE, **asked, ledger=total)
    publish(odds(), total)
    with pytest.raises(CompositionError, match="states what one publication tells by itself"):
        tk.publish(PEOPLE, **asked, ledger=total.path)


def test_people_without_an_id_are_known_by_what_the_first_release_read(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", budget=tk.Odds(9))
    rows = PEOPLE.drop(columns="person")
    tk.release(rows, odds(), ledger=ledger)
    tk.release(rows, odds("tests", local_price=0.9), ledger=ledger)
    assert ledger.account().releases == 2
    with pytest.raises(CompositionError, match="which this table does not have"):
        tk.release(rows[["ward", "tests"]], odds("tests", local_price=0.1), ledger=ledger)


def test_a_delta_stays_that_of_the_first_release(tmp_path):
    ledger = Ledger(tmp_path / "a.ledger", id="person", budget=tk.Approximate(2, 1e-5))
    laws = tk.fit_priors(PEOPLE, secret="ward", query=tk.Raw("stay"))
    publish(tk.calibrate(laws, epsilon=1, delta=1e-5), ledger)
    publish(odds("tests", local_price=0.9), ledger)
    assert ledger.account().left[0] == pytest.approx(0.1, abs=1e-9)


# ---- by the prices


def test_prices_of_guarantees():
    assert price_of(tk.Odds(9), tk.Odds(3)) == Price(Fraction(3))
    assert price_of(tk.Odds(9), tk.Renyi(2, 1)) is None
    assert price_of(tk.Renyi(2, 3), tk.Renyi(4, 1)) == Price(nats=Fraction(1))
    assert price_of(tk.Renyi(4, 3), tk.Renyi(2, 1)) is None
    assert price_of(tk.Approximate(2, 0.1), tk.Approximate(1, 0.1)) is None  # two shares would add
    traded = first_price(tk.Approximate(2, 0.1), tk.Approximate(1, 0.05))  # of two shares the larger allows a less ε
    assert float(traded) < 1
    assert tk.Approximate(1, 0.05).implies(tk.Approximate(float(traded), 0.1))
    assert first_price(tk.Approximate(2, 0.1), tk.Approximate(1, 0.1)) == Price(nats=Fraction(1))
    assert first_price(tk.Approximate(0.5, 0.1), tk.Approximate(1, 0.05)) is None
    found = first_price(tk.Approximate(5, 1e-6), tk.Renyi(8, 0.5))
    assert tk.Renyi(8, 0.5).implies(tk.Approximate(float(found), 1e-6))
    assert not tk.Renyi(8, 0.5).implies(tk.Approximate(float(found) * (1 - 1e-9), 1e-6))


@given(st.fractions(1, 9), st.fractions(0, 3), st.fractions(1, 9), st.fractions(0, 3))
def test_prices_are_compared_as_the_numbers_that_they_are(f, n, g, m):
    import mpmath

    with mpmath.workdps(80):
        one, other = (
            mpmath.log(mpmath.mpf(x.numerator) / x.denominator) + mpmath.mpf(y.numerator) / y.denominator
            for x, y in ((f, n), (g, m))
        )
        if abs(one - other) > mpmath.mpf(10) ** -40:
            assert Price(f, n).is_within(Price(g, m)) == (one <= other)
    assert Price(f, n).is_within(Price(f, n))
    assert Price.from_state(Price(f, n).to_state()) == Price(f, n)


# ---- by brute force: no joint law of several releases tells more than the ledger adds up


def joint_odds(laws, channels):
    """The largest odds of the pair from the same rows through each of these channels."""
    rows = [[[Fraction(float(x)) for x in row] for row in one.matrix] for one in channels]
    pair = [
        [Fraction(float(x)) / sum(map(Fraction, map(float, law.probabilities))) for x in law.probabilities]
        for law in laws.values()
    ]
    worst = Fraction(0)
    for outputs in itertools.product(*(range(len(matrix[0])) for matrix in rows)):
        drawn = [math.prod(matrix[x][y] for matrix, y in zip(rows, outputs, strict=True)) for x in range(len(rows[0]))]
        p, q = (sum(w * k for w, k in zip(law, drawn, strict=True)) for law in pair)
        if p or q:
            worst = max(worst, p / q if q else math.inf, q / p if p else math.inf)
    return worst


def random_rows(draw, values, outputs, most):
    """A channel in rational numbers, with its local price: no two rows are further apart than a factor."""
    base = [Fraction(draw.randint(1, 20)) for _ in range(outputs)]
    rows = []
    for _ in range(values):
        row = [b * (1 + Fraction(draw.randint(0, 10), 10) * (most - 1)) for b in base]
        rows.append([x / sum(row) for x in row])
    price = max(a / b for one in rows for other in rows for a, b in zip(one, other, strict=True))
    return rows, price


def renyi(p, q, alpha):
    with np.errstate(divide="ignore"):
        return math.log(sum(float(a) ** alpha * float(b) ** (1 - alpha) for a, b in zip(p, q, strict=True) if a)) / (
            alpha - 1
        )


def hockey(p, q, factor):
    return sum(max(a - factor * b, 0) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("seed", range(some_of(300)))
def test_no_joint_law_tells_more_than_the_prices_of_its_releases_add_up_to(seed):
    # Two answers of one record, dependent in any way; the second channel, and whether there is a third release, are
    # chosen by what the first published. The first has zeros, and so no local price.
    draw = random.Random(seed)
    kinds, outputs = draw.randint(2, 3), draw.randint(2, 3)
    joints = []
    for _ in range(2):
        weights = [[Fraction(draw.choice([0, 1, 2, 5, 9])) for _ in range(kinds)] for _ in range(kinds)]
        weights[0][0] += 1
        whole = sum(map(sum, weights))
        joints.append([[w / whole for w in row] for row in weights])
    first = [[Fraction(draw.choice([0, 1, 3])) for _ in range(outputs)] for _ in range(kinds)]
    first = [[x / sum(row) for x in row] if any(row) else [Fraction(1, outputs)] * outputs for row in first]
    later = [random_rows(draw, kinds, 2, draw.choice([1, Fraction(3, 2), 3])) for _ in range(outputs)]
    third = [random_rows(draw, kinds, 2, 2) if draw.random() < 0.5 else None for _ in range(2 * outputs)]
    alone = [[sum(sum(row) * first[x][y] for x, row in enumerate(joint)) for y in range(outputs)] for joint in joints]
    both = [[], []]
    prices = []
    for y in range(outputs):
        rows, price = later[y]
        for z in range(2):
            last = third[2 * y + z]
            for w in range(2 if last else 1):
                for secret, joint in enumerate(joints):
                    both[secret].append(
                        sum(
                            joint[a][b] * first[a][y] * rows[b][z] * (last[0][a][w] if last else 1)
                            for a in range(kinds)
                            for b in range(kinds)
                        )
                    )
            prices.append(price * (last[1] if last else 1))
    local = max(prices)
    for s, t in ((0, 1), (1, 0)):
        if all(b or not a for a, b in zip(alone[s], alone[t], strict=True)):
            odds_of_first = max(a / b for a, b in zip(alone[s], alone[t], strict=True) if b)
            together = max((a / b for a, b in zip(both[s], both[t], strict=True) if b), default=0)
            assert together <= odds_of_first * local
            for alpha in (1.5, 3.0):
                # Of a course that took less, less is left: the ledger adds the most that any course took.
                most = renyi(alone[s], alone[t], alpha) + max(
                    _renyi_price(later[y][0], alpha)
                    + max((_renyi_price(third[2 * y + z][0], alpha) for z in range(2) if third[2 * y + z]), default=0.0)
                    for y in range(outputs)
                )
                assert renyi(both[s], both[t], alpha) <= most + 1e-9
        for factor in (Fraction(1), Fraction(3, 2), Fraction(4)):
            assert hockey(both[s], both[t], factor * local) <= hockey(alone[s], alone[t], factor)


def _renyi_price(rows, alpha):
    return max(renyi(one, other, alpha) for one in rows for other in rows)
