"""Files that outlive a process: strict JSON, and the fields of what is written in it."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
