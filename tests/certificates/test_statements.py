"""The statement of a published table: what it tells, what it must not, and who can check it."""

import datetime
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu import strict_json
from takifugu.certificates import Statement, require_public
from takifugu.channels import InsecureSeededBits
from takifugu.problems import Diagnostic
from takifugu.queries import Cells, PrivateCounts
from takifugu.releases.plan import InsecureReleaseWarning

LISTS = {"ill": ["no", "yes"], "x": [0, 1, 2]}
DAY = datetime.date(2026, 1, 31)


def private(counts=((500, 300, 200), (200, 250, 400)), epsilon=0.5):
    cells = Cells.of("ill", ["x"], LISTS, None, epsilon)
    return PrivateCounts.with_noise(cells, counts, InsecureSeededBits(1))


def rows(counts=((50, 30, 20), (20, 30, 50))):
    cells = [(s, x) for s, row in zip(LISTS["ill"], counts, strict=True) for x, n in enumerate(row) for _ in range(n)]
    return pd.DataFrame(cells, columns=["ill", "x"])


def stated(made):
    return Statement.of(tk.certify(made), rows=1_850, date=DAY)


def changed(statement, **content):
    """A statement that says something else, with its own digest made anew."""
    return Statement(json.loads(json.dumps(statement.content | content)))


def test_a_statement_about_private_counts_says_all_and_holds_its_proof():
    made = tk.calibrate(private(), odds=3, confidence=0.95)
    statement = stated(made)
    page = str(statement)
    for told in (
        "odds between two values of 'ill' change by at most a factor of 3.",
        "right with a probability above 75 %",
        "1,850 rows of 'x', published on 2026-01-31, in random order",
        "knows all other rows of the table and the private counts (epsilon = 0.5)",
        "with 95 % confidence",
        "public lists (3 of 'x')",
        "What is not guaranteed",
        "the counts hold the noise that is stated",
    ):
        assert told in page
    assert statement.content["secrets"] == ["no", "yes"]
    assert tk.Odds(3).to_state() == statement.content["guarantee"]
    assert statement.matched().calibration.total == made.total
    assert "other rows" not in statement.not_promised


def test_verify_proves_a_statement_that_holds_its_certificate_and_refuses_every_changed_fact(tmp_path):
    statement = stated(tk.calibrate(private(), odds=3))
    statement.save(tmp_path / "statement.json")
    assert "every other row" in tk.verify(tmp_path / "statement.json").claim
    content = statement.content
    for name, wrong in {
        "guarantee": tk.Odds(2).to_state(),
        "secret": ["x"],
        "columns": ["ill"],
        "secrets": ["no", "ill"],
        "pairs": [["no", "yes"]],
        "lists": {"x": [0, 1]},
        "known": ["age"],
        "adversary": content["adversary"] | {"kind": "anybody"},
        "population": 0.95,
        "order": "kept: stated to be random",
        "certificate_sha256": "0" * 64,
        "certificate": None,
    }.items():
        changed(statement, **{name: wrong}).save(tmp_path / "changed.json")
        with pytest.raises(tk.CertificationError):
            tk.verify(tmp_path / "changed.json")
    for name, wrong in {
        "rows": -1,
        "date": "today",
        "adversary": {},
        "order": "any",
        "lists": 3,
        "more": 1,
        "people": "many",
    }.items():
        (tmp_path / "wrong.json").write_text(json.dumps(statement.to_dict() | {name: wrong}))
        with pytest.raises(tk.InputError):
            tk.verify(tmp_path / "wrong.json")
    worse = content["certificate"] | {}
    worse["calibration"] = worse["calibration"] | {"guarantee": tk.Odds(1.1).to_state()}
    (tmp_path / "forged.json").write_text(json.dumps(statement.to_dict() | {"certificate": worse}))
    with pytest.raises(tk.TakifuguError):
        tk.verify(tmp_path / "forged.json")


def resealed(statement, edit):
    """The statement of a certificate that a forger has changed, with every digest made anew."""
    content = json.loads(json.dumps(statement.to_dict()))
    edit(content["certificate"]["calibration"]["problem"], content["certificate"]["calibration"])
    content["certificate"].pop("sha256")
    digest = hashlib.sha256(strict_json.canonical(content["certificate"])).hexdigest()
    content["certificate"]["sha256"] = content["certificate_sha256"] = digest
    return content


def total(problem, made):
    problem["findings"][0]["parameters"]["total"] = "odds within a factor of 1.01"
    problem["findings"][0]["sentence"] = problem["findings"][0]["sentence"].replace("of 3", "of 1.01")


FORGED = {
    "another total": total,
    "no rows": lambda problem, made: problem["findings"].append(Diagnostic("data-free", values=3).to_state()),
    "a longer list": lambda problem, made: problem["answer"]["domain"]["columns"][0].update(values=[0, 1, 2, 3]),
    "a list that was read": lambda problem, made: problem["answer"]["domain"]["columns"][0].update(is_read=True),
    "less noise": lambda problem, made: problem["answer"].update(private=0.4),
    "no noise": lambda problem, made: problem["answer"].pop("private"),
    "other counts": lambda problem, made: problem["beliefs"][0]["counted"][0].update(counts=[500, 300, 201]),
    "more rows": lambda problem, made: problem["beliefs"][0].update(rows=[10_000, 8_500]),
    "a name for them": lambda problem, made: problem["beliefs"][0].update(label="last year"),
    "a smaller factor": lambda problem, made: made["guarantee"].update(factor=1.2),
    "a bound": lambda problem, made: made.update(lower_bound=0.9),
    "more confidence": lambda problem, made: made["evidence"].update(level=0.99),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forger_who_makes_every_digest_anew_is_refused(name, tmp_path):
    statement = stated(tk.calibrate(private(), odds=3, confidence=0.9))
    (tmp_path / "forged.json").write_text(json.dumps(resealed(statement, FORGED[name])))
    with pytest.raises(tk.TakifuguError):
        tk.verify(tmp_path / "forged.json")
    (tmp_path / "right.json").write_text(json.dumps(resealed(statement, lambda problem, made: None)))
    assert "factor of 3" in tk.verify(tmp_path / "right.json").claim


def test_a_channel_that_hides_some_values_from_some_is_not_taken_for_one_that_needs_no_data(tmp_path):
    """Two of three point masses, or a pair of them, would be proved, and say nothing about the third."""
    whole = tk.calibrate(tk.Row("x", domain=LISTS["x"]), odds=3, mechanism="data-free")
    some = {k: tk.Finite(LISTS["x"], np.eye(3)[k]) for k in (0, 1)}
    every = {k: tk.Finite(LISTS["x"], np.eye(3)[k]) for k in LISTS["x"]}
    for made in (tk.calibrate(some, odds=3), tk.calibrate(every, odds=3, pairs=[(0, 1)])):
        forged = replace(made, problem=replace(made.problem, answer=whole.problem.answer))
        with pytest.raises(tk.InputError, match="each value of the public lists"):
            tk.verify(tk.certify(forged))


def test_it_is_proved_in_an_empty_folder_from_the_public_file_alone(tmp_path):
    stated(tk.calibrate(private(), odds=3, confidence=0.8)).save(tmp_path / "published-statement.json")
    home = Path(tk.__file__).parents[1]
    clean = {"PATH": os.environ["PATH"], "PYTHONPATH": str(home), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "takifugu", "verify", "published-statement.json"]
    ran = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "Proved:" in ran.stdout
    assert "every other row" in ran.stdout


def test_of_ones_own_rows_it_tells_neither_lists_nor_secrets_and_an_auditor_can_hold_it_against_the_certificate():
    priors = tk.fit_priors(rows(), secret="ill", query=tk.Row("x"))
    certificate = tk.certify(tk.calibrate(priors, odds=3, confidence=0.95))
    statement = Statement.of(certificate, rows=200, date=DAY)
    told = json.dumps(statement.to_dict())
    assert statement.content["lists"] is statement.content["secrets"] is statement.certificate is None
    assert {"other rows", "list", "beliefs"} <= set(statement.not_promised)
    assert "yes" not in told
    assert str(certificate.calibration.evidence.draws) not in told.replace(certificate.sha256, "").replace(
        statement.sha256, ""
    )
    with pytest.raises(tk.CertificationError, match="from this file alone"):
        statement.matched()
    require_public(certificate, statement)
    with pytest.raises(tk.CertificationError, match="another certificate"):
        require_public(tk.certify(certificate.calibration), statement)
    gaussians = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}
    noise = tk.certify(tk.calibrate(gaussians, alpha=2, epsilon=1))
    with pytest.raises(tk.CertificationError, match="noise alone"):
        require_public(noise, statement)


def test_what_it_says_of_lists_people_and_randomness_is_so():
    """A list that the user gave was said to be read from the rows, and a person with two rows to have one."""
    seen = rows().assign(nr=[*range(100), *range(100)])
    asked = {"secret": "ill", "columns": ["x"], "utility": tk.Utility(allow_no_noise=True)}
    made = tk.publish(seen, **asked, domain={"x": LISTS["x"]})
    assert made.statement.content["lists"] == {"x": LISTS["x"]}
    assert "none was read from the table" in str(made.statement)
    assert "list" not in made.statement.not_promised
    assert "each person has one row" in str(made.statement)
    require_public(made.certificate, made.statement)
    read = tk.publish(seen, **asked, id="nr", adversary=tk.Adversary(repeats="independent")).statement
    assert read.content["lists"] is None
    assert "the rows of a person are independent of one another given the secret, and" in str(read)
    assert "has one row" not in str(read)
    with pytest.warns(InsecureReleaseWarning):
        seeded = tk.publish(seen, **asked, insecure_seed=1)
    with pytest.raises(tk.InputError, match="drawn from a seed"):
        seeded.statement  # noqa: B018


def test_what_kept_columns_tell_is_not_said_to_be_hidden(tmp_path):
    """Odds within 2 were stated of everything published, and a column that was handed over moved them by 9."""
    chance = np.random.default_rng(0)
    ill = chance.random(2_000) < 0.5
    ward = np.where(chance.random(2_000) < np.where(ill, 0.9, 0.1), "u", "v")
    table = pd.DataFrame({"ill": np.where(ill, "yes", "no"), "x": chance.integers(0, 3, 2_000), "ward": ward})
    asked = {"secret": "ill", "columns": ["x"], "odds": 2, "utility": tk.Utility(allow_no_noise=True)}
    made = tk.publish(table, **asked, keep=["ward"])
    told = made.statement.sentences
    assert "covered and who has read 'ward', published as it is, posterior odds between" in told[0]
    assert told[1].startswith("Of two that then seem equally likely")
    assert "2,000 rows of 'x', beside 'ward'," in told[2]
    assert "kept" in made.statement.not_promised
    assert (
        tk.publish(table, **asked, adversary=tk.Adversary(known=["ward"]))
        .statement.sentences[0]
        .startswith("For any adversary whose beliefs are covered, posterior")
    )
    last = tk.fit_priors(table, secret="ill", query=tk.Row("x", domain=[0, 1, 2]), known=["ward"])
    public = tk.publish(
        table, **asked, keep=["ward"], adversary=tk.Adversary(beliefs={"last year": last}, own=False)
    ).statement
    public.save(tmp_path / "statement.json")
    assert public.content["kept"] == ["ward"]
    assert "last year" in str(tk.verify(tmp_path / "statement.json").calibration.beliefs[0].label)


def test_of_several_secrets_the_pairs_are_named_unless_they_are_all():
    chance = np.random.default_rng(0)
    table = pd.DataFrame({"s": chance.choice(["a", "b"], 900), "t": chance.choice(["u", "v"], 900)})
    table["x"] = np.where(table.t == "u", 1, chance.integers(0, 3, 900))
    asked = {"secret": ["s", "t"], "columns": ["x"], "odds": 2, "utility": tk.Utility(allow_no_noise=True)}
    assert tk.publish(table, **asked).statement.content["pairs"] is None
    some = tk.publish(table, **asked, pairs=[("s = a", "s = b")])  # what t is, x tells
    assert some.statement.content["pairs"] == [["s = a", "s = b"]]
    assert "(s = a or s = b)" in some.statement.sentences[0]
    assert "(s = a or s = b)" in str(some)


def test_of_other_peoples_priors_and_of_no_data_it_is_public_too():
    query = tk.Row("x", domain=LISTS["x"])
    others = tk.fit_priors(rows(), secret="ill", query=query)
    made = tk.publish(
        rows(), secret="ill", columns=["x"], adversary=tk.Adversary(beliefs={"last year": others}, own=False)
    )
    statement = Statement.of(made.certificate, rows=200)
    assert "believes" in str(statement)
    assert "'last year'" in str(statement)
    assert statement.matched().calibration.channel == made.calibration.channel
    told = replace(
        made.certificate, calibration=made.calibration.with_finding(Diagnostic("few-rows", secret="no", rows=9))
    )
    for public in (told.for_everybody, Statement.of(told, rows=200)):
        require_public(told, public)
        with pytest.raises(tk.CertificationError):
            require_public(tk.certify(made.calibration), public)
    free = stated(tk.calibrate(query, odds=3, mechanism="data-free"))
    assert "against any adversary" in str(free)
    assert "beliefs" not in free.not_promised
    assert free.matched().calibration.guarantee == tk.Odds(3)


def test_chosen_pairs_and_an_order_that_was_kept_are_said(tmp_path):
    three = {"ill": ["no", "yes", "unsure"], "x": LISTS["x"]}
    cells = Cells.of("ill", ["x"], three, None, 0.5)
    counts = PrivateCounts.with_noise(cells, np.full((3, 3), 200).tolist(), InsecureSeededBits(1))
    statement = stated(tk.calibrate(counts, odds=3, pairs=[("no", "yes")]))
    assert "'ill' (no or yes)" in str(statement)
    kept = stated(tk.calibrate(counts, odds=3).with_finding(Diagnostic("order-kept")))
    assert "the publisher states is random" in str(kept)
    assert "order" in kept.not_promised
    assert kept.matched().calibration.findings
    statement.save(tmp_path / "statement.txt")
    assert (tmp_path / "statement.txt").read_text() == f"{statement}\n"


def test_a_factor_is_never_told_as_less_than_it_is():
    made = tk.calibrate(private(), odds=2.4561927)
    assert "factor of 2.4562." in str(stated(made))


def test_priors_made_by_hand_have_no_statement():
    laws = {"a": tk.Finite([0, 1], [1, 3]), "b": tk.Finite([0, 1], [3, 1])}
    with pytest.raises(tk.InputError, match="by hand"):
        stated(tk.calibrate(laws, odds=2))


WORDS = {"rows": 10, "date": "2020-01-01", "people": "independent rows", "table_sha256": "0" * 64, "others": True}


@pytest.mark.parametrize("name", WORDS)
def test_what_follows_from_no_proof_is_not_changed_unseen(name, tmp_path):
    """The number of rows and the date verified whatever they said."""
    statement = stated(tk.calibrate(private(), odds=3))
    edited = statement.to_dict() | {name: WORDS[name]}
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    with pytest.raises(tk.CertificationError, match="the statement was changed after it was made"):
        tk.verify(tmp_path / "edited.json")


@pytest.mark.parametrize("name", WORDS)
def test_the_certificate_holds_the_statement_that_went_with_it(name):
    made = tk.calibrate(tk.fit_priors(rows(), secret="ill", query=tk.Row("x", domain=LISTS["x"])), odds=3)
    certificate = tk.certify(made)
    statement = Statement.of(certificate, rows=200, date=DAY)
    sealed = statement.sealed_in(certificate)
    assert tk.verify(sealed) == sealed
    assert sealed.sha256 == certificate.sha256  # which the statement names
    require_public(sealed, statement)
    with pytest.raises(tk.CertificationError, match="the certificate names another statement: the number of rows"):
        require_public(sealed, changed(statement, **{name: WORDS[name]}))


def test_what_is_published_in_one_call_holds_its_statement():
    made = tk.publish(rows(), secret="ill", columns=["x"], odds=1.5, confidence=None)
    assert made.certificate.statement_sha256 == made.statement.sha256
    require_public(made.certificate, made.statement)
    assert type(made.certificate).from_dict(made.certificate.to_dict()) == made.certificate


def test_a_file_is_held_against_its_statement(tmp_path, run):
    rows().to_csv(tmp_path / "people.csv", index=False)
    asked = ["--secret", "ill", "--columns", "x", "--odds", "3", "--quiet", "--allow-no-noise"]
    published = tmp_path / "published.csv"
    assert run("publish", tmp_path / "people.csv", published, *asked).exit_code == 0
    statement, certificate = tmp_path / "published-statement.json", tmp_path / "published-certificate.json"
    held = run("verify", certificate, "--public", statement)
    assert held.exit_code == 0, held.output
    found = run("verify", statement, "--public", published)
    assert "is the file that the statement is about" in found.output
    assert "the priors are private" in found.output  # and so nothing is proved by it alone
    assert f"with the SHA-256 {hashlib.sha256(published.read_bytes()).hexdigest()}" in str(Statement.load(statement))
    published.write_text(published.read_text() + "2\n")
    other = run("verify", statement, "--public", published)
    assert other.exit_code == 1
    assert "is not the file that the statement is about" in other.output
    missing = run("verify", statement, "--public", tmp_path / "none.csv")
    assert missing.exit_code == 2
    assert "none.csv' cannot be read: No such file" in missing.output
    (tmp_path / "page.txt").write_text("Another page.")
    page = run("verify", statement, "--public", tmp_path / "page.txt")
    assert page.exit_code == 1
    assert "it is another's, or was changed" in page.output
    content = json.loads(certificate.read_text()) | {"version": 7}
    certificate.write_text(json.dumps(content))
    newer = run("verify", certificate)
    assert newer.exit_code == 2
    assert "is a certificate of version 7, and those of version 1 and 2 are known here" in newer.output


@pytest.fixture
def run():
    from click.testing import CliRunner

    from takifugu.cli import main

    return lambda *words: CliRunner().invoke(main, list(map(str, words)))


def test_a_value_that_was_left_out_is_not_promised_anything():
    pupils = tk.datasets.load("student-por")
    made = tk.publish(pupils, secret="Mjob", columns=["G3"], confidence=None, reading=tk.Reading(leave_out=["other"]))
    assert "nor anything about a value of the secret whose rows were left out" in str(made.statement)


def test_of_private_counts_merging_is_said_by_what_was_asked_and_tells_no_rows():
    lists = {"ill": ["no", "rare"], "x": LISTS["x"]}
    table = pd.DataFrame({"ill": ["no", "a", "b", "no"] * 100, "x": [0, 1, 2, 1] * 100})
    given = {"secret": "ill", "columns": "x", "domain": lists, "epsilon": 0.5}
    counts = tk.private_counts(table, **given, reading=tk.Reading(merge={"rare": ["a", "b"]}))
    (said,) = (one for one in counts.findings if one.code == "secret-merged")
    assert said["rows"] is None
    statement = stated(tk.calibrate(counts, odds=3))
    assert statement.content["merged"] is True
    assert statement.matched().calibration.answer.merged(["rare"]) == ("rare",)
    assert "two values of 'ill' (as merged)" in str(statement)
