"""Tests of the one way to a charged noisy number."""
