"""Whether an answer, or a name of records, is one that the ledger knows already."""

from typing import Any

from takifugu.errors import CompositionError
from takifugu.releases.fingerprints import tells_alone
from takifugu.releases.names import skeleton


def is_same(entry: dict[str, Any], answer: str, unordered: str, protects: str) -> bool:
    """Whether an entry is about this very answer, in whatever order its rows now stand."""
    if entry.get("answer") == answer:
        return True
    alike = bool(unordered) and entry.get("unordered") == unordered
    return alike and (tells_alone(unordered) or entry.get("protection") == protects)


def refuse_other_names(
    records: str, entries: tuple[dict[str, Any], ...], *, answer: str = "", unordered: str = "", protects: str = ""
) -> None:
    """One body of records has one name: another spelling, or the same values under it, would have a budget anew.

    Without an answer, names alone are compared.
    """
    for entry in entries:
        if entry["records"] == records:
            continue
        same = bool(answer) and is_same(entry, answer, unordered, protects)
        if same or skeleton(entry["records"]) == skeleton(records):
            raise CompositionError(
                f"this ledger knows these records as {entry['records']!r}, and not as {records!r}: a second name would "
                f"have a second budget for the same people. Nothing was released; use the first name"
            )


def moved(records: str) -> str:
    """The refusal of the same values in another order."""
    return (
        f"these values of {records!r} were published before, in another order, and whether each row is the same "
        f"person's cannot be seen. Nothing was released; give the rows in their first order"
    )


def another(records: str, account: Any) -> str:
    """The refusal of another answer than that of the account, which is there to be published again or is not."""
    if account.may_go_on:
        advice = "publish the first answer again, since precisions add up; or, if"
    else:
        advice = "nothing more can be published about these records. If"
    return (
        f"another answer about {records!r} was published before. Two answers about the same records do not compose: "
        f"each may hide the secret while both together give it away, and only a joint prior could tell. Nothing was "
        f"released; {advice} these are different records, give them a name of their own with records="
    )
