"""Files that version 0.1 wrote: certificates are read for ever (docs/compatibility.md)."""

import json
import shutil
from pathlib import Path

import pytest

import takifugu as tk
from takifugu.certificates import load_redacted

FILES = Path(__file__).parent / "files_of_0_1"
PRIORS = {"a": tk.Mixture([0.75, 0.25], [0.0, 3.0], [1.0, 0.5]), "b": tk.Mixture.gaussian(1.0, 1.25)}


def test_its_certificate_is_proved_and_matches_its_public_part():
    proved = tk.verify(FILES / "certificate-1.json")
    assert dict(proved.software)["takifugu"] == "0.1.0"
    assert (proved.alpha, proved.epsilon, proved.theta) == (3.0, 0.5, 0.9358423783079166)
    proved.require_match(load_redacted(FILES / "certificate-redacted-1.json"))


def test_its_certificate_comes_out_as_it_went_in(tmp_path):
    proved = tk.verify(FILES / "certificate-1.json")
    proved.save(tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads((FILES / "certificate-1.json").read_text())


def test_its_ledger_is_refused_in_a_sentence(tmp_path):
    book = shutil.copy(FILES / "ledger-1.db", tmp_path / "ledger.db")
    with pytest.raises(tk.LedgerError, match=r"of an earlier version and knows no records: name a new one"):
        tk.release([0.0, 1.0, 2.0], tk.calibrate(PRIORS, alpha=3, epsilon=0.5), secret=["a", "b", "a"], ledger=book)


def test_its_calibration_is_refused_in_a_sentence():
    with pytest.raises(tk.InputError, match=r"made by version 0\.1.*Calibrate again"):
        tk.Calibration.load(FILES / "calibration-of-0.1.json")
