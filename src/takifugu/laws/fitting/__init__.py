"""Fitting a mixture of normals to values with counts."""
