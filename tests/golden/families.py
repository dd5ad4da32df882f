"""All that is recorded."""

from .golden_calibrations import CALIBRATIONS
from .golden_commands import COMMANDS
from .golden_proofs import CERTIFICATES, SWEEPS
from .golden_publications import PUBLICATIONS
from .golden_releases import AUDITS, ESTIMATES, LEDGERS, RELEASES, REPORTS

FAMILIES = {
    family.name: family
    for family in (
        CALIBRATIONS,
        SWEEPS,
        CERTIFICATES,
        RELEASES,
        LEDGERS,
        ESTIMATES,
        REPORTS,
        PUBLICATIONS,
        AUDITS,
        COMMANDS,
    )
}
