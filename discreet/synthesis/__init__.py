"""Synthetic data. `imputation` makes copies of measured risk; they carry no guarantee of differential privacy."""
