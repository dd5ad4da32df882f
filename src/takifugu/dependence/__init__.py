"""Records that depend on one another: what they make of the law of an answer (proofs/dependence.md)."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
