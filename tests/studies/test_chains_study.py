"""The study of chains: its table, its picture, and how recordings become states."""

import numpy as np
from studies.chains import Rules, matrix, picture, recordings, rules, table


def test_rules_stand_in_their_order():
    found = rules("0.4")
    assert found.laplace < found.wasserstein < found.quilt
    assert found.channel < found.laplace
    assert "| 0.4, 0.6 | 3.572 | 2 | 1.467 |" in table([found])


def test_the_picture_has_a_line_for_each_rule():
    drawn = str(picture([Rules(0.4, 3.6, 2, 1.5, 0.03, 1), Rules(0.1, 32, 10, 8.6, 4.8, 1)]))
    assert drawn.count("<polyline") == 4


def test_recordings_become_quarters_of_an_hour(tmp_path):
    quarters = [0, 60, 0, 90, 90, 30]
    lines = ["head"] * 7 + [f"{q if k == 0 else 0}" for q in quarters for k in range(30)]
    (tmp_path / "example_01.AWD").write_text("\n".join(lines))
    (states,) = recordings(tmp_path)
    assert states.tolist() == [0, 0, 0, 1, 1, 0]
    assert np.array_equal(matrix(states), [[2, 1], [1, 1]])
