"""The program for every law within bounds, at its edges."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from takifugu.mechanisms.optimal import bounded


@pytest.mark.parametrize(
    ("most", "least", "share"),
    [
        ([0.5, 0.5], [0.5, 0.5], 0.0),
        ([0.9, 0.1], [0.1, 0.9], 1.0 - 0.1 / (0.81 / 0.1 + 0.01 / 0.9 - 1)),
        ([0.5, math.nan], [0.5, 0.5], 1.0),
    ],
)
def test_an_answer_that_is_one_row_is_within_the_guarantee(monkeypatch, most, least, share):
    """Rows that are all alike leave a sum of one, and nothing to divide by."""
    plan = SimpleNamespace(
        program=SimpleNamespace(constraints=[0], alpha=2.0, log_budget=math.log(1.1)),
        below=SimpleNamespace(starts={"most": 0, "least": 2}),
        widths={"most": 2, "least": 2},
        left=np.arange(2),
        right=np.arange(2),
        touching=[],
        _add_planes=lambda *_: None,
    )
    assert bounded._Plan._add_planes_at(plan, np.array([*most, *least])) == pytest.approx(share)
