"""What the paper's numbers become: each promise costs more than the one before, and a second run computes nothing."""

import csv
import io

from takifugu.paper.becoming import Becoming, as_csv, becoming, becoming_page
from takifugu.paper.cache import Cache


def test_each_promise_costs_more_than_the_one_before(tmp_path):
    cache = Cache(tmp_path)
    (row,) = becoming("student-mat", cache, epsilons=(1.0,))
    assert row.counts < row.confidence < row.band
    assert row.confidence < row.cells
    assert row.beliefs == 17
    assert row.closest != "nothing known"
    assert becoming("student-mat", cache, epsilons=(1.0,)) == [row]
    assert (cache.computed, cache.found) == (1, 1)


def test_the_page_and_the_table_hold_every_figure():
    rows = [Becoming("heart", 0.5, 7.6, 4.9, 4.4, 5.8, 8.7, 8.3, 9, "sex = <0>")]
    assert "sex = &lt;0&gt;" in becoming_page(rows)
    assert "8.70" in becoming_page(rows)
    (read,) = csv.DictReader(io.StringIO(as_csv(rows)))
    assert float(read["band"]) == 8.7
