"""Copies by multiple imputation: measured risk, never a guarantee. `columns` is what every synthesiser takes."""
