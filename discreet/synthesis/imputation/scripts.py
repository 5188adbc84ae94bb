"""Scripts beside exported copies that pool fits in R and in Stata, by the rule that belongs to these copies.

They say the same as `stats.combine`, line for line: R is run against it in the tests, and the lines of Mata are read
there as numpy. Base R and Stata alone are needed; files of SPSS and Stata are read in R by haven, Parquet by arrow.

Where the table has a survey's design they show how it enters: R by the package survey, Stata by svyset.

What they do not do: find a copy whose fit went astray. `copies.fit` does.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.stats.combine import Rule
from discreet.synthesis.imputation.copies import Copies

__all__ = ["FORMULAS", "r_script", "stata_script"]

FORMULAS: Mapping[Rule, str] = {
    Rule.MISSING: "T = v + (1 + 1/M) b (Rubin 1987)",
    Rule.PARTIAL: "T = v + b/M (Reiter 2003)",
    Rule.FULL: "T = (1 + 1/M) b - v (Raghunathan, Reiter and Rubin 2003)",
    Rule.NESTED: "T = (1 + 1/m) B - W/r + v (Reiter 2004)",
    Rule.SAMPLE: "T = v (k/n + 1/M) (Raab, Nowok and Dibben 2017)",
    Rule.SAMPLE_PROPER: "T = v (k/n + (1 + k/n)/M) (Raab, Nowok and Dibben 2017)",
}
_R: Mapping[Rule, str] = {
    Rule.MISSING: """  extra <- (1 + 1 / m) * between
  total <- within + extra
  df <- (m - 1) * (total / extra)^2
""",
    Rule.PARTIAL: """  total <- within + between / m
  df <- (m - 1) * (total / (between / m))^2
""",
    Rule.FULL: """  extra <- (1 + 1 / m) * between
  low <- extra - within <= 0
  total <- ifelse(low, share * within, extra - within)
  df <- ifelse(low, m - 1, (m - 1) * (total / extra)^2)
""",
    Rule.NESTED: """  each <- m / nests
  nest <- rep(seq_len(nests), each = each)
  means <- t(apply(q, 1, function(row) tapply(row, nest, mean)))
  inner <- rowMeans(t(apply(q, 1, function(row) tapply(row, nest, var)))) / each
  outer <- (1 + 1 / nests) * apply(means, 1, var)
  total <- outer - inner + within
  low <- total <= 0
  total <- ifelse(low, outer + within, total)
  df <- total^2 / (outer^2 / (nests - 1) + ifelse(low, 0, inner^2 / (nests * (each - 1))))
""",
    Rule.SAMPLE: """  total <- within * (share + 1 / m)
  df <- rep(Inf, length(within))
""",
    Rule.SAMPLE_PROPER: """  total <- within * (share + (1 + share) / m)
  df <- rep(Inf, length(within))
""",
}
_MATA: Mapping[Rule, str] = {
    Rule.MISSING: """extra = (1 + 1/m) :* between
total = within :+ extra
df = (m - 1) :* (total :/ extra):^2
""",
    Rule.PARTIAL: """total = within :+ between :/ m
df = (m - 1) :* (total :/ (between :/ m)):^2
""",
    Rule.FULL: """extra = (1 + 1/m) :* between
low = (extra :- within) :<= 0
total = low :* (share :* within) :+ (1 :- low) :* (extra :- within)
df = low :* (m - 1) :+ (1 :- low) :* (m - 1) :* (total :/ extra):^2
""",
    Rule.NESTED: """each = m / nests
means = (I(nests) # J(1, each, 1/each)) * Q
apart = Q - (I(nests) # J(each, 1, 1)) * means
inner = colsum(apart:^2) :/ ((each - 1) * nests * each)
outer = (1 + 1/nests) :* diagonal(variance(means))'
total = outer :- inner :+ within
low = total :<= 0
total = low :* (outer :+ within) :+ (1 :- low) :* total
df = total:^2 :/ (outer:^2 :/ (nests - 1) :+ (1 :- low) :* inner:^2 :/ (nests * (each - 1)))
""",
    Rule.SAMPLE: """total = within :* (share + 1/m)
df = J(1, cols(Q), .)
""",
    Rule.SAMPLE_PROPER: """total = within :* (share + (1 + share)/m)
df = J(1, cols(Q), .)
""",
}
_R_READERS = {
    "csv": 'read.csv(file, stringsAsFactors = TRUE, na.strings = "", encoding = "UTF-8", check.names = FALSE)',
    "parquet": "as.data.frame(arrow::read_parquet(file), stringsAsFactors = TRUE)",
    "spss": "as.data.frame(haven::as_factor(haven::read_sav(file)))",
    "stata": "as.data.frame(haven::as_factor(haven::read_dta(file)))",
}


def r_script(copies: Copies, form: str, ending: str, title: str) -> str:
    """An R script: reads the copies, and has `pool` for a list of fits, one for each copy."""
    facts = _facts(copies)
    settings = "".join(f"{name} <- {value}\n" for name, value in facts.items())
    return f"""# {title}: {copies.guarantee}.
# Fits on the copies are pooled by {FORMULAS[copies.rule]}.
#
#   source("pool.R")
#   fits <- lapply(copies, function(copy) {_r_fit(copies)})
#   pool(fits)
#
# A column that came later is joined by row: lapply(copies, function(copy) cbind(copy, later = later)).

{settings}copies <- lapply(sprintf("copy-%02d.{ending}", seq_len({len(copies)})), function(file) {{
  {_R_READERS[form]}
}})
# A level that one copy happens to lack is a level there as well, so that every fit has the same coefficients.
for (name in names(copies[[1]])) {{
  if (any(sapply(copies, function(copy) is.factor(copy[[name]])))) {{
    all <- sort(unique(unlist(lapply(copies, function(copy) as.character(copy[[name]])))))
    copies <- lapply(copies, function(copy) {{
      copy[[name]] <- factor(as.character(copy[[name]]), levels = all)
      copy
    }})
  }}
}}

pool <- function(fits, level = 0.95) {{
  m <- length(fits)
  q <- do.call(cbind, lapply(fits, coef))
  v <- do.call(cbind, lapply(fits, function(fit) diag(as.matrix(vcov(fit)))))
  if (anyNA(q) || anyNA(v) || nrow(q) != nrow(v)) stop("a coefficient cannot be estimated in every copy")
  within <- rowMeans(v)
  between <- apply(q, 1, var)
{_R[copies.rule]}  estimate <- rowMeans(q)
  se <- sqrt(total)
  reach <- qt((1 + level) / 2, df) * se
  data.frame(
    estimate = estimate, se = se, df = df, low = estimate - reach, high = estimate + reach,
    p = 2 * pt(-abs(estimate) / se, df), row.names = rownames(q)
  )
}}
"""


def stata_script(copies: Copies, form: str, ending: str, title: str) -> str:
    """A do-file: fits one model on each copy and pools it."""
    facts = _facts(copies)
    settings = "".join(f"{name} = {value}\n" for name, value in facts.items())
    reads = {
        "csv": f'import delimited "copy-`n\'.{ending}", clear varnames(1) case(preserve) encoding("UTF-8")',
        "stata": f'use "copy-`n\'.{ending}", clear',
        "spss": f'import spss using "copy-`n\'.{ending}", clear',
        "parquet": f'import parquet using "copy-`n\'.{ending}", clear',
    }
    declared = _stata_design(copies)
    return f"""* {title}: {copies.guarantee}.
* Fits on the copies are pooled by {FORMULAS[copies.rule]}.
* Put your model in the next line, then: do pool.do
local model "{"svy: " if declared else ""}regress y x"

forvalues i = 1/{len(copies)} {{
    local n = string(`i', "%02.0f")
    quietly {reads[form]}
{declared}    quietly `model'
    matrix v = vecdiag(e(V))
    if `i' == 1 {{
        matrix Q = e(b)
        matrix U = v
    }}
    else {{
        matrix Q = Q \\ e(b)
        matrix U = U \\ v
    }}
}}
mata:
Q = st_matrix("Q")
U = st_matrix("U")
m = rows(Q)
{settings}within = mean(U)
between = diagonal(variance(Q))'
{_MATA[copies.rule]}estimate = mean(Q)
se = sqrt(total)
reach = editmissing(invttail(df, 0.025), invnormal(0.975)) :* se
st_matrix("pooled", (estimate', se', df', (estimate :- reach)', (estimate :+ reach)'))
st_matrixrowstripe("pooled", st_matrixcolstripe("Q"))
end
matrix colnames pooled = estimate se df low high
matrix list pooled
"""


def _r_fit(copies: Copies) -> str:
    """The fit that the R script shows; by the survey's design where there is one."""
    design = copies.sampling
    if not design.names:
        return "lm(y ~ x, data = copy)"
    parts = {"ids": design.together, "strata": design.stratum, "weights": design.weight}
    said = [f"{part} = ~`{name}`" for part, name in parts.items() if name]
    if not design.together:
        said.insert(0, "ids = ~1")
    return f"survey::svyglm(y ~ x, survey::svydesign({', '.join(said)}, nest = TRUE, data = copy))"


def _stata_design(copies: Copies) -> str:
    """The line that tells Stata the survey's design."""
    design = copies.sampling
    if not design.names:
        return ""
    weight = f" [pweight = {design.weight}]" if design.weight else ""
    stratum = f", strata({design.stratum})" if design.stratum else ""
    return f"    quietly svyset {design.together or '_n'}{weight}{stratum}\n"


def _facts(copies: Copies) -> dict[str, str]:
    """What the rule needs beside the fits."""
    if copies.rule is Rule.NESTED:
        return {"nests": str(copies.nests)}
    if copies.rule in (Rule.SAMPLE, Rule.SAMPLE_PROPER, Rule.FULL):
        original, copy = copies.sizes or (1, 1)
        return {"share": f"{copy} / {original}"}
    return {}
