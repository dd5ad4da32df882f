"""`tk.report`: the page, its file, and what it may call proved."""

import os
import stat

import pytest
from page_reader import assert_harmless

import takifugu as tk

LAWS = {"a": tk.Finite([0, 1, 2], [5, 3, 2]), "b": tk.Finite([0, 1, 2], [1, 3, 6])}
BELLS = {"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}


def calibrated(kind, epsilon=0.5):
    return tk.calibrate(LAWS if kind == "finite" else BELLS, alpha=2, epsilon=epsilon)


@pytest.mark.parametrize("kind", ["finite", "gaussian"])
def test_a_report_is_returned_and_written_for_its_owner(tmp_path, kind):
    path = tmp_path / "report.html"
    page = tk.report(calibrated(kind), path)
    assert path.read_text(encoding="utf-8") == page
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    words = assert_harmless(page).words
    assert "How to publish an answer so that " in words
    assert "nobody can tell" not in words
    assert tk.report(calibrated(kind), question="Why & how?").count("Why &amp; how?") == 2


@pytest.mark.parametrize("kind", ["finite", "gaussian"])
def test_only_its_own_certificate_makes_it_certified(kind):
    result = calibrated(kind)
    proved = tk.certify(result)
    page = tk.report(result, certificate=proved)
    assert proved.sha256 in page
    assert "Certified" in page
    assert "Certified" not in tk.report(result)
    other = calibrated("gaussian" if kind == "finite" else "finite")
    for wrong in (tk.certify(calibrated(kind, epsilon=0.4)), tk.certify(other)):
        with pytest.raises(tk.InputError, match="another calibration"):
            tk.report(result, certificate=wrong)
    swapped = {"a": (LAWS if kind == "finite" else BELLS)["b"], "b": (LAWS if kind == "finite" else BELLS)["a"]}
    with pytest.raises(tk.InputError, match="another calibration"):
        tk.report(result, certificate=tk.certify(tk.calibrate(swapped, alpha=2, epsilon=0.5)))


def test_a_certificate_from_a_file_is_known_again(tmp_path):
    from takifugu.certificates.proving import load

    for kind in ("finite", "gaussian"):
        result = calibrated(kind)
        tk.certify(result).save(tmp_path / "c.json")
        assert "Certified" in tk.report(result, certificate=load(tmp_path / "c.json"))


def test_bad_input_is_named():
    with pytest.raises(tk.InputError, match="takes the result of calibrate, got dict"):
        tk.report({})
    with pytest.raises(tk.InputError, match="what certify returned, got str"):
        tk.report(calibrated("finite"), certificate="certificate.json")


def test_a_column_that_is_known_in_bins_is_called_by_its_edges():
    from takifugu.reports.summary import told

    pupils = tk.datasets.load("student-por")
    known = ["sex", tk.binned("age", [17, 19])]
    priors = tk.fit_priors(pupils, secret="schoolsup", query=tk.Row("G3"), known=known)
    publication = told(tk.calibrate(priors, odds=5, preserve=None))
    assert "covered and who knows sex and age (cut at 17, 19), through G3, posterior odds" in publication.sentences[0]
    page = " ".join([*publication.sentences, *publication.details])
    assert "who knows sex, age (cut at 17, 19)." in page
    assert "Binned(" not in page
