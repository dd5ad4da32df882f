"""What is published, and what an adversary would expect of it: a table becomes one prior per secret."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
