"""Quadrature, grids and ball arithmetic: the numerics that divergences of mixtures rest on."""
