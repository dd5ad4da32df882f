"""What else was measured: studies beside the package, each run with `python -m`."""
