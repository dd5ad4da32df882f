"""What is to be hidden, from whom and how well: beliefs, pairs, and what there is to say about the data."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
