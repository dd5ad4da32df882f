"""Many pairs at once: cheap bounds first, the exact search for the few that are left."""
