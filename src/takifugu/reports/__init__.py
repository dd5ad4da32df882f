"""What was found, told: facts computed once, then shown as charts, as a page and on the command line."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
