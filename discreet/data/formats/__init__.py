"""Contracts in the words of others: SmartNoise YAML, CSVW-EO, Croissant. What a format cannot carry is said."""
