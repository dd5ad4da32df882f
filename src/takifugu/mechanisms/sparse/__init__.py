"""Channels for rows of many columns: sparse tables over thousands of values, found part by part and proved whole."""
