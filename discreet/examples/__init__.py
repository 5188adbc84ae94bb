"""Small public tables that the product ships: the sources' examples and the demonstration's data."""
