"""A study of tables that nothing here was tuned for, with settings written down before they were read."""
