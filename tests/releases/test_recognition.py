"""People, not file names: a record leaves once, whatever its file is called and whoever is beside it."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from calibrations import hand_made

import takifugu as tk
from takifugu._work import listening
from takifugu.errors import CompositionError, InputError, LedgerError, PublishedOnceError
from takifugu.publishing import default_ledger
from takifugu.releases.ledger import Ledger
from takifugu.releases.ledgers_nearby import ledger_beside
from takifugu.tables.table import Table

ASKED = {"secret": "s", "columns": ["x"], "confidence": None, "utility": tk.Utility(allow_no_noise=True)}


def people(rows, start, seed=0):
    chance = np.random.default_rng(seed + start)
    secret = chance.choice(["a", "b"], rows)
    shown = np.where(secret == "a", chance.integers(0, 4, rows), chance.integers(1, 5, rows))
    return pd.DataFrame({"nr": np.arange(start, start + rows), "s": secret, "x": shown})


OLD, JANUARY, FEBRUARY = people(600, 0), people(300, 600), people(300, 900)


def together(*tables):
    return pd.concat(tables, ignore_index=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_last_years_rows_with_january_appended_are_refused_and_january_can_leave(folder):
    """The break of 0.2: the same command started a new ledger, and 600 people went out a second time."""
    OLD.to_csv("2024.csv", index=False)
    tk.publish("2024.csv", **ASKED, id="nr", ledger="people.ledger")
    together(OLD, JANUARY).to_csv("2025.csv", index=False)
    again = {
        "appended": "2025.csv",
        "no ledger named": "2025.csv",
        "sorted, and in another format": "sorted.parquet",
        "in memory": together(JANUARY, OLD.astype(str)).sample(frac=1, random_state=0),
        "of some of them": OLD.head(10).assign(s=["a", "b"] * 5),
    }
    together(OLD, JANUARY).sort_values("x").to_parquet("sorted.parquet")
    for what, table in again.items():
        named = {} if what == "no ledger named" else {"ledger": "people.ledger"}
        with pytest.raises(LedgerError, match=r"published before|knows some of these records"):
            tk.publish(table, **ASKED, **named)
    made = tk.publish("2025.csv", **ASKED, ledger=tk.Ledger("people.ledger", only_new=True))
    assert len(made.table) == len(JANUARY)
    # People who are all new need nothing: the ledger knows them apart by their id.
    assert len(tk.publish(FEBRUARY, **ASKED, ledger="people.ledger").table) == len(FEBRUARY)
    with pytest.raises(PublishedOnceError, match=r"1,200 of 1,200 rows are of people"):
        tk.publish(together(OLD, JANUARY, FEBRUARY), **ASKED, ledger="people.ledger")
    with pytest.raises(PublishedOnceError, match="all rows of this table were published before"):
        tk.publish("2025.csv", **ASKED, ledger=tk.Ledger("people.ledger", only_new=True))


def test_without_an_id_what_was_read_of_rows_tells_them_apart_and_chance_is_named(folder):
    tk.publish(OLD, **ASKED, ledger="people.ledger")
    both = together(OLD, JANUARY)
    with pytest.raises(PublishedOnceError, match=r"600 of 900 rows agree in the values of 's', 'x' .* by chance"):
        tk.publish(both, **ASKED, ledger="people.ledger")
    with pytest.raises(PublishedOnceError, match="600 of 900 rows"):  # other columns of the file are no disguise
        tk.publish(both.assign(y=range(900)), **(ASKED | {"columns": ["y"]}), ledger="people.ledger")
    with pytest.raises(PublishedOnceError, match=r"300 of 300 rows .* new_people=True"):
        tk.publish(JANUARY, **ASKED, ledger="people.ledger")
    with pytest.raises(CompositionError, match="lacks some that were published"):
        tk.publish(together(OLD.tail(10), JANUARY), **ASKED, ledger=tk.Ledger("people.ledger", only_new=True))
    shuffled = both.sample(frac=1, random_state=1)
    assert len(tk.publish(shuffled, **ASKED, ledger=tk.Ledger("people.ledger", only_new=True)).table) == 300
    assert len(tk.publish(FEBRUARY, **ASKED, ledger=tk.Ledger("people.ledger", new_people=True)).table) == 300
    for table in (FEBRUARY, OLD):  # the very rows of one release are never new, whatever is said
        with pytest.raises(PublishedOnceError, match="published before"):
            tk.publish(table, **ASKED, ledger=tk.Ledger("people.ledger", new_people=True))
    words = [row for (row,) in sqlite3.connect("people.ledger").execute("SELECT body FROM entry")]
    assert sum('"new_people": true' in one for one in words) == 1


def test_what_cannot_be_compared_is_refused(folder):
    tk.publish(OLD, **ASKED, ledger="people.ledger")
    renamed = JANUARY.rename(columns={"x": "z"})
    with pytest.raises(CompositionError, match=r"by the values of 's', 'x', which this table does not have"):
        tk.publish(renamed, secret="s", columns=["z"], confidence=None, ledger="people.ledger")
    with pytest.raises(PublishedOnceError, match="by chance"):  # an id that came later knows nobody of before
        tk.publish(together(OLD, JANUARY), **ASKED, ledger="people.ledger", id="nr")
    with pytest.raises(CompositionError, match="knows some in another way"):
        tk.publish(together(OLD, JANUARY), **ASKED, ledger=tk.Ledger("people.ledger", only_new=True), id="nr")
    with pytest.raises(CompositionError, match="another answer"):  # numbers of whom nobody knows
        tk.release([1.0, 2.0], hand_made(5.0), ledger="people.ledger")


def test_an_id_that_is_known_is_refused_whatever_is_said(folder):
    tk.publish(OLD, **ASKED, ledger="people.ledger", id="nr")
    with pytest.raises(PublishedOnceError, match="600 of 900 rows are of people"):
        tk.publish(together(OLD, JANUARY), **ASKED, ledger=tk.Ledger("people.ledger", new_people=True))
    with pytest.raises(InputError, match="no column 'number'"):
        tk.publish(JANUARY, **ASKED, ledger="people.ledger", id="number")
    holes = JANUARY.astype({"nr": float})
    holes.loc[:1, "nr"] = np.nan
    with pytest.raises(InputError, match="2 rows without a value in 'nr'"):
        tk.publish(holes, **ASKED, ledger="people.ledger")


@pytest.mark.parametrize(
    "named",
    [
        {"columns": ["nr"]},
        {"keep": ["nr"]},
        {"adversary": tk.Adversary(known=["nr"], repeats="independent")},
        {"secret": "nr"},
    ],
)
def test_what_tells_people_apart_goes_nowhere_else(folder, named):
    """Rows of a person are joined by a published id, whatever hides each of them."""
    twice = together(OLD, OLD)
    independent = {"adversary": tk.Adversary(repeats="independent")}
    with pytest.raises(InputError, match="'nr' tells people apart, and is never published"):
        tk.publish(twice, **(ASKED | independent | named), id="nr", ledger="people.ledger")
    with pytest.raises(InputError, match="id must be the name of a column"):
        tk.publish(OLD, **ASKED, id="", ledger="people.ledger")
    tk.publish(OLD, **ASKED, id="nr", ledger="people.ledger")
    with pytest.raises(InputError, match="'nr' tells people apart, and is never published"):
        tk.publish(JANUARY, **(ASKED | named), ledger="people.ledger")  # which knows it


def test_two_ledgers_in_a_folder_do_not_let_a_table_in_memory_out_twice(folder):
    tk.publish(OLD, **ASKED, ledger="people.ledger")
    with pytest.raises(LedgerError, match=r"people\.ledger knows some of these records"):
        tk.publish(together(OLD, JANUARY), **ASKED, ledger="other.ledger")
    with pytest.raises(LedgerError, match=r"knows some of these records.* if these are other people.*new_people=True"):
        tk.publish(FEBRUARY, **ASKED, ledger="other.ledger")
    tk.publish(FEBRUARY, **ASKED, ledger=tk.Ledger("other.ledger", new_people=True))


def test_a_table_in_memory_is_not_released_through_a_second_ledger_of_a_folder(tmp_path):
    calibration = hand_made(2.0)
    how = {"column": "v", "secret": "s"}
    rows = pd.DataFrame({"nr": range(40), "s": ["a", "b"] * 20, "v": np.arange(40.0)})
    tk.release(rows, calibration, ledger=Ledger(tmp_path / "one.db", id="nr"), **how)
    for again in (rows, rows.iloc[::-1], rows.tail(1), rows.rename(columns={"nr": "id"}).assign(nr=rows["nr"])):
        for ledger in (Ledger(tmp_path / "two.db"), Ledger(tmp_path / "two.db", id="nr")):
            with pytest.raises(LedgerError, match=r"one\.db knows some of these records"):
                tk.release(again, calibration, ledger=ledger, **how)
    assert not (tmp_path / "two.db").exists()
    others = rows.assign(nr=rows["nr"] + 40)
    tk.release(others, calibration, ledger=Ledger(tmp_path / "two.db", id="nr"), **how)


def test_a_budget_belongs_to_a_batch_of_records(tmp_path):
    """Precisions add for the very same records with the same answer; other records have a budget of their own."""
    calibration = hand_made(2.0)
    how = {"column": "v", "secret": "s", "theta": 4.0}
    first = pd.DataFrame({"nr": range(40), "s": ["a", "b"] * 20, "v": np.arange(40.0)})
    second = first.assign(nr=first["nr"] + 40)

    def released(table, **more):
        return tk.release(table, calibration, ledger=Ledger(tmp_path / "l.db", id="nr"), **(how | more))

    def account():
        return Ledger(tmp_path / "l.db").account()

    released(first)
    released(first.iloc[::-1])  # the order of rows is nobody's record
    assert (account().releases, account().fraction_spent) == (2, 0.5)
    released(second)
    assert (account().releases, account().fraction_spent) == (1, 0.25)
    released(first)
    assert (account().releases, account().fraction_spent) == (3, 0.75)
    with pytest.raises(CompositionError, match="another answer"):
        released(first.assign(v=first["v"] + 1))  # a cell was changed, and the id tells
    with pytest.raises(PublishedOnceError, match="20 of 40 rows"):
        released(pd.concat([first.tail(20), second.head(20).assign(nr=range(100, 120))]))
    released(first)
    with pytest.raises(tk.BudgetError, match="is spent"):
        released(first)


def test_of_several_ledgers_beside_a_file_the_one_that_knows_its_records_is_taken(folder):
    together(OLD, JANUARY).to_csv("all.csv", index=False)
    read = ["s", "x"]
    table = Table("all.csv")
    assert default_ledger(table, folder / "all.csv", read) == ledger_beside(folder / "all.csv")
    tk.publish(OLD, **ASKED, ledger="a.ledger", id="nr")
    assert default_ledger(table, folder / "all.csv", read).name == "a.ledger"
    tk.publish(FEBRUARY, **ASKED, ledger="b.ledger", id="nr")
    (folder / "money.ledger").write_text("2024-01-01 * Opening balances\n")  # another program's
    assert default_ledger(table, folder / "all.csv", read).name == "a.ledger"
    FEBRUARY.to_csv("february.csv", index=False)
    people(50, 5_000).to_csv("others.csv", index=False)
    assert default_ledger(Table("february.csv"), folder / "february.csv", read).name == "b.ledger"
    with pytest.raises(LedgerError, match=r"several ledgers lie beside .* 0 of them know"):
        default_ledger(Table("others.csv"), folder / "others.csv", read)
    with pytest.raises(LedgerError, match=r"a\.ledger knows some of these records"):
        tk.publish("all.csv", **ASKED, ledger="b.ledger")
    made = tk.publish(OLD, **ASKED)
    with pytest.raises(LedgerError, match="would not be counted"):
        tk.release_file("all.csv", "out.csv", made.calibration, adversary=tk.Adversary(drift="allow"))


def test_a_ledger_that_was_lost_or_is_an_older_copy_is_noticed(tmp_path):
    path, calibration = tmp_path / "l.db", hand_made(5.0)
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    older = path.read_bytes()
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    latest = path.read_bytes()
    path.write_bytes(older)
    with pytest.raises(LedgerError, match="has 2 entries, and had 3: this is an older copy"):
        tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    path.unlink()
    for act in (tk.Ledger(path).account, lambda: tk.release([1.0], calibration, ledger=path)):
        with pytest.raises(LedgerError, match="one was expected"):
            act()
    path.write_bytes(latest)
    tk.release([1.0, 2.0], calibration, ledger=path, theta=20.0)
    assert tk.Ledger(path).account().releases == 3
    path.unlink()
    tk.release([1.0, 2.0], calibration, ledger=tk.Ledger(path, new=True), theta=20.0)
    assert tk.Ledger(path).account().releases == 1


def test_records_that_were_damaged_are_noticed_and_none_is_in_the_file(folder):
    tk.publish(OLD.assign(nr=[f"patient {k}" for k in range(600)]), **ASKED, ledger="p.ledger", id="nr")
    assert b"patient" not in (folder / "p.ledger").read_bytes()
    database = sqlite3.connect("p.ledger")
    database.execute("UPDATE record SET hashes = substr(hashes, 9)")
    database.commit()
    with pytest.raises(LedgerError, match="records are missing or changed"):
        tk.publish(JANUARY.assign(nr=[f"patient {k}" for k in range(600, 900)]), **ASKED, ledger="p.ledger")


def test_a_refused_release_leaves_no_ledger(folder):
    with pytest.raises(InputError):
        tk.publish(OLD.assign(s="a"), **ASKED, ledger="p.ledger", id="nr")
    assert not list(folder.iterdir())


def test_a_ledger_that_another_process_starts_meanwhile_refuses_rows_seen_before(tmp_path):
    first, second = (tk.Ledger(tmp_path / "l.db") for _ in range(2))
    ahead = first.recognise_values(np.array([1.0]))
    assert not first.path.exists()
    how = {"count": 1, "granularity": 0.5}
    second.charge(second.recognise_values(np.array([2.0])), hand_made(5.0), **how)
    with pytest.raises(LedgerError, match="started by another process meanwhile"):
        first.charge(ahead, hand_made(5.0), **how)


def test_new_rows_are_new_no_more_once_another_process_wrote(tmp_path):
    both = together(OLD, JANUARY)
    tk.publish(OLD, **ASKED, ledger=tmp_path / "l.ledger")
    ledger = tk.Ledger(tmp_path / "l.ledger")
    import narwhals as nw

    rows = ledger.recognise(["s", "x"], ["s", "x"], ["x"])
    rows.look(nw.from_native(both, eager_only=True))
    assert ledger.new_rows(rows).sum() == 300
    tk.publish(both, **ASKED, ledger=tk.Ledger(tmp_path / "l.ledger", only_new=True))
    made = tk.publish(JANUARY, **ASKED)
    with pytest.raises(LedgerError, match="written by another process meanwhile"):
        tk.release(
            JANUARY,
            made.calibration,
            ledger=ledger,
            adversary=tk.Adversary(drift="allow"),
            utility=tk.Utility(allow_no_noise=True),
        )


# ---- people with several rows


def test_people_with_several_rows_are_refused_unless_their_rows_are_said_to_be_independent(folder):
    """X₁ = Z is nothing and X₂ = Z ⊕ S is nothing: each row leaves unchanged, and both together tell everything."""
    chance = np.random.default_rng(0)
    secret, first = chance.integers(0, 2, 400), chance.integers(0, 2, 400)
    rows = pd.DataFrame(
        {"nr": np.tile(np.arange(400), 2), "s": np.tile(secret, 2), "x": np.concatenate([first, first ^ secret])}
    )
    with pytest.raises(InputError, match=r"up to 2 rows each by the id 'nr', and the guarantee is about one row"):
        tk.publish(rows, **ASKED, id="nr")
    made = tk.publish(rows, **ASKED, id="nr", adversary=tk.Adversary(repeats="independent"))
    assert " by one row (" in made.summary.sentences[0]
    said = next(one.sentence for one in made.findings if "as the data holder states" in one.sentence)
    assert "up to 2" in said
    # One row a person: what the two tell together is hidden together.
    quick = {"confidence": None, "utility": tk.Utility(allow_no_noise=True)}
    person = pd.DataFrame({"nr": np.arange(400), "s": secret, "first": first, "second": first ^ secret})
    whole = tk.publish(person, secret="s", columns=["first", "second"], confidence=None, id="nr", odds=3)
    assert (whole.table[["first", "second"]].to_numpy() != person[["first", "second"]].to_numpy()).any()
    tk.publish(person, secret="s", columns=["first"], ledger="p.ledger", id="nr", **quick)
    later = pd.concat([rows, rows]).assign(nr=lambda table: table["nr"] + 400, first=0, second=0)
    with pytest.raises(InputError, match="up to 4 rows each by the id 'nr'"):  # which the ledger knows
        tk.publish(later, secret="s", columns=["x"], ledger="p.ledger", **quick)
    with pytest.raises(InputError, match="name the column that identifies them with id"):
        tk.publish(rows, **ASKED, adversary=tk.Adversary(repeats="independent"))
    with pytest.raises(InputError, match="give one"):
        tk.Ledger("p.ledger", only_new=True, new_people=True)


def test_the_command_publishes_what_was_appended(folder):
    from click.testing import CliRunner

    from takifugu.cli import main

    def run(source, target, *flags):
        given = ["--secret", "s", "--columns", "x", "--confidence", "0", "--quiet", *flags]
        return CliRunner().invoke(main, ["publish", source, target, *given])

    OLD.to_csv("people.csv", index=False)
    assert run("people.csv", "january.csv", "--id", "nr").exit_code == 0
    together(OLD, JANUARY).sample(frac=1, random_state=3).to_csv("everybody.csv", index=False)
    again = run("everybody.csv", "february.csv")
    assert again.exit_code == 1
    assert "600 of 900 rows are of people" in " ".join(again.output.split())
    assert "publish the others alone with --only-new" in " ".join(again.output.split())
    only = run("everybody.csv", "february.csv", "--only-new")
    assert only.exit_code == 0, only.output
    assert len(pd.read_csv("february.csv")) == 300
    assert [one.name for one in folder.glob("*.ledger")] == ["people.ledger"]


def test_whose_rows_repeat_by_id_is_refused_wherever_a_ledger_is_charged(folder):
    """`publish` refused it, and `release` with the same ledger let both rows of a person out."""
    twice = together(OLD, OLD.assign(x=OLD.x[::-1].to_numpy()))
    made = tk.calibrate(tk.fit_priors(twice, secret="s", query=tk.Row("x")), odds=3)
    twice.to_csv("people.csv", index=False)
    book = tk.Ledger("people.ledger", id="nr")
    with pytest.raises(InputError, match=r"people have up to 2 rows each by the id 'nr'.*repeats='independent'"):
        tk.release(twice, made, ledger=book)
    with pytest.raises(InputError, match="people have up to 2 rows each by the id 'nr'"):
        tk.release_file("people.csv", "out.csv", made, ledger=book)
    assert book.account() is None
    with pytest.raises(InputError, match="repeats must be one of 'refuse', 'independent'"):
        tk.Ledger("people.ledger", repeats="yes")
    assert len(tk.release(twice, made, ledger=tk.Ledger("people.ledger", id="nr", repeats="independent"))) == 1_200


def test_whose_private_counts_were_drawn_is_not_published_beside_their_ledger(folder):
    """Counts alone are in no account, so that a publication through another ledger, or none, was let out."""
    OLD.to_csv("people.csv", index=False)
    lists = {"s": ["a", "b"], "x": list(range(5))}
    private = {"secret": "s", "columns": ["x"], "domain": lists, "epsilon": 0.5}
    counts = tk.private_counts("people.csv", **private, ledger="counts.ledger", id="nr")
    for ledger in (None, "other.ledger"):
        with pytest.raises(LedgerError, match=r"counts\.ledger knows some of these records"):
            tk.publish("people.csv", **ASKED, ledger=ledger)
    made = tk.calibrate(counts, odds=4)
    with pytest.raises(LedgerError, match=r"counts\.ledger knows some of these records"):
        tk.release_file("people.csv", "out.csv", made)
    assert tk.release_file("people.csv", "out.csv", made, ledger="counts.ledger").rows == len(OLD)


@pytest.mark.parametrize("table", ["people.csv", OLD], ids=["file", "memory"])
def test_the_same_answer_about_the_same_people_is_not_called_another(folder, table):
    OLD.to_csv("people.csv", index=False)
    tk.publish(table, **ASKED, ledger="people.ledger", id="nr")
    with pytest.raises(PublishedOnceError, match="these records were published before, through a channel"):
        tk.publish(table, **ASKED, ledger="people.ledger", id="nr")


def test_neither_counts_nor_a_mean_leave_beside_the_ledger_of_the_rows(folder):
    OLD.to_csv("people.csv", index=False)
    tk.publish("people.csv", **ASKED, ledger="people.ledger")
    lists = {"s": ["a", "b"], "x": list(range(5))}
    with pytest.raises(LedgerError, match=r"people\.ledger knows some of these records"):
        tk.private_counts("people.csv", secret="s", columns=["x"], domain=lists, epsilon=0.5)
    mean = tk.calibrate(tk.fit_priors("people.csv", secret="s", query=tk.Mean("x")), alpha=2, epsilon=1)
    with pytest.raises(LedgerError, match=r"people\.ledger knows some of these records"):
        tk.release_file("people.csv", "mean.csv", mean, of="a")
    with pytest.raises(LedgerError, match="another answer about these records was published before"):
        tk.release_file("people.csv", "mean.csv", mean, of="a", ledger="people.ledger")
    with pytest.raises(LedgerError, match=r"people\.ledger knows some of these records"):
        tk.release_file("people.csv", "mean.csv", mean, of="a", ledger=tk.Ledger("mean.ledger", new_people=True))
    for ledger in ("mean.ledger", tk.Ledger("mean.ledger", new_people=True)):
        with pytest.raises(LedgerError, match=r"people\.ledger knows some of these records"):
            tk.release(OLD, mean, of="a", ledger=ledger)
    FEBRUARY.to_csv("others.csv", index=False)
    tk.release_file("others.csv", "mean.csv", mean, of="a", ledger=tk.Ledger("mean.ledger", new_people=True))


def test_capitals_blanks_and_apostrophes_make_nobody_new(folder):
    named = OLD.assign(nr=[f"Patient {k:04d}" for k in OLD.nr], x=[f"Ward {k}" for k in OLD.x])
    (folder / "ids").mkdir()
    tk.publish(named, **ASKED, ledger="people.ledger")
    tk.publish(named, **ASKED, ledger="ids/ids.ledger", id="nr")
    for change in (str.upper, lambda text: f"'{text}", lambda text: text.replace(" ", "  ")):
        with pytest.raises(PublishedOnceError):
            tk.publish(named.assign(x=named.x.map(change)), **ASKED, ledger="people.ledger")
        with pytest.raises(PublishedOnceError):
            tk.publish(named.assign(nr=named.nr.map(change), x="Ward 1"), **ASKED, ledger="ids/ids.ledger")


def test_a_copy_that_is_published_during_the_search_or_while_both_are_charged_is_not_published_twice(
    folder, monkeypatch
):
    OLD.to_csv("people.csv", index=False)
    OLD.to_csv("copy.csv", index=False)

    begun = []

    def meanwhile(what):
        if what.startswith("Finding") and not begun:
            begun.append(what)
            tk.publish("copy.csv", **ASKED, ledger="copy.ledger")

    with listening(meanwhile), pytest.raises(LedgerError, match=r"copy\.ledger knows some of these records"):
        tk.publish("people.csv", **ASKED, ledger="people.ledger")
    assert not (folder / "people.ledger").exists()


@pytest.mark.parametrize("through", ["publish", "release_file"])
def test_of_two_that_are_charged_at_the_same_moment_one_at_least_is_refused(folder, monkeypatch, through):
    """Both looked before either had written; each looks again when it has."""
    OLD.to_csv("people.csv", index=False)
    made = tk.calibrate(tk.fit_priors("people.csv", secret="s", query=tk.Row("x")), odds=3)
    charge, others = Ledger.charge, [True]

    def at_once(ledger, *rows, **options):
        if others:
            others.clear()
            tk.release_file("people.csv", "first.csv", made, ledger="first.ledger")
        return charge(ledger, *rows, **options)

    monkeypatch.setattr(Ledger, "charge", at_once)
    ways = {
        "publish": lambda: tk.publish("people.csv", **ASKED, ledger="second.ledger"),
        "release_file": lambda: tk.release_file("people.csv", "second.csv", made, ledger="second.ledger"),
    }
    with pytest.raises(LedgerError, match=r"first\.ledger knows some of these records"):
        ways[through]()
    assert not (folder / "second.csv").exists()
    assert tk.Ledger("second.ledger").account() is not None  # its charge stands: nothing was drawn


FINE = {"secret": "s", "columns": ["x", "y"], "confidence": None, "utility": tk.Utility(allow_no_noise=True)}


def singular(rows, start):
    """People of whom most can be told apart by what is read of them."""
    chance = np.random.default_rng(start)
    return people(rows, start).assign(y=chance.integers(0, 100, rows))


@pytest.mark.parametrize("what", ["a column fewer", "others appended", "more than half of them", "doubled"])
def test_nobody_is_new_against_plain_evidence(folder, what):
    old = singular(500, 0)
    tk.publish(old, **FINE, ledger="people.ledger")
    table, asked = old, FINE
    if what == "a column fewer":
        asked = FINE | {"columns": ["x"]}
    elif what == "others appended":
        table = together(old, singular(100, 500))
    elif what == "more than half of them":
        table = together(old.head(350), singular(100, 500))
    else:  # as often as it can be: it is all there
        table = together(old, singular(100, 500), old)
    for new_people in (False, True):  # neither does the refusal offer what would be refused
        with pytest.raises(PublishedOnceError, match="these are the same records, whatever is stated") as refused:
            tk.publish(table, **asked, ledger=tk.Ledger("people.ledger", new_people=new_people))
        assert "new_people" not in str(refused.value)
        with pytest.raises(LedgerError, match="knows some of these records") as refused:
            tk.publish(table, **asked, ledger=tk.Ledger("other.ledger", new_people=new_people))
        assert "new_people" not in str(refused.value)
    made = tk.calibrate(tk.Row("x", domain=[0, 1, 2, 3, 4]), odds=3, mechanism="data-free")
    with pytest.raises(PublishedOnceError, match="whatever is stated"):  # nor through a channel that is there
        tk.release(table, made, ledger=tk.Ledger("people.ledger", new_people=True))


@pytest.mark.filterwarnings("default::takifugu.errors.DiagnosticWarning")
def test_new_people_who_are_alike_by_chance_go_out_on_the_word_of_the_publisher(folder):
    tk.publish(OLD, **ASKED, ledger="people.ledger")
    with pytest.warns(tk.DiagnosticWarning, match=r"the publisher's word: 300 of 300 rows agree"):
        made = tk.publish(JANUARY, **ASKED, ledger=tk.Ledger("people.ledger", new_people=True))
    assert made.statement.content["people"] == "one row each, new"
    assert any("that nobody in it was published before" in one for one in made.statement.sentences)
    made = tk.calibrate(tk.Row("x", domain=[0, 1, 2, 3, 4]), odds=3, mechanism="data-free")
    with pytest.warns(tk.DiagnosticWarning, match=r"the publisher's word: 300 of 300 rows agree"):
        tk.release(FEBRUARY, made, ledger=tk.Ledger("people.ledger", new_people=True))
    # Whoever appends a few to a coarse table says the same of people who plainly were.
    coarse = people(900, 0).assign(x=lambda rows: rows.nr % 30)
    (folder / "coarse").mkdir()
    tk.publish(coarse, **ASKED, ledger="coarse/people.ledger")
    more = together(coarse, coarse.head(50))
    with pytest.raises(PublishedOnceError, match="all 900 rows of an earlier release are among them"):
        tk.publish(more, **ASKED, ledger=tk.Ledger("coarse/people.ledger", new_people=True))
    # Of many combinations as well, where most are not the same.
    fine = singular(500, 2000)
    (folder / "fine").mkdir()
    with pytest.warns(tk.DiagnosticWarning, match="the values of 'y' repeat"):
        tk.publish(fine, **FINE, ledger="fine/people.ledger")
    said = pytest.warns(tk.DiagnosticWarning, match=r"the publisher's word: 312 of 700 rows agree")
    with said, pytest.warns(tk.DiagnosticWarning, match="the values of 'y' repeat"):
        made = tk.publish(singular(700, 3000), **FINE, ledger=tk.Ledger("fine/people.ledger", new_people=True))
    assert made.statement.content["people"] == "one row each, new"
