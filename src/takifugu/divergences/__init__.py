"""How far two published laws are apart, in floats and proved."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
