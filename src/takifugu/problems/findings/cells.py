"""What there is to say about the cells of what an adversary knows."""

from dataclasses import dataclass

from takifugu.problems.findings.base import Finding


@dataclass(frozen=True)
class SmallCells(Finding):
    """Cells of what the adversary knows that hold few rows of some secret."""

    level = "warning"
    says = "{small} of {cells} cells rest on fewer than {rows} rows of some secret"
    small: int
    cells: int
    rows: int


@dataclass(frozen=True)
class ManyCells(Finding):
    """More cells than rows can speak for."""

    level = "warning"
    says = (
        "{cells} cells of what the adversary knows are many: merge values of {column!r}, which has {values}, or "
        "cut it with binned({column!r}, [...])"
    )
    cells: int
    column: str
    values: int


@dataclass(frozen=True)
class OneSecretCells(Finding):
    """Cells in which the rows of some secret are missing altogether."""

    level = "warning"
    says = (
        "{cells} cell{cells:plural} of what the adversary knows hold{cells:singular} no row of some secret: it may "
        "have any law there, and to allow for it costs accuracy. Merge such cells with others, or leave a known column "
        "out. Who knows such a cell may know the secret without any release"
    )
    cells: int
