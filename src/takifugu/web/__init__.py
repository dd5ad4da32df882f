"""The explorer: a page on this machine alone, where secrets, budgets and noise can be tried out."""
