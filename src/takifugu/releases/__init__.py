"""Publishing: the exact sampler, the ledger of what was published, and the doors to tables and files."""

from takifugu.releases.doors.dispatch import release

__all__ = ["release"]
