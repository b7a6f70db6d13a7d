-- Checks of docs/reference.md: each example of its tables has the result that stands beside it,
-- each function of the extensions that is not internal is on the page, and the page names no other.
SET timezone = 'UTC';
SELECT 'CREATE EXTENSION ulid_gist CASCADE' FROM pg_available_extensions
WHERE name = 'btree_gist' \gexec
\set page `cat docs/reference.md`
CREATE TEMP TABLE page AS SELECT :'page' AS text;
DO $$
DECLARE
    example record;
    result text;
    wrong text;
BEGIN
    FOR example IN SELECT m[1] AS expression, m[2] AS value
        FROM page, regexp_matches(text, '`([^`|]+)` → `([^`]+)`', 'g') AS m LOOP
        EXECUTE format('SELECT (%s)::text', example.expression) INTO result;
        ASSERT result = example.value, format('%s is %s', example.expression, result);
    END LOOP;
    ASSERT FOUND, 'no examples';
    SELECT string_agg(DISTINCT proname, ', ') INTO wrong
    FROM page, pg_proc JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = pg_proc.oid
        AND deptype = 'e'
    WHERE refobjid IN (SELECT oid FROM pg_extension WHERE extname ~ '^ulid')
        AND proname !~ '_(opcinfo|sel|support|sortsupport)$|^ulid_starts_with_'
        AND proname !~ '^(gbt|bytea_to|timestamp_to|range_contains)_|^ulid_consumer_(?!storage$)'
        AND proname !~ '^ulid_(in|out|recv|send|lt|le|eq|ge|gt|ne|cmp|smaller|larger)$'
        AND proname !~ '^ulid_(contained_by_range|to_timestamp|horizon_.*|current_horizon_error)$'
        AND proname !~ '^ulid_(is_refresh_due|next_horizon|refreshes|reset_id_clock)$'
        AND proname !~ '^ulid_refresh_(first|locked|write)$'
        AND text !~ ('`([^`]*[ .])?' || proname || '\(');
    ASSERT wrong IS NULL, 'not on the page: ' || wrong;
    SELECT string_agg(DISTINCT m[1], ', ') INTO wrong
    FROM page,
    regexp_matches(text, '`((ulid|gen|typeid|bytea|range|timestamp)_[a-z0-9_]+)\(', 'g') AS m
    WHERE NOT EXISTS (SELECT FROM pg_proc WHERE proname = m[1]);
    ASSERT wrong IS NULL, 'no such function: ' || wrong;
END $$;
DROP TABLE page;
