"""Attacks on a release by its owner, who has the truth: what an adversary could have learned."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
