"""Gaussian noise, rounded exactly: how it is drawn, and what repeating it costs."""
