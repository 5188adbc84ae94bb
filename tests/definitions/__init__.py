"""Definitions and theorems of differential privacy, enumerated with the laws of the mechanisms themselves."""
