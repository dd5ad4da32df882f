"""Which rows are protected: the same in every library as Python's own `in`, and no sentence shows whose are not."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrations import PRIORS, hand_made
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tk
from takifugu._work import listening
from takifugu.errors import InputError
from takifugu.releases.binding import protected_rows

ONE, OTHER = PRIORS.values()
MAKES = {
    "pandas": pd.Series,
    "pandas objects": lambda rows: pd.Series(rows, dtype=object),
    "Polars": lambda rows: pl.Series(rows, strict=False),
    "PyArrow": lambda rows: pa.chunked_array([pa.array(rows)]),
}
KINDS = {
    "texts": (("a", "b"), ["a", "b", "", "A", "a ", None]),
    "truth": ((True, False), [True, False, None]),
    "one truth": ((True, "x"), [True, False, None]),
    "numbers": ((1, 3), [1, 2, 3, 2**53 + 1, -1]),
    "large numbers": ((2.0**53, 3.0), [2**53, 2**53 + 1, 3]),
    "reals": ((1, 0.5), [1.0, 0.5, 0.25, float("nan"), float("inf")]),
}
CALIBRATIONS = {
    kind: hand_made(priors=dict(zip(known, (ONE, OTHER), strict=True))) for kind, (known, _) in KINDS.items()
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_rows_are_kept_as_python_compares_them(kind, data):
    known, values = KINDS[kind]
    rows = data.draw(st.lists(st.sampled_from(values), max_size=12))
    columns = [nw.from_native(make(rows), series_only=True) for make in MAKES.values()]
    calibration = CALIBRATIONS[kind]
    expected = [row in set(known) for row in rows]
    for given_as in (rows, *columns):
        kept = protected_rows(given_as, calibration, "drop")
        assert (kept is None) == all(expected)
        assert kept is None or kept.tolist() == expected
        assert kept is None or kept.dtype == np.bool_
        if not all(expected):
            with pytest.raises(InputError, match=f"^{expected.count(False)} of {len(rows)} rows "):
                protected_rows(given_as, calibration, "error")


def test_no_sentence_shows_a_secret_of_the_table():
    with pytest.raises(InputError) as told:
        protected_rows(["a", "Zorngiebel"], hand_made(), "error")
    assert "Zorngiebel" not in str(told.value)
    assert "'a', 'b'" in str(told.value)


@pytest.mark.parametrize(
    "make", [lambda rows: pd.Series(rows, dtype="Int8"), lambda rows: pa.chunked_array([rows], pa.int8())]
)
def test_narrow_columns_with_gaps(make):
    column = nw.from_native(make([1, 2, None, 3]), series_only=True)
    calibration = hand_made(priors={1: ONE, 3: OTHER})
    assert protected_rows(column, calibration, "drop").tolist() == [True, False, False, True]
    assert not protected_rows(column, hand_made(priors={7: ONE, 8: OTHER}), "drop").any()


def test_publishing_refuses_other_rows_before_it_looks_for_a_channel():
    steps, hidden = [], {"pairs": [("b", "a")]}
    table = pd.DataFrame({"s": ["a", "b", "c"] * 40, "x": [1, 2, 3, 4] * 30})

    def note(what):  # that the records are held against ledgers takes no search for a channel
        if not what.startswith("Looking whether"):
            steps.append(what)

    with listening(note), pytest.raises(InputError, match="40 of 120 rows have a secret outside the calibrated pairs"):
        tk.publish(table, secret="s", columns=["x"], **hidden)
    assert steps == []
    assert (
        len(
            tk.publish(
                table,
                secret="s",
                columns=["x"],
                utility=tk.Utility(allow_no_noise=True),
                reading=tk.Reading(leave_out="others"),
                **hidden,
            ).table
        )
        == 80
    )
    several = table.assign(t=["u", "v"] * 60)
    with listening(note), pytest.raises(InputError, match="40 of 120 rows have a secret outside"):
        tk.publish(several, secret=["s", "t"], columns=["x"], pairs=[("s = a", "s = b")])
    assert steps == []
    last_year = table[table["s"] != "c"]
    with listening(note), pytest.raises(InputError, match="40 of 120 rows have a secret outside"):
        tk.publish(
            table, secret="s", columns=["x"], adversary=tk.Adversary(beliefs={"last year": last_year}, own=False)
        )
    assert len(steps) == 1
