"""From text to a syntax tree, within limits of size and depth, whatever the text is.

1. A text that is too long, or holds signs that do not print, is refused before it is read.
2. Its tokens are words, numbers, plain strings and a short list of signs; nesting is counted before anything recurses.
3. `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (…)` is taken out of the tokens: what it says goes into `Options`.
4. sqlglot makes one tree of the rest. A second statement, and whatever is no SELECT, is refused.

What it does not promise: that the tree can be answered; `allow` and the readers of clauses decide that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]  # it is meant to be imported from there

from discreet.errors import ArgumentError
from discreet.query.question import Options
from discreet.query.sql.written import Written, nearest, shown

__all__ = ["scan"]

Token: TypeAlias = Any  # sqlglot's, compiled or not
_SIGNS_AT_MOST, _TOKENS_AT_MOST, _DEEP_AT_MOST, _IN_A_ROW_AT_MOST = 50_000, 10_000, 40, 20
_PLAIN = frozenset(
    ["(", ")", ",", ".", "+", "-", "*", "/", "//", "^", "**", "<", "<=", ">", ">=", "=", "==", "<>", "!=", "::", ";"]
)
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)
_PREFIXES = frozenset({"NOT", "+", "-", "CASE", "INTERVAL", "DISTINCT", "CAST", "EXISTS", "SELECT", "FROM", "JOIN"})
_OPTIONS = ("epsilon", "delta", "rho")


def scan(text: str) -> tuple[exp.Select, Options, Written]:
    """The tree of the one SELECT a text holds, what it says of the budget, and the text itself for messages."""
    if not isinstance(text, str):
        raise ArgumentError(
            "query", found=f"a value of type {type(text).__name__}", right="a query is text", step="write SELECT …"
        )
    written = Written(text)
    _require_readable(written)
    dialect = DuckDB()
    try:
        tokens = list(dialect.tokenize(text))
    except SqlglotError:
        raise _unreadable(written, len(text.rstrip()), "a text that does not end where it should") from None
    _require_plain(tokens, written)
    _require_select(tokens, written)
    options = _taken_options(tokens, written)
    try:
        trees = dialect.parser().parse(tokens, text)
    except SqlglotError as error:
        raise _broken(error, tokens, written) from None
    except (RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError):
        # The parser stumbled over a text that is no query; its own words would say nothing to the reader.
        raise _unreadable(written, 0, "a text that is no query") from None
    return _with_var(_only_select(trees, written)), options, written


def _require_readable(written: Written) -> None:
    text = written.text
    if not text.strip():
        raise ArgumentError(
            "query", found="nothing", right="a query is one SELECT", step="write SELECT COUNT(*) FROM a table"
        )
    if len(text) > _SIGNS_AT_MOST:
        raise ArgumentError(
            "query",
            found=f"{len(text):,} signs",
            right=f"a query has at most {_SIGNS_AT_MOST:,}",
            step="ask for less at once",
        )
    for at, sign in enumerate(text):
        if not sign.isprintable() and sign not in "\n\r\t":
            raise ArgumentError(
                written.line_and_column(at),
                found=f"the sign U+{ord(sign):04X}, which does not print",
                right="a query is made of letters, numbers and signs that can be seen",
                step="remove it, or write a plain space",
            )


def _require_plain(tokens: Sequence[Token], written: Written) -> None:
    """Words, numbers, strings and plain signs only, not too many and not too deep."""
    if len(tokens) > _TOKENS_AT_MOST:
        raise ArgumentError(
            "query",
            found=f"{len(tokens):,} words and signs",
            right=f"a query has at most {_TOKENS_AT_MOST:,}",
            step="ask for less at once",
        )
    depth = in_a_row = 0
    for at, token in enumerate(tokens):
        word = token.text.upper() if token.token_type not in _QUOTED else ""
        _require_known_sign(token, tokens[at + 1 :][:1], at == len(tokens) - 1, written)
        depth += (word in ("(", "CASE")) - (word in (")", "END"))
        in_a_row = in_a_row + 1 if word in _PREFIXES else 0
        if depth > _DEEP_AT_MOST or in_a_row > _IN_A_ROW_AT_MOST:
            raise ArgumentError(
                written.line_and_column(token.start),
                found="parts within parts, too many deep",
                right=f"a query is at most {_DEEP_AT_MOST} deep",
                step="write it with fewer brackets",
            )


def _require_known_sign(token: Token, following: Sequence[Token], last: bool, written: Written) -> None:
    here = written.line_and_column(token.start)
    if token.token_type in _QUOTED:
        return
    if token.token_type is TokenType.NUMBER:
        if following and following[0].start == token.end + 1 and _is_word(following[0].text):
            raise ArgumentError(
                here, found="a number with letters", right="numbers are written 31, 0.5 or 1e3", step="write it so"
            )
        return
    written_as = written.text[token.start : token.end + 1]
    if token.text == ";" and not last:
        raise ArgumentError(
            here, found="a second statement", right="a query is one SELECT", step="ask for each by itself"
        )
    if written_as not in _PLAIN and not _is_word(written_as):
        raise ArgumentError(
            here,
            found=f"the sign {shown(written_as)}",
            right="a query is made of words, numbers, 'texts' and the signs of plain SQL",
            step="write it in plain SQL; texts stand in single quotes, names may stand in double ones",
        )


def _is_word(text: str) -> bool:
    """A word, or words that one token holds, such as GROUP BY."""
    return bool(text) and all(part.isidentifier() for part in text.split())


def _taken_options(tokens: list[Token], written: Written) -> Options:
    """What stands in the OPTIONS of the first SELECT outside brackets, which are removed from the tokens."""
    words = [token.text.upper() if token.token_type not in _QUOTED else "" for token in tokens]
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "SELECT" and words[at + 1 : at + 3] == ["WITH", "DIFFERENTIAL_PRIVACY"]:
            end, options = _options(tokens, words, at + 3, written)
            del tokens[at + 1 : end]
            return options
    return Options()


def _options(tokens: Sequence[Token], words: Sequence[str], at: int, written: Written) -> tuple[int, Options]:
    if words[at : at + 2] != ["OPTIONS", "("]:
        return at, Options()
    given: dict[str, str] = {}
    at += 1
    while words[at] in ("(", ","):
        pair = tokens[at + 1 : at + 4]
        if len(pair) < 3 or words[at + 2] != "=" or pair[2].token_type is not TokenType.NUMBER:
            raise _unreadable(written, tokens[at].start, "OPTIONS that are not of the form name = number")
        name = pair[0].text.lower()
        if name not in _OPTIONS or name in given:
            twice = "given twice" if name in given else "not known here"
            raise ArgumentError(
                written.line_and_column(pair[0].start),
                found=f"the option {shown(name)}, {twice}",
                right=f"the options are {', '.join(_OPTIONS)}; whom one answer protects is the contract's to say",
                step=nearest(name, _OPTIONS) if name not in given else "give it once",
            )
        given[name] = written.text[pair[2].start : pair[2].end + 1]
        at += 4
        if at >= len(tokens):
            break
    if at >= len(tokens) or words[at] != ")":
        raise _unreadable(written, tokens[min(at, len(tokens) - 1)].start, "OPTIONS that do not end")
    return at + 1, Options(**given)


def _only_select(trees: Sequence[exp.Expr | None], written: Written) -> exp.Select:
    statements = [tree for tree in trees if tree is not None]
    if len(statements) != 1:
        raise _unreadable(written, 0, f"{len(statements)} statements")
    tree = statements[0]
    while isinstance(tree, exp.Subquery) and not any(tree.args.get(name) for name in tree.args if name != "this"):
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        raise written.refused(
            tree,
            found=f"{tree.key.upper()} of two queries",
            right="a query is one SELECT",
            step="ask for each by itself; several keys at once are GROUPING SETS",
        )
    if not isinstance(tree, exp.Select):
        raise _unreadable(written, 0, "what is no SELECT")
    return tree


def _with_var(select: exp.Select) -> exp.Select:
    """VAR is another name of VARIANCE, which the parser does not know."""
    for node in list(select.find_all(exp.Anonymous)):
        if node.name.upper() == "VAR" and len(node.expressions) == 1:
            named = exp.Variance(this=node.expressions[0])
            named.meta.update(node.meta)
            node.replace(named)
    return select


def _require_select(tokens: Sequence[Token], written: Written) -> None:
    """The parser knows other statements, and texts that it would take for a SELECT."""
    first = next((token for token in tokens if token.text != "("), None)
    if first is None or first.token_type in _QUOTED or first.text.upper() not in ("SELECT", "WITH"):
        raise _unreadable(written, first.start if first else 0, "what is no SELECT")


def _broken(error: SqlglotError, tokens: Sequence[Token], written: Written) -> ArgumentError:
    """Where the parser stopped; its message quotes the text with signs for a terminal, so it is not passed on."""
    first: dict[str, Any] = next(iter(getattr(error, "errors", ())), {})
    line, column = first.get("line"), first.get("col")
    at = next((token for token in tokens if (token.line, token.col) == (line, column)), None)
    if at is None:
        return _unreadable(written, 0, "a text that is no query")
    word = shown(written.text[at.start : at.end + 1])
    found = f"the query ends after {word}" if at is tokens[-1] else f"{word} is not expected there"
    return _unreadable(written, at.start, found)


def _unreadable(written: Written, start: int, found: str) -> ArgumentError:
    return ArgumentError(
        written.line_and_column(min(start, max(len(written.text) - 1, 0))),
        found=found,
        right="a query is one SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]",
        step="compare with docs/guides/sql.md",
    )
