"""The one way from a contract to a charged noisy number."""
