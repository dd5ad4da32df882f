"""Rules for how much Gaussian noise is enough: one bound a file."""
