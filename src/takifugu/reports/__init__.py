"""What was found, told: facts computed once, then shown as charts, as a page and on the command line."""

from takifugu.reports.facts import Facts, facts_for

__all__ = ["Facts", "facts_for"]
