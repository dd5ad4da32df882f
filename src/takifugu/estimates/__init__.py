"""After publication: what analysts can still learn from a published table, and how surely (proofs/estimates.md)."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
