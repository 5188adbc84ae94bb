"""Scripts that run inside the environments of other tools; nothing here is imported."""
