"""Attacks on releases and on anything that answers: what an intruder gets, beside what chance would give."""
