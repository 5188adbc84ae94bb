"""Copies a curator makes, keeps, tunes and publishes.

    copies = curator.copies("visits", method="cart", perturb=["age", "sex"], copies=20)
    copies.fit("disability ~ age + sex", family="probit")      pooled by the rule of these copies
    curator.publish_copies(copies.release, "out", form="stata")

1. `make` draws them from a stored table, by trees, regressions or data augmentation. They have no ε, and none is taken.
2. `kept` holds them in the curator's folder.
3. `tune` measures what masks keep and give away, and finds the mask that gives what is asked for.
4. `publish` notes in the ledger, of the table's population, what leaves outside the guarantee; every later receipt
   names it. Only then are the files written. Copies that were drawn with a seed cannot be published.
"""

from __future__ import annotations

from discreet.copying.kept import HeldCopies, held_copies, made_copies
from discreet.copying.make import GivenMasks, Masking, make_copies
from discreet.copying.publish import publish_copies
from discreet.copying.tune import Tuned, Wishes, tune_copies
from discreet.synthesis.imputation.export import Exported
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.posterior import Schedule

__all__ = [
    "Exported",
    "GivenMasks",
    "HeldCopies",
    "Masking",
    "Schedule",
    "Settings",
    "Tuned",
    "Wishes",
    "held_copies",
    "made_copies",
    "make_copies",
    "publish_copies",
    "tune_copies",
]
