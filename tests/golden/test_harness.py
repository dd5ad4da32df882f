"""The net itself: what it lets through and what it holds."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

from .asked import of_channel
from .harness import Family, fingerprint, moved, plain


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"theta": 1.0}, {"theta": 1.0 + 1e-10}),
        ({"rows": 3}, {"rows": 3.0}),
        ([1e-20], [0.0]),
        ({"stays": 0.5}, {"stays": 0.5 + 1e-8}),
        (plain(np.float64(1 / 3)), 1 / 3),
        (plain(math.inf), "inf"),
        (plain({"a": (1, True, None)}), {"a": [1, True, None]}),
    ],
)
def test_what_is_close_did_not_move(before, after):
    assert list(moved(before, after)) == []


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ({"theta": 1.0}, {"theta": 1.0 + 1e-8}, "theta: 1.0 -> 1.00000001 (+1e-06 %)"),
        ({"a": {"theta": 1.0}}, {"a": {}}, "a.theta: 1.0 -> gone"),
        ({}, {"a": "x"}, "a: new -> x"),
        ([1, 2], [1], ": 2 -> 1 entries, gone [2], new []"),
        ([1, 2], [1, 3], "[1]: 2 -> 3 (+50 %)"),
        ({"kept": True}, {"kept": 1}, "kept: true -> 1"),
        (None, {"theta": 1.0}, ': null -> {"theta": 1.0}'),
        (1e-12, 2e-12, ": 1e-12 -> 2e-12 (+100 %)"),
        ("inf", 1e300, ": inf -> 1e+300"),
    ],
)
def test_what_moved_is_told(before, after, line):
    assert list(moved(before, after)) == [line]


def test_what_is_recorded_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr("golden.harness.DATA", tmp_path / "data")
    family = Family("some")
    family.add("one", lambda: ({"theta": np.float64(0.1), "pair": ("a", "b")}, ["α stays"]))
    figures, words = family.seen("one")
    family.record("figures", {"one": figures})
    family.record("texts", {"one": words})
    assert family.recorded("figures") == {"one": {"theta": 0.1, "pair": ["a", "b"]}}
    assert family.recorded("texts") == {"one": ["α stays"]}
    with pytest.raises(ValueError, match="two cases 'one'"):
        family.add("one", lambda: ({}, []))


class Stored:
    """A channel as the net sees one."""

    def __init__(self, inputs, outputs, shares):
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        first, second = np.nonzero(np.array(shares))
        self.entries = first, second, np.array(shares)[first, second]


def test_a_channel_is_the_same_in_any_order_and_any_unit():
    shares = np.array([[4, 0], [1, 3]])
    one = of_channel(Stored("ab", "ab", shares))
    assert list(moved(plain(one), plain(of_channel(Stored("ba", "ba", shares[::-1, ::-1]))))) == []
    assert list(moved(plain(one), plain(of_channel(Stored("ab", "ab", shares / 4))))) == []
    assert one["stays"] == 0.875
    other = of_channel(Stored("ab", "ab", [[4, 0], [2, 2]]))
    assert {line.split(":")[0] for line in moved(plain(one), plain(other))} == {"stays", "mixed"}


def test_a_fingerprint_hangs_on_the_order():
    assert fingerprint([1, 2]) != fingerprint([2, 1])
    assert fingerprint([]) == [0]


def test_the_net_hangs_on_the_public_surface_alone():
    for path in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not [alias.name for alias in node.names if alias.name.startswith("takifugu.")], path.name
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] != "takifugu", path.name
