"""What a reader should know about the data: typed remarks, each of which says its own sentence.

Reports, the command line and the web page show the same findings; each picks those it wants by type.
"""

from takifugu.problems.findings.base import Caution, Finding, Remark
from takifugu.problems.findings.cells import ManyCells, OneSecretCells, SmallCells
from takifugu.problems.findings.domains import Clipped, CoarserStep, DomainRead, HeavyTail, LatticeRead
from takifugu.problems.findings.fitting import (
    ComponentLimit,
    Constant,
    ConstantFeature,
    FewRows,
    Gridded,
    LeftOutTells,
    NoSecret,
    NotConverged,
    NoValue,
    PoorFit,
    Rounded,
    ScarceRows,
    Subsampled,
    UnsafePrior,
    VectorOfRows,
)
from takifugu.problems.findings.thin import OtherSmoothing, PriceOfIgnorance, Smoothed, SparseChosen

__all__ = [
    "Caution",
    "Clipped",
    "CoarserStep",
    "ComponentLimit",
    "Constant",
    "ConstantFeature",
    "DomainRead",
    "FewRows",
    "Finding",
    "Gridded",
    "HeavyTail",
    "LatticeRead",
    "LeftOutTells",
    "ManyCells",
    "NoSecret",
    "NoValue",
    "NotConverged",
    "OneSecretCells",
    "OtherSmoothing",
    "PoorFit",
    "PriceOfIgnorance",
    "Remark",
    "Rounded",
    "ScarceRows",
    "SmallCells",
    "Smoothed",
    "SparseChosen",
    "Subsampled",
    "UnsafePrior",
    "VectorOfRows",
]
