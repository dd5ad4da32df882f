"""Takifugu: calibrate, certify and release under Rényi Pufferfish Privacy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from takifugu import _display

if TYPE_CHECKING:
    from takifugu import datasets
    from takifugu.audits.audit import audit
    from takifugu.audits.result import Audit
    from takifugu.calibration import Calibration, calibrate, sweep
    from takifugu.certificates import Certificate, certify, verify
    from takifugu.divergences import renyi_divergence
    from takifugu.divergences.proved.guessing import best_guess, odds_factor, recommended_alpha
    from takifugu.errors import (
        BudgetError,
        CalibrationError,
        CertificationError,
        CompositionError,
        FindingWarning,
        InputError,
        LedgerError,
        MechanismError,
        MissingExtraError,
        TakifuguError,
    )
    from takifugu.estimates import estimate
    from takifugu.laws.finite import Finite
    from takifugu.laws.mixture import Mixture
    from takifugu.laws.vector import VectorMixture
    from takifugu.mechanisms import list_mechanisms
    from takifugu.publishing import publish
    from takifugu.queries.bnn import BNN
    from takifugu.queries.fitting import fit_priors
    from takifugu.queries.gp import GP
    from takifugu.queries.inspecting import inspect
    from takifugu.queries.mean import Mean
    from takifugu.queries.raw import Raw
    from takifugu.queries.row import Row
    from takifugu.releases import release
    from takifugu.releases.doors.files import release_file
    from takifugu.releases.doors.transformer import ReleaseTransformer
    from takifugu.releases.ledger import Ledger
    from takifugu.reports.writing import report
    from takifugu.tables.binned import binned
    from takifugu.tables.reading import Reading

__version__ = "0.2.0"

# Each public name and the module it lives in, imported when it is first used: a name costs nothing
# until then, and `import takifugu` loads numpy at most.
_HOME = {
    "Audit": "takifugu.audits.result",
    "BNN": "takifugu.queries.bnn",
    "BudgetError": "takifugu.errors",
    "Calibration": "takifugu.calibration",
    "CalibrationError": "takifugu.errors",
    "Certificate": "takifugu.certificates",
    "CertificationError": "takifugu.errors",
    "FindingWarning": "takifugu.errors",
    "Finite": "takifugu.laws.finite",
    "GP": "takifugu.queries.gp",
    "InputError": "takifugu.errors",
    "Mean": "takifugu.queries.mean",
    "CompositionError": "takifugu.errors",
    "Ledger": "takifugu.releases.ledger",
    "LedgerError": "takifugu.errors",
    "MechanismError": "takifugu.errors",
    "MissingExtraError": "takifugu.errors",
    "Mixture": "takifugu.laws.mixture",
    "Raw": "takifugu.queries.raw",
    "Reading": "takifugu.tables.reading",
    "Row": "takifugu.queries.row",
    "ReleaseTransformer": "takifugu.releases.doors.transformer",
    "TakifuguError": "takifugu.errors",
    "audit": "takifugu.audits.audit",
    "best_guess": "takifugu.divergences.proved.guessing",
    "binned": "takifugu.tables.binned",
    "VectorMixture": "takifugu.laws.vector",
    "calibrate": "takifugu.calibration",
    "certify": "takifugu.certificates",
    "datasets": "takifugu",
    "estimate": "takifugu.estimates",
    "fit_priors": "takifugu.queries.fitting",
    "inspect": "takifugu.queries.inspecting",
    "list_mechanisms": "takifugu.mechanisms",
    "odds_factor": "takifugu.divergences.proved.guessing",
    "publish": "takifugu.publishing",
    "recommended_alpha": "takifugu.divergences.proved.guessing",
    "release": "takifugu.releases",
    "release_file": "takifugu.releases.doors.files",
    "renyi_divergence": "takifugu.divergences",
    "report": "takifugu.reports.writing",
    "sweep": "takifugu.calibration",
    "verify": "takifugu.certificates",
}

__all__ = [
    "BNN",
    "GP",
    "Audit",
    "BudgetError",
    "Calibration",
    "CalibrationError",
    "Certificate",
    "CertificationError",
    "CompositionError",
    "FindingWarning",
    "Finite",
    "InputError",
    "Ledger",
    "LedgerError",
    "Mean",
    "MechanismError",
    "MissingExtraError",
    "Mixture",
    "Raw",
    "Reading",
    "ReleaseTransformer",
    "Row",
    "TakifuguError",
    "VectorMixture",
    "audit",
    "best_guess",
    "binned",
    "calibrate",
    "certify",
    "datasets",
    "estimate",
    "fit_priors",
    "inspect",
    "list_mechanisms",
    "odds_factor",
    "publish",
    "recommended_alpha",
    "release",
    "release_file",
    "renyi_divergence",
    "report",
    "sweep",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'takifugu' has no attribute {name!r}")
    home = _HOME[name]
    value = import_module(f"takifugu.{name}") if home == "takifugu" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for tab completion."""
    return sorted(__all__)


# Laws, channels and calibrations are shown by the reports, which they do not know.
_display.sign_up(
    html=lambda thing: import_module("takifugu.reports.notebook").html(thing),
    plot=lambda thing, ax: import_module("takifugu.reports.plots").plot(thing, ax),
)
