"""What a ledger does not forget: an answer under another name or in another order, and that it was there at all."""

import logging

import numpy as np
import pandas as pd
import pytest
from calibrations import hand_made
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu.errors import BudgetError, CompositionError, LedgerError
from takifugu.publishing import ledger_beside
from takifugu.releases.fingerprints import AnswerDigest
from takifugu.releases.marks import mark_of
from takifugu.releases.names import skeleton
from takifugu.tables.open import open_table

SALT = bytes(32)


def fingerprint(values, *cuts):
    digest = AnswerDigest(SALT)
    for part in np.split(np.asarray(values, dtype=float), cuts):
        digest.update(part)
    return digest


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, -7.0, 1e300]), max_size=8), st.randoms(), st.integers(0, 8))
def test_an_unordered_fingerprint_follows_the_values_alone(values, random, cut):
    moved = random.sample(values, len(values))
    moved = [0.0 if value == 0 else value for value in moved]
    assert fingerprint(moved, min(cut, len(values))).unordered() == fingerprint(values).unordered()
    assert fingerprint([*values, 3.0]).unordered() != fingerprint(values).unordered()


def test_few_fingerprints_of_many_small_tables_meet():
    tables = {(a, b, c) for a in range(20) for b in range(a + 1) for c in range(b + 1)}
    assert len({fingerprint(table).unordered() for table in tables}) == len(tables)
    rows = {fingerprint([[a, b], [b, a]]).unordered() for a in range(9) for b in range(9)}
    assert len(rows) == 45  # the rows (a, b) and (b, a) in either order
    assert fingerprint([[1, 2], [3, 4]]).unordered() != fingerprint([[1, 4], [3, 2]]).unordered()


@pytest.mark.parametrize(
    "name", ["Records", " records", "records ", "rec ords", "rеcоrds", "reco\u200brds", "ｒecords", "récords"]
)
def test_a_name_that_looks_like_another_is_the_same(name, tmp_path):
    assert skeleton(name) == skeleton("records")
    calibration = hand_made(5.0)
    tk.release([1.0, 2.0], calibration, ledger=tmp_path / "l.db", theta=20.0)
    with pytest.raises(CompositionError, match="knows these records as 'records'"):
        tk.release([3.0, 4.0], calibration, ledger=tk.Ledger(tmp_path / "l.db", records=name))
    assert tk.Ledger(tmp_path / "l.db").account().releases == 1


def test_names_that_differ_have_accounts_of_their_own(tmp_path):
    for number, name in enumerate(["ward 1", "ward 2", "Пациенты", "患者", "+", "-"]):
        tk.release([float(number)], hand_made(5.0), ledger=tk.Ledger(tmp_path / "l.db", records=name))
        assert tk.Ledger(tmp_path / "l.db", records=name).account().releases == 1


def test_the_same_rows_in_another_order_have_no_second_budget(tmp_path):
    table = pd.DataFrame({"s": ["a", "b"] * 30, "v": np.arange(60.0) % 23})
    calibration = hand_made(5.0)
    how = {"column": "v", "secret": "s"}
    tk.release(table, calibration, ledger=tmp_path / "l.db", **how)
    moved = table.iloc[::-1].reset_index(drop=True)
    with pytest.raises(CompositionError, match="knows these records as 'records'"):
        tk.release(moved, calibration, ledger=tk.Ledger(tmp_path / "l.db", records="others"), **how)
    with pytest.raises(CompositionError, match="in another order"):
        tk.release(moved, calibration, ledger=tmp_path / "l.db", **how)


def test_few_common_values_are_known_again_by_their_priors(tmp_path):
    two = {s: tk.Finite(["x", "y"], weights) for s, weights in {"a": (3, 1), "b": (1, 3)}.items()}
    other = {s: tk.Finite(["x", "y"], weights) for s, weights in {"a": (2, 1), "b": (1, 2)}.items()}
    first, second = (tk.calibrate(laws, odds=2) for laws in (two, other))
    tk.release(["x", "y", "y"], first, ledger=tk.Ledger(tmp_path / "l.db", records="ward 1"))
    with pytest.raises(CompositionError, match="knows these records as 'ward 1'"):
        tk.release(["y", "x", "y"], first, ledger=tk.Ledger(tmp_path / "l.db", records="ward 2"))
    tk.release(["y", "x", "y"], second, ledger=tk.Ledger(tmp_path / "l.db", records="ward 2"))


def test_another_answer_is_refused_in_the_words_of_its_kind(tmp_path):
    table = pd.DataFrame({"s": ["a", "b"] * 40, "v": [1, 2, 1, 1] * 20, "w": [1, 1, 2, 1] * 20})
    made = {name: tk.calibrate(tk.fit_priors(table, secret="s", query=tk.Row(name)), odds=2) for name in "vw"}
    tk.release(table, made["v"], ledger=tmp_path / "rows.db")
    with pytest.raises(CompositionError, match="another answer") as refused:
        tk.release(table, made["w"], ledger=tmp_path / "rows.db")
    assert "precisions" not in str(refused.value)
    tk.release([1.0], hand_made(5.0), theta=10.0, ledger=tmp_path / "noise.db")
    with pytest.raises(CompositionError, match="since precisions add up"):
        tk.release([2.0], hand_made(5.0), ledger=tmp_path / "noise.db")
    tk.release([1.0], hand_made(5.0), ledger=tmp_path / "spent.db")
    with pytest.raises(CompositionError, match=r"nothing more can be published about these records\. If these are"):
        tk.release([2.0], hand_made(5.0), ledger=tmp_path / "spent.db")


# ---- that it was there


def test_a_deleted_ledger_does_not_start_afresh(tmp_path, caplog):
    path = tmp_path / "people.ledger"
    with caplog.at_level(logging.WARNING, "takifugu"):
        tk.release([1.0], hand_made(5.0), ledger=path)
    assert "started a new ledger" in caplog.text
    path.unlink()
    for act in (tk.Ledger(path).account, lambda: tk.release([1.0], hand_made(5.0), ledger=path)):
        with pytest.raises(LedgerError, match="says that one existed"):
            act()
    assert not path.exists()
    tk.release([1.0], hand_made(5.0), ledger=tk.Ledger(path, new=True))
    with pytest.raises(BudgetError, match="budget is spent"):
        tk.release([1.0], hand_made(5.0), ledger=path)


def test_a_file_remembers_its_ledger_in_another_folder(tmp_path, monkeypatch):
    source = tmp_path / "in.csv"
    source.write_text("s,v\na,1\nb,2\n")
    how = {"column": "v", "secret": "s"}
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    tk.release_file(source, "out.csv", hand_made(5.0), ledger="l.db", **how)
    assert mark_of(source).stat().st_mode & 0o077 == 0
    monkeypatch.chdir(tmp_path / "there")
    with pytest.raises(LedgerError, match=r"in\.csv\.ledger-mark says that one existed \(.*here/l\.db\)"):
        tk.release_file(source, "out.csv", hand_made(5.0), ledger="l.db", **how)
    assert list((tmp_path / "there").iterdir()) == []
    with pytest.raises(BudgetError, match="budget is spent"):
        tk.release_file(source, "out.csv", hand_made(5.0), ledger="../here/l.db", **how)


@pytest.mark.parametrize("again", ["in.csv", "link.csv", "[i]n.csv", "i*.csv"])
def test_no_release_of_a_remembered_file_does_without_its_ledger(again, tmp_path):
    people = tmp_path / "in.csv"
    pd.DataFrame({"s": ["a", "b"] * 60, "v": [1, 2, 1, 1] * 30}).to_csv(people, index=False)
    (tmp_path / "link.csv").symlink_to(people)
    published = tk.publish(people, secret="s", columns=["v"], confidence=None, ledger=tmp_path / "in.ledger")
    with pytest.raises(LedgerError, match=r"in\.ledger\) remembers .* name it as `ledger`"):
        tk.release_file(tmp_path / again, tmp_path / "out.csv", published.calibration)
    with pytest.raises(LedgerError, match="would not be counted"):
        tk.publish(tmp_path / again, secret="s", columns=["v"], confidence=None)
    with pytest.raises(LedgerError, match="would not be counted"):
        tk.release_file(open_table(tmp_path / again), tmp_path / "out.csv", published.calibration)
    with pytest.raises(LedgerError, match="would not be counted"):
        tk.publish(open_table(tmp_path / again), secret="s", columns=["v"], confidence=None)
    with pytest.raises(LedgerError, match="says that one existed"):
        tk.release_file(tmp_path / again, tmp_path / "out.csv", published.calibration, ledger=tmp_path / "other.ledger")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(BudgetError):
        tk.release_file(people, tmp_path / "out.csv", published.calibration, ledger=tmp_path / "in.ledger")


@pytest.mark.parametrize("again", ["a.csv", "?.csv"])
def test_every_file_of_a_pattern_is_remembered(again, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("s,v\na,1\nb,2\n")
    how = {"column": "v", "secret": "s"}
    done = tk.release_file(
        tmp_path / "*.csv", tmp_path / "out.parquet", hand_made(5.0), ledger=tmp_path / "l.db", **how
    )
    assert done.rows == 4
    assert all(mark_of(tmp_path / name).exists() for name in ("a.csv", "b.csv"))
    with pytest.raises(LedgerError, match="remembers what was published"):
        tk.release_file(tmp_path / again, tmp_path / "again.parquet", hand_made(5.0), **how)


def test_an_open_table_leaves_its_mark(tmp_path):
    (tmp_path / "a.csv").write_text("s,v\na,1\nb,2\n")
    table = open_table(tmp_path / "a.csv")
    tk.release_file(table, tmp_path / "out.csv", hand_made(5.0), ledger=tmp_path / "l.db", column="v", secret="s")
    assert mark_of(tmp_path / "a.csv").exists()


def test_the_ledger_beside_a_file_speaks_for_it_without_a_mark(tmp_path):
    """What was dropped on the page left no mark beside a file whose place the page cannot know."""
    (tmp_path / "a.csv").write_text("s,v\na,1\nb,2\n")
    tk.release([1.0], hand_made(5.0), ledger=tmp_path / "a.ledger")
    with pytest.raises(LedgerError, match=r"a\.ledger\) remembers what was published"):
        tk.release_file(tmp_path / "a.csv", tmp_path / "out.csv", hand_made(5.0), column="v", secret="s")


def test_what_was_refused_leaves_no_mark(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("s,v\na,1\nc,2\n")
    with pytest.raises(tk.InputError, match="outside the calibrated pairs"):
        tk.release_file(source, tmp_path / "out.csv", hand_made(5.0), column="v", secret="s", ledger=tmp_path / "l.db")
    assert not list(tmp_path.glob(".*"))
    assert list(tmp_path.iterdir()) == [source]  # nor a ledger


def test_a_ledger_that_another_process_starts_meanwhile_refuses_a_fingerprint_made_before(tmp_path):
    first, second = (tk.Ledger(tmp_path / "l.db") for _ in range(2))
    ahead = first.answer_digest(ahead=True)
    assert not first.path.exists()
    assert first.answer_digest(ahead=True).hexdigest() == ahead.hexdigest()
    second.charge("a", hand_made(5.0), theta=5.0, count=1, granularity=0.5)
    with pytest.raises(LedgerError, match="started by another process meanwhile"):
        first.charge(ahead.hexdigest(), hand_made(5.0), theta=5.0, count=1, granularity=0.5)
    assert first.answer_digest(ahead=True).hexdigest() == second.answer_digest().hexdigest() != ahead.hexdigest()


def test_a_folder_that_cannot_be_written_is_told_and_no_hindrance(tmp_path, caplog, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("takifugu.releases.marks.Path.write_text", refuse)
    with caplog.at_level(logging.WARNING, "takifugu"):
        tk.release([1.0], hand_made(5.0), ledger=tmp_path / "l.db")
    assert "no mark of the ledger could be left" in caplog.text
    assert tk.Ledger(tmp_path / "l.db").account().releases == 1


def test_publish_leaves_its_mark_beside_the_table(tmp_path):
    people = tmp_path / "people.csv"
    pd.DataFrame({"s": ["a", "b"] * 60, "v": [1, 2, 1, 1] * 30}).to_csv(people, index=False)
    tk.publish(people, secret="s", columns=["v"], confidence=None, ledger=tmp_path / "people.ledger")
    with pytest.raises(LedgerError, match="says that one existed"):
        tk.publish(people, secret="s", columns=["v"], confidence=None, ledger=tmp_path / "another.ledger")


@pytest.mark.parametrize("first", ["people.csv", "elsewhere/link.csv"])
def test_a_link_is_one_more_name_of_the_file_it_leads_to(first, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "people.csv").write_text("s,x\n" + "".join(f"{'ab'[k % 2]},{k % 3}\n" for k in range(60)))
    (tmp_path / "elsewhere/link.csv").symlink_to(tmp_path / "people.csv")
    then = {"people.csv": "elsewhere/link.csv", "elsewhere/link.csv": "people.csv"}[first]
    asked = {"secret": "s", "columns": ["x"], "allow_no_noise": True}
    tk.publish(tmp_path / first, **asked, ledger=ledger_beside(tmp_path / first))
    with pytest.raises(LedgerError, match="says that one existed"):
        tk.publish(tmp_path / then, **asked, ledger=ledger_beside(tmp_path / then))


def test_an_older_copy_of_a_ledger_is_not_taken_for_the_latest(tmp_path):
    path, calibration = tmp_path / "l.db", hand_made(5.0)
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    older = path.read_bytes()
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    latest = path.read_bytes()
    path.write_bytes(older)
    for act in (lambda: tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0), tk.Ledger(path).account):
        with pytest.raises(LedgerError, match=r"has 2 entries, and .* says that it had 3: this is an older copy"):
            act()
    path.write_bytes(latest)
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    assert tk.Ledger(path).account().releases == 3


def test_a_new_ledger_that_was_asked_for_is_no_older_copy(tmp_path):
    path, calibration = tmp_path / "l.db", hand_made(5.0)
    for _ in range(3):
        tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    path.unlink()
    tk.release([1.0, 2.0], calibration, ledger=tk.Ledger(path, new=True), theta=20.0)
    assert tk.Ledger(path).account().releases == 1
    assert mark_of(path).read_text().splitlines()[1] == "2"


def test_a_mark_without_a_count_or_with_nonsense_in_it_counts_nothing(tmp_path):
    path, calibration = tmp_path / "l.db", hand_made(5.0)
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    for content in ("", "somewhere\n", "somewhere\nmany\n", "\x00\n"):
        mark_of(path).write_text(content)
        assert tk.Ledger(path).account().releases == 1


def test_another_ledger_that_is_there_does_not_do(tmp_path):
    for name in ("people", "other"):
        frame = pd.DataFrame({"s": ["a", "b"] * 60, "v": [1, 2, 1, 1] * 30})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    asked = {"secret": "s", "columns": ["v"], "confidence": None}
    tk.publish(tmp_path / "people.csv", **asked, ledger=tmp_path / "a.ledger")
    tk.publish(tmp_path / "other.csv", **asked, ledger=tmp_path / "b.ledger")
    other = tk.Ledger(tmp_path / "b.ledger", records="people")
    with pytest.raises(LedgerError, match=r"a\.ledger\) remembers .*Nothing was released; name the first"):
        tk.publish(tmp_path / "people.csv", **asked, ledger=other)
    # Other people's records in a file of the same name: a new ledger was asked for, and is known from then on.
    tk.publish(tmp_path / "people.csv", **asked, ledger=tk.Ledger(tmp_path / "c.ledger", new=True))
    with pytest.raises(BudgetError):
        tk.publish(tmp_path / "people.csv", **asked, ledger=tmp_path / "c.ledger")
    with pytest.raises(LedgerError, match="remembers"):
        tk.publish(tmp_path / "people.csv", **asked, ledger=other)


@pytest.mark.parametrize("line", [b"a\0b", b"/" + b"y" * 300])
def test_a_mark_that_names_no_file_is_a_sentence(tmp_path, line):
    for name in ("people", "other"):
        pd.DataFrame({"s": ["a", "b"] * 60, "v": [1, 2, 1, 1] * 30}).to_csv(tmp_path / f"{name}.csv", index=False)
    asked = {"secret": "s", "columns": ["v"], "confidence": None}
    tk.publish(tmp_path / "other.csv", **asked, ledger=tmp_path / "b.ledger")
    mark_of(tmp_path / "people.csv").write_bytes(line + b"\n")
    with pytest.raises(LedgerError, match="Nothing was released"):
        tk.publish(tmp_path / "people.csv", **asked, ledger=tk.Ledger(tmp_path / "b.ledger", records="people"))
