import dataclasses
import errno
import math
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from multiprocessing.connection import wait

import numpy as np
import pandas as pd
import pytest
from calibrations import PRIORS, hand_made

import takifugu as tk
from how_many import some_of
from takifugu.channels import WHOLE, GaussianNoise
from takifugu.divergences import renyi_divergence
from takifugu.errors import BudgetError, CompositionError, InputError, LedgerError
from takifugu.laws.mixture import Mixture
from takifugu.releases.accounts import Account
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledger_file import require_place

FORK = multiprocessing.get_context("fork")


def charge(ledger, calibration, values=(1.0, 2.0, 3.0), theta=None):
    return ledger.charge(
        ledger.recognise_values(np.array(values)),
        calibration,
        through=None if theta is None else GaussianNoise(theta),
        count=len(values),
        granularity=2.0**-10,
    )


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


# ---- composition


def test_the_first_release_opens_the_account_and_spends_it(ledger):
    assert ledger.account() is None
    assert ledger.loss(hand_made()) == 0.0
    calibration = hand_made(1.5)
    account = charge(ledger, calibration)
    assert account == ledger.account()
    assert (account.releases, account.spent, account.fraction_spent) == (1, WHOLE, 1.0)
    assert account.effective_theta == 1.5
    assert account.next_theta == math.inf
    with pytest.raises(BudgetError, match="budget is spent"):
        charge(ledger, calibration)
    assert ledger.account() == account
    assert ledger.loss(calibration) == pytest.approx(calibration.epsilon, rel=1e-12)


def test_precisions_add_until_the_budget_is_met(ledger):
    calibration = hand_made(1.0)
    for n in range(1, 5):
        assert charge(ledger, calibration, theta=2.0).releases == n
        effective = 2.0 / math.sqrt(n)
        assert ledger.account().effective_theta == pytest.approx(effective, rel=1e-15)
        loss = renyi_divergence(PRIORS["a"], PRIORS["b"], alpha=2.0, theta=effective)
        assert ledger.loss(calibration) == pytest.approx(loss, rel=1e-12)
        assert ledger.loss(calibration) <= calibration.epsilon * (1 + 1e-12)
    with pytest.raises(BudgetError, match="is spent"):
        charge(ledger, calibration, theta=1e6)


def test_the_rest_can_be_spent_to_the_last_bit(ledger):
    total, first = hand_made(0.7), hand_made(1.1)
    ledger = Ledger(ledger._file.path, budget=total)
    account = charge(ledger, first)
    rest = account.next_theta
    assert 1 / rest**2 == pytest.approx(1 / 0.7**2 - 1 / 1.1**2, rel=1e-12)
    with pytest.raises(BudgetError, match=rf"allows theta={rest!r} or more"):
        charge(ledger, total, theta=math.nextafter(rest, 0))
    assert ledger.loss_after(total, theta=rest) == pytest.approx(total.epsilon, rel=1e-9)
    account = charge(ledger, total, theta=rest)
    assert account.spent <= WHOLE
    assert account.effective_theta >= 0.7 * (1 - 1e-15)


ROWS = [("ab"[k % 2], (k % 2 + k // 7) % 3) for k in range(600)]


@pytest.mark.parametrize(
    ("budget", "fine", "less"),
    [
        ({"odds": 1.5}, {"odds": 1.2}, {"odds": 3}),
        ({"odds": 1.5}, {"odds": 1.5}, {"alpha": 64, "epsilon": 0.1}),
        ({"alpha": 3, "epsilon": 0.3}, {"alpha": 4, "epsilon": 0.2}, {"alpha": 2, "epsilon": 0.3}),
        ({"alpha": 3, "epsilon": 0.3, "odds": 2}, {"odds": 1.3}, {"alpha": 3, "epsilon": 0.3}),
        ({"odds": 2, "confidence": 0.8}, {"odds": 2, "confidence": 0.9}, {"odds": 2}),
        ({"odds": 2, "confidence": 0.8}, {"odds": 1.5, "confidence": 0.8}, {"odds": 2, "confidence": 0.7}),
    ],
)
def test_a_channel_from_a_list_keeps_the_budget_that_was_set(budget, fine, less, tmp_path):
    """Its size is no noise to be compared: a channel of any promise went through once, whatever was allowed."""
    table = pd.DataFrame(ROWS, columns=["s", "x"])
    priors = tk.fit_priors(table, secret="s", query=tk.Row("x"))
    ledger = Ledger(tmp_path / "l.db", budget=tk.calibrate(priors, **budget))
    table.to_csv(tmp_path / "people.csv", index=False)
    how = {"utility": tk.Utility(allow_no_noise=True)}
    with pytest.raises(BudgetError, match="Nothing was released"):
        tk.release(table, tk.calibrate(priors, **less), ledger=ledger, **how)
    with pytest.raises(BudgetError, match="Nothing was released"):
        tk.release_file(
            tmp_path / "people.csv", tmp_path / "out.csv", tk.calibrate(priors, **less), ledger=ledger, **how
        )
    assert ledger.account() is None
    assert len(tk.release(table, tk.calibrate(priors, **fine), ledger=ledger, **how)) == len(table)
    with pytest.raises(BudgetError, match="published once"):
        tk.release(table, tk.calibrate(priors, **fine), ledger=ledger, **how)


def test_two_releases_tell_as_much_as_one_with_their_precisions():
    """By integration over both outcomes, for mixtures: no closed formula is involved."""
    p, q = Mixture([0.3, 0.7], [0.0, 2.0], [0.5, 0.2]), Mixture([0.6, 0.4], [0.5, 1.0], [0.3, 0.9])
    first, second, alpha = 1.0, 1.5, 2.5
    y = np.linspace(-14, 16, 1501)
    step = y[1] - y[0]

    def joint(m):
        # X given component k is normal, and so is (Y1, Y2), with covariance s² off the diagonal
        total = 0.0
        for w, mean, s in zip(m.weights, m.means, m.stds, strict=True):
            a, b, c = s**2 + first**2, s**2 + second**2, s**2
            d = a * b - c * c
            u, v = y[:, None] - mean, y[None, :] - mean
            total = total + w * np.exp(-(b * u * u - 2 * c * u * v + a * v * v) / (2 * d)) / (
                2 * math.pi * math.sqrt(d)
            )
        return total

    f, g = joint(p), joint(q)
    kept = (f > 1e-250) & (g > 1e-100)
    two = math.log((f[kept] ** alpha * g[kept] ** (1 - alpha)).sum() * step**2) / (alpha - 1)
    one = renyi_divergence(p, q, alpha=alpha, theta=1 / math.sqrt(1 / first**2 + 1 / second**2))
    assert two == pytest.approx(one, rel=1e-6)


def test_without_need_of_noise_an_answer_may_be_repeated(ledger):
    same = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0, 1)}
    calibration = hand_made(0.0, priors=same, epsilon=1.0)
    for _ in range(3):
        account = charge(ledger, calibration)
    assert (account.spent, account.next_theta, account.effective_theta) == (0, 0.0, 0.0)
    assert ledger.loss(calibration) == 0.0
    with pytest.raises(CompositionError):
        charge(ledger, calibration, values=(9.0,))


def test_another_answer_about_the_same_records_is_refused(ledger):
    calibration = hand_made(1.0)
    charge(ledger, calibration, theta=4.0)
    for other in ((1.0, 2.0), (1.0, 3.0, 2.0), (1.0, 2.0, 3.0000000000000004)):
        with pytest.raises(CompositionError, match="joint prior"):
            charge(ledger, calibration, values=other, theta=4.0)
    assert ledger.account().releases == 1
    others = Ledger(ledger.path, new_people=True)
    assert charge(others, calibration, values=(9.0,)).releases == 1
    assert charge(others, calibration, theta=4.0).releases == 2  # the very same again are no others, whatever is said


def test_other_beliefs_or_pairs_are_refused(ledger):
    three = {**PRIORS, "c": Mixture.gaussian(0.5, 1.0)}
    charge(ledger, hand_made(1.0, priors=three), theta=4.0)
    shuffled = hand_made(1.0, priors=dict(reversed(three.items())))
    assert charge(ledger, shuffled, theta=4.0).releases == 2
    for other in (
        hand_made(1.0),
        hand_made(1.0, priors=three, pairs=[("a", "b")]),
        hand_made(1.0, priors={**three, "c": Mixture.gaussian(0.5, 1.1)}),
    ):
        with pytest.raises(CompositionError, match="other beliefs or other pairs"):
            charge(ledger, other, theta=4.0)
        with pytest.raises(CompositionError, match="other beliefs or other pairs"):
            ledger.loss(other)
    assert ledger.account().releases == 2


def test_numbers_and_texts_are_different_secrets(ledger):
    gaussians = list(PRIORS.values())
    charge(ledger, hand_made(priors=dict(zip([1, 2], gaussians, strict=True))), theta=4.0)
    charge(ledger, hand_made(priors=dict(zip(np.array([1, 2]), gaussians, strict=True))), theta=4.0)
    with pytest.raises(CompositionError):
        charge(ledger, hand_made(priors=dict(zip(["1", "2"], gaussians, strict=True))), theta=4.0)


def test_less_noise_than_calibrated_is_refused(ledger):
    for theta, refusal in ((0.999, BudgetError), (0.0, BudgetError), (math.nan, InputError), (math.inf, InputError)):
        with pytest.raises(refusal):
            charge(ledger, hand_made(1.0), theta=theta)
    assert ledger.account() is None


def test_a_budget_is_set_once(ledger):
    path = ledger._file.path
    charge(Ledger(path, budget=hand_made(1.0)), hand_made(3.0))
    charge(Ledger(path, budget=hand_made(1.0)), hand_made(3.0))
    with pytest.raises(BudgetError, match="was set by their first release"):
        charge(Ledger(path, budget=hand_made(0.5)), hand_made(3.0))
    with pytest.raises(BudgetError, match=r"0\.9 would exceed the budget .* of which 0 % is spent by 0 releases"):
        charge(Ledger(path, new_people=True, budget=hand_made(1.0)), hand_made(0.9), values=[7.0])
    assert Ledger(path).account().releases == 2


def test_a_budget_is_worth_its_own_promise_and_no_more(tmp_path):
    """It opens the account, so it is looked at as what is published is."""
    priors = {"a": Mixture.gaussian(0, 1), "b": Mixture([0.7, 0.3], [0, 8], [1, 1])}
    exact = tk.calibrate(priors, alpha=2, epsilon=1)
    weak = tk.calibrate(priors, alpha=2, epsilon=1, mechanism="wasserstein-approx", delta=0.31)
    assert weak.theta < exact.theta / 2
    changed = dataclasses.replace(exact, channel=GaussianNoise(0.5))
    values = np.arange(5.0)
    for budget, says in ((weak, "a weaker guarantee"), (changed, "does not meet the budget")):
        with pytest.raises(tk.CalibrationError, match=says):
            tk.release(values, exact, ledger=Ledger(tmp_path / "l.db", budget=budget))
    assert not (tmp_path / "l.db").exists()
    ledger = Ledger(tmp_path / "l.db", budget=weak)
    with pytest.raises(CompositionError, match="set under a weaker guarantee"):
        tk.release(values, exact, ledger=ledger, adversary=tk.Adversary(weaker="allow"))
    tk.release(values, weak, ledger=ledger, adversary=tk.Adversary(weaker="allow"))
    with pytest.raises(CompositionError, match="set under a weaker guarantee"):
        tk.release(values, exact, ledger=Ledger(tmp_path / "l.db"))
    assert tk.release(values, exact, ledger=Ledger(tmp_path / "m.db", budget=exact)).theta == exact.theta


def test_the_file_holds_neither_answers_nor_priors(tmp_path):
    values, mean = 123456.789, 987.654321
    for name in ("one", "two"):
        priors = {"a": Mixture.gaussian(mean, 1.0), "b": Mixture.gaussian(0.0, 1.0)}
        charge(Ledger(tmp_path / name), hand_made(priors=priors), values=(values,))
    raw = [(tmp_path / name).read_bytes() for name in ("one", "two")]
    for number in (values, mean):
        for trace in (repr(number).encode(), np.float64(number).tobytes(), number.hex().encode()):
            assert trace not in raw[0]
    rows = [sqlite3.connect(tmp_path / n).execute("SELECT body FROM entry").fetchone()[0] for n in ("one", "two")]
    assert rows[0] != rows[1]  # salted: two ledgers cannot be compared


# ---- many processes


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """What a release imports is imported here, once, and not in each of the processes that are forked."""
    tk.release([1.0, 2.0], hand_made(1.0), ledger=Ledger(tmp_path_factory.mktemp("imported") / "l.db"))


def spend_until_refused(path, results):
    ledger, calibration, accepted = Ledger(path), hand_made(1.0), 0
    while True:
        try:
            tk.release([1.0, 2.0], calibration, ledger=ledger, theta=math.sqrt(40) * (1 + 1e-12))
            accepted += 1
        except BudgetError:
            results.put(accepted)
            return
        except LedgerError as error:  # two started it at once, and one of them is asked to try again
            if "try again" not in str(error):
                raise


@pytest.mark.usefixtures("imported")
def test_eight_processes_never_exceed_the_budget(tmp_path):
    results = FORK.Queue()
    workers = [FORK.Process(target=spend_until_refused, args=(tmp_path / "l.db", results)) for _ in range(8)]
    for worker in workers:
        worker.start()
    accepted = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(accepted) == 40 == Ledger(tmp_path / "l.db").account().releases
    assert sorted(p.name for p in tmp_path.iterdir()) == [".l.db.count", "l.db"]


def publish_until_killed(path, output, most):
    """One byte for each release that came back: what a reader of the outputs would have seen.

    After `most` it waits: on a laden machine the kill comes late, and would find thousands.
    """
    ledger, calibration = Ledger(path), hand_made(1e-3)
    for _ in range(most):
        tk.release([1.0, 2.0], calibration, ledger=ledger, theta=100.0)
        os.write(output, b"x")
    signal.pause()


def bytes_in(reader, least, until):
    """So many bytes, or fewer where who writes them has ended; then what else has come, without waiting for it."""
    found = 0
    while found < least and reader in wait([reader, until]):
        found += len(os.read(reader, least - found))
    while wait([reader], timeout=0):
        found += len(os.read(reader, 1_000))
    return found


@pytest.mark.usefixtures("imported")
def test_a_killed_process_never_publishes_more_than_it_wrote(tmp_path):
    path, kills, chance = tmp_path / "l.db", some_of(200), random.Random(0)
    reader, output = os.pipe()  # holds what was written to it when the writer is dead
    seen = unpublished = 0
    for _ in range(kills):
        wanted = chance.randrange(3)
        worker = FORK.Process(target=publish_until_killed, args=(path, output, wanted + 4))
        worker.start()
        seen += bytes_in(reader, wanted, worker.sentinel)
        time.sleep(chance.uniform(0.0, 0.01))  # anywhere in the making of the next
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        assert worker.exitcode == -signal.SIGKILL
        seen += bytes_in(reader, 0, worker.sentinel)
        account = Ledger(path).account()
        written = 0 if account is None else account.releases
        assert seen <= written
        assert written <= seen + unpublished + 1  # a kill wastes at most the release it interrupted
        unpublished = written - seen
    os.close(reader)
    os.close(output)
    assert seen > kills // 2


# ---- trouble


def charge_with_little_room(path, allowed, results):
    # A file that may not grow is what a full disk looks like; Python ignores the signal that comes with it.
    size = path.stat().st_size if path.exists() else 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + allowed, size + allowed))
    try:
        for _ in range(200):
            charge(Ledger(path), hand_made(1.0), theta=1e6)
        results.put("no refusal")
    except LedgerError as error:
        results.put(str(error))


@pytest.mark.parametrize("allowed", [0, 100, 4096, 20_000])
@pytest.mark.parametrize("existing", [True, False])
def test_a_full_disk_refuses(tmp_path, allowed, existing):
    path = tmp_path / "l.db"
    if existing:
        charge(Ledger(path), hand_made(1.0), theta=1e6)
    results = FORK.Queue()
    worker = FORK.Process(target=charge_with_little_room, args=(path, allowed, results))
    worker.start()
    message = results.get(timeout=600)
    worker.join()
    assert "cannot be" in message
    assert "othing was released" in message
    before = Ledger(path).account()
    assert charge(Ledger(path), hand_made(1.0), theta=1e6).releases == (before.releases if before else 0) + 1


def test_a_flipped_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "l.db"
    for _ in range(3):
        charge(Ledger(path), hand_made(1.0), theta=4.0)
    whole, truth = path.read_bytes(), Ledger(path).account()
    chance, noticed = random.Random(1), 0
    used = [i for i, byte in enumerate(whole) if byte]  # the rest of the pages is empty space
    for place in used:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        path.unlink()  # writing over a file makes the disk wait
        path.write_bytes(damaged)
        try:
            seen = Ledger(path).account()
        except LedgerError:
            noticed += 1
        else:
            assert seen == truth
    assert noticed > 300


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"not a database, but long enough to be taken for one" * 40, "damaged or no ledger"),
        (b"short", "no ledger"),
    ],
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content, says):
    path = tmp_path / "l.db"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=says):
        charge(Ledger(path), hand_made())
    assert path.read_bytes() == content


def test_a_truncated_ledger_is_refused(tmp_path):
    path = tmp_path / "l.db"
    charge(Ledger(path), hand_made(), theta=4.0)
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2, 4096, 1024, 100, 1):
        path.write_bytes(whole[:size])
        with pytest.raises(LedgerError, match=r"damaged|no ledger"):
            charge(Ledger(path), hand_made())


def test_a_ledger_that_lost_a_last_byte_is_refused_whatever_the_byte_was(tmp_path):
    # SQLite reads missing bytes as zeros, so that a lost zero would tell in no other way.
    path = tmp_path / "l.db"
    charge(Ledger(path), hand_made(), theta=4.0)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LedgerError, match="cut short"):
        charge(Ledger(path), hand_made())


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entry WHERE number = (SELECT max(number) FROM entry)",
        "DELETE FROM entry",
        "DELETE FROM head",
        "UPDATE entry SET body = replace(body, 'release', 'nothing')",
        "UPDATE entry SET number = number + 1 WHERE number = 3",
        "UPDATE head SET salt = zeroblob(32)",
        "DROP TABLE entry",
        "PRAGMA user_version = 3",
        "PRAGMA application_id = 7",
    ],
)
def test_edits_by_hand_are_noticed(tmp_path, statement):
    path = tmp_path / "l.db"
    for _ in range(2):
        charge(Ledger(path), hand_made(1.0), theta=4.0)
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()
    with pytest.raises(LedgerError):
        charge(Ledger(path), hand_made(1.0), theta=4.0)


def test_a_ledger_that_cannot_be_made_refuses(tmp_path):
    with pytest.raises(LedgerError, match="cannot be written"):
        charge(Ledger(tmp_path / "no such folder" / "l.db"), hand_made())
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerError, match="cannot be opened"):
        charge(Ledger(tmp_path / "folder"), hand_made())


def refuse_to_write(*_, **__):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_a_folder_that_may_only_be_read_is_told_in_a_sentence_and_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.touch", refuse_to_write)
    monkeypatch.setattr("pathlib.Path.unlink", refuse_to_write)  # as it does for a file that is not there either
    with pytest.raises(LedgerError, match=r"cannot be written: Read-only file system\. .* another place with `ledger`"):
        charge(Ledger(tmp_path / "l.db"), hand_made())
    with pytest.raises(LedgerError, match="Read-only file system"):
        require_place(tmp_path / "l.db")


def test_where_a_ledger_can_be_written_nothing_is_left_by_asking(tmp_path, monkeypatch):
    require_place(tmp_path / "l.db")
    assert not any(tmp_path.iterdir())
    (tmp_path / "file").write_text("x")
    for path, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "missing" / "l.db", "there is no folder"),
        (tmp_path / "file" / "l.db", "Not a directory"),
    ):
        with pytest.raises(LedgerError, match=why):
            require_place(path)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(LedgerError, match="only be read"):
        require_place(tmp_path / "file")


def test_no_work_is_done_for_a_ledger_that_has_no_place(tmp_path, monkeypatch):
    monkeypatch.setattr("takifugu.publishing.publication.calibrated", lambda *_, **__: pytest.fail("work was done"))
    people = pd.DataFrame({"ill": ["yes", "no"] * 20, "ward": ["A", "B"] * 20})
    with pytest.raises(LedgerError, match="there is no folder"):
        tk.publish(people, secret="ill", columns=["ward"], ledger=tmp_path / "no" / "l.db")


def test_a_ledger_in_use_refuses_in_the_end(tmp_path, monkeypatch):
    path = tmp_path / "l.db"
    charge(Ledger(path), hand_made(1.0), theta=4.0)
    monkeypatch.setattr("takifugu.releases.ledger_file._PATIENCE", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="in use"):
        charge(Ledger(path), hand_made(1.0), theta=4.0)
    holder.close()
    assert charge(Ledger(path), hand_made(1.0), theta=4.0).releases == 2


def test_a_budget_is_a_calibration_with_noise(tmp_path):
    with pytest.raises(InputError, match="must be a Calibration"):
        Ledger(tmp_path / "l.db", budget=1.0)
    with pytest.raises(InputError, match="theta must be a finite number"):
        hand_made(math.inf, epsilon=1.0)


def test_a_channel_from_a_list_has_no_room_within_a_budget_of_noise():
    account = Account(2.0, "a budget", releases=1, spent=WHOLE // 2)
    with pytest.raises(CompositionError, match="another kind of noise"):
        account.charged({"theta": math.inf.hex()})
