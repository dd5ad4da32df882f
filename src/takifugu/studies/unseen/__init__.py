"""A study of tables that nothing here was tuned for, with settings that were written down before the first run."""
