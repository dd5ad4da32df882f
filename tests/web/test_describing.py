"""What the page is told of a table, without a browser."""

import pandas as pd

from takifugu.tables.inspect import look
from takifugu.tables.table import Table
from takifugu.web.describing import described


def test_notes_and_amounts_are_offered_last_but_for_identifiers():
    rows = range(600)
    people = {
        "case_id": [f"P{k}" for k in rows],
        "note": [f"complains of headache {k % 121}" for k in rows],
        "bill": [f"{k % 9}.{850 + k % 50},20 €" for k in rows],
        "sick": ["yes", "no"] * 300,
        "age": [20 + k % 50 for k in rows],
    }
    table = Table(pd.DataFrame(people))
    about = described(table, look(table), wanted=None)
    assert about["identifiers"] == ["case_id"]
    assert about["lists"] == ["sick", "age", "note", "bill", "case_id"]
