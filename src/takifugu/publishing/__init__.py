"""The main job: from a table to a table that keeps a secret."""

from takifugu.publishing.calibrating import calibrated, odds_by_default
from takifugu.publishing.one_call import publish
from takifugu.releases.beside import ledger_beside

__all__ = ["calibrated", "ledger_beside", "odds_by_default", "publish"]
