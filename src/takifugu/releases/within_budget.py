"""Whether a release promises what the budget of its records does, where no noise can be measured against the budget's.

Of noise the ledger compares sizes. A channel from a list has none, and whoever sets a budget is owed its promise.
"""

from takifugu.calibration import Calibration
from takifugu.channels.listed import ListChannel
from takifugu.errors import BudgetError
from takifugu.mechanisms.assurance import Band
from takifugu.problems.guarantee import Renyi


def require_within(budget: Calibration | None, calibration: Calibration) -> None:
    """Refuse a channel from a list that promises less than the budget, or promises it on weaker evidence."""
    if budget is None or not isinstance(calibration.channel, ListChannel):
        return
    allowed, promised = budget.guarantee, calibration.guarantee
    if not (isinstance(allowed, Renyi) and isinstance(promised, Renyi) and promised.implies(allowed)):
        raise BudgetError(
            f"the budget allows {allowed}, and this calibration promises {promised}, which may tell more. Nothing was "
            f"released; calibrate with the promise of the budget"
        )
    if _is_weaker(calibration, budget):
        raise BudgetError(
            f"the budget is for the population ({budget.evidence.sentence if budget.evidence else ''}), and this "
            f"calibration says less about it. Nothing was released; calibrate with the confidence of the budget"
        )


def _is_weaker(calibration: Calibration, budget: Calibration) -> bool:
    """Whether less is said about the population: nothing, with less confidence, or draws in place of a proof."""
    said, asked = calibration.evidence, budget.evidence
    if asked is None:
        return False
    return said is None or said.level < asked.level or (isinstance(asked, Band) and not isinstance(said, Band))
