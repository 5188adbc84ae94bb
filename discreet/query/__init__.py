"""Questions in SQL or from a builder: parsed, planned, answered with their error."""
