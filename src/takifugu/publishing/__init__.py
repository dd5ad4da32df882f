"""The main job: from a table to a table that keeps a secret."""

from takifugu.publishing.calibrating import calibrated, odds_by_default
from takifugu.publishing.one_call import ledger_beside, publish

__all__ = ["calibrated", "ledger_beside", "odds_by_default", "publish"]
