"""After publication: what analysts can still learn from a published table, and how surely (proofs/estimates.md)."""

from takifugu.estimates.estimating import Estimates, estimate

__all__ = ["Estimates", "estimate"]
