"""takifugu certify and takifugu verify: exit statuses, sentences, and files meant to do harm."""

import dataclasses
import hashlib
import json
import os
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import takifugu.__main__
from forked import processes
from takifugu import CertificationError, Mixture, calibrate, certify, verify
from takifugu.channels.gaussian import GaussianNoise
from takifugu.cli import main
from takifugu.divergences.numerics.balls import VERIFY_LIMIT

PRIORS = {"yes": Mixture.gaussian(0.0, 1.0), "no": Mixture.gaussian(1.5, 1.25)}


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def sealed(content):
    kept = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return kept | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.fixture
def calibration(tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(calibrate(PRIORS, alpha=2, epsilon=0.5).to_dict()))
    return path


@pytest.fixture
def certificate(tmp_path, calibration):
    path = tmp_path / "certificate.json"
    assert run("certify", calibration, "-o", path).exit_code == 0
    return path


class TestExitStatus:
    def test_zero_where_it_is_proved(self, certificate):
        result = run("verify", certificate)
        assert result.exit_code == 0
        assert result.stdout.startswith("Proved: noise of standard deviation")

    def test_one_where_it_is_refuted(self, tmp_path, certificate):
        path = tmp_path / "false.json"
        path.write_text(json.dumps(sealed(json.loads(certificate.read_text()) | {"theta": 0.1})))
        result = run("verify", path)
        assert result.exit_code == 1
        assert "refuted" in result.stderr
        assert result.stdout == ""

    def test_one_where_it_could_not_be_proved(self, certificate):
        result = run("verify", certificate, "--limit", 5)
        assert result.exit_code == 1
        assert "undecided" in result.stderr

    @pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"not JSON", b"[]", b"null", b'{"format": 1}', b"[" * 10**6])
    def test_two_where_the_file_is_bad(self, tmp_path, content):
        path = tmp_path / "bad.json"
        path.write_bytes(content)
        for command in (("verify", path), ("certify", path, "-o", tmp_path / "out.json")):
            result = run(*command)
            assert result.exit_code == 2
            assert result.stderr.startswith("takifugu: ")
            assert result.stderr.count("\n") == 1
            assert not (tmp_path / "out.json").exists()

    def test_two_where_there_is_no_file(self, tmp_path):
        assert run("verify", tmp_path / "missing.json").exit_code == 2
        assert run("verify", tmp_path).exit_code == 2
        assert run("verify").exit_code == 2
        assert run("nonsense").exit_code == 2

    def test_certify_refuses_what_it_cannot_prove(self, tmp_path):
        path, out = tmp_path / "short.json", tmp_path / "out.json"
        full = calibrate(PRIORS, alpha=2, epsilon=0.5)
        short = dataclasses.replace(full, channel=GaussianNoise(0.2))
        for calibration in (short, calibrate(PRIORS, alpha=2, epsilon=0.5, mechanism="wasserstein-approx")):
            calibration.save(path)
            result = run("certify", path, "-o", out)
            assert result.exit_code == 1
            assert result.stderr.count("\n") == 1
            assert not out.exists()

    @pytest.mark.parametrize(
        "change",
        [{"mechanism": []}, {"guarantee": 3}, {"problem": []}, {"pairs": None, "more": 1}, {"theta": "1"}],
    )
    def test_certify_says_what_is_wrong_with_a_calibration(self, tmp_path, change):
        path = tmp_path / "odd.json"
        path.write_text(json.dumps(calibrate(PRIORS, alpha=2, epsilon=0.5).to_dict() | change))
        result = run("certify", path, "-o", tmp_path / "out.json")
        assert result.exit_code == 2
        assert result.stderr.startswith("takifugu: ")

    def test_two_where_the_certificate_cannot_be_written(self, tmp_path, calibration):
        assert run("certify", calibration, "-o", tmp_path / "no" / "such" / "folder.json").exit_code == 2


class TestPublic:
    def test_the_published_file_is_matched(self, tmp_path, calibration):
        full, public = tmp_path / "full.json", tmp_path / "public.json"
        assert run("certify", calibration, "-o", full, "--public", public).exit_code == 0
        assert run("verify", full, "--public", public).exit_code == 0
        public.write_text(json.dumps(json.loads(public.read_text()) | {"epsilon": 0.1}))
        assert run("verify", full, "--public", public).exit_code == 1
        alone = run("verify", public)
        assert alone.exit_code == 1
        assert "epsilon = 0.1" in alone.stdout
        assert "Not checked: that the guarantee holds." in alone.stdout
        with pytest.raises(CertificationError) as said:
            verify(public)
        assert alone.stderr == f"takifugu: {said.value}\n"
        assert "nothing can be proved from this file alone, since the priors are private" in str(said.value)

    def test_what_is_said_of_the_population_is_told_beside_what_is_proved(self, tmp_path):
        made, paper = tmp_path / "made.json", tmp_path / "paper.json"
        asked = ("heart", "--secret", "sex", "--query", "mean:chol", "--alpha", 2, "--epsilon", 1, "-o", made)
        said = "For the population, looked at again: with 90 % confidence over"
        for confidence, lines in ((("--confidence", 0.9), 2), ((), 1)):
            assert run("calibrate", *asked, *confidence).exit_code == 0
            for command in (("certify", made, "-o", paper), ("verify", paper)):
                told = run(*command).stdout.splitlines()
                assert len(told) == lines
                assert told[0].startswith("Proved: ")
                assert "noise of standard deviation" in told[0]
                of_rows = "not a proof; it rests on 303 rows (97 of the rarest secret), by the word of whoever"
                assert (said in told[-1], of_rows in told[-1]) == (lines == 2,) * 2

    def test_it_is_said_before_what_was_handed_out_is_written_over(self, tmp_path, calibration):
        full, public = tmp_path / "full.json", tmp_path / "public.json"
        full.touch()  # of nothing nothing was handed out
        assert run("certify", calibration, "-o", full, "--public", public).stderr == ""
        says = "will be written over: what was handed out of the certificate before will not fit the new one"
        assert run("certify", calibration, "-o", full).stderr == f"{str(full)!r} {says}\n"
        assert run("verify", full, "--public", public).exit_code == 1
        asked = ("heart", "--secret", "sex", "--query", "mean:chol", "--alpha", 2, "--epsilon", 1)
        again = run("calibrate", *asked, "--certificate", full, "--public", public)
        assert again.exit_code == 0
        assert all(f"{str(path)!r} {says}" in again.stderr for path in (full, public))
        assert run("verify", full, "--public", public).exit_code == 0


def test_the_version_and_the_help_are_there():
    assert "verify" in run("--help").stdout
    assert run("--version").exit_code == 0


TENTH = ("--effort", "0.1")  # work is counted, so a tenth of it shows that it ends


def hostile():
    """Files made to exhaust time or memory, and flags; each has about 16 MB or less, or more than what is read."""
    rng = np.random.default_rng(0)
    base = certify(calibrate(PRIORS, alpha=2, epsilon=0.5)).to_dict()

    def with_priors(*mixtures, **changes):
        names = ("weights", "means", "stds")
        belief = [dict(zip(names, (list(map(float, x)) for x in mixture), strict=True)) for mixture in mixtures]
        return json.dumps(sealed(base | {"beliefs": [belief]} | changes)).encode()

    def mixture(size, spread, narrow, wide):
        weights = rng.integers(1, 9, size).astype(float)
        return (
            Mixture.empirical(range(size), weights).weights,
            rng.normal(0, spread, size),
            rng.uniform(narrow, wide, size),
        )

    losses = [{"belief": 0, "from": i, "to": 1 - i, "lower": 0.0, "upper": 0.5} for i in (0, 1)]
    free = {"losses": losses}
    yield "deep", b"[" * (1 << 24)
    yield "empty lists", b"[" + b"[]," * 4_194_000 + b"[]]"
    yield "more lists than are read", b"[" + b"[]," * 4_195_000 + b"[]]"
    yield "one long list", b"[" + b"0," * 8_000_000 + b"0]"
    yield "one long text", b'"' + b"x" * 16_000_000 + b'"'
    yield "many keys", ("{" + ",".join(f'"{k}":0' for k in range(1_000_000)) + "}").encode()
    yield "too large", b""
    yield "long number", b"[" + b"9" * 15_000_000 + b"]"
    far = ([1.0], [1e308], [1e-308]), ([0.5, 0.5], [-1e308, 0], [1e308, 1e-300])
    yield "extreme scales", with_priors(*far, **free), *TENTH
    wide = mixture(1500, 1e3, 1e-3, 1.0), mixture(1500, 1e3, 1e-3, 1.0)
    yield "many components", with_priors(*wide, **free, theta=40.0)
    yield "too many components", with_priors(mixture(20_000, 1, 1, 2), mixture(20_000, 1, 1, 2), **free)
    yield "large order", with_priors(mixture(9, 1, 1, 2), mixture(9, 1, 1, 2), **free, alpha=1e15, theta=1e9), *TENTH
    yield (
        "many losses",
        json.dumps(sealed(base | {"beliefs": base["beliefs"] * 9000, "losses": base["losses"] * 9000})).encode(),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's own peak")
def test_hostile_files_end_in_a_sentence_within_a_gigabyte(tmp_path):
    with processes("flint", "takifugu.certificates", "takifugu.commands.calibrate") as start:
        for name, data, *options in hostile():
            path = tmp_path / "hostile.json"
            path.write_bytes(data)
            if name == "too large":
                os.truncate(path, (1 << 28) + 1)
            ended = start([takifugu.__main__.__file__, "verify", path, *options], tmp_path)
            assert ended.status in {1, 2}, (name, ended.said, ended.complained[-500:])
            assert ended.complained.startswith("takifugu: "), name
            assert ended.complained.count("\n") == 1, name
            assert ended.kilobytes < 1_000_000, name
            assert ("is larger than" in ended.complained) == (name == "too large"), name
            limit = f"the limit of {VERIFY_LIMIT // 10:,} evaluations of a component was met"
            assert (limit in ended.complained) == bool(options), name
