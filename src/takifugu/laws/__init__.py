"""Distributions of an answer, and how they are fitted to counts."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
