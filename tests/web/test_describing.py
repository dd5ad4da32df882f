"""What the page is told of a table, without a browser."""

import pandas as pd

from takifugu.problems.diagnostics import Diagnostic
from takifugu.tables.column_facts import look
from takifugu.tables.table import Table
from takifugu.web.describing import described, on_page


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
    about = described(table, look(table))
    assert about["identifiers"] == ["case_id"]
    assert about["lists"] == ["sick", "age", "note", "bill", "case_id"]


def test_advice_that_the_page_cannot_follow_names_the_command_and_the_python():
    told = on_page(Diagnostic("few-for-confidence", secret="ill", rows=16).sentence)
    assert "or give the command or the Python below --assurance band (assurance='band')" in told
