"""Rules that find a channel for a problem and a guarantee."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
