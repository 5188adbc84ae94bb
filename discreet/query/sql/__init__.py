"""SQL as people write it, read into questions: what `discreet.query.parse` is made of."""
