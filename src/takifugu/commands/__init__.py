"""One small file for each command of `takifugu`."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
