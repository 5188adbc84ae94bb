"""Readers: each takes one kind of source and leaves it as rows that DuckDB can take in."""
