"""From beliefs and a promise to the channel that keeps it, and the noun that remembers all three."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
