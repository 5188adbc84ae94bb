"""Tests of the reports and audits."""
