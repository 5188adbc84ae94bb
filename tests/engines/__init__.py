"""One conformance suite over every engine there is, and the walls of each."""
