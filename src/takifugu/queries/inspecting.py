"""`inspect`: what is in a table, what of it could be published, and what would betray the secret.

Values are called by their names where at least `SHARED` rows have them, and secrets always are; nothing else of a
record is shown. All figures are of the rows there are: evidence for choosing what to publish, and no promise.
"""

from collections.abc import Iterable

from takifugu.errors import InputError
from takifugu.problems.column_findings import GapsTell, RowOfTotals, TellsOutright
from takifugu.problems.findings import Finding, LeftOutTells, NoSecret
from takifugu.problems.inspection_findings import RareSecrets, SuspectedSentinel, UnclearLabels
from takifugu.queries.betrayal import Betrayal, betrayals_of
from takifugu.queries.column_remarks import advice, emptiness, look_alike, remarks
from takifugu.queries.few_rows import about_left_out
from takifugu.queries.inspection import Group, InspectedColumn, Inspection
from takifugu.queries.proposing import Proposal, proposed
from takifugu.queries.several_rows import several_rows
from takifugu.queries.totals import summed, totals
from takifugu.tables.by_secret import BySecret, treated
from takifugu.tables.choosing import require_some
from takifugu.tables.free_text import is_free_text
from takifugu.tables.inspect import ColumnFacts, look
from takifugu.tables.missing import lacking, with_secrets
from takifugu.tables.reading import Reading
from takifugu.tables.table import Table

RARE = 20  # rows below which a group is worth merging
_LISTS = ("whole numbers", "numbers", "truth", "labels")  # what a list of values can be made of


def inspect(table: object, secret: str | None = None, *, reading: Reading | None = None) -> Inspection:
    """What is in a table, and what of it would betray the secret.

    Args:
        table: a path or a table of any dataframe library, as for `fit_priors`.
        secret: the column to hide; of several secrets, look once for each.
        reading: what is known of a file's form, as the reader takes it.

    >>> import takifugu as tk
    >>> found = tk.inspect(tk.datasets.load("student-por"), secret="schoolsup")
    >>> [one.column for one in found.betrayals[:2]]
    ['G3', 'age']
    """
    if secret is not None and not isinstance(secret, str):
        raise InputError("secret must be the name of one column: of several secrets, inspect the table once for each")
    source = Table(table, reading)
    if secret is not None:
        source.require(secret)
        source.secret(secret)  # refuses a column that cannot hold secrets
    held, without = (source, 0) if secret is None else _with_secret(source, secret)
    facts = look(held)
    findings = list(source.findings)
    codes: list[str] = []
    proposals: dict[str, Proposal] = {}
    sums = summed(held, [one for one in facts if one.name != secret])
    findings.extend([RowOfTotals(sums)] if sums else [])
    for one in facts:
        # What stands apart has to be declared before anything is published; the rest is for people to judge.
        dropped = tuple(s for s in one.suspects if s.apart)
        told = [SuspectedSentinel(one.name, s.value, s.rows, s.apart) for s in one.suspects]
        codes.extend(finding.code for finding, suspect in zip(told, one.suspects, strict=True) if suspect in dropped)
        doubles = tuple(look_alike(one))
        findings.extend([*emptiness(one, without if one.name == secret else 0), *told, *doubles])
        if one.name not in sums or one.form is not None:
            findings.extend(remarks(one, dropped, is_secret=one.name == secret))
        if one.name == secret or one.name in sums or not _may_be_listed(one):
            continue
        try:
            proposal = proposed(one, dropped)
        except InputError:  # its sentence is about positions on a list that nobody sees
            findings.extend([] if doubles else [UnclearLabels(one.name)])
            continue
        if proposal is not None:
            proposals[one.name] = proposal
    groups: tuple[Group, ...] = ()
    betrayals: dict[str, Betrayal] = {}
    if secret is not None:
        numbers = [one.name for one in facts if one.name in proposals and one.is_number]
        labels = [name for name in proposals if name not in numbers]
        seen = BySecret(treated(held, codes), secret, numbers, labels)
        groups = tuple(Group(name, rows) for name, rows in seen.rows.items())
        findings.extend(_about_groups(secret, groups, without))
        findings.extend([*totals(source, secret, facts, without), *several_rows(held, [secret])])
        betrayals = betrayals_of(seen, proposals)
        findings.extend(TellsOutright(name, secret) for name, told in betrayals.items() if told.outright)
        findings.extend(_gaps(seen, list(proposals)))
    columns = tuple(
        InspectedColumn(
            name=one.name,
            kind=one.kind,
            missing=without if one.name == secret else one.missing,
            distinct=one.distinct,
            advice="the secret" if one.name == secret else advice(one, one.name in proposals, betrayals.get(one.name)),
            domain=proposals.get(one.name),
            betrayal=betrayals.get(one.name),
        )
        for one in facts
    )
    return Inspection(
        rows=facts[0].rows + facts[0].missing + without,
        columns=columns,
        secret=secret,
        groups=groups,
        without_secret=without,
        sentinels=tuple(codes),
        findings=tuple(findings),
    )


def _may_be_listed(one: ColumnFacts) -> bool:
    """Whether a list of the column's values could be public: what people wrote is no list, and would be shown."""
    return one.kind in _LISTS and not one.is_identifier and not is_free_text(one)


def _with_secret(table: Table, secret: str) -> tuple[Table, int]:
    """The rows that have a secret, of which alone anything is said, and how many have none."""
    gone = lacking(table, [secret])
    if gone is None:
        return table, 0
    held = with_secrets(table, [secret])
    require_some(table, secret, held.row_count(), gone.rows)
    return held, gone.rows


def _gaps(seen: BySecret, columns: list[str]) -> Iterable[GapsTell]:
    """Whether rows that would be left out for want of a value go with the secret; columns alike are told at once."""
    alike: dict[LeftOutTells, list[str]] = {}
    for name in columns if seen.rows else ():
        for gap in about_left_out(seen.lacking(name)):
            alike.setdefault(gap, []).append(name)
    return [GapsTell(**vars(gap), columns=tuple(names)) for gap, names in alike.items()]


def _about_groups(secret: str, groups: tuple[Group, ...], without: int) -> Iterable[Finding]:
    """Rows without a secret, and rare groups with those to merge them with: one another, and then the next larger."""
    if without:
        yield NoSecret(secret, without)
    ordered = sorted(groups, key=lambda group: group.rows)
    rare = [group for group in ordered if group.rows < RARE]
    if not rare:
        return
    merged, together = list(rare), sum(group.rows for group in rare)
    for group in ordered[len(rare) :]:
        if together >= RARE and len(merged) > 1:
            break
        merged, together = [*merged, group], together + group.rows
    # Merged into one, all groups would leave nothing to be hidden from anything.
    names = tuple(group.secret for group in merged) if 1 < len(merged) < len(groups) else ()
    yield RareSecrets(secret, tuple((group.secret, group.rows) for group in rare), names, together)
