"""One interface to any table, and the few questions that fitting asks of it."""
