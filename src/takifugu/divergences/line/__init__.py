"""The divergence of mixtures on the line, in float64."""
