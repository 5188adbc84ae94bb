"""Benchmarks: our figures beside those of the raw engine and of other tools, all taken in one run."""
