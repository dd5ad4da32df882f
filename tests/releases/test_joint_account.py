"""Columns that are published one after another: everything together keeps one promise (proofs/later.md)."""

import math
import multiprocessing
import os
import random
import signal
import sqlite3
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_tables import drawn_channel, largest_odds, people, priors_of

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel, product
from takifugu.errors import BudgetError, CompositionError, InputError, LedgerError, MechanismError
from takifugu.mechanisms.sequential import Later
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem, of_columns
from takifugu.releases.ledger import Ledger

FORK = multiprocessing.get_context("fork")
COLUMNS = ("c0", "c1", "c2")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "people.ledger")


def publish(ledger, table, *columns, **options):
    calibration = ledger.account().calibrate(*columns, **options)
    tk.release(table, calibration, ledger=ledger, allow_no_noise=True)
    return calibration


def test_everything_published_in_turn_keeps_the_promise_in_fractions(ledger):
    table = people()
    priors = priors_of(table)
    account = ledger.open(priors, odds=3)
    assert (account.columns, account.before, account.left, account.releases) == (COLUMNS, (), COLUMNS, 0)
    assert (account.fraction_spent, account.loss, account.channel) == (0.0, 0.0, None)
    made = []
    for turn, name in enumerate(("c1", "c0", "c2"), start=1):
        calibration = ledger.account().calibrate(name)
        assert tk.verify(tk.certify(calibration)).calibration == calibration
        out = tk.release(table, calibration, ledger=ledger)
        assert list(out.columns) == [name]
        assert len(out) == len(table)
        made.append(calibration)
        account = ledger.account()
        assert account.fraction_spent == pytest.approx(turn / 3)
        worst = largest_odds(priors, COLUMNS, made)
        assert worst <= 3
        assert float(worst) <= math.exp(calibration.epsilon) * (1 + 1e-12)
        assert account.loss == pytest.approx(math.log(worst), rel=1e-9)
        assert ledger.loss(calibration) == account.loss
    assert float(worst) == pytest.approx(3, rel=1e-3)  # and what was allowed is used
    assert (account.before, account.left) == (("c1", "c0", "c2"), ())
    with pytest.raises(BudgetError, match="was published before"):
        account.calibrate("c0")


@given(
    seed=st.integers(0, 10_000),
    secrets=st.integers(2, 3),
    odds=st.floats(1.1, 20),
    order=st.permutations(COLUMNS),
    together=st.booleans(),
    spend=st.sampled_from([None, 0.2, 0.4]),
)
@settings(max_examples=6)
def test_random_turns_keep_the_promise_in_fractions(tmp_path_factory, seed, secrets, odds, order, together, spend):
    table = people(120, seed=seed, secrets=secrets)
    priors = priors_of(table)
    ledger = Ledger(tmp_path_factory.mktemp("l") / "l.ledger")
    ledger.open(priors, odds=odds)
    turns = [order[:2], order[2:]] if together else [(name,) for name in order]
    made = [publish(ledger, table, *names, spend=spend) for names in turns[:-1]] + [publish(ledger, table, *turns[-1])]
    worst = largest_odds(priors, COLUMNS, made)
    assert worst is not None
    assert math.log(worst) <= math.log(odds) * (1 + 1e-12)


def test_beliefs_of_who_knows_more_and_several_secrets(ledger, tmp_path):
    table = people(400, columns=2)
    table["sex"] = np.where(np.arange(400) % 3 == 0, "f", "m")
    query = tk.Row("c0", "c1")
    priors = tk.fit_priors(table, secret="secret", query=query, known=["sex"])
    ledger.open(priors, odds=2)
    made = [publish(ledger, table, name) for name in ("c0", "c1")]
    for belief in priors:
        assert largest_odds(belief, ("c0", "c1"), made) <= 2
    table["other"] = np.where(np.arange(400) % 2 == 0, "u", "v")
    both = tk.fit_priors(table, secret=["secret", "other"], query=query)
    second = Ledger(tmp_path / "second.ledger")
    second.open(both, odds=2)
    made = [publish(second, table, name) for name in ("c1", "c0")]
    for pair in both.pairs:
        assert largest_odds({name: both[name] for name in pair}, ("c0", "c1"), made) <= 2


def test_confidence_is_judged_for_everything_together(ledger):
    table = people(2_000, columns=2)
    ledger.open(priors_of(table), odds=3, confidence=0.8)
    publish(ledger, table, "c0")
    calibration = ledger.account().calibrate("c1")
    assert calibration.evidence.level == 0.8
    # By draws that had no part in what was published before: where the new column tells nothing they would be the same.
    assert calibration.evidence.seed not in {k * 1_000_003 for k in range(64)}
    assert calibration.evidence.holds(calibration.problem, calibration.channel, calibration.guarantee)
    with pytest.raises(BudgetError, match=r"confidence=0\.8"):
        tk.release(table, replace(calibration, evidence=None), ledger=ledger)
    tk.release(table, calibration, ledger=ledger)
    assert ledger.account().left == ()


def test_a_column_is_published_once_and_only_those_of_the_account(ledger):
    table = people()
    ledger.open(priors_of(table[["secret", "c0", "c1"]]), odds=3)
    first = publish(ledger, table, "c0", spend=0.4)
    with pytest.raises(BudgetError, match=r"'c0' .* was published before"):
        tk.release(table, first, ledger=ledger)
    with pytest.raises(BudgetError, match="was published before"):
        ledger.account().calibrate("c0")
    with pytest.raises(CompositionError, match="'c2' is not among them"):
        ledger.account().calibrate("c2")
    with pytest.raises(InputError, match="name the column to publish next, one of c1"):
        ledger.account().calibrate()
    with pytest.raises(BudgetError, match=r"spend=0\.7 is more than is left.*spend 0\.6 at most"):
        ledger.account().calibrate("c1", spend=0.7)
    for wrong in (0, -1, 1.5, math.nan):
        with pytest.raises(InputError, match="spend must be"):
            ledger.account().calibrate("c1", spend=wrong)


def tied(rows=20_000, seed=0):
    """Two columns that go with the secret, each as much as the other, and not with one another."""
    rng = np.random.default_rng(seed)
    secret = rng.choice(["u", "v"], rows)
    a, b = ((rng.random(rows) < np.where(secret == "v", 0.65, 0.35)).astype(int) for _ in range(2))
    return pd.DataFrame({"secret": secret, "a": a, "b": b})


def test_a_later_column_goes_with_those_before_it_as_the_account_says(ledger, tmp_path):
    """Its own shares, secret by secret, may be what they were."""
    table, rng = tied(), np.random.default_rng(1)
    ledger.open(tk.fit_priors(table, secret="secret", query=tk.Row("a", "b")), odds=2)
    tk.release(table, ledger.account().calibrate("a"), ledger=ledger)
    changed = table.copy()
    for secret, way in (("u", 1), ("v", -1)):
        mine = np.flatnonzero(table.secret == secret)
        by_a = mine[np.argsort(table.a[mine] + 0.1 * rng.random(len(mine)))]
        changed.loc[by_a, "b"] = np.sort(table.b[mine])[::way]
    assert changed.groupby("secret").b.mean().equals(table.groupby("secret").b.mean())
    later = ledger.account().calibrate("b")
    changed.to_csv(tmp_path / "changed.csv", index=False)
    with pytest.raises(tk.InputError, match="more closely than the priors"):
        tk.release(changed, later, ledger=ledger)
    with pytest.raises(tk.InputError, match="more closely than the priors"):
        tk.release_file(tmp_path / "changed.csv", tmp_path / "out.csv", later, ledger=ledger)
    for one_column in (table.b, table.b.tolist()):
        with pytest.raises(tk.InputError, match="give the whole table"):
            tk.release(one_column, later, ledger=ledger, secret=table.secret.tolist())
    assert ledger.account().before == ("a",)
    assert len(tk.release(table, later, ledger=ledger)) == len(table)


def test_a_combination_that_nobody_had_is_a_table_that_changed(ledger):
    table = tied(400)
    table = table[(table.a == 0) | (table.b == 0)].reset_index(drop=True)
    ledger.open(tk.fit_priors(table, secret="secret", query=tk.Row("a", "b")), odds=2)
    publish(ledger, table, "a")
    later, changed = ledger.account().calibrate("b"), table.assign(b=1 - table.b)
    with pytest.raises(tk.InputError, match="as nobody's did when the account was opened"):
        tk.release(changed, later, ledger=ledger, allow_no_noise=True)


def test_nothing_follows_when_everything_is_spent(ledger):
    table = people()
    ledger.open(priors_of(table), odds=3)
    publish(ledger, table, "c0", spend=1)
    for spend in (None, 0.1):
        with pytest.raises(BudgetError, match="is spent by c0: nothing more"):
            ledger.account().calibrate("c1", spend=spend)


def test_a_calibration_for_another_place_law_or_past_is_refused(ledger, tmp_path):
    table = people()
    priors = priors_of(table)
    ledger.open(priors, odds=3)
    early = ledger.account().calibrate("c1")
    publish(ledger, table, "c0")
    with pytest.raises(CompositionError, match="another place in that order"):
        tk.release(table, early, ledger=ledger)
    right = ledger.account().calibrate("c1")
    # Another law of the same columns, though the channel would do for it.
    other = of_columns(Problem.of(priors_of(people(seed=5))), ("c0", "c1"), before=("c0",))
    with pytest.raises(CompositionError, match="other beliefs or pairs"):
        tk.release(table, replace(right, problem=other), ledger=ledger)
    # The right law, but a past in which something harmless was published.
    problem = of_columns(Problem.of(priors), ("c0", "c1"), before=("c0",))
    harmless = FiniteChannel.constant(drawn_channel(early).inputs, tk.Finite([1], [1]), bits=4)
    found = Later(past=harmless).find(problem, right.guarantee)
    with pytest.raises(CompositionError, match="something else for published"):
        tk.release(table, replace(right, channel=found.channel), ledger=ledger)
    # The right past, and a channel that tells too much with it.
    bare = product(ledger.account().channel, FiniteChannel.identity((1, 2, 3), bits=1), right.channel.inputs, width=1)
    with pytest.raises(tk.TakifuguError, match="does not meet the budget"):
        tk.release(table, replace(right, channel=bare), ledger=ledger)
    lavish = replace(right, channel=bare, guarantee=Renyi(math.inf, 50.0))
    with pytest.raises(BudgetError, match="would not be proved"):
        tk.release(table, lavish, ledger=ledger, allow_no_noise=True)
    assert ledger.account().before == ("c0",)
    # Elsewhere, nobody knows what was published.
    with pytest.raises(CompositionError, match="give ledger"):
        tk.release(table, right)
    with pytest.raises(CompositionError, match="no account that says"):
        tk.release(table, right, ledger=tmp_path / "elsewhere.ledger")
    assert Ledger(tmp_path / "elsewhere.ledger").account() is None


def test_the_second_draw_does_not_look_at_the_first():
    """A joint channel that could not be drawn column by column is refused, not drawn."""
    table = people(columns=2)
    problem = of_columns(Problem.of(priors_of(table)), ("c0", "c1"), before=("c0",))
    whole = tk.calibrate(priors_of(table), odds=3, keep=None)
    calibration = replace(whole, problem=problem)
    with pytest.raises(InputError, match="independently"):
        drawn_channel(calibration)


def test_opening_twice_and_with_other_terms(ledger):
    table = people()
    priors = priors_of(table)
    assert ledger.open(priors, odds=7).odds == pytest.approx(7)  # nothing was published: it may be opened anew
    first = ledger.open(priors, odds=3)
    assert ledger.account() == ledger.open(priors_of(table), odds=3) == first
    assert first.odds == pytest.approx(3)
    publish(ledger, table, "c0")
    assert ledger.open(priors, odds=3).before == ("c0",)
    for other in ({"odds": 4}, {"odds": 3, "confidence": 0.9}, {"odds": 3, "seed": 1}):
        with pytest.raises(CompositionError, match="has an account already"):
            ledger.open(priors, **other)
    with pytest.raises(CompositionError, match="has an account already"):
        ledger.open(priors_of(people(seed=9)), odds=3)


def test_what_cannot_open_an_account(ledger, tmp_path):
    table = people()
    with pytest.raises(InputError, match="priors of whole rows alone"):
        ledger.open({"a": tk.Finite([(1, 1), (1, 2)], [1, 2]), "b": tk.Finite([(1, 1), (1, 2)], [2, 1])}, odds=3)
    with pytest.raises(InputError, match="priors of whole rows alone"):
        ledger.open(tk.fit_priors(table, secret="secret", query=tk.Mean("c0")), odds=3)
    with pytest.raises(InputError, match="odds"):
        ledger.open(priors_of(table), odds=1)
    with pytest.raises(InputError, match="confidence"):
        ledger.open(priors_of(table), odds=3, confidence=2)
    few = table.groupby("secret").head(3)
    with pytest.raises(InputError, match="fewer than 5"):
        ledger.open(priors_of(few), odds=3)
    assert ledger.account() is None
    tk.release(table, tk.calibrate(priors_of(table), odds=3, keep=None), ledger=ledger)
    with pytest.raises(CompositionError, match="has an account already"):
        ledger.open(priors_of(table), odds=3)
    with pytest.raises(BudgetError, match=r"Ledger\.open"):
        tk.release(table, tk.calibrate(priors_of(table), odds=3, keep=None), ledger=ledger)
    budget = Ledger(tmp_path / "b", budget=tk.calibrate(priors_of(table), odds=3))
    with pytest.raises(InputError, match="its own budget"):
        budget.open(priors_of(table), odds=3)


def test_a_finite_order_has_no_account():
    problem = Problem.of(priors_of(people()))
    with pytest.raises(MechanismError, match="give odds alone"):
        Later().find(problem, Renyi(2.0, 1.0))


def test_a_file_of_a_later_column_is_read_back_and_held_to_its_form(ledger, tmp_path):
    table = people(columns=2)
    ledger.open(priors_of(table), odds=3)
    publish(ledger, table, "c0")
    calibration = ledger.account().calibrate("c1")
    calibration.save(tmp_path / "later.json")
    assert tk.Calibration.load(tmp_path / "later.json") == calibration
    content = calibration.to_dict()
    for wrong in (["c1"], ["c0", "c1"], ["c9"]):
        content["problem"]["answer"]["before"] = wrong
        with pytest.raises(InputError, match="first of the answer's columns"):
            tk.Calibration.from_dict(content)
    assert "(after c0)" in calibration.answer.words
    assert "c1" in tk.report(calibration)


# ---- many processes, kills, damage


def publish_one(path, table, name, results):
    ledger = Ledger(path)
    for _ in range(20):  # another column may come between calibrating and charging: then calibrate again
        try:
            tk.release(table, ledger.account().calibrate(name), ledger=ledger, allow_no_noise=True)
            return results.put("published")
        except CompositionError:
            continue
        except BudgetError as error:
            return results.put(str(error))
    return results.put("gave up")


def test_processes_that_race_publish_each_column_once(tmp_path):
    table = people(120)
    priors, path = priors_of(table), tmp_path / "l.ledger"
    Ledger(path).open(priors, odds=3)
    results = FORK.Queue()
    workers = [FORK.Process(target=publish_one, args=(path, table, name, results)) for name in COLUMNS * 2]
    for worker in workers:
        worker.start()
    told = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    assert told.count("published") == 3
    assert sum("was published before" in one for one in told) == 3
    account = Ledger(path).account()
    assert sorted(account.before) == list(COLUMNS)
    assert math.log(3) >= account.loss > 0


def publish_all(path, published):
    ledger, table = Ledger(path), people(120)
    for name in ledger.account().left:
        tk.release(table, ledger.account().calibrate(name), ledger=ledger, allow_no_noise=True)
        with open(published, "a") as output:
            output.write(f"{name}\n")


def test_a_killed_process_never_publishes_what_it_did_not_write(tmp_path):
    chance, seen = random.Random(1), 0
    for turn in range(8):
        path, published = tmp_path / f"{turn}.ledger", tmp_path / f"{turn}.txt"
        published.touch()
        Ledger(path).open(priors_of(people(120)), odds=3)
        worker = FORK.Process(target=publish_all, args=(path, published))
        goal = chance.randrange(3)
        worker.start()
        while len(published.read_text().split()) < goal:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.05))  # anywhere in the making of the next
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        told = published.read_text().split()
        written = Ledger(path).account().before
        assert tuple(told) == written[: len(told)]
        assert len(written) <= len(told) + 1
        seen += len(told)
    assert seen > 0


def test_damage_to_the_law_or_the_channel_is_noticed(tmp_path):
    path, table = tmp_path / "l.ledger", people(columns=2)
    ledger = Ledger(path)
    ledger.open(priors_of(table), odds=3)
    publish(ledger, table, "c0")
    database = sqlite3.connect(path)
    database.execute("UPDATE entry SET body = replace(body, '\"weights\": [', '\"weights\": [1.0, ')")
    database.commit()
    database.close()
    with pytest.raises(LedgerError, match="breaks its seal"):
        ledger.account()


@pytest.mark.parametrize("cut", [False, True])
def test_the_joint_law_is_about_rows_that_have_every_column(ledger, tmp_path, cut):
    """That a later column is missing may go with the secret, and then the one before it does more than its law says."""
    table = people().astype({"c1": float})
    table.loc[(table.secret == "s1") & (table.c0 == 3), "c1"] = np.nan
    second = "c1:2" if cut else "c1"
    priors = tk.fit_priors(table, secret="secret", query=tk.Row("c0", second))
    ledger.open(priors, odds=4)
    first = ledger.account().calibrate("c0", spend=0.5)
    whole = int(table.c1.notna().sum())
    path = tmp_path / "people.parquet"
    table.to_parquet(path)
    with pytest.raises(InputError, match=f"'{second}' has {300 - whole} missing values"):
        tk.release(table, first, ledger=ledger, allow_no_noise=True)
    with pytest.raises(InputError, match="missing values"):
        tk.release_file(path, tmp_path / "out.parquet", first, ledger=ledger, allow_no_noise=True)
    assert not (tmp_path / "out.parquet").exists()
    assert ledger.account().releases == 0
    assert len(tk.release(table, first, ledger=ledger, missing="drop", allow_no_noise=True)) == whole
    later = ledger.account().calibrate(second)
    drop = tk.Reading(missing="drop")
    done = tk.release_file(path, tmp_path / "out.parquet", later, ledger=ledger, reading=drop, allow_no_noise=True)
    assert done.rows == whole
