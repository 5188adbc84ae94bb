"""Reconstruction of the records behind published tables."""
