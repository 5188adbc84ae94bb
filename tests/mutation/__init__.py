"""Planted bugs: does a test fail when the privacy core is wrong?"""
