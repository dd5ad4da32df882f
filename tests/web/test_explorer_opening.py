"""The column that the page opens with: filled in, from a short list, and not what gives the secret away."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browser import opened
from explorer_process import Explorer
from playwright.sync_api import Browser

import takifugu as tk
from takifugu.web.shelf import Shelf

_ROWS = 400


@pytest.fixture
def opens_with(tmp_path: Path) -> Callable[..., str | None]:
    """The column that a table of these columns opens with, beside the secret `s`."""

    def opened_with(**columns: Any) -> str | None:
        path = tmp_path / "people.csv"
        pd.DataFrame(_SECRET | columns).to_csv(path, index=False)
        shelf = Shelf(path)
        try:
            return shelf.first("file:people.csv", "s")
        finally:
            shelf.uploads.close()

    return opened_with


_RNG = np.random.default_rng(3)
_SECRET = {"s": np.where(np.arange(_ROWS) % 2, "yes", "no")}
_QUIET, _OTHER = (_RNG.integers(0, 5, _ROWS) for _ in range(2))
_LOUD = np.where(np.arange(_ROWS) % 2, 1, 2)


def test_what_gives_the_secret_away_is_not_what_it_opens_with(opens_with: Callable[..., str | None]) -> None:
    assert opens_with(loud=_LOUD, quiet=_QUIET) == "quiet"
    assert opens_with(loud=_LOUD, again=_LOUD + 1, quiet=_QUIET, other=_OTHER) == "quiet"  # the first that is as good
    assert opens_with(loud=_LOUD) == "loud"


def test_what_inspect_calls_the_worst_column_of_many_is_passed_over(tmp_path: Path) -> None:
    columns = {f"q{k}": _RNG.integers(1, 6, _ROWS) for k in range(16)}  # more than the twelve that are looked at
    columns["q0"] = np.where(np.arange(_ROWS) % 2, _RNG.integers(1, 4, _ROWS), columns["q0"])
    pd.DataFrame(columns | _SECRET).to_csv(tmp_path / "wide.csv", index=False)
    shelf = Shelf(tmp_path / "wide.csv")
    assert tk.inspect(tmp_path / "wide.csv", secret="s").betrayals[0].column == "q0"
    assert shelf.first("file:wide.csv", "s") in {f"q{k}" for k in range(1, 12)}
    shelf.uploads.close()


@pytest.mark.parametrize(
    "worse",
    [
        np.where(np.arange(_ROWS) % 8 == 0, "a", None),  # empty in most rows
        np.where(np.arange(_ROWS) % 20 == 0, 999, _OTHER),  # a code for what is missing
        _RNG.normal(0, 1, _ROWS),  # hundreds of values, which are rounded to bins
        [f"person {k}" for k in range(_ROWS)],
        ["same"] * _ROWS,
        np.where(np.arange(_ROWS) % 3, "ward", "ward "),  # refused when it is published
    ],
    ids=["empty", "code", "many", "names", "constant", "alike"],
)
def test_a_column_that_leads_to_an_error_or_to_bins_comes_after_a_plain_one(
    opens_with: Callable[..., str | None], worse: Any
) -> None:
    assert opens_with(worse=worse, quiet=_QUIET) == "quiet"


def test_where_there_is_none_the_page_says_so_and_does_not_fail(opens_with: Callable[..., str | None]) -> None:
    assert opens_with(name=[f"person {k}" for k in range(_ROWS)]) is None


def test_a_dropped_table_opens_with_it_in_both_modes(browser: Browser, running: Explorer, tmp_path: Path) -> None:
    path = tmp_path / "opening.csv"
    pd.DataFrame({"loud": _LOUD, "other": _OTHER, "quiet": _QUIET, **_SECRET}).to_csv(path, index=False)
    with opened(browser, running.quick) as visit:
        (first,) = visit.drop(path, "s")["columns"]
        assert first in ("other", "quiet")
        assert visit.publish_as("noise")["columns"] == [first]
        # Where the column itself becomes the secret, another is found; what is ticked otherwise stays.
        visit.publish_as("row")
        assert visit.choose("Secret column", "loud")["columns"] == [first]
        (second,) = visit.choose("Secret column", first)["columns"]
        assert second not in (first, "s")
