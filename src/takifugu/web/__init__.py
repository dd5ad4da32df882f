"""The explorer: a page on this machine alone, where secrets, budgets and noise can be tried out."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
