"""One interface to any table, and the few questions that fitting asks of it."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
