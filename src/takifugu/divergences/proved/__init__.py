"""The divergence of mixtures on the line, in ball arithmetic: two floats that are proved to hold it."""
