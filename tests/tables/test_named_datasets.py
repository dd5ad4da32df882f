"""A bundled dataset by its name, wherever a table is taken; a file of that name comes first."""

import pytest

import takifugu as tk
from takifugu.errors import InputError


def test_a_dataset_is_a_table_by_its_name(tmp_path, monkeypatch):
    asked = {"secret": "schoolsup", "query": tk.Row("G3")}
    assert tk.fit_priors("student-mat", **asked) == tk.fit_priors(tk.datasets.load("student-mat"), **asked)
    assert len(tk.publish("student-mat", secret="schoolsup", columns=["G3"], confidence=None).table) == 395
    monkeypatch.chdir(tmp_path)
    (tmp_path / "student-mat").write_text("schoolsup,G3\n" + "yes,1\nno,2\n" * 30)
    with pytest.raises(InputError, match="cannot tell the format of 'student-mat'"):  # that file is meant
        tk.fit_priors("student-mat", **asked)


def test_every_error_that_is_raised_can_be_caught_by_its_public_name():
    from takifugu import errors

    raised = {one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}
    assert {one.__name__ for one in raised} <= set(tk.__all__) | {"DiagnosticWarning"}
