"""Ledgers as earlier forms wrote them, so that later ones can show that totals stay and the chain holds."""
