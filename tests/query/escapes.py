"""What an analyst could write to get around the reader of SQL: statements, sources, expressions, clauses, and odd text.

Of the families in which engines let more through than a question needs: files, network, catalogue, settings, writes,
raw rows, other tables and columns, errors that tell, cost that tells, and text that two parsers read differently.
"""

from __future__ import annotations

__all__ = ["ESCAPES", "HARMLESS"]

_STATEMENTS = r"""
DROP TABLE t
DELETE FROM t
UPDATE t SET x = 0
INSERT INTO t VALUES (1)
TRUNCATE t
ALTER TABLE t DROP COLUMN p
CREATE TABLE u AS SELECT * FROM t
CREATE TEMP TABLE u AS SELECT * FROM t
CREATE VIEW u AS SELECT p FROM t
CREATE MACRO f(a) AS a
CREATE MACRO g() AS TABLE SELECT * FROM t
CREATE SECRET s (TYPE s3)
COPY t TO '/tmp/x.csv'
COPY (SELECT * FROM t) TO '/tmp/x.parquet' (FORMAT parquet)
COPY t FROM '/etc/passwd'
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
ATTACH '/tmp/x.duckdb' AS x
ATTACH ':memory:' AS scratch
DETACH stored
USE stored
LOAD icu
INSTALL httpfs
FORCE INSTALL httpfs FROM 'http://127.0.0.1'
SET threads = 64
SET enable_external_access = true
SET VARIABLE v = (SELECT MAX(x) FROM t)
RESET disabled_filesystems
PRAGMA table_info('t')
PRAGMA storage_info('t')
PRAGMA enable_profiling
PRAGMA database_list
CALL pragma_version()
CALL enable_logging('QueryLog')
SUMMARIZE t
DESCRIBE t
SHOW TABLES
SHOW ALL TABLES
EXPLAIN SELECT COUNT(*) FROM t
EXPLAIN ANALYZE SELECT COUNT(*) FROM t
PREPARE q AS SELECT * FROM t
EXECUTE q
DEALLOCATE q
BEGIN
COMMIT
CHECKPOINT
VACUUM
ANALYZE t
COMMENT ON TABLE t IS 'x'
MERGE INTO t USING t AS u ON TRUE WHEN MATCHED THEN DELETE
PIVOT t ON g USING COUNT(*)
UNPIVOT t ON x, y
VALUES (1), (2)
TABLE t
FROM t
FROM t SELECT COUNT(*)
LISTEN x
NOTIFY x
LOCK TABLE t
GRANT ALL ON t TO PUBLIC
DO $$ BEGIN PERFORM pg_sleep(9); END $$
DECLARE c CURSOR FOR SELECT * FROM t
KILL 1
SELECT COUNT(*) FROM t; DROP TABLE t
SELECT COUNT(*) FROM t; SELECT COUNT(*) FROM t
SELECT COUNT(*) FROM t;; SELECT 1
; DROP TABLE t
SELECT 1
SELECT * FROM t
SELECT x FROM t
SELECT p FROM t
SELECT DISTINCT s FROM t
SELECT t FROM t
SELECT t.* FROM t
SELECT COLUMNS('.*') FROM t
SELECT * EXCLUDE (p) FROM t
SELECT * REPLACE (p AS x) FROM t
SELECT COUNT(*) INTO u FROM t
SELECT COUNT(*) FROM t FOR UPDATE
"""
_SOURCES = r"""
read_csv('/etc/passwd')
read_text('/etc/passwd')
read_blob('/proc/self/mem')
read_parquet('t.parquet')
read_json_auto('/etc/passwd')
sniff_csv('/etc/passwd')
glob('/*')
parquet_metadata('x')
'/etc/passwd'
"/etc/passwd"
'http://127.0.0.1/x.csv'
's3://bucket/x.parquet'
query('SELECT * FROM t')
query_table('t')
range(1000000000)
generate_series(1, 10)
unnest([1, 2])
duckdb_tables()
duckdb_settings()
duckdb_secrets()
pragma_storage_info('t')
pragma_table_info('t')
information_schema.tables
information_schema.columns
pg_catalog.pg_tables
sqlite_master
main.t
memory.main.t
stored.main.t
stored.t
"main.t"
rows
"rows"
c0
t, t
t, t AS u
t CROSS JOIN t AS u
t JOIN t AS u ON TRUE
t JOIN t AS u ON t.x = u.x
t JOIN t AS u USING (p)
t NATURAL JOIN t AS u
t LEFT JOIN t AS u ON t.x < u.x
t FULL JOIN t AS u ON t.x = u.x
t RIGHT JOIN t AS u ON t.x = u.x
t SEMI JOIN t AS u ON t.x = u.x
t ANTI JOIN t AS u ON t.x = u.x
t ASOF JOIN t AS u ON t.x >= u.x
t POSITIONAL JOIN t AS u
t, LATERAL (SELECT COUNT(*) FROM t AS v WHERE v.x = t.x)
t TABLESAMPLE 50%
t USING SAMPLE 1
t PIVOT (COUNT(*) FOR g IN ('a'))
(VALUES (1), (2)) AS u(x)
(SELECT * FROM t LIMIT 1)
(SELECT * FROM t ORDER BY x LIMIT 1 OFFSET 3)
(SELECT DISTINCT p FROM t)
(SELECT DISTINCT ON (g) * FROM t)
(SELECT * FROM t UNION ALL SELECT * FROM t)
(SELECT * FROM t INTERSECT SELECT * FROM t)
(SELECT *, ROW_NUMBER() OVER (ORDER BY x) AS n FROM t) WHERE n = 1
(SELECT h FROM t)
(SELECT *, h AS z FROM t) WHERE z = 1
(SELECT p AS q FROM t) WHERE q = 'member'
(DELETE FROM t RETURNING *)
(SUMMARIZE t)
t AT (VERSION => 1)
t FOR SYSTEM_TIME AS OF '2020-01-01'
"""
_EXPRESSIONS = r"""
p = 'member'
p IS NULL
p LIKE 'm%'
p IN ('member')
h = 1
h IS NULL
t.h = 1
"H" = 1
rowid = 0
t.rowid = 0
ctid = '(0,1)'
xmin = 1
c0 = 'member'
t.c0 = 'member'
main.t.x = 7
x = (SELECT MAX(x) FROM t)
x IN (SELECT x FROM t)
x = ANY (SELECT x FROM t)
x > ALL (SELECT x FROM t)
EXISTS (SELECT 1 FROM t AS u WHERE u.p = 'member')
NOT EXISTS (SELECT 1)
(SELECT COUNT(*) FROM t WHERE p = 'member') > 0
ERROR('x')
CASE WHEN x = 7 THEN ERROR(s) ELSE TRUE END
CAST(s AS INTEGER) = 1
TRY_CAST(s AS INTEGER) = 1
s::INTEGER = 1
CAST(x AS VARCHAR) = '7'
CAST(s AS JSON) IS NULL
getenv('HOME') = 'x'
current_setting('threads') = 1
version() = 'x'
current_user = 'x'
current_database() = 'x'
now() > m
current_timestamp > m
today() > d
random() < 0.5
setseed(0.5) IS NULL
uuid() IS NULL
gen_random_uuid() IS NULL
nextval('s') > 0
txid_current() > 0
pg_sleep(9) IS NULL
sleep(9) IS NULL
hash(s) = 1
md5(s) = 'x'
sha256(s) = 'x'
repeat(s, 1000000000) = 'x'
s || s = 'x'
concat(s, p) = 'x'
length(s) > 3
ascii(s) = 1
substring(s, 1, 1) = 's'
s[1] = 's'
s[1:2] = 'se'
left(s, 1) = 's'
upper(s) = 'S'
reverse(s) = 's'
replace(s, 'a', 'b') = 'x'
regexp_matches(s, '(a+)+$')
s ~ '(a+)+$'
s SIMILAR TO '(a|b)*'
s GLOB '*'
s ILIKE 'S%'
s LIKE s
s LIKE '%' ESCAPE 'x'
s LIKE ANY ('a', 'b')
s COLLATE NOCASE = 'X'
levenshtein(s, 'x') < 2
contains(s, 'x')
string_split(s, 'x') IS NULL
list_value(x) IS NULL
[x] IS NULL
{'a': x} IS NULL
struct_pack(a := x) IS NULL
row(x, y) IS NULL
(x, y) = (7, 1)
map([x], [y]) IS NULL
list_filter([1], a -> a > x) IS NULL
[a FOR a IN [1, 2]] IS NULL
x & 1 = 1
x | 1 = 1
x << 62 = 1
~x = 1
x % 2 = 1
mod(x, 2) = 1
x ^ x = 1
x ** y > 1
x! = 1
@x = 1
sqrt(x) > 1
ln(x) > 1
1 / x > 1
x / y > 1
x // y > 1
power(x, y) > 1
exp(x) > 1
tan(x) > 1
factorial(x) > 1
gcd(x, 2) > 1
x > $1
x > ?
x > :x
x > {{x}}
x > @x
x > #1
x IS DISTINCT FROM ERROR(s)
COUNT(*) > 1
SUM(x) > 1
MAX(x) = x
ROW_NUMBER() OVER () = 1
LAG(x) OVER (ORDER BY x) = 1
GROUPING(x) = 1
x = 1 AND ERROR('x') IS NULL
INTERVAL (x) DAY > INTERVAL 1 DAY
d + INTERVAL (x) DAY > d
date_add(d, INTERVAL 1 DAY) > d
strptime(s, '%Y') > m
strftime(d, '%Y') = '2020'
make_date(x, x, x) > d
epoch(m) > 1
extract(epoch FROM m) > 1
d AT TIME ZONE 'UTC' > d
date_part(s, d) = 1
date_trunc(s, d) = d
getvariable('v') = 1
add_parquet_key('k', s) IS NULL
read_text('/etc/passwd') IS NULL
pg_read_file('/etc/passwd') IS NULL
lo_import('/etc/passwd') IS NULL
query_to_xml('SELECT 1', TRUE, TRUE, '') IS NULL
dblink('x', 'SELECT 1') IS NULL
xp_cmdshell('id') IS NULL
LOAD_FILE('/etc/passwd') IS NULL
BENCHMARK(100000000, MD5('x')) = 0
"""
_CLAUSES = r"""
SELECT COUNT(*) OVER () FROM t
SELECT SUM(x) OVER (PARTITION BY p) FROM t
SELECT x, COUNT(*) FROM t GROUP BY g
SELECT p, COUNT(*) FROM t GROUP BY p
SELECT h, COUNT(*) FROM t GROUP BY h
SELECT COUNT(DISTINCT h) FROM t
SELECT COUNT(p) FROM t
SELECT MIN(p) FROM t
SELECT MODE(p) FROM t
SELECT MODE(s) FROM t
SELECT LIST(x) FROM t
SELECT ARRAY_AGG(x ORDER BY x) FROM t
SELECT STRING_AGG(s, ',') FROM t
SELECT GROUP_CONCAT(s) FROM t
SELECT FIRST(x) FROM t
SELECT LAST(x) FROM t
SELECT ANY_VALUE(x) FROM t
SELECT ARBITRARY(x) FROM t
SELECT ARG_MAX(s, x) FROM t
SELECT MAX_BY(p, x) FROM t
SELECT MAX(x, 3) FROM t
SELECT HISTOGRAM(x) FROM t
SELECT BIT_XOR(x) FROM t
SELECT BOOL_OR(b) FROM t
SELECT PRODUCT(x) FROM t
SELECT KURTOSIS(x) FROM t
SELECT ENTROPY(x) FROM t
SELECT RESERVOIR_QUANTILE(x, 0.5) FROM t
SELECT JSON_GROUP_ARRAY(x) FROM t
SELECT SUM(x ORDER BY y) FROM t
SELECT SUM(DISTINCT x) FROM t
SELECT COUNT(DISTINCT x, y) FROM t
SELECT SUM(SUM(x)) FROM t
SELECT SUM(COUNT(*)) FROM t
SELECT QUANTILE_CONT(x, y) FROM t
SELECT COUNT(*) FROM t WHERE x > 1 WINDOW w AS (ORDER BY x)
SELECT COUNT(*) FROM t QUALIFY ROW_NUMBER() OVER () = 1
SELECT COUNT(*) FROM t GROUP BY ALL HAVING x > 1
SELECT COUNT(*) FROM t HAVING MAX(s) = 'seven'
SELECT COUNT(*) FROM t ORDER BY x
SELECT COUNT(*) FROM t ORDER BY (SELECT 1)
SELECT COUNT(*) FROM t ORDER BY random()
SELECT COUNT(*) FROM t LIMIT (SELECT MAX(x) FROM t)
SELECT COUNT(*) FROM t LIMIT x
SELECT COUNT(*) FROM t OFFSET -1
SELECT COUNT(*) FROM t LIMIT 1 BY g
SELECT COUNT(*) FROM t FETCH FIRST 1 ROWS ONLY
SELECT COUNT(*) FROM t UNION SELECT x FROM t
SELECT COUNT(*) FROM t EXCEPT SELECT 1
SELECT COUNT(*) FROM t INTERSECT SELECT 1
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r
WITH u AS (DELETE FROM t RETURNING *) SELECT COUNT(*) FROM u
WITH u AS MATERIALIZED (SELECT * FROM t) SELECT COUNT(*) FROM u
WITH t AS (SELECT * FROM t LIMIT 1) SELECT COUNT(*) FROM t
WITH u(p) AS (SELECT x FROM t) SELECT COUNT(DISTINCT p) FROM u WHERE p = 'member'
WITH u AS (SELECT 1), u AS (SELECT 2) SELECT COUNT(*) FROM u
SELECT TOP 1 COUNT(*) FROM t
SELECT STRAIGHT_JOIN COUNT(*) FROM t
SELECT /*+ SET_VAR(x=1) */ x FROM t
SELECT COUNT(*) /* FROM t */ FROM u
SELECT COUNT(*) FROM t -- WHERE
 AND 1 = (SELECT 1)
SELECT COUNT(*) FROM t WHERE x = 1 /*! OR 1=1 */ UNION SELECT 1
SELECT COUNT(*) FROM t # comment
SELECT COUNT(*) FROM t WHERE s = "seven"
SELECT COUNT(*) FROM t WHERE s = `seven`
SELECT COUNT(*) FROM t WHERE s = $$seven$$
SELECT COUNT(*) FROM t WHERE s = $q$seven$q$
SELECT COUNT(*) FROM t WHERE s = E'\x73even' OR ERROR('x')
SELECT COUNT(*) FROM t WHERE s = U&'\0073even'
SELECT COUNT(*) FROM t WHERE s = X'73'
SELECT COUNT(*) FROM t WHERE s = 'seven
SELECT COUNT(*) FROM t WHERE x = 0x7
SELECT COUNT(*) FROM t WHERE x = 1e999999999
SELECT COUNT(*) FROM t WHERE x = 7x
SELECT COUNT(*) FROM "t"" ; DROP TABLE t"
SELECT COUNT(*) AS "a""; DROP TABLE t" FROM u
SELECT COUNT(*) FROM t\; DROP TABLE t
SELECT {fn NOW()} FROM t
SELECT COUNT(*) FROM t WHERE {d '2020-01-01'} < d
SELECT COUNT(*) FROM {{ table }}
SELECT COUNT(*) FROM @t
SELECT COUNT(*) FROM $t
SELECT COUNT(*) FROM IDENTIFIER('t')
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e999) COUNT(*) FROM u
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = (SELECT MAX(x) FROM t)) COUNT(*) FROM t
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = x) COUNT(*) FROM t
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1000) COUNT(*) FROM t
SELECT WITH ANONYMIZATION OPTIONS (epsilon = 1) COUNT(*) FROM t
SELECT COUNT(*) FROM t WHERE x = 1 OR/**/ERROR(s)
SELECT COUNT(*)FROM(SELECT*FROM(SELECT*FROM t)LIMIT 1)
"""
# Signs that look like others, do not print, or change the direction of writing.
_SIGNS = (
    "SELECT COUNT(*) FROM t\u037e DROP TABLE t",
    "SELECT COUNT(*) FROM t\uff1b DROP TABLE t",
    "SELECT COUNT(*) FROM \uff54",
    "SELECT COUNT(*) FROM t\x00; DROP TABLE t",
    "SELECT COUNT(*)\u00a0FROM t WHERE x = 1",
    "SELECT COUNT(*) FROM t WHERE s = \u2018seven\u2019",
    "SELECT COUNT(*) FROM t WHERE \u202ex = 1",
    "SELECT COUNT(*) FROM t\u2028; DROP TABLE t",
    "SELECT COUNT(*) FROM t\u200b WHERE x = 1",
    "\ufeffSELECT x FROM t",
    "SELECT COUNT(*) FROM t WHERE \u212a = 1",
    "SELECT COUNT(*) FROM t WHERE x \u2265 1",
    "SELECT COUNT(*) FROM t WHERE x = \u0667",
    "SELECT COUNT(*) FROM t WHERE x = \u00b2",
    "SELECT COUNT(*) FROM t WHERE s = '\ud800'",
    "SELECT COUNT(*) FROM t WHERE " + "(" * 500 + "x = 1" + ")" * 500,
    "SELECT COUNT(*) FROM t WHERE " + "NOT " * 500 + "b",
    "SELECT COUNT(*) FROM t WHERE x = 1" + "/**/" * 20_000,
    "SELECT COUNT(*) FROM t WHERE x = " + "-" * 400 + "1",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 60 + "t" + ")" * 60,
)
# Read as a question, and then the odd part is a literal, a name for a column, or nothing at all.
HARMLESS = (
    "SELECT COUNT(*) FROM t WHERE s = '''; DROP TABLE rows; --'",
    "SELECT COUNT(*) FROM t WHERE s = '\\'' OR 1 = 1 --'",
    "SELECT COUNT(*) FROM t WHERE s IN ('a'') OR ERROR(''b', '/etc/passwd')",
    "SELECT COUNT(*) FROM t WHERE s LIKE '%'' OR read_text(''/etc/passwd'') LIKE ''%'",
    "SELECT COUNT(*) FROM t WHERE s LIKE '\\'",
    "SELECT COUNT(*) FROM t WHERE s LIKE '%\\%_\\_'",
    "SELECT COUNT(*) FROM t WHERE s = '/* */ -- ; $1 ? :x @x'",
    'SELECT COUNT(*) AS "a""; DROP TABLE rows; --" FROM t',
    "SELECT COUNT(*) AS \"read_text('/etc/passwd')\" FROM t",
    'SELECT COUNT(*) FROM t AS "rows; DROP TABLE rows"',
    'WITH "rows" AS (SELECT x AS c0 FROM t) SELECT COUNT(*) FROM "rows" WHERE c0 = 7',
    "WITH duckdb_tables AS (SELECT x FROM t) SELECT COUNT(*) FROM duckdb_tables WHERE x > 1",
    "SELECT COUNT(*) FROM t -- ; DROP TABLE rows",
    "SELECT COUNT(*) /* ; DROP TABLE rows */ FROM t",
    "SELECT COUNT(*) FROM t;",
    "SELECT COUNT(*) FROM (FROM t)",
    "SELECT COUNT(*) FROM (SELECT x AS p, p AS x FROM t) WHERE p = 1",
    "SELECT COUNT(*) FROM t WHERE x::TINYINT = 1",
    "SELECT COUNT(*) FROM t WHERE x = 1_000",
    "SELECT COUNT(*) FROM t WHERE d + x > d",
    "SELECT CASE WHEN x = 7 THEN 'pragma_version()' ELSE 'b' END AS k, COUNT(*) FROM t GROUP BY k",
)


def _joined(text: str) -> list[str]:
    found: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line.startswith(" ") and found:
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


ESCAPES = tuple(
    dict.fromkeys(
        (
            *_joined(_STATEMENTS),
            *(f"SELECT COUNT(*) FROM {source}" for source in _joined(_SOURCES)),
            *(f"SELECT COUNT(*) FROM t WHERE {one}" for one in _joined(_EXPRESSIONS)),
            *_joined(_CLAUSES),
            *_SIGNS,
        )
    )
)
