#!/usr/bin/env bash
# Hostile input in databases of six encodings: random bytes as text, in binary and by COPY, wrong lengths, large texts,
# values that are stored compressed or out of line, and damaged statistics. There are only sensible errors, and no
# session ends. SEED (1) and CASES (1000 for each encoding) choose the random part; with HUGE, texts have 100 MB
# instead of 10.
set -euo pipefail
run() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

for encoding in UTF8 LATIN1 WIN1252 EUC_JP EUC_KR SQL_ASCII; do
  createdb -E "$encoding" -l C -T template0 "hostile_${encoding,,}"
  run -d "hostile_${encoding,,}" -c 'CREATE EXTENSION ulid'
  perl "$ROOT/tests/server/hostile.pl" "hostile_${encoding,,}" --seed="${SEED:-1}" --cases="${CASES:-1000}"
done

# Print the SQLSTATE of each expression, 00000 if it has a value, before the expression.
states() {
  run -d hostile_utf8 << 'SQL'
CREATE OR REPLACE FUNCTION state(expression text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT ' || expression;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SQL
  while read -r expression; do
    run -d hostile_utf8 -c "SELECT state(\$\$$expression\$\$)" | sed "s/\$/ /" | tr -d '\n'
    echo "$expression"
  done
}

echo "texts and bytes of 10${HUGE:+0} MB"
cat > expected << 'END'
22P02 ulid(repeat('0', 100000000))
22P02 repeat('0', 100000000)::varchar::ulid
22P02 (repeat(' ', 100000000) || '01ARYZ6S41TSV4RRFFQ69G5FAV')::bpchar::ulid
22P02 ulid(repeat('é', 50000000))
22P02 ulid(repeat('01563df3-6481-d676-4c61-efb99302bd5b', 2800000))
00000 ulid_is_valid(repeat('0', 100000000))
22P02 ulid_from_typeid(repeat('a', 100000000))
22P02 ulid_from_typeid(repeat('a', 100000000) || '_01h455vb4pex5vsknk084sn02q')
22P02 typeid_prefix(repeat('_', 100000000))
22023 ulid_from_typeid('a_01h455vb4pex5vsknk084sn02q', repeat('a', 100000000))
22023 ulid_to_typeid(repeat('é', 50000000), gen_ulid())
22P02 ulid_prefix_lower(repeat('0', 100000000))
22P02 ulid_prefix_upper(repeat('é', 50000000))
22P02 ulid_starts_with(gen_ulid(), repeat('0', 100000000))
22P02 id FROM kept WHERE ulid_starts_with(id, repeat('0', 100000000))
22P03 convert_to(repeat('0', 100000000), 'UTF8')::ulid
22P03 ulid_from_parts('2026-01-01', convert_to(repeat('0', 100000000), 'UTF8'))
22P02 ulid_in(repeat('0', 100000000)::cstring)
22P02 repeat('0', 100000000)::ulid[]
22P02 ('{' || repeat('0', 100000000) || '}')::ulid[]
00000 ('{' || repeat('01ARYZ6S41TSV4RRFFQ69G5FAV,', 3700000) || 'NULL}')::ulid[]
22P02 repeat('[', 100000000)::ulid_window
END
[ -n "${HUGE:-}" ] || sed -i 's/0)/)/g' expected  # a message of 100 MB takes five seconds
cut -c 7- expected | states | diff expected -
for format in text csv; do
  head -c "1${HUGE:+0}0000000" /dev/zero | tr '\0' 0 |
    (psql -X -q -d hostile_utf8 -v VERBOSITY=sqlstate -c "COPY kept (id) FROM STDIN (FORMAT $format)" 2>&1 || true) | grep -x 'ERROR:  22P02'
done

echo "values stored compressed and out of line are those that were stored"
run -d hostile_utf8 << 'SQL' > result
-- Sixty columns, which do not fit a page in line. A TypeID of 90 characters compresses.
SELECT format('CREATE TABLE %s (%s) WITH (toast_tuple_target = 128)', name, string_agg(format('c%s text', n), ', ' ORDER BY n)) FROM unnest('{external,compressed}'::text[]) AS name, generate_series(1, 60) AS n GROUP BY name \gexec
SELECT format('ALTER TABLE external ALTER c%s SET STORAGE EXTERNAL', n) FROM generate_series(1, 60) AS n \gexec
SELECT format('ALTER TABLE compressed ALTER c%s SET COMPRESSION lz4', n) FROM generate_series(2, 60, 2) AS n
WHERE (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') \gexec
CREATE TABLE source AS SELECT r, n, gen_ulid() AS id FROM generate_series(1, 100) AS r, generate_series(1, 60) AS n;
SELECT format('INSERT INTO external SELECT %s FROM source GROUP BY r', string_agg(format('max(id::uuid::text) FILTER (WHERE n = %s)', n), ', ' ORDER BY n)) FROM generate_series(1, 60) AS n \gexec
SELECT format('INSERT INTO compressed SELECT %s FROM source GROUP BY r', string_agg(format('max(ulid_to_typeid(repeat(''a'', 63), id)) FILTER (WHERE n = %s)', n), ', ' ORDER BY n)) FROM generate_series(1, 60) AS n \gexec
SELECT pg_relation_size(reltoastrelid) > 100 * 60 * 36 FROM pg_class WHERE oid = 'external'::regclass;
SELECT pg_column_size(c1) < 60 AND pg_column_size(c2) < 70 FROM compressed LIMIT 1;
SELECT format('SELECT count(*) FROM (SELECT %s AS id FROM %s EXCEPT SELECT id FROM source) AS s',
              format(read, 'c' || n), name), format('SELECT count(DISTINCT %s) FROM %s', format(read, 'c' || n), name)
FROM (VALUES ('external', '%s::ulid', 1), ('external', '%s::ulid', 60), ('compressed', 'ulid_from_typeid(%s)', 1), ('compressed', 'ulid_from_typeid(%s, repeat(''a'', 63))', 2)) AS v (name, read, n) \gexec
SELECT count(DISTINCT typeid_prefix(c1)) FROM compressed;
CREATE TABLE many (ids ulid[]);
ALTER TABLE many ALTER ids SET STORAGE EXTERNAL;
INSERT INTO many SELECT array_agg(id ORDER BY id) FROM source GROUP BY r;
INSERT INTO many SELECT array_fill('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '{100000}');
ALTER TABLE many ALTER ids SET STORAGE EXTENDED;
INSERT INTO many SELECT array_fill('01ARYZ6S41TSV4RRFFQ69G5FAV'::ulid, '{100000}');
SELECT count(DISTINCT ids) FROM many;
SELECT count(DISTINCT id), count(*) FILTER (WHERE id = '01ARYZ6S41TSV4RRFFQ69G5FAV') FROM many, unnest(ids) AS id;
SQL
diff - result << 'END'
t
t
0
100
0
100
0
100
0
100
1
101
6001|200000
END

if [ "$(run -c "SELECT to_regproc('pg_restore_attribute_stats') IS NOT NULL")" = t ]; then
  echo "statistics that no ANALYZE would write, as the owner of a table can restore them"
  run -d hostile_utf8 << 'SQL' > result
CREATE TABLE measured (id ulid);
INSERT INTO measured SELECT gen_ulid() FROM generate_series(1, 1000);
ANALYZE measured;
CREATE INDEX ON measured (id);
DO $$
DECLARE
    damaged record;
    condition text;
    plan json;
BEGIN
    FOR damaged IN SELECT * FROM (VALUES
        (0::real, NULL, NULL, '{01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (0, NULL, NULL, '{7ZZZZZZZZZZZZZZZZZZZZZZZZZ,01ARYZ6S41TSV4RRFFQ69G5FAV,00000000000000000000000000}'),
        ('NaN', '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{NaN}', NULL),
        (2, '{01ARYZ6S41TSV4RRFFQ69G5FAV}', '{5}', '{01ARYZ6S41TSV4RRFFQ69G5FAV,01ARYZ6S41TSV4RRFFQ69G5FAV}'),
        (-1, '{01ARYZ6S41TSV4RRFFQ69G5FAV,7ZZZZZZZZZZZZZZZZZZZZZZZZZ}', '{-1,Infinity}', '{00000000000000000000000000,00000000000000000000000000}')
    ) AS v (nulls, common, frequencies, histogram) LOOP
        PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', 'measured', 'attname', 'id', 'inherited', false,
            'version', 180000, 'null_frac', damaged.nulls, 'avg_width', 16, 'n_distinct', '-1'::real, 'most_common_vals', damaged.common,
            'most_common_freqs', damaged.frequencies::real[], 'histogram_bounds', damaged.histogram);
        FOREACH condition IN ARRAY ARRAY['id <@ tstzrange(''2016-01-01'', ''2017-01-01'')', 'id <@ tstzrange(NULL, NULL)', 'id <@ ''empty''',
            'id <@ tstzrange(''2016-07-30 23:54:10.259+00'', ''2016-07-30 23:54:10.259+00'', ''[]'')', 'ulid_starts_with(id, ''01'')'] LOOP
            EXECUTE 'EXPLAIN (FORMAT json) SELECT FROM measured WHERE ' || condition INTO plan;
            IF (plan -> 0 -> 'Plan' ->> 'Plan Rows')::float8 NOT BETWEEN 1 AND 1000 THEN
                RAISE 'estimate % of % with %', plan -> 0 -> 'Plan' ->> 'Plan Rows', condition, damaged;
            END IF;
        END LOOP;
    END LOOP;
END $$;
SELECT count(*) FROM measured WHERE id <@ tstzrange('2016-01-01', NULL);
SQL
  [ "$(cat result)" = 1000 ]
fi
