"""What `takifugu publish` says when it is done, or would say: one page of plain words."""

import os
from pathlib import Path
from typing import Any

from takifugu.commands.findings import tell_findings
from takifugu.commands.telling import console, tell_files
from takifugu.commands.words import in_flags


def tell_before(made: Any, bare: str | None) -> None:
    """The same page where nothing left; `bare` says why publishing would be refused."""
    from takifugu.reports.publication import told

    out = console()
    out.print("Nothing was published, written or charged. Publishing this would say:", style="bold")
    out.print()
    if bare is not None:
        out.print(f"It would be refused: {in_flags(bare)}. Give --allow-no-noise if that is what you want.")
    for sentence in told(made).sentences:
        out.print(in_flags(sentence))
    out.print()
    tell_findings(made.findings, out)


def tell(
    made: Any, done: Any, target: Path, paths: dict[str, Path], ledger: Any, positions: Path | None = None
) -> None:
    """One page of plain words: what is hidden, what changed, what can still be guessed, what to keep private."""
    from takifugu.problems.asking_findings import OrderKept
    from takifugu.releases.secret_rows import OthersLeftOut
    from takifugu.reports.publication import told

    out = console()
    out.print()
    for sentence in told(made).sentences:
        out.print(in_flags(sentence))
    if (left := _left(ledger)) is not None:
        out.print(left)
    out.print()
    # Those of the release are about the same reading of the same table, but for which rows went out.
    of_rows = (one for one in done.findings if isinstance(one, OthersLeftOut))
    said = (one for one in made.findings if not isinstance(one, OrderKept))  # among the sentences
    tell_findings((*said, *of_rows), out)
    out.print()
    made_files = [
        (target, f"{done.rows:,} rows{'' if OrderKept.among(done.findings) else ', shuffled'} (public)"),
        (paths["public"], "the promise, without priors (public)"),
        (paths["report"], "open it in a browser (private)"),
        (paths["certificate"], "the proof, for an auditor (private)"),
        (paths["calibration"], "for takifugu release and audit (private)"),
        *([] if positions is None else [(positions, "which row stands where, for takifugu audit (private)")]),
        (ledger.path, "remembers what was published (private)"),
    ]
    for folder in dict.fromkeys(path.parent for path, _ in made_files):
        out.print(f"In {os.fspath(folder)}:")
        tell_files([(path.name, what) for path, what in made_files if path.parent == folder], out)


def _left(ledger: Any) -> str | None:
    """What may follow, where columns are published one after another."""
    from takifugu.releases.joint_account import JointAccount

    account = ledger.account()
    if not isinstance(account, JointAccount):
        return None
    spent = f"{100 * account.fraction_spent:.0f} % of the promise (odds within a factor of {account.odds:.4g}) is spent"
    if not account.left:
        return f"{spent}: all columns of this account are published."
    if account.fraction_spent >= 1:
        return f"{spent}: nothing is left for {', '.join(account.left)}."
    return f"{spent}. Still to be published within it: {', '.join(account.left)}."
