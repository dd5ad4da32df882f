"""What `publish` returns: the table for the public, and everything that goes with it."""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.calibration import Calibration
from takifugu.certificates import ChannelCertificate
from takifugu.certificates.document import Certificate
from takifugu.estimates import Estimates
from takifugu.estimates.description import described
from takifugu.problems.findings import Finding
from takifugu.reports.publication import Publication, told

if TYPE_CHECKING:
    from takifugu.audits.result import Audit


@dataclass(frozen=True, repr=False)
class Published:
    """What was published, and all that goes with it. Only `table` is for the public; see `private`.

    >>> import takifugu as tk
    >>> pupils = tk.datasets.load("student-por")
    >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
    >>> list(made.table.columns), made.calibration.guarantee.most_odds.__round__(6)
    (['G3'], 3.0)
    """

    table: Any = field(repr=False)
    calibration: Calibration = field(repr=False)
    certificate: Certificate | ChannelCertificate = field(repr=False)
    findings: tuple[Finding, ...] = field(repr=False)
    _positions: npt.NDArray[np.intp] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the positions: no file holds them that was not asked for."""
        return {**self.__dict__, "_positions": None}

    @property
    def summary(self) -> Publication:
        """What was hidden from whom, what changed, and what an adversary can still guess, in figures."""
        return told(self.calibration)

    @property
    def estimate(self) -> Estimates:
        """What the published table still says: `mean`, `histogram`, `regression` and `bounds`, with standard errors.

        It needs the probabilities of the channel, which are mostly private: `takifugu.estimate` is what analysts can do
        with the public file, and figures that they cannot make can be handed out.
        """
        return Estimates(self.table, described(self.calibration), None, None)

    def __repr__(self) -> str:
        """What was published, in a line; print it for the page."""
        answer = self.calibration.answer
        columns = "" if answer is None else f" of {', '.join(answer.columns)}"
        return f"Published({len(self.table):,} rows{columns}, {self.calibration.guarantee})"

    def __str__(self) -> str:
        """One page of plain words."""
        return "\n".join(self.summary.sentences)

    def _repr_html_(self) -> str:
        """The same for a notebook, with the channel."""
        from takifugu.reports.notebook import publication

        return publication(self.summary.sentences, self.calibration)

    def plot(self, ax: Any = None) -> Any:
        """What became of each value, on Matplotlib axes: see `Calibration.plot`."""
        return self.calibration.plot(ax=ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table, which is for the public, as CSV or Parquet; a file that is there is not written over."""
        from takifugu.releases.doors.saving import save_table

        save_table(self.table, path)

    def save_positions(self, path: str | os.PathLike[str]) -> None:
        """Write which row of the source stands where in the table, as CSV or Parquet: a key for an auditor.

        Rows were shuffled so that their places tell nothing; whoever has this file and the rows can undo that. Rows of
        the source that were not published are not counted.
        """
        from takifugu.releases.doors.saving import save_positions

        save_positions(self._positions, path)

    def audit(self, truth: object, **options: Any) -> "Audit":
        """Attack the table as an adversary would, beside the truth that it was made from.

        `takifugu.audit` of the published table and its calibration, with the positions of the rows, which nothing but
        this object knows until `save_positions`.

        Args:
            truth: the table that was published, with its secrets.
            **options: as for `takifugu.audit`: `secret`, `seed`, `level`, `reading` and `progress`.

        >>> import takifugu as tk
        >>> pupils = tk.datasets.load("student-por")
        >>> made = tk.publish(pupils, secret="schoolsup", columns=["G3"], odds=3)
        >>> made.audit(pupils, level=1e-6).contradicted
        False
        """
        from takifugu.audits.audit import audit

        return audit(self.table, truth, self.calibration, positions=self._positions, **options)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file. It describes the priors: keep it private."""
        from takifugu.reports.writing import report

        report(self.calibration, path, certificate=self.certificate)
