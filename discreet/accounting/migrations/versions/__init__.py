"""Each file is one step."""
