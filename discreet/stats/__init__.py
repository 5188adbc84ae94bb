"""Plain numerics: fits that can be drawn from, trees, matching, survey variances and combining rules.

It imports no privacy word.
"""
