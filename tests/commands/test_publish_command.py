"""takifugu publish: all files or none, what is public and what is not, and once for each body of records."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import takifugu as tk
from takifugu.cli import main
from takifugu.releases.ledger import Ledger

FILES = {
    "published.csv",
    "published-report.html",
    "published-certificate.json",
    "published-certificate-public.json",
    "published-statement.json",
    "published-calibration.json",
    "people.ledger",
}


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    second = rng.random(240) < 0.45
    path = tmp_path / "people.csv"
    pd.DataFrame(
        {
            "diagnosis": np.where(second, "flu", "none"),
            "stay": rng.integers(1, 6, 240) + second,
            "ward": np.where(rng.random(240) < np.where(second, 0.7, 0.4), "A", "B"),
            "note": ["=1+1", "fine"] * 120,
            "copy": np.where(second, "x", "y"),
            "even": np.arange(240) % 2,
        }
    ).to_csv(path, index=False)
    return path


def run(table, *arguments):
    given = [table, table.with_name("published.csv"), "--secret", "diagnosis", "--confidence", "0.8", *arguments]
    return CliRunner().invoke(main, ["publish", *map(str, given)])


def test_what_was_published_is_audited_with_its_positions(table):
    folder = table.parent
    done = run(table, "--columns", "stay,ward", "--positions", folder / "key.csv")
    assert done.exit_code == 0, done.output
    assert names(table) == {*FILES, "key.csv"}
    assert "240 rows, shuffled (public)" in done.output
    assert "which row stands where, for takifugu audit (private)" in " ".join(done.output.split())
    given = ["--truth", table, "--calibration", folder / "published-calibration.json", "--level", "1e-6"]
    attack = ["audit", folder / "published.csv", *given, "--positions", folder / "key.csv"]
    found = CliRunner().invoke(main, [*map(str, attack)])
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("No attack contradicts the guarantee")


def test_the_key_is_a_file_of_its_own(table):
    for key in ("published.csv", "published-report.html", "people.csv"):
        assert run(table, "--columns", "stay", "--positions", table.parent / key).exit_code == 2
    assert names(table) == set()


def test_an_order_that_is_kept_is_stated(table):
    done = run(table, "--columns", "stay", "--order", "keep")
    assert done.exit_code == 0, done.output
    assert done.output.count("whoever published them states") == 1
    folder = table.parent
    for name in ("report.html", "certificate.json", "certificate-public.json"):
        told = (folder / f"published-{name}").read_text(encoding="utf-8")
        assert any(words in told for words in ("states that their order is random", "kept: stated to be random"))


def names(table):
    return {path.name for path in table.parent.iterdir() if not path.name.startswith(".")} - {table.name}


def test_all_files_appear_and_agree(table):
    result = run(table, "--columns", "stay,ward", "--odds", "2.5", "--keep", "note")
    assert result.exit_code == 0, result.output
    assert names(table) == FILES
    folder = table.parent
    out = pd.read_csv(folder / "published.csv")
    assert sorted(out.columns) == ["note", "stay", "ward"]
    assert len(out) == 240
    assert set(out["note"]) == {"'=1+1", "fine"}
    proved = tk.verify(folder / "published-certificate.json")
    calibration = tk.Calibration.load(folder / "published-calibration.json")
    assert proved.calibration == calibration
    assert calibration.guarantee.most_odds == pytest.approx(2.5)
    assert calibration.answer.columns == ("stay", "ward")
    public = (folder / "published-certificate-public.json").read_text()
    assert json.loads(public)["certificate_sha256"] == proved.sha256
    assert '"laws"' not in public
    for name in FILES - {"published.csv", "published-certificate-public.json", "published-statement.json"}:
        assert (folder / name).stat().st_mode & 0o077 == 0, name
    assert Ledger(folder / "people.ledger").account().releases == 1
    told = "".join(result.stdout.split())
    assert "(public)" in told
    assert "(private)" in told


def test_a_name_with_a_comma_stands_in_quotes_and_a_strange_target_is_told_at_once(tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"stay, days": rng.integers(0, 5, 300), "id": range(300), "ill": rng.choice(["y", "n"], 300)})
    people.loc[people["ill"] == "y", "stay, days"] += 1
    people.to_csv(tmp_path / "people.csv", index=False)
    asked = ["publish", str(tmp_path / "people.csv"), "--secret", "ill", "--columns"]
    done = CliRunner().invoke(main, [*asked, '"stay, days"', str(tmp_path / "out.csv")])
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv(tmp_path / "out.csv")) == ["stay, days"]
    strange = CliRunner().invoke(main, [*asked, "ill", str(tmp_path / "out.docx")])
    assert strange.exit_code == 2
    assert "neither Parquet nor CSV" in strange.output
    assert "Reading" not in strange.output


def test_what_numbers_the_rows_is_not_published(tmp_path):
    people = pd.DataFrame({"case": range(1, 301), "ill": ["y", "n", "n"] * 100})
    with pytest.raises(tk.InputError, match="'case' numbers the rows"):
        tk.publish(people, secret="ill", columns=["case"], odds=3)
    hundreds, bare = {"case": [0, 100, 200, 300]}, tk.Utility(allow_no_noise=True)
    tens = tk.publish(people, secret="ill", columns=["case"], domain=hundreds, odds=3, utility=bare)
    assert set(tens.table["case"]) <= {0, 100, 200, 300}


def test_records_are_published_once(table):
    assert run(table, "--columns", "stay", "--odds", "1.5").exit_code == 0
    before = {path: path.read_bytes() for path in table.parent.iterdir()}
    again = CliRunner().invoke(
        main, ["publish", str(table), str(table.with_name("more.csv")), "--secret", "diagnosis", "--columns", "ward"]
    )
    assert again.exit_code == 1
    assert "published before" in again.stderr
    over = run(table, "--columns", "stay")
    assert over.exit_code == 2
    assert "exists already" in over.stderr
    assert {path: path.read_bytes() for path in table.parent.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("--columns", "stay", "--odds", "1"), 2, "odds"),
        (("--columns", "stay", "--alpha", "2"), 2, "--epsilon is missing"),
        (("--columns", "stay", "--odds", "2", "--error", "0.2"), 2, "--error takes the place of --odds"),
        (("--columns", "stay", "--best-guess", "0.6", "--error", "0.2"), 2, "--error takes the place of --best-guess"),
        (("--columns", "stay", "--best-guess", "60"), 2, "between 0.5"),
        (("--columns", "stay", "--error", "1e-9"), 1, "Allow a larger error"),
        (("--columns", "nothing"), 2, "no column 'nothing'"),
        (("--columns", "diagnosis"), 2, "both the secret and the answer"),
        (("--columns", "stay", "--odds", "1.5", "--keep", "copy"), 2, "knows the secret"),
        (("--columns", "stay", "--odds", "1.5", "--keep", "diagnosis"), 2, "is the secret"),
        (("--columns", "stay", "--pair", "flu", "cold"), 2, "cold"),
        (("--columns", "stay", "--folder", "no/such/folder"), 2, "no/such/folder"),
        (("--columns", "stay", "--domain", "absent.json"), 2, "absent.json"),
        (("--columns", "copy", "--odds", "1000000", "--confidence=0"), 2, "given 2 times"),
    ],
)
def test_a_refusal_leaves_nothing_behind(table, arguments, status, says):
    result = run(table, *arguments)
    assert result.exit_code == status, result.output
    assert says in result.stderr
    left = names(table)
    assert left <= {"people.ledger"}
    assert not left or Ledger(table.with_name("people.ledger")).account() is None


@pytest.mark.parametrize("ledger", ["no/such.ledger", "people.csv/such.ledger"])
def test_a_ledger_that_has_no_place_is_told_before_the_work(table, ledger):
    result = run(table, "--columns", "stay", "--ledger", table.parent / ledger)
    assert result.exit_code == 1, result.output
    assert not result.stdout
    assert "cannot be written" in result.stderr
    assert "another place with --ledger" in result.stderr
    assert not names(table)


def test_values_leave_as_they_are_only_when_asked(table):
    frame = pd.read_csv(table)
    frame["same"] = ["u", "v"] * 120
    frame["diagnosis"] = ["flu", "flu", "none", "none"] * 60
    frame.to_csv(table, index=False)
    refused = run(table, "--columns", "same", "--odds", "50")
    assert refused.exit_code == 1
    assert "--allow-no-noise" in refused.stderr
    assert names(table) == set()
    done = run(table, "--columns", "same", "--odds", "50", "--allow-no-noise", "--order", "keep")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(table.with_name("published.csv"))["same"].tolist() == frame["same"].tolist()


def test_a_promise_can_be_asked_for_backwards(table):
    result = run(table, "--columns", "stay", "--error", "0.25")
    assert result.exit_code == 0, result.output
    assert "Trying" in result.output
    told = " ".join(result.output.split())
    assert "an error of 0.25 of the spread at most was requested" in told
    assert "Attack accuracy, at most:" in told


def test_a_rare_secret_can_be_left_out_with_its_rows(table):
    frame = pd.read_csv(table)
    frame.loc[:2, "diagnosis"] = "rare"
    frame.to_csv(table, index=False)
    result = run(table, "--columns", "stay", "--odds", "1.5", "--leave-out", "rare")
    assert result.exit_code == 0, result.output
    assert len(pd.read_csv(table.with_name("published.csv"))) == 237
    made = tk.Calibration.load(table.with_name("published-calibration.json"))
    assert set(made.pairs.secrets) == {"flu", "none"}


def test_a_group_of_one_row_is_left_out_as_the_refusal_says(table):
    frame = pd.read_csv(table)
    frame.loc[0, "diagnosis"] = "rare"
    frame.to_csv(table, index=False)
    refused = run(table, "--columns", "stay", "--odds", "1.5")
    assert refused.exit_code == 2
    assert refused.stderr.endswith("from which it is then not hidden, or leave it out with --leave-out\n")
    asked = ["calibrate", str(table), "--secret", "diagnosis", "--query", "row:stay", "--odds", "1.5"]
    assert "leave it out by naming the others with --pair\n" in CliRunner().invoke(main, asked).stderr
    advice = r"with Reading\(leave_out=\[...\]\) in publish or by naming the others in `secrets`"
    with pytest.raises(tk.InputError, match=advice):
        tk.publish(table, secret="diagnosis", columns=["stay"])
    assert run(table, "--columns", "stay", "--odds", "1.5", "--leave-out", "rare").exit_code == 0
    assert len(pd.read_csv(table.with_name("published.csv"))) == 239


def test_findings_speak_in_flags(table):
    frame = pd.read_csv(table)
    frame["stay"] = frame["stay"].astype(str)
    frame.loc[:20, "stay"] = "NA"
    frame.to_csv(table, index=False)
    result = run(table, "--columns", "stay", "--odds", "1.5")
    told = " ".join(result.output.split())
    assert "--na to change that" in told
    assert "`na`" not in told


def test_what_others_believe_and_cells_of_kept_columns(table):
    last_year = table.with_name("2023.csv")
    pd.read_csv(table).sample(frac=1, random_state=1).head(200).to_csv(last_year, index=False)
    first = run(table, "--columns", "stay", "--belief", f"last year={last_year}", "--quiet")
    assert first.exit_code == 0, first.output
    report = html.unescape(table.with_name("published-report.html").read_text("utf-8"))
    assert "It holds also for an adversary who believes 'last year'" in report
    for path in set(table.parent.iterdir()) - {table, last_year}:  # the ledger's marks too
        path.unlink()
    second = run(table, "--columns", "stay", "--keep", "ward", "--quiet", "--order", "keep")
    assert second.exit_code == 0, second.output
    assert "and who knows ward, through stay, posterior odds" in " ".join(second.output.split())
    out = pd.read_csv(table.with_name("published.csv"))
    assert out["ward"].tolist() == pd.read_csv(table)["ward"].tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--belief", "2023.csv"), "--belief must be NAME=FILE"),
        (("--belief", "a=x.csv", "--belief", "a=y.csv"), "--belief names 'a' twice"),
        (("--only-beliefs",), "--only-beliefs leaves no priors"),
    ],
)
def test_options_about_beliefs_are_checked_in_their_own_words(table, arguments, words):
    result = run(table, "--columns", "stay", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    assert not names(table)


def test_the_table_itself_is_not_called_published(table):
    given = ["publish", str(table), str(table), "--secret", "diagnosis", "--columns", "stay"]
    over = CliRunner().invoke(main, given)
    assert over.exit_code == 2
    assert "people.csv' is the table itself: name another file" in over.stderr


def test_what_holds_no_priors_is_told_and_not_proved(table):
    assert run(table, "--columns", "stay").exit_code == 0
    for name, told in (
        ("published-statement.json", "posterior odds between two values of 'diagnosis' change"),
        ("published-certificate-public.json", "This is the public part of a private certificate"),
    ):
        found = CliRunner().invoke(main, ["verify", str(table.with_name(name))])
        assert found.exit_code == 1
        assert told in found.stdout
        assert "Checked: " in found.stdout
        assert "Not checked: " in found.stdout
        assert "Proved" not in found.stdout
        assert f"CERTIFICATE --public {name}" in " ".join(found.stderr.split())
    path = table.with_name("published-statement.json")
    given = ["verify", str(path), "--public", str(table.with_name("published.csv"))]
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 1
    assert "and the table is its own.\nNot checked: that the guarantee holds." in found.stdout
    path.write_text(path.read_text(encoding="utf-8").replace('"rows": 240', '"rows": 241'), encoding="utf-8")
    changed = CliRunner().invoke(main, ["verify", str(path)])
    assert changed.exit_code == 1
    assert changed.stdout == ""
    assert "was changed after it was made" in " ".join(changed.stderr.split())


def test_a_misspelt_label_of_a_merge_is_named(table):
    people = pd.read_csv(table)
    people.loc[:9, "diagnosis"] = "HIV"
    people.loc[10:15, "ward"] = "Annex"
    people.to_csv(table, index=False)
    for merge, near in (("rare=HIVV", "HIV"), ("rare=HIV,fluu", "flu"), ("big=A,Anex", "Annex")):
        refused = run(table, "--columns", "stay,ward", "--merge", merge, "--dry-run")
        assert refused.exit_code == 2
        said = " ".join(refused.stderr.split())
        label = merge.replace("=", ",").split(",")[-1]
        assert f"'{label}' cannot be merged into " in said
        assert f"since no column has that label. Did you mean '{near}'?" in said
    reading = tk.Reading(tidy=True, merge={"rare": ["hiv", "FLUU"]})
    with pytest.raises(tk.InputError, match=r"'fluu' cannot be merged into 'rare'.* Did you mean 'flu'"):
        tk.publish(people, secret="diagnosis", columns=["stay"], reading=reading, ledger=table.with_name("a.ledger"))
    right = run(table, "--columns", "stay", "--merge", "rare=HIV,flu", "--dry-run")
    assert "Nothing was published" in right.stdout, right.stderr


def test_columns_that_are_all_of_another_file_are_named(table):
    target = table.with_name("out.csv")
    given = ["publish", str(table), str(target), "--secret", "diagnoses", "--columns", "stays"]
    refused = CliRunner().invoke(main, given)
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.split())
    assert "has no column 'stays'. Did you mean 'stay'?" in said
    with pytest.raises(tk.InputError, match=r"no column 'stays'. Did you mean 'stay'\?"):
        tk.publish(pd.read_csv(table), secret="diagnoses", columns=["stays"], ledger=table.with_name("a.ledger"))


def test_a_dry_run_tells_and_leaves_nothing(table):
    given = ("--columns", "stay", "--odds", "2.5")
    dry = run(table, *given, "--dry-run")
    assert dry.exit_code == 0, dry.stderr
    assert "Nothing was published, written or charged." in dry.stdout
    assert names(table) == set()
    assert not list(table.parent.glob(".*"))
    bare = run(table, "--columns", "even", "--dry-run")
    assert bare.exit_code == 1
    assert "would be refused: values are published as they are" in " ".join(bare.stdout.split())
    done = run(table, *given)
    assert done.exit_code == 0, done.stderr
    (told,) = (line for line in " ".join(dry.stdout.split()).split(". ") if "Would be changed: " in line)
    assert told.replace("Would be changed", "Changed") in " ".join(done.stdout.split())
    again = run(table, *given, "--dry-run")  # after the publication too: what it would be, and that it is refused
    assert again.exit_code == 1, again.stderr
    said = " ".join(again.stdout.split())
    assert "It would be refused: these records were published before" in said
    assert told in said


def test_bins_and_shares_that_moved_are_told(table):
    people = pd.read_csv(table)
    rng = np.random.default_rng(1)
    people["age"] = np.where(people.diagnosis == "flu", 70, 30) + rng.integers(-25, 25, len(people))
    people.loc[0, "age"] = 999
    people.to_csv(table, index=False)
    given = [table, table.with_name("p.csv"), "--secret", "diagnosis", "--columns", "age", "--odds", "1.5", "--dry-run"]
    asked = ["publish", *map(str, given), "--preserve", "none", "--confidence", "0"]  # for these rows alone: quick
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.split())
    assert "999 stands far from the rest in 'age' (1 row) and may mean a missing value" in said
    assert "if it does, give --sentinel 'age=999'; if it is a real value, give --sentinel 'age='" in said
    text = " ".join(CliRunner().invoke(main, [*asked, "--sentinel", "age="]).stdout.split())
    assert "besides rounding all of them to steps of 20" in text
    assert "999" not in text
    assert "shares of the values shift by" in text
    assert "--leave-out" not in text  # there are two secrets


def test_rows_outside_the_pairs_are_refused_before_the_work_and_nothing_stays(table):
    frame = pd.read_csv(table)
    frame.loc[:29, "diagnosis"] = "rare"
    frame.loc[:9, "ward"] = None  # not published, and so not counted
    frame.to_csv(table, index=False)
    asked = ("--columns", "ward", "--odds", "2", "--pair", "flu", "none")
    before = set(table.parent.iterdir())
    for more in ((), ("--dry-run",)):
        result = run(table, *asked, *more)
        assert result.exit_code == 2
        assert "20 of 230 rows have a secret outside the calibrated pairs" in result.stderr
        assert "--others drop" in result.stderr
        assert "Finding the channel" not in result.output
        assert set(table.parent.iterdir()) == before
    slip = run(table, *asked[:-1], "non")
    assert "no row has diagnosis = 'non'" in slip.stderr
    assert run(table, *asked, "--others", "drop", "--dry-run").exit_code == 0
    assert run(table, *asked, "--others", "drop").exit_code == 0
    assert len(pd.read_csv(table.with_name("published.csv"))) == 210


def test_warnings_known_before_the_search_are_told_before_it(table):
    frame = pd.read_csv(table)
    frame.assign(day=[f"2026-01-{1 + k % 9:02}" for k in range(len(frame))]).to_csv(table, index=False)
    told = run(table, "--columns", "day", "--dry-run").stdout
    assert told.index("'day' holds dates") < told.index("Finding the channel")
    assert told.count("'day' holds dates") == 1
    assert run(table, "--columns", "day", "--dry-run", "--quiet").stdout.count("'day' holds dates") == 1


def test_nothing_new_is_said_so_where_what_is_left_lacks_a_value(table):
    frame = pd.read_csv(table).astype({"stay": "Int64"}).reset_index(names="patient")
    frame.loc[:2, "stay"] = None
    frame.to_csv(table, index=False)
    asked = ("--columns", "stay", "--id", "patient")
    assert run(table, *asked).exit_code == 0
    given = [table, table.with_name("next.csv"), "--secret", "diagnosis", *asked, "--only-new"]
    again = CliRunner().invoke(main, ["publish", *map(str, given)])
    assert again.exit_code == 1
    assert "nothing new is there to publish: of the 3 rows that were not published before none" in again.stderr


def test_cells_on_their_way_to_a_list_are_counted(table):
    lists = table.with_name("lists.json")
    lists.write_text(json.dumps({"stay": [2, 4, 6], "ward": ["A", "rest"]}))
    done = run(table, "--columns", "stay,ward", "--domain", lists, "--other", "rest", "--dry-run")
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(table)
    off, rest = int((frame["stay"] % 2 == 1).sum()), int((frame["ward"] == "B").sum())
    told = " ".join(done.stdout.split())
    assert f"besides {100 * off / 240:.1f} % rounded to its list".replace(".0 %", " %") in told
    assert f"besides {100 * rest / 240:.1f} % put into rest".replace(".0 %", " %") in told
    assert f"{off} of 240 rows have a value of 'stay' that is not on its list: each goes to the nearest one" in told
    assert f"{rest} of 240 rows have a value of 'ward' that is not on its list: it becomes 'rest'" in told


def test_a_private_fit_says_what_it_needs_before_anything_is_read(table):
    missing = ["publish", "nowhere.csv", "p.csv", "--secret", "diagnosis", "--columns", "stay", "--private-fit", "0.2"]
    told = CliRunner().invoke(main, missing)
    assert told.exit_code == 2
    assert "there is none for 'diagnosis', 'stay': give --domain a file such as {" in told.stderr
    told = run(table, "--columns", "stay", "--private-fit", "0.2", "--leave-out", "flu")
    assert told.exit_code == 2
    assert "--leave-out does not go with --private-fit" in told.stderr
    assert "--merge" in told.stderr


def test_a_private_fit_says_that_the_distribution_is_not_preserved(table):
    lists = table.with_name("lists.json")
    lists.write_text(json.dumps({"ward": ["A", "B"], "diagnosis": ["none", "flu"]}))
    done = run(table, "--columns", "ward", "--domain", lists, "--private-fit", "0.5", "--odds", "4")
    assert done.exit_code == 0, done.output
    report = html.unescape(table.with_name("published-report.html").read_text(encoding="utf-8"))
    assert "The distribution of the published columns is not preserved" in report


def test_files_of_one_folder_stand_under_it_once_however_it_is_written(table, monkeypatch):
    monkeypatch.chdir(table.parent)
    asked = ["--secret", "diagnosis", "--columns", "stay", "--quiet"]
    first = CliRunner().invoke(main, ["publish", table.name, "one.csv", *asked])
    people = pd.read_csv(table)
    pd.concat([people, people.assign(stay=people.stay + 100)]).to_csv(table, index=False)
    second = CliRunner().invoke(main, ["publish", table.name, "two.csv", *asked, "--only-new"])
    for done in (first, second):
        assert done.exit_code == 0, done.stderr
        assert [line for line in done.stdout.splitlines() if line.startswith("In ")] == ["In .:"]
