"""The paper's evaluation: its figures redrawn, its headline computed and its claims checked."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
