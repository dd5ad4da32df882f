"""The main job: from a table to a table that keeps a secret."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
