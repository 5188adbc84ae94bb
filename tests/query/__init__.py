"""Tests of questions, from their text to their answers."""
