"""Publishing: the exact sampler, the ledger of what was published, and the doors to tables and files."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
