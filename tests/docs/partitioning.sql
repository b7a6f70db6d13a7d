\i tests/docs/no_rewrite.sql
\set SHOW_CONTEXT never
SET timezone = 'UTC';
