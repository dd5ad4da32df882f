"""Which columns `inspect` gives as an example to publish: ones that a first run is done with within seconds."""

from collections.abc import Mapping

from takifugu.queries.betrayal import Betrayal
from takifugu.queries.proposing import Proposal

ODDS = 3  # the promise of the example
COMBINATIONS = 64  # of values: a channel between so many is found while one waits
_TOGETHER = 3  # columns
_SHORT = 16  # values: lists that leave room for another one
_MOST_LABELS = 30  # beyond which a list of texts is hardly one that a first look should publish


def exemplary(candidates: Mapping[str, tuple[Betrayal, Proposal]]) -> frozenset[str]:
    """Columns to publish together: those that betray least, with short lists, as many as are soon done with.

    One of them tells more than the promise allows, where any does: with nothing to hide, publishing is refused.
    """
    sizes = {name: len(proposal.choices.values) for name, (_, proposal) in candidates.items()}
    simple = [name for name, (_, proposal) in candidates.items() if _is_simple(proposal)]
    if not simple:  # what there is takes longer, and is no less publishable for it
        return frozenset(sorted(sizes, key=sizes.__getitem__)[:1])

    def order(name: str) -> tuple[bool, float, float]:
        told = candidates[name][0]
        return sizes[name] > _SHORT, told.best_guess, told.odds

    ordered = sorted(simple, key=order)
    first = next((name for name in ordered if candidates[name][0].odds > ODDS), ordered[0])
    chosen, combinations = {first}, sizes[first]
    for name in ordered:
        fits = combinations * sizes[name] <= COMBINATIONS
        if fits and name not in chosen and len(chosen) < _TOGETHER:
            chosen.add(name)
            combinations *= sizes[name]
    return frozenset(chosen)


def _is_simple(proposal: Proposal) -> bool:
    """Whether a list is short, and of texts such as many people share."""
    values = proposal.choices.values
    if isinstance(values[0], str) and (len(values) > _MOST_LABELS or proposal.rare > len(values)):
        return False
    return len(values) <= COMBINATIONS
