"""Classical disclosure limitation: old cures for tables of records and of totals, each with what breaks it.

Measured risk, not a guarantee: none of these methods bounds what a release gives away. They stay in use because laws
and users ask for them, so each says what it promises, and its tests show the attack that goes through.
"""
