"""Tests of Discreet; they mirror the package."""
